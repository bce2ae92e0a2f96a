# SPDX-License-Identifier: Apache-2.0
"""The generated files in the repository are up to date with fpga/hw/rdl, and compile."""

import shutil
import subprocess
import sys

import pytest
from rtl_tools import FPGA

HARDWARE = FPGA / "hw"
GENERATOR = HARDWARE / "rdl" / "generate.py"
RTL = [f"rtl/regs/{block}{suffix}.sv" for block in ("fabric_regs", "fabric_shared") for suffix in ("", "_pkg")]
MADE = (*RTL, "rtl/regs/fabric_map_pkg.sv", *(f"include/fabric_{name}" for name in ("map.h", "regs.h")))


def stale(made, kept) -> list[str]:
    return [name for name in MADE if (made / name).read_bytes() != (kept / name).read_bytes()]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("regs")
    subprocess.run([sys.executable, str(GENERATOR), str(folder), "--html", str(folder / "html")], check=True)
    return folder


def test_nothing_is_stale(made):
    assert not stale(made, HARDWARE), "run `make fpga-regs`"


def test_a_change_is_found(made, tmp_path):
    """The comparison fails after a register was moved."""
    folder = tmp_path / "rdl"
    shutil.copytree(HARDWARE / "rdl", folder)
    text = (folder / "fabric.rdl").read_text(encoding="utf-8")
    (folder / "fabric.rdl").write_text(text.replace("LIST @ 0x090", "LIST @ 0x098"), encoding="utf-8")
    subprocess.run([sys.executable, str(folder / "generate.py"), str(tmp_path)], check=True)
    assert set(stale(tmp_path, HARDWARE)) >= {
        "rtl/regs/fabric_regs.sv",
        "include/fabric_regs.h",
        "include/fabric_map.h",
    }


def test_the_reference_is_there(made):
    assert (made / "html" / "index.html").stat().st_size > 1000


def test_c_compiles(tmp_path):
    source = '#include "fabric_regs.h"\n_Static_assert(FABRIC_IFS == 0x100000u, "IF pages");\n'
    (tmp_path / "regs.c").write_text(source, encoding="utf-8")
    subprocess.run(["gcc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", f"-I{HARDWARE / 'include'}", "-c",
                    str(tmp_path / "regs.c"), "-o", str(tmp_path / "regs.o")], check=True)  # fmt: skip
