# SPDX-License-Identifier: Apache-2.0
"""Rules for every file: licence line, name, white space, and no reference to a place outside the
repository."""

import re
from pathlib import Path

from check import repo
from check.repo import Finding

LICENCE = "SPDX-License-Identifier: Apache-2.0"
# Files under another licence, whose text is in LICENSES/: they use functions of GPL programs.
OTHER_LICENCES = {"fpga/target/cosim/qemu_device.cc": "SPDX-License-Identifier: GPL-2.0-or-later"}
# Alone in its comment, or a member of a JSON object. A reflow may join it with the comment that follows.
_LICENCE_LINE = re.compile(r'SPDX-License-Identifier"?: "?Apache-2\.0(?:",?| ?\*/| ?-->)?$')

# The text of the licence must not be changed.
NO_LICENCE_LINE = ("LICENSE", "LICENSES/GPL-2.0-or-later.txt")
NO_COMMENT_SUFFIXES = (".json", ".jsonl", ".png", ".svg")
BINARY_SUFFIXES = (".png",)
# Names that tools require: make, git, cargo, clang-format, FreeRTOS, and the convention for licences (REUSE).
FIXED_NAMES = {
    "CAVEATS.md", "CHANGELOG.md", "CONTRIBUTING.md", "Cargo.lock", "Cargo.toml", "FreeRTOSConfig.h",
    "GPL-2.0-or-later.txt", "LICENSE", "LICENSES", "Makefile", "README.md",
}  # fmt: skip
# The longest line by suffix. ruff checks Python's; tables, hashes and help texts of make may be long.
COLUMNS = {".c": 100, ".h": 100, ".cc": 100, ".sv": 100, ".S": 120, ".sh": 120, ".dts": 120, ".dtsi": 120, ".lds": 120}
GENERATED = ("fpga/hw/rtl/regs/", "fpga/hw/include/")  # by PeakRDL, whose lines are as long as names make them

_NAME = re.compile(r"^(?:__)?\.?[a-z0-9][a-z0-9_.+-]*$")
# The expression does not contain the names of hosts themselves, so that this file passes its own
# check.
_REGISTRY = re.compile(
    r"\b(?:(?:files\.)?pythonhosted|pypi(?:\.python)?|(?:(?:static|index)\.)?crates|registry\.npmjs"
    r"|(?:[a-z0-9-]+\.)*debian|(?:[a-z0-9-]+\.)*ubuntu)\.(?:org|io|com|net)\b",
    re.IGNORECASE,
)
_OUTSIDE = re.compile(r"(?:\.\.|/work)/(?:shared|main)\b")


def _name_findings(name: str) -> list[Finding]:
    *folders, last = name.split("/")
    bad = [part for part in folders if part not in FIXED_NAMES and not _NAME.match(part)]
    if last not in FIXED_NAMES and not _NAME.match(last.removesuffix(".S")):
        bad.append(last)
    return [Finding(name, 0, f"name {part!r} is not lower case", "use a-z, 0-9, _ and -") for part in bad]


def _licence_findings(name: str, lines: list[str]) -> list[Finding]:
    if name in NO_LICENCE_LINE or name.endswith(NO_COMMENT_SUFFIXES):
        return []
    other = OTHER_LICENCES.get(name)
    found = other in lines[0] if other else any(_LICENCE_LINE.search(line) for line in lines[:3])
    if found:
        return []
    return [Finding(name, 1, "no licence line", f"put `{other or LICENCE}` into a comment at the top")]


def _line_findings(name: str, number: int, line: str) -> list[Finding]:
    found = []
    registry = _REGISTRY.search(line)
    if registry:
        fix = "let the package manager's own configuration say where"
        found.append(Finding(name, number, f"names a package registry ({registry[0]})", fix))
    if _OUTSIDE.search(line):
        found.append(
            Finding(name, number, "names a place outside the repository", "keep the repository self-contained")
        )
    if line.endswith((" ", "\t", "\r")):
        found.append(Finding(name, number, "white space at the end of the line", "remove it"))
    most = COLUMNS.get(Path(name).suffix, len(line))
    if len(line) > most and not name.startswith(GENERATED):
        found.append(Finding(name, number, f"{len(line)} columns > {most}", "break the line"))
    return found


def check_file(root: Path, name: str) -> list[Finding]:
    """Returns the findings of one file, `name` relative to root."""
    findings = _name_findings(name)
    if name.endswith(BINARY_SUFFIXES):
        return findings
    try:
        text = (root / name).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return [*findings, Finding(name, 0, "not UTF-8 text", "generate binary files instead of tracking them")]
    lines = text.split("\n")
    findings += _licence_findings(name, lines)
    if name in NO_LICENCE_LINE:
        return findings
    for number, line in enumerate(lines, 1):
        findings += _line_findings(name, number, line)
    if text and not text.endswith("\n"):
        findings.append(Finding(name, len(lines), "no newline at the end of the file", "add it"))
    return findings


def check(root: Path) -> tuple[list[Finding], str]:
    """Every file has its licence line, a plain name and clean lines, and names nothing outside the
    repository."""
    files = repo.tracked(root)
    findings = [finding for name in files for finding in check_file(root, name)]
    return findings, f"{len(files)} files"


if __name__ == "__main__":
    repo.main("files", check)
