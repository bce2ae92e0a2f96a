# SPDX-License-Identifier: Apache-2.0
"""What calls through pointers reach, in small programs: each has one such call in each of some lines."""

from pathlib import Path

import pytest

from tessera.verify.c_pointers import read_facts
from tessera.verify.points_to import Solution

START = """
#define NULL ((void *)0)
typedef void fn(void);
struct ops { const char *name; fn *now, *late; };
struct user { const struct ops *ops; struct { fn *inner; } part; fn *list[3]; };
void a(void), b(void); static inline void c(void) {}
"""


def reached(folder: Path, *texts: str) -> list[set[str]]:
    """Returns for each call through a pointer, in the order of files and lines, the functions, and
    `any` if others may be called."""
    (folder / "start.h").write_text(START, encoding="utf-8")
    for number, text in enumerate(texts):
        (folder / f"{number}.c").write_text(f'#include "start.h"\n{text}', encoding="utf-8")
    facts = read_facts([(f"{number}.c", ["-ffreestanding"]) for number in range(len(texts))], folder)
    solution = Solution(facts)
    return [{atom.name or atom.kind for atom in solution.targets(call)} for call in sorted(facts.calls)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("struct ops o = {NULL, a}; void use(struct ops *p) { p->now(); }", "a"),
        ("struct ops o = {.now = a, b}; void use(struct ops *p) { p->late(); }", "b"),
        (
            "struct ops o[] = {{.late = a}, [2] = {.late = &b, .now = c}}; void use(struct ops *p) { (*p[1].late)(); }",
            "ab",
        ),
        ("struct user u = {.part.inner = a}; void use(struct user *p) { p->part.inner(); }", "a"),
        ("struct user u = {NULL, {b}, {a, c}}; void use(struct user *p) { p->list[1](); }", "ac"),
        ("struct user u = {.list = {[1] = b}}; void use(struct user *p) { fn **l = p->list; l[0](); }", "b"),
        ("static fn *const t[] = {a, NULL, c}; void use(int n) { t[n](); }", "ac"),
        ("static fn *const t[] = {a, b}; void use(int n) { fn *const *p = &t[n]; (*p)(); }", "ab"),
        (
            "static fn *kept; void set(fn *f) { kept = f; } void go(void) { set(a); set(b); } void u(void) { kept(); }",
            "ab",
        ),
        ("static fn *kept; void put(fn **to) { *to = a; } void use(void) { put(&kept); kept(); }", "a"),
        ("void put(fn **to) { *to = a; } void use(struct ops *o) { put(&o->now); o->now(); }", "a"),
        ("void set(struct ops *o) { *o = (struct ops){.now = c}; } void use(struct ops *o) { o->now(); }", "c"),
        ("static fn *pick(int n) { if (n) { return a; } return b; } void use(int n) { pick(n)(); }", "ab"),
        ("void use(int n) { fn *f = n ? a : NULL; f(); }", "a"),
        ("void use(int n) { (n ? a : c)(); }", "ac"),
        ("static inline void call(fn *f) { f(); } void use(void) { call(a); call((fn *)c); }", "ac"),
        ("struct ops o; void set(void) { o.now = o.late = b; } void use(void) { o.now(); }", "b"),
        ("typedef void with(fn *f); void run(fn *f) { f(); } void use(void) { with *w = run; w(a); }", "a run"),
        ("void use(struct ops *o) { o->now(); }", ""),
        ("void use(fn *f) { f(); }", "any"),
        ("extern unsigned long place; void use(void) { ((fn *)place)(); }", "any"),
    ],
)
def test_a_pointer_gets_functions(tmp_path: Path, text: str, expected: str) -> None:
    names = expected.split() if " " in expected or expected == "any" else list(expected)
    assert set().union(*reached(tmp_path, text)) == set(names)


def test_fields_of_the_same_name_differ(tmp_path: Path) -> None:
    text = "struct other { fn *now; } x = {b}; struct ops y = {.now = a};\n"
    assert reached(
        tmp_path, text + "void use(struct ops *o) { o->now(); }\nvoid it(struct other *o) { o->now(); }"
    ) == [{"a"}, {"b"}]


def test_static_names_of_other_files_differ(tmp_path: Path) -> None:
    """Files share what is not static; the call in the second file is of its own variable."""
    first = "static fn *kept = a; struct ops *shared; void set(void) { shared->late = c; kept(); }"
    second = (
        "static fn *kept = b; extern struct ops *shared;\nvoid use(void) { kept(); }\nvoid it(void) { shared->late(); }"
    )
    assert reached(tmp_path, first, second) == [{"a"}, {"b"}, {"c"}]


def test_a_wrapper_does_not_call_itself(tmp_path: Path) -> None:
    """The pointer that it calls only gets the address of the other constant object."""
    text = "static const struct ops inner = {.now = a}; static const struct ops *wrapped, *used;\n"
    text += "static void wrap(void) { wrapped->now(); }\n"
    text += "static const struct ops outer = {.now = wrap};\n"
    text += "void set(const struct ops *o, int n) { wrapped = o; used = n ? o : &outer; }\n"
    text += "void boot(void) { set(&inner, 1); }\n"
    use = "void use(void) { used->now(); }"
    assert reached(tmp_path, text + use) == [{"a"}, {"a", "wrap"}]
    assert reached(tmp_path, text.replace("const struct ops inner", "struct ops inner") + use) == [{"a", "wrap"}] * 2
    assert (
        reached(tmp_path, text.replace("boot(void) { ", "boot(const struct ops *o) { set(o, 0); ") + use)
        == [{"a", "wrap"}] * 2
    )
