# SPDX-License-Identifier: Apache-2.0
"""
The code that must be covered, and the exceptions in tests/coverage-exceptions.toml: every line that
is not covered must be listed there with a reason, and no listed line may be covered.
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

LEAST_BRANCHES = 90.0  # percent, of a file that parses input of a guest or a user


@dataclass(frozen=True)
class Exceptions:
    """The file's content: the files to cover and by which tests, the uncovered lines, the files
    with fewer branches."""

    files: dict[str, tuple[str, ...]]
    lines: dict[tuple[str, str, str], str]  # file, function, text of the line: reason
    branches: dict[str, tuple[float, str]]  # file: least percent, reason


def _reason(entry: dict[str, Any]) -> str:
    reason = str(entry.get("reason", "")).strip()
    if not reason:
        raise CoverError(f"coverage exceptions: {entry.get('file')}: an entry without a reason")
    return reason


def load(path: Path) -> Exceptions:
    """Reads the exceptions; raises CoverError if the file has an error."""
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
    """Returns the function of a line; the lines of its declaration, before the brace, belong to
    it."""
    return next((function.name for function in functions if number <= function.last), "")


def uncovered(file: str, sources: Sources, text: str) -> dict[tuple[str, str, str], int]:
    """
    Returns the lines of a file that were not executed, by function and text, with the number of the
    first such line. A line with only a brace is ignored: the compiler attributes code to it that
    belongs to no other line.
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
        Finding(file, 0, f"{key[1]}: listed, but executed or not there: {key[2]}", "remove it from the list")
        for key in exceptions.lines
        if key[0] == file and key not in missing
    ]
    return new + old


def _branch_findings(file: str, sources: Sources, exceptions: Exceptions) -> list[Finding]:
    have = total(sources[file].values()).directions_percent
    least, _ = exceptions.branches.get(file, (LEAST_BRANCHES, ""))
    if have < least:
        what = f"{have:.1f} % of the branches' directions taken, {least:g} % required"
        return [Finding(file, 0, what, "write a test")]
    if file in exceptions.branches and have >= LEAST_BRANCHES:
        what = f"listed, but has {have:.1f} % of its branches' directions"
        return [Finding(file, 0, what, "remove it from the list")]
    return []


def files_of(by: str, sources: Sources, exceptions: Exceptions) -> list[str]:
    """Returns the files that `by` must cover: "host" or an architecture's folder. Raises CoverError
    for a missing file."""
    found = []
    for pattern in exceptions.files.get(by, ()):
        matching = [file for file in sources if fnmatch(file, pattern)]
        if not matching:
            raise CoverError(f"coverage exceptions: {by}: no file '{pattern}' has been compiled")
        found += matching
    return sorted(set(found))


def check(by: str, sources: Sources, exceptions: Exceptions, top: Path) -> tuple[list[Finding], str]:
    """Returns the findings, and a summary."""
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
        f"{len(files)} files that parse input: {of.executed} of {of.lines} lines, "
        f"{of.directions_percent:.1f} % of branches; {sum(counts.values())} lines listed"
    )
    return findings, summary
