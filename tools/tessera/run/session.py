# SPDX-License-Identifier: Apache-2.0
"""Connects a machine's console to this terminal, to a file, or to one pseudo terminal for each
VM."""

import contextlib
import os
import pty
import re
import select
import subprocess
import sys
import termios
import time
import tty
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from tessera.run.channels import (
    ESCAPE,
    FIRST_LINE,
    LINES,
    RESTORE,
    TO_CHANNELS,
    TO_LINES,
    Demux,
    Keys,
    WholeLines,
    select_keys,
    vm_of,
)
from tessera.run.machine import HYPERVISOR, clean, die_with_parent, end_process
from tessera.run.runner import ROOT, BuiltSystem, RunError

EXCLUSIVE_KEY = ESCAPE + b"a"
# The hypervisor's message before it stops for an error, before and after its console adds a prefix.
FAILURE = re.compile(rf"^{HYPERVISOR}\s*[:|]\s*(error|fatal|panic)\b", re.IGNORECASE)
PIECE = 65536
TYPED_MAX = 65536  # limit of typed bytes that the machine has not read; at the limit, keys are not read
LAST_LINES = 20
STATUS_QUERY, STATUS_ANSWER = b"\x1b[5n", b"\x1b[0n"  # ECMA-48, 8.3.35: device status report
ANSWER_S, QUIET_S = 1.0, 0.3


@contextlib.contextmanager
def terminal_restored() -> Iterator[None]:
    """Restores the terminal's mode at the end: the session switches to single keys, and a killed
    QEMU leaves its mode."""
    if not sys.stdin.isatty():
        yield
        return
    before = termios.tcgetattr(sys.stdin)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def take_keys(signals: bool, output_as_it_is: bool = False) -> None:
    """Switches the terminal to single keys without echo, as QEMU does; with `signals`, Ctrl-C still
    raises SIGINT."""
    if not sys.stdin.isatty():
        return
    mode = termios.tcgetattr(sys.stdin)
    mode[0] &= ~(termios.ICRNL | termios.IXON)
    mode[1] = mode[1] & ~termios.OPOST if output_as_it_is else mode[1] | termios.OPOST
    mode[3] &= ~(termios.ICANON | termios.ECHO | termios.IEXTEN | (0 if signals else termios.ISIG))
    termios.tcsetattr(sys.stdin, termios.TCSANOW, mode)


def write_all(data: bytes) -> None:
    """Writes to standard output. QEMU may have made it non-blocking: both directions of a terminal
    are one file."""
    while data:
        try:
            data = data[os.write(sys.stdout.fileno(), data) :]
        except BlockingIOError:
            select.select([], [sys.stdout], [])
        except BrokenPipeError:
            raise RunError("no program reads the output any more") from None


class Terminals:
    """A raw pseudo terminal for each VM, with the same name in each run."""

    def __init__(self, system: BuiltSystem) -> None:
        self.links = [system.image.parent / f"console-{name}" for name in system.names]
        self.ours: list[int] = []
        # Kept open, so that the kernel buffers output until a program opens the terminal.
        self._user_ends: list[int] = []

    def __enter__(self) -> "Terminals":
        """Opens the terminals. A signal that ends the program meanwhile leaves no link."""
        try:
            for link in self.links:
                self._open(link)
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _open(self, link: Path) -> None:
        ours, user_end = pty.openpty()
        self.ours.append(ours)
        self._user_ends.append(user_end)
        tty.setraw(user_end)
        os.set_blocking(ours, False)
        link.unlink(missing_ok=True)
        link.symlink_to(os.ttyname(user_end))

    def write(self, vm: int, data: bytes) -> None:
        """Writes a VM's output; discards it if the terminal's buffer is full because no program
        reads it."""
        with contextlib.suppress(BlockingIOError):
            os.write(self.ours[vm], data)

    def close(self) -> None:
        for file in (*self.ours, *self._user_ends):
            os.close(file)
        for link in self.links:
            link.unlink(missing_ok=True)


class Answers:
    """
    Input after a VM has had exclusive use of the terminal. The terminal may still answer queries of
    that VM, and the answers would be typed into the VM that has the keyboard now. Therefore ask()
    sends a query to the terminal. After the answer, input is discarded until none has arrived for
    QUIET_S, because the VM may have sent the same query. A terminal that has not answered within
    ANSWER_S answers no queries, and all input is passed on.
    """

    def __init__(self) -> None:
        self._kept = b""
        self._end: float | None = None

    def ask(self) -> None:
        write_all(STATUS_QUERY)
        self._end = time.monotonic() + ANSWER_S

    def feed(self, typed: bytes) -> bytes:
        """Returns the input to pass on: all input, none while answers may arrive, or the input kept
        until now."""
        if self._end is None:
            return typed
        self._kept += typed
        answered = STATUS_ANSWER in self._kept
        if answered and typed:
            self._kept = STATUS_ANSWER
            self._end = time.monotonic() + QUIET_S
        if time.monotonic() < self._end:
            return b""
        kept, self._kept, self._end = self._kept, b"", None
        return b"" if answered else kept

    @property
    def left(self) -> float | None:
        """Seconds after which feed() must be called even without input; None: only with input."""
        return None if self._end is None else max(0.0, self._end - time.monotonic())


class Session:
    """Runs `command` until it ends. `terminals`: one for each VM; without them, Ctrl-T a gives one VM
    exclusive use of this terminal."""

    def __init__(self, command: list[str], system: BuiltSystem, terminals: Terminals | None = None) -> None:
        self.command = command
        self.system = system
        self.folder = system.image.parent
        self.terminals = terminals
        self.failed = False
        self._demux = Demux()
        self._keys = Keys()
        self._answers = Answers()
        self._file = None if sys.stdout.isatty() else WholeLines()
        self._typed = bytearray()
        self._key_vm = -1  # the VM that receives keys
        self._exclusive = False
        self._by_channel = False  # the machine sends by channel
        self._logs: dict[str, BinaryIO] = {}
        self._line = b""
        self._keyboards: dict[int, int] = {}  # the files from which keys are read, and the VM that receives them
        self._last: deque[bytes] = deque(maxlen=LAST_LINES)

    # --- output of the machine ---

    def _take(self, chunk: bytes) -> None:
        for channel, data in self._demux.feed(chunk):
            if channel == LINES:
                self._lines(data)
            elif self.terminals:
                self.terminals.write(vm_of(channel), data)
            elif self._exclusive and channel.islower():
                self._by_channel = True
                write_all(data)
            else:
                self._by_channel = True
                self._log(self.system.names[vm_of(channel)], data)

    def _lines(self, data: bytes) -> None:
        text = self._line + data  # a line arrives in pieces
        *lines, self._line = text.split(b"\n")
        self._last.extend(lines)
        self.failed = self.failed or any(FAILURE.match(clean(line.decode("latin-1"))) for line in lines)
        if self._exclusive and self._by_channel:
            self._log(HYPERVISOR, data)
        else:
            write_all(self._file.feed(data) if self._file else data)
        if self.terminals and not self._by_channel and FIRST_LINE.search(text):
            self._by_channel = True
            self._typed += TO_CHANNELS

    def _log(self, name: str, data: bytes) -> None:
        if name not in self._logs:
            self._logs[name] = (self.folder / f"console-{name}.log").open("wb", buffering=0)
        self._logs[name].write(data)

    # --- typed keys ---

    def _type(self, typed: bytes) -> None:
        """Handles typed bytes. Bytes after the escape key that ends exclusive use may be an answer
        to the VM's query."""
        pieces = self._keys.feed(self._answers.feed(typed))
        while pieces:
            piece = pieces.pop(0)
            if self.terminals:
                self._type_to(-1, b"" if piece == EXCLUSIVE_KEY else piece)
            elif not self._exclusive and piece == EXCLUSIVE_KEY:
                self._begin_exclusive()
            elif self._exclusive and piece[:1] == ESCAPE and piece != ESCAPE * 2:
                self._end_exclusive()
                self._typed += b"" if piece == EXCLUSIVE_KEY else piece
                pieces = self._keys.feed(self._answers.feed(b"".join(pieces)))
            else:
                self._typed += piece

    def _type_to(self, vm: int, typed: bytes) -> None:
        if self._key_vm != vm:
            self._key_vm = vm
            self._typed += select_keys(vm)
        self._typed += typed

    def _begin_exclusive(self) -> None:
        logs = (self.folder / "console-*.log").relative_to(ROOT)
        write_all(
            f"\r\n[one VM has the terminal alone: Ctrl-T a returns; the other VMs' output is in {logs}]\r\n".encode()
        )
        take_keys(signals=False, output_as_it_is=True)
        self._exclusive, self._by_channel = True, False
        self._typed += TO_CHANNELS

    def _end_exclusive(self) -> None:
        self._exclusive = False
        self._typed += TO_LINES
        write_all(RESTORE)
        take_keys(signals=False)
        if sys.stdin.isatty():
            self._answers.ask()

    # --- both ---

    def run(self) -> int:
        """Runs the machine; returns its exit status, or 1 if the hypervisor reported a failure."""
        with terminal_restored():
            take_keys(signals=False)
            process = subprocess.Popen(
                self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, preexec_fn=die_with_parent
            )
            try:
                self._serve(process)
                status = process.wait()
            except KeyboardInterrupt:
                status = 130
            finally:
                end_process(process)
                self._end()
        return status or int(self.failed)

    def _serve(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None and process.stdout is not None
        out, into = process.stdout.fileno(), process.stdin.fileno()
        os.set_blocking(into, False)
        self._keyboards = {sys.stdin.fileno(): -1}
        if self.terminals:
            self._keyboards |= {file: vm for vm, file in enumerate(self.terminals.ours)}
        while self._step(out, into):
            pass

    def _step(self, out: int, into: int) -> bool:
        """Waits for the next input or output and handles it. Returns False at the end of the
        machine's output."""
        keyboards = self._keyboards if len(self._typed) < TYPED_MAX else {}
        ready, writable, _ = select.select([out, *keyboards], [into] if self._typed else [], [], self._answers.left)
        self._type(b"")
        for file in ready:
            if file != out and not self._read_keys(file, self._keyboards[file]):
                del self._keyboards[file]
        if writable:
            self._send(into)
        chunk = os.read(out, PIECE) if out in ready else None
        self._take(chunk or b"")
        return chunk != b""

    def _read_keys(self, file: int, vm: int) -> bool:
        """Handles keys from `file`. Returns False at the end of the file."""
        typed = os.read(file, PIECE)
        if vm < 0:
            self._type(typed)
        else:
            self._type_to(vm, typed.replace(ESCAPE, ESCAPE * 2))
        return bool(typed)

    def _send(self, into: int) -> None:
        try:
            del self._typed[: os.write(into, self._typed)]
        except BrokenPipeError:  # the machine has ended
            self._typed.clear()

    def _end(self) -> None:
        if self._file:
            with contextlib.suppress(RunError):
                write_all(self._file.end())
        if self._exclusive:
            write_all(RESTORE + b"\n".join([*self._last, b""]))
        for log in self._logs.values():
            log.close()
