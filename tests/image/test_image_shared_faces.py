# SPDX-License-Identifier: Apache-2.0
"""Shared devices behind the registers of stock ones, the UART and the SPI controller, on a board that has them: their
settings in the image, the guests' device trees, invalid systems."""

import json
import re
import struct

import pytest
from shared_system import BOARD_DEVICES, CLOCK_MHZ, PLAIN, array, channel, line_of, on_board, read

from tessera.image import fdt

UART, FLASH, SPI = 0, 1, 7
SYSTEM = on_board(
    PLAIN.replace(
        "\tvms {\n",
        "\tshared-devices {\n"
        "\t\tuart { };\n"
        '\t\tflash { policy = "priority"; period-us = <1000>; };\n'
        "\t\tspi { };\n"
        "\t};\n\tvms {\n",
    )
)
FIRST = "shared-devices { uart { }; spi { window = <2 3>; priority = <7>; budget-us = <9>; }; };"
SECOND = "shared-devices { uart { }; flash { window = <5 1>; priority = <6>; }; };"
for name, uses in (("first", FIRST), ("second", SECOND)):
    SYSTEM = SYSTEM.replace(f"\t\t{name} {{\n", f"\t\t{name} {{\n\t\t\t{uses}\n")
UART_NODE = "uart { };"
ALL = 'devices = "uart", "flash", "ethernet", "copy", "display", "gpio", "spi";'


@pytest.fixture
def board(builder):
    builder.make_board((BOARD_DEVICES, ALL))
    return builder


def tree(built, vm):
    nodes = {}
    for value in fdt.values(built.files[f"{vm}.dtb"]):
        nodes.setdefault(value.path, {})[value.name] = value.data
    return nodes


def cells(data):
    return struct.unpack(f">{len(data) // 4}I", data)


def with_uart(text):
    """The system with these properties of its UART."""
    return SYSTEM.replace(UART_NODE, f"uart {{ {text} }};", 1)


def test_section(board):
    head, (first, second) = read(board.build(SYSTEM))
    assert head["devices"] == 1 << UART | 1 << FLASH | 1 << SPI
    assert (first["devices"], second["devices"]) == (1 << UART | 1 << SPI, 1 << UART | 1 << FLASH)
    assert (first["flash_first"], first["flash_sectors"]) == (2, 3)
    assert (second["flash_first"], second["flash_sectors"]) == (5, 1)
    assert channel(head, FLASH) == (1, 7, 0, 1000 * CLOCK_MHZ)
    assert (array(first, "priority"), array(first, "budget")) == ([7, 0, 0, 0], [9 * CLOCK_MHZ, 0, 0, 0])
    assert (array(second, "priority"), array(second, "budget")) == ([6, 0, 0, 0], [0, 0, 0, 0])


def uart(head):
    return tuple(head[f"uart_{name}"] for name in ("divider", "flush", "mode", "focus"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", (868, 287, 0, 0)),
        ('mode = "focus"; focus = "second";', (868, 287, 1, 1)),
        ('focus = "first"; baud = <1000000>; flush-us = <8>;', (100, 0, 0, 0)),
        ("baud = <1000000>; flush-us = <1>;", (100, 0, 0, 0)),
        ("baud = <1000000>; flush-us = <32768>;", (100, 4095, 0, 0)),
        ("baud = <6250000>;", (16, 4095, 0, 0)),
        ("baud = <1526>;", (65531, 3, 0, 0)),
    ],
)
def test_settings_of_the_uart(board, text, expected):
    assert uart(read(board.build(with_uart(text)))[0]) == expected


def test_focus_is_the_number_of_the_vm_in_the_hardware(board):
    """Without a setting, the first VM with a UART has it."""
    text = SYSTEM.replace("shared-devices { uart { }; spi", "shared-devices { spi")
    head, clients = read(board.build(text))
    assert (head["uart_focus"], [client["vm"] for client in clients]) == (1, [1, 2])


def test_a_system_without_a_uart(board):
    head, _ = read(board.build(SYSTEM.replace("\t\tuart { };\n", "").replace("{ uart { };", "{")))
    assert uart(head) == (0, 0, 0, 0)


def test_device_tree_of_a_uart(board):
    built = board.build(with_uart("baud = <9600>;"))
    nodes = tree(built, "second")
    node = nodes["/fabric/serial@18200000"]
    assert node.pop("compatible") == b"tessera,shared-uart\0ns16550a\0"
    assert cells(node.pop("interrupt-parent")) == cells(nodes["/soc/plic@c000000"]["phandle"])
    assert {name: cells(data) for name, data in node.items()} == {
        "reg": (0, 0x18200000, 0, 0x1000),
        "interrupts": (23,),
        "reg-shift": (2,),
        "reg-io-width": (4,),
        "clock-frequency": (3686400,),
        "current-speed": (9600,),
    }
    assert nodes["/chosen"]["stdout-path"] == b"/soc/serial@10000000\0"
    assert {"name": "uart", "base": 0x18200000, "size": 0x1000} in json.loads(built.files["system.json"])["vms"][2][
        "mmio"
    ]


def test_console_of_a_vm_without_an_emulated_uart(board):
    built = board.build(SYSTEM.replace('"two.bin";', '"two.bin"; no-uart;'))
    assert tree(built, "second")["/chosen"]["stdout-path"] == b"/fabric/serial@18200000\0"


def test_device_tree_of_an_spi_controller(board):
    nodes = tree(
        board.build(SYSTEM.replace('policy = "priority";', 'policy = "priority"; sck-hz = <20000000>;')), "first"
    )
    assert not [path for path in nodes if path.endswith("flash@18201000")]
    spi = nodes["/fabric/spi@18207000"]
    assert spi["compatible"] == b"sifive,spi0\0"
    assert cells(spi["reg"]) == (0, 0x18207000, 0, 0x1000)
    assert cells(spi["interrupts"]) == (23,)
    assert (cells(spi["#address-cells"]), cells(spi["#size-cells"])) == ((1,), (0,))
    clock = nodes["/shared-clock"]
    assert spi["clocks"] == clock["phandle"]
    assert clock["compatible"] == b"fixed-clock\0"
    assert (cells(clock["#clock-cells"]), cells(clock["clock-frequency"])) == ((0,), (CLOCK_MHZ * 10**6,))
    chip = nodes["/fabric/spi@18207000/flash@0"]
    assert chip["compatible"] == b"jedec,spi-nor\0"
    assert (cells(chip["reg"]), cells(chip["spi-max-frequency"])) == ((0,), (20000000,))
    assert nodes["/fabric/spi@18207000/flash@0/partitions"]["compatible"] == b"fixed-partitions\0"
    partition = nodes["/fabric/spi@18207000/flash@0/partitions/partition@0"]
    assert cells(partition["reg"]) == (0, 3 << 16)
    assert "/shared-clock" not in tree(board.build(SYSTEM), "second")


# Invalid systems


def test_windows_are_those_of_the_flash(board):
    text = SYSTEM.replace("window = <5 1>", "window = <4 1>")
    got = "got 4 to 4, of which /vms/first/shared-devices/spi has 2 to 4"
    assert board.refuse(text) == [
        f"sys.dts:{line_of(text, SECOND.replace('<5 1>', '<4 1>'))}: /vms/second/shared-devices/flash: window: "
        f"expected sectors that no other VM has, {got}"
    ]


def test_budget_is_one_of_the_flashs_period(board):
    text = SYSTEM.replace("budget-us = <9>", "budget-us = <1001>")
    (problem,) = board.refuse(text)
    expected = "expected at most period-us of /shared-devices/flash, 1000, got 1001"
    assert problem.endswith(f": /vms/first/shared-devices/spi: budget-us: {expected}")


def test_both_faces_of_the_flash(board):
    text = SYSTEM.replace("uart { }; flash {", "uart { }; spi { window = <6 1>; }; flash {")
    (problem,) = board.refuse(text)
    expected = "expected only on a VM without flash: both are its window onto the flash"
    assert problem.endswith(f": /vms/second/shared-devices/spi: {expected}")


def test_spi_without_the_flash(board):
    text = re.sub(r"\t\tflash \{.*\};\n", "", SYSTEM).replace(SECOND, "")
    (problem,) = board.refuse(text)
    assert problem.endswith(": /shared-devices/spi: expected only beside flash in /shared-devices")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('mode = "all";', 'mode: expected one of "lines", "focus", got "all"'),
        ('focus = "secnd";', 'focus: expected the name of a VM with a UART, got "secnd" (did you mean "second"?)'),
        ('focus = "plain";', 'focus: expected the name of a VM with a UART, got "plain" (first, second)'),
        ("baud = <1525>;", "baud: expected a rate of the clock of 100000000 Hz, 1526 to 6250000, got 1525"),
        ("baud = <6250001>;", "baud: expected a rate of the clock of 100000000 Hz, 1526 to 6250000, got 6250001"),
        ("flush-us = <0>;", "flush-us: expected a number from 1 to 10000000, got 0"),
        ("baud = <1000000>; flush-us = <32773>;", "flush-us: expected at most 32768 at 1000000 baud, got 32773"),
    ],
)
def test_refused_uart(board, text, message):
    (problem,) = board.refuse(with_uart(text))
    assert problem.endswith(f": /shared-devices/uart: {message}")


def test_devices_that_the_board_lacks(builder):
    builder.make_board((BOARD_DEVICES, 'devices = "flash", "gpio";'))
    expected = "expected a device of alt (flash, gpio), got"
    assert [problem.partition(": /")[2] for problem in builder.refuse(SYSTEM)] == [
        f"shared-devices/{name}: {expected} {name}" for name in ("uart", "spi")
    ]
