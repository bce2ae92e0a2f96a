# SPDX-License-Identifier: Apache-2.0
"""Shared devices: their section of the image, the guests' device trees, the manifest, QEMU's options; invalid systems
and boards."""

import json
import re
import struct
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from c_headers import values
from fixtures import ROOT, changed, read_cases
from image_reader import read_image
from shared_system import BOARD_DEVICES, CLOCK_MHZ, PLAIN, SYSTEM, array, channel, line_of, of_device, on_board, read

from tessera.fabric.bitstream import of_file
from tessera.image import fdt, virtual
from tessera.image.accel import accel_image
from tessera.image.board import read_board
from tessera.image.build import Options, build
from tessera.image.problems import BuildError
from tessera.image.shared import shared_image
from tessera.image.shared.display import line_bytes
from tessera.image.system import needed_components
from tessera.run import cosim
from tessera.run.runner import BuiltSystem, Qemu, system_command

CASES = read_cases(Path(__file__).with_name("refused-shared-devices.txt"))
FLASH, SEND, RECEIVE, COPY, GPIO = 1, 2, 3, 4, 6


def width(field):
    return values("fabric_map.h", f"FABRIC_SHARED_{field}_WIDTH")[0]


def test_limits_are_those_of_the_registers():
    assert values("fabric_map.h", "FABRIC_SHARED_PAGE_STRIDE") == (virtual.SHARED_PAGE,)
    assert width("ARBITER_SIZE") >= (shared_image.LARGEST_CHUNK.bit_length() - 1).bit_length()
    assert 1 << width("FLASH_WINDOW_SECTORS") > shared_image.MAX_SECTORS
    longest = accel_image.LONGEST_US * (accel_image.FASTEST_HZ // 10**6)
    assert all(longest < 1 << width(f"{name}_CYCLES") for name in ("BUDGET", "TIMEOUT", "PERIOD"))
    assert longest < 1 << width("FLASH_SLICE")
    assert width("FLASH_HALF") >= (accel_image.FASTEST_HZ // (2 * 10**6)).bit_length()
    for field in ("SCREEN_V_BACK", "SCREEN_RECT_WIDTH"):
        assert 1 << width(field) == shared_image.LONGEST_PHASE + 1
    (bits,) = values("fabric_map.h", "FABRIC_SCREEN_FORMAT_STRIDE_WIDTH")
    assert line_bytes(shared_image.WIDEST_SCREEN) < 1 << bits <= line_bytes(shared_image.WIDEST_SCREEN + 1)


def test_board_is_the_plugins():
    """Behind the fabric's addresses and interrupts, where fpga/target/cosim/qemu_device.cc has them, and without
    devices that the RTL lacks."""
    board = read_board(ROOT / "platform" / "qemu-virt" / "board.dts")
    fabric, shared = board.fabric, board.shared_devices
    assert shared.base == fabric.base + values("fabric_map.h", "FABRIC_SHARED")[0]
    assert shared.interrupt == fabric.vm_interrupt + fabric.vms
    assert shared.vm_interrupt == shared.interrupt + 1
    assert shared.clock_hz == fabric.clock_hz
    cosim = ROOT / "fpga" / "target" / "cosim"
    assert shared.vms == int(re.search(r"NumVms = (\d+)", (cosim / "io_cosim.sv").read_text())[1])
    lines = re.search(r"fabric_lines = (\d+), shared_lines = (\d+)", (cosim / "qemu_device.cc").read_text())
    assert [int(number) for number in lines.groups()] == [fabric.vms + 1, shared.vms + 1]
    top = (ROOT / "fpga" / "hw" / "rtl" / "io" / "io_top.sv").read_text()
    there = int(re.search(r"Devices = 16'b([01_]+);", top)[1].replace("_", ""), 2)
    assert sum(1 << number for name in shared.devices for number in shared_image.DEVICES[name]) & ~there == 0
    completions = 1
    assert int(re.search(r"NumClients = (\d+);", top)[1]) == completions + sum(shared_image.DMA_CLIENTS.values())
    page = (ROOT / "fpga" / "hw" / "rtl" / "io_display" / "display_page.sv").read_text()
    assert shared.screen_width == int(re.search(r"MaxWidth = (\d+)", page)[1])


def test_times_of_chunks(builder):
    """Of devices that the system uses: a chunk is longer than its least time, and has time for its bursts."""
    head, _ = read(builder.build(SYSTEM))
    for index in range(shared_image.CHANNELS):
        chunk, least, wait = (head[f"channels[{index}].{name}_cycles"] for name in ("chunk", "least", "wait"))
        if index + 1 in (FLASH, SEND):
            assert 0 < least < chunk
            assert 0 < wait < chunk
        else:
            assert (chunk, least, wait) == (0, 0, 0)
    assert head["channels[0].chunk_cycles"] > 2 * head["flash_slice"], "a turn that ends another VM's operation"


def test_section(builder):
    head, (first, second) = read(builder.build(SYSTEM))
    assert (head["base"], head["irq"], head["vm_irq"]) == (0x18200000, 25, 26)
    assert head["devices"] == 1 << FLASH | 1 << SEND | 1 << RECEIVE | 1 << GPIO
    assert (head["flash_half"], head["flash_deselect"], head["flash_slice"]) == (3, 10, 500 * CLOCK_MHZ)
    assert channel(head, FLASH) == (1, 6, 2000000 * CLOCK_MHZ, 1000 * CLOCK_MHZ)
    assert channel(head, SEND) == (2, 11, 0, 4000 * CLOCK_MHZ)
    assert channel(head, RECEIVE) == channel(head, COPY) == (0, 7, 0, 0)
    assert (first["vm"], second["vm"]) == (1, 2)
    for client in (first, second):
        assert (client["guest_irq"], client["devices"], client["gpa"]) == (23, head["devices"], 0x18200000)
    assert (first["flash_first"], first["flash_sectors"]) == (0, 16)
    assert (second["flash_first"], second["flash_sectors"]) == (16, 240)
    assert (first["pins"], second["pins"]) == (0b10011, 1 << 31)
    assert (first["mac"], first["ethernet"], first["vlan"]) == (0x02005E100001, 3, 5)
    assert (second["mac"], second["ethernet"], second["vlan"]) == (0x02005E100002, 0, 0)
    assert array(first, "priority") == [15, 0, 0, 0]
    assert array(first, "budget") == [200 * CLOCK_MHZ, 4000 * CLOCK_MHZ, 0, 0]
    assert array(second, "priority") == array(second, "budget") == [0, 0, 0, 0]


def test_defaults(builder):
    head, (client,) = read(builder.build(of_device("flash", use="window = <255 1>;")))
    assert (head["devices"], client["devices"], client["vm"]) == (1 << FLASH, 1 << FLASH, 2)
    assert (head["flash_half"], head["flash_deselect"], head["flash_slice"]) == (2, 10, 1000 * CLOCK_MHZ)
    assert channel(head, FLASH) == (0, 7, 0, 0)
    assert (client["mac"], client["ethernet"], client["vlan"], client["pins"]) == (0, 0, 0, 0)


def test_gpio_alone(builder):
    """The component checks the settings of devices that no VM uses, too."""
    head, (client,) = read(builder.build(of_device("gpio", use="pins = <7>;")))
    assert head["devices"] == client["devices"] == 1 << GPIO
    assert (head["flash_half"], head["flash_deselect"], head["flash_slice"]) == (2, 10, 100000)
    assert [channel(head, device) for device in range(1, 5)] == [(0, 7, 0, 0)] * 4
    assert (client["flash_first"], client["flash_sectors"], client["pins"]) == (0, 0, 1 << 7)


def test_copy(builder):
    builder.make_board((BOARD_DEVICES, 'devices = "flash", "ethernet", "copy", "gpio";'))
    text = on_board(of_device("copy", "chunk = <32768>; period-us = <10>;", "priority = <2>; budget-us = <10>;"))
    built = builder.build(text)
    head, (client,) = read(built)
    assert channel(head, COPY) == (0, 15, 0, 10 * CLOCK_MHZ)
    assert (array(client, "priority"), array(client, "budget")) == ([0, 0, 0, 2], [0, 0, 0, 10 * CLOCK_MHZ])
    assert "copy@18204000 {" in built.files["second.dts"].decode()


@pytest.mark.parametrize("mhz", [1, 33, 400])
def test_times_are_cycles_of_the_clock(builder, mhz):
    path = builder.make_board()
    old = "clock-hz = <100000000>;\n\t\tflash"
    path.write_text(changed(path.read_text(), [(old, old.replace("100000000", f"{mhz}000000"))]))
    head, (first, _) = read(builder.build(on_board(SYSTEM)))
    assert channel(head, FLASH)[2:] == (2000000 * mhz, 1000 * mhz)
    assert (head["flash_slice"], first["budget[0]"]) == (500 * mhz, 200 * mhz)
    assert mhz * 10**6 / (2 * head["flash_half"]) <= 20 * 10**6
    assert head["flash_deselect"] * 1000 >= 100 * mhz


def test_interrupts_of_the_vms(builder):
    """The component gives them to the VMs, so the VMs' own tables do not have them."""
    image = read_image(builder.build(SYSTEM).files["tessera.bin"])
    assert [vm.irqs for vm in image.vms] == [[], [], []]
    assert [len(vm.regions) for vm in image.vms] == [1, 1, 1]
    limited = SYSTEM.replace('image = "two.bin";', 'image = "two.bin"; interrupts-per-ms = <7>;')
    image = read_image(builder.build(limited).files["tessera.bin"])
    assert [vm.fields["irqs_per_ms"] for vm in image.vms] == [20, 20, 7]


def test_device_tree(builder):
    built = builder.build(SYSTEM)
    trees = {}
    for vm in ("plain", "first", "second"):
        trees[vm] = {}
        for value in fdt.values(built.files[f"{vm}.dtb"]):
            trees[vm].setdefault(value.path, {})[value.name] = value.data
    paths = ["/fabric/flash@18201000", "/fabric/ethernet@18202000", "/fabric/gpio@18206000"]
    found = {vm: [path for path in tree if path.startswith("/fabric/")] for vm, tree in trees.items()}
    assert found == {"plain": [], "first": paths, "second": paths}
    flash, ethernet, gpio = (trees["first"][path] for path in paths)
    names = ("flash", "ethernet", "gpio")
    for name, node in zip(names, (flash, ethernet, gpio), strict=True):
        assert node["compatible"] == f"tessera,shared-{name}\0".encode()
        assert node["interrupts"] == struct.pack(">I", 23)
        assert node["interrupt-parent"] == trees["first"]["/soc/plic@c000000"]["phandle"]
        assert node["clock-frequency"] == struct.pack(">I", CLOCK_MHZ * 10**6)
    assert struct.unpack(">4I", flash["reg"]) == (0, 0x18201000, 0, 0x1000)
    assert struct.unpack(">8I", ethernet["reg"]) == (0, 0x18202000, 0, 0x1000, 0, 0x18203000, 0, 0x1000)
    assert flash["tessera,window-sectors"] == struct.pack(">I", 16)
    assert ethernet["local-mac-address"] == bytes.fromhex("02005e100001")
    assert gpio["tessera,pins"] == struct.pack(">3I", 4, 0, 1)


def test_manifest(builder):
    manifest = json.loads(builder.build(SYSTEM).files["system.json"])
    assert manifest["shared_devices"] == {
        "base": 0x18200000,
        "interrupt": 25,
        "clock_hz": 100000000,
        "devices": ["flash", "ethernet", "gpio"],
        "clients": [{"vm": "first", "interrupt": 26}, {"vm": "second", "interrupt": 27}],
    }
    assert manifest["fabric"] is None
    assert [vm["shared_devices"] for vm in manifest["vms"]] == [[], *[["flash", "ethernet", "gpio"]] * 2]
    assert manifest["vms"][2]["mmio"][-3:] == [
        {"name": "flash", "base": 0x18201000, "size": 0x1000},
        {"name": "ethernet", "base": 0x18202000, "size": 0x2000},
        {"name": "gpio", "base": 0x18206000, "size": 0x1000},
    ]


def test_a_system_without_shared_devices_has_no_section(builder):
    built = builder.build(PLAIN)
    assert read_image(built.files["tessera.bin"]).sections == {}
    assert json.loads(built.files["system.json"])["shared_devices"] is None
    assert b"/fabric" not in built.files["first.dts"]
    assert needed_components(builder.source) == []


def test_beside_accelerators(builder):
    """Both sections; and the manager's bound counts the timers and interrupts of shared devices."""
    (builder.guests / "simb").mkdir()
    fabric = (ROOT / "tests" / "image" / "fabric.dts").read_text()
    accelerators = re.search(r"\taccelerators \{.*?\n\t\};\n", fabric, flags=re.DOTALL)[0]
    for name in set(re.findall(r'"(simb/.*?)"', accelerators)):
        builder.file(name, of_file(Path(name).name))
    uses = "\t\t\taccelerators { aes128 { }; };\n"

    def built(text):
        both = text.replace("\tvms {\n", accelerators + "\tvms {\n").replace("\t\tsecond {\n", f"\t\tsecond {{\n{uses}")
        return builder.build(both)

    sections = read_image(built(SYSTEM).files["tessera.bin"]).sections
    assert list(sections) == [accel_image.TAG, shared_image.TAG]
    alone = accel_image.IMAGE.unpack(read_image(built(PLAIN).files["tessera.bin"]).sections[accel_image.TAG])
    beside = accel_image.IMAGE.unpack(sections[accel_image.TAG])
    assert (beside["sources"], beside["timers"]) == (alone["sources"] + 3, alone["timers"] + 3)
    tree = built(SYSTEM).files["second.dts"].decode()
    assert tree.index("accelerator@18100000") < tree.index("flash@18201000")


# Invalid systems


@pytest.mark.parametrize("name", CASES)
def test_refused(builder, name):
    changes, expected = CASES[name]
    assert builder.refuse(changed(SYSTEM, changes)) == expected


def test_number_of_cases():
    assert len(CASES) >= 30
    assert all(changes and expected for changes, expected in CASES.values())


def test_component_that_the_hypervisor_lacks(builder):
    builder.source.write_text(SYSTEM)

    def options(*components):
        return Options(builder.source, None, (builder.guests,), builder.platform, components=components)

    line = SYSTEM.split("\n").index("\tshared-devices {") + 1
    expected = "expected a hypervisor with the component shared, got one with accel (HYP_COMPONENTS)"
    with pytest.raises(BuildError) as refusal:
        build(options("accel"))
    assert str(refusal.value) == f"sys.dts:{line}: /shared-devices: {expected}"
    assert build(options("shared")).system.sharers


def test_device_that_the_board_lacks(builder):
    builder.make_board((BOARD_DEVICES, 'devices = "ethernet", "gpio";'))
    text = on_board(SYSTEM)
    line = text.split("\n").index("\t\tflash {") + 1
    expected = "expected a device of alt (ethernet, gpio), got flash"
    assert builder.refuse(text) == [f"sys.dts:{line}: /shared-devices/flash: {expected}"]


def test_board_without_shared_devices(builder):
    path = builder.make_board()
    path.write_text(re.sub(r"\tshared-devices \{.*?\n\t\};\n", "", path.read_text(), flags=re.DOTALL))
    line = SYSTEM.split("\n").index("\tshared-devices {") + 1
    expected = "expected only on a board with shared devices, got it on alt"
    assert builder.refuse(on_board(SYSTEM)) == [f"sys.dts:{line}: /shared-devices: {expected}"]
    builder.platform = ROOT / "platform"
    on_mips = builder.refuse(SYSTEM.replace('"qemu-virt"', '"m5150"'))
    assert f"sys.dts:{line}: /shared-devices: {expected.replace('alt', 'm5150')}" in on_mips


def test_smaller_hardware(builder):
    path = builder.make_board(("flash-sectors = <256>", "flash-sectors = <128>"), ("pins = <32>", "pins = <31>"))
    text = on_board(SYSTEM)
    assert builder.refuse(text) == [
        f"sys.dts:{line_of(text, 'window = <16 240>')}: /vms/second/shared-devices/flash: window: "
        "expected a sector or more of the 128 of alt's flash, got 240 from sector 16",
        f"sys.dts:{line_of(text, 'pins = <31>')}: /vms/second/shared-devices/gpio: pins: "
        "expected pins of alt, 0 to 30, got 31",
    ]
    vms = "vms = <6>;\n\t\tdevices = " + BOARD_DEVICES.partition(" = ")[2]
    path.write_text(changed(path.read_text(), [(vms, vms.replace("6", "1"))]))
    line = text[: text.rindex("\t\t\tshared-devices {")].count("\n") + 1
    expected = "expected at most 1 VMs with shared devices on alt, got 2"
    assert f"sys.dts:{line}: /vms/second/shared-devices: {expected}" in builder.refuse(text)


def test_interrupt_that_a_device_has(builder):
    fewer = ("vms = <4>;\n\t\tdevices = <6>", "vms = <1>;\n\t\tdevices = <6>")  # of the fabric, which would have 23
    builder.make_board(("\t\t\tinterrupt = <1>;", "\t\t\tinterrupt = <23>;"), fewer)
    text = on_board(SYSTEM).replace('image = "two.bin";', 'image = "two.bin"; devices = "virtio-mmio0";')
    line = line_of(text, "virtio-mmio0")
    expected = "expected interrupts other than the shared devices' 23, got virtio-mmio0"
    assert builder.refuse(text) == [f"sys.dts:{line}: /vms/second: devices: {expected}"]


@pytest.mark.parametrize(
    ("old", "new", "prop", "message"),
    [
        ("base = <0x18200000>", "base = <0x18000000>", "base", "expected registers of its own, got some of /fabric"),
        ("base = <0x18200000>", "base = <0x80000000>", "base", "expected registers of its own, got some of the RAM"),
        (
            "base = <0x18200000>",
            "base = <0x10000000>",
            "base",
            "expected registers of its own, got some of /devices/virtio-mmio0",
        ),
        ("interrupt = <25>", "interrupt = <27>", "interrupt", "expected a source of its own, got that of VM 1"),
        ("interrupt = <25>", "interrupt = <20>", "interrupt", "expected sources of its own, got 20 of /fabric"),
        ("vm-interrupt = <26>", "vm-interrupt = <21>", "interrupt", "expected sources of its own, got 22 of /fabric"),
        ("interrupt = <25>", "interrupt = <11>", "interrupt", "expected sources of its own, got 11 of /devices/rtc"),
        ("vm-interrupt = <26>", "vm-interrupt = <27>", "vm-interrupt", "expected sources up to 31 for 6 VMs, got 32"),
        ("\t\tflash-sectors = <256>;", "", "", "flash-sectors: missing; expected it with flash in devices"),
        ("\t\tpins = <32>;", "", "", "pins: missing; expected it with gpio in devices"),
        ("\t\tscreen-width = <1024>;", "", "", "screen-width: missing; expected it with display in devices"),
        ("\t\tburst-cycles = <24>;", "", "", "burst-cycles: missing; expected it with display in devices"),
        (BOARD_DEVICES, 'devices = "spi", "gpio";', "devices", "expected spi only together with flash"),
        (
            BOARD_DEVICES,
            'devices = "flsh";',
            "devices",
            'expected a list of different devices out of "uart", "flash", "ethernet", "copy", "display", "gpio", '
            '"spi", got "flsh" (did you mean "flash"?)',
        ),
    ],
)
def test_broken_board(builder, old, new, prop, message):
    path = builder.make_board((old, new))
    lines = path.read_text().split("\n")
    start = lines.index("\tshared-devices {")
    line = next(n for n in range(start, len(lines)) if lines[n].strip().startswith(prop or "shared-devices")) + 1
    where = f"/shared-devices: {prop}: " if prop else "/shared-devices: "
    assert f"platform/alt/board.dts:{line}: {where}{message}" in builder.refuse(on_board(SYSTEM))


# What make and QEMU run


def test_make_builds_the_rtl(builder):
    builder.source.write_text(SYSTEM)
    assert needed_components(builder.source) == ["shared"]


def command(builder, text):
    """The command that boots the system."""
    data = json.loads(builder.build(text).files["system.json"])
    data["hypervisor"] = {"path": "build/hyp/tessera.bin"}
    return system_command(Qemu("qemu", (7, 2), "rv64,h=true"), BuiltSystem("sys", Path("tessera.bin"), data))


def test_qemu_runs_the_rtl(builder, monkeypatch):
    fake = SimpleNamespace(
        fabric_arguments=lambda qemu, options: ["-plugin", f"fabric.so,{options}"], FabricOptions=dict
    )
    monkeypatch.setitem(sys.modules, "tessera.run.cosim", fake)
    assert "fabric.so,{'shared': True}" in command(builder, SYSTEM)
    assert "-plugin" not in command(builder, PLAIN)


def test_option_of_the_plugin(monkeypatch, tmp_path):
    (tmp_path / "libfabric-1.so").touch()
    monkeypatch.setattr(cosim, "BUILD", tmp_path)
    qemu = Qemu("qemu", (7, 2), "rv64,h=true")
    assert cosim.fabric_arguments(qemu, options=cosim.FabricOptions(shared=True))[1].endswith(",shared=1")
    assert "shared" not in cosim.fabric_arguments(qemu)[1]
