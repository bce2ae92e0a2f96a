# SPDX-License-Identifier: Apache-2.0
"""The shared display: the VMs' parts of the screen, framebuffers in their RAM, and whether memory is fast enough."""

from tessera.image.layout import PAGE, align_down, align_up
from tessera.image.model import Load, SharedDevices, Vm
from tessera.image.prop_types import size_text
from tessera.image.shared import shared_image, timing
from tessera.image.validate import Read

NAME = "display"
LINE_CYCLES = 4  # that the fetch of a line needs beside bursts for each VM in the line; for each of the hardware: 1

Rect = tuple[int, int, int, int]  # x, y, width, height


def line_bytes(width: int) -> int:
    """Returns the bytes from a line of a framebuffer to the next one."""
    return align_up(4 * width, 8)


def shows_framebuffer(use: Read) -> bool:
    """Returns whether the VM's part of the screen shows a framebuffer from the VM's start on."""
    return use["framebuffer"] == "simple" and use["rectangle"] is not None


def place_framebuffer(vm: Vm) -> int:
    """Reserves memory for the VM's framebuffer: below the device tree, or at the end of the memory for DMA. Returns the
    end of the RAM that is left."""
    use = vm.shared_devices.get(NAME)
    if use is None or not shows_framebuffer(use):
        return vm.dtb_address
    _, _, width, height = use["rectangle"]
    size = line_bytes(width) * height
    start, end = (vm.dma.base, vm.dma.end) if vm.dma else (vm.memory_base, vm.dtb_address)
    gpa = align_down(end - size, PAGE)
    if gpa < start:
        where = vm.dma.what if vm.dma else "the RAM below the device tree"
        use.problem("framebuffer", f"expected at most {size_text(end - start)}, {where}, got {size} bytes")
    else:
        vm.framebuffer = Load("framebuffer", gpa, b"", align_up(size, PAGE))
    return vm.framebuffer.gpa if vm.framebuffer and not vm.dma else vm.dtb_address


def _uses(users: list[Vm]) -> list[Read]:
    """Returns the VMs' nodes in which the rectangle was read without a problem."""
    uses = [vm.shared_devices[NAME] for vm in users if NAME in vm.shared_devices]
    return [use for use in uses if use["rectangle"] is not None]


def check_display(devices: dict[str, Read], users: list[Vm], board: str, hardware: SharedDevices) -> None:
    """Reports rectangles outside of the screen or of other VMs, and lines that are too short for memory. `devices`: the
    system's."""
    node = devices.get(NAME)
    if node is None or node["size"] is None:
        return
    width, height = node["size"]
    if width > hardware.screen_width:
        node.problem("size", f"expected at most {hardware.screen_width} pixels a line on {board}, got {width}")
    uses = _uses(users)
    for index, use in enumerate(uses):
        _check_inside(use, width, height)
        _check_overlap(use, uses[:index])
    if node.sound and all(use.sound for use in uses):
        _check_bursts(devices, [use["rectangle"] for use in uses], board, hardware)


def _check_inside(use: Read, width: int, height: int) -> None:
    x, y, across, down = use["rectangle"]
    if not (0 < across <= width - x and 0 < down <= height - y):
        inside = f"a pixel or more of the screen's {width} x {height}"
        use.problem("rectangle", f"expected {inside}, got {across} x {down} from {x}, {y}")


def _check_overlap(use: Read, others: list[Read]) -> None:
    x, y, width, height = use["rectangle"]
    for other in others:
        other_x, other_y, other_width, other_height = other["rectangle"]
        if x < other_x + other_width and other_x < x + width and y < other_y + other_height and other_y < y + height:
            use.problem("rectangle", f"expected pixels that no other VM has, got some of {other.path}")


def _line_cycles(node: Read) -> int:
    return (node["size"][0] + sum(node["horizontal-blanking"])) * node["pixel-cycles"]


def _bursts(width: int) -> int:
    """Returns the most bursts for a line of a rectangle, whatever the framebuffer's address is: a burst ends where a
    block of 128 bytes ends (docs/hardware-io.md)."""
    return ((width + 1) // 2 + 2 * shared_image.BURST_WORDS - 2) // shared_image.BURST_WORDS


def _loads(rects: list[Rect]) -> list[tuple[int, int]]:
    """Returns bursts and VMs of the first line of each rectangle: every line has at most those of one of them."""
    lines = ([width for _, top, width, height in rects if top <= y < top + height] for _, y, _, _ in rects)
    return [(sum(map(_bursts, line)), len(line)) for line in lines]


def needed_cycles(rects: list[Rect], burst: int, vms: int) -> int:
    """Returns the least cycles of a line with which no VM loses pixels if its bursts take `burst` cycles on average."""
    return max((n * (burst + 1) + LINE_CYCLES * users for n, users in _loads(rects)), default=0) + vms


def _slowest_burst(devices: dict[str, Read], hardware: SharedDevices) -> int:
    """Returns the longest time of a burst of a framebuffer."""
    return max(timing.slowest_burst(devices, hardware), shared_image.BURST_WORDS)


def _check_bursts(devices: dict[str, Read], rects: list[Rect], board: str, hardware: SharedDevices) -> None:
    node, slowest = devices[NAME], _slowest_burst(devices, hardware)
    burst = node["burst-cycles"] or slowest
    if burst < slowest:
        node.problem("burst-cycles", f"expected at least {slowest}, which a burst may take on {board}, got {burst}")
    needed, cycles = needed_cycles(rects, burst, hardware.vms), _line_cycles(node)
    if cycles < needed:
        expected = f"expected lines of at least {needed} cycles for the VMs' rectangles and bursts of {burst} cycles"
        node.problem("size", f"{expected}, got {cycles}")


def _burst_cycles(node: Read, rects: list[Rect], vms: int) -> int:
    """Returns the longest average time of bursts that the lines leave to the VMs, unless the system sets it."""
    spare = _line_cycles(node) - vms
    left = ((spare - LINE_CYCLES * users) // n - 1 for n, users in _loads(rects))
    return node["burst-cycles"] or min(left, default=shared_image.MAX_BURST_CYCLES)


def _phases(axis: str, active: int, blanking: tuple[int, int, int]) -> dict[str, int]:
    lengths = (active, *blanking)
    return {f"screen_{axis}.{phase}": length for phase, length in zip(shared_image.PHASES, lengths, strict=True)}


def screen_fields(node: Read | None, users: list[Vm], hardware: SharedDevices) -> dict[str, int]:
    """Returns the settings of the screen; without a display zeros."""
    if node is None:
        none = dict.fromkeys(("pixel_cycles", "burst_cycles", "on_request"), 0)
        return _phases("h", 0, (0, 0, 0)) | _phases("v", 0, (0, 0, 0)) | none
    width, height = node["size"]
    burst = _burst_cycles(node, [use["rectangle"] for use in _uses(users)], hardware.vms)
    return {
        **_phases("h", width, node["horizontal-blanking"]),
        **_phases("v", height, node["vertical-blanking"]),
        "pixel_cycles": node["pixel-cycles"],
        "burst_cycles": min(burst, shared_image.MAX_BURST_CYCLES),
        "on_request": int(node["refresh"] == "on-request"),
    }


def client_fields(vm: Vm) -> dict[str, int]:
    """Returns a VM's part of the screen and its framebuffer; without a display zeros."""
    rect = vm.shared_devices[NAME]["rectangle"] if NAME in vm.shared_devices else (0, 0, 0, 0)
    fields = {f"rect.{name}": value for name, value in zip(("x", "y", "width", "height"), rect, strict=True)}
    return fields | {"framebuffer": vm.framebuffer.gpa if vm.framebuffer else 0}
