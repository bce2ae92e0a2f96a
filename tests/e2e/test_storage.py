# SPDX-License-Identifier: Apache-2.0
"""
Disks that a storage VM serves from QEMU's disk: their data, errors of the disk, restarts of both sides, the end of the
machine at any time, and a hostile server.
"""

import random
import re
import struct
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from helpers import (
    BOOT_S,
    LINUX_PROMPT,
    SOON_S,
    boot_command,
    booted,
    built,
    command,
    few_of,
    keyboard,
    run,
    wait_for_signs_of_life,
)

from tessera.run.machine import HYPERVISOR, Machine
from tessera.run.runner import ROOT

DISK_BYTES = 32 << 20
SECTOR = 512
# Of tests/e2e/systems/storage-bare.dts and tests/guests/power_fail.
WRITER_AT, SPAN = 0x180000, 1000
FLUSHED = r"^power_fail: flushed (\d+)\n"  # the end of the machine may cut the last number
# QEMU's driver blklogwrites writes the format of the kernel's dm-log-writes: a sector for the log's head, then for each
# request a sector with these numbers, and the data of a write.
ENTRY = struct.Struct("<QQQQ")
IS_FLUSH = 1
M64 = (1 << 64) - 1


def empty(path: Path, size: int = DISK_BYTES) -> Path:
    with path.open("wb") as file:
        file.truncate(size)
    return path


def machine_with(name: str, label: str, disk: str) -> Machine:
    """The system, with `disk` as QEMU's block device `store`."""
    system = built(name)
    words = boot_command(system)
    place = words.index("-drive")
    words[place : place + 2] = ["-blockdev", f"node-name=store,{disk}"]
    return Machine(words, system.names, ROOT / "build/e2e" / f"{label}.log")


def plain(path: Path, at: str = "") -> str:
    """Options of QEMU's -blockdev for a file; `at` is their prefix if it is the child of another block device. A flush
    does not wait for the host's disk, which may take longer than the guests' drivers wait."""
    return f"{at}driver=raw,{at}cache.no-flush=on,{at}file.driver=file,{at}file.filename={path}"


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    path = empty(tmp_path_factory.mktemp("storage") / "disk.img")
    with machine_with("storage-bare", "storage", plain(path)) as machine:
        wait_for_signs_of_life(machine, built("storage-bare"))
        yield machine


def test_two_guests_use_their_parts(machine: Machine) -> None:
    for name, sectors in (("first", 2048), ("second", 1024)):
        assert f"virtio: disk 0 of {sectors} sectors tested\n" in machine.console.text(name)


def flushes(machine: Machine) -> list[int]:
    return [int(number) for number in re.findall(FLUSHED, machine.console.text("writer"), flags=re.MULTILINE)]


def flushed_more(machine: Machine, times: int = 50) -> None:
    wanted = len(flushes(machine)) + times
    assert machine.wait_until(lambda: len(flushes(machine)) >= wanted, SOON_S), machine.console.last("writer")
    assert "error" not in machine.console.text("writer")


def press(machine: Machine, name: str, key: str, says: str) -> None:
    keyboard(machine, name)
    command(machine, key)
    machine.expect(HYPERVISOR, says, SOON_S)


def test_the_storage_vm_restarts(machine: Machine) -> None:
    """What it has not answered is done after the restart; its clients notice nothing."""
    for _ in range(3):
        flushed_more(machine)
        machine.skip("storage")
        press(machine, "storage", "r", "^storage stopped by the console, starts again$")
        machine.expect("storage", "^storage: ready", SOON_S)
        machine.skip("writer")
        flushed_more(machine)


def test_the_storage_vm_stops_and_starts(machine: Machine) -> None:
    press(machine, "storage", "s", "^storage stopped by the console$")
    machine.skip("writer")
    machine.wait_until(lambda: False, 0.5)
    press(machine, "storage", "g", "^storage starts$")
    flushed_more(machine)


def test_a_client_restarts(machine: Machine) -> None:
    for _ in range(3):
        flushed_more(machine, 10)
        press(machine, "writer", "r", "^writer stopped by the console, starts again$")
        machine.skip("writer")
        flushed_more(machine, 10)


# --- errors of the disk ---


def test_a_disk_without_an_answer_is_opened_again() -> None:
    """Each request takes longer than the storage VM's driver waits: its device is reset with the VM."""
    slow = f"driver=null-co,size={DISK_BYTES},latency-ns=11000000000"
    with machine_with("storage-bare", "storage-slow", slow) as machine:
        machine.expect("storage", "^storage: a device has failed$", BOOT_S)
        machine.expect(HYPERVISOR, "^storage stopped by its own reset, starts again", SOON_S)
        machine.expect("storage", "^storage: ready", SOON_S)
        machine.process.kill()  # its end would wait for the disk


@pytest.mark.parametrize("kind", ["write", "flush"])
def test_errors_reach_the_client(tmp_path: Path, kind: str) -> None:
    """The tenth write fails, or the first flush."""
    disk = f"driver=blkdebug,{plain(empty(tmp_path / 'disk.img'), 'image.')}"
    sector = "" if kind == "flush" else f",inject-error.0.sector={WRITER_AT // SECTOR + 10}"
    error = f",inject-error.0.event=none,inject-error.0.iotype={kind},inject-error.0.errno=5{sector}"
    with machine_with("storage-bare", f"storage-{kind}", disk + error) as machine:
        machine.expect("writer", r"^power_fail: error -5$", BOOT_S)
        machine.expect(
            "storage", rf"^storage: disk \d, request of type {4 if kind == 'flush' else 1} at sector", SOON_S
        )


# --- the end of the machine ---


def next_number(state: int) -> tuple[int, int]:
    """The generator of guests/sdk/include/random.h: the next state, and its number."""
    state ^= state >> 12
    state ^= state << 25 & M64
    state ^= state >> 27
    return state, state * 0x2545F4914F6CDD1D & M64


@cache
def block(number: int) -> bytes:
    x = (number + 0x9E3779B97F4A7C15) & M64
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & M64
    x = (x ^ x >> 27) * 0x94D049BB133111EB & M64
    state, words = (x ^ x >> 31) or 1, [number]
    for _ in range(SECTOR // 8 - 1):
        state, word = next_number(state)
        words.append(word)
    return struct.pack(f"<{len(words)}Q", *words)


def check_blocks(content: bytes, flushed: int) -> None:
    """Each sector has the last block up to `flushed` that belongs there, or a later one, whole."""
    for place in range(SPAN):
        least = flushed - (flushed - place) % SPAN
        data = content[place * SECTOR : (place + 1) * SECTOR]
        (number,) = struct.unpack_from("<Q", data)
        assert number >= least, f"sector {place}: block {number}, expected {least} or a later one"
        if number > 0:
            assert number % SPAN == place
            assert data == block(number), f"sector {place}: block {number} is damaged"


def requests(log: bytes) -> list[tuple[int, int, bytes]]:
    """The log's whole entries: offset in the disk, flags, data."""
    found, at = [], SECTOR
    while at + SECTOR <= len(log):
        sector, sectors, flags, _ = ENTRY.unpack_from(log, at)
        end = at + SECTOR + sectors * SECTOR
        if (sectors == 0 and flags == 0) or end > len(log):
            break
        found.append((sector * SECTOR, flags, log[at + SECTOR : end]))
        at = end
    return found


def survivors(log: bytes, rng: random.Random | None) -> bytes:
    """The disk after a loss of power: everything before the last flush, and of what was written later nothing, or with
    `rng` any part of it."""
    disk, entries = bytearray(DISK_BYTES), requests(log)
    last = max((place for place, (_, flags, _) in enumerate(entries) if flags & IS_FLUSH), default=-1)
    for place, (offset, _, data) in enumerate(entries):
        if place < last or (rng is not None and rng.random() < 0.5):
            disk[offset : offset + len(data)] = data
    return bytes(disk)


@pytest.mark.parametrize("seed", few_of(range(3), (0,)))
def test_the_end_of_the_machine(tmp_path: Path, seed: int) -> None:
    """QEMU is killed while a guest writes. All blocks before the last flush that the guest knows of are in the image,
    and in what a disk keeps whose cache loses everything that no flush has followed."""
    rng = random.Random(seed)
    path, log = empty(tmp_path / "disk.img"), empty(tmp_path / "log", 0)
    disk = f"driver=blklogwrites,{plain(path, 'file.')},{plain(log, 'log.')}"
    with machine_with("storage-bare", f"storage-end-{seed}", disk) as machine:
        flushed_more(machine, rng.randrange(20, 200))
        machine.process.kill()
        machine.process.wait()
        machine.wait_until(lambda: False, 0.1)  # the rest of the output
        flushed = flushes(machine)[-1]
    assert flushed > 50
    written = log.read_bytes()
    for content in (path.read_bytes(), survivors(written, None), *(survivors(written, rng) for _ in range(3))):
        check_blocks(content[WRITER_AT : WRITER_AT + SPAN * SECTOR], flushed)


@pytest.mark.long  # the same blocks: test_the_end_of_the_machine()
def test_linux_mounts_its_disk_again(tmp_path: Path) -> None:
    """A file system outlives the end of the machine."""
    path = tmp_path / "disk.img"
    run([sys.executable, str(ROOT / "guests/images/disk/mkdisk.py"), "--size-mib", "32", "--output", str(path)])
    for life in (1, 2):
        with machine_with("storage", f"storage-linux-{life}", plain(path)) as machine:
            machine.expect("linux", rf"^disk: life {life}$", BOOT_S)
            machine.expect("linux", LINUX_PROMPT, BOOT_S)
            machine.process.kill()


# --- a hostile server ---


def test_a_hostile_server_harms_nobody() -> None:
    """Nothing but the buffers of requests changes in its clients' memory, and their disks keep the protocol."""
    system = built("storage-hostile")
    with booted(system, "storage-hostile") as machine:
        wait_for_signs_of_life(machine, system)
        for name in ("victim", "other"):
            said = machine.expect(name, r"^disk_victim: (\d\d\d) done, (\d+) failed", BOOT_S)
            assert int(said[2]) > 20
        for name in system.names:
            assert "wrong" not in machine.console.text(name)
        assert "stopped" not in machine.console.text(HYPERVISOR)
