# SPDX-License-Identifier: Apache-2.0
"""The MIPS32 guests run natively on the simulator; the same binaries run in a VM."""

import re
import struct

import pytest
from conftest import Run, simulate

from tessera.run.runner import ROOT

PASSED = "freertos: self-check passed\n"


@pytest.mark.parametrize("hss", [0, 15])
def test_greet(hss: int) -> None:
    run = simulate("greet", "--stats", "--model", f"hss={hss}")
    assert run.code == 0, run.remarks
    lines = run.printed.splitlines()
    assert lines[0] == "hello, world on MIPS32: CPU 0 of VM -1"
    assert lines[1:] == [*(f"greet: tick {tick}" for tick in range(1, 6)), "greet: done"]
    assert run.counted("RI") == 1, "expected one hypercall, which traps without a hypervisor"
    assert run.counted("Int") == 5


@pytest.mark.parametrize("guest", ["greet", "freertos", "adpcm-bare", "adpcm-freertos", "rtm", "pingpong", "attacker"])
def test_a_vm_gets_the_same_bytes(guest: str) -> None:
    """The file linked for the simulator, converted to a raw image, equals the image for a VM."""
    folder = ROOT / "build" / "guests-mips" / guest
    elf, raw = (folder / f"{guest}.elf").read_bytes(), (folder / f"{guest}.bin").read_bytes()
    begin, entry_size, count = struct.unpack_from("<I", elf, 28)[0], *struct.unpack_from("<HH", elf, 42)
    image = bytearray(len(raw))
    for n in range(count):
        kind, offset, _, at, size = struct.unpack_from("<5I", elf, begin + n * entry_size)
        if kind == 1 and size > 0:
            image[at - 0x80001000 : at - 0x80001000 + size] = elf[offset : offset + size]
    assert bytes(image) == raw


def test_the_hostile_guest_lists_its_attacks() -> None:
    run = simulate("attacker", typed=[(0.1, "list\r"), (0.5, "21\r")], limit="30M")
    listed = re.findall(r"^attacker: (\d+) (\w+) expected: (.*)$", run.printed, re.MULTILINE)
    text = (ROOT / "tests" / "guests" / "attacker" / "mips" / "attacks.def").read_text()
    named = re.findall(r'^ATTACK\((\w+), \w+, "([^"]*)"', text, re.MULTILINE)
    assert [(name, must) for _, name, must in listed] == named
    assert re.search(r"^attacker: 21 own_exceptions: as expected, 400 tried$", run.printed, re.MULTILINE), run.printed[
        -300:
    ]


@pytest.mark.parametrize(
    "name", ["results_in_slots", "state_is_kept", "timer_waits", "timer_beside_cause", "tlb_inhibits", "tlb_is_its_own"]
)
def test_attacks_have_the_expected_results_natively(name: str) -> None:
    """The attacks' expectations hold natively, too, where no hypervisor emulates."""
    text = (ROOT / "tests" / "guests" / "attacker" / "mips" / "attacks.def").read_text()
    number = re.findall(r"^ATTACK\((\w+),", text, re.MULTILINE).index(name)
    run = simulate("attacker", typed=[(0.1, f"{number}\r")], limit="60M")
    assert re.search(rf"^attacker: {number} {name}: as expected, [1-9]", run.printed, re.MULTILINE), run.printed[-300:]


def rounds(run: Run) -> list[dict[str, int]]:
    """The counts in each report of FreeRTOS's checks."""
    reports = re.findall(r"^freertos: up \d+ s, (.*)$", run.printed, re.MULTILINE)
    return [{name: int(count) for name, count in re.findall(r"(\w+) (\d+)", report)} for report in reports]


@pytest.mark.parametrize("hss", [0, 15])
def test_freertos_checks_itself(hss: int) -> None:
    run = simulate("freertos", "--stats", "--model", f"hss={hss}", typed=[(11, "shutdown\r")])
    assert run.code == 0, run.printed[-500:] + run.remarks
    assert run.printed.startswith("freertos: FreeRTOS V11.2.0 on MIPS32, tick 1000 Hz by Compare\n")
    assert PASSED in run.printed and "FAILED" not in run.printed
    first, *_, last = rounds(run)
    assert all(last[name] > first[name] for name in ("queue", "timer", "mutex", "fft", "chaos", "registers")), last
    assert run.counted("Sys") > 1000 and run.counted("Int") > 1000, "too few task switches"


def test_freertos_keeps_time_when_count_wraps() -> None:
    """Count has 32 bits; its upper half wraps every 43 seconds."""
    run = simulate("freertos", typed=[(90.5, "uptime\rshutdown\r")], limit="1200M")
    assert run.code == 0, run.remarks
    found = re.search(r"^up 90 s \((\d+) ticks of 1000 Hz, (\d+) sleeps", run.printed, re.MULTILINE)
    assert found, run.printed[-500:]
    assert abs(int(found[1]) - 90_500) < 20 and int(found[2]) > 50
    assert PASSED in run.printed and "FAILED" not in run.printed


def test_freertos_console() -> None:
    commands = "tasks\ruptimf\x7fe\rid\rnonsense\rreboot\rshutdown\r"
    run = simulate("freertos", typed=[(5, commands)])
    assert run.code == 0, run.remarks
    listed = dict(re.findall(r"^(\S.{11}) [RrBSDI] +\d +\d+ B +([\d.]+) %$", run.printed, re.MULTILINE))
    shares = {name.strip(): float(share) for name, share in listed.items()}
    assert {"producer", "consumer", "Tmr Svc", "fft", "chaos", "checker", "console", "IDLE"} <= shares.keys()
    assert shares["IDLE"] > 50, shares
    for line in (
        r"^up 5 s",
        r"^not in a Tessera VM \(SBI error -2\)$",
        r"^no command 'nonsense'",
        r"^freertos: reboot was refused$",
    ):
        assert re.search(line, run.printed, re.MULTILINE), line


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("spoil", r"^freertos: self-check FAILED: queue: out of sequence at \d+"),
        ("assert", r"^freertos: self-check FAILED: assertion in guests/examples/freertos/demo/commands\.c \d+"),
        ("overflow", r"^freertos: self-check FAILED: stack overflow in task console"),
        ("crash", r"^freertos: exception 7 in task console: epc 0x8000[0-9a-f]{4} "),
    ],
)
def test_freertos_shows_every_kind_of_failure(command: str, message: str) -> None:
    run = simulate("freertos", typed=[(5, f"{command}\r"), (8, "shutdown\r")])
    assert re.search(message, run.printed, re.MULTILINE), run.printed[-500:]
    assert run.code == (0 if command == "spoil" else 1)


@pytest.mark.parametrize(
    ("guest", "remark"),
    [
        ("pingpong", "pingpong: expected to run in a Tessera VM with a peer (error -2)\n"),
        ("rtm", "rtm: expected to run in a Tessera VM with rt-apps\n"),
    ],
)
def test_guests_report_a_missing_hypervisor(guest: str, remark: str) -> None:
    run = simulate(guest)
    assert (run.printed, run.code) == (remark, 1)
