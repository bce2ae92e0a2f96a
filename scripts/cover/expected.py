# SPDX-License-Identifier: Apache-2.0
"""
What must be covered, and what is known not to be: tests/coverage-exceptions.toml. Whatever is not covered has to be
listed there with its reason, and what is listed must not be covered.
"""

import tomllib
from collections import defaultdict
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from check import ctext
from check.repo import Finding
from cover.model import CoverError, Sources, total

LEAST_BRANCHES = 90.0  # percent, of a file that parses what a guest or a user has made


@dataclass(frozen=True)
class Exceptions:
    """The file's content: which files must be covered by what, which lines are not, which files have fewer branches."""

    files: dict[str, tuple[str, ...]]
    lines: dict[tuple[str, str, str], str]  # file, function, text of the line: reason
    branches: dict[str, tuple[float, str]]  # file: least percent, reason


def _reason(entry: dict[str, Any]) -> str:
    reason = str(entry.get("reason", "")).strip()
    if not reason:
        raise CoverError(f"coverage exceptions: {entry.get('file')}: an entry without a reason")
    return reason


def load(path: Path) -> Exceptions:
    """Reads the exceptions; CoverError if the file is not in order."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        lines = {
            (entry["file"], entry["function"], text): _reason(entry)
            for entry in data.get("lines", [])
            for text in entry["lines"]
        }
        branches = {entry["file"]: (float(entry["least"]), _reason(entry)) for entry in data.get("branches", [])}
        return Exceptions({by: tuple(files) for by, files in data["files"].items()}, lines, branches)
    except (OSError, tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise CoverError(f"{path}: {error!r}") from error


def _function_at(functions: list[ctext.Function], number: int) -> str:
    """The function a line is in; its declaration stands above its brace, and belongs to it."""
    return next((function.name for function in functions if number <= function.last), "")


def uncovered(file: str, sources: Sources, text: str) -> dict[tuple[str, str, str], int]:
    """
    Lines of a file that were not executed, by function and text, with the number of the first such line. A brace alone
    is none: it has what the compiler could give to no other line.
    """
    functions, lines = ctext.functions(text), text.split("\n")
    found: dict[tuple[str, str, str], int] = {}
    for number, line in sorted(sources[file].items()):
        if not line.executed and lines[number - 1].strip() != "}":
            found.setdefault((file, _function_at(functions, number), lines[number - 1].strip()), number)
    return found


def _line_findings(file: str, missing: dict[tuple[str, str, str], int], exceptions: Exceptions) -> list[Finding]:
    new = [
        Finding(file, number, f"{key[1]}: never executed: {key[2]}", "write a test, or list it with its reason")
        for key, number in missing.items()
        if key not in exceptions.lines
    ]
    old = [
        Finding(file, 0, f"{key[1]}: listed, but executed or not there: {key[2]}", "take it out of the list")
        for key in exceptions.lines
        if key[0] == file and key not in missing
    ]
    return new + old


def _branch_findings(file: str, sources: Sources, exceptions: Exceptions) -> list[Finding]:
    have = total(sources[file].values()).ways_percent
    least, _ = exceptions.branches.get(file, (LEAST_BRANCHES, ""))
    if have < least:
        return [Finding(file, 0, f"{have:.1f} % of the branches' ways taken, {least:g} % wanted", "write a test")]
    if file in exceptions.branches and have >= LEAST_BRANCHES:
        return [Finding(file, 0, f"listed, but has {have:.1f} % of its branches' ways", "take it out of the list")]
    return []


def files_of(by: str, sources: Sources, exceptions: Exceptions) -> list[str]:
    """Those that must be covered by `by`: "host" or an architecture's folder. One that is not there is a CoverError."""
    found = []
    for pattern in exceptions.files.get(by, ()):
        matching = [file for file in sources if fnmatch(file, pattern)]
        if not matching:
            raise CoverError(f"coverage exceptions: {by}: no file '{pattern}' has been compiled")
        found += matching
    return sorted(set(found))


def check(by: str, sources: Sources, exceptions: Exceptions, top: Path) -> tuple[list[Finding], str]:
    """What is not as it has to be, and a summary."""
    files = files_of(by, sources, exceptions)
    findings: list[Finding] = []
    for file in files:
        missing = uncovered(file, sources, (top / file).read_text(encoding="utf-8"))
        findings += _line_findings(file, missing, exceptions) + _branch_findings(file, sources, exceptions)
    of = total(line for file in files for line in sources[file].values())
    counts: dict[str, int] = defaultdict(int)
    for file, *_ in exceptions.lines:
        counts[file] += file in files
    summary = (
        f"{len(files)} files that parse input: {of.executed} of {of.lines} lines, {of.ways_percent:.1f} % of branches; "
        f"{sum(counts.values())} lines listed"
    )
    return findings, summary
