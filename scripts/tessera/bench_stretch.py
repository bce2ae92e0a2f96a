# SPDX-License-Identifier: Apache-2.0
"""
For how many instructions the hypervisor does not look at interrupts, by a plugin of QEMU (scripts/count-stretches.c):
from a trap into it to its return to a guest, or to where it looks on the way.
"""

import json
import math
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tessera.bench_count import CountError, make_plugin
from tessera.runner import ROOT, Qemu

SOURCE = ROOT / "scripts" / "count-stretches.c"
ENTRY = "trap_entry"
LOOKS = (
    "irq_first",
    "load_stage",
    "load_chunk",
    "end_stage",
    "release_look",
    "fence_poll",
)  # what calls them has looked, or they do
KINDS = (
    "edf_pick", "edf_start", "edf_enqueue", "refund", "release_others",
    "exit_trap", "exit_mmio_load", "exit_mmio_store", "exit_mmio_walk", "irq_handle", "plic_handle",
    "console_interrupt",
    "console_flush", "console_log", "cpu_ipi_received", "timer_expire", "timer_run", "sched_run", "sched_run_any",
    "sched_idle", "sched_look", "vm_load_step", "end_stage", "fence_remote", "hypervisor_panic",
)  # fmt: skip
# What a release or a job's end passes, and nothing else.
RT_WAY = {
    "irq_handle", "timer_expire", "rt_end", "sched_run", "sched_run_any", "edf_pick", "edf_start", "edf_enqueue",
    "refund", "release_others",
}  # fmt: skip
_HANDLER = re.compile(r"^(?:HYPERCALL|SBI_EXTENSION)\(\w+, (\w+)", re.MULTILINE)
_CALL = re.compile(r"^\s*([0-9a-f]+):\s+[0-9a-f ]+\s(?:ecall)\s*$", re.MULTILINE)
_RETURN = re.compile(r"^\s*([0-9a-f]+):\s+[0-9a-f ]+\s(?:sret|wfi)\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Stretch:
    """The longest of all stretches that came by the same of the functions in KINDS and of the calls' handlers."""

    kind: tuple[str, ...]
    most: int  # instructions, the firmware's included
    count: int
    firmware: int
    functions: dict[str, int]
    # Locks taken, how many of these are outer ones, and the longest of all stretches that take so many.
    by_locks: Sequence[tuple[int, int, int]] = field(default_factory=list)


@dataclass(frozen=True)
class Lock:
    """What was seen of one of the hypervisor's locks. Instructions; waiting for it is no part of them."""

    address: int
    most: int  # from taking to releasing it, without the firmware's
    firmware: int  # the most that the firmware executed meanwhile, for itself or called
    calls: int  # of the firmware, while it was held
    inner: int  # the most locks that were taken under it
    count: int
    functions: dict[str, int]  # where the longest section was, with the time of waiting for inner locks


def _tool(*command: str) -> str:
    try:
        return subprocess.run(command, text=True, capture_output=True, check=True, timeout=60).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise CountError(f"{command[0]}: {error}") from error


def handlers() -> set[str]:
    """The functions that hypercalls and SBI calls end in."""
    sources = [path for room in ("core", "rt", "ipc", "arch/riscv") for path in (ROOT / room).glob("*.c")]
    return {name for path in sources for name in _HANDLER.findall(path.read_text(encoding="utf-8"))}


def write_places(elf: Path, out: Path) -> None:
    """What the plugin has to know of the hypervisor `elf`."""
    labels = {*KINDS, *handlers()}
    lines = []
    for line in _tool("riscv64-unknown-elf-nm", "-n", str(elf)).splitlines():
        address, kind, name = line.split()
        if name == "__text_start":
            lines.append(f"T {address} -")
        elif name == "__text_end":
            lines.append(f"E {address} -")
        elif kind in "tT":
            plain = name.partition(".")[0]  # foo.constprop.0
            lines.append(f"{'L' if plain in labels else 'F'} {address} {plain}")
            lines += [f"S {address} -"] * (plain == ENTRY) + [f"P {address} -"] * (plain in LOOKS)
    code = _tool("riscv64-unknown-elf-objdump", "-d", str(elf))
    lines += [f"R {address} -" for address in _RETURN.findall(code)]
    lines += [f"C {address} -" for address in _CALL.findall(code)]
    out.write_text("\n".join(lines) + "\n", encoding="utf-8")


def arguments(qemu: Qemu, elf: Path, folder: Path, out: Path) -> list[str]:
    """For QEMU's command line; read_stretches(out) when it has ended."""
    places = folder / "places"
    write_places(elf, places)
    plugin = make_plugin(qemu, SOURCE, folder, f"places={places}")
    return ["-plugin", f"{plugin},places={places},out={out}"]


def _read(out: Path) -> dict[str, Any]:
    """What the plugin has left."""
    try:
        record: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CountError(f"QEMU ended without a record in {out}: {error}") from error
    if record["beyond"]:
        raise CountError(
            f"{out}: {record['beyond']} of scripts/count-stretches.c is too low for what was to be counted"
        )
    return record


def read_stretches(out: Path) -> list[Stretch]:
    """What the plugin has left, the longest first."""
    record = _read(out)
    found = [
        Stretch(tuple(s["kind"]), s["most"], s["count"], s["firmware"], s["functions"], s["by_locks"])
        for s in record["stretches"]
    ]
    return sorted(found, key=lambda stretch: -stretch.most)


def read_locks(out: Path) -> list[Lock]:
    """The same of locks, the one that was held longest first. None on one hart, where there are none."""
    found = [Lock(**lock) for lock in _read(out)["locks"]]
    return sorted(found, key=lambda lock: -lock.most)


@dataclass(frozen=True)
class Waits:
    """The longest time that a hart waits for one lock: for one that is taken alone, and for an outer one."""

    alone: int
    outer: int


def reckon_waits(locks: Sequence[Lock], harts: int) -> Waits:
    """
    A ticket lock lets each other hart in front once, with the longest section of any lock. Of those in front at an
    outer lock each waits for its inner ones itself, behind the harts that are left.
    """
    others = harts - 1
    section = max((lock.most + lock.firmware for lock in locks), default=0)
    inner = max((lock.inner for lock in locks), default=0)
    outer = max((front * (1 + inner * (others - front)) for front in range(1, others + 1)), default=0)
    return Waits(others * section, outer * section)


def _with_waits(stretch: Stretch, waits: Waits) -> int:
    """The longest by its locks, with a wait for each of them."""
    return max(
        (length + (taken - outer) * waits.alone + outer * waits.outer for taken, outer, length in stretch.by_locks),
        default=stretch.most,
    )


def with_waits(stretches: Sequence[Stretch], locks: Sequence[Lock], harts: int) -> int:
    """The longest stretch on so many harts, with all waits for locks."""
    waits = reckon_waits(locks, harts)
    return max(_with_waits(stretch, waits) for stretch in stretches)


def rt_costs(stretches: Sequence[Stretch], locks: Sequence[Lock] = (), harts: int = 1) -> tuple[int, int]:
    """
    The most that a release has taken from whoever it interrupted, and the end of a job from its app: the whole way
    through the hypervisor, with the switch to whoever comes next. Ways that began as something else, a call of a guest
    or an interrupt of a device, are left out: that is the time for which nobody looks at interrupts.
    The length of one on which apps are released, two at least if several are, and a job ends is divided among them. On
    several harts with all waits for locks.
    """
    waits = reckon_waits(locks, harts)
    releases, ends = [0], [0]
    for stretch in stretches:
        kind = set(stretch.kind)
        if not ({"sched_run", "edf_pick"} <= kind <= RT_WAY):
            continue
        length = _with_waits(stretch, waits)
        ended = "rt_end" in kind
        released = 2 if "release_others" in kind else int(bool(kind & {"timer_expire", "refund"}))
        if released != 0:
            releases.append(math.ceil(length / (released + ended)))
        elif ended:
            ends.append(length)
    return max(releases), max(ends)
