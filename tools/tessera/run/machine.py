# SPDX-License-Identifier: Apache-2.0
"""A running QEMU whose console a program uses: the output of each VM, waiting for output,
typing."""

import codecs
import contextlib
import ctypes
import re
import signal
import subprocess
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType

from tessera.run.channels import CUT
from tessera.run.hosttime import HostTooSlowError, Limit

HYPERVISOR = "tessera"
END_S = 5  # seconds in which QEMU must end after SIGTERM
FIRMWARE = ""  # lines without a name: from OpenSBI, and from the hypervisor before its console is initialised

# Return to the start of the line and erase: the following text replaces the line.
_ERASE = re.compile(r"\r+(?:\x1b\[\d*m)*\x1b\[\d?K")
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[ -/]*[0-Z\\^_a-~])")
_ANSI_CUT = re.compile(r"\x1b(?:\[[0-?]*[ -/]*)?$")  # an incomplete sequence at the end of a piece
_CUT = CUT.decode()


def clean(text: str) -> str:
    """Returns the text without colours, cursor movements and carriage returns."""
    return _ANSI.sub("", _ANSI_CUT.sub("", text)).replace("\r", "")


class Console:
    """Sorts a console's output by VM. With at most one name, the output has no prefixes and belongs
    to that name."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = [*names]
        self.shared = len(self.names) != 1
        self.lines: dict[str, list[str]] = defaultdict(list)
        self.log: list[str] = []  # every finished line as shown, without colours
        self._tail = ""
        self._begun: dict[str, str] = defaultdict(str)  # by VM, the first parts of lines that the console has cut

    def feed(self, text: str) -> None:
        """Takes the next piece of output, which may be cut at any character."""
        *finished, self._tail = (self._tail + text).split("\n")
        for line in finished:
            # The console draws erased text again later, so only text that is not erased counts.
            line = _ERASE.split(line)[-1]
            name, said = self._attribute(line)
            self._begun[name] += said
            if not line.endswith(_CUT):
                self.lines[name].append(self._begun.pop(name))
            self.log.append(clean(line))

    def _attribute(self, line: str) -> tuple[str, str]:
        line = clean(line)
        if not self.shared:
            return self.names[0], line
        head, bar, said = line.partition("|")
        if bar and head.strip() in {*self.names, HYPERVISOR}:
            return head.strip(), said.removeprefix(" ")
        return FIRMWARE, line

    def finished(self, name: str) -> str:
        """Returns the finished lines of `name`."""
        return "".join(f"{line}\n" for line in self.lines[name])

    def text(self, name: str) -> str:
        """Returns all output of `name`, including the unfinished line."""
        text = self.finished(name) + self._begun.get(name, "")
        who, said = self._attribute(_ERASE.split(self._tail)[-1])
        return text + said if who == name else text

    def said(self, name: str, sign: str) -> str | None:
        """Returns the first line of `name` that contains `sign`, or None."""
        return next((line for line in self.text(name).split("\n") if sign in line), None)

    def last(self, name: str, count: int = 15) -> list[str]:
        """Returns the last lines of `name` that are not empty."""
        return [line for line in self.text(name).split("\n") if line.strip()][-count:]


class MachineTimeoutError(AssertionError):
    """The expected output did not appear in time; the text names the VM and shows its last
    lines."""


_REPEATS = re.compile(r"(?<!\\)[+*}]\)*$")  # a regular expression that could match more
# Linux writes a message behind what stands in the line, for example behind the output of a command.
_LINE_END = r"(?:$|(?=\[ *\d+\.\d{6}\] ))"
_PR_SET_PDEATHSIG = 1  # prctl(2)
_libc = ctypes.CDLL(None)


def line_pattern(pattern: str) -> re.Pattern[str]:
    """The regular expression of expect(), compiled: its $ at the end matches before a message of Linux too."""
    if pattern.endswith("$") and not pattern.endswith(r"\$"):
        pattern = pattern[:-1] + _LINE_END
    return re.compile(pattern, re.MULTILINE)


def die_with_parent() -> None:
    """For a forked child process: the kernel kills it when the thread that forked it ends, in any
    case."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def end_process(process: subprocess.Popen[bytes]) -> None:
    """Ends a running QEMU. SIGTERM may have no effect: under -icount QEMU ignores it."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


class Machine:
    """
    QEMU with its console on pipes. Use as a context manager: leaving the context ends QEMU.

    `names` are the VMs of the console's lines; one name means a machine without a hypervisor, whose
    whole output belongs to that guest. `transcript` is a file that receives the unchanged output of
    the console.
    """

    def __init__(self, command: list[str], names: Iterable[str], transcript: Path | None = None) -> None:
        self.command = command
        self.console = Console(names)
        self.started = time.monotonic()
        self.last_wait = ""  # the host's time that QEMU received, up to the last wait_until() that returned False
        self._seen: dict[str, int] = defaultdict(int)
        self._changed = threading.Condition()
        self._ended = False
        self._transcript = transcript.open("wb") if transcript else None
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
            preexec_fn=die_with_parent,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        # As UTF-8, which the hypervisor's filter is about: single bytes of a character can be C1 controls in messages.
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        while chunk := self.process.stdout.read(65536):
            if self._transcript:
                self._transcript.write(chunk)
                self._transcript.flush()
            with self._changed:
                self.console.feed(decoder.decode(chunk))
                self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def __enter__(self) -> "Machine":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def seconds(self) -> float:
        """Seconds since the start of QEMU."""
        return time.monotonic() - self.started

    @property
    def running(self) -> bool:
        return not self._ended

    def wait_until(self, condition: Callable[[], bool], timeout: float) -> bool:
        """
        Waits for a condition that depends on new output or on the end of QEMU; returns False after
        `timeout` seconds in which QEMU did not wait for the host. Raises HostTooSlowError if the
        host gives QEMU too little time for a result.
        """
        with self._changed:
            if condition():
                return True
            limit = Limit(self.process.pid, timeout)
            while not condition():
                left = limit.left()
                if left <= 0 or self._ended:
                    return condition() or self._is_over(limit)
                self._changed.wait(left)
            return True

    def _is_over(self, limit: Limit) -> bool:
        """Returns False if the limit expired with enough time from the host. Raises
        HostTooSlowError otherwise."""
        self.last_wait = limit.words()
        if not self._ended:
            limit.raise_if_too_slow()
        return False

    def expect(self, name: str, pattern: str, timeout: float = 60) -> re.Match[str]:
        """
        Waits until the output of `name` matches the regular expression, after the matches of
        earlier calls. Output arrives in pieces: a pattern that ends in $ waits for the end of the
        line (line_pattern()), a pattern that ends in a repetition waits for a character after the match. Raises
        MachineTimeoutError with the last lines after `timeout` seconds, and HostTooSlowError as
        wait_until() does.
        """
        found: list[re.Match[str]] = []

        def look() -> bool:
            said = self.console.finished(name) if pattern.endswith("$") else self.console.text(name)
            match = line_pattern(pattern).search(said, self._seen[name])
            if match and _REPEATS.search(pattern) and match.end() == len(said):
                return False  # the last digits of a number may not have arrived
            if match:
                found.append(match)
            return bool(match)

        try:
            matched = self.wait_until(look, timeout)
        except HostTooSlowError as error:
            raise HostTooSlowError(f"{error}; waiting for {name or 'the firmware'}: /{pattern}/") from None
        if not matched:
            patience = f"not within {timeout:.0f} s ({self.last_wait})"
            why = patience if self.running else f"QEMU has ended (status {self.status(1)})"
            lines = "\n".join(f"  {line}" for line in self.console.last(name)) or "  (nothing)"
            others = "\n".join(f"  {line}" for line in self.console.log[-15:])
            raise MachineTimeoutError(
                f"{name or 'the firmware'}: /{pattern}/: {why}. Its last lines:\n{lines}\nThe console's:\n{others}"
            )
        self._seen[name] = found[0].end()
        return found[0]

    def skip(self, name: str) -> None:
        """Makes the next expect() ignore all output of `name` so far."""
        with self._changed:
            self._seen[name] = len(self.console.text(name))

    def send(self, keys: str) -> None:
        """Types keys. Return is "\\r", the console's escape key is "\\x14" (Ctrl-T)."""
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(keys.encode("latin-1"))

    def status(self, timeout: float = 10) -> int:
        """Waits until QEMU ends by itself and returns its exit status. Raises MachineTimeoutError
        if it does not end."""
        limit = Limit(self.process.pid, timeout)
        while left := limit.left():
            with contextlib.suppress(subprocess.TimeoutExpired):
                return self.process.wait(left)
        limit.raise_if_too_slow()
        lines = "\n".join(f"  {line}" for line in self.console.log[-15:])
        raise MachineTimeoutError(f"QEMU still runs after {timeout:.0f} s ({limit.words()}). Last lines:\n{lines}")

    def close(self) -> None:
        """Ends QEMU if it still runs."""
        end_process(self.process)
        self._reader.join(5)
        for stream in (self.process.stdin, self.process.stdout, self._transcript):
            if stream:
                with contextlib.suppress(OSError):
                    stream.close()
