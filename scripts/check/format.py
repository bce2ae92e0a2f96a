# SPDX-License-Identifier: Apache-2.0
"""Formatting of C and C++ (clang-format) and Python (ruff format); --fix is what `make format` runs."""

import re
import sys
from pathlib import Path

from check import repo
from check.repo import Finding

_FIX = "run `make format`"
_CLANG_LINE = re.compile(r"^(?P<path>[^:\n]+):(?P<line>\d+):\d+: (?:error|warning): (?P<what>.*)$", re.MULTILINE)
_RUFF_LINE = re.compile(r"^(?P<path>[^:\n]+):(?P<line>\d+):\d+: unformatted", re.MULTILINE)


def _chunks(files: list[str]) -> list[list[str]]:
    return [files[start : start + 200] for start in range(0, len(files), 200)]


def _c_findings(root: Path, files: list[str]) -> list[Finding]:
    findings: dict[str, Finding] = {}
    for chunk in _chunks(files):
        done = repo.run([repo.python_tool("clang-format"), "--dry-run", "-Werror", "--style=file", *chunk], root)
        before = len(findings)
        for match in _CLANG_LINE.finditer(done.stderr):
            first = Finding(match["path"], int(match["line"]), "not formatted as .clang-format says", _FIX)
            findings.setdefault(match["path"], first)
        if done.returncode != 0 and len(findings) == before:
            raise repo.CheckError(f"clang-format failed: {done.stderr.strip()}")
    return list(findings.values())


def _python_findings(root: Path, files: list[str]) -> list[Finding]:
    if not files:
        return []
    done = repo.run([repo.python_tool("ruff"), "format", "--check", "--output-format=concise", *files], root)
    found = [
        Finding(match["path"], int(match["line"]), "not formatted as ruff does", _FIX)
        for match in _RUFF_LINE.finditer(done.stdout)
    ]
    if done.returncode != 0 and not found:
        raise repo.CheckError(f"ruff format failed: {(done.stdout + done.stderr).strip()}")
    return found


def check(root: Path) -> tuple[list[Finding], str]:
    """C and C++ files formatted as .clang-format says, Python files as ruff does."""
    files = repo.tracked(root)
    c_files = repo.with_suffix(files, *repo.C_SUFFIXES, *repo.CXX_SUFFIXES)
    python_files = repo.with_suffix(files, ".py")
    findings = _c_findings(root, c_files) + _python_findings(root, python_files)
    return findings, f"{len(c_files)} C and C++ and {len(python_files)} Python files formatted"


def fix(root: Path) -> None:
    """Formats every file in place."""
    files = repo.tracked(root)
    for chunk in _chunks(repo.with_suffix(files, *repo.C_SUFFIXES, *repo.CXX_SUFFIXES)):
        repo.run([repo.python_tool("clang-format"), "-i", "--style=file", *chunk], root)
    python_files = repo.with_suffix(files, ".py")
    if python_files:
        repo.run([repo.python_tool("ruff"), "check", "--quiet", "--fix", "--select", "I", *python_files], root)
        repo.run([repo.python_tool("ruff"), "format", "--quiet", *python_files], root)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--fix"]:
        fix(repo.DEFAULT_ROOT)
    else:
        repo.main("format", check)
