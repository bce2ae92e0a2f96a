# SPDX-License-Identifier: Apache-2.0
"""What is loaded into a VM's RAM, the guest's image, an initrd and the device tree: their properties, files and places,
and what the device tree says of them."""

from itertools import combinations
from pathlib import Path

from tessera.image import dts, layout
from tessera.image.files import linux_header, load_file, load_image
from tessera.image.layout import align_down
from tessera.image.model import File, Load, Vm
from tessera.image.nodes import MIB, Prop
from tessera.image.prop_types import Address, Text, size_text
from tessera.image.shared.display import place_framebuffer
from tessera.image.validate import Read

PROPS = (
    Prop(
        "image",
        Text(255),
        "The guest's raw binary, a [file's path](#paths-of-files).",
        is_file=True,
        required=True,
    ),
    Prop(
        "image-address",
        Address("a guest-physical address", align=layout.PAGE),
        "Load address of the image. A Linux `Image` needs a multiple of 2 MiB.",
        default_words="`memory-base` + 2 MiB",
    ),
    Prop(
        "entry",
        Address("a guest-physical address", align=2),
        "First instruction of VCPU 0, inside the image.",
        default_words="`image-address`",
    ),
    Prop(
        "initrd",
        Text(255),
        "An initial RAM disk, a [file's path](#paths-of-files).",
        is_file=True,
        default_words="none",
    ),
    Prop(
        "initrd-address",
        Address("a guest-physical address", align=layout.PAGE),
        "Load address of the initrd.",
        default_words="the highest multiple of 2 MiB at which the initrd ends below the device tree",
    ),
)


def read(node: Read, search: tuple[Path, ...]) -> dict[str, File | None]:
    """Returns the files of a VM, by the properties that name them."""
    return {
        "image": load_image(node, "image", search),
        "initrd": load_file(node, "initrd", search) if node["initrd"] else None,
    }


def place(vm: Vm) -> None:
    """Creates the VM's loads: the image first, the device tree, still empty, last. A load without a
    file is omitted. Reserves the VM's framebuffer."""
    end = place_framebuffer(vm)
    image, initrd = vm.files["image"], vm.files["initrd"]
    if image:
        header = linux_header(image.data)
        span = max(len(image.data), header.image_size if header else 0)
        vm.loads.append(Load("image", vm.image_address, image.data, span))
    if initrd:
        size = len(initrd.data)
        # Below the RAM if the initrd does not fit; check() reports that.
        highest = max(align_down(end - size, vm.machine.ram_align), 0)
        gpa = vm.node["initrd-address"] if vm.node.given("initrd-address") else highest
        vm.loads.append(Load("initrd", gpa, initrd.data, size))
    vm.loads.append(Load("device tree", vm.dtb_address, b"", vm.machine.dtb_room))


def chosen(vm: Vm) -> list[str]:
    """Returns the properties of /chosen that say where the loads are."""
    body = []
    for load in vm.loads:
        if load.what == "initrd":
            body.append(f"linux,initrd-start = {dts.cells(*dts.wide(load.gpa))};")
            body.append(f"linux,initrd-end = {dts.cells(*dts.wide(load.end))};")
    return body


def check(vm: Vm) -> None:
    """Reports loads that are not where they can be."""
    _check_image(vm)
    outside = [load for load in vm.loads if load.gpa < vm.memory_base or load.end > vm.memory_end]
    for load in outside:
        _report_outside(vm, load)
    _check_apart(vm, [load for load in (*vm.loads, vm.framebuffer) if load and load not in outside])


def _check_image(vm: Vm) -> None:
    image = vm.files["image"]
    if not image:
        return
    node, size = vm.node, len(image.data)
    if linux_header(image.data) and vm.image_address % (2 * MIB):
        got = f"got {vm.image_address:#x}"
        node.problem("image-address", f"expected a multiple of 2 MiB, as a Linux Image needs, {got}")
    if not vm.image_address <= vm.entry < vm.image_address + size:
        inside = f"{vm.image_address:#x}..{vm.image_address + size:#x}"
        node.problem("entry", f"expected an address inside the image, {inside}, got {vm.entry:#x}")


def _check_apart(vm: Vm, loads: list[Load]) -> None:
    for load, other in combinations(loads, 2):
        if load.gpa < other.end and other.gpa < load.end:
            got = f"got the {load.what} at {_range(load)} and the {other.what} at {_range(other)}"
            vm.node.problem(_property_to_change(vm, load, other), f"expected loads that do not overlap, {got}")


def _report_outside(vm: Vm, load: Load) -> None:
    ram = f"{vm.memory_base:#x}..{vm.memory_end:#x}"
    room = f"expected it to fit the RAM at {ram}"
    placed = vm.node.given(f"{load.what}-address")
    if load.what == "initrd" and not placed:
        space = vm.memory_size - vm.machine.dtb_room
        got = f"got {size_text(load.span)}"
        vm.node.problem("initrd", f"{room} (at most {size_text(space)}, starting at a multiple of 2 MiB), {got}")
    else:
        vm.node.problem(load.what, f"{room}, got {size_text(load.span)} at {_range(load)}")


def _property_to_change(vm: Vm, load: Load, other: Load) -> str:
    """Returns the property that most likely has to be changed when two loads overlap."""
    if vm.node.given("initrd-address") and "initrd" in (load.what, other.what):
        return "initrd-address"
    return "image" if other.what == "device tree" else "memory-size"


def _range(load: Load) -> str:
    return f"{load.gpa:#x}..{load.end:#x}"
