# SPDX-License-Identifier: Apache-2.0
"""
Which of the hypervisor's instructions the runs in emulators have executed, from the records that a QEMU plugin and
iasim write (tessera.verify.executed), each instruction with the source line that the debugging information gives.
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
    """How code of an architecture is read."""

    tools: str  # what the names of the compiler's tools begin with
    folder: str  # of the source tree
    conditional: re.Pattern[str]  # what conditional branches are called


RISCV = Isa("riscv64-unknown-elf-", "arch/riscv", re.compile(r"b(?:eq|ne|lt|ge|gt|le)(?:u|z)?$"))
MIPS = Isa("mipsel-linux-gnu-", "arch/mips", re.compile(r"b(?:eq|ne|le|gt|lt|ge)z?(?:al)?l?$"))


def isa_of(elf: Path) -> Isa:
    """The architecture that a hypervisor was made for."""
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
    """One of the hypervisor's, and where it comes from."""

    address: int
    conditional: bool
    file: str  # relative to the top of the source tree; of other people's code it is absolute, or "??"
    line: int


def _place(text: str, top: Path) -> tuple[str, int]:
    found = _WHERE.match(text)
    if not found:
        return "??", 0
    path = (top / found[1]).resolve()
    return str(path.relative_to(top) if path.is_relative_to(top) else path), int(found[2])


def instructions(elf: Path, top: Path = ROOT) -> list[Instruction]:
    """All that the file holds. A path in its debugging information is relative to `top`."""
    isa = isa_of(elf)
    found = _INSTRUCTION.findall(_run([f"{isa.tools}objdump", "-d", str(elf)]))
    addresses = "".join(f"{address}\n" for address, _ in found)
    places = _run([f"{isa.tools}addr2line", "-e", str(elf)], addresses).splitlines()
    return [
        Instruction(int(address, 16), bool(isa.conditional.match(name)), *_place(place, top))
        for (address, name), place in zip(found, places, strict=True)
    ]


def read_record(record: Path) -> dict[int, str]:
    """By address the letters that were noted: x executed, n followed by the next instruction, j by another."""
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
    A line is executed if any of its instructions is. Each of its conditional branches counts with both ways; of a
    function that was compiled into several others, each copy has its own.
    """
    sources: Sources = defaultdict(dict)
    for instruction in code:
        if instruction.line == 0 or instruction.file.startswith(("/", "?")):
            continue
        letters = seen.get(instruction.address, "")
        line = sources[instruction.file].setdefault(instruction.line, Line())
        line.executed |= "x" in letters
        if instruction.conditional:
            line.ways += ["n" in letters, "j" in letters]
    return dict(sources)


def read(folder: Path) -> dict[str, Sources]:
    """
    What the records in a folder tell of each architecture's own code, by its folder. Hypervisors that were made in
    other ways (another compiler, another board) have other branches: those of the one that has executed most lines
    count, and the lines of all.
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
