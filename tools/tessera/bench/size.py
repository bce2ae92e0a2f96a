# SPDX-License-Identifier: Apache-2.0
"""The size of the hypervisor: sections and lines of code."""

import json
import re
from pathlib import Path

from tessera.bench.machine import BenchError, run_tool
from tessera.run.runner import ROOT


def hypervisor_files(build: Path) -> list[str]:
    """Returns source files and headers compiled into the hypervisor, from the compiler's dependency
    files."""
    found: set[str] = set()
    for dependencies in build.glob("obj/**/*.d"):
        for word in dependencies.read_text(encoding="utf-8").replace("\\\n", " ").split():
            path = word.rstrip(":")
            if path.endswith((".c", ".h", ".S")) and (ROOT / path).is_file() and not Path(path).is_absolute():
                found.add(path)
    if not found:
        raise BenchError(f"{build} holds no built hypervisor; `make hyp` builds it")
    return sorted(found)


def hypervisor_objects(build: Path) -> list[Path]:
    """Returns object files of existing C sources: make does not remove object files of deleted
    sources."""
    objects = build / "obj"
    return sorted(
        path for path in objects.glob("**/*.c.o") if (ROOT / path.relative_to(objects).with_suffix("")).is_file()
    )


def lines_of_code(files: list[str]) -> int:
    """Returns the code lines that cloc counts."""
    report = json.loads(run_tool(["cloc", "--json", "--quiet", *(str(ROOT / file) for file in files)]))
    return int(report["SUM"]["code"])


def _padding(link_map: str, end: int) -> int:
    """Returns the bytes that the linker adds at the end of a section to align the next one to a
    page."""
    for match in re.finditer(r"^ \*fill\* +0x([0-9a-f]+) +0x([0-9a-f]+)", link_map, re.MULTILINE):
        start, size = int(match[1], 16), int(match[2], 16)
        if start + size == end:
            return size
    return 0


def section_sizes(elf: Path) -> dict[str, int]:
    """
    Returns the sizes of the hypervisor's ELF file in bytes: text (code and constants, as `size`
    counts it), code, data. They exclude the linker's padding to the end of a page, which is
    returned as `padding`: it serves the protection of pages.
    """
    link_map = elf.with_suffix(".map")
    for path in (elf, link_map):
        if not path.is_file():
            raise BenchError(f"{path} does not exist; `make hyp` builds it")
    text = link_map.read_text(encoding="utf-8")
    sizes: dict[str, int] = {}
    padding = 0
    for line in run_tool(["riscv64-unknown-elf-size", "-A", str(elf)]).splitlines():
        name, *numbers = line.split() or [""]
        if name in (".text", ".rodata", ".data"):
            fill = _padding(text, int(numbers[1]) + int(numbers[0]))
            sizes[name] = int(numbers[0]) - fill
            padding += fill
    if set(sizes) != {".text", ".rodata", ".data"}:
        raise BenchError(f"{elf}: expected sections .text, .rodata and .data, found {' '.join(sizes) or 'none'}")
    return {
        "text": sizes[".text"] + sizes[".rodata"],
        "code": sizes[".text"],
        "data": sizes[".data"],
        "padding": padding,
    }
