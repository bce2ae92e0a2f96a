# SPDX-License-Identifier: Apache-2.0
"""The check of HLV, HLVX and HSV, and of reads of the time, finds each fault in small programs."""

import re
import subprocess
from pathlib import Path

import pytest

from tessera.verify.hlv import disassembly_of, faults
from tessera.verify.mtime import time_faults

HLVX = ".insn r 0x73, 4, 0x32, a0, t4, x3"
HSV = ".insn r 0x73, 4, 0x37, x0, t4, a0"
DIRECTLY = "an access to memory follows HLV, HLVX or HSV directly"
NEAR = "HLV, HLVX or HSV less than 64 bytes before the end of a page"
TRANSLATED = "HLV, HLVX or HSV without `hlv_begin` and `hlv_end`"


def assembled(folder: Path, code: str) -> str:
    source, out = folder / "small.S", folder / "small.o"
    source.write_text(f"    .text\nf:\n{code}\n", encoding="utf-8")
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


POINTER = "ld a1, riscv_facts + 8"  # riscv_facts.mtime
SAFE = "ld a0, 0(a1)\nmv a0, a0"
BARE = "ld a2, 0(a1)\nsd zero, 0(sp)"
NONE = "f: reads the time without errata_load_time()"
UNSAFE = "an access to mtime without errata_load_time()"
STORED = "the pointer to mtime is stored"


def timed(folder: Path, code: str) -> tuple[list[str], int]:
    """The check of a linked program with the hypervisor's structure that has the pointer; addresses left out."""
    source, out = folder / "small.S", folder / "small.elf"
    facts = ".data\n.skip 8\n.global riscv_facts\nriscv_facts:\n.skip 16\n"
    source.write_text(f"    .text\n{code}\n{facts}", encoding="utf-8")
    command = [
        "riscv64-unknown-elf-gcc", "-march=rv64imafdc_zicsr", "-mabi=lp64d", "-mcmodel=medany",
        "-nostdlib", "-Wl,--no-relax,-e,0", "-o", str(out), str(source),
    ]  # fmt: skip
    subprocess.run(command, check=True)
    wrong, loads = time_faults(disassembly_of(out))
    return [re.sub(" at 0x[0-9a-f]+", "", text) for text in wrong], loads


@pytest.mark.parametrize(
    ("load", "safe"),
    [
        ("ld a0, 0(a1)\nmv a0, a0", True),
        ("mv t4, a1\nld t3, 0(t4)\nmv t3, t3", True),
        (".option norvc\nld a0, 0(a1)\nmv a0, a0", True),
        ("ld a0, 0(a1)\nsd zero, 0(a2)\nmv a0, a0", False),
        ("ld a0, 0(a1)\nmv a1, a1", False),
        ("ld a0, 0(a1)\nmv a2, a0", False),
        ("ld a0, 0(a1)\nnop", False),
        ("lw a0, 0(a1)\nmv a0, a0", False),
    ],
)
def test_loads_of_mtime(tmp_path: Path, load: str, safe: bool) -> None:
    wrong, loads = timed(tmp_path, f"f:\n{POINTER}\n{load}\ncsrr a0, time")
    assert loads == safe
    assert wrong == ([] if safe else [f"f: {UNSAFE}", NONE])


def test_a_time_without_a_load_of_mtime(tmp_path: Path) -> None:
    assert timed(tmp_path, "f:\ncsrr a0, time") == ([NONE], 0)
    assert timed(tmp_path, f"f:\n{SAFE}\ncsrr a0, time") == ([NONE], 0)  # another load


@pytest.mark.parametrize(
    "bare",
    [
        BARE,
        "mv a3, a1\nld a2, 0(a3)\nsd zero, 0(sp)",
        "addi a3, a1, 8\nld a2, -8(a3)\nsd zero, 0(sp)",
        "mv s1, a1\ncall g\nld a2, 0(s1)\nsd zero, 0(sp)",
        "beqz a1, 1f\nnop\n1: ld a2, 0(a1)",
        "beqz a2, 1f\nmv a1, a2\n1: ld a2, 0(a1)",  # on one path only
        "la s1, riscv_facts\nsd s1, 0(sp)\nld a3, 8(s1)\nlbu a2, 0(a3)",
        "sd zero, 0(a1)",
        "amoadd.d a2, a3, (a1)",
    ],
)
def test_one_safe_load_does_not_excuse_another(tmp_path: Path, bare: str) -> None:
    code = f"f:\n{POINTER}\ncsrr a2, time\n{SAFE}\n{bare}\nret"
    assert timed(tmp_path, f"{code}\ng:\nret") == ([f"f: {UNSAFE}"], 1)


def test_a_load_of_mtime_in_a_function_that_does_not_read_the_time(tmp_path: Path) -> None:
    code = f"f:\n{POINTER}\n{SAFE}\ncsrr a2, time\nret\ng:\n{POINTER}\n{BARE}\nret"
    assert timed(tmp_path, code) == ([f"g: {UNSAFE}"], 1)


@pytest.mark.parametrize(
    "other",
    [
        "ld a2, 0(a3)\nsd zero, 0(sp)",
        "mv a1, a3\nld a2, 0(a1)\nsd zero, 0(sp)",  # the register has another value
        "call g\nld a2, 0(a1)\nsd zero, 0(sp)",
        "j 1f\n2: ld a2, 0(a1)\nret\n1: mv a1, a3\nj 2b",
        "lbu a1, riscv_facts\nld a2, 0(a1)",
        "ld a1, riscv_facts\nld a2, 0(a1)",  # another member
        "seqz a1, a1\nld a2, 0(a1)",
    ],
)
def test_other_loads(tmp_path: Path, other: str) -> None:
    code = f"f:\n{POINTER}\ncsrr a2, time\n{SAFE}\n{other}\nret"
    assert timed(tmp_path, f"{code}\ng:\nret") == ([], 1)


def test_a_pointer_by_the_address_of_the_structure(tmp_path: Path) -> None:
    code = f"f:\nla s1, riscv_facts\nld a1, 8(s1)\n{BARE}\nret"
    assert timed(tmp_path, code) == ([f"f: {UNSAFE}"], 0)


def test_a_stored_pointer(tmp_path: Path) -> None:
    assert timed(tmp_path, f"f:\n{POINTER}\nsd a1, 0(sp)\nret") == ([f"f: {STORED}"], 0)


def test_a_load_after_a_computed_jump(tmp_path: Path) -> None:
    code = f"f:\njr a3\n{POINTER}\n{BARE}\nret"
    assert timed(tmp_path, code) == ([f"f: {UNSAFE}"], 0)


def test_a_function_without_mtime(tmp_path: Path) -> None:
    assert timed(tmp_path, "probe_time:\ncsrr a0, time") == ([], 0)
    assert timed(tmp_path, "f:\ncsrr a0, cycle\nld a0, 0(a1)") == ([], 0)
