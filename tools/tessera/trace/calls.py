# SPDX-License-Identifier: Apache-2.0
"""
Names of the calls in a trace: hypercalls, SBI extensions and their functions, whose numbers are read
from the hypervisor's headers.
"""

import re
from functools import cache
from pathlib import Path

from tessera.run.runner import ROOT

_HYPERCALL = re.compile(r"^#define (HCALL_\w+)(?:\s|\\\n)+(\d+)(?!\w)", re.MULTILINE)
_EXTENSION = re.compile(r"^#define SBI_EXT_(\w+)\s+(0x[0-9a-fA-F]+)(?:UL)?(?!\w)", re.MULTILINE)
_FUNCTION = re.compile(r"^#define SBI_([A-Z]+)_(\w+) (\d+)UL$", re.MULTILINE)
_HYPERCALLS = re.compile(r"^#define HCALL_EXTENSION (0x[0-9a-f]+)$", re.MULTILINE)
_NOT_CALLS = ("HCALL_MAX", "HCALL_OK")

# The extensions 0 to 8 are single functions (SBI 2.0, chapter "Legacy Extensions").
_LEGACY = (
    "set_timer", "console_putchar", "console_getchar", "clear_ipi", "send_ipi", "remote_fence_i", "remote_sfence_vma",
    "remote_sfence_vma_asid", "shutdown",
)  # fmt: skip


def abi_headers() -> list[Path]:
    """Returns the headers that define the hypercalls' numbers."""
    return sorted((ROOT / "abi").glob("*_abi.h"))


def _extension_headers() -> list[Path]:
    """Returns the headers that define the extensions' numbers."""
    return [ROOT / "arch" / "riscv" / "internal.h", ROOT / "arch" / "riscv" / "include" / "asm_layout.h"]


def _numbers(pattern: re.Pattern[str], headers: list[Path]) -> dict[int, str]:
    text = "".join(header.read_text(encoding="utf-8") for header in headers)
    return {int(number, 0): name for name, number in pattern.findall(text) if name not in _NOT_CALLS}


@cache
def hypercalls() -> dict[int, str]:
    """Returns the names of the hypercalls by number."""
    return _numbers(_HYPERCALL, abi_headers())


@cache
def hypercall_extension() -> int:
    """Returns the number of the SBI extension that the hypercalls are."""
    found = _HYPERCALLS.search((ROOT / "abi" / "hypercall_abi.h").read_text(encoding="utf-8"))
    assert found, "expected HCALL_EXTENSION in abi/hypercall_abi.h"
    return int(found[1], 0)


@cache
def extensions() -> dict[int, str]:
    """Returns the names of the SBI extensions by number, without the hypercalls' extension."""
    return _numbers(_EXTENSION, _extension_headers())


@cache
def functions() -> dict[tuple[str, int], str]:
    """Returns the names of the functions by the name of the SBI extension and number."""
    text = "".join(header.read_text(encoding="utf-8") for header in _extension_headers())
    return {(extension, int(number)): name.lower() for extension, name, number in _FUNCTION.findall(text)}


def hypercall_name(number: int) -> str:
    """Returns the name of a hypercall, such as HCALL_IPC_SEND_MSG."""
    return hypercalls().get(number, f"unknown hypercall {number}")


def call_name(extension: int, function: int) -> str:
    """Returns the name of any call of a guest: a hypercall's, or extension and function of the SBI,
    such as SBI TIME set_timer."""
    if extension == hypercall_extension():
        return hypercall_name(function)
    name = extensions().get(extension)
    if name is not None:
        return f"SBI {name} {functions().get((name, function), f'unknown function {function}')}"
    if extension < len(_LEGACY):
        return f"SBI legacy {_LEGACY[extension]}"
    return f"SBI unknown extension {extension:#x} function {function}"
