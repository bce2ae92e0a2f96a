# SPDX-License-Identifier: Apache-2.0
"""What a guest finds that boots on QEMU's virt under OpenSBI (guests/corners): the same bytes natively and in a VM."""

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from lab import SOON_S, booted, built, command, keyboard

from tessera.machine import HYPERVISOR, Machine
from tessera.runner import ROOT, Qemu, find_qemu, native_command

NEWER = str(ROOT / "cache" / "qemu-new" / "qemu-system-riscv64")  # it knows more than the oldest that is supported
TURNS_US = 1_000_000  # 20 quanta: a hundred turns take 100, but for giving way


@contextmanager
def booted_virt(label: str, qemu: str | None = None) -> Iterator[Machine]:
    with booted(built("virt"), label, qemu=qemu) as machine:
        up = machine.wait_until(lambda: any("Tessera on" in line for line in machine.console.log), SOON_S)
        assert up  # keys that come before that are lost
        yield machine


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    with booted_virt("virt") as machine:
        yield machine


@pytest.fixture(scope="module")
def newer() -> Iterator[Machine]:
    with booted_virt("virt-newer", NEWER) as machine:
        yield machine


def start(machine: Machine, name: str) -> None:
    keyboard(machine, name)
    command(machine, "g")


def test_wrs_where_the_machine_has_it(newer: Machine):
    """An instruction in both modes, and it gives the turn away: two VCPUs share a hart, with a quantum of 50 ms."""
    start(newer, "wrs")
    told = "told of zawrs: yes; wrs.nto in supervisor mode: passed, in user mode: passed"
    newer.expect("wrs", rf"^corners: {told}$", SOON_S)
    found = newer.expect("wrs", r"^corners: 100 turns in (\d+) us$", SOON_S)
    assert int(found[1]) < TURNS_US


def test_wrs_where_the_machine_lacks_it(qemu: Qemu, machine: Machine):
    there, done = ("yes", "passed") if qemu.version >= (8, 0) else ("no", "illegal")
    told = f"told of zawrs: {there}; wrs.nto in supervisor mode: {done}, in user mode: {done}"
    start(machine, "wrs")
    machine.expect("wrs", rf"^corners: {told}$", SOON_S)


def lines_of(machine: Machine, name: str, last: str) -> list[str]:
    """What the guest printed up to the line `last`."""
    machine.expect(name, rf"^corners: {last}$", SOON_S)
    said = machine.console.finished(name)
    return re.findall(r"^corners: .*$", said[: said.index(f"corners: {last}")], re.MULTILINE)


def native_lines(boot_native: Callable[..., Machine], name: str, last: str) -> list[str]:
    with boot_native(built("virt"), name) as native:
        return lines_of(native, name, last)


def test_legacy_calls_answer_as_opensbi_does(boot_native: Callable[..., Machine], machine: Machine):
    """SBI v0.1: results, interrupts on both harts, and the exceptions that bad pointers to masks give."""
    start(machine, "legacy")
    ours = lines_of(machine, "legacy", "shutting down")
    assert len(ours) > 20
    assert ours == native_lines(boot_native, "legacy", "shutting down")
    machine.expect(HYPERVISOR, r"^legacy stopped by its own shutdown$", SOON_S)


def test_the_finisher_ends_the_vm(machine: Machine):
    ends = {
        "finish-off": "stopped by its own shutdown",
        "finish-reset": "stopped by its own reset, starts again",
        "finish-failed": "stopped by its own failure",
    }
    for name, end in ends.items():
        start(machine, name)
        machine.expect(HYPERVISOR, rf"^{name} {end}$", SOON_S)
        assert "still here" not in machine.console.text(name)
    assert "finish-failed says that it has failed: code 5" in machine.console.text(HYPERVISOR)


def seconds(said: list[str]) -> int:
    """The time of the guest's first line."""
    return int(said.pop(0).split()[-2])


def test_the_clock_and_its_alarm_are_those_of_the_machine(boot_native: Callable[..., Machine], machine: Machine):
    last = "rtc set: high 1000"
    start(machine, "rtc")
    ours, theirs = lines_of(machine, "rtc", last), native_lines(boot_native, "rtc", last)
    assert abs(seconds(ours) - time.time()) < SOON_S
    assert abs(seconds(theirs) - time.time()) < SOON_S
    assert len(ours) > 5
    assert ours == theirs


def aligned(lines: list[str]) -> list[str]:
    """
    The rows of `widths` without what is misaligned, which QEMU answers in one way since version 8.2, and in another
    before. A row has an offset, then four loads and four stores of 1, 2, 4 and 8 bytes.
    """
    rows = []
    for line in lines:
        head, row = line.rsplit(": ", 1)
        offset = int(head.rsplit("+", 1)[1], 16)
        answers = [half.split() for half in row.split(" <- ")]
        rows.append(f"{head} {[[a for n, a in enumerate(half) if offset % (1 << n) == 0] for half in answers]}")
    return rows


def test_every_width_at_every_offset_is_answered_as_by_the_machine(
    boot_native: Callable[..., Machine], qemu: Qemu, machine: Machine
):
    start(machine, "widths")
    ours, theirs = (
        lines_of(machine, "widths", "all widths done"),
        native_lines(boot_native, "widths", "all widths done"),
    )
    assert len(ours) > 200
    if qemu.version < (8, 2):
        ours, theirs = aligned(ours), aligned(theirs)
    assert ours == theirs


def test_misaligned_accesses_are_answered_as_by_a_newer_qemu(spawn: Callable[..., Machine], newer: Machine):
    start(newer, "widths")
    native = spawn(native_command(find_qemu(NEWER), built("virt"), "widths"), ["widths"])
    ours = lines_of(newer, "widths", "all widths done")
    assert ours == lines_of(native, "widths", "all widths done")
