# SPDX-License-Identifier: Apache-2.0
"""As many real-time apps, VMs or VCPUs as there may be: what is done for all of them is not done at once."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from gdb import typed_request
from helpers import (
    ESCAPE,
    HYPERVISOR_BIN,
    OUT,
    SOON_S,
    VIRTUAL,
    await_life,
    booted,
    built,
    command,
    keyboard,
    states,
    tell,
)

from tessera.bench_metrics import read_metrics
from tessera.bench_worst import Inspection
from tessera.hosttime import Limit
from tessera.machine import HYPERVISOR, Machine
from tessera.runner import find_qemu

CALLED = 600  # what a call to seven VCPUs may take between two looks at interrupts
EVENTS = 200  # what the events of a trace may take of a stretch, beside the goal


@contextmanager
def measured(name: str, more: int = 0) -> Iterator[Machine]:
    """A machine with all its guests up; whatever is done with it, nothing may take the hypervisor too long. `more`
    instructions are allowed. In `worst` is what was measured, at the end."""
    system = built(name)
    inspection = Inspection(find_qemu(), HYPERVISOR_BIN.with_suffix(".elf"), OUT / name)
    with booted(system, name, *VIRTUAL, *inspection.arguments) as machine:
        await_life(machine, system)
        yield machine
        machine.worst = inspection.end(machine)
    longest = machine.worst.stretches[0]
    assert longest.most <= read_metrics()["riscv.irqoff.max"].goal + more, longest


@pytest.mark.parametrize(("system", "more"), [("rt-many", 0), ("rt-many-traced", EVENTS)])
def test_64_apps_and_the_end_of_their_vm(system, more):
    with measured(system, more) as machine:
        for _ in range(10):  # what all of them have used is reckoned up
            assert states(machine)["rtm"]["vcpus"] == "65/72"
        keyboard(machine, "rtm")
        command(machine, "r")
        machine.expect(HYPERVISOR, r"^rtm stopped by the console, starts again$", SOON_S)
        machine.expect("rtm", r"^rtm: 64 apps run$", SOON_S)
        command(machine, "s")
        machine.expect(HYPERVISOR, r"^rtm stopped by the console$", SOON_S)


def test_16_vms():
    with measured("vms-many") as machine:
        assert len(states(machine)) == 16
        first = machine.console.names[:9]  # that a key is for
        for name in first:
            tell(machine, name, "reset")
        for name in first:
            machine.expect(name, r"^faulty: alive 1$", SOON_S)
        assert [row["restarts"] for row in states(machine).values()] == ["1"] * 9 + ["0"] * 7


def test_a_call_to_a_crowd_that_sleeps():
    """Seven VCPUs are woken by one SBI call, three at a time: on one hart all of them would be nearly 800 instructions,
    with others to be interrupted several times that."""
    with measured("crowd-ipi") as machine:
        pass
    calls = [stretch for stretch in machine.worst.stretches if "sbi_ipi" in stretch.kind]
    assert calls and sum(call.count for call in calls) > 100, machine.worst.stretches
    assert max(call.most for call in calls) <= CALLED, calls


@pytest.mark.parametrize("system", ["crowd-sleep", "crowd-lines", "crowd-write", "crowd-ready"])
def test_a_crowd_that_wakes_at_once(system):
    with measured(system) as machine:
        first = machine.console.names[0]
        machine.skip(first)
        command(machine, "r")  # eight VCPUs at once; at once, for where all sleep virtual time runs away
        machine.expect(first, r"crowd: done$", SOON_S)  # in a line that others of its VCPUs began


def test_crowds_that_sleep_with_unfinished_lines():
    """All timers that there may be, and a line of each VM to be looked after at a time."""
    with measured("crowds-dots") as machine:
        for name in machine.console.names:
            machine.expect(name, r"\.{8}", SOON_S)


def test_keys_for_a_crowd_and_its_end():
    """All typed at once: keys that eight VCPUs wait for, then the command that stops them."""
    with measured("crowd-keys") as machine:
        for _ in range(8):
            machine.skip("one")
            machine.send(f"ab{ESCAPE}r")
            machine.expect("one", r"crowd: up$", SOON_S)


def test_watchdogs_that_expire_together():
    with measured("crowd-watchdogs") as machine:
        for _ in range(4):
            for name in machine.console.names:
                machine.skip(name)
            for name in machine.console.names:
                machine.expect(name, r"crowd: up$", SOON_S)
        said = machine.console.text(HYPERVISOR)
        for name in machine.console.names:
            assert said.count(f"{name} stopped by its watchdog, starts again") >= 2, said[-1000:]


NONCE = 0x1122334455667788
ATTACH, DETACH, CONTINUE = 0, 1, 4  # debug_abi.h


def answered(name: str, machine: Machine, sequence: int, *request: int, **more: int | bytes) -> None:
    """Makes a request to the debugger's end until it is answered without an error."""
    answer = f"_t{NONCE.to_bytes(8, 'little').hex()}{sequence:02x}00"
    log = OUT / f"{name}.log"
    limit = Limit(machine.process.pid, SOON_S)
    while answer not in log.read_text(encoding="latin-1"):
        assert limit.left() > 0, f"{answer}: {limit.words()}"
        machine.send(typed_request(sequence, *request, **more))
        time.sleep(0.3)


def test_a_debugger_of_64_apps():
    """They are released together, and each is to stand still."""
    with measured("rt-many", 0) as machine:
        answered("rt-many", machine, 1, ATTACH, address=NONCE, data=b"rtm")
        answered("rt-many", machine, 2, CONTINUE, 0xFF)
        answered("rt-many", machine, 3, DETACH)
