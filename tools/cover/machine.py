# SPDX-License-Identifier: Apache-2.0
"""
Which of the hypervisor's instructions the runs in emulators have executed, from the records that a
QEMU plugin and iasim write (tessera.verify.executed), each instruction with the source line that
the debugging information gives.
"""

import re
import subprocess
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from cover.model import ROOT, CoverError, Line, Sources

_EM_MIPS = 8
_INSTRUCTION = re.compile(r"^\s*([0-9a-f]+):\t[0-9a-f ]+\t(\S+)", re.MULTILINE)
_WHERE = re.compile(r"^(.*):(\d+)(?: \(discriminator \d+\))?$")


@dataclass(frozen=True)
class Isa:
    """The tools and the instruction names of an architecture."""

    tools: str  # prefix of the compiler's tools
    folder: str  # of the source tree
    conditional: re.Pattern[str]  # mnemonics of conditional branches


RISCV = Isa("riscv64-unknown-elf-", "arch/riscv", re.compile(r"b(?:eq|ne|lt|ge|gt|le)(?:u|z)?$"))
MIPS = Isa("mipsel-linux-gnu-", "arch/mips", re.compile(r"b(?:eq|ne|le|gt|lt|ge)z?(?:al)?l?$"))


def isa_of(elf: Path) -> Isa:
    """Returns the architecture of a hypervisor."""
    with elf.open("rb") as file:
        header = file.read(20)
    return MIPS if int.from_bytes(header[18:20], "little") == _EM_MIPS else RISCV


def _run(command: list[str], text: str = "") -> str:
    try:
        return subprocess.run(command, input=text, text=True, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise CoverError(f"{command[0]}: {error}") from error


@dataclass(frozen=True)
class Instruction:
    """One instruction of the hypervisor, and its source line."""

    address: int
    conditional: bool
    file: str  # relative to the top of the source tree; absolute or "??" for other code
    line: int


def _place(text: str, top: Path) -> tuple[str, int]:
    found = _WHERE.match(text)
    if not found:
        return "??", 0
    path = (top / found[1]).resolve()
    return str(path.relative_to(top) if path.is_relative_to(top) else path), int(found[2])


def instructions(elf: Path, top: Path = ROOT) -> list[Instruction]:
    """Returns all instructions of the file. Paths in its debugging information are relative to
    `top`."""
    isa = isa_of(elf)
    found = _INSTRUCTION.findall(_run([f"{isa.tools}objdump", "-d", str(elf)]))
    addresses = "".join(f"{address}\n" for address, _ in found)
    places = _run([f"{isa.tools}addr2line", "-e", str(elf)], addresses).splitlines()
    return [
        Instruction(int(address, 16), bool(isa.conditional.match(name)), *_place(place, top))
        for (address, name), place in zip(found, places, strict=True)
    ]


def read_record(record: Path) -> dict[int, str]:
    """Returns the recorded letters by address: x executed, n followed by the next instruction, j by
    another one."""
    seen: dict[int, str] = defaultdict(str)
    try:
        lines = record.read_text(encoding="ascii").splitlines()
    except OSError as error:
        raise CoverError(f"{record}: {error}") from error
    for line in set(lines):
        address, _, letter = line.partition(" ")
        seen[int(address, 16)] += letter
    return seen


def lines_of(code: list[Instruction], seen: dict[int, str]) -> Sources:
    """
    Derives lines from instructions. A line is executed if any of its instructions is. Each of its
    conditional branches counts with two directions; each inlined copy of a function has its own
    branches.
    """
    sources: Sources = defaultdict(dict)
    for instruction in code:
        if instruction.line == 0 or instruction.file.startswith(("/", "?")):
            continue
        letters = seen.get(instruction.address, "")
        line = sources[instruction.file].setdefault(instruction.line, Line())
        line.executed |= "x" in letters
        if instruction.conditional:
            line.directions += ["n" in letters, "j" in letters]
    return dict(sources)


def read(folder: Path) -> dict[str, Sources]:
    """
    Reads the records of a folder; returns the coverage of each architecture's code, by its folder.
    Hypervisors that were built differently (another compiler, another board) have different
    branches: the branches of the one with the most executed lines count, and the lines of all.
    """
    found: dict[str, list[Sources]] = defaultdict(list)
    for elf in sorted(folder.glob("*.elf")):
        if elf.with_suffix(".txt").exists():
            sources = lines_of(instructions(elf), read_record(elf.with_suffix(".txt")))
            own = isa_of(elf).folder
            found[own].append({file: lines for file, lines in sources.items() if file.startswith(f"{own}/")})
    return {own: _united(builds) for own, builds in found.items()}


def _executed(sources: Sources) -> int:
    return sum(line.executed for lines in sources.values() for line in lines.values())


def _united(builds: list[Sources]) -> Sources:
    first, *others = sorted(builds, key=_executed, reverse=True)
    for other in others:
        for file, lines in other.items():
            for number, line in lines.items():
                known = first.setdefault(file, {}).setdefault(number, Line())
                known.executed |= line.executed
    return first
