# SPDX-License-Identifier: Apache-2.0
"""The misbehaving guest run natively: it handles all traps that a machine allows it to handle."""

import time

import pytest


def test_alive_messages_and_commands(boot):
    machine = boot("misbehave")
    for beat in range(3):
        machine.expect("misbehave", rf"^misbehave: alive {beat}$")
    machine.send("id\rhelp\r")
    machine.expect("misbehave", r"^misbehave: HCALL_INFO_GET_ID error -2 value 0, in assembly -2")
    machine.expect("misbehave", r"^misbehave: help ")
    machine.send("nonsense\r")
    machine.expect("misbehave", r"^misbehave: no command 'nonsense'")


@pytest.mark.parametrize(
    ("command", "cause"), [("read", 5), ("write", 7), ("jump", 1), ("read 80000000", 5), ("write 0x80000000", 7)]
)
def test_handled_traps(boot, command, cause):
    address = command.split()[-1].removeprefix("0x") if " " in command else "1f000000"
    machine = boot("misbehave", "-append", f"quiet do={command.replace(' ', ':')}")
    machine.expect("misbehave", rf"^misbehave: caught exception {cause} stval 0x{address} ")
    machine.expect("misbehave", rf"^misbehave: {command.split()[0]} trapped, carrying on")
    machine.expect("misbehave", r"^misbehave: alive 1$")


def test_bad_calls_return_errors(boot):
    machine = boot("misbehave", "-append", "do=calls:1")
    found = machine.expect("misbehave", r"^misbehave: bad calls returned((?: -?\d+){6})$")
    errors = [int(error) for error in found[1].split()]
    # Some firmware reports success for the fourth, an IPI to missing harts.
    assert [error < 0 for error in errors[:3] + errors[4:]] == [True] * 5, errors


@pytest.mark.parametrize("command", ["fatal", "wild", "spin", "sleep"])
def test_guest_stops_printing(boot, command):
    machine = boot("misbehave")
    machine.expect("misbehave", r"^misbehave: alive 0$")
    machine.send(f"{command}\r")
    machine.expect("misbehave", r"^misbehave: (reading|jumping|spinning|sleeping)")
    assert not machine.wait_until(lambda: machine.console.said("misbehave", "alive 2") is not None, timeout=3)


def started_other_hart(machine) -> bool:
    machine.send("smp\r")
    started = machine.expect("misbehave", r"^misbehave: hart [01] (alive|did not start: error -?\d+)$")[1] == "alive"
    if not started:
        time.sleep(0.2)
    return started


def test_other_hart(boot):
    """Retries, since natively the hart may still be stopping in the firmware when it is started
    again."""
    machine = boot("misbehave", "-smp", "2")
    machine.expect("misbehave", r"^misbehave: alive 0$")
    for _ in range(2):  # the hart stops again each time
        assert any(started_other_hart(machine) for _ in range(100))


def test_no_other_hart(boot):
    machine = boot("misbehave", "-append", "do=smp")
    machine.expect("misbehave", r"^misbehave: hart 1 did not start: error -3")


def test_reset_and_shutdown(boot):
    machine = boot("misbehave")
    machine.expect("misbehave", r"^misbehave: alive 1$")
    machine.send("reset\r")
    machine.expect("misbehave", r"^misbehave: cold reboot")
    machine.expect("misbehave", r"^misbehave: alive 0$")
    machine.expect("misbehave", r"^misbehave: alive 1$")
    machine.send("shutdown\r")
    assert machine.status(30) == 0
