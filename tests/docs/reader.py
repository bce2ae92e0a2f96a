# SPDX-License-Identifier: Apache-2.0
"""A reader of a tutorial: types its commands in a copy of the repository, and compares the output with the
document's."""

import re
import subprocess
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from e2e.helpers import clean_environment
from terminal import Terminal, at_terminal

from check.tutorials import Block

COLUMNS, LINES = 200, 300
BOOT_S = 180
ESCAPE = "\x14"
LINUX_PROMPT = "linux:~#"


def environment() -> dict[str, str]:
    """Two jobs, and no colours or line editing by GDB."""
    return {**clean_environment(), "MAKEFLAGS": "-j2", "TERM": "dumb", "PYTHONDONTWRITEBYTECODE": "1"}


def commands(block: Block) -> list[str]:
    """The commands of a block, without comments."""
    lines = [re.sub(r"\s+#.*$", "", line).removeprefix("$ ") for line in block.text.splitlines()]
    return [line for line in lines if line]


def command(block: Block) -> str:
    """The only command of a block."""
    (only,) = commands(block)
    return only


def _pattern(line: str, varies: list[str]) -> re.Pattern[str]:
    """Matches the line, with any spacing; what matches a regular expression of `varies` may be another match of
    it."""
    words = " ".join(line.split())
    if not varies:
        return re.compile(re.escape(words))
    varying = "|".join(f"(?:{expression})" for expression in varies)
    fixed = re.split(varying, words)
    return re.compile(f"(?:{varying})".join(map(re.escape, fixed)))


def missing(expected: str, varies: list[str], output: str) -> str | None:
    """The first line of the expected output that the output does not have, in this order; None if it has all.
    A line `...` stands for any lines."""
    rest = iter([" ".join(line.split()) for line in output.splitlines()])
    for line in expected.splitlines():
        pattern = _pattern(line, varies)
        if line.strip() not in ("", "...") and not any(pattern.fullmatch(said) for said in rest):
            return line
    return None


def assert_shows(block: Block, output: str) -> None:
    line = missing(block.text, block.varies, output)
    assert line is None, f"{block.document}:{block.line}: the output has no line\n{line}\nbut\n{output}"


def until_shown(terminal: Terminal, block: Block, seconds: float = BOOT_S) -> None:
    """Waits until the terminal shows the block."""
    what = f"{block.document}:{block.line}: {block.text}"
    terminal.wait(lambda: missing(block.text, block.varies, terminal.text) is None, seconds, what)


def _rows(terminal: Terminal, vm: str) -> list[str]:
    return [row.partition("| ")[2] for row in terminal.text.split("\n") if row.startswith(f"{vm} ")]


def type_turns(terminal: Terminal, vm: str, transcript: str) -> Iterator[tuple[str, list[str]]]:
    """Types what follows each prompt of the transcript to Linux in the VM, which shows its prompt, and waits for the
    next one. Yields the transcript's answer, and the rows of the VM from the one with the typed line on."""
    _, *turns = re.split(rf"^{LINUX_PROMPT} ", transcript, flags=re.MULTILINE)
    for turn in turns:
        line, _, answer = turn.partition("\n")
        rows, prompts = len(_rows(terminal, vm)), terminal.text.count(LINUX_PROMPT)
        terminal.write(f"{line}\r".encode())
        terminal.wait(lambda before=prompts: terminal.text.count(LINUX_PROMPT) > before, BOOT_S, turn)
        yield answer, _rows(terminal, vm)[rows - 1 :]


def leave(terminal: Terminal) -> None:
    """Ends `make run`."""
    terminal.write(f"{ESCAPE}q".encode())
    terminal.until(r"^tessera *\| bye$")


@dataclass(frozen=True)
class Reader:
    """Types commands in a copy of the repository."""

    tree: Path

    def run(self, line: str, status: int = 0, timeout: float = 600) -> str:
        """Runs a shell command to its end; returns its output."""
        done = subprocess.run(
            ["bash", "-c", line], cwd=self.tree, env=environment(), stdin=subprocess.DEVNULL, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=timeout,
        )  # fmt: skip
        assert (done.returncode == 0) == (status == 0), f"{line}: status {done.returncode}\n{done.stdout}"
        return done.stdout

    def terminal(self, line: str) -> AbstractContextManager[Terminal]:
        """Runs a shell command at a terminal."""
        return at_terminal(["bash", "-c", f"exec {line}"], environment(), self.tree, COLUMNS, LINES)

    def replace(self, name: str, old: str, new: str) -> str:
        """Changes one place of a file; returns its earlier text."""
        path = self.tree / name
        text = path.read_text()
        assert text.count(old) == 1, f"{name} has {text.count(old)} times {old}"
        path.write_text(text.replace(old, new))
        return text

    def links(self, folder: str) -> bool:
        """Whether the hypervisor that was built last has code of a folder."""
        linked = (self.tree / "build" / "hyp" / "qemu-virt" / "tessera.map").read_text()
        return f"obj/{folder}/" in linked
