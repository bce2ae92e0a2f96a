# SPDX-License-Identifier: Apache-2.0
"""Stack depth of small programs, compiled by the compiler of the hypervisor."""

import subprocess
from pathlib import Path

import pytest

from tessera.bench.machine import BenchError
from tessera.verify.stack_depth import Graph, deepest, read_graph

LEAF = "void leaf(volatile char *); "


def graph_of(folder: Path, text: str) -> Graph:
    source, out = folder / "small.c", folder / "small.c.o"
    source.write_text(text, encoding="utf-8")
    command = ["riscv64-unknown-elf-gcc", "-O2", "-ffreestanding", "-fcallgraph-info=su", "-c", "-o", str(out)]
    subprocess.run([*command, str(source)], check=True)
    return read_graph([out])


def test_the_deepest_chain_is_found(tmp_path: Path) -> None:
    """The deepest chain has neither the most calls nor the largest frame."""
    large = "void large(void) { volatile char a[1000]; leaf(a); } "
    chain = LEAF + "static __attribute__((noinline)) void inner(void) { volatile char a[600]; leaf(a); leaf(a); } "
    chain += "void outer(void) { volatile char b[500]; leaf(b); inner(); leaf(b); } "
    depth, functions = deepest(graph_of(tmp_path, chain + large))
    assert [name.rpartition(":")[2] for name in functions[:2]] == ["outer", "inner"]
    assert 1100 <= depth <= 1200


def test_recursion_has_no_depth(tmp_path: Path) -> None:
    text = LEAF + "int odd(int n); int even(int n) { volatile char a; leaf(&a); return n == 0 ? 1 : odd(n - 1) + 1; } "
    text += "int odd(int n) { volatile char a; leaf(&a); return n == 0 ? 0 : even(n - 1) + 2; }"
    with pytest.raises(BenchError, match=r"recursion: .*even > .*"):
        deepest(graph_of(tmp_path, text))


def test_a_frame_needs_a_fixed_size(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match=r"grows: its frame has no fixed size"):
        graph_of(tmp_path, "void leaf(char *); void grows(int n) { char a[n]; leaf(a); }")


def test_a_call_through_a_pointer_must_be_declared(tmp_path: Path) -> None:
    with pytest.raises(
        BenchError, match=r"small.c:1: a call through a pointer that stack_depth.py does not know: .*now"
    ):
        graph_of(tmp_path, "struct ops { void (*now)(void); }; void use(struct ops *o) { o->now(); o->now(); }")


def test_a_function_whose_address_is_taken_must_be_declared(tmp_path: Path) -> None:
    text = 'static void hidden(void) { __asm__(""); } struct ops { void (*now)(void); } table = { hidden };'
    with pytest.raises(BenchError, match=r"called through a pointer .*: .*small.c:hidden"):
        graph_of(tmp_path, text)
