# SPDX-License-Identifier: Apache-2.0
"""
The worst cases of a run: the longest non-preemptible sections of the hypervisor by kind of exit,
and the deepest use of its stack.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tessera.bench.machine import TIMEOUT_S, BenchError, run_tool
from tessera.bench.sections import Section, arguments, read_sections
from tessera.cheader import read_header
from tessera.run.machine import Machine
from tessera.run.runner import Qemu
from tessera.trace.take import Qmp
from tessera.verify.components import hypercall_functions, sbi_functions

HART_SIZE, STACK_SIZE, CPU_SIZE = map(
    read_header("platform/hart_stack.h").constant, ("HART_SIZE", "HART_STACK_SIZE", "HART_CPU_SIZE")
)
USABLE_STACK = STACK_SIZE - CPU_SIZE


@dataclass(frozen=True)
class Worst:
    sections: list[Section]  # the longest first
    stack: int  # bytes, of USABLE_STACK

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self)) + "\n", encoding="utf-8")


def read_worst(path: Path) -> Worst:
    """Reads the file of Worst.write()."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BenchError(f"no worst cases in {path}: {error}") from error
    found = [Section(**{**section, "kind": tuple(section["kind"])}) for section in record["sections"]]
    return Worst(found, record["stack"])


def _stacks(elf: Path) -> int:
    for line in run_tool(["riscv64-unknown-elf-nm", str(elf)]).splitlines():
        address, _, name = line.split()
        if name == "hart_stacks":
            return int(address, 16)
    raise BenchError(f"{elf}: expected hart_stacks")


def used(stack: bytes) -> int:
    """Returns the bytes of a stack from the top to the lowest byte ever written; the initial
    contents are zeros."""
    return len(stack) - next((at for at, byte in enumerate(stack) if byte != 0), len(stack))


class Inspection:
    """The arguments with which QEMU measures the worst cases, and the results at the end of the
    run."""

    def __init__(self, qemu: Qemu, elf: Path, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.elf, self.folder = elf, folder
        self.out = folder / "sections.json"
        self._own = TemporaryDirectory()  # a socket's path must be short
        self.socket = Path(self._own.name) / "qmp"
        self.out.unlink(missing_ok=True)
        self.arguments = [
            *arguments(qemu, elf, folder, self.out),
            *("-qmp", f"unix:{self.socket},server=on,wait=off"),
        ]

    def end(self, machine: Machine, harts: int = 1) -> Worst:
        """Ends the machine, so that the plugin writes its record."""
        qmp = Qmp(self.socket)
        memory = qmp.memory(_stacks(self.elf), harts * HART_SIZE, self.folder)
        stacks = [
            memory[at + HART_SIZE - STACK_SIZE : at + HART_SIZE - CPU_SIZE] for at in range(0, len(memory), HART_SIZE)
        ]
        qmp.quit()
        self._own.cleanup()
        if not machine.wait_until(lambda: not machine.running, TIMEOUT_S):
            raise BenchError("QEMU does not end")
        return Worst(read_sections(self.out), max(used(stack) for stack in stacks))


# Kinds of exits, by the functions that handle them; the first match counts.
GROUPS = (
    ("hypercall", hypercall_functions()),
    ("sbi", sbi_functions()),
    ("mmio", {"exit_mmio_load", "exit_mmio_store", "exit_mmio_walk"}),
    ("trap", {"exit_trap"}),
    ("device", {"plic_handle", "console_interrupt"}),
    ("ipi", {"cpu_ipi_received"}),
    ("timer", {"timer_expire", "timer_run"}),
)


def groups(sections: Iterable[Section]) -> dict[str, int]:
    """Returns the longest section of each kind of exit; `other` starts at a polling point, as in
    loading a VM."""
    most = dict.fromkeys((*(name for name, _ in GROUPS), "other"), 0)
    for section in sections:
        fits = (name for name, members in GROUPS if members & set(section.kind))
        name = next(fits, "other")
        most[name] = max(most[name], section.most)
    return most


def table(sections: Iterable[Section], count: int) -> str:
    """Formats the longest sections, the longest first."""
    rows = [f"{'instructions':>12} {'times':>9}  through"]
    for section in list(sections)[:count]:
        rows.append(f"{section.most:>12,} {section.count:>9,}  {', '.join(section.kind) or '(none)'}")
    return "\n".join(rows) + "\n"
