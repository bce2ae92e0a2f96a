# SPDX-License-Identifier: Apache-2.0
"""
Documents: paths in their text name existing files, and every figure matches its source. Sphinx reads links only, and
does not draw our figures.
"""

import re
from pathlib import Path

import drawings
from check import repo
from check.repo import Finding

_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_PATH = re.compile(r"`([a-z][\w.-]*/[\w./-]*\w)`")

# Files that the reader of a tutorial writes, and folders that make fills.
TO_BE_WRITTEN = ("mine.dts", "mykernel.bin")
MADE = ("build", "cache")


def _blank(match: re.Match[str]) -> str:
    """The same number of lines, without text."""
    return "\n" * match[0].count("\n")


def _places(files: list[str]) -> set[str]:
    """Every tracked file (also without its suffix) and folder, by its path from each folder above it."""
    places: set[str] = set()
    for name in [*files, *(str(Path(name).with_suffix("")) for name in files)]:
        parts = name.split("/")
        for start in range(len(parts)):
            places.update("/".join(parts[start:end]) for end in range(start + 1, len(parts) + 1))
    return places


def _path_findings(root: Path, name: str, places: set[str]) -> list[Finding]:
    """Paths in backticks, from the top of the tree or from a folder in it."""
    text = _FENCE.sub(_blank, (root / name).read_text(encoding="utf-8"))
    found = []
    for match in _PATH.finditer(text):
        path = match[1]
        known = path in places or path.split("/")[0] in MADE or path.split("/")[-1] in TO_BE_WRITTEN
        if not known:
            found.append(Finding(name, text.count("\n", 0, match.start()) + 1, f"names {path}", "no such file"))
    return found


def _figure_findings(root: Path, name: str) -> list[Finding]:
    source = Path(name)
    image = drawings.image_of(source)
    try:
        drawn = drawings.render(source, (root / source).read_text(encoding="utf-8"))
    except drawings.FigureError as error:
        return [Finding(name, 0, str(error), "correct the figure's source")]
    if (root / image).is_file() and (root / image).read_text(encoding="utf-8") == drawn:
        return []
    return [Finding(name, 0, f"{image} is not drawn from it", "run `make figures`")]


def check(root: Path) -> tuple[list[Finding], str]:
    """Paths in documents name existing files, and figures match their sources."""
    files = repo.tracked(root)
    documents = repo.with_suffix(files, ".md")
    figures = repo.with_suffix(files, ".fig")
    places = _places(files)
    findings = [finding for name in documents for finding in _path_findings(root, name, places)]
    findings += [finding for name in figures for finding in _figure_findings(root, name)]
    return findings, f"{len(documents)} documents and {len(figures)} figures"


if __name__ == "__main__":
    repo.main("docs", check)
