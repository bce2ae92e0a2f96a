# SPDX-License-Identifier: Apache-2.0
"""FreeRTOS and its demo: self-checks with either timer, console commands, and reports of every kind
of failure."""

import re
import signal
import time

import pytest
from conftest import COUNTED

from tessera.run.machine import MachineTimeoutError

PASSED = r"^freertos: self-check passed"


@pytest.mark.parametrize(("cpu", "timer"), [("", "stimecmp"), (",sstc=false", "SBI timer")])
def test_checks_itself(boot, cpu, timer):
    machine = boot("freertos", cpu=cpu)
    machine.expect("freertos", rf"^freertos: FreeRTOS V11\.2\.0 in S-mode, tick \d+ Hz by {timer}")
    machine.expect("freertos", PASSED)
    first = machine.expect("freertos", r"^freertos: up (\d+) s, queue (\d+), .* registers (\d+)")
    second = machine.expect("freertos", r"^freertos: up (\d+) s, queue (\d+), .* registers (\d+)")
    assert all(int(late) > int(early) for early, late in zip(first.groups(), second.groups(), strict=True))
    assert "FAILED" not in machine.console.text("freertos")


LATE = r"^freertos: \d+ of \d+ ticks came late: the host is too slow, or other guests .*$"


def reports_late_ticks(machine):
    """QEMU is stopped for most of the time, as on a busy host, while the guest's time continues, until it reports that.
    False: its verdict came first, as this host has let it run for too long at once, or nothing."""
    for _ in range(1000):
        machine.process.send_signal(signal.SIGSTOP)
        time.sleep(0.2)
        machine.process.send_signal(signal.SIGCONT)
        try:
            return "late" in machine.expect("freertos", f"{LATE}|{PASSED}", 0.05)[0]
        except MachineTimeoutError:
            continue
    return False


def test_slow_host_is_reported_and_is_no_failure(boot):
    machine = next(filter(reports_late_ticks, (boot("freertos") for _ in range(10))), None)
    assert machine is not None, "no guest has reported late ticks"
    machine.expect("freertos", PASSED)
    assert "FAILED" not in machine.console.text("freertos")


@pytest.fixture
def freertos(boot):
    machine = boot("freertos")
    machine.expect("freertos", PASSED)
    return machine


def test_tick_keeps_up_with_time(boot):
    """In virtual time, which does not depend on the load of the host."""
    machine = boot("freertos", *COUNTED)
    machine.expect("freertos", r"^freertos: up 5 s")
    machine.send("uptime\r")
    found = machine.expect("freertos", r"^up (\d+) s \((\d+) ticks of (\d+) Hz, (\d+) sleeps")
    seconds, ticks, rate, sleeps = map(int, found.groups())
    assert seconds == ticks // rate
    assert sleeps > 50, "the idle task hardly ever sleeps without ticks"


def test_tasks_are_listed_and_the_cpu_is_mostly_idle(boot):
    machine = boot("freertos", *COUNTED)
    machine.expect("freertos", PASSED)
    machine.send("tasks\r")
    listed = {}
    for _ in range(13):
        found = machine.expect("freertos", r"^(\S.{11}) [RrBSDI] +(\d) +(\d+) B +([\d.]+) %$")
        listed[found[1].strip()] = float(found[4])
    assert {"producer", "consumer", "Tmr Svc", "fft", "chaos", "checker", "console", "IDLE"} <= listed.keys()
    assert listed["IDLE"] > 50, listed


def test_line_editing_and_unknown_commands(freertos):
    freertos.send("uptimf\x7fe\r")
    freertos.expect("freertos", r"^up \d+ s")
    freertos.send("nonsense\r")
    freertos.expect("freertos", r"^no command 'nonsense'; try help")


def test_reboot_and_shutdown(freertos):
    freertos.send("reboot\r")
    freertos.expect("freertos", r"^freertos: FreeRTOS V11")
    freertos.expect("freertos", PASSED)
    freertos.send("shutdown\r")
    assert freertos.status(30) == 0


def test_lost_message_is_detected(freertos):
    freertos.send("spoil\r")
    freertos.expect("freertos", r"^freertos: self-check FAILED: queue: out of sequence at \d+")


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("assert", r"^freertos: self-check FAILED: assertion in guests/examples/freertos/demo/commands\.c \d+"),
        ("overflow", r"^freertos: self-check FAILED: stack overflow in task console"),
        ("crash", r"^freertos: exception 5 in task console: sepc 0x[0-9a-f]+ stval 0x1f000000 .*"),
    ],
)
def test_broken_program_ends_as_failed(freertos, command, message):
    freertos.send(f"{command}\r")
    freertos.expect("freertos", message)
    freertos.status(30)
    assert re.search(r"self-check FAILED", freertos.console.text("freertos"))
