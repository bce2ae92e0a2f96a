# SPDX-License-Identifier: Apache-2.0
"""Stack depth of small programs, compiled by the compiler of the hypervisor."""

import subprocess
from pathlib import Path

import pytest

from tessera.bench.machine import BenchError
from tessera.verify import stack_depth
from tessera.verify.stack_depth import Graph, deepest, read_graph

LEAF = "void leaf(volatile char *); "


def graph_of(folder: Path, text: str) -> Graph:
    source, out = folder / "small.c", folder / "small.c.o"
    source.write_text(text, encoding="utf-8")
    command = ["riscv64-unknown-elf-gcc", "-O2", "-ffreestanding", "-fcallgraph-info=su", "-c", "-o", out.name]
    subprocess.run([*command, source.name], cwd=folder, check=True)
    out.with_suffix(".args").write_text(f"-ffreestanding {source.name}\n", encoding="utf-8")
    return read_graph([out], folder)


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


def test_the_chain_goes_through_a_pointer(tmp_path: Path) -> None:
    """Neither the other structure's function is reached, nor a structure's other field."""
    text = LEAF + "static void small(void) { volatile char a[100]; leaf(a); } "
    text += "static void large(void) { volatile char a[900]; leaf(a); } "
    text += "struct ops { void (*now)(void), (*late)(void); }; struct other { void (*now)(void); } more = {large};\n"
    text += "void use(const struct ops *o) { volatile char b[200]; leaf(b); o->now(); leaf(b); }\n"
    text += "void later(void) { volatile char b; leaf(&b); more.now(); leaf(&b); }\n"
    text += "void last(const struct ops *o) { o->late(); }\n"
    graph = graph_of(tmp_path, text + "const struct ops one = {.now = small, .late = large};")
    assert graph.calls["use"] == {"leaf", "small.c:small"}
    assert graph.calls["later"] == {"leaf", "small.c:large"}
    assert graph.calls["last"] == {"small.c:large"}
    assert deepest(graph)[1] == ["later", "small.c:large", "leaf"]


def test_recursion_through_a_pointer_has_no_depth(tmp_path: Path) -> None:
    text = LEAF + "struct ops { int (*next)(int n); } *ops; static int deeper(int n) { volatile char a; leaf(&a); "
    text += "return ops->next(n) + 1; } void set(void) { ops->next = deeper; }"
    with pytest.raises(BenchError, match=r"recursion: .*deeper > .*deeper"):
        deepest(graph_of(tmp_path, text))


def test_a_pointer_that_is_called_must_get_a_function(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match=r"small.c:1: a call through a pointer that no function is assigned to: .*now"):
        graph_of(tmp_path, "struct ops { void (*now)(void); }; void use(struct ops *o) { o->now(); o->now(); }")


def test_a_pointer_that_is_called_must_be_known(tmp_path: Path) -> None:
    """Only assembly calls the function."""
    with pytest.raises(BenchError, match=r"small.c:1: a call through a pointer that holds unknown values: .*now"):
        graph_of(tmp_path, "void use(void (*now)(void)) { now(); now(); }")


def test_a_function_whose_address_is_taken_must_be_called(tmp_path: Path) -> None:
    text = 'static void hidden(void) { __asm__(""); } struct ops { void (*now)(void); } table = { hidden };'
    with pytest.raises(BenchError, match=r"no call reaches a function whose address is taken: small.c:hidden"):
        graph_of(tmp_path, text)


def test_what_the_sources_cannot_show_must_be_true(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = 'void one(void) { __asm__(""); } void two(void) { __asm__("nop"); } void (*now)(void) = one; '
    text += "void set(void) { now = two; } void use(void) { now(); now(); }"
    assert graph_of(tmp_path, text).calls["use"] == {"one", "two"}
    monkeypatch.setattr(stack_depth, "NARROWED", {("small.c", "now"): {"one", "three"}})
    with pytest.raises(BenchError, match=r"small.c: now does not hold what NARROWED says"):
        graph_of(tmp_path, text)
    monkeypatch.setattr(stack_depth, "NARROWED", {("small.c", "then"): {"one"}})
    with pytest.raises(BenchError, match=r"entries of NARROWED without a call: \('small.c', 'then'\)"):
        graph_of(tmp_path, text)
