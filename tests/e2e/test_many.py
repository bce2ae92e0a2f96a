# SPDX-License-Identifier: Apache-2.0
"""The maximum number of RT apps, VMs or VCPUs: work for all of them is divided by polling
points."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from c_headers import values
from helpers import (
    ESCAPE,
    HYPERVISOR_BIN,
    OUT,
    SOON_S,
    VIRTUAL,
    booted,
    built,
    command,
    keyboard,
    states,
    tell,
    wait_for_signs_of_life,
)

from gdb import typed_request
from tessera.bench.metrics import read_metrics
from tessera.bench.worst import Inspection
from tessera.run.hosttime import Limit
from tessera.run.machine import HYPERVISOR, Machine
from tessera.run.runner import find_qemu

CALLED = 600  # instructions between two polling points of a call that addresses seven VCPUs
EVENTS = 200  # instructions that trace events may add to a non-preemptible section


@contextmanager
def measured(name: str, more: int = 0) -> Iterator[Machine]:
    """A machine with all guests up. At its end, asserts that the longest non-preemptible section is
    within the goal plus `more` instructions."""
    system = built(name)
    inspection = Inspection(find_qemu(), HYPERVISOR_BIN.with_suffix(".elf"), OUT / name)
    with booted(system, name, *VIRTUAL, *inspection.arguments) as machine:
        wait_for_signs_of_life(machine, system)
        yield machine
        machine.worst = inspection.end(machine)
    longest = machine.worst.sections[0]
    assert longest.most <= read_metrics()["riscv.irqoff.max"].goal + more, longest


@pytest.mark.parametrize(
    ("system", "more"), [("rt-many", 0), pytest.param("rt-many-traced", EVENTS, marks=pytest.mark.long)]
)
def test_64_apps_and_the_end_of_their_vm(system, more):
    with measured(system, more) as machine:
        for _ in range(10):  # each list sums the CPU time of all VCPUs
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
        first = machine.console.names[:9]  # VMs that a digit key selects
        for name in first:
            tell(machine, name, "reset")
        for name in first:
            machine.expect(name, r"^misbehave: alive 1$", SOON_S)
        assert [row["restarts"] for row in states(machine).values()] == ["1"] * 9 + ["0"] * 7


def test_call_to_sleeping_vcpus():
    """One SBI call wakes seven VCPUs, three at a time. All at once would take nearly 800
    instructions on one hart, and several times that if other harts had to be interrupted."""
    with measured("console-load-ipi") as machine:
        pass
    calls = [section for section in machine.worst.sections if "sbi_ipi" in section.kind]
    assert calls and sum(call.count for call in calls) > 100, machine.worst.sections
    assert max(call.most for call in calls) <= CALLED, calls


@pytest.mark.parametrize(
    "system",
    [
        *(pytest.param(f"console-load-{kind}", marks=pytest.mark.long) for kind in ("sleep", "lines", "write")),
        "console-load-ready",
    ],
)
def test_vcpus_that_wake_at_once(system):
    with measured(system) as machine:
        first = machine.console.names[0]
        machine.skip(first)
        command(machine, "r")  # without delay: while all VCPUs sleep, virtual time advances quickly
        # No `^`: another VCPU may have started the line.
        machine.expect(first, r"console_load: done$", SOON_S)


@pytest.mark.long
def test_vcpus_that_a_function_wakes_at_once():
    """Of two VMs, by one step of a socket; and resets of a console among the maximum number of them."""
    with measured("virtio-wakes") as machine:
        machine.expect("sleep", r"^virtio_wakes: 100 lines, 100 packets$", SOON_S)


def test_sleeping_vms_with_unfinished_lines():
    """The maximum number of timers, and an unfinished console line of each VM that expires at the
    same time."""
    with measured("console-load-dots") as machine:
        for name in machine.console.names:
            machine.expect(name, r"\.{8}", SOON_S)


def test_keys_for_eight_vcpus_and_their_stop():
    """Typed without a pause: keys that eight VCPUs wait for, then the command that stops them."""
    with measured("console-load-keys") as machine:
        for _ in range(8):
            machine.skip("one")
            machine.send(f"ab{ESCAPE}r")
            machine.expect("one", r"console_load: up$", SOON_S)


def test_watchdogs_that_expire_together():
    with measured("console-load-watchdogs") as machine:
        for _ in range(4):
            for name in machine.console.names:
                machine.skip(name)
            for name in machine.console.names:
                machine.expect(name, r"console_load: up$", SOON_S)
        said = machine.console.text(HYPERVISOR)
        for name in machine.console.names:
            assert said.count(f"{name} stopped by its watchdog, starts again") >= 2, said[-1000:]


NONCE = 0x1122334455667788
ATTACH, DETACH, CONTINUE, ALL = values("debug_abi.h", "DEBUG_ATTACH DEBUG_DETACH DEBUG_CONTINUE DEBUG_ALL")


def answered(name: str, machine: Machine, sequence: int, *request: int, **more: int | bytes) -> None:
    """Repeats a debug request until it is answered without an error."""
    answer = f"_t{NONCE.to_bytes(8, 'little').hex()}{sequence:02x}00"
    log = OUT / f"{name}.log"
    limit = Limit(machine.process.pid, SOON_S)
    while answer not in log.read_text(encoding="latin-1"):
        assert limit.left() > 0, f"{answer}: {limit.words()}"
        machine.send(typed_request(sequence, *request, **more))
        time.sleep(0.3)


@pytest.mark.long
def test_a_debugger_of_64_apps():
    """The apps are released together, and the debugger halts each of them."""
    with measured("rt-many", 0) as machine:
        answered("rt-many", machine, 1, ATTACH, address=NONCE, data=b"rtm")
        answered("rt-many", machine, 2, CONTINUE, ALL)
        answered("rt-many", machine, 3, DETACH)
