# SPDX-License-Identifier: Apache-2.0
"""
Tutorials: a test of tests/docs executes every fenced block, every listing is equal to the file that it
shows, and every `make` command of a document has targets, variables and systems that exist. A check of our own: no tool
knows which test executes a block.

The comment before a block, which a rendered page does not show, binds it:

    <!-- tested by: test_name; listing: path#region; varies: regex regex -->

`listing` (optional) is the file, or the region of it between the comments `listing: region` and `listing end`,
that the block shows; --fix copies it. `varies` (optional): parts of an expected output that differ between
runs (tests/docs/reader.py).
"""

import re
import shlex
import sys
import textwrap
from collections.abc import Collection
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from check import repo
from check.repo import CheckError, Finding
from tessera.image import variants

# Documents that lead a reader through commands and code: each of their blocks must be bound.
TUTORIALS = (
    "README.md",
    "guests/sdk/README.md",
    *(
        f"docs/{name}.md"
        for name in (
            *(
                "first-guest",
                "first-accelerator",
                "control-loop",
                "messages",
                "hwtasks",
                "porting",
                "console",
                "debugging",
                "trace",
                "networking",
                "accelerators",
            ),
            "virtual-platform",
        )
    ),
)
TESTS = "tests/docs"

_BLOCK = re.compile(
    r"^(?:<!-- (?P<binding>[^\n]*) -->\n)?```(?P<language>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
_FIELDS = ("tested by", "listing", "varies")
_TEST = re.compile(r"^def (test_\w+)\(([^)]*)\)", re.MULTILINE)
_SPAN = re.compile(r"`([^`\n]+)`")
_TARGETS = re.compile(r"^([a-z][\w -]*?)\s*:(?!=)", re.MULTILINE)
_WORD = re.compile(r"\b[A-Z][A-Z0-9_]+\b")
_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block of a document, with the fields of its binding."""

    document: str
    line: int  # of the opening fence
    language: str
    text: str
    start: int  # the text's place in the document
    binding: dict[str, str]

    @property
    def test(self) -> str:
        return self.binding.get("tested by", "")

    @property
    def listing(self) -> str:
        return self.binding.get("listing", "")

    @property
    def varies(self) -> list[str]:
        return self.binding.get("varies", "").split()


def _fields(binding: str) -> dict[str, str]:
    pairs = [field.partition(": ") for field in binding.split("; ") if field]
    return {name: value.strip() for name, _, value in pairs}


def blocks_of(root: Path, document: str) -> list[Block]:
    """The fenced blocks of a document, in their order."""
    text = (root / document).read_text(encoding="utf-8")
    return [
        Block(
            document,
            text.count("\n", 0, match.start("language")) + 1,
            match["language"].strip(),
            match["text"],
            match.start("text"),
            _fields(match["binding"] or ""),
        )
        for match in _BLOCK.finditer(text)
    ]


def all_blocks(root: Path) -> list[Block]:
    """The blocks of all tutorials."""
    return [block for name in TUTORIALS if (root / name).is_file() for block in blocks_of(root, name)]


def shown(root: Path, listing: str) -> str:
    """The text of `path` or `path#region`. Raises CheckError if there is no such file or region."""
    path, _, region = listing.partition("#")
    if not (root / path).is_file():
        raise CheckError(f"shows {path}, which does not exist")
    text = (root / path).read_text(encoding="utf-8")
    if not region:
        return text
    found = re.search(rf"^[^\n]*\blisting: {re.escape(region)}\b[^\n]*\n(.*?)^[^\n]*\blisting end\b", text, re.M | re.S)
    if not found:
        raise CheckError(f"shows the region {region} of {path}, which has no such region")
    return textwrap.dedent(found[1])


def _tests(root: Path) -> dict[str, str]:
    """The tests that take the blocks bound to them, with their files."""
    found = {}
    for path in sorted((root / TESTS).glob("test_*.py")):
        for name, parameters in _TEST.findall(path.read_text(encoding="utf-8")):
            if "blocks" in re.split(r"[\s,]+", parameters):
                found[name] = str(path.relative_to(root))
    return found


def _binding_problem(block: Block, tests: Collection[str]) -> str | None:
    unknown = sorted(set(block.binding) - set(_FIELDS))
    if unknown:
        return f"the comment before a block has a field '{unknown[0]}'"
    if not block.test:
        return "a block that no test executes"
    if block.test not in tests:
        return f"a block bound to {block.test}, and no test of that name in {TESTS} takes `blocks`"
    return None


def _block_findings(root: Path, block: Block, tests: Collection[str]) -> list[Finding]:
    problem = _binding_problem(block, tests)
    found = [Finding(block.document, block.line, problem, "bind it as docs/style.md says")] if problem else []
    if block.listing:
        try:
            if shown(root, block.listing) != block.text:
                what = f"a listing that differs from {block.listing}"
                found.append(Finding(block.document, block.line, what, "run `make listings`"))
        except CheckError as error:
            found.append(Finding(block.document, block.line, str(error), "correct its `listing:`"))
    return found


@dataclass(frozen=True)
class Makefiles:
    """What the makefiles and scripts know."""

    targets: set[str]
    variables: set[str]


def makefiles(root: Path) -> Makefiles:
    """Reads the makefiles, and the names of variables in scripts, which read some from the environment."""
    texts = [path.read_text(encoding="utf-8") for path in [root / "Makefile", *root.glob("tools/mk/**/*.mk")]]
    scripts = [path.read_text(encoding="utf-8") for path in root.glob("tools/**/*.[ps][yh]")]
    targets = {word for text in texts for match in _TARGETS.findall(text) for word in match.split()}
    return Makefiles(targets, {word for text in (*texts, *scripts) for word in _WORD.findall(text)})


def _is_system(root: Path, name: str) -> bool:
    folders = [root / "systems", root / "systems" / "bench"]
    return any((folder / f"{name}.dts").is_file() or name in variants.names(folder) for folder in folders)


def _word_problem(root: Path, known: Makefiles, word: str) -> str | None:
    variable, is_assignment, value = word.partition("=")
    if "<" in word or word.startswith(("-", "$")) or "/" in variable:
        return None
    if not is_assignment:
        return None if word in known.targets else f"`make {word}`: no such target"
    if variable not in known.variables:
        return f"`make {variable}=`: no such variable"
    if variable == "SYSTEM" and not _is_system(root, value):
        return f"SYSTEM={value}: no such system"
    return None


def _spans(text: str) -> list[tuple[int, str]]:
    """The place and the text of what stands in backticks, outside of blocks."""
    prose = _FENCE.sub(lambda match: " " * len(match[0]), text)
    return [(match.start(), match[1]) for match in _SPAN.finditer(prose)]


def inline_commands(root: Path) -> list[str]:
    """The `make` commands in the text of the tutorials, without those that have a placeholder."""
    texts = [(root / name).read_text(encoding="utf-8") for name in TUTORIALS]
    spans = {span for text in texts for _, span in _spans(text)}
    return sorted(span for span in spans if span.startswith("make ") and "<" not in span)


def _commands(text: str) -> list[tuple[int, list[str]]]:
    """The place and the words of each `make` command: in backticks, or on a line of a block."""
    pieces = _spans(text)
    for block in _FENCE.finditer(text):
        at = block.start()
        for line in block[0].splitlines(keepends=True):
            pieces.append((at, line.removeprefix("$ ")))
            at += len(line)
    return [(at, _words(piece)) for at, piece in pieces if piece.startswith("make ")]


def _words(command: str) -> list[str]:
    """The words after `make`, up to a redirection; none if make reads the makefile of another folder (-C)."""
    try:
        words = shlex.split(command, comments=True)[1:]
    except ValueError:
        words = command.split()[1:]
    return [] if "-C" in words else list(takewhile(lambda word: not word.startswith(">"), words))


def _command_findings(root: Path, document: str, known: Makefiles) -> list[Finding]:
    text = (root / document).read_text(encoding="utf-8")
    found = []
    for at, words in _commands(text):
        for word in words:
            problem = _word_problem(root, known, word)
            if problem:
                found.append(Finding(document, text.count("\n", 0, at) + 1, problem, "correct the command"))
    return found


def _unbound_tests(blocks: list[Block], tests: dict[str, str]) -> list[Finding]:
    bound = {block.test for block in blocks}
    left = sorted(set(tests) - bound)
    return [Finding(tests[name], 0, f"{name} takes blocks, and no block names it", "bind one to it") for name in left]


def check(root: Path) -> tuple[list[Finding], str]:
    """Every block of a tutorial is bound to a test, every listing equal to its file, every `make` command known."""
    blocks, tests = all_blocks(root), _tests(root)
    findings = [finding for block in blocks for finding in _block_findings(root, block, tests)]
    findings += _unbound_tests(blocks, tests)
    if (root / "Makefile").is_file():
        known = makefiles(root)
        for document in repo.with_suffix(repo.tracked(root), ".md"):
            findings += _command_findings(root, document, known)
    return findings, f"{len(blocks)} blocks, {sum(bool(block.listing) for block in blocks)} of them listings"


def fix(root: Path) -> None:
    """Copies the shown files into the documents."""
    for block in reversed(all_blocks(root)):  # a replacement moves what follows it
        if block.listing:
            path = root / block.document
            text = path.read_text(encoding="utf-8")
            end = block.start + len(block.text)
            path.write_text(text[: block.start] + shown(root, block.listing) + text[end:], encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--fix"]:
        try:
            fix(repo.DEFAULT_ROOT)
        except CheckError as error:
            sys.exit(f"listings: a block {error}")
    else:
        repo.main("tutorials", check)
