# SPDX-License-Identifier: Apache-2.0
"""What the components of the hypervisor list of themselves: functions that guests call."""

import re
from collections.abc import Iterator
from pathlib import Path

from tessera.run.runner import ROOT

_FOLDERS = ("arch", "core", "devices", "ipc", "rt", "services")
_HYPERCALL = re.compile(r"\{HCALL_\w+, (\w+),")
_EXTENSION = re.compile(r"^SBI_EXTENSION\(\w+, (\w+),", re.MULTILINE)


def _names(pattern: re.Pattern[str], files: Iterator[Path]) -> set[str]:
    return {name for path in files for name in pattern.findall(path.read_text(encoding="utf-8"))}


def hypercall_functions() -> set[str]:
    """Returns the functions of all hypercalls, from each component.c."""
    return _names(_HYPERCALL, (path for folder in _FOLDERS for path in (ROOT / folder).rglob("component.c")))


def sbi_functions() -> set[str]:
    """Returns the functions of all SBI extensions of guests."""
    return _names(_EXTENSION, (ROOT / "arch" / "riscv").rglob("*.c"))
