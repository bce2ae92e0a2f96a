# SPDX-License-Identifier: Apache-2.0
"""The check of HLV, HLVX and HSV, and of reads of the time, finds each fault in small programs."""

import subprocess
from pathlib import Path

import pytest

from tessera.verify.hlv import disassembly_of, faults, time_faults

HLVX = ".insn r 0x73, 4, 0x32, a0, t4, x3"
HSV = ".insn r 0x73, 4, 0x37, x0, t4, a0"
DIRECTLY = "an access to memory follows HLV, HLVX or HSV directly"
NEAR = "HLV, HLVX or HSV less than 64 bytes before the end of a page"
TRANSLATED = "HLV, HLVX or HSV without `hlv_begin` and `hlv_end`"


def assembled(folder: Path, code: str, function: str = "f") -> str:
    source, out = folder / "small.S", folder / "small.o"
    source.write_text(f"    .text\n{function}:\n{code}\n", encoding="utf-8")
    command = ["riscv64-unknown-elf-gcc", "-march=rv64imafdc_zicsr", "-mabi=lp64d", "-c", "-o", str(out), str(source)]
    subprocess.run(command, check=True)
    return disassembly_of(out)


def found(folder: Path, code: str, *, errata: bool = False) -> tuple[list[str], int]:
    return faults(assembled(folder, code), errata=errata)


@pytest.mark.parametrize(
    "after",
    [
        "lw a1, 1024(a2)", "sd a0, 1024(a2)", "flw ft0, 1024(a2)", "fsd ft0, 1024(a2)", "amoadd.w a1, a1, (a2)",
        "lr.w a1, (a2)", "c.lw a1, 0(a2)", "c.sd a1, 0(a2)", "c.fld fa0, 0(a2)", "c.ldsp a1, 0(sp)", "c.sdsp a1, 0(sp)",
        ".4byte 0x0015200f", HLVX,
    ],
)  # fmt: skip
def test_an_access_directly_after(tmp_path: Path, after: str) -> None:
    for before in (HLVX, HSV):
        wrong, accesses = found(tmp_path, f"{before}\n{after}\nnop")
        assert wrong == [f"f at 0x0: {DIRECTLY}"]
        assert accesses == 1 + (after == HLVX)


@pytest.mark.parametrize(
    "after", ["csrw stvec, t3", "andi a1, a0, 3", "c.addi a1, 1", "c.mv a1, a2", "c.addi4spn a1, sp, 8"]
)
def test_another_instruction_directly_after(tmp_path: Path, after: str) -> None:
    assert found(tmp_path, f"{HLVX}\n{after}\nlw a1, 0(a2)") == ([], 1)


OFF, ON = "csrrw t5, satp, zero", "csrw satp, t5"


@pytest.mark.parametrize(
    ("code", "wrong"),
    [
        (f"{OFF}\n{HLVX}\n{ON}", []),
        (f"{HLVX}\n{ON}", [TRANSLATED]),
        (f"{OFF}\n{HLVX}\nnop", [TRANSLATED]),
        (f"{OFF}\n{ON}\n{HLVX}\n{ON}", [TRANSLATED]),
        (f"{OFF}\n{HLVX}\ncsrw satp, t4", [TRANSLATED]),
        (f"csrw satp, zero\n{HLVX}\ncsrw satp, zero", [TRANSLATED]),
        (f".skip 4032 - 8\n{OFF}\n{HLVX}\n{ON}", []),
        (f".skip 4032 - 4\n{OFF}\n{HLVX}\n{ON}", [NEAR]),
    ],
)
def test_remedies_of_errata(tmp_path: Path, code: str, wrong: list[str]) -> None:
    texts = [text.partition(": ")[2] for text in found(tmp_path, code, errata=True)[0]]
    assert texts == wrong
    assert found(tmp_path, code)[0] == []


@pytest.mark.parametrize(
    ("load", "safe"),
    [
        ("ld a0, 0(a1)\nmv a0, a0", True),
        ("ld t3, 64(t4)\nmv t3, t3", True),
        (".option norvc\nld a0, 0(a1)\nmv a0, a0", True),
        ("ld a0, 0(a1)\nsd zero, 0(a2)\nmv a0, a0", False),
        ("ld a0, 0(a1)\nmv a1, a1", False),
        ("ld a0, 0(a1)\nmv a2, a0", False),
        ("ld a0, 0(a1)\nnop", False),
        ("lw a0, 0(a1)\nmv a0, a0", False),
        ("", False),
    ],
)
def test_loads_of_mtime(tmp_path: Path, load: str, safe: bool) -> None:
    wrong, loads = time_faults(assembled(tmp_path, f"{load}\ncsrr a0, time"))
    assert loads == safe
    assert wrong == ([] if safe else ["f: reads the time without errata_load_time()"])


def test_a_function_without_mtime(tmp_path: Path) -> None:
    assert time_faults(assembled(tmp_path, "csrr a0, time", "probe_time")) == ([], 0)
    assert time_faults(assembled(tmp_path, "csrr a0, cycle\nld a0, 0(a1)")) == ([], 0)
