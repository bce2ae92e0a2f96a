# SPDX-License-Identifier: Apache-2.0
"""Every check of `make check` must be able to fail: each is given a file with one fault, and a
clean file."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from check import ctext, tutorials

TOP = Path(__file__).resolve().parents[2]
# REUSE-IgnoreStart
SPDX = "SPDX-License-Identifier: Apache-2.0"
# REUSE-IgnoreEnd
C = f"/* {SPDX} */\n"
SH = f"#!/bin/sh\n# {SPDX}\nset -eu\n"
PY = f'# {SPDX}\n"""A module."""\n'
MD = f"<!-- {SPDX} -->\n# The heading\n"
TUTORIAL = "docs/first-guest.md"
BOUND = "<!-- tested by: test_a -->\n"
SHOWING = "<!-- tested by: test_a; listing: core/list.h -->\n"
FIG = f"# {SPDX}\nbox a 0 0 'a box'\n"
# Checks that are tools called by tools/mk/check.mk, which prints what they say.
BY_TOOLS = ("format", "lint", "limits", "files", "links")
CONFIGURATION = (
    ".clang-format",
    ".editorconfig",
    "docs/conf.py",
    "LICENSES/Apache-2.0.txt",
    "REUSE.toml",
    "pyproject.toml",
    "tools/check/limits.yml",
    "tools/check/lizard.txt",
)
MAKEFILE = f"""# {SPDX}
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
BUILD := build
include $(TOP)/tools/mk/check.mk $(TOP)/tools/mk/docs.mk
setup-dev setup-site: ;
"""
# Compiles the sources of the tree, as each of the builds that check.analyze knows.
BUILDS = f"""# {SPDX}
BOARD ?= qemu-virt
MIPS := arch/mips/*.c platform/m5150-generic/*.c
hyp: $(patsubst %.c,%.o,$(wildcard $(if $(filter m5150%,$(BOARD)),$(MIPS),core/*.c arch/riscv/*.c)))
firmware: ;
build/host/libcore.so: $(patsubst %.c,%.o,$(wildcard arch/host/*.c))
%.o: %.c
\tcc -Icore -c -o $@ $<
"""
# Given to make, not written into the tree: check-files refuses some paths in files.
PLACES = (f"TOP={TOP}", f"VENV={Path(sys.executable).parents[1]}")


class Tree:
    """A git repository in a temporary folder with this project's tool configuration."""

    def __init__(self, root: Path) -> None:
        self.root = root
        subprocess.run(["git", "init", "-q", str(root)], check=True)
        for name in CONFIGURATION:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(TOP / name, root / name)
        self.write("checks.mk", MAKEFILE)
        self.write("tools/clean.py", PY + "\nX = 1\n")
        self.write("tools/clean.sh", SH + "true\n")
        self.write("docs/index.md", MD + "\n```{toctree}\na\n```\n")

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def check(self, name: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", f"check.{name}", "--root", str(self.root)]
        if name == "analyze":
            self.write("Makefile", BUILDS)
        if name in BY_TOOLS:
            command = ["make", "--silent", "-f", "checks.mk", f"check-{name}", *PLACES]
        return subprocess.run(
            command,
            cwd=self.root,
            env={"PYTHONPATH": str(TOP / "tools"), "PATH": _path()},
            text=True,
            capture_output=True,
        )


def _path() -> str:
    return "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


def _function(body: str, name: str = "module_verb", parameters: str = "int a") -> str:
    return f"{C}int {name}({parameters})\n{{\n{body}    return a;\n}}\n"


BRANCHES = "".join(f"    if (a == {n}) {{\n        a += 2;\n    }}\n" for n in range(10))
LINES = "    a++;\n" * 57
GOTO = "    if (a > 1) {\n        goto out;\n    }\nout:\n"
PY_CONDITIONS = "def f(a: int) -> bool:\n    return " + " and ".join(f"a != {n}" for n in range(11)) + "\n"
CONDITIONAL = "#ifdef DEBUG\n    a++;\n#endif\n"

NULL_POINTER = f"{C}int core_get(const int *p)\n{{\n    if (p == 0) {{\n        return *p;\n    }}\n    return 1;\n}}\n"
OUT_OF_BOUNDS = f"{C}int table[2];\n\nvoid core_set(void)\n{{\n    table[2] = 1;\n}}\n"

# check, file, content, line of the finding, words of the finding
BAD = [
    ("format", "core/a.c", C + "int  a;\n", 2, "clang-formatted"),
    ("format", "core/a.c", C + "int core_get(void)\n{\n  return 1;\n}\n", 3, "clang-formatted"),
    ("format", "tools/a.py", PY + "\nx = {  }\n", 4, "unformatted"),
    ("lint", "tools/a.py", PY + "import os\n", 3, "F401"),
    ("lint", "tools/a.py", PY + "def f(x):\n    return x\n", 3, "ANN201"),
    ("lint", "tools/a.py", PY + "\n\ndef f(x: int) -> str:\n    return x\n", 6, "Incompatible return value"),
    ("lint", "tools/a.sh", SH + 'x="a b"\nls $x\n', 5, "SC2086"),
    ("lint", ".ci/run", SH + "for f in $(ls *.x); do echo; done\n", 4, "SC2045"),
    ("limits", "core/a.c", _function(BRANCHES), 2, "11 CCN"),
    ("limits", "tools/a.c", _function(BRANCHES), 2, "11 CCN"),
    ("limits", "tools/a.py", PY + "\n" + PY_CONDITIONS, 4, "11 CCN"),
    ("limits", "core/a.c", _function(LINES), 2, "61 length"),
    (
        "limits",
        "core/a.c",
        _function("", parameters="int a, int b, int c, int d, int e, int f, int g"),
        2,
        "7 PARAM",
    ),
    ("limits", "guests/a/a.c", _function(GOTO), 5, "goto"),
    ("limits", "core/a.c", _function("    a = a ? 1 : (a + 1 ? 2 : 3);\n"), 4, "a conditional inside a conditional"),
    ("limits", "tests/a.c", _function("    a = a ? 1 : (a + 1 ? 2 : 3);\n"), 4, "a conditional inside a conditional"),
    ("limits", "core/a.c", _function("    f(a, b.c = 1);\n"), 4, "an assignment inside an expression"),
    ("limits", "core/a.c", _function("    while ((a += 1) < 5) {\n    }\n"), 4, "an assignment inside an expression"),
    (
        "limits",
        "core/a.c",
        _function("    if (a > 1 && (a <<= 2) > 9) {\n    }\n"),
        4,
        "an assignment inside an expression",
    ),
    ("limits", "tests/a.c", _function("    if (a = 2) {\n    }\n"), 4, "an assignment inside an expression"),
    (
        "limits",
        "core/a.c",
        _function("    for (a = 1; (a = 2) < 3; a++) {\n    }\n"),
        4,
        "an assignment inside an expression",
    ),
    ("limits", "core/a.c", _function("    for (; a = 2;) {\n    }\n"), 4, "an assignment inside an expression"),
    ("limits", "guests/a.c", _function("    switch (a = 2) {\n    }\n"), 4, "an assignment inside an expression"),
    ("limits", "core/a.c", _function("    do {\n    } while (a = 2);\n"), 5, "an assignment inside an expression"),
    ("limits", "core/a.c", _function("    return a = 2;\n"), 4, "an assignment inside an expression"),
    ("limits", "core/a.c", _function("    return (a >>= 2);\n"), 4, "an assignment inside an expression"),
    ("limits", "core/a.c", _function("    f(a, a = 2);\n"), 4, "an assignment inside an expression"),
    ("limits", "tools/a.c", _function("    a += (a = 2) * 2;\n"), 4, "an assignment inside an expression"),
    ("limits", "core/a.c", _function("    int b = a = 2;\n"), 4, "an assignment inside an expression"),
    ("limits", "core/a.c", _function("    a = a = 2;\n"), 4, "an assignment inside an expression"),
    (
        "limits",
        "core/a.c",
        _function("    for (a = a = 1; a < 2; a++) {\n    }\n"),
        4,
        "an assignment inside an expression",
    ),
    ("limits", "core/a.c", _function("    f((struct s){.b = a = 2});\n"), 4, "an assignment inside an expression"),
    ("limits", "core/a.c", _function(CONDITIONAL), 4, "conditional compilation"),
    ("limits", "core/a.h", _function(CONDITIONAL), 4, "conditional compilation"),
    (
        "limits",
        "arch/riscv/sbi.c",
        _function("", "other", parameters="int a, int b, int c, int d, int e, int f, int g"),
        2,
        "7 PARAM",
    ),
    ("files", "core/a.c", "int a;\n", 1, "no license identifier"),
    ("files", "systems/a.dts", "/dts-v1/;\n", 1, "no license identifier"),
    ("files", "tools/Bad.sh", SH, 0, "tools/Bad.sh"),
    ("files", "Bad/a.sh", SH, 0, "Bad/a.sh"),
    ("files", "tools/a.sh", SH + "curl https://" + "crates" + ".io/x\n", 4, "crates" + ".io/x"),
    ("files", "tools/a.sh", SH + "echo http://deb." + "debian" + ".org\n", 4, "echo http"),
    ("files", "tools/a.sh", SH + "cat ../" + "shared/x\n", 4, ":cat .."),
    ("files", "tools/a.sh", SH + "cat /work/" + "main/x\n", 4, ":cat /"),
    ("files", "tools/a.sh", SH + "true \n", 4, "trailing whitespace"),
    ("files", "tools/a.sh", SH + "true", 4, "missing final newline"),
    ("files", "arch/riscv/a.S", f"# {SPDX}\n" + "#" * 121 + "\n", 2, "line too long (121 > 120"),
    ("files", "fpga/hw/rtl/io/a.sv", f"// {SPDX}\n" + "/" * 101 + "\n", 2, "line too long (101 > 100"),
    ("analyze", "core/a.c", NULL_POINTER, 5, "clang: Dereference of null pointer"),
    ("analyze", "arch/mips/a.c", NULL_POINTER, 5, "clang: Dereference of null pointer"),
    ("analyze", "platform/m5150-generic/a.c", NULL_POINTER, 5, "clang: Dereference of null pointer"),
    ("analyze", "arch/host/a.c", NULL_POINTER, 5, "clang: Dereference of null pointer"),
    ("analyze", "core/a.c", OUT_OF_BOUNDS, 6, "cppcheck: Array 'table[2]' accessed at index 2"),
    ("analyze", "arch/mips/a.c", OUT_OF_BOUNDS, 6, "cppcheck: Array 'table[2]' accessed at index 2"),
    ("analyze", "arch/host/a.c", OUT_OF_BOUNDS, 6, "cppcheck: Array 'table[2]' accessed at index 2"),
    (
        "analyze",
        "arch/riscv/sbi.c",
        C + "int a;\n",
        0,
        "waiver of cppcheck's comparePointers for arch/riscv/sbi.c covers 0",
    ),
    ("layers", "core/a.c", C + '#include "csr.h"\n', 2, "core includes csr.h of arch/riscv"),
    ("layers", "core/a.c", C + '#include "edf.h"\n', 2, "core includes edf.h of rt"),
    ("layers", "core/a.c", C + '#include "../rt/edf.h"\n', 2, "includes ../rt/edf.h by its place"),
    ("layers", "core/a.c", C + '#include "board.h"\n', 2, "core includes board.h of platform/qemu-virt"),
    ("layers", "abi/a.h", C + '#include "platform.h"\n', 2, "abi includes platform.h of platform contract"),
    ("layers", "platform/drivers/a.c", C + '#include "csr.h"\n', 2, "platform/drivers includes csr.h of arch/riscv"),
    ("layers", "rt/a.c", C + '#include "message.h"\n', 2, "rt includes message.h of ipc"),
    ("layers", "arch/host/a.c", C + '#include "csr.h"\n', 2, "arch/host includes csr.h of arch/riscv"),
    ("layers", "arch/riscv/rt/a.c", C + '#include "jobs.h"\n', 2, "arch/riscv includes jobs.h of devices/accel"),
    ("layers", "arch/riscv/a.c", C + '#include "jobs.h"\n', 2, "arch/riscv includes jobs.h of devices/accel"),
    ("layers", "core/a.c", C + "int core_riscv_mode;\n", 2, "core names riscv"),
    ("layers", "core/a.c", C + "int rt_launches;\n", 2, "core names rt_launches of a component"),
    ("layers", "core/a.c", C + "int vm_rt_launches;\n", 2, "core names vm_rt_launches of a component"),
    ("layers", "core/a.c", C + "int rt;\n", 2, "core names rt of a component"),
    ("layers", "core/a.c", C + "int a = HCALL_RT_LAUNCH;\n", 2, "core names HCALL_RT_LAUNCH of a component"),
    ("layers", "core/a.c", C + "int a = HCALL_IPC_SEND_MSG;\n", 2, "core names HCALL_IPC_SEND_MSG of a component"),
    ("layers", "core/a.c", C + "int vcpu_inbox;\n", 2, "core names vcpu_inbox of a component"),
    ("layers", "core/a.c", C + "int ring_doorbells(void);\n", 2, "core names ring_doorbells of a component"),
    ("layers", "core/a.c", C + "int vm_virtio_queue;\n", 2, "core names vm_virtio_queue of a component"),
    ("layers", "core/a.c", C + "int irq_of_fpga;\n", 2, "core names irq_of_fpga of a component"),
    ("layers", "core/a.c", C + "int TRACE_OVERRUN;\n", 2, "core names TRACE_OVERRUN of a component"),
    ("layers", "core/sysimage.c", C + "int a = HCALL_RT_LAUNCH + rt_apps;\n", 2, "core names HCALL_RT_LAUNCH of"),
    ("layers", "core/sysimage.c", C + "int a;\n", 0, "needs no exception"),
    ("layers", "core/a.c", C + "/* read from the time CSR */\nint a;\n", 2, "core names CSR"),
    ("layers", "core/a.c", C + "/* for the SBI console */\nint a;\n", 2, "core names SBI"),
    ("layers", "core/a.c", C + "/* below 2^41 (Sv39x4) */\nint a;\n", 2, "core names Sv39"),
    ("layers", "core/a.c", C + "int sbi_call;\n", 2, "core names sbi_"),
    ("layers", "rt/a.c", C + "int rt_mips_mode;\n", 2, "rt names mips"),
    ("layers", "ipc/a.c", C + "/* as RISC-V has it */\nint a;\n", 2, "ipc names RISC-V"),
    ("layers", "core/a.c", C + "/* sets a line of the PLIC */\nint a;\n", 2, "core names PLIC"),
    ("layers", "abi/a.h", C + '#include "list.h"\n', 2, "abi includes list.h of core"),
    ("layers", "core/a.c", C + '#include "jobs.h"\n', 2, "core includes jobs.h of devices/accel"),
    ("layers", "core/a.c", C + "int accel_jobs;\n", 2, "core names accel_jobs of a component"),
    ("layers", "devices/accel/a.c", C + '#include "edf.h"\n', 2, "devices/accel includes edf.h of rt"),
    ("layers", "devices/accel/a.c", C + "int accel_mips_mode;\n", 2, "devices/accel names mips"),
    ("links", "docs/a.md", MD + "\n[b](b.md)\n", 4, "target not found: 'b.md'"),
    ("links", "docs/a.md", MD + "\n[a](#another-heading)\n", 4, "target not found: 'another-heading'"),
    ("links", "docs/a.md", MD + "\n[a](a.md#another-heading)\n", 4, "local id not found in doc"),
    ("docs", "docs/a.md", MD + "`docs/b.c`\n", 3, "names docs/b.c"),
    ("docs", "docs/figures/a.fig", FIG, 0, "docs/images/a.svg is not drawn from it"),
    ("docs", "docs/figures/a.fig", FIG + "edge a b\n", 0, "no box b"),
    ("docs", "docs/figures/a.fig", FIG + "circle a\n", 0, "line 3: circle: no such directive"),
    ("docs", "docs/figures/a.fig", f"# {SPDX}\nbox a 0 0 '{'long ' * 20}'\n", 0, "its text does not fit"),
    ("tutorials", TUTORIAL, MD + "```sh\nmake\n```\n", 3, "a block that no test executes"),
    ("tutorials", TUTORIAL, MD + "<!-- tested: a -->\n```sh\nmake\n```\n", 4, "has a field 'tested'"),
    ("tutorials", TUTORIAL, MD + BOUND + "```sh\nmake\n```\n", 4, "no test of that name"),
    ("tutorials", TUTORIAL, MD + SHOWING + "```c\nint a;\n```\n", 4, "differs from core/list.h"),
    ("tutorials", TUTORIAL, MD + SHOWING.replace(".h", ".c") + "```c\n```\n", 4, "core/list.c, which does not exist"),
    ("tutorials", TUTORIAL, MD + SHOWING.replace(".h", ".h#a") + "```c\n```\n", 4, "has no such region"),
    ("tutorials", "tests/docs/test_a.py", PY + "def test_a(tree, blocks):\n    pass\n", 0, "no block names it"),
]


def _components(tree: Tree) -> None:
    """Writes headers of every component, as targets of includes."""
    for name in (
        "arch/riscv/csr",
        "rt/edf",
        "ipc/message",
        "platform/qemu-virt/board",
        "platform/platform",
        "arch/include/arch",
        "core/list",
        "abi/calls",
        "devices/accel/jobs",
    ):
        tree.write(f"{name}.h", C)
    for name in ("rt", "ipc"):
        tree.write(f"{name}/component.c", C)
    for isa in ("riscv", "host"):
        tree.write(f"arch/{isa}/arch_types.h", C)


@pytest.mark.parametrize(("check", "name", "content", "line", "words"), BAD)
def test_check_finds_the_fault(tree: Tree, check: str, name: str, content: str, line: int, words: str) -> None:
    _components(tree)
    tree.write(name, content)
    done = tree.check(check)
    assert done.returncode == (2 if check in BY_TOOLS else 1), done.stdout + done.stderr
    findings = [text for text in (done.stdout + done.stderr).splitlines() if words in text]
    assert len(findings) == 1, done.stdout + done.stderr
    if check == "files":
        assert name in done.stdout + done.stderr
        return
    assert re.search(rf"(^|/){name}:{line}:", findings[0]), findings[0]
    assert check in BY_TOOLS or "; " in findings[0], "a finding must say what to do"


GOOD = [
    ("limits", "core/a.c", C + "COMPONENT(a, .boot = b, .hypercalls = calls);\n"),
    ("format", "core/a.c", _function("")),
    ("lint", "tools/a.py", PY + "\nX = 1\n"),
    ("lint", "tools/a.sh", SH + "echo fine\n"),
    ("limits", "core/a.c", _function(BRANCHES[: BRANCHES.rfind("    if")])),
    ("limits", "tools/a.py", PY + "\n" + PY_CONDITIONS.replace("a != 10", "True").replace(" and True", "")),
    ("limits", "core/a.c", f"{C}#ifdef DEBUG\nint a;\n#endif\nstruct s {{\n    int a;\n}};\n"),
    (
        "limits",
        "arch/riscv/sbi.c",
        _function("", "sbi_ecall", parameters="int a, int b, int c, int d, int e, int f, int g"),
    ),
    ("limits", "core/a.c", _function("    /* goto nowhere */\n")),
    ("limits", "core/a.c", _function("    f(a ? 1 : 2, a <= 1 ? 3 : 4);\n    if (a == 1 || f(a) >= 2) {\n    }\n")),
    (
        "limits",
        "core/a.c",
        _function("    int b = 1, c = 2;\n    f((struct s){.b = 1, .c = 2}, a == 1);\n    a = 1, b = 2;\n"),
    ),
    ("limits", "core/a.c", _function("    for (int b = 1, c = 2; b <= 2; b += 1, c = 2) {\n        a = 1;\n    }\n")),
    (
        "limits",
        "core/a.c",
        _function("    if (a) {\n        a = 1;\n    }\n    do {\n        a = 1;\n    } while (a != 1);\n"),
    ),
    ("links", "docs/a.md", MD + "[a](a.md#the-heading), [b](https://b), `[c](c.md)`\n```\n[d](d.md)\n```\n"),
    ("docs", "docs/a.md", MD + "`docs/a.md`, `build/a`, `make a/b`\n"),
    ("files", "tools/a.sh", SH + "true\n"),
    ("files", "guests/packages.lock", "{}\n"),
    ("analyze", "core/a.c", OUT_OF_BOUNDS.replace("table[2] = 1", "table[1] = 1")),
    ("layers", "core/a.c", C + '#include "arch.h"\n#include "arch_types.h"\n#include "list.h"\n#include <stdint.h>\n'),
    ("layers", "core/sysimage.c", C + "/* doorbells */\nint a = rt_apps, start, sort_inboxing, tipc;\n"),
    ("layers", "abi/a.h", C + "/* SBI error codes */\nint a;\n"),
    ("layers", "rt/a.c", C + '#include "list.h"\n#include "edf.h"\n#include "calls.h"\n'),
    ("layers", "arch/riscv/accel/a.c", C + '#include "csr.h"\n#include "jobs.h"\n'),
    ("layers", "devices/accel/a.c", C + '#include "list.h"\n#include "jobs.h"\n#include "calls.h"\n'),
    ("layers", "arch/riscv/a.c", C + '#include "board.h"\n#include "csr.h"\n#include "list.h"\n'),
    ("layers", "arch/riscv/a.c", C + "/* as RISC-V's riscv,isa says */\nint a;\n"),
]


@pytest.mark.parametrize(("check", "name", "content"), GOOD)
def test_check_passes_a_clean_file(tree: Tree, check: str, name: str, content: str) -> None:
    if check == "layers":
        _components(tree)
    tree.write(name, content)
    done = tree.check(check)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(done.stdout.splitlines()) == 1, "a passing check prints one line"


def test_commands_of_documents_are_known(tree: Tree) -> None:
    tree.write("Makefile", f"# {SPDX}\nBOARD ?= a\nrun test-a: ; @echo $(BOARD) $(SYSTEM)\n")
    tree.write("systems/a.dts", f"// {SPDX}\n")
    good = "`make run BOARD=b SYSTEM=a`, `make test-a >log`, `make run SYSTEM=<name>`\n"
    tree.write("docs/a.md", MD + good)
    assert tree.check("tutorials").returncode == 0
    tree.write("docs/a.md", MD + good + "`make rum`, `make run BORD=b`\n```\n$ make run SYSTEM=b  # a system\n```\n")
    found = tree.check("tutorials").stderr.splitlines()
    assert [line.partition(";")[0] for line in found[:-1]] == [
        "docs/a.md:4: `make BORD=`: no such variable",
        "docs/a.md:4: `make rum`: no such target",
        "docs/a.md:6: SYSTEM=b: no such system",
    ]


def test_listings_are_copied_into_documents(tree: Tree) -> None:
    tree.write("core/a.c", C + "    /* listing: loop */\n    for (;;) {\n    }\n    /* listing end */\n")
    region = BOUND.replace(" -->", "; listing: core/a.c#loop -->")
    tree.write("core/list.h", C)
    tree.write(TUTORIAL, MD + SHOWING + "```c\nold\n```\n" + region + "```c\nold\n```\n")
    tutorials.fix(tree.root)
    assert (tree.root / TUTORIAL).read_text() == (
        MD + SHOWING + f"```c\n{C}```\n" + region + "```c\nfor (;;) {\n}\n```\n"
    )
    assert "differs" not in tree.check("tutorials").stderr


def test_a_file_that_no_build_compiles_is_found(tree: Tree) -> None:
    tree.write("rt/forgotten.c", C + "int a;\n")
    done = tree.check("analyze")
    assert "rt/forgotten.c:0: no build compiles it" in done.stderr


def test_contract_header_must_exist_in_every_architecture(tree: Tree) -> None:
    tree.write("arch/riscv/arch_types.h", C)
    tree.write("arch/mips/entry.c", C)
    done = tree.check("layers")
    assert done.returncode == 1
    assert "arch/mips:0: has no arch_types.h" in done.stderr


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("static void lost(void) {} void (*now)(void) = lost;", "taken: sched.c:lost; give each chain an end"),
        ("void deep(void) { volatile char a[4000]; a[0] = 0; }", "bytes of stack, expected at most 3840: "),
        ("void flat(void) {}", ""),
    ],
)
def test_stack_of_a_hart(tree: Tree, code: str, message: str) -> None:
    """The object file has the name of a source that exists: others are left from deleted sources."""
    tree.write("sched.c", code)
    out = tree.root / "build" / "check" / "hyp-gcc" / "obj" / "core" / "sched.c.o"
    out.parent.mkdir(parents=True)
    command = ["riscv64-unknown-elf-gcc", "-O2", "-fcallgraph-info=su", "-c", "-o", str(out), "sched.c"]
    subprocess.run(command, cwd=tree.root, check=True)
    out.with_suffix(".args").write_text("sched.c\n", encoding="utf-8")
    done = tree.check("stack")
    assert done.returncode == (message != "")
    assert message in done.stderr


def test_language_servers_know_how_files_are_compiled(tmp_path: Path) -> None:
    command = ["make", "--silent", f"BUILD={tmp_path}", "compile-commands"]
    subprocess.run(command, cwd=TOP, check=True, capture_output=True)
    commands = json.loads((tmp_path / "compile_commands.json").read_text(encoding="utf-8"))
    files = {entry["file"] for entry in commands}
    there = {str(path.relative_to(TOP)) for path in (*TOP.glob("core/*.c"), *TOP.glob("tests/unit/test_*.c"))}
    assert there & files
    assert all("sorter" in name for name in there - files), "the queues in sorters are another build"
    for entry in (commands[0], commands[-1]):
        line = [*shlex.split(entry["command"]), "-fsyntax-only", "-MF", os.devnull, "-o", str(tmp_path / "a.o")]
        subprocess.run(line, cwd=entry["directory"], check=True)


def test_outside_a_repository_is_one_clear_line(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "check.docs", "--root", str(tmp_path)]
    environment = {"PYTHONPATH": str(TOP / "tools"), "PATH": _path(), "GIT_CEILING_DIRECTORIES": str(tmp_path.parent)}
    done = subprocess.run(command, env=environment, text=True, capture_output=True)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert "not a git repository" in done.stderr


def test_functions_are_found_between_other_code() -> None:
    text = """
struct a { int b; };
enum e { X, Y };
static const int t[] = { 1, 2 };
#define M(x) do { (x)++; } while (0)
static inline int one(int a)
{
    return a ? '}' : "{"[0];
}
__attribute__((noreturn)) void two(void (*f)(int), int b)
{
    struct a c = { 1 };
    for (;;) { f(b); }
}
"""
    found = ctext.functions(text)
    assert [(f.name, f.first, f.last) for f in found] == [("one", 7, 9), ("two", 11, 14)]
