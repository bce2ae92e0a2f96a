# SPDX-License-Identifier: Apache-2.0
"""The generator of mutants: what each operator makes of a small file, keys that stay where code moves, and a source
with all mutants, of which the selected one runs."""

import subprocess
from pathlib import Path

import pytest

from tessera.verify.mutants import mutants, parse, schemata

SOURCE = """
static int calls;

static void note(int n)
{
    calls = calls * 10 + n;
}

/* Three. */
int f(int a, int b, _Bool ready)
{
    static const int table[2 + 1] = {1 + 1, 2, 3};
    int sum = 0;

    calls = 0;
    note(1);
    note(2); /* twice */
    if (ready && a < 3) {
        sum += calls + b;
    }
    for (int i = 0; i < b; i++) {
        sum++;
    }
    switch (a & 7) {
    case 1 + 4:
        return -1;
    default:
        break;
    }
    if (ready) {
        sum = sum + (int)sizeof(table[a - b]);
    }
    return sum * 1000 + calls;
}
"""
MUTANTS = {
    "note: assign: calls = calls * 10 + n; -> nothing",
    "note: arithmetic: calls * 10 + n -> (calls * 10) - n",
    "note: drop: calls * 10 + n -> calls * 10",
    "f: assign: calls = 0; -> nothing",
    "f: call: note(1); -> nothing",
    "f: swap: note(1); -> note(2); note(1);",
    "f: call: note(2); -> nothing",
    "f: swap: note(2); -> if (ready && a < 3) { sum += calls + b; } note(2);",
    "f: logic: ready && a < 3 -> ready || (a < 3)",
    "f: drop: ready && a < 3 -> ready",
    "f: drop: ready && a < 3 -> a < 3",
    "f: compare: a < 3 -> a <= 3",
    "f: number: a < 3 -> a < 3 + 1",
    "f: assign: sum += calls + b; -> nothing",
    "f: arithmetic: calls + b -> calls - b",
    "f: drop: calls + b -> calls",
    "f: compare: i < b -> i <= b",
    "f: assign: sum++; -> nothing",
    "f: drop: a & 7 -> a",
    "f: return: -1 -> 0",
    "f: negate: ready -> !(ready)",
    "f: assign: sum = sum + (int)sizeof(table[a - b]); -> nothing",
    "f: arithmetic: sum + (int)sizeof(table[a - b]) -> sum - (int)sizeof(table[a - b])",
    "f: drop: sum + (int)sizeof(table[a - b]) -> sum",
    "f: return: sum * 1000 + calls -> 0",
    "f: drop: sum * 1000 + calls -> sum * 1000",
    "f: arithmetic: sum * 1000 + calls -> (sum * 1000) - calls",
}
MAIN = """
#include <stdio.h>
#include <stdlib.h>
static int selected;
static int mutant_on(int number) { return selected == number; }
%s
int main(int argc, char **argv)
{
    selected = atoi(argv[1]);
    printf("%%d", f(atoi(argv[2]), atoi(argv[3]), atoi(argv[4])));
    return argc == 0;
}
"""


def keys(text: str) -> list[str]:
    return [mutant.key for mutant in mutants(parse(text))]


def test_every_operator():
    assert sorted(keys(SOURCE)) == sorted(MUTANTS)


def test_keys_stay_where_code_moves():
    """Below another function, with another layout and comments. An edit of a statement changes its own keys."""
    moved = "int g(void)\n{\n    return 5;\n}\n" + SOURCE.replace("ready && a < 3", "ready && /* few */\n        a < 3")
    assert set(keys(moved)) - MUTANTS == {"g: return: 5 -> 0"}
    assert MUTANTS - set(keys(moved)) == set()
    edited = set(keys(SOURCE.replace("note(2);", "note(3);")))
    assert MUTANTS - edited == {key for key in MUTANTS if "note(2)" in key}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return 0;", {"return: 0 -> 1"}),
        ("return true;", {"return: true -> false"}),
        ("return NULL;", set()),
        ("(void)(a || b);", {"logic: a || b -> a && b", "drop: a || b -> a", "drop: a || b -> b"}),
        ("(void)(a <= b);", {"compare: a <= b -> a < b"}),
        ("(void)(a > b);", {"compare: a > b -> a >= b"}),
        ("(void)(a >= b);", {"compare: a >= b -> a > b"}),
        ("(void)(a == b);", {"compare: a == b -> a != b"}),
        ("(void)(a != b);", {"compare: a != b -> a == b"}),
        ("FOR_EACH(a) {\n}", set()),
    ],
)
def test_operators_of_one_line(body: str, expected: set[str]):
    assert set(keys(f"int f(int a, int b)\n{{\n    {body}\n}}\n")) == {f"f: {key}" for key in expected}


def test_equal_statements_have_different_keys():
    found = keys("void f(void)\n{\n    g();\n    if (a < b) {\n        g();\n    }\n}\n")
    assert [key for key in found if "call" in key] == ["f: call: g(); -> nothing", "f: call: g(); -> nothing #2"]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, int]]:
    folder = tmp_path_factory.mktemp("mutants")
    root = parse(SOURCE)
    numbered = dict(enumerate(mutants(root), 1))
    text = schemata(SOURCE, root, numbered)
    assert text.count("\n") == SOURCE.count("\n")
    (folder / "all.c").write_text(MAIN % text, encoding="utf-8")
    subprocess.run(["gcc", "-o", folder / "all", folder / "all.c"], check=True)
    return folder / "all", {mutant.key: number for number, mutant in numbered.items()}


@pytest.mark.parametrize(
    ("key", "arguments", "intact", "changed"),
    [
        ("f: swap: note(1); -> note(2); note(1);", (1, 0, 0), 12, 21),
        ("f: swap: note(2); -> if (ready && a < 3) { sum += calls + b; } note(2);", (1, 0, 1), 16012, 5012),
        ("f: call: note(1); -> nothing", (1, 0, 0), 12, 2),
        ("f: logic: ready && a < 3 -> ready || (a < 3)", (1, 1, 0), 1012, 14012),
        ("f: drop: ready && a < 3 -> a < 3", (1, 1, 0), 1012, 14012),
        ("f: compare: a < 3 -> a <= 3", (3, 1, 1), 5012, 18012),
        ("f: compare: i < b -> i <= b", (9, 2, 0), 2012, 3012),
        ("f: drop: a & 7 -> a", (13, 0, 0), -1, 12),
        ("f: negate: ready -> !(ready)", (9, 0, 0), 12, 4012),
        ("f: return: -1 -> 0", (5, 0, 0), -1, 0),
        ("f: arithmetic: sum * 1000 + calls -> (sum * 1000) - calls", (9, 1, 0), 1012, 988),
    ],
)
def test_a_selected_mutant_runs(program, key: str, arguments: tuple[int, ...], intact: int, changed: int):
    path, numbers = program

    def value(number: int) -> int:
        return int(subprocess.run([path, str(number), *map(str, arguments)], capture_output=True, check=True).stdout)

    assert (value(0), value(numbers[key])) == (intact, changed)
