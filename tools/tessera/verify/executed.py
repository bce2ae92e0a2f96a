# SPDX-License-Identifier: Apache-2.0
"""
Records which instructions of the hypervisor a run executes, if TESSERA_COVER names a folder
(docs/coverage.md). The folder receives, for each hypervisor that was run, a copy of its ELF file
and a record, to which every run appends.
"""

import hashlib
import os
import shutil
from pathlib import Path

from tessera.image.elf import Elf

VARIABLE = "TESSERA_COVER"


def plugin_of(folder: Path, version: tuple[int, int]) -> Path:
    """Returns the path of the plugin for a version of QEMU."""
    return folder / f"note-executed-{version[0]}.{version[1]}.so"


def _record(folder: Path, elf: Path) -> Path:
    data = elf.read_bytes()
    copy = folder / f"{hashlib.sha256(data).hexdigest()[:16]}.elf"
    if not copy.exists():
        shutil.copyfile(elf, copy)
    return copy.with_suffix(".txt")


def qemu_arguments(version: tuple[int, int], elf: Path) -> list[str]:
    """Returns the arguments for QEMU; none unless the variable is set."""
    where = os.environ.get(VARIABLE)
    if not where:
        return []
    folder = Path(where)
    symbols = Elf(elf.read_bytes())
    start, end = symbols.symbol("__text_start"), symbols.symbol("__text_end")
    words = [str(plugin_of(folder, version)), f"start={start:#x}", f"end={end:#x}", f"out={_record(folder, elf)}"]
    return ["-plugin", ",".join(words)]


def iasim_arguments(elf: Path) -> list[str]:
    """Returns the arguments for iasim, which needs no plugin."""
    where = os.environ.get(VARIABLE)
    return ["--coverage", str(_record(Path(where), elf))] if where else []
