# SPDX-License-Identifier: Apache-2.0
"""The nodes and properties of system and board files for the fabric and its devices."""

from tessera.image import hardware, layout, virtual
from tessera.image.accel import accel_image
from tessera.image.nodes import NodeSchema, Prop, registers
from tessera.image.prop_types import Choice, Flag, Number, Numbers, Text, Words

VM_PROPS = (
    Prop(
        "accelerator-priorities",
        Flag(),
        "The VM may change the priorities of its accelerators (HCALL_ACCEL_SET_PRIORITY).",
        default=False,
    ),
    Prop(
        "accelerator-monitor",
        Flag(),
        "The VM may read the state of all regions and of all VMs' accelerators (HCALL_ACCEL_GET_REGION, "
        "HCALL_ACCEL_GET_CLIENT).",
        default=False,
    ),
    Prop(
        "overlays",
        Words("names of overlays"),
        "Overlays of `/accelerators/overlays` that the VM may apply, remove and query "
        "([hypercalls.md](hypercalls.md#overlays)).",
        default=(),
        default_words="none",
    ),
)

VM_ACCELERATOR = NodeSchema(
    doc="The device of `/accelerators` with this name.",
    props=(
        Prop(
            "priority",
            Number(0, accel_image.MAX_PRIORITY),
            "Priority of the VM's requests for the device; a higher one preempts lower ones.",
            default=0,
        ),
        Prop(
            "model",
            Choice(tuple(accel_image.MODELS)),
            "What happens at a write to the page of a device that is not connected. `native`: the VCPU is blocked "
            f"until the device is connected. `guest`: the VCPU continues, and source {virtual.ACCEL_EVENT_IRQ} reports "
            "the connection.",
            default="native",
        ),
        Prop(
            "overlay",
            Text(layout.NAME_LEN - 1),
            "An overlay of `/accelerators/overlays`: the VM has the device only while the overlay is applied.",
            default_words="none; the VM always has it",
        ),
    ),
)

VM_ACCELERATORS = NodeSchema(
    doc=f"The devices of `/accelerators` that the VM may use. Such a VM has a PLIC, whose source "
    f"{virtual.ACCEL_IRQ} is the interrupt of its devices and {virtual.ACCEL_EVENT_IRQ} that of the manager's "
    f"events, and at most {hardware.DMA_WINDOWS - 1} regions of shared memory: the fabric has "
    f"{hardware.DMA_WINDOWS} DMA windows for each VM.",
    named=VM_ACCELERATOR,
    named_words="a device",
    longest_name=layout.NAME_LEN - 1,
)

ACCELERATOR = NodeSchema(
    doc="A device of the fabric, which a HW task implements.",
    props=(
        Prop("task", Number(1, 255), "Number of the HW task ([hwtasks.md](hwtasks.md)).", required=True, field="task"),
        Prop(
            "size-class",
            Number(0, accel_image.MAX_SIZE_CLASS),
            "Smallest size class of a region that can hold the task.",
            default=0,
            field="size_class",
        ),
        Prop(
            "regions",
            Numbers("numbers", 0, accel_image.MAX_REGIONS - 1),
            "Regions that may hold the task, each of the size class or a larger one.",
            default_words="all regions of the board that are large enough",
        ),
        Prop(
            "bitstreams",
            Words("files", repeats=True),
            "One for each of `regions`, in this order: [files' paths](#paths-of-files). `make` writes those for QEMU: "
            "`simb/<task>-<region>.bin`.",
            required=True,
            is_file=True,
        ),
        Prop(
            "verify",
            Flag(),
            "The checksum of a bitstream is verified before any word reaches the ICAP; a configuration "
            "takes twice as long.",
            default=False,
        ),
        Prop(
            "stop-cycles",
            Number(0, 10**9),
            "Longest time in cycles from a request to stop a job until its context is saved "
            "([hwtasks.md](hwtasks.md#numbers)), which [RT apps](real-time.md#devices) count; 0: they count `stop-us` "
            "three times.",
            default=0,
            field="stop_cycles",
        ),
    ),
)

OVERLAY = NodeSchema(
    doc="An overlay.",
    props=(
        Prop(
            "regions",
            Numbers("numbers", 0, accel_image.MAX_REGIONS - 1),
            "Regions that the overlay takes. No two applied overlays have one in common.",
            required=True,
        ),
        Prop(
            "devices",
            Words("names of devices"),
            "The device for each of `regions`, in this order: while the overlay is applied, the region is for this "
            "device only.",
            required=True,
        ),
    ),
)

OVERLAYS = NodeSchema(
    doc="Changes of the fabric that are applied, and removed, as a whole while the system runs "
    "([accelerators.md](accelerators.md#overlays)); at most "
    f"{accel_image.MAX_OVERLAYS}, numbered in their order from 0. They take one of the VMs that the fabric serves.",
    named=OVERLAY,
    named_words="an overlay",
    longest_name=layout.NAME_LEN - 1,
)

ACCELERATORS = NodeSchema(
    component="accel",
    doc="Devices of the board's reconfigurable fabric ([accelerators.md](accelerators.md)), numbered in their order "
    "from 0. The hypervisor needs the component `accel`. QEMU runs the fabric's RTL beside the harts; times mean "
    "something only with `virtual-time`.",
    props=(
        Prop(
            "hold-us",
            Number(0, accel_image.LONGEST_US),
            "Microseconds for which a region given to a VM waits for a job; then it is idle. 0: twice the time for "
            "which a VCPU may wait for its slice, at least 10,000.",
            default=0,
        ),
        Prop(
            "stop-us",
            Number(1, accel_image.LONGEST_US),
            "Microseconds that a HW task may take to stop, to save its context or to restore it; then it loses job "
            "and region.",
            default=655,
        ),
    ),
    children={"overlays": OVERLAYS},
    named=ACCELERATOR,
    named_words="a device",
    longest_name=layout.NAME_LEN - 1,
)

MOST_FRAMES = 1 << 26  # a frame address has 26 bits, as on the 7 series

FABRIC = NodeSchema(
    doc="The board's reconfigurable fabric ([fabric.md](fabric.md)).",
    props=(
        *registers("its"),
        Prop("vms", Number(1, accel_image.MAX_CLIENTS), "VMs that it can serve (`NumVms`).", required=True),
        Prop("devices", Number(1, accel_image.MAX_DEVICES), "Devices of each VM (`NumDevs`).", required=True),
        Prop(
            "size-classes",
            Numbers("numbers", 0, accel_image.MAX_SIZE_CLASS, repeats=True),
            f"Size class of each region, at most {accel_image.MAX_REGIONS} (`NumPrrs`, `PrrSizes`).",
            required=True,
        ),
        Prop(
            "frames",
            Numbers("numbers", 0, MOST_FRAMES, repeats=True),
            "For each region, address and number of its frames of configuration memory; a bitstream for the region "
            "may write no others. Required without `frames-file`.",
            default_words="those of `frames-file`",
        ),
        Prop(
            "idcode",
            Number(1, 0x0FFFFFFF),
            "IDCODE of the 7-series device, without its revision, whose packets bitstreams have "
            "([fabric.md](fabric.md#the-genesys2)).",
            default=0,
            default_words="the simulation's ICAP, with packets of its own",
        ),
        Prop(
            "frames-file",
            Text(95),
            "Required with `idcode`: the file with each region's frames, which `tools/bit2simb.py` writes; a "
            "[file's path](#paths-of-files).",
            default_words="the regions have the frames of `frames`",
        ),
        Prop("clock-hz", Number(10**6, accel_image.FASTEST_HZ, 10**6), "Frequency of its clock in Hz.", required=True),
        Prop(
            "interrupt-cycles",
            Number(0, 10**6),
            "Longest time in cycles from an event of the fabric to its interrupt at the hart.",
            default=0,
        ),
    ),
)
