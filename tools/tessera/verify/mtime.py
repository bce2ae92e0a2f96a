# SPDX-License-Identifier: Apache-2.0
"""
The hypervisor's loads of mtime, in its disassembly, against erratum 3234 of CVA6
(docs/errata-cva6.md): a store directly behind such a load makes it trap.

The pointer to mtime is the value of `riscv_facts.mtime`. `time_faults` follows the registers that
may hold it through each function, over branches, calls, copies and sums. Every access through such
a register must be an LD directly followed by a `mv` of the loaded register to itself, which waits
for the value; and the pointer may not be stored. A function that reads the time CSR, which is the
way without mtime, must have such a load.

Not seen: an access by a pointer that a function got as argument or as result, that stays in a
register over a computed jump, or that the code makes from the board's number of the address.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

POINTER = "<riscv_facts+0x8>"  # objdump's name of riscv_facts.mtime
_BASE = "<riscv_facts>"

_LABEL = re.compile(r"^[0-9a-f]+ <(.+)>:$")
_LINE = re.compile(
    r"^\s*([0-9a-f]+):\s+[0-9a-f]+\s+(\S+)(?:\s+([^#<]*))?(?:<.+>)?\s*"  # address, name, operands
    r"(?:# ([0-9a-f]+) (<.+>))?$"  # address and name of what it uses
)
_OFFSET = re.compile(r"(-?\d*)\((\w+)\)")  # an atomic access has no number

_CSR_ONLY = {"probe_time", "trace_exit", "trace_return"}  # assembly, without a way by mtime
_CALLS = {"jal", "jalr"}
_ENDS = {"j", "jr", "ret", "sret", "mret"}
_LOST_BY_CALLS = {"ra", *(f"t{n}" for n in range(7)), *(f"a{n}" for n in range(8))}
_BRANCH = re.compile(r"b(eq|ne|lt|ge|gt|le)[uz]?$")
_STORES = {"sb", "sh", "sw", "sd", "fsw", "fsd"}
_UPPER = {"auipc", "lui"}
_SUMS = {"add", "addi", "sub"}

# What a register may hold: the pointer to mtime (even if on one path only), a known number, or, if
# absent, anything.
MTIME = "mtime"
State = dict[str, "int | str"]


@dataclass(frozen=True)
class Step:
    """An instruction as objdump prints it."""

    address: int
    name: str
    operands: tuple[str, ...]

    @property
    def accessed(self) -> tuple[int, str] | None:
        """Offset and base register, if it accesses memory."""
        jumps = self.name in _CALLS | _ENDS
        found = None if jumps or not self.operands else _OFFSET.fullmatch(self.operands[-1])
        return (int(found[1] or 0), found[2]) if found else None

    @property
    def branches(self) -> bool:
        return bool(_BRANCH.match(self.name))

    @property
    def target(self) -> int:
        """Where a branch or jump goes, else 0."""
        return int(self.operands[-1], 16) if self.branches or self.name == "j" else 0

    @property
    def result(self) -> str:
        """The register that it writes; empty: none."""
        none = self.branches or self.name in {*_STORES, *_ENDS, "sfence.vma"} or not self.operands
        return "" if none else self.operands[0]

    def loads(self, register: str) -> bool:
        return self.name == "ld" and self.operands[1] == f"0({register})"

    def waits_for(self, register: str) -> bool:
        return self.name == "mv" and self.operands == (register, register)


def _functions(disassembly: str) -> Iterator[tuple[str, list[Step]]]:
    name = "?"
    steps: list[Step] = []
    for line in disassembly.splitlines():
        if label := _LABEL.match(line):
            yield name, steps
            name, steps = label[1], []
        elif found := _LINE.match(line):
            operands = [word.strip() for word in found[3].split(",")] if found[3] else []
            steps.append(Step(int(found[1], 16), found[2], tuple(operands)))
    yield name, steps


def _pointer_at(disassembly: str) -> int:
    """The address of riscv_facts.mtime, from objdump's comments; 0 if no instruction uses it."""
    for line in disassembly.splitlines():
        found = _LINE.match(line)
        if found and found[5] in (POINTER, _BASE):
            return int(found[4], 16) + (8 if found[5] == _BASE else 0)
    return 0


def _number(text: str) -> int | None:
    try:
        return int(text, 0)
    except ValueError:
        return None


def _value(step: Step, before: State, pointer_at: int) -> int | str | None:
    """What the written register holds afterwards; None: anything."""
    if step.name in _UPPER:
        upper = int(step.operands[1], 16)
        return (step.address if step.name == "auipc" else 0) + ((upper - (upper >> 19 << 20)) << 12)
    if step.name == "mv":
        return before.get(step.operands[1])
    if step.name in _SUMS:
        return _sum(step, before)
    if step.name == "ld" and step.accessed:
        offset, base = step.accessed
        known = before.get(base)
        return MTIME if isinstance(known, int) and known + offset == pointer_at else None
    return None


def _sum(step: Step, before: State) -> int | str | None:
    """The pointer with an offset counts as the pointer; a known number with an offset is known."""
    sources = [before.get(word) for word in step.operands[1:]]
    if MTIME in sources:
        return MTIME
    first, added = sources[0], _number(step.operands[-1])
    if isinstance(first, int) and added is not None and step.name != "sub":
        return first + added
    return None


def _after(step: Step, before: State, pointer_at: int) -> State:
    if step.name in _CALLS:
        return {name: value for name, value in before.items() if name not in _LOST_BY_CALLS}
    if not step.result:
        return before
    after = {name: value for name, value in before.items() if name != step.result}
    value = _value(step, before, pointer_at)
    return after if value is None else after | {step.result: value}


def _joined(one: State, other: State) -> State:
    both = {name: one[name] for name in one.keys() & other.keys() if one[name] == other[name]}
    return both | {name: MTIME for state in (one, other) for name in state if state[name] == MTIME}


class _Flow:
    """What the registers may hold before each instruction of a function."""

    def __init__(self, steps: list[Step], pointer_at: int) -> None:
        self.steps, self.pointer_at = steps, pointer_at
        self.index = {step.address: number for number, step in enumerate(steps)}
        self.states: list[State | None] = [None] * len(steps)
        for number in range(len(steps)):
            if self.states[number] is None:  # the function's begin, or reached by a computed jump
                self.run(number)

    def run(self, first: int) -> None:
        self.states[first] = {}
        changed = [first]
        while changed:
            number = changed.pop()
            after = _after(self.steps[number], self.states[number] or {}, self.pointer_at)
            changed += [at for at in self.followers(number) if self.merge(at, after)]

    def followers(self, number: int) -> list[int]:
        step = self.steps[number]
        found = [self.index[step.target]] if step.target in self.index else []
        falls = step.name not in _ENDS and number + 1 < len(self.steps)
        return [*found, number + 1] if falls else found

    def merge(self, at: int, state: State) -> bool:
        """Whether the state before this instruction has changed."""
        before = self.states[at]
        self.states[at] = state if before is None else _joined(before, state)
        return self.states[at] != before

    def wrong(self, number: int) -> str:
        """What is wrong with an access; empty: nothing."""
        step, holds = self.steps[number], self.states[number] or {}
        if step.accessed is None:
            return ""
        if step.name in _STORES and holds.get(step.operands[0]) == MTIME:
            return "the pointer to mtime is stored"
        if holds.get(step.accessed[1]) != MTIME or self.safe(number):
            return ""
        return "an access to mtime without errata_load_time()"

    def safe(self, number: int) -> bool:
        """Whether it is a load of mtime that the next instruction waits for."""
        step, holds = self.steps[number], self.states[number] or {}
        if step.accessed is None or holds.get(step.accessed[1]) != MTIME:
            return False
        if number + 1 == len(self.steps):
            return False
        return step.loads(step.accessed[1]) and self.steps[number + 1].waits_for(step.operands[0])


def time_faults(disassembly: str) -> tuple[list[str], int]:
    """What is wrong with the hypervisor's reads of the time; the number of safe loads of mtime."""
    pointer_at = _pointer_at(disassembly)
    wrong, loads = [], 0
    for name, steps in _functions(disassembly):
        flow = _Flow(steps, pointer_at)
        faults = [(step, flow.wrong(number)) for number, step in enumerate(steps)]
        wrong += [f"{name} at {step.address:#x}: {fault}" for step, fault in faults if fault]
        safe = sum(flow.safe(number) for number in range(len(steps)))
        loads += safe
        if safe == 0 and name not in _CSR_ONLY and any(step.name == "rdtime" for step in steps):
            wrong.append(f"{name}: reads the time without errata_load_time()")
    return wrong, loads
