# SPDX-License-Identifier: Apache-2.0
"""
Limits of functions. C: complexity, statements, parameters, no goto, no conditional compilation
inside. Python: the same limit of complexity.
"""

import re
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import lizard

from check import ctext, repo
from check.repo import Finding

FOLDERS = (
    *(
        "abi/",
        "core/",
        "arch/",
        "rt/",
        "ipc/",
        "services/",
        "devices/",
        "examples/",
        "fpga/",
        "platform/",
    ),
    *("guests/", "scripts/", "tests/", "tools/"),
)

MAX_COMPLEXITY = 10
MAX_STATEMENTS = 50
MAX_PARAMETERS = 6

# File and function (shell patterns), rule, reason. A waiver that is not needed is an error, too.
_REGISTERS = "the registers of the guest's call are passed on unchanged: a struct would put them into memory"
WAIVERS = (
    ("arch/riscv/*sbi*.c", "sbi_*", "parameters", _REGISTERS),
    ("core/hypercall.c", "hypercall_dispatch", "parameters", _REGISTERS),
)

_ASSIGNMENT = re.compile(r"(?<![=!<>])=(?!=)|(?<=<<)=|(?<=>>)=")
_CONDITIONAL = re.compile(r"^[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif|else)\b")


def _complex(path: str, functions: list[Any]) -> list[Finding]:
    found = []
    for function in functions:
        if function.cyclomatic_complexity > MAX_COMPLEXITY:
            what = f"{function.name}: cyclomatic complexity {function.cyclomatic_complexity} > {MAX_COMPLEXITY}"
            found.append(Finding(path, function.start_line, what, "split the function or use a table"))
    return found


def _measured(path: str, text: str) -> list[Finding]:
    # lizard would count every #if as a branch; _function_findings() reports these.
    code = ctext.without_directives(ctext.blank(text))
    functions = lizard.analyze_file.analyze_source_code(path, code).function_list
    found = _complex(path, functions)
    for function in functions:
        if function.parameter_count > MAX_PARAMETERS:
            what = f"{function.name}: {function.parameter_count} parameters > {MAX_PARAMETERS}"
            found.append(Finding(path, function.start_line, what, "pass a struct"))
    return found


def _function_findings(path: str, lines: list[str], function: ctext.Function) -> list[Finding]:
    found = []
    count = ctext.statements(function.body)
    if count > MAX_STATEMENTS:
        what = f"{function.name}: {count} statements > {MAX_STATEMENTS}"
        found.append(Finding(path, function.first, what, "split the function"))
    for number in range(function.first, function.last + 1):
        if _CONDITIONAL.match(lines[number - 1]):
            what = f"{function.name}: conditional compilation inside a function"
            found.append(Finding(path, number, what, "put the variant into a separate file"))
    for match in re.finditer(r"\bgoto\b", function.body):
        line = function.first + function.body.count("\n", 0, match.start())
        found.append(Finding(path, line, f"{function.name}: goto", "return early or split the function"))
    return found


def _nested_conditionals(code: str) -> list[int]:
    """Where a ?: is inside an operand of another one."""
    found = []
    inside = [False]  # for each open parenthesis: is this an operand of a ?:
    for at, char in enumerate(code):
        if char in "([":
            inside.append(inside[-1])
        elif char in ")]" and len(inside) > 1:
            inside.pop()
        elif char in ";{}":
            inside = [False]
        elif char == ",":
            inside[-1] = inside[-2] if len(inside) > 1 else False
        elif char == "?":
            if inside[-1]:
                found.append(at)
            inside[-1] = True
    return found


_HEAD = re.compile(r"\b(if|while|switch|for)\s*\($")
_CONDITIONS = ("condition", "for 1")


_DESIGNATED = re.compile(r"[(,]\s*\.\w+\s*$")  # in the arguments of a macro that initializes a structure


class _Assignments:
    """
    Finds assignments inside of expressions. An assignment must be a statement, the initializer of a
    variable or a designated one, or a part of the first or the last clause of a `for`.
    """

    def __init__(self, code: str) -> None:
        self.code = code
        self.found: list[tuple[int, str]] = []
        # What each open parenthesis, bracket or brace is; at the bottom the file.
        self.inside = ["block"]
        self.start = 0  # of the statement or of its part up to a comma
        self.assigned = False  # in this part
        for at, char in enumerate(code):
            self._read(at, char)

    def _read(self, at: int, char: str) -> None:
        if char in "({[":
            self._open(at, char)
        elif char in ")}]":
            self._close(at, char)
        elif char == ";":
            self._next_clause()
            self._next_part(at)
        elif char == ",":
            self._next_part(at)
        elif char == "=" and _ASSIGNMENT.match(self.code, at):
            self._assignment(at)

    def _open(self, at: int, char: str) -> None:
        if char == "{":
            self.inside.append("block")
            self._next_part(at)
            return
        head = _HEAD.search(self.code, max(0, at - 16), at + 1) if char == "(" else None
        if head is not None:
            self.inside.append("for 0" if head[1] == "for" else "condition")
            self._next_part(at)
        else:
            self.inside.append("condition" if self.inside[-1] in _CONDITIONS else "operand")

    def _close(self, at: int, char: str) -> None:
        closed = self.inside.pop() if len(self.inside) > 1 else "block"
        if char == "}" or closed in ("condition", "for 2"):
            self._next_part(at)

    def _next_clause(self) -> None:
        if self.inside[-1].startswith("for"):
            self.inside[-1] = f"for {int(self.inside[-1][-1]) + 1}"

    def _next_part(self, at: int) -> None:
        self.start, self.assigned = at + 1, False

    def _assignment(self, at: int) -> None:
        if _DESIGNATED.search(self.code, max(0, at - 80), at):
            return
        if self.inside[-1] in _CONDITIONS:
            self.found.append((at, "an assignment in a condition"))
        elif self.inside[-1] == "operand":
            self.found.append((at, "an assignment inside an expression"))
        elif re.match(r"\s*return\b", self.code[self.start : at]):
            self.found.append((at, "an assignment in a return"))
        elif self.assigned:
            self.found.append((at, "an assignment inside an assignment or initializer"))
        self.assigned = True


def _folded(path: str, text: str) -> list[Finding]:
    """Expressions that do two things."""
    code = ctext.without_directives(ctext.blank(text))
    found = [(at, "a conditional inside a conditional", "write an if") for at in _nested_conditionals(code)]
    found += [(at, what, "assign in a statement before it") for at, what in _Assignments(code).found]
    return [Finding(path, code.count("\n", 0, at) + 1, what, fix) for at, what, fix in found]


def check_text(path: str, text: str) -> list[Finding]:
    """Returns the findings of one file."""
    if path.endswith(".py"):
        return _complex(path, lizard.analyze_file.analyze_source_code(path, text).function_list)
    findings = _measured(path, text) + _folded(path, text)
    lines = ctext.blank(text).split("\n")
    for function in ctext.functions(text):
        findings += _function_findings(path, lines, function)
    return findings


def _waived(finding: Finding) -> int | None:
    """Returns the index of the waiver that covers a finding, None if none does."""
    function = finding.what.partition(":")[0]
    for number, (path, name, rule, _) in enumerate(WAIVERS):
        if fnmatch(finding.path, path) and fnmatch(function, name) and rule in finding.what:
            return number
    return None


def without_waived(findings: list[Finding], files: list[str]) -> list[Finding]:
    """Returns the findings without a waiver, and the waivers of existing files that cover no
    finding."""
    used = {_waived(finding) for finding in findings}
    left = [finding for finding in findings if _waived(finding) is None]
    for number, (path, name, rule, _) in enumerate(WAIVERS):
        if number not in used and any(fnmatch(file, path) for file in files):
            left.append(
                Finding(path, 0, f"waiver of {rule} for {name} is not needed", "remove it from check/limits.py")
            )
    return left


def check(root: Path) -> tuple[list[Finding], str]:
    """Every C and Python function within the limits of CONTRIBUTING.md."""
    files = [name for name in repo.tracked(root) if name.startswith(FOLDERS)]
    c_files = repo.with_suffix(files, *repo.C_SUFFIXES, *repo.CXX_SUFFIXES)
    python_files = repo.with_suffix(files, ".py")
    findings: list[Finding] = []
    count = 0
    for name in (*c_files, *python_files):
        text = (root / name).read_text(encoding="utf-8")
        findings += check_text(name, text)
        count += len(ctext.functions(text)) if name in c_files else 0
    summary = f"{count} functions in {len(c_files)} C files, {len(python_files)} Python files"
    return without_waived(findings, files), summary


if __name__ == "__main__":
    repo.main("limits", check)
