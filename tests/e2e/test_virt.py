# SPDX-License-Identifier: Apache-2.0
"""What a guest finds that boots on QEMU's virt under OpenSBI (tests/guests/regression): the same bytes
natively and in a VM."""

import json
import mmap
import re
import socket
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hchacha20 import hchacha20
from helpers import HYPERVISOR_BIN, NEWER_QEMU, OUT, SOON_S, booted, built, command, keyboard, run

from tessera.run.machine import HYPERVISOR, Machine
from tessera.run.runner import Qemu, find_qemu, native_command

TURNS_US = 1_000_000  # 20 quanta; without yielding, a hundred turns would take 100 quanta


@contextmanager
def booted_virt(label: str, qemu: str | None = None) -> Iterator[Machine]:
    with booted(built("virt"), label, qemu=qemu) as machine:
        up = machine.wait_until(lambda: any("Tessera on" in line for line in machine.console.log), SOON_S)
        assert up  # keys typed earlier would be lost
        yield machine


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    with booted_virt("virt") as machine:
        yield machine


@pytest.fixture(scope="module")
def newer() -> Iterator[Machine]:
    with booted_virt("virt-newer", NEWER_QEMU) as machine:
        yield machine


def start(machine: Machine, name: str) -> None:
    keyboard(machine, name)
    command(machine, "g")


def test_wrs_where_the_machine_has_it(newer: Machine):
    """WRS.NTO works in both modes and yields: two VCPUs share a hart with a quantum of 50 ms."""
    start(newer, "wrs")
    expected = "zawrs in the device tree: yes; wrs.nto in supervisor mode: passed, in user mode: passed"
    newer.expect("wrs", rf"^regression: {expected}$", SOON_S)
    found = newer.expect("wrs", r"^regression: 100 turns in (\d+) us$", SOON_S)
    assert int(found[1]) < TURNS_US


def test_wrs_where_the_machine_lacks_it(qemu: Qemu, machine: Machine):
    there, done = ("yes", "passed") if qemu.version >= (8, 0) else ("no", "illegal")
    expected = f"zawrs in the device tree: {there}; wrs.nto in supervisor mode: {done}, in user mode: {done}"
    start(machine, "wrs")
    machine.expect("wrs", rf"^regression: {expected}$", SOON_S)


def lines_of(machine: Machine, name: str, last: str) -> list[str]:
    """The lines that the guest printed before the line `last`."""
    machine.expect(name, rf"^regression: {last}$", SOON_S)
    said = machine.console.finished(name)
    return re.findall(r"^regression: .*$", said[: said.index(f"regression: {last}")], re.MULTILINE)


def native_lines(boot_native: Callable[..., Machine], name: str, last: str) -> list[str]:
    with boot_native(built("virt"), name) as native:
        return lines_of(native, name, last)


def test_legacy_calls_answer_as_opensbi_does(
    boot_native: Callable[..., Machine], machine: Machine, monkeypatch: pytest.MonkeyPatch
):
    """SBI v0.1: results, interrupts on both harts, and exceptions for invalid hart-mask
    pointers."""
    monkeypatch.setenv("FIRMWARE", "opensbi")  # on any QEMU: the project's firmware has only the console's calls
    start(machine, "legacy")
    in_vm = lines_of(machine, "legacy", "shutting down")
    assert len(in_vm) > 20
    assert in_vm == native_lines(boot_native, "legacy", "shutting down")
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
    assert "finish-failed reports failure: code 5" in machine.console.text(HYPERVISOR)


def test_a_guest_reports_its_panic(machine: Machine):
    start(machine, "panic")
    machine.expect("panic", r"^regression: pvpanic: events 3, next byte 0$", SOON_S)
    machine.expect(HYPERVISOR, r"^panic reports that its kernel has panicked and saves a dump$", SOON_S)
    machine.expect("panic", r"^regression: saves a dump$", SOON_S)
    machine.expect(HYPERVISOR, r"^panic reports that its kernel has panicked$", SOON_S)
    machine.expect(HYPERVISOR, r"^panic stopped by its own failure$", SOON_S)
    assert "still here" not in machine.console.text("panic")


def test_the_plic_gives_the_highest_priority_first(boot_native: Callable[..., Machine], machine: Machine):
    start(machine, "plic")
    in_vm = lines_of(machine, "plic", "all claimed")
    assert in_vm[:2] == [
        "regression: equal priorities: claimed 10, 11, 0",
        "regression: the clock's is higher: claimed 11, 10, 0",
    ]
    assert in_vm == native_lines(boot_native, "plic", "all claimed")


def test_typed_characters_can_be_read_by_calls(machine: Machine):
    start(machine, "typed")
    machine.expect("typed", r"^regression: getchar of nothing: -1$", SOON_S)
    machine.expect("typed", r"^regression: read of nothing: error 0, 0 characters$", SOON_S)
    machine.send("x")
    machine.expect("typed", rf"^regression: getchar: {ord('x')}, a1 kept$", SOON_S)
    machine.send("y")
    machine.expect("typed", rf"^regression: read: error 0, 1 characters, {ord('y')}$", SOON_S)


def seconds(said: list[str]) -> int:
    """Removes the guest's first line and returns the time in it."""
    return int(said.pop(0).split()[-2])


def test_clock_and_alarm_match_the_machine(boot_native: Callable[..., Machine], machine: Machine):
    last = "rtc set: high 1000"
    start(machine, "rtc")
    in_vm, native = lines_of(machine, "rtc", last), native_lines(boot_native, "rtc", last)
    assert abs(seconds(in_vm) - time.time()) < SOON_S
    assert abs(seconds(native) - time.time()) < SOON_S
    assert len(in_vm) > 5
    assert in_vm == native


def test_alarm_without_a_source_raises_no_interrupt(machine: Machine):
    """The VM uses the clock's source for messages, so the clock has none."""
    start(machine, "rtc-shared")
    machine.expect("rtc-shared", r"^regression: alarm expired: pending sources 0$", SOON_S)


def aligned(lines: list[str]) -> list[str]:
    """
    The rows of `widths` without misaligned accesses, whose results changed with QEMU 8.2. A row has
    an offset, then four loads and four stores of 1, 2, 4 and 8 bytes.
    """
    rows = []
    for line in lines:
        head, row = line.rsplit(": ", 1)
        offset = int(head.rsplit("+", 1)[1], 16)
        answers = [half.split() for half in row.split(" <- ")]
        rows.append(f"{head} {[[a for n, a in enumerate(half) if offset % (1 << n) == 0] for half in answers]}")
    return rows


def test_every_access_width_and_offset_matches_the_machine(
    boot_native: Callable[..., Machine], qemu: Qemu, machine: Machine
):
    start(machine, "widths")
    in_vm, native = (
        lines_of(machine, "widths", "all widths done"),
        native_lines(boot_native, "widths", "all widths done"),
    )
    assert len(in_vm) > 200
    if qemu.version < (8, 2):
        in_vm, native = aligned(in_vm), aligned(native)
    assert in_vm == native


def test_misaligned_accesses_match_a_newer_qemu(spawn: Callable[..., Machine], newer: Machine):
    start(newer, "widths")
    native = spawn(native_command(find_qemu(NEWER_QEMU), built("virt"), "widths"), ["widths"])
    in_vm = lines_of(newer, "widths", "all widths done")
    assert in_vm == lines_of(native, "widths", "all widths done")


SEED = re.compile(r"^regression: seed of (\d+) bytes:([0-9a-f]*)\.$", re.MULTILINE)
SEEDED = ("seed", "seed-other")
LIVES = 3  # starts of each VM
RAM_BASE, RAM_SIZE = 0x80000000, 0x20000000


def seeds(machine: Machine) -> dict[str, list[bytes]]:
    """The seeds of the first LIVES starts of two VMs."""
    for name in SEEDED:
        start(machine, name)

    def found(name: str) -> list[bytes]:
        said = SEED.findall(machine.console.finished(name))
        assert all(len(value) == 2 * int(size) for size, value in said)
        return [bytes.fromhex(value) for _, value in said][:LIVES]

    enough = machine.wait_until(lambda: all(len(found(name)) == LIVES for name in SEEDED), SOON_S)
    assert enough, machine.console.log[-20:]
    return {name: found(name) for name in SEEDED}


def save_ram(monitor: Path, file: Path) -> None:
    """Makes QEMU write the machine's RAM to a file."""
    with socket.socket(socket.AF_UNIX) as control:
        control.connect(str(monitor))
        answers = control.makefile("r")
        answers.readline()
        save = {"val": RAM_BASE, "size": RAM_SIZE, "filename": str(file)}
        for order in ({"execute": "qmp_capabilities"}, {"execute": "pmemsave", "arguments": save}):
            control.sendall(json.dumps(order).encode())
            while "return" not in json.loads(answers.readline()):
                pass


def machine_seed() -> int:
    """The address of the hypervisor's seed."""
    symbols = run(["riscv64-unknown-elf-nm", str(HYPERVISOR_BIN.with_suffix(".elf"))]).stdout.split("\n")
    return next(int(line.split()[0], 16) for line in symbols if line.endswith(" machine_seed"))


@pytest.mark.parametrize("program", [None, NEWER_QEMU], ids=["qemu", "newer"])
def test_each_start_of_each_vm_gets_a_separate_seed(program: str | None):
    """Seeds derive from the machine's seed, of which memory contains no copy except the
    hypervisor's."""
    monitor, dump = OUT / "seed.monitor", OUT / "seed.ram"
    qmp = ("-qmp", f"unix:{monitor},server=on,wait=off")
    with booted(built("virt"), "virt-seed", *qmp, qemu=program) as machine:
        assert machine.wait_until(lambda: any("Tessera on" in line for line in machine.console.log), SOON_S)
        given = seeds(machine)
        save_ram(monitor, dump)
    with dump.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as ram:
        at = machine_seed() - RAM_BASE
        key = ram[at : at + 32]
        assert len(set(key)) > 8, "the machine has no seed"
        assert ram.find(key) == at
        assert ram.find(key, at + 1) == -1, "RAM contains another copy of the machine's seed"
    dump.unlink()
    names = built("virt").names
    for name in SEEDED:
        wanted = [hchacha20(key, struct.pack("<4I", names.index(name), life + 1, 0, 0)) for life in range(LIVES)]
        assert given[name] == wanted


def test_no_seed_on_a_machine_without_one():
    with booted(built("virt", without="seed"), "virt-no-seed") as machine:
        assert machine.wait_until(lambda: any("Tessera on" in line for line in machine.console.log), SOON_S)
        assert seeds(machine) == {name: [b""] * LIVES for name in SEEDED}
