# SPDX-License-Identifier: Apache-2.0
"""What a guest finds that boots on QEMU's virt under OpenSBI (guests/corners): the same bytes natively and in a VM."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from lab import SOON_S, booted, built, command, keyboard

from tessera.machine import HYPERVISOR, Machine
from tessera.runner import ROOT, Qemu

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
