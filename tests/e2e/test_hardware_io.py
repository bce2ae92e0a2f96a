# SPDX-License-Identifier: Apache-2.0
"""VMs that share devices (docs/hardware-io.md), whose RTL runs beside QEMU (fpga/target/cosim): flash, Ethernet and
pins, a flood, hostile VMs, restarts."""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from helpers import BOOT_S, OUT, SOON_S, booted, built, clean_environment, command, keyboard
from pictures import Picture, Rows, outside, screen_of
from PIL import Image
from terminal import at_terminal

from tessera.run.machine import HYPERVISOR, Machine
from tessera.run.recorded import Trains, edges, frames, owned_lines
from tessera.run.runner import ROOT, find_qemu, system_command

HOST = bytes([2, 0x54, 0x53, 0, 0, 1])
LINK = bytes([1, 0x80, 0xC2, 0, 0, 0])  # the first of 16 addresses of the link itself
FORBIDDEN = (0x8100, 0x88A8, 0x8808)  # types of tags, and of frames that control the link
ECHO_REPLY, ECHO_REQUEST = 0, 8
CYCLES_MS = 100_000
SECTOR, RECORD = 65536, 64  # bytes
WAVE = Picture(8, 8, 116, 112, 0xFFB000, wave=True)
HOSTILE_RECTANGLES = [Picture(x, 8, 50, 112, 0, wave=True) for x in (130, 190)]
WAVE_NUMBER, HOSTILE_NUMBERS = 2, (4, 5)  # of the VMs with shared devices
QUIET_MS = 100  # from one line of the hypervisor about a kind of error to the next


def mac(number: int) -> bytes:
    return bytes([2, 0, 0, 0, 0, number])


def drawn(frame: int) -> str:
    """What a guest that draws reports."""
    return f"draw: frame {frame}, 0 incomplete lines"


@dataclass(frozen=True)
class Files:
    flash: Path
    pcap: Path
    pins: Path
    uart: Path
    screen: Path


def files_in(folder: Path) -> Files:
    return Files(*(folder / name for name in ("flash.bin", "ethernet.pcap", "pins.vcd", "uart.txt", "screen.ppm")))


@contextmanager
def recording(name: str, files: dict[str, Path], label: str = "", qemu: str | None = None) -> Iterator[Machine]:
    system = built(name)
    words = system_command(find_qemu(qemu), system, **files)
    OUT.mkdir(parents=True, exist_ok=True)
    with Machine(words, system.names, OUT / f"{label or name}.log") as machine:
        yield machine


def leave(machine: Machine) -> None:
    """Ends QEMU by the operator's command, so that it writes its files."""
    command(machine, "q")
    assert machine.wait_until(lambda: not machine.running, SOON_S), "the machine does not shut down"


def assert_exact(pulse: Machine, files: Files) -> int:
    """Each edge of the VM `pulse` is in its own cycle, as long as the VM drives its pin. Returns their number."""
    asked = Trains.asked(pulse.console.text("pulse"))
    assert asked is not None
    found = asked.recorded(edges(files.pins)[0])
    assert found == [asked.edge(number) for number in range(len(found))]
    return len(found)


def test_drivers():
    """Every function of the SDK's drivers, in two VMs at the same time."""
    with booted(built("shared-devices"), "shared-devices") as machine:
        for name in machine.console.names:
            machine.expect(name, r"shared: done, 0 wrong", BOOT_S)
        assert machine.wait_until(lambda: not machine.running, SOON_S), "the machine does not shut down"
        assert "wrong:" not in machine.console.text("first") + machine.console.text("second")
        lines = re.findall(r"error: .*", machine.console.text(HYPERVISOR))
        assert lines, "the hypervisor reports an access outside of a VM"
        assert all(line.endswith("by a shared device is outside of the VM, address 0x1000") for line in lines), lines


@pytest.fixture(scope="module")
def flooded(tmp_path_factory) -> tuple[Machine, Files]:
    files = files_in(tmp_path_factory.mktemp("flood"))
    with recording("shared-flood", vars(files)) as machine:
        guests = {"log": "flash_log", "freertos": "ping", "wave": "draw", "fractal": "draw"}
        for name in machine.console.names:
            machine.expect(name, rf"{guests.get(name, name)}: done", BOOT_S)
        assert machine.wait_until(lambda: not machine.running, SOON_S), "the machine does not shut down"
        return machine, files


@pytest.mark.long
def test_flood(flooded):
    """All FIFOs of one VM are full all the time."""
    machine, _ = flooded
    found = re.search(
        r"done, (\d+) flash requests, (\d+) frames, (\d+) trains .*, 0 failed", machine.console.text("flood")
    )
    assert found is not None, machine.console.text("flood")
    requests, sent, trains = map(int, found.groups())
    assert requests >= 2, "32 KiB need 10 ms"
    assert sent > 1000
    assert trains > 1000


@pytest.mark.long
def test_log_beside_the_flood(flooded):
    machine, _ = flooded
    text = machine.console.text("log")
    assert "flash_log: the log is empty" in text
    assert re.findall(r"flash_log: (\d+): record \d+ of life 0", text) == [str(n) for n in range(10)]


@pytest.mark.long
def test_pins_beside_the_flood(flooded):
    """0 cycles of error."""
    machine, files = flooded
    assert "pulse: done, 0 late, 0 other results" in machine.console.text("pulse")
    assert assert_exact(machine, files) == 2 * 20 * 100
    others = edges(files.pins)
    assert set(others) == {0, 16}
    assert len(others[16]) > 100_000, "the flood's pulses"


@pytest.mark.long
def test_pings_beside_the_flood(flooded):
    """Each has its answer, on the wire and in the guest, whose round trip is the longer one."""
    machine, files = flooded
    said = re.findall(r"ping: (\d+): (\d+\.\d) us", machine.console.text("freertos"))
    assert [int(number) for number, _ in said] == list(range(1, 11))
    wire = [frame for frame in frames(files.pcap) if frame.echo]
    asked = {frame.echo[1]: frame for frame in wire if frame.echo[0] == ECHO_REQUEST}
    answered = {frame.echo[1]: frame for frame in wire if frame.echo[0] == ECHO_REPLY}
    assert list(asked) == list(answered) == list(range(1, 11))
    for number, us in said:
        request, answer = asked[int(number)], answered[int(number)]
        assert (request.source, request.to, answer.source, answer.to) == (mac(2), HOST, HOST, mac(2))
        assert answer.ns - request.ns < 1000 * float(us)


@pytest.mark.long
def test_pictures_beside_the_flood(flooded):
    """No line of a frame is incomplete, and each report is a line of its VM on the UART."""
    _, files = flooded
    lines = owned_lines(files.uart)
    assert sorted(lines) == [(owner, drawn(number)) for owner in (WAVE_NUMBER, WAVE_NUMBER + 1) for number in (1, 2)]


@pytest.mark.long
def test_log_survives_the_machine(flooded, tmp_path):
    """The next machine with the same file continues the log."""
    _, before = flooded
    files = vars(files_in(tmp_path)) | {"flash": before.flash}
    with recording("shared-flood", files, "shared-flood-again") as machine:
        machine.expect("log", r"flash_log: the last record is 9: record 10 of life 0", BOOT_S)
        machine.expect("log", r"flash_log: 10: record 1 of life 1", BOOT_S)


@pytest.fixture(scope="module")
def attacked(tmp_path_factory) -> tuple[Machine, Files, list[Rows]]:
    files = files_in(tmp_path_factory.mktemp("hostile"))
    screens = []
    with recording("shared-hostile", vars(files)) as machine:
        for name in ("hostile", "chip", "chip", "hostile"):
            machine.expect(name, r"hostile: 8192 rounds, [1-9]\d* traps", BOOT_S)
            keyboard(machine, name)
            machine.skip(name)
            command(machine, "r")
            machine.expect(HYPERVISOR, rf"{name} stopped by the console, starts again", SOON_S)
        machine.expect("hostile", r"hostile: \d{5,} rounds, [1-9]\d* traps", BOOT_S)
        for frame in range(1, 5):
            machine.expect("wave", rf"draw: frame {frame}, ", BOOT_S)
            screens.append(screen_of(files.screen))
        machine.expect("freertos", r"ping: 4: \d", BOOT_S)
        machine.expect("log", r"flash_log: 4: ", BOOT_S)
        machine.expect("pulse", r"pulse: 1000 pulses, 0 late, 0 other", BOOT_S)
        machine.expect("witness", r"witness: \d{3,} rounds", BOOT_S)
        leave(machine)
        return machine, files, [*screens, screen_of(files.screen)]


@pytest.mark.parametrize("name", ["freertos", "log", "pulse", "witness", "wave"])
def test_others_do_not_notice_a_hostile_vm(attacked, name):
    """Pings are answered, records are written, no edge is late, no line of a frame is incomplete, memory is right."""
    text = attacked[0].console.text(name)
    assert not re.search(r"FAILED|no answer|[1-9]\d* (wrong|late|other|incomplete)", text), text


def test_pixels_beside_hostile_vms(attacked):
    """The picture in its rectangle, and black outside of all rectangles; the hostile VMs do show something."""
    screens = attacked[2]
    assert all(WAVE.frame_of(screen) for screen in screens)
    assert not all(
        HOSTILE_RECTANGLES[0].is_black(screen) and HOSTILE_RECTANGLES[1].is_black(screen) for screen in screens
    )
    assert all(outside(screen, [WAVE, *HOSTILE_RECTANGLES]) == {0} for screen in screens)


def test_lines_beside_hostile_vms(attacked):
    """Each line has an owner, and those of the VM that draws are its own ones."""
    lines = owned_lines(attacked[1].uart)
    assert {owner for owner, _ in lines} == {WAVE_NUMBER, *HOSTILE_NUMBERS}
    sent = [text for owner, text in lines if owner == WAVE_NUMBER]
    assert len(sent) >= 3
    assert sent == [drawn(number + 1) for number in range(len(sent))]


def test_flash_beside_a_hostile_vm(attacked):
    """The log has its own records only, and what no VM may write is erased."""
    content = attacked[1].flash.read_bytes()
    slots = [content[at : at + RECORD] for at in range(0, 4 * SECTOR, RECORD)]
    records = [slot for slot in slots if slot != b"\xff" * RECORD]
    assert [(slot[:4], int.from_bytes(slot[4:8], "little")) for slot in records] == [
        (b"TLOG", number) for number in range(len(records))
    ]
    assert len(records) >= 5
    assert set(content[12 * SECTOR :]) == {0xFF}


def test_wire_and_pins_beside_a_hostile_vm(attacked):
    machine, files, _ = attacked
    assert assert_exact(machine, files) > 1000
    assert set(edges(files.pins)) <= {0, 16}
    sent = frames(files.pcap)
    assert {frame.source for frame in sent} == {HOST, mac(2), mac(4)}
    assert not any(frame.kind in FORBIDDEN or (frame.to[:5] == LINK[:5] and frame.to[5] < 16) for frame in sent)


def test_lines_about_a_hostile_vm(attacked):
    """Not as many as it causes errors."""
    machine, files, _ = attacked
    lines = re.findall(r"error: (.*)", machine.console.text(HYPERVISOR))
    assert all(line.startswith(("hostile: ", "chip: ")) for line in lines), lines
    virtual_ms = edges(files.pins)[0][-1][0] // CYCLES_MS
    assert 1 <= len(lines) <= 2 * (1 + virtual_ms // QUIET_MS), lines


@pytest.mark.parametrize("lives", [3, pytest.param(6, marks=pytest.mark.long)])
def test_restart_in_the_middle_of_requests(tmp_path, lives: int):
    """Each life finds its memory clear, where the requests of the one before would have written, and its pins low."""
    files = files_in(tmp_path)
    with recording("shared-restart", vars(files)) as machine:
        for life in range(lives):
            assert machine.expect("busy", r"restart: (clear|FAILED.*)", BOOT_S)[1] == "clear"
            machine.expect("busy", rf"restart: round {8 * (life + 1)}\n", SOON_S)
            if life == 0:
                keyboard(machine, "busy")
            if life < lives - 1:
                command(machine, "r")
                machine.expect(HYPERVISOR, r"busy stopped by the console, starts again", SOON_S)
        machine.skip("ping")
        machine.expect("ping", r"ping: \d+: \d", SOON_S)
        leave(machine)
        for name in machine.console.names:
            assert not re.search(r"FAILED|no answer", machine.console.text(name)), machine.console.text(name)
        assert "error:" not in machine.console.text(HYPERVISOR)
    levels = [level for _, level in edges(files.pins)[4]]
    assert levels.count("z") >= lives - 1, "undriven from the end of a life to the next one"


@pytest.mark.long
def test_make_run(build_system, tmp_path):
    """The VMs on one console, while Linux boots; files of the devices that the environment names."""
    build_system("hardware-io")
    files = files_in(tmp_path)
    picture = files.screen.with_suffix(".png")
    named = {"FLASH": files.flash, "PCAP": files.pcap, "PINS": files.pins, "UART": files.uart, "SCREEN": picture}
    environment = {name: str(path) for name, path in named.items()}
    words = [sys.executable, str(ROOT / "tools" / "run.py"), "run", "--system", "hardware-io"]
    with at_terminal(words, {**clean_environment(), **environment}) as shown:
        for line in (
            r"freertos *\| ping: \d+: ",
            r"pulse +\| pulse: \d+ pulses",
            r"flood +\| .*0 failed",
            r"fractal +\| draw: frame 2, 0 incomplete lines",
            r"wave +\| draw: frame 2, 0 incomplete lines",
        ):
            shown.until(rf"^{line}", BOOT_S)
        while not (files.uart.exists() and owned_lines(files.uart)):  # on QEMU 10 the others get so far earlier
            shown.until(r"^pulse +\| pulse: \d+ pulses", BOOT_S)
        shown.write(b"\x14q")
        shown.until(r"^tessera +\| bye")
        shown.until(r"^The screen's last frame: ")
    assert frames(files.pcap)
    assert edges(files.pins)
    assert owned_lines(files.uart)
    with Image.open(picture) as image:
        assert image.size == (256, 128)
        assert image.tobytes() == files.screen.read_bytes().partition(b"\n")[2]
