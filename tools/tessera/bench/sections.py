# SPDX-License-Identifier: Apache-2.0
"""
The hypervisor's non-preemptible sections in instructions, measured by a QEMU plugin
(tools/qemu-plugins/count-sections.c). A section lasts from a trap into the
hypervisor, or from a polling point, to the next polling point or to the return to a guest.
"""

import json
import math
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from tessera.bench.count import CountError, make_plugin
from tessera.run.runner import ROOT, Qemu
from tessera.verify.components import hypercall_functions, sbi_functions

SOURCE = ROOT / "tools" / "qemu-plugins" / "count-sections.c"
ENTRY = "trap_entry"
# A polling point is where the hypervisor reads sip, which it does for nothing else, and this function.
POLLING_POINT = "release_poll"
HEIGHTS = 6  # of locks, MAX_HEIGHTS of the plugin
# The least heights of locks in these variables, and of all others. A lock of one of the first two is the innermost: one
# for the streams of two sockets, whose sections are shorter than the scheduler's, is taken under a queue's lock. A VM's
# lock is not.
LEAST_HEIGHTS = {"pairs": 0, "sched_lock": 1, "virtio_devices": 3}
LEAST_HEIGHT = 2
# Functions that classify a section.
KINDS = (
    "edf_pick", "edf_start", "edf_enqueue", "refund", "release_others",
    "exit_trap", "exit_mmio_load", "exit_mmio_store", "exit_mmio_walk", "irq_handle", "plic_handle",
    "console_interrupt",
    "console_flush", "cpu_ipi_received", "timer_expire", "timer_run", "sched_run",
    "sched_find_runnable", "vm_load_step", "end_stage", "fence_remote", "hypervisor_panic",
    "accel_write_fault", "accel_interrupt", "accel_continue",
)  # fmt: skip
# The only classifying functions on the path of a release or of a job's end.
RT_PATH = {
    "irq_handle", "timer_expire", "rt_end", "sched_run", "edf_pick", "edf_start", "edf_enqueue",
    "refund", "release_others",
}  # fmt: skip
_CALL = re.compile(r"^\s*([0-9a-f]+):\s+[0-9a-f ]+\s(?:ecall)\s*$", re.MULTILINE)
_POLL = re.compile(r"^\s*([0-9a-f]+):\s+[0-9a-f ]+\scsrr\s+\w+,sip$", re.MULTILINE)
_RETURN = re.compile(r"^\s*([0-9a-f]+):\s+[0-9a-f ]+\s(?:sret|wfi)\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Section:
    """The longest of all sections through the same set of functions out of KINDS and of the call
    handlers."""

    kind: tuple[str, ...]
    most: int  # instructions of the longest one, the firmware's included
    count: int
    firmware: int
    functions: dict[str, int]
    # The numbers of locks taken, by their height, and the longest of all sections with these numbers.
    by_locks: Sequence[tuple[Sequence[int], int]] = field(default_factory=list)


@dataclass(frozen=True)
class Lock:
    """The measurements of one of the hypervisor's locks, in instructions, without the waits for
    this lock."""

    address: int
    most: int  # longest time from acquisition to release, without the firmware
    firmware: int  # most instructions of the firmware while the lock was held, called or not
    calls: int  # of the firmware while the lock was held
    count: int
    height: int  # at least that of LEAST_HEIGHTS, and 1 more than that of any lock that is taken under it
    inner: Sequence[int]  # most locks taken while the lock was held, by their height
    functions: dict[str, int]  # functions of the longest critical section, including waits for inner locks


def _tool(*command: str) -> str:
    try:
        return subprocess.run(command, text=True, capture_output=True, check=True, timeout=60).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise CountError(f"{command[0]}: {error}") from error


def _ranges(elf: Path) -> list[str]:
    """Returns the lines of LEAST_HEIGHTS: each is for the addresses up to that of the next line."""
    found = {0: LEAST_HEIGHT}
    for line in _tool("riscv64-unknown-elf-nm", "-nS", "--defined-only", str(elf)).splitlines():
        address, *size, _, name = line.split()
        if name in LEAST_HEIGHTS:
            found[int(address, 16)] = LEAST_HEIGHTS[name]
            found[int(address, 16) + int(size[0], 16)] = LEAST_HEIGHT
    return [f"H {address:x} {height}" for address, height in sorted(found.items())]


def write_places(elf: Path, out: Path) -> None:
    """Writes the addresses in the hypervisor `elf` that the plugin needs."""
    labels = {*KINDS, *hypercall_functions(), *sbi_functions()}
    lines = _ranges(elf)
    for line in _tool("riscv64-unknown-elf-nm", "-n", str(elf)).splitlines():
        address, kind, name = line.split()
        if name == "__text_start":
            lines.append(f"T {address} -")
        elif name == "__text_end":
            lines.append(f"E {address} -")
        elif kind in "tT":
            plain = name.partition(".")[0]  # foo.constprop.0
            lines.append(f"{'L' if plain in labels else 'F'} {address} {plain}")
            lines += [f"S {address} -"] * (plain == ENTRY) + [f"P {address} -"] * (plain == POLLING_POINT)
    code = _tool("riscv64-unknown-elf-objdump", "-d", str(elf))
    lines += [f"R {address} -" for address in _RETURN.findall(code)]
    lines += [f"C {address} -" for address in _CALL.findall(code)]
    lines += [f"P {address} -" for address in _POLL.findall(code)]
    out.write_text("\n".join(lines) + "\n", encoding="utf-8")


def arguments(qemu: Qemu, elf: Path, folder: Path, out: Path) -> list[str]:
    """Returns QEMU's arguments; read_sections(out) reads the record after QEMU has ended."""
    places = folder / "places"
    write_places(elf, places)
    plugin = make_plugin(qemu, SOURCE, folder, f"places={places}")
    return ["-plugin", f"{plugin},places={places},out={out}"]


def _read(out: Path) -> dict[str, Any]:
    """Reads the plugin's record."""
    try:
        record: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CountError(f"QEMU ended without a record in {out}: {error}") from error
    if record["beyond"]:
        raise CountError(f"{out}: {record['beyond']} of tools/qemu-plugins/count-sections.c is too low for this run")
    return record


def read_sections(out: Path) -> list[Section]:
    """Returns the sections of the plugin's record, the longest first."""
    record = _read(out)
    found = [
        Section(tuple(s["kind"]), s["most"], s["count"], s["firmware"], s["functions"], s["by_locks"])
        for s in record["sections"]
    ]
    return sorted(found, key=lambda section: -section.most)


def read_locks(out: Path) -> list[Lock]:
    """Returns the locks of the plugin's record, the one held longest first; none on one hart, which
    takes no locks."""
    found = [Lock(**lock) for lock in _read(out)["locks"]]
    return sorted(found, key=lambda lock: -lock.most)


def longest_waits(locks: Sequence[Lock], harts: int) -> list[int]:
    """
    Computes the longest wait of a hart for a lock of each height. At a ticket lock, each other hart can be ahead
    once, with the longest critical section of any lock of this height. At the locks that it takes under this one,
    those harts can be ahead of it that have already had this one: none of the first, one of the second, and so on.
    """
    ranks = [[lock for lock in locks if lock.height == height] for height in range(HEIGHTS)]
    critical = [max((lock.most + lock.firmware for lock in rank), default=0) for rank in ranks]
    inner = [[max((lock.inner[j] for lock in rank), default=0) for j in range(HEIGHTS)] for rank in ranks]

    @cache
    def wait(height: int, others: int) -> int:
        def held(before: int) -> int:
            return critical[height] + sum(inner[height][lower] * wait(lower, before) for lower in range(height))

        return sum(held(before) for before in range(others))

    return [wait(height, harts - 1) for height in range(HEIGHTS)]


def _with_waits(section: Section, waits: Sequence[int]) -> int:
    """Returns the length of a section including a wait for each of its locks."""
    return max(
        (length + sum(n * wait for n, wait in zip(taken, waits, strict=True)) for taken, length in section.by_locks),
        default=section.most,
    )


def with_waits(sections: Sequence[Section], locks: Sequence[Lock], harts: int) -> int:
    """Returns the longest section on a number of harts, including all waits for locks."""
    waits = longest_waits(locks, harts)
    return max(_with_waits(section, waits) for section in sections)


def rt_costs(sections: Sequence[Section], locks: Sequence[Lock] = (), harts: int = 1) -> tuple[int, int]:
    """
    Returns the largest cost of a release to the interrupted VCPU, and of a job's end to its app:
    the whole path through the hypervisor, including the context switch to the next VCPU. Paths that
    start with another event, a guest's call or a device interrupt, are ignored: they count as
    non-preemptible sections. The length of a path with several releases (counted as two) or with
    releases and a job's end is divided among them. On several harts, all waits for locks are
    included.
    """
    waits = longest_waits(locks, harts)
    releases, ends = [0], [0]
    for section in sections:
        kind = set(section.kind)
        if not ({"sched_run", "edf_pick"} <= kind <= RT_PATH):
            continue
        length = _with_waits(section, waits)
        ended = "rt_end" in kind
        released = 2 if "release_others" in kind else int(bool(kind & {"timer_expire", "refund"}))
        if released != 0:
            releases.append(math.ceil(length / (released + ended)))
        elif ended:
            ends.append(length)
    return max(releases), max(ends)
