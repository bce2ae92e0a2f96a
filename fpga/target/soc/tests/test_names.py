# SPDX-License-Identifier: Apache-2.0
"""No module or package of ours has the name of one of CVA6's: SystemVerilog has one space of names for all of them."""

import re
from pathlib import Path

import pytest
from names import definitions, manifest_names
from rtl_tools import FPGA
from sources import COMMIT, SOC, checkout

LIST = SOC / "core-h" / "cva6-names.txt"
# What is read together with the core of a checkout. core-2022 and stub_core.sv stand in for files of CVA6.
FOLDERS = (
    "hw/rtl",
    "verify/sim",
    *(f"target/{name}" for name in ("cosim", "genesys2", "soc/rtl", "soc/sim", "soc/core-h")),
)
# Parts of a core, and cells that every library has: a name that begins or ends with one of these words needs a prefix.
GENERIC = re.compile(
    r"(aes|sha|axi|fpu|alu|mmu|tlb|pmp|csr|cache)_\w+|(\w+_)?(fifo|lfsr|arbiter|sorter|sync|ram|uart_core)"
)
PREFIX = re.compile(r"(fabric|io|hwtask|soc|cosim|genesys2)_\w+")


def ours() -> dict[str, list[Path]]:
    """The files that define each name of ours."""
    found: dict[str, list[Path]] = {}
    for path in (path for folder in FOLDERS for path in sorted((FPGA / folder).rglob("*.sv"))):
        for name in definitions(path):
            found.setdefault(name, []).append(path.relative_to(FPGA))
    return found


def theirs() -> set[str]:
    return {line for line in LIST.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")}


def test_no_name_is_one_of_cva6():
    assert {name: paths for name, paths in ours().items() if name in theirs()} == {}


def test_generic_names_have_a_prefix():
    assert [name for name in ours() if GENERIC.fullmatch(name) and not PREFIX.fullmatch(name)] == []


def test_the_list_is_that_of_the_commit():
    head = LIST.read_text(encoding="utf-8").partition("\n\n")[0]
    assert f"openhwgroup/cva6 {COMMIT}" in head
    assert {"cva6", "aes_pkg", "fifo_v3", "hpdcache", "fpnew_top", "pmp"} <= theirs()


@pytest.mark.skipif(checkout() is None, reason="CVA6_DIR names no checkout")
def test_the_list_is_that_of_the_checkout():
    root = checkout()
    assert root is not None
    assert manifest_names(root) == theirs()


def test_the_names_of_a_manifest(tmp_path):
    cache = tmp_path / "core" / "cache_subsystem" / "hpdcache" / "rtl"
    cache.mkdir(parents=True)
    (tmp_path / "core" / "Flist.cva6").write_text(
        "+incdir+${CVA6_REPO_DIR}/core\n${CVA6_REPO_DIR}/core/a.sv // module x\n"
        "${CVA6_REPO_DIR}/core/missing.sv\n"
        "-F ${HPDCACHE_DIR}/rtl/list\n",
        encoding="utf-8",
    )
    (tmp_path / "core" / "a.sv").write_text(
        "/* module no; */\npackage a_pkg;\nendpackage // package no\n  module a #(int B = 1) ();\nendmodule\n",
        encoding="utf-8",
    )
    (cache / "list").write_text("${HPDCACHE_DIR}/rtl/b.v\n", encoding="utf-8")
    (cache / "b.v").write_text("interface b;\nendinterface\n", encoding="utf-8")
    assert manifest_names(tmp_path) == {"a_pkg", "a", "missing", "b"}
