# SPDX-License-Identifier: Apache-2.0
"""The nodes and properties of system and board files for virtual PCI functions."""

from tessera.image import layout, virtual
from tessera.image.accel import accel_image
from tessera.image.nodes import MIB, NodeSchema, Prop
from tessera.image.prop_types import Address, Choice, Flag, Mac, Number, Text, Words
from tessera.image.virtio import pcikinds, virtio_image

VM_FUNCTION = NodeSchema(
    doc="A function on the VM's virtual PCI bus.",
    props=(
        Prop(
            "model",
            Choice(tuple(virtio_image.MODELS)),
            "`host` is a function of the machine ([networking.md](networking.md)); `hardware-io`, one for a VM, has "
            "the pages of all its [`shared-devices`](accelerators.md#devices-shared-by-hardware).",
            required=True,
        ),
        Prop(
            "network",
            Text(layout.NAME_LEN - 1),
            "The network of `/networks` that a virtio-net is connected to.",
            default_words="none; a virtio-net needs one",
        ),
        Prop(
            "mac",
            Mac(),
            "The MAC address of a virtio-net. No other function on its network has it.",
            default_words="`[02 54 00 00 V S]`: V is the number of the VM, S that of the slot",
        ),
        Prop(
            "vlan",
            Number(1, virtio_image.LARGEST_VLAN),
            "The VLAN of a virtio-net: it exchanges frames only with functions of the same VLAN.",
            default=0,
            default_words="none",
            field="vlan",
        ),
        Prop(
            "uplink",
            Flag(),
            "The virtio-net receives the frames to, and may send from, all addresses that no other function on its "
            "network and VLAN has. One for a network and VLAN.",
            default=False,
        ),
        Prop(
            "frames-per-ms",
            Number(0, virtio_image.MOST_FRAMES_PER_MS),
            "Frames that a virtio-net sends in a millisecond. 0: no limit.",
            default=0,
            field="frames_per_ms",
        ),
        Prop(
            "multicast-per-ms",
            Number(0, virtio_image.MOST_FRAMES_PER_MS),
            "Frames to group addresses among them. 0: no limit.",
            default=0,
            field="multicast_per_ms",
        ),
        Prop(
            "size",
            Address("a size", align=virtio_image.SECTOR, low=virtio_image.SECTOR),
            "Bytes of a virtio-blk. Without `served-by`, the disk is in RAM of its own, in units of 2 MiB.",
            default_words="that of `image`, rounded up to a multiple of 512 bytes",
        ),
        Prop(
            "image",
            Text(255),
            "What a virtio-blk contains at boot, a [file's path](#paths-of-files); the rest of the disk are zeros.",
            default_words="none; zeros",
            is_file=True,
        ),
        Prop("read-only", Flag(), "The guest cannot write to the virtio-blk.", default=False),
        Prop(
            "served-by",
            Text(layout.NAME_LEN - 1),
            "The VM that serves a virtio-blk, by its function of model disk-server "
            "([networking.md](networking.md#disks-that-a-vm-serves)).",
            default_words="none; the disk is in RAM",
        ),
        Prop(
            "offset",
            Address("an offset", align=virtio_image.SECTOR),
            "Where a virtio-blk with `served-by` begins in the server's disk, in bytes. Disks of a server do not "
            "overlap; requests behind the end of the server's disk fail.",
            default=0,
        ),
        Prop(
            "line",
            Words("names of lines"),
            f"The names of the lines of which a virtio-console is one end, on a port for each of them, at most "
            f"{virtio_image.CONSOLE_PORTS}; one other function has the other end of a line.",
            default_words="none; a virtio-console needs one",
        ),
        Prop(
            "cid",
            Number(virtio_image.SMALLEST_CID, virtio_image.LARGEST_CID),
            "The context id of a virtio-vsock. No other VM has it.",
            default_words="3 + the number of the VM",
        ),
        Prop(
            "peers",
            Words("VM names"),
            "VMs with which a virtio-vsock exchanges packets; they must list the VM, too.",
            default_words="all other VMs with a virtio-vsock",
        ),
        Prop(
            "shared",
            Text(31),
            "The region of `/shared` that is BAR 2 of an ivshmem, at its own address. The size is a power of two, and "
            "the address a multiple of it.",
            default_words="none; an ivshmem needs one",
        ),
        Prop(
            "device",
            Text(15),
            "The device of the VM's `accelerators`, not one of an overlay, whose page is BAR 0 of an "
            "[accelerator](accelerators.md#from-linux-by-python).",
            default_words="none; an accelerator needs one",
        ),
        Prop(
            "dma-memory",
            Flag(),
            "BAR 2 of an accelerator or hardware-io, on one function of the VM, is its `dma-memory`. The size is a "
            "power of two, and the address a multiple of it.",
            default=False,
        ),
        Prop(
            "function",
            pcikinds.PciAddress(),
            "The function of the machine's PCI bus that a host is; with QEMU, the `slot` of a device of `/devices`. "
            "Device numbers that differ by a multiple of 4 share an interrupt line, which only one may have. DMA is "
            "not confined to the VM.",
            default_words="none; a host needs one",
        ),
        Prop(
            "unit",
            Text(layout.NAME_LEN - 1),
            f"The device of `/accelerators`, of task {accel_image.AES128_TASK}, with which the hypervisor computes "
            "what suits it for a virtio-crypto. The VM does not see the device.",
            default_words="none; the hypervisor computes all",
        ),
        Prop(
            "unit-priority",
            Number(0, accel_image.MAX_PRIORITY),
            "Priority of the requests for the unit's region.",
            default=0,
        ),
    ),
)

VM_FUNCTIONS = NodeSchema(
    component="virtio",
    doc="The functions on the VM's virtual PCI bus, in the order of their slots from 0: at most "
    f"{virtio_image.MAX_FUNCTIONS_PER_VM}, and {virtio_image.MAX_FUNCTIONS} in all VMs. The hypervisor needs the "
    f"component `virtio`. Such a VM has a PLIC, whose source {virtual.PCI_IRQ} + n is the interrupt of slot n.",
    named=VM_FUNCTION,
    named_words="a function",
    longest_name=layout.NAME_LEN - 1,
)

NETWORKS = NodeSchema(
    component="virtio",
    doc=f"Networks between VMs, at most {virtio_image.MAX_NETWORKS}: switches for the functions `virtio-net`.",
    named=NodeSchema(
        doc="A network.",
        props=(
            Prop(
                "offloads",
                Flag(),
                "The functions exchange TCP segments of up to 64 KiB and frames without a checksum. A driver that "
                "cannot receive them, as those of the SDK, cannot use its function.",
                default=False,
            ),
        ),
    ),
    named_words="a network",
    longest_name=layout.NAME_LEN - 1,
)

BOARD_PCI = NodeSchema(
    doc="The board's PCI bus, bus 00, whose functions can be passed through.",
    props=(
        Prop(
            "configuration",
            Address(align=1 << 20, below=1 << 32),
            "Address of its configuration space (ECAM), 1 MiB.",
            required=True,
        ),
        Prop(
            "memory",
            Address(align=virtual.PCI_HOST_WINDOW, below=1 << 32),
            "Address of the bus's memory, as for the harts. The hypervisor places BARs in its first "
            f"{virtio_image.MAX_HOST_FUNCTIONS * virtual.PCI_HOST_WINDOW // MIB} MiB.",
            required=True,
        ),
        Prop(
            "interrupt",
            Number(1, 60),
            "Source of the first of its four interrupt lines, which the others follow. INTA of device d is line d % 4.",
            required=True,
        ),
        Prop("qemu-bus", Text(31), "QEMU's name of the bus.", default_words="not a bus of QEMU"),
    ),
)
