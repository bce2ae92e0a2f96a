# SPDX-License-Identifier: Apache-2.0
"""A program at an emulated terminal: what its screen shows, and keys typed to it."""

import os
import select
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pexpect
import pyte

from tessera.run.hosttime import Limit
from tessera.run.machine import line_pattern
from tessera.run.runner import ROOT

COLUMNS, LINES = 100, 30
SOON_S = 60


class Terminal:
    """An emulated terminal: its screen, and keys typed to it."""

    def __init__(
        self,
        read: Callable[[float], bytes],
        write: Callable[[bytes], object],
        columns: int = COLUMNS,
        lines: int = LINES,
    ) -> None:
        self.read, self.write = read, write
        self.screen = pyte.Screen(columns, lines)
        self.stream = pyte.ByteStream(self.screen)
        self.sent = b""

    @property
    def text(self) -> str:
        return "\n".join(row.rstrip() for row in self.screen.display)

    def update(self, seconds: float) -> None:
        data = self.read(seconds)
        self.sent += data
        self.stream.feed(data)

    def until(self, pattern: str, seconds: float = SOON_S) -> None:
        """Waits until the screen shows the pattern."""
        self.wait(lambda: line_pattern(pattern).search(self.text), seconds, pattern)

    def wait(self, done: Callable[[], object], seconds: float, what: str) -> None:
        limit = Limit(os.getpid(), seconds)
        while not done() and limit.left() > 0:
            self.update(0.2)
        limit.raise_if_too_slow("the test")
        assert done(), f"{what}: {limit.words('the test')}\n{self.text}"

    def until_sent(self, data: bytes, seconds: float = SOON_S) -> None:
        """Waits until the terminal has received the bytes."""
        self.wait(lambda: data in self.sent, seconds, repr(data))


def read_file(file: int, seconds: float) -> bytes:
    return os.read(file, 65536) if select.select([file], [], [], seconds)[0] else b""


def _read_program(file: int, seconds: float) -> bytes:
    """As read_file(); nothing once the program has ended and closed its terminal."""
    try:
        return read_file(file, seconds)
    except OSError:
        time.sleep(seconds)
        return b""


@contextmanager
def at_terminal(
    command: list[str],
    environment: dict[str, str],
    cwd: Path = ROOT,
    columns: int = COLUMNS,
    lines: int = LINES,
) -> Iterator[Terminal]:
    child = pexpect.spawn(
        command[0], command[1:], cwd=str(cwd), env=environment, dimensions=(lines, columns), timeout=None
    )
    child.ptyproc.delayafterterminate = 1.0  # s, from SIGKILL to the last look: a busy host needs more than 0.1
    child.delaybeforesend = None
    try:
        yield Terminal(lambda seconds: _read_program(child.child_fd, seconds), child.send, columns, lines)
    finally:
        child.close(force=True)
