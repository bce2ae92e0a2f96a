# SPDX-License-Identifier: Apache-2.0
"""
Symbolic execution of compiled RV64I code: derives the result for all inputs. Loops are unrolled as
often as they can run, which must be bounded. The caller defines the accessible memory; any other
access is a finding.

States that reach the same instruction with the same concrete registers in the same iteration of a
loop are merged, so that paths do not multiply. Concrete registers are addresses and counts; merging
different ones would make them symbolic, and symbolic addresses are not supported.
"""

import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import z3

WORD = 64
RETURN = 0xFFFFFFFFFFFF0000  # return address of the called function
_LINE = re.compile(r"^\s*([0-9a-f]+):\t(\S+)(?:\t(\S+))?")
_MEMORY = re.compile(r"^(-?\d+)\(x(\d+)\)$")


class SymbolicError(Exception):
    """The code does something forbidden, or something that this module does not support."""


@dataclass(frozen=True)
class Instruction:
    name: str
    operands: tuple[str, ...]


def disassemble(elf: Path, objdump: str = "riscv64-unknown-elf-objdump") -> dict[int, Instruction]:
    """Returns all instructions by address. None are compressed: the code is compiled without
    them."""
    command = [objdump, "-d", "-M", "no-aliases,numeric", "--no-show-raw-insn", str(elf)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = (_LINE.match(line) for line in text.split("\n"))
    return {
        int(line[1], 16): Instruction(line[2], tuple(line[3].split(",")) if line[3] else ()) for line in found if line
    }


def number(value: int) -> z3.BitVecRef:
    return z3.BitVecVal(value, WORD)


def known(value: z3.ExprRef) -> int:
    """Returns a value that must be concrete (the same for all inputs), such as an address."""
    plain = z3.simplify(value)
    if not isinstance(plain, z3.BitVecNumRef):
        raise SymbolicError(f"an address that depends on what the guest says: {plain}")
    return plain.as_long()


@dataclass
class State:
    """A path condition, and the registers and memory on that path; memory by address and size in
    bytes."""

    path: z3.BoolRef
    registers: list[z3.BitVecRef]
    memory: dict[tuple[int, int], z3.BitVecRef]

    def copy(self, path: z3.BoolRef) -> "State":
        return State(path, list(self.registers), dict(self.memory))

    def known(self) -> tuple[int | None, ...]:
        """Returns the concrete registers: those with the same value for all inputs."""
        return tuple(value.as_long() if isinstance(value, z3.BitVecNumRef) else None for value in self.registers)

    def merge(self, other: "State") -> None:
        """Combines the two states, whose path conditions exclude each other."""
        self.registers = [
            mine if mine.eq(theirs) else z3.If(other.path, theirs, mine)
            for mine, theirs in zip(self.registers, other.registers, strict=True)
        ]
        for place in {**self.memory, **other.memory}:
            if place not in self.memory or place not in other.memory:
                raise SymbolicError(f"memory at {place[0]:#x} is written on one path only, and was not there before")
            mine, theirs = self.memory[place], other.memory[place]
            self.memory[place] = mine if mine.eq(theirs) else z3.If(other.path, theirs, mine)
        self.path = z3.simplify(z3.Or(self.path, other.path))


_COMPUTE: dict[str, Callable[[z3.BitVecRef, z3.BitVecRef], z3.BitVecRef]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "sll": lambda a, b: a << (b & 63),
    "srl": lambda a, b: z3.LShR(a, b & 63),
    "sra": lambda a, b: a >> (b & 63),
    "addw": lambda a, b: z3.SignExt(32, z3.Extract(31, 0, a + b)),
    "subw": lambda a, b: z3.SignExt(32, z3.Extract(31, 0, a - b)),
    "sltu": lambda a, b: z3.If(z3.ULT(a, b), number(1), number(0)),
}
_BRANCH: dict[str, Callable[[z3.BitVecRef, z3.BitVecRef], z3.BoolRef]] = {
    "beq": lambda a, b: a == b,
    "bne": lambda a, b: a != b,
    "bltu": z3.ULT,
    "bgeu": z3.UGE,
    "blt": lambda a, b: a < b,
    "bge": lambda a, b: a >= b,
}
_IMMEDIATE = {
    f"{name}i{wide}": f"{name}{wide}" for name in ("add", "and", "or", "xor", "sll", "srl", "sra") for wide in ("", "w")
} | {"sltiu": "sltu"}
_LOAD = {"ld": (8, False), "lw": (4, True), "lwu": (4, False)}
_STORE = {"sd": 8, "sw": 4}


def register(name: str) -> int:
    return int(name.removeprefix("x"))


class Machine:
    """Code and its pending states, ordered by the number of loop iterations, then by address."""

    def __init__(self, code: dict[int, Instruction]) -> None:
        self.code = code
        self.waiting: dict[tuple[int, int], list[State]] = {}
        self.solver = z3.Solver()

    def _go(self, iteration: int, here: int, there: int, state: State) -> None:
        states = self.waiting.setdefault((iteration + (there <= here), there), [])
        for other in states:
            if other.known() == state.known():
                other.merge(state)
                return
        states.append(state)

    def _possible(self, path: z3.BoolRef) -> bool:
        return bool(self.solver.check(path) != z3.unsat)

    def call(
        self, entry: int, arguments: list[int | z3.BitVecRef], memory: dict[tuple[int, int], z3.BitVecRef]
    ) -> State:
        """Returns the merged state of all paths at the function's return."""
        registers = [number(0)] * 32
        registers[1], registers[2] = number(RETURN), number(0x70000000)
        for index, value in enumerate(arguments):
            registers[10 + index] = number(value) if isinstance(value, int) else value
        self.waiting = {(0, entry): [State(z3.BoolVal(True), registers, dict(memory))]}
        back: list[State] = []
        while self.waiting:
            iteration, pc = min(self.waiting)
            states = self.waiting.pop((iteration, pc))
            if pc == RETURN:
                back += states
                continue
            for state in states:
                self._step(iteration, pc, state)
        if not back:
            raise SymbolicError("the function does not return")
        for state in back[1:]:
            back[0].merge(state)
        return back[0]

    def _step(self, iteration: int, pc: int, state: State) -> None:
        if pc not in self.code:
            raise SymbolicError(f"a jump to {pc:#x}, where there is no code")
        instruction = self.code[pc]
        name, operands = instruction.name, instruction.operands
        if name in _BRANCH:
            self._branch(iteration, pc, state, instruction)
        elif name == "jal":
            self._set(state, operands[0], number(pc + 4))
            self._go(iteration, pc, int(operands[1], 16), state)
        elif name == "jalr":
            self._jump(iteration, pc, state, operands)
        else:
            self._plain(pc, state, instruction)
            self._go(iteration, pc, pc + 4, state)

    def _branch(self, iteration: int, pc: int, state: State, instruction: Instruction) -> None:
        left, right, target = instruction.operands
        taken = _BRANCH[instruction.name](state.registers[register(left)], state.registers[register(right)])
        for condition, there in ((taken, int(target, 16)), (z3.Not(taken), pc + 4)):
            path = z3.simplify(z3.And(state.path, condition))
            if self._possible(path):
                self._go(iteration, pc, there, state.copy(path))

    def _jump(self, iteration: int, pc: int, state: State, operands: tuple[str, ...]) -> None:
        found = _MEMORY.match(operands[1])
        if not found:
            raise SymbolicError(f"{pc:#x}: jalr {operands}")
        there = known(state.registers[int(found[2])] + int(found[1]))
        self._set(state, operands[0], number(pc + 4))
        self._go(iteration, pc, there, state)

    @staticmethod
    def _set(state: State, name: str, value: z3.BitVecRef) -> None:
        if register(name) != 0:
            state.registers[register(name)] = z3.simplify(value)

    def _plain(self, pc: int, state: State, instruction: Instruction) -> None:
        name, operands = instruction.name, instruction.operands
        if name in _LOAD or name in _STORE:
            self._access(pc, state, name, operands)
        elif name in ("lui", "auipc"):
            value = (int(operands[1], 0) << 12) + (pc if name == "auipc" else 0)
            self._set(state, operands[0], z3.SignExt(32, z3.Extract(31, 0, number(value))))
        elif name in _IMMEDIATE and len(operands) == 3:
            source = state.registers[register(operands[1])]
            self._set(state, operands[0], _COMPUTE[_IMMEDIATE[name]](source, number(int(operands[2], 0))))
        elif name in _COMPUTE:
            left, right = (state.registers[register(operand)] for operand in operands[1:])
            self._set(state, operands[0], _COMPUTE[name](left, right))
        else:
            raise SymbolicError(f"{pc:#x}: {name} is not known")

    def _access(self, pc: int, state: State, name: str, operands: tuple[str, ...]) -> None:
        found = _MEMORY.match(operands[1])
        if not found:
            raise SymbolicError(f"{pc:#x}: {name} {operands}")
        address = known(state.registers[int(found[2])] + int(found[1]))
        size, signed = _LOAD.get(name, (_STORE.get(name, 0), False))
        if (address, size) not in state.memory:
            raise SymbolicError(f"{pc:#x}: {name} at {address:#x}, where there is nothing")
        if name in _STORE:
            state.memory[address, size] = z3.Extract(8 * size - 1, 0, state.registers[register(operands[0])])
            return
        value = state.memory[address, size]
        extend = z3.SignExt if signed else z3.ZeroExt
        self._set(state, operands[0], value if size == 8 else extend(WORD - 8 * size, value))
