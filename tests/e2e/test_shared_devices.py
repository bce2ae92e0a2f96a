# SPDX-License-Identifier: Apache-2.0
"""UART, SPI face, copies and screen of VMs under the hypervisor (docs/hardware-io.md). Flash, Ethernet and pins:
test_hardware_io.py."""

import re
from pathlib import Path

import pytest
from helpers import BOOT_S, SOON_S, command, keyboard
from pictures import Picture, outside, screen_of
from test_hardware_io import SECTOR, leave, recording

from tessera.run.machine import HYPERVISOR, Machine
from tessera.run.recorded import owned_lines

TYPED = ["one", "two words", "three"]
WAVE = Picture(3, 5, 61, 40, 0xFF0010, wave=True)
FRACTAL = Picture(70, 20, 80, 50, 0x40C0FF, wave=False)


@pytest.fixture(scope="module")
def faces(tmp_path_factory) -> tuple[Machine, dict[str, Path]]:
    folder = tmp_path_factory.mktemp("faces")
    files = {name: folder / name for name in ("uart", "typed", "flash")}
    files["typed"].write_text("\n".join([*TYPED, ""]), encoding="ascii")
    files["flash"].write_bytes(b"\x5a" * (9 * SECTOR))
    with recording("shared-faces", files) as machine:
        for name in machine.console.names:
            machine.expect(name, r"shared: done, \d+ wrong", BOOT_S)
        assert machine.wait_until(lambda: not machine.running, SOON_S), "the machine does not shut down"
        return machine, files


@pytest.mark.parametrize("name", ["first", "second", "third"])
def test_stock_controllers_and_copies(faces, name):
    """What the guests found: the chip's identification, data, errors outside of windows, copies, input."""
    text = faces[0].console.text(name)
    assert "shared: copies tested" in text
    assert ("shared: SPI tested" in text, "shared: UART tested" in text) == (name != "third",) * 2
    assert "shared: done, 0 wrong" in text, text


def test_memory_outside_of_a_vm(faces):
    """The hypervisor reports it; nothing else went wrong."""
    machine, _ = faces
    lines = re.findall(r"error: .*", machine.console.text(HYPERVISOR))
    assert lines
    assert all(
        re.search(r"by a shared device is outside of the VM, address 0x(1000|2000|80400000)$", line) for line in lines
    ), lines


def test_lines_and_their_owners(faces):
    """Each VM's lines are whole, in order, and under its own number; only the VM with the focus gets the input."""
    lines = owned_lines(faces[1]["uart"])
    answers = []
    for number, typed in enumerate(TYPED):
        answers += [f"question {number}?", f"answer {number}: {typed}"]
    assert {owner for owner, _ in lines} == {0, 1}
    for owner, letter, more in ((0, "A", []), (1, "B", answers)):
        expected = [f"line {number} of {letter * 8}" for number in range(20)] + more
        assert [text for one, text in lines if one == owner] == expected


def test_sectors_behind_a_stock_controller(faces):
    """Each VM has changed its own sectors, as it said."""
    content = faces[1]["flash"].read_bytes()
    before = b"\x5a" * SECTOR
    for seed, first in ((1, 2), (2, 3)):
        data = bytes((seed + 11 * i + (i >> 8)) & 0xFF for i in range(600))
        sector = content[first * SECTOR : (first + 1) * SECTOR]
        assert sector == b"\xff" * 0x1000 + data + b"\xff" * (SECTOR - 0x1000 - 600)
    for number in (0, 1, 4, 7, 8):  # of no VM, the second one of `second`, and behind `third`
        assert content[number * SECTOR : (number + 1) * SECTOR] == before, number
    assert set(content[9 * SECTOR :]) == {0xFF}


def test_rectangles(tmp_path):
    """Each VM's pixels in its rectangle, and black elsewhere; the rectangle of a VM that stops is black until its next
    life draws."""
    file = tmp_path / "screen"
    with recording("shared-screen", {"screen": file}) as machine:
        for name in ("wave", "fractal"):
            machine.expect(name, r"draw: frame 2, 0 incomplete lines", BOOT_S)
        screen = screen_of(file)
        before = [picture.frame_of(screen) for picture in (WAVE, FRACTAL)]
        assert None not in before
        assert outside(screen, [WAVE, FRACTAL]) == {0}

        keyboard(machine, "fractal")
        command(machine, "s")
        machine.expect(HYPERVISOR, r"fractal stopped by the console", SOON_S)
        machine.skip("wave")
        machine.expect("wave", r"draw: frame \d+, 0 incomplete lines", SOON_S)
        machine.expect("wave", r"draw: frame \d+, 0 incomplete lines", SOON_S)
        screen = screen_of(file)
        assert FRACTAL.is_black(screen)
        assert (WAVE.frame_of(screen) or 0) > before[0]

        machine.skip("fractal")
        command(machine, "r")
        machine.expect("fractal", r"draw: frame 1, 0 incomplete lines", SOON_S)
        screen = screen_of(file)
        assert FRACTAL.frame_of(screen) is not None
        assert outside(screen, [WAVE, FRACTAL]) == {0}
        leave(machine)
        assert "error:" not in machine.console.text(HYPERVISOR)
    assert WAVE.frame_of(screen_of(file)) is not None
