# SPDX-License-Identifier: Apache-2.0
"""Every relative link of a document leads to a file of the repository, and its fragment to a heading there."""

import re
from pathlib import Path, PurePosixPath

from check import repo
from check.repo import Finding

_FENCE = re.compile(r"^ {0,3}(```|~~~)")
_CODE = re.compile(r"`[^`\n]*`")
_LINK = re.compile(r"\[[^\]]*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
_HEADING = re.compile(r"^ {0,3}#{1,6}\s+(.*?)\s*#*$")
_MARKUP = re.compile(r"[*`]|\[([^\]]*)\]\([^)]*\)")
_ABSOLUTE = re.compile(r"^[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_FIX = "correct the link"


def _prose(text: str) -> list[str]:
    """The lines, those of code blocks empty."""
    lines, fence = [], None
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if mark and fence in (None, mark[1]):
            fence = None if fence else mark[1]
            lines.append("")
        else:
            lines.append("" if fence else line)
    return lines


def _anchors(text: str) -> set[str]:
    """The fragments of a document's headings, as GitHub makes them."""
    seen: dict[str, int] = {}
    found = set()
    for line in _prose(text):
        heading = _HEADING.match(line)
        if not heading:
            continue
        plain = _MARKUP.sub(lambda match: match[1] or "", heading[1]).lower()
        slug = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        count = seen.get(slug, 0)
        seen[slug] = count + 1
        found.add(f"{slug}-{count}" if count else slug)
    return found


def _target(name: str, path: str) -> str | None:
    """The file of the repository that a link in the document `name` names; None if it leaves the repository."""
    parts: list[str] = []
    for part in (PurePosixPath(name).parent / path).parts:
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def _wrong(root: Path, name: str, link: str, there: set[str]) -> str | None:
    """What is wrong with a relative link, or None."""
    path, _, fragment = link.partition("#")
    target = _target(name, path) if path else name
    if target is None or target not in there:
        return f"link to {link}: no such file"
    if not fragment or not target.endswith(".md"):
        return None
    there_are = _anchors((root / target).read_text(encoding="utf-8"))
    return None if fragment in there_are else f"link to {link}: no such heading in {target}"


def check(root: Path) -> tuple[list[Finding], str]:
    """Relative links of documents lead somewhere."""
    files = repo.tracked(root)
    there = set(files) | {str(parent) for file in files for parent in PurePosixPath(file).parents}
    findings, count = [], 0
    documents = repo.with_suffix(files, ".md")
    for name in documents:
        for number, line in enumerate(_prose((root / name).read_text(encoding="utf-8")), 1):
            for match in _LINK.finditer(_CODE.sub("", line)):
                if _ABSOLUTE.match(match[1]):
                    continue
                count += 1
                wrong = _wrong(root, name, match[1].rstrip("/"), there)
                if wrong:
                    findings.append(Finding(name, number, wrong, _FIX))
    return findings, f"{count} links in {len(documents)} documents"


if __name__ == "__main__":
    repo.main("links", check)
