# SPDX-License-Identifier: Apache-2.0
"""
The hypervisor's accesses to guest memory by HLV, HLVX and HSV, and its reads of the time, in its disassembly, against
CVA6's errata (docs/errata-cva6.md):

- no access to memory directly after one of HLV, HLVX and HSV: CVA6 translates it with the guest's settings (3427);
- where the hypervisor works around errata: none near the end of a page (3475), and each with satp = 0, which is
  restored afterwards; and a function that reads the time does so by a load that the next instruction waits for (3234).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from tessera.bench.machine import run_tool

PAGE = 4096
FETCHED_AHEAD = 64  # bytes that the core may fetch before an access is over

_LINE = re.compile(r"^\s*([0-9a-f]+):\s+([0-9a-f]{4}|[0-9a-f]{8})\s")
_LABEL = re.compile(r"^[0-9a-f]+ <(.+)>:$")
_CSR_SATP = 0x180 << 20
_CSRRW = 0x1073
_READ_TIME = 0xC0102073  # csrrs rd, time, zero
# Major opcodes of accesses to memory: LOAD, LOAD-FP, STORE, STORE-FP, AMO.
_MEMORY = {0x03, 0x07, 0x23, 0x27, 0x2F}
_CACHE_BLOCK = 0x200F
_HLV = 0x4073
_LD, _ADDI, _C_LD, _C_MV = 0x3003, 0x13, 0x6000, 0x8002
_MAJOR, _FUNCT3 = 0x7F, 0x707F

_CSR_ONLY = {"probe_time", "trace_exit", "trace_return"}  # assembly, without a way by mtime


@dataclass(frozen=True)
class Instruction:
    address: int
    word: int
    function: str

    @property
    def guest_access(self) -> bool:
        """Whether it is HLV, HLVX or HSV."""
        return self.word & _FUNCT3 == _HLV

    @property
    def memory_access(self) -> bool:
        if self.word & 3 != 3:  # compressed: in quadrants 0 and 2 all of funct3 but 0 and 4
            return self.word & 3 != 1 and self.word >> 13 not in (0, 4)
        return self.guest_access or self.word & _MAJOR in _MEMORY or self.word & _FUNCT3 == _CACHE_BLOCK

    @property
    def satp_swap(self) -> tuple[int, int] | None:
        """rd and rs1 of a `csrrw rd, satp, rs1`."""
        if self.word & _FUNCT3 != _CSRRW or self.word & 0xFFF00000 != _CSR_SATP:
            return None
        return self.word >> 7 & 31, self.word >> 15 & 31

    @property
    def reads_time(self) -> bool:
        return self.word & 3 == 3 and self.word & 0xFFFFF07F == _READ_TIME

    @property
    def loaded(self) -> int:
        """rd of an LD, else 0."""
        if self.word & 3 == 3:
            return self.word >> 7 & 31 if self.word & _FUNCT3 == _LD else 0
        return (self.word >> 2 & 7) + 8 if self.word & 0xE003 == _C_LD else 0

    @property
    def moved_to_itself(self) -> int:
        """The register of a `mv reg, reg`, else 0."""
        rd, rs = self.word >> 7 & 31, self.word >> 15 & 31
        if self.word & 3 != 3:
            return rd if self.word & 0xF003 == _C_MV and self.word >> 2 & 31 == rd else 0
        return rd if self.word & _FUNCT3 == _ADDI and self.word >> 20 == 0 and rd == rs else 0

    def __str__(self) -> str:
        return f"{self.function} at {self.address:#x}"


def instructions(disassembly: str) -> Iterator[Instruction]:
    """The instructions of `objdump -d`, in the order of their addresses."""
    function = "?"
    for line in disassembly.splitlines():
        if label := _LABEL.match(line):
            function = label[1]
        elif found := _LINE.match(line):
            yield Instruction(int(found[1], 16), int(found[2], 16), function)


def _near_end(at: Instruction) -> bool:
    return at.address % PAGE >= PAGE - FETCHED_AHEAD


def _translates(code: list[Instruction], index: int) -> bool:
    """Whether the access is not between `csrrw reg, satp, zero` and `csrw satp, reg` of the same function."""
    function = code[index].function
    before = [one.satp_swap for one in code[:index] if one.function == function and one.satp_swap]
    after = [one.satp_swap for one in code[index:] if one.function == function and one.satp_swap]
    saved = before[-1][0] if before and before[-1][1] == 0 else 0
    return saved == 0 or after[:1] != [(0, saved)]


def faults(disassembly: str, *, errata: bool) -> tuple[list[str], int]:
    """What is wrong, and the number of HLV, HLVX and HSV. `errata`: the hypervisor works around CVA6's errata."""
    code = list(instructions(disassembly))
    wrong, accesses = [], 0
    for index, one in enumerate(code):
        if not one.guest_access:
            continue
        accesses += 1
        if index + 1 < len(code) and code[index + 1].memory_access:
            wrong.append(f"{one}: an access to memory follows HLV, HLVX or HSV directly")
        if errata and _near_end(one):
            wrong.append(f"{one}: HLV, HLVX or HSV less than {FETCHED_AHEAD} bytes before the end of a page")
        if errata and _translates(code, index):
            wrong.append(f"{one}: HLV, HLVX or HSV without `hlv_begin` and `hlv_end`")
    return wrong, accesses


def time_faults(disassembly: str) -> tuple[list[str], int]:
    """
    The functions that read the time CSR, which is the way without the CLINT's mtime, but load mtime by no load that the
    next instruction waits for; and the number of such loads.
    """
    code = list(instructions(disassembly))
    safe = [one.function for one, after in pairwise(code) if one.loaded and one.loaded == after.moved_to_itself]
    wrong = {one.function for one in code if one.reads_time} - {*safe, *_CSR_ONLY}
    return [f"{function}: reads the time without errata_load_time()" for function in sorted(wrong)], len(safe)


def disassembly_of(elf: Path) -> str:
    return run_tool(["riscv64-unknown-elf-objdump", "-d", str(elf)])
