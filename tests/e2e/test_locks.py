# SPDX-License-Identifier: Apache-2.0
"""
Lock hold times on 2, 4 and 8 harts, while guests make random calls, wake eight VCPUs at once, write
without pause and are stopped with 60 RT apps (tests/e2e/systems/locks.dts). 4 and 8 harts run in
virtual time; only the times at which keys are typed and at which the host has read a block of
storage's disk vary, and with them the figures. 2 harts run in host time. All figures are
instructions from acquiring to releasing a lock.
"""

import json
import re
from collections.abc import Callable
from dataclasses import replace

import pytest
from helpers import (
    BOOT_S,
    HYPERVISOR_BIN,
    OUT,
    SOON_S,
    TURNS,
    VIRTUAL,
    booted,
    built_with_harts,
    command,
    run,
    wait_for_signs_of_life,
)

from tessera.bench.metrics import read_metrics
from tessera.bench.sections import LEAST_HEIGHTS, Lock, Section, longest_waits, read_locks, rt_costs, with_waits
from tessera.bench.worst import Inspection
from tessera.image.board import read_board
from tessera.run.machine import HYPERVISOR, Machine
from tessera.run.runner import ROOT, find_qemu
from tessera.run.virtualtime import ICOUNT

RESTARTS = 2
HARTS = (pytest.param(2, marks=[pytest.mark.alone, pytest.mark.long]), pytest.param(4, marks=pytest.mark.long), 8)
# With more writers, one hart would need minutes for the output.
FEW_WRITERS = "vms { writer { vcpus = <1>; }; };"
QUEUE_LOCKED = 1800  # instructions
QUEUES = LEAST_HEIGHTS["virtio_devices"]  # the least height of a queue's lock
METRICS = read_metrics()
# The firmware of QEMU 7.2 prints nothing about illegal instructions.
BOARD = replace(read_board(ROOT / "platform" / "qemu-virt" / "board.dts"), rt_firmware_ns=0)


def lock_named(locks: list[Lock], name: str) -> Lock:
    done = run(["riscv64-unknown-elf-nm", str(HYPERVISOR_BIN.with_suffix(".elf"))])
    address = next(int(line.split()[0], 16) for line in done.stdout.splitlines() if line.split()[-1] == name)
    return next(lock for lock in locks if lock.address == address)


def is_virtual(harts: int) -> bool:
    """Whether such a machine runs in virtual time: one of two harts would get hardly any of it."""
    return harts != 2


def write_record(name: str, harts: int, figures: dict[str, int]) -> None:
    """Writes the figures for `make bench`, which reads them by this name."""
    record = {"harts": harts, "icount": ICOUNT if is_virtual(harts) else None, "figures": figures}
    (OUT / f"{name}-{harts}.json").write_text(json.dumps(record) + "\n", encoding="utf-8")


def assert_admitted(machine: Machine) -> None:
    """Waits until the RTM, if there is one, has launched its apps. If the board's costs are too large for the system,
    one of them is refused, and the sign of life of 60 apps never comes."""
    if "rtm" in machine.console.names:
        machine.wait_until(lambda: machine.console.said("rtm", " apps run") is not None, BOOT_S)
        refusal = re.search(r"^rtm: app \d+ refused: .*$", machine.console.finished(HYPERVISOR), re.MULTILINE)
        assert refusal is None, f"admission with the costs of the board: {refusal[0]}"


def watched(
    name: str, harts: int, provoke: Callable[[Machine], None], changes: str = "", *more: str
) -> tuple[list[Lock], list[Section]]:
    """Boots a system on `harts` harts, runs `provoke`, and returns the observed locks and
    non-preemptible sections."""
    system = built_with_harts(name, harts, changes)
    inspection = Inspection(find_qemu(), HYPERVISOR_BIN.with_suffix(".elf"), OUT / f"{name}-{harts}")
    turns = (*VIRTUAL, *TURNS) if is_virtual(harts) else ()
    with booted(system, f"{name}-{harts}", *turns, *inspection.arguments, *more) as machine:
        assert_admitted(machine)
        wait_for_signs_of_life(machine, system)
        provoke(machine)
        worst = inspection.end(machine, harts)
    return read_locks(inspection.out), worst.sections


def stop_and_start(machine: Machine) -> None:
    for _ in range(RESTARTS):
        command(machine, "r")
        machine.expect(HYPERVISOR, r"^rtm stopped by the console, starts again", SOON_S)
        machine.skip("rtm")
        machine.expect("rtm", r"^rtm: 60 apps run$", SOON_S)


def print_longest(harts: int, locks: list[Lock], sections: list[Section]) -> None:
    print(harts, "harts:", *locks, sep="\n  ")
    print("the longest section", sections[0])
    print("with all waits for locks", with_waits(sections, locks, harts))
    print("waits for one lock", longest_waits(locks, harts))
    print("a release, a switch with all waits", rt_costs(sections, locks, harts))


def attacked(harts: int, changes: str = "") -> tuple[list[Lock], list[Section]]:
    """Runs the attackers of locks.dts."""
    locks, sections = watched("locks", harts, stop_and_start, changes)
    print_longest(harts, locks, sections)
    record = {
        f"riscv.lock.hold.max.h{harts}": locks[0].most if locks else 0,
        f"riscv.irqoff.max.h{harts}": with_waits(sections, locks, harts),
    }
    if locks:
        record[f"riscv.lock.hold.sched.h{harts}"] = lock_named(locks, "sched_lock").most
    write_record("locks", harts, record)
    return locks, sections


def assert_admission_counts(harts: int, locks: list[Lock], sections: list[Section], functions: bool = False) -> None:
    """On this number of harts, admission counts what was found."""
    costs = BOARD.rt_costs(harts, functions)
    release, switch = rt_costs(sections, locks, harts)
    assert with_waits(sections, locks, harts) <= costs.blocked_ns
    assert 0 < release <= costs.release_ns
    # On many harts possibly no job has ended in the short time between the stops.
    assert switch <= costs.switch_ns


@pytest.mark.long
@pytest.mark.parametrize("harts", HARTS)
def test_locks_are_held_no_longer_on_more_harts(harts: int) -> None:
    # Hart 0 then always admits its 60 apps.
    others = " ".join(str(hart) for hart in range(1, harts))
    locks, sections = attacked(harts, f"vms {{ attacker {{ rt-harts = <{others}>; }}; }};")
    sched = lock_named(locks, "sched_lock")
    assert sched.count > 10_000
    assert locks[0].most <= METRICS[f"riscv.lock.hold.max.h{harts}"].goal, locks[0]
    assert sched.most + sched.firmware <= BOARD.rt_lock_ns, sched
    assert all(lock.calls == 0 for lock in locks), "the firmware was called with a lock held"
    for number in {2, harts}:
        assert_admission_counts(number, locks, sections)


@pytest.mark.long
@pytest.mark.parametrize("harts", HARTS)
def test_locks_of_functions(harts: int) -> None:
    """Queues are locked while data is copied, and while the receiver's queue is locked."""
    locks, sections = watched("locks-functions", harts, stop_and_start, "", "-snapshot")
    print_longest(harts, locks, sections)
    write_record("locks-functions", harts, {f"virtio.irqoff.max.h{harts}": with_waits(sections, locks, harts)})
    assert sum(lock.height >= QUEUES and lock.count > 20 for lock in locks) > 10, "few queues were used"
    assert max(lock.height for lock in locks) == QUEUES + 2, "a server's answer, the disk, the server's buffer"
    assert all(lock.inner[QUEUES - 1] == 0 for lock in locks if lock.height >= QUEUES), (
        "a VM's lock was taken under a queue's"
    )
    assert locks[0].most <= QUEUE_LOCKED, locks[0]
    assert all(lock.calls == 0 for lock in locks), "the firmware was called with a lock held"
    assert_admission_counts(harts, locks, sections, functions=True)


@pytest.mark.long
def test_many_timers_hold_no_lock_longer() -> None:
    """Timers of 32 VCPUs that expire together, 16 watchdogs and 16 unfinished console lines."""

    def sleep(machine: Machine) -> None:
        for name in machine.console.names:
            machine.expect(name, r"\.{8}", SOON_S)

    locks, sections = watched("console-load-dots", 4, sleep)
    print(*locks, sections[0], sep="\n  ")
    assert lock_named(locks, "sched_lock").count > 10_000
    assert locks[0].most <= METRICS["riscv.lock.hold.max.h4"].goal, locks[0]
    assert with_waits(sections, locks, 4) <= BOARD.rt_costs(4).blocked_ns


def test_one_hart_takes_no_locks() -> None:
    locks, sections = attacked(1, FEW_WRITERS)
    costs = BOARD.rt_costs(1)
    release, switch = rt_costs(sections)
    assert locks == []
    assert sections[0].most <= costs.blocked_ns
    assert 0 < release <= costs.release_ns
    assert 0 < switch <= costs.switch_ns
