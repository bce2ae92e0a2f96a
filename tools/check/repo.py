# SPDX-License-Identifier: Apache-2.0
"""Common parts of all checks: the list of files, the format of a finding, the exit status."""

import argparse
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

DEFAULT_ROOT = Path(__file__).resolve().parents[2]

_USES = re.compile(r"^USES_(\w+) := (.*)$", re.MULTILINE)


@dataclass(frozen=True, order=True)
class Finding:
    """One violation: place, description, remedy. Line 0 means the whole file."""

    path: str
    line: int
    what: str
    fix: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.what}; {self.fix}"


class CheckError(Exception):
    """The check itself could not run (a tool is missing, the folder is not a repository)."""


def run(command: list[str], cwd: Path) -> subprocess.CompletedProcess[str]:
    """Runs a tool and returns its output and status; raises CheckError for a missing tool."""
    try:
        return subprocess.run(command, cwd=cwd, text=True, capture_output=True, check=False)
    except FileNotFoundError as error:
        raise CheckError(f"{command[0]} is not installed; `make setup` installs it") from error


def tracked(root: Path) -> list[str]:
    """Returns the files that git tracks or would track (not ignored), relative to root, sorted."""
    listing = run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], root)
    if listing.returncode != 0:
        raise CheckError(f"{root} is not a git repository: {listing.stderr.strip()}")
    names = {name for name in listing.stdout.split("\0") if name}
    return sorted(name for name in names if (root / name).is_file())


def components(root: Path) -> tuple[str, ...]:
    """Returns the components' folders: those at the top that have a component.c, but core, those in services/ and
    devices/, and the examples."""
    top = {file.parent for file in root.glob("*/component.c")} - {root / "core"}
    below = [folder for parts in ("services/*", "devices/*", "docs/examples/*") for folder in root.glob(parts)]
    return tuple(sorted(str(folder.relative_to(root)) for folder in (*top, *below) if folder.is_dir()))


def uses(root: Path) -> dict[str, set[str]]:
    """Returns the components that each component uses, by name: USES_<name> of its component.mk."""
    files = [root / folder / "component.mk" for folder in components(root)]
    texts = [file.read_text(encoding="utf-8") for file in files if file.is_file()]
    return {name: set(used.split()) for text in texts for name, used in _USES.findall(text)}


def with_suffix(files: Iterable[str], *suffixes: str) -> list[str]:
    """Returns the files whose names end in one of the suffixes."""
    return [name for name in files if name.endswith(suffixes)]


def main(name: str, check: Callable[[Path], tuple[list[Finding], str]]) -> None:
    """Runs `check` on --root. Prints one line without findings, else each finding, and exits with 1
    (2: cannot run)."""
    parser = argparse.ArgumentParser(prog=f"check.{name}", description=check.__doc__)
    parser.add_argument("--root", type=Path, default=DEFAULT_ROOT, help="top of the source tree (default: this one)")
    root = parser.parse_args().root.resolve()
    try:
        findings, summary = check(root)
    except CheckError as error:
        print(f"check-{name}: {error}", file=sys.stderr)
        sys.exit(2)
    for finding in sorted(findings):
        print(finding, file=sys.stderr)
    if findings:
        print(f"check-{name}: {len(findings)} finding(s)", file=sys.stderr)
        sys.exit(1)
    print(f"check-{name}: ok, {summary}")
