# SPDX-License-Identifier: Apache-2.0
"""The shared display: its settings in the image, framebuffers in the VMs' RAM, the guests' device trees, and the bound
of memory's time; invalid systems."""

import json
import random
import struct
from pathlib import Path

import pytest
from shared_system import line_of, on_board, read

from tessera.image import fdt
from tessera.image.shared import display, shared_image

DISPLAY = 5
SCREEN = "size = <320 240>;"
SYSTEM = Path(__file__).with_name("shared-display.dts").read_text()
STRIDE = 408  # 101 pixels
SIZE = 0x5000  # 50 lines, in pages
RAM, RAM_SIZE, DTB_ROOM = 0x80000000, 0x600000, 0x10000
FRAMEBUFFER = RAM + RAM_SIZE - DTB_ROOM - SIZE


def tree(built, vm):
    nodes = {}
    for value in fdt.values(built.files[f"{vm}.dtb"]):
        nodes.setdefault(value.path, {})[value.name] = value.data
    return nodes


def cells(data):
    return struct.unpack(f">{len(data) // 4}I", data)


def test_section(builder):
    head, (own, simple) = read(builder.build(SYSTEM))
    assert head["devices"] == own["devices"] == simple["devices"] == 1 << DISPLAY
    assert [head[f"screen_h.{phase}"] for phase in shared_image.PHASES] == [320, 48, 32, 80]
    assert [head[f"screen_v.{phase}"] for phase in shared_image.PHASES] == [240, 3, 4, 6]
    assert (head["pixel_cycles"], head["on_request"]) == (4, 0)
    # (80 + 30) / 16 and (51 + 30) / 16 bursts, 4 cycles for each of the two VMs, one for each of the board's.
    assert head["burst_cycles"] == (480 * 4 - 4 - 2 * 4) // (6 + 5) - 1
    rects = [[client[f"rect.{name}"] for name in ("x", "y", "width", "height")] for client in (own, simple)]
    assert rects == [[0, 0, 160, 240], [163, 10, 101, 50]]
    assert (own["framebuffer"], simple["framebuffer"]) == (0, FRAMEBUFFER)


def test_settings(builder):
    given = (
        f'{SCREEN} pixel-cycles = <255>; refresh = "on-request"; horizontal-blanking = <1 2 3>; '
        "vertical-blanking = <65535 5 4>; burst-cycles = <100>;"
    )
    head, _ = read(builder.build(SYSTEM.replace(SCREEN, given)))
    assert [head[f"screen_h.{phase}"] for phase in shared_image.PHASES] == [320, 1, 2, 3]
    assert [head[f"screen_v.{phase}"] for phase in shared_image.PHASES] == [240, 65535, 5, 4]
    assert (head["pixel_cycles"], head["on_request"], head["burst_cycles"]) == (255, 1, 100)
    head, _ = read(builder.build(SYSTEM.replace(SCREEN, f"{SCREEN} pixel-cycles = <255>;")))
    assert head["burst_cycles"] == shared_image.MAX_BURST_CYCLES


def test_framebuffer_of_the_vm(builder):
    built = builder.build(SYSTEM)
    nodes = tree(built, "own")
    node = nodes["/fabric/display@18205000"]
    assert node["compatible"] == b"tessera,shared-display\0"
    assert cells(node["reg"]) == (0, 0x18205000, 0, 0x1000)
    assert cells(node["interrupts"]) == (23,)
    assert cells(node["tessera,rectangle"]) == (0, 0, 160, 240)
    assert not [path for path in nodes if "framebuffer" in path or "reserved" in path]
    vms = json.loads(built.files["system.json"])["vms"]
    assert vms[0]["mmio"][-1] == {"name": "display", "base": 0x18205000, "size": 0x1000}


def test_simple_framebuffer(builder):
    built = builder.build(SYSTEM)
    nodes = tree(built, "simple")
    assert not [path for path in nodes if path.startswith("/fabric")]
    reserved = nodes[f"/reserved-memory/framebuffer@{FRAMEBUFFER:x}"]
    assert reserved == {"reg": struct.pack(">4I", 0, FRAMEBUFFER, 0, SIZE), "no-map": b""}
    for parent in ("/chosen", "/reserved-memory"):
        assert nodes[parent]["#address-cells"] == nodes[parent]["#size-cells"] == struct.pack(">I", 2)
        assert nodes[parent]["ranges"] == b""
    node = nodes[f"/chosen/framebuffer@{FRAMEBUFFER:x}"]
    assert node.pop("compatible") == b"simple-framebuffer\0"
    assert node.pop("format") == b"x8r8g8b8\0"
    assert {name: cells(data) for name, data in node.items()} == {
        "reg": (0, FRAMEBUFFER, 0, SIZE),
        "width": (101,),
        "height": (50,),
        "stride": (STRIDE,),
    }
    vm = json.loads(built.files["system.json"])["vms"][1]
    assert "display" in vm["shared_devices"]
    assert "display" not in [device["name"] for device in vm["mmio"]]
    assert [load["what"] for load in vm["loads"]] == ["image", "device tree"]


def tall(text, height):
    """A system whose framebuffer has lines of 4096 bytes."""
    text = text.replace("320 240", f"1024 {height + 1}").replace("163 10 101 50", f"0 0 1024 {height}")
    return text.replace("0 0 160 240", f"0 {height} 160 1")


def test_initrd_is_below_the_framebuffer(builder):
    """At a multiple of 2 MiB: of the 6 MiB the framebuffer leaves less than 4."""
    initrd = 'image = "two.bin"; initrd = "initrd.gz"; image-address = <0x80000000>;'
    text = SYSTEM.replace('image = "two.bin";', initrd)
    for height, address in ((10, 0x80400000), (479, 0x80400000), (512, 0x80200000)):
        built = builder.build(tall(text, height))
        loads = json.loads(built.files["system.json"])["vms"][1]["loads"]
        assert (loads[1]["what"], loads[1]["address"]) == ("initrd", address)


# Invalid systems

INSIDE = "expected a pixel or more of the screen's 320 x 240, got"
TAKEN = "expected pixels that no other VM has, got some of /vms/own/shared-devices/display"


@pytest.mark.parametrize(
    ("new", "message"),
    [
        ("163 10 0 50", f"{INSIDE} 0 x 50 from 163, 10"),
        ("163 10 50 0", f"{INSIDE} 50 x 0 from 163, 10"),
        ("163 10 158 50", f"{INSIDE} 158 x 50 from 163, 10"),
        ("163 10 50 231", f"{INSIDE} 50 x 231 from 163, 10"),
        ("320 10 1 1", f"{INSIDE} 1 x 1 from 320, 10"),
        ("163 65535 1 1", f"{INSIDE} 1 x 1 from 163, 65535"),
        ("159 10 101 50", TAKEN),
        ("0 239 1 1", TAKEN),
        ("163 10 101", "expected 4 numbers from 0 to 65535, got <0xa3 0xa 0x65>"),
        ("163 10 101 65536", "expected 4 numbers from 0 to 65535, got 65536"),
    ],
)
def test_refused_rectangle(builder, new, message):
    text = SYSTEM.replace("163 10 101 50", new)
    line = line_of(text, f"rectangle = <{new}>")
    assert builder.refuse(text) == [f"sys.dts:{line}: /vms/simple/shared-devices/display: rectangle: {message}"]


@pytest.mark.parametrize("new", ["160 10 101 50", "163 10 157 230", "319 239 1 1"])
def test_rectangles_at_edges(builder, new):
    builder.build(SYSTEM.replace("163 10 101 50", new))


def test_rectangles_one_above_the_other(builder):
    builder.build(SYSTEM.replace("163 10 101 50", "0 120 320 120").replace("0 0 160 240", "0 0 320 120"))


def test_screen_wider_than_the_hardwares(builder):
    text = SYSTEM.replace(SCREEN, "size = <1025 240>;")
    line = line_of(text, "size = <1025 240>")
    expected = "expected at most 1024 pixels a line on qemu-virt, got 1025"
    assert builder.refuse(text) == [f"sys.dts:{line}: /shared-devices/display: size: {expected}"]


@pytest.mark.parametrize(
    ("new", "message"),
    [
        ("", "size: missing; expected 2 numbers from 1 to 65535"),
        ("size = <320 0>;", "size: expected 2 numbers from 1 to 65535, got 0"),
        (f'{SCREEN} refresh = "always";', 'refresh: expected one of "free", "on-request", got "always"'),
        (f"{SCREEN} pixel-cycles = <0>;", "pixel-cycles: expected a number from 1 to 255, got 0"),
        (
            f"{SCREEN} horizontal-blanking = <1 0 1>;",
            "horizontal-blanking: expected 3 numbers from 1 to 65535, got 0",
        ),
        (f"{SCREEN} burst-cycles = <15>;", "burst-cycles: expected a number from 16 to 4095, got 15"),
    ],
)
def test_refused_screen(builder, new, message):
    (problem,) = builder.refuse(SYSTEM.replace(SCREEN, new))
    assert problem.endswith(f": /shared-devices/display: {message}")


def test_no_rectangle(builder):
    text = SYSTEM.replace("\t\t\t\t\trectangle = <163 10 101 50>;\n", "")
    (problem,) = builder.refuse(text)
    assert problem.endswith(
        "/vms/simple/shared-devices/display: rectangle: missing; expected 4 numbers from 0 to 65535"
    )


def test_framebuffer_larger_than_the_ram(builder):
    """The image does not fit beside one of all of the RAM, either."""
    most = (RAM_SIZE - DTB_ROOM) // 4096
    (problem,) = builder.refuse(tall(SYSTEM, most))
    assert "expected loads that do not overlap" in problem
    text = tall(SYSTEM, most + 1)
    expected = f"expected at most 6080 KiB, the RAM below the device tree, got {(most + 1) * 4096} bytes"
    line = line_of(text, "framebuffer =")
    assert builder.refuse(text) == [f"sys.dts:{line}: /vms/simple/shared-devices/display: framebuffer: {expected}"]


def test_framebuffer_over_the_image(builder):
    text = SYSTEM.replace('"two.bin";', f'"two.bin"; image-address = <{FRAMEBUFFER:#x}>;')
    expected = (
        f"expected loads that do not overlap, got the image at {FRAMEBUFFER:#x}..{FRAMEBUFFER + 1200:#x} and the "
        f"framebuffer at {FRAMEBUFFER:#x}..{FRAMEBUFFER + SIZE:#x}"
    )
    line = line_of(text, "memory-size = <0x600000>")
    assert builder.refuse(text) == [f"sys.dts:{line}: /vms/simple: memory-size: {expected}"]


# The time of memory


def test_lines_that_are_too_short(builder):
    """A burst takes 24 cycles on the board; with pixels of one cycle a line has 480."""
    fast = SYSTEM.replace(SCREEN, f"{SCREEN} pixel-cycles = <1>;")
    assert (6 + 5) * 25 + 2 * 4 + 6 == 289
    builder.build(fast)
    text = fast.replace(SCREEN, f"{SCREEN} burst-cycles = <42>;")
    assert (6 + 5) * 43 + 2 * 4 + 6 == 487
    line = line_of(text, "size = <320")
    expected = "expected lines of at least 487 cycles for the VMs' rectangles and bursts of 42 cycles, got 480"
    assert builder.refuse(text) == [f"sys.dts:{line}: /shared-devices/display: size: {expected}"]
    head, _ = read(builder.build(fast.replace(SCREEN, f"{SCREEN} burst-cycles = <41>;")))
    assert head["burst_cycles"] == read(builder.build(fast))[0]["burst_cycles"] == 41


def test_other_devices_delay_bursts(builder):
    """Two clients of memory for the flash, two for Ethernet, and the completions."""
    flash = SYSTEM.replace(
        "\t\tdisplay {\n\t\t\tsize", "\t\tflash { }; gpio { }; ethernet { };\n\t\tdisplay {\n\t\t\tsize"
    )
    builder.build(flash.replace(SCREEN, f"{SCREEN} burst-cycles = <144>;"))
    text = flash.replace(SCREEN, f"{SCREEN} burst-cycles = <143>;")
    line = line_of(text, "burst-cycles")
    expected = "expected at least 144, which a burst may take on qemu-virt, got 143"
    assert builder.refuse(text) == [f"sys.dts:{line}: /shared-devices/display: burst-cycles: {expected}"]
    only = SYSTEM.replace(SCREEN, f"{SCREEN} burst-cycles = <23>;")
    assert "expected at least 24, which" in builder.refuse(only)[0]
    builder.build(only.replace("<23>", "<24>"))


def test_bound_of_a_board(builder):
    builder.make_board(("burst-cycles = <24>", "burst-cycles = <200>"))
    text = on_board(SYSTEM)
    expected = "expected lines of at least 2225 cycles for the VMs' rectangles and bursts of 200 cycles, got 1920"
    assert (6 + 5) * 201 + 2 * 4 + 6 == 2225
    assert builder.refuse(text) == [
        f"sys.dts:{line_of(text, 'size = <320')}: /shared-devices/display: size: {expected}"
    ]


def test_bursts_are_those_of_the_worst_address():
    """A burst ends at a multiple of 128 bytes; a word has two pixels."""
    for width in range(1, 300):
        words = (width + 1) // 2
        most = max((first + words - 1) // 16 - first // 16 + 1 for first in range(16))
        assert display._bursts(width) == most


def test_lines_with_the_most_bursts():
    """The first lines of rectangles stand for all lines."""
    random.seed(1)
    for _ in range(100):
        rects = [
            (0, random.randrange(20), random.randrange(1, 300), random.randrange(1, 10))
            for _ in range(random.randrange(1, 6))
        ]
        needed = 0
        for y in range(30):
            line = [width for _, top, width, height in rects if top <= y < top + height]
            needed = max(needed, sum(display._bursts(width) * 51 + 4 for width in line) + 7)
        assert display.needed_cycles(rects, 50, 7) == needed
