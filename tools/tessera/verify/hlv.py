# SPDX-License-Identifier: Apache-2.0
"""
The hypervisor's accesses to guest memory by HLV, HLVX and HSV, in its disassembly, against CVA6's errata
(docs/errata-cva6.md):

- no access to memory directly after one of HLV, HLVX and HSV: CVA6 translates it with the guest's settings (3427);
- where the hypervisor works around errata: none near the end of a page (3475), and each with satp = 0, which is
  restored afterwards.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tessera.bench.machine import run_tool

PAGE = 4096
FETCHED_AHEAD = 64  # bytes that the core may fetch before an access is over

_LINE = re.compile(r"^\s*([0-9a-f]+):\s+([0-9a-f]{4}|[0-9a-f]{8})\s")
_LABEL = re.compile(r"^[0-9a-f]+ <(.+)>:$")
_CSR_SATP = 0x180 << 20
_CSRRW = 0x1073
# Major opcodes of accesses to memory: LOAD, LOAD-FP, STORE, STORE-FP, AMO.
_MEMORY = {0x03, 0x07, 0x23, 0x27, 0x2F}
_CACHE_BLOCK = 0x200F
_HLV = 0x4073
_MAJOR, _FUNCT3 = 0x7F, 0x707F


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


def disassembly_of(elf: Path) -> str:
    return run_tool(["riscv64-unknown-elf-objdump", "-d", str(elf)])
