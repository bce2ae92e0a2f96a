# SPDX-License-Identifier: Apache-2.0
"""Devices of the fabric: their section of the image, read by the structures of the C header; the guests'
device trees; the manifest; invalid systems."""

import ctypes
import json
import re
import struct
import sys
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest
from c_headers import structures
from fixtures import ROOT, changed, read_cases
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from image_reader import read_image

from tessera.fabric.bitstream import TAG_SIZE, of_file, packet, read_header, simulated, tag, wrap
from tessera.fabric.registers import register
from tessera.image import fdt, hardware, layout, virtual
from tessera.image.accel import accel_image
from tessera.image.board import KEY_FILE, read_key
from tessera.image.build import Options, build
from tessera.image.problems import BuildError
from tessera.image.system import named_files
from tessera.run.runner import BuiltSystem, Qemu, RunError, system_command

HEADER = ROOT / "devices" / "accel" / "include" / "accel_image.h"
SYSTEM = Path(__file__).with_name("fabric.dts").read_text()
CASES = read_cases(Path(__file__).with_name("refused-fabric.txt"))
NAMES = (
    "accel_image accel_image_frames accel_image_client accel_image_device accel_image_bitstream accel_image_accel "
    "accel_image_overlay accel_image_fragment accel_image_provided"
)
RECORDS = structures(HEADER.name, NAMES)
Image, Frames, Client, Device, Bitstream, Accel, Overlay, Fragment, Provided = RECORDS
# Without accelerators.
PLAIN = re.sub(r"\n\t(?:\t\t)?accelerators \{.*?\n\t(?:\t\t)?\};", "", SYSTEM, flags=re.DOTALL)
PLAIN = PLAIN.replace("accelerator-priorities;", "")
CLOCK_MHZ = 100
VMS = "vms = <4>;\n\t\tdevices = <6>;"  # of the board's fabric
KEY = read_key(ROOT / "platform" / "qemu-virt")
AES, FFT, QAM = range(3)  # numbers of the devices of fabric.dts


@pytest.fixture
def library(builder):
    """The builder, with the bitstreams of fabric.dts."""
    (builder.guests / "simb").mkdir()
    for name in set(re.findall(r'"(simb/.*?)"', SYSTEM)):
        builder.file(name, of_file(Path(name).name))
    return builder


def parsed(data: bytes) -> SimpleNamespace:
    """A section as the component reads it: the fields and arrays of accel_image.h."""
    head = Image.from_buffer_copy(data)
    arrays = {}
    used = ctypes.sizeof(Image)
    kinds = (
        ("frames", Frames),
        ("clients", Client),
        ("devices", Device),
        ("bitstreams", Bitstream),
        ("accels", Accel),
        ("overlays", Overlay),
        ("fragments", Fragment),
        ("provided", Provided),
    )
    for name, kind in kinds:
        count, offset = getattr(head, f"n{name}"), getattr(head, f"{name}_offset")
        assert offset % 8 == 0
        assert offset == used, f"{name} are not behind the previous array"
        used += count * ctypes.sizeof(kind)
        arrays[name] = list((kind * count).from_buffer_copy(data, offset))
    assert used == len(data)
    return SimpleNamespace(head=head, **arrays)


def values(record: ctypes.Structure) -> tuple:
    return tuple(getattr(record, name) for name, *_ in record._fields_)


def read(built):
    """The image, and its section of the fabric."""
    image = read_image(built.files["tessera.bin"])
    assert list(image.sections) == [accel_image.TAG]
    return image, parsed(image.sections[accel_image.TAG])


def test_limits_are_those_of_the_fabric():
    package = (ROOT / "fpga" / "hw" / "rtl" / "fabric" / "fabric_pkg.sv").read_text()
    assert int(re.search(r"NumWindows = (\d+);", package)[1]) == hardware.DMA_WINDOWS
    for name in ("HOLD_TIME", "STOP_TIME"):
        width = register(f"FABRIC_REGS_{name}_CYCLES_WIDTH")
        assert (accel_image.LONGEST_US * (accel_image.FASTEST_HZ // 10**6)).bit_length() <= width


def test_section(library):
    _, fabric = read(library.build(SYSTEM))
    head = fabric.head
    assert (head.fabric, head.irq, head.regions) == (0x18000000, 20, 3)
    assert [values(block) for block in fabric.frames] == [(0, 0, 40, 0), (1, 0x100, 80, 0), (2, 0x200, 160, 0)]
    assert (head.hold_cycles, head.stop_cycles) == (2000 * CLOCK_MHZ, 655 * CLOCK_MHZ)
    event = virtual.ACCEL_EVENT_IRQ
    assert [values(client) for client in fabric.clients] == [(1, event, 1, 0), (2, event, 0, 0)]
    assert [values(device) for device in fabric.devices] == [
        (b"aes128", 5, 0, 0b111, 0),
        (b"fft512", 3, 1, 0b110, 0),
        (b"qam16", 1, 0, 0b001, 0),
    ]
    page = {number: 0x18100000 + 0x1000 * number for number in (AES, FFT, QAM)}
    assert [values(accel) for accel in fabric.accels] == [
        (0, AES, 0, 0, page[AES]),
        (0, QAM, 15, 1, page[QAM]),
        (1, AES, 3, 0, page[AES]),
    ]


OVERLAYS = """
		overlays {
			radio {
				regions = <0>;
				devices = "qam16";
			};

			cipher {
				regions = <2 1>;
				devices = "fft512", "aes128";
			};
		};
	};

	vms {"""
WITH_OVERLAYS = (
    SYSTEM.replace("\t};\n\n\tvms {", OVERLAYS)
    .replace("plain {\n", 'plain {\n\t\t\toverlays = "cipher", "radio";\n')
    .replace("second {\n", 'second {\n\t\t\toverlays = "cipher";\n')
    .replace("priority = <3>;", 'priority = <3>;\n\t\t\t\t\toverlay = "cipher";')
    .replace('model = "guest";', 'model = "guest";\n\t\t\t\t\toverlay = "radio";')
)


def test_overlays(library):
    """The section names the places of `status` in the device trees: its length, its name and 12 bytes."""
    built = library.build(WITH_OVERLAYS)
    image, fabric = read(built)
    assert [values(overlay) for overlay in fabric.overlays] == [
        (b"radio", 0b001, 0, 1, 0, 1, 0),
        (b"cipher", 0b101, 1, 2, 1, 1, 0),
    ]
    assert [values(fragment) for fragment in fabric.fragments] == [(0, QAM), (2, FFT), (1, AES)]
    assert [(one.client, one.device) for one in fabric.provided] == [(0, QAM), (1, AES)]
    for one, vm in zip(fabric.provided, ("both", "second"), strict=True):
        blob = built.files[f"{vm}.dtb"]
        at = one.status - next(found for found in image.vms if found.name == vm).fields["dtb"]
        assert blob[at - 4 : at + 4] == bytes((0, 0, 0, 3, 0, 0, 0, 9))
        assert blob[at + 8 : at + 20] == b"disabled\0\0\0\0"
    trees = [built.files[f"{vm}.dts"].decode().count('"disabled"') for vm in ("plain", "both", "second")]
    assert trees == [0, 1, 1]
    assert json.loads(built.files["system.json"])["fabric"]["overlays"][0] == {
        "name": "radio",
        "regions": [{"region": 0, "device": "qam16"}],
    }


def test_no_overlays(library):
    fabric = read(library.build(SYSTEM))[1]
    assert not fabric.overlays and not fabric.fragments and not fabric.provided


def test_a_system_with_overlays_has_a_client_fewer(library):
    vms = "".join(
        f'\t\tmore{n} {{\n\t\t\tmemory-size = <0x400000>;\n\t\t\timage = "one.bin";\n\t\t\tsign-of-life = "up";'
        "\n\t\t\taccelerators {\n\t\t\t\taes128 {\n\t\t\t\t};\n\t\t\t};\n\t\t};\n"
        for n in range(2)
    )
    system = WITH_OVERLAYS.replace("\tvms {\n", "\tvms {\n" + vms)
    refused = library.refuse(system)
    assert len(refused) == 1 and refused[0].endswith(
        "/accelerators/overlays: expected at most 3 VMs with accelerators on qemu-virt in a system with overlays, got 4"
    )
    assert library.build(SYSTEM.replace("\tvms {\n", "\tvms {\n" + vms))


MONITORED = SYSTEM.replace("\t\tplain {\n", "\t\tplain {\n\t\t\taccelerator-monitor;\n")


def test_monitor(library):
    assert read(library.build(SYSTEM))[1].head.monitors == 0
    assert read(library.build(MONITORED))[1].head.monitors == 1 << 0


def test_monitor_without_accelerators(builder):
    system = PLAIN.replace("\t\tplain {\n", "\t\tplain {\n\t\t\taccelerator-monitor;\n")
    with pytest.raises(
        BuildError, match="/vms/plain: accelerator-monitor: expected only in a system with /accelerators"
    ):
        builder.build(system)


def test_bitstreams(library):
    image, fabric = read(library.build(SYSTEM))
    assert [(one.device, one.region, one.verify) for one in fabric.bitstreams] == [
        *[(AES, region, 0) for region in range(3)],
        *[(FFT, region, 1) for region in (1, 2)],
        (QAM, 0, 0),
    ]
    spans = set()
    for one in fabric.bitstreams:
        assert one.offset % 4096 == 0
        assert one.offset >= image.header["config_size"]
        assert one.offset + one.size + TAG_SIZE <= image.header["total_size"] - 8
        data = image.data[one.offset : one.offset + one.size]
        task = fabric.devices[one.device].task
        assert data == of_file(f"{task}-{one.region}.bin")
        assert image.data[one.offset + one.size :][:TAG_SIZE] == tag(data, KEY)
        spans.add((one.offset, one.size))
    assert len(spans) == len(fabric.bitstreams)


def test_interrupts_of_the_vms(library):
    image, _ = read(library.build(SYSTEM))
    routes = [[(irq["host"], irq["guest"]) for irq in vm.irqs] for vm in image.vms]
    assert routes == [[], [(1, 1), (21, 21)], [(22, 21)]]
    mmio = [[region["gpa"] for region in vm.regions if region["kind"] == layout.REGION_MMIO] for vm in image.vms]
    assert mmio == [[], [0x10001000], []]  # the component maps the devices' pages


def test_device_tree(library):
    built = library.build(SYSTEM)
    trees = {}
    for vm in ("plain", "both", "second"):
        trees[vm] = {}
        for value in fdt.values(built.files[f"{vm}.dtb"]):
            trees[vm].setdefault(value.path, {})[value.name] = value.data
    pages = {vm: [path for path in tree if "accelerator@" in path] for vm, tree in trees.items()}
    first, third = "/fabric/accelerator@18100000", "/fabric/accelerator@18102000"
    assert pages == {"plain": [], "both": [first, third], "second": [first]}
    node = trees["both"][third]
    assert node["compatible"] == b"tessera,accelerator\0"
    assert node["label"] == b"qam16\0"
    assert struct.unpack(">4I", node["reg"]) == (0, 0x18102000, 0, 0x1000)
    assert struct.unpack(">2I", node["interrupts"]) == (21, 22)
    assert node["interrupt-parent"] == trees["both"]["/soc/plic@c000000"]["phandle"]
    assert node["tessera,task"] == b"\0\0\0\1"
    # DMA addresses of a passed-through device are host-physical, those of an accelerator are not.
    assert "dma-ranges" in trees["both"]["/soc"]
    assert "dma-ranges" not in trees["both"]["/fabric"]


@pytest.mark.parametrize(("quantum_us", "hold_us"), [(1000, 10_000), (5000, 2 * 3 * 5000), (10**6, 2 * 3 * 10**6)])
def test_automatic_hold_time(library, quantum_us, hold_us):
    """Twice the wait of the three VCPUs for their slices, within the limits."""
    source = SYSTEM.replace("hold-us = <2000>;", "").replace(
        "harts = <1>;", f"harts = <1>; quantum-us = <{quantum_us}>;"
    )
    _, fabric = read(library.build(source))
    assert fabric.head.hold_cycles == hold_us * CLOCK_MHZ


def test_manifest(library):
    manifest = json.loads(library.build(SYSTEM).files["system.json"])
    fabric = manifest["fabric"]
    assert fabric["clients"] == [{"vm": "both", "interrupt": 21}, {"vm": "second", "interrupt": 22}]
    assert (fabric["base"], fabric["hold_cycles"], fabric["size_classes"]) == (0x18000000, 200000, [0, 1, 2])
    assert [(device["name"], device["task"]) for device in fabric["devices"]] == [
        ("aes128", 5),
        ("fft512", 3),
        ("qam16", 1),
    ]
    assert [one["region"] for one in fabric["devices"][FFT]["bitstreams"]] == [1, 2]
    assert fabric["devices"][QAM]["bitstreams"][0]["path"] == "guests/simb/1-0.bin"
    assert [vm["accelerators"] for vm in manifest["vms"]] == [
        [],
        [
            {"name": "aes128", "address": 0x18100000, "priority": 0, "model": "native"},
            {"name": "qam16", "address": 0x18102000, "priority": 15, "model": "guest"},
        ],
        [{"name": "aes128", "address": 0x18100000, "priority": 3, "model": "native"}],
    ]
    assert {"name": "qam16", "base": 0x18102000, "size": 0x1000} in manifest["vms"][1]["mmio"]


def test_a_system_without_accelerators_has_no_section(builder):
    built = builder.build(PLAIN)
    assert read_image(built.files["tessera.bin"]).sections == {}
    assert json.loads(built.files["system.json"])["fabric"] is None


# Random systems


@dataclass(frozen=True)
class Wanted:
    """A device to build."""

    task: int
    size_class: int
    regions: tuple[int, ...]
    default_regions: bool
    words: int

    def source(self, number: int) -> str:
        names = ", ".join(f'"{number}-{region}.bin"' for region in self.regions)
        regions = "" if self.default_regions else f"regions = <{' '.join(map(str, self.regions))}>; "
        return (
            f"d{number} {{ task = <{self.task}>; size-class = <{self.size_class}>; {regions}bitstreams = {names}; }};"
        )


@st.composite
def devices(draw):
    size_class = draw(st.integers(0, 2))
    possible = list(range(size_class, 3))  # region n of qemu-virt has size class n
    default = draw(st.booleans())
    regions = possible if default else draw(st.permutations(possible))[: draw(st.integers(1, len(possible)))]
    return Wanted(draw(st.integers(1, 255)), size_class, tuple(regions), default, draw(st.sampled_from([3, 5, 2001])))


USES = st.dictionaries(
    st.integers(0, 5), st.tuples(st.integers(0, 15), st.sampled_from(["native", "guest"])), max_size=6
)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(wanted=st.lists(devices(), min_size=1, max_size=6), vms=st.lists(USES, min_size=1, max_size=4))
def test_random_systems(builder, wanted, vms):
    for number, device in enumerate(wanted):
        for region in device.regions:
            builder.file(f"{number}-{region}.bin", simulated(region, device.task, device.words))
    uses = [{number: use for number, use in vm.items() if number < len(wanted)} for vm in vms]
    if not any(uses):
        uses[0] = {0: (7, "guest")}
    image, fabric = read(builder.build(source(wanted, uses)))
    check_uses(fabric, uses)
    check_devices(image, fabric, wanted)


def check_uses(fabric, uses):
    assert [client.vm for client in fabric.clients] == [index for index, vm in enumerate(uses) if vm]
    clients = [vm for vm in uses if vm]
    assert [(accel.client, accel.device, accel.priority, accel.model, accel.gpa) for accel in fabric.accels] == [
        (client, number, priority, int(model == "guest"), 0x18100000 + number * 0x1000)
        for client, vm in enumerate(clients)
        for number, (priority, model) in sorted(vm.items())
    ]


def check_devices(image, fabric, wanted):
    assert [(device.task, device.size_class, device.regions) for device in fabric.devices] == [
        (device.task, device.size_class, sum(1 << region for region in device.regions)) for device in wanted
    ]
    found = [(one.device, one.region) for one in fabric.bitstreams]
    assert found == [(number, region) for number, device in enumerate(wanted) for region in sorted(device.regions)]
    for one in fabric.bitstreams:
        header = read_header(image.data[one.offset : one.offset + one.size])
        assert (header.region, header.task) == (one.region, wanted[one.device].task)


def source(wanted, uses):
    nodes = "\n".join(device.source(number) for number, device in enumerate(wanted))
    vms = ""
    for index, vm in enumerate(uses):
        names = "".join(f'd{n} {{ priority = <{p}>; model = "{model}"; }};' for n, (p, model) in vm.items())
        own = f"accelerators {{ {names} }};" if vm else ""
        vms += f'v{index} {{ memory-size = <0x200000>; image-address = <0x80000000>; image = "two.bin"; '
        vms += f'sign-of-life = "up"; {own} }};\n'
    head = 'compatible = "tessera,system"; board = "qemu-virt"; harts = <1>;'
    return f"/dts-v1/;\n/ {{ {head} accelerators {{\n{nodes}\n}}; vms {{\n{vms} }}; }};\n"


# Invalid systems


def extra_files(library):
    aes = of_file("5-0.bin")
    library.file("short.bin", aes[:-8])
    library.file("odd.bin", simulated(0, 5, 2))
    library.file("mutant.bin", aes[:100] + bytes([aes[100] ^ 4]) + aes[101:])
    library.file("header.bin", aes[:8] + bytes([aes[8] ^ 4]) + aes[9:])
    library.file("nothing.bin", bytes(64))
    library.file("slow.bin", simulated(0, 5, 3, slow=True))
    library.file("other.bin", simulated(0, 5, 3, body_region=1))
    library.file("frames.bin", wrap(0, 5, packet(0, 5, 2 + 101, 39)))
    library.file("below.bin", wrap(1, 5, packet(1, 5, 3, 0xFF)))
    library.file("beyond.bin", wrap(0, 5, packet(0, 5, 3, 39) + packet(0, 5, 4, 40)[:-8]))
    library.file("behind.bin", wrap(0, 5, packet(0, 5, 3, 39) + packet(0, 5, 2, 40)))
    library.file("tail.bin", wrap(0, 5, packet(0, 5, 3, 39) + packet(0, 5, 4, 39)[:8]))
    library.file("empty.bin", b"")
    with (library.guests / "large.bin").open("wb") as file:
        file.truncate((16 << 20) + 8)


@pytest.mark.parametrize("name", CASES)
def test_refused(library, name):
    extra_files(library)
    changes, expected = CASES[name]
    assert library.refuse(changed(SYSTEM, changes)) == expected


def test_number_of_cases():
    assert len(CASES) >= 30
    assert all(changes and expected for changes, expected in CASES.values())


def component_refusal(library, *components):
    library.source.write_text(SYSTEM)
    options = Options(library.source, None, (library.guests,), library.platform, components=components)
    with pytest.raises(BuildError) as refusal:
        build(options)
    return str(refusal.value).split("\n")


def test_component_that_the_hypervisor_lacks(library):
    expected = "expected a hypervisor with the component accel, got one with ipc (HYP_COMPONENTS)"
    line = SYSTEM.split("\n").index("\taccelerators {") + 1
    assert component_refusal(library, "ipc") == [f"sys.dts:{line}: /accelerators: {expected}"]
    with_it = Options(library.source, None, (library.guests,), library.platform, components=("ipc", "accel"))
    assert build(with_it).system.accelerators


def board(library, *changes):
    """Makes the board `alt` from QEMU's virt; returns the system for it."""
    library.make_board(*changes)
    return SYSTEM.replace('"qemu-virt"', '"alt"')


def fabric_line(prop):
    """The line of a property of the board's fabric."""
    lines = (Path("platform") / "alt" / "board.dts").read_text().split("\n")
    return next(n for n in range(lines.index("\tfabric {"), len(lines)) if lines[n].strip().startswith(prop)) + 1


def test_board_without_a_fabric(library):
    text = board(library)
    path = library.platform / "alt" / "board.dts"
    path.write_text(re.sub(r"\tfabric \{.*?\n\t\};\n", "", path.read_text(), flags=re.DOTALL))
    line = SYSTEM.split("\n").index("\taccelerators {") + 1
    expected = "expected only on a board with a fabric, got it on alt"
    assert library.refuse(text) == [f"sys.dts:{line}: /accelerators: {expected}"]
    library.platform = ROOT / "platform"
    on_mips = library.refuse(SYSTEM.replace('"qemu-virt"', '"m5150"'))
    assert f"sys.dts:{line}: /accelerators: {expected.replace('alt', 'm5150')}" in on_mips


def test_fabric_of_a_board_for_mips(library):
    path = library.platform / "m5150" / "board.dts"
    library.platform = Path("platform")
    (library.platform / "m5150").mkdir(parents=True)
    fabric = re.search(r"\tfabric \{.*?\n\t\};\n", (ROOT / "platform/qemu-virt/board.dts").read_text(), flags=re.DOTALL)
    (library.platform / "m5150" / "board.dts").write_text(
        path.read_text().rstrip().removesuffix("};") + fabric[0] + "};\n"
    )
    expected = "/fabric: expected only on a board whose guests have a PLIC, got it on mips"
    assert any(line.endswith(expected) for line in library.refuse(SYSTEM.replace('"qemu-virt"', '"m5150"')))


@pytest.mark.parametrize(
    ("old", "new", "prop", "message"),
    [
        ("base = <0x18000000>", "base = <0x80000000>", "base", "expected registers of its own, got some of the RAM"),
        (
            "base = <0x18000000>",
            "base = <0x10000000>",
            "base",
            "expected registers of its own, got some of /devices/virtio-mmio0",
        ),
        ("interrupt = <20>", "interrupt = <24>", "interrupt", "expected a source of its own, got that of VM 3"),
        (
            "\t\tinterrupt = <20>",
            "\t\tinterrupt = <11>",
            "interrupt",
            "expected sources of its own, got 11 of /devices/rtc",
        ),
        (VMS, VMS.replace("4", "12"), "vm-interrupt", "expected sources up to 31 for 12 VMs, got 32"),
        ("<0 1 2>", "<0 0 0 0 0 0 0 0 0>", "size-classes", "expected at most 8 regions, got 9"),
        ("0x100 80 0x200 160", "0x100 80 0x200", "frames", "expected two numbers for each of 3 regions, got 5"),
        ("0x100 80 0x200 160", "0x100 80", "frames", "expected two numbers for each of 3 regions, got 4"),
        ("0x100 80", "39 80", "frames", "expected frames that no other region has, got 0x27 twice"),
        ("0x100 80", "0x200 80", "frames", "expected frames that no other region has, got 0x200 twice"),
        ("0x100 80", "0x0 0", "frames", "expected frames that no other region has, got 0x0 twice"),
    ],
)
def test_broken_fabric_of_a_board(library, old, new, prop, message):
    text = board(library, (old, new))
    expected = f"platform/alt/board.dts:{fabric_line(prop)}: /fabric: {prop}: {message}"
    assert expected in library.refuse(text)


def test_frames_next_to_each_other(library):
    text = board(library, ("0x100 80 0x200 160", "41 80 121 160"), ("0x000 40", "0 41"))
    assert "bitstream for region 1" in "".join(library.refuse(text))  # its frames are elsewhere


def key_of(folder, text):
    (folder / KEY_FILE).write_text(text)
    return read_key(folder)


def test_key_of_the_board(tmp_path):
    bytes_of_key = [f"0x{7 * number % 256:02x}" for number in range(32)]
    assert key_of(tmp_path, f"/* 0x00 */ {{{', '.join(bytes_of_key)}}}") == bytes(7 * n % 256 for n in range(32))
    with pytest.raises(BuildError, match=r"bitstream_key.c: expected a key of 32 bytes, .*, got 31$"):
        key_of(tmp_path, ", ".join(bytes_of_key[1:]))
    (tmp_path / KEY_FILE).unlink()
    with pytest.raises(BuildError, match=r"expected the key of bitstreams' tags: .*No such file"):
        read_key(tmp_path)


def test_key_is_not_in_the_image(library):
    files = library.build(SYSTEM).files
    assert not [name for name, data in files.items() if KEY in data or KEY.hex().encode() in data]


def test_regions_of_equal_size(library):
    text = board(library, ("<0 1 2>", "<2 2 2>"))
    _, fabric = read(library.build(text))
    assert [device.regions for device in fabric.devices] == [0b111, 0b110, 0b001]


def test_interrupts_that_a_device_has(library):
    text = board(library, ("interrupt = <1>", "interrupt = <22>"), (VMS, VMS.replace("4", "1")))
    second = text.index("\t\tsecond {")
    lines = library.refuse(text[:second] + "\t};\n};\n")
    line = text[: text.index('devices = "rng0"')].count("\n") + 1
    assert lines == [
        f"sys.dts:{line}: /vms/both: devices: expected interrupts other than the accelerators' 21 and 22, "
        "got virtio-mmio0"
    ]


def test_more_vms_than_the_fabric_serves(library):
    text = board(library, (VMS, VMS.replace("4", "1")))
    line = text[: text.rindex("\t\t\taccelerators {")].count("\n") + 1
    assert library.refuse(text) == [
        f"sys.dts:{line}: /vms/second/accelerators: expected at most 1 VMs with accelerators on alt, got 2"
    ]


def test_list_of_files(library):
    library.source.write_text(SYSTEM)
    (library.guests / "simb" / "3-1.bin").unlink()
    found = [str(path) for path in named_files(library.source, (library.guests,)) if "simb" in str(path)]
    assert found == [
        *[f"guests/simb/5-{region}.bin" for region in range(3)],
        *["guests/simb/3-2.bin", "simb/3-1.bin", "guests/simb/3-1.bin", "guests/simb/1-0.bin"],
    ]


# The runner


def command(library, text=SYSTEM):
    """The command that boots the system."""
    data = json.loads(library.build(text).files["system.json"])
    data["hypervisor"] = {"path": "build/hyp/tessera.bin"}
    system = BuiltSystem("sys", Path("tessera.bin"), data)
    return system_command(Qemu("qemu", (7, 2), "rv64,h=true"), system)


def test_qemu_runs_the_fabric(library, monkeypatch):
    made = []
    cosim = SimpleNamespace(
        fabric_arguments=lambda qemu, options: made.append((qemu.version, options)) or ["-plugin", "fabric.so"],
        FabricOptions=dict,
    )
    monkeypatch.setitem(sys.modules, "tessera.run.cosim", cosim)
    words = command(library)
    assert words[words.index("-plugin") :][:2] == ["-plugin", "fabric.so"]
    assert made == [((7, 2), {"shared": False})]
    assert "shift=0,sleep=off" in words


def test_qemu_without_accelerators_has_no_fabric(library, monkeypatch):
    monkeypatch.setitem(sys.modules, "tessera.run.cosim", None)
    assert "-kernel" in command(library, PLAIN)


def test_runner_without_the_simulated_fabric(library, monkeypatch):
    monkeypatch.setitem(sys.modules, "tessera.run.cosim", None)
    with pytest.raises(RunError, match=r"^system 'sys' needs the simulated fabric: .*cosim"):
        command(library)
