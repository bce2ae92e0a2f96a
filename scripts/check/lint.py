# SPDX-License-Identifier: Apache-2.0
"""External linters: ruff and mypy for Python, shellcheck for shell."""

import re
from pathlib import Path

from check import repo
from check.repo import Finding

_RUFF = re.compile(r"^(?P<path>[^:\n]+):(?P<line>\d+):\d+: (?P<what>.*)$", re.MULTILINE)
_MYPY = re.compile(r"^(?P<path>[^:\n]+):(?P<line>\d+): error: (?P<what>.*)$", re.MULTILINE)
_SHELLCHECK = re.compile(r"^(?P<path>[^:\n]+):(?P<line>\d+):\d+: (?P<what>.*)$", re.MULTILINE)
_SHEBANG = re.compile(rb"^#!.*\b(?:ba|da)?sh\b")


def _findings(pattern: re.Pattern[str], output: str, fix: str) -> list[Finding]:
    return [Finding(match["path"], int(match["line"]), match["what"], fix) for match in pattern.finditer(output)]


def _run(command: list[str], root: Path, pattern: re.Pattern[str], fix: str) -> list[Finding]:
    done = repo.run(command, root)
    found = _findings(pattern, done.stdout, fix)
    if done.returncode != 0 and not found:
        raise repo.CheckError(f"{Path(command[0]).name} failed: {(done.stdout + done.stderr).strip()}")
    return found


def is_shell(path: Path) -> bool:
    """Returns whether a file is a shell script, by its name or its first line (as .ci/run)."""
    if path.suffix == ".sh":
        return True
    with path.open("rb") as file:
        return bool(_SHEBANG.match(file.readline(80)))


def check(root: Path) -> tuple[list[Finding], str]:
    """Findings of ruff and mypy in Python, and of shellcheck in shell scripts."""
    files = repo.tracked(root)
    python_files = repo.with_suffix(files, ".py")
    shell_files = [name for name in files if is_shell(root / name)]
    findings: list[Finding] = []
    if python_files:
        ruff = [repo.python_tool("ruff"), "check", "--no-cache", "--quiet", "--output-format=concise", *python_files]
        findings += _run(ruff, root, _RUFF, "`ruff rule <code>` explains it")
    typed = [name for name in python_files if name.startswith("scripts/")]
    if typed:
        findings += _run([repo.python_tool("mypy"), "--no-error-summary", *typed], root, _MYPY, "correct the types")
    if shell_files:
        findings += _run(["shellcheck", "-x", "-f", "gcc", *shell_files], root, _SHELLCHECK, "quote or restructure")
    return findings, f"{len(python_files)} Python and {len(shell_files)} shell files"


if __name__ == "__main__":
    repo.main("lint", check)
