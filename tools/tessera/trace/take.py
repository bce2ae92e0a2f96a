# SPDX-License-Identifier: Apache-2.0
"""Runs a system in QEMU and reads its trace memory over QEMU's machine protocol (QMP)."""

import contextlib
import json
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tessera.run.hosttime import Limit
from tessera.run.machine import Machine
from tessera.run.runner import BuiltSystem, Qemu, system_command
from tessera.run.virtualtime import By, virtual_time
from tessera.trace.ring import Ring, TraceError, decode, decode_ring

COUNTED = virtual_time(By.COMMAND)
_POLL_S = 0.05
_CONNECT_S = 20.0


@contextlib.contextmanager
def _connected() -> Iterator[None]:
    """Converts the errors of a socket that the other side has closed, with or without an unread
    request in it."""
    try:
        yield
    except OSError as error:
        raise TraceError("QEMU has ended") from error


class Qmp:
    """A connection to QEMU's QMP socket."""

    def __init__(self, path: Path) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        deadline = time.monotonic() + _CONNECT_S
        while True:
            try:
                self.socket.connect(str(path))
                break
            except OSError as error:
                if time.monotonic() > deadline:
                    raise TraceError(f"QEMU does not open {path}: {error.strerror}") from error
                time.sleep(_POLL_S)
        self.file = self.socket.makefile("rw", encoding="utf-8")
        with _connected():
            self._answer(lambda line: "QMP" in line)
        self.ask("qmp_capabilities")

    def _answer(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Returns the next line that is wanted; skips the others, which are events."""
        for text in self.file:
            line: dict[str, Any] = json.loads(text)
            if "error" in line:
                raise TraceError(f"QEMU: {line['error'].get('desc')}")
            if wanted(line):
                return line
        raise TraceError("QEMU has ended")

    def ask(self, command: str, **arguments: int | str) -> Any:
        with _connected():
            self.file.write(json.dumps({"execute": command, "arguments": arguments}) + "\n")
            self.file.flush()
            return self._answer(lambda line: "return" in line)["return"]

    def memory(self, address: int, size: int, folder: Path) -> bytes:
        """Reads physical memory."""
        path = folder / "memory"
        self.ask("pmemsave", val=address, size=size, filename=str(path))
        return path.read_bytes()

    def quit(self) -> None:
        """Ends QEMU, which answers or not, and waits for the end of the connection, at most for _CONNECT_S."""
        self.socket.settimeout(_CONNECT_S)
        with contextlib.suppress(OSError):
            self.file.write(json.dumps({"execute": "quit"}) + "\n")
            self.file.flush()
            self.file.read()
        self.close()

    def close(self) -> None:
        with contextlib.suppress(OSError):  # QEMU has ended before it read the last request
            self.file.close()
        self.socket.close()


def _memory(system: BuiltSystem) -> tuple[int, int]:
    """Returns the address of a system's trace memory, and the size of each hart's part."""
    trace = system.data.get("trace")
    if not trace:
        raise TraceError(f"system '{system.name}' has no trace memory (trace-kib)")
    return trace["base"], trace["kib"] << 10


def _reached(qmp: Qmp, system: BuiltSystem, folder: Path) -> float:
    """Returns the time of hart 0's newest event in seconds, 0 before the first event."""
    base, size = _memory(system)
    try:
        last = decode_ring(qmp.memory(base, size, folder), base).events[-1:]
    except TraceError:
        return 0.0  # no ring yet, or the hypervisor was writing it: the next call reads it again
    return last[0].time / system.data["timebase_hz"] if last else 0.0


def take(
    qemu: Qemu,
    system: BuiltSystem,
    seconds: float | None,
    until: str | None,
    patience: float,
    *arguments: str,
) -> list[Ring]:
    """
    Boots the system and reads all harts' rings when its clock reaches `seconds` or a VM's console
    shows `until`; with neither, when every VM has given its sign of life. Further arguments are
    passed to QEMU. Raises TraceError if that does not happen within `patience` seconds of real
    time.
    """
    base, size = _memory(system)
    harts = system.data["harts"]
    with TemporaryDirectory(prefix="tessera-trace-") as name:
        folder = Path(name)
        path = folder / "qmp"
        words = [*system_command(qemu, system), *arguments, "-qmp", f"unix:{path},server=on,wait=off"]
        with Machine(words, system.names) as machine:
            machine.console.shared = True
            qmp = Qmp(path)
            try:
                _wait(machine, qmp, system, folder, seconds, until, patience)
                qmp.ask("stop")
                return decode(qmp.memory(base, size * harts, folder), base, harts)
            finally:
                qmp.close()


def _wait(
    machine: Machine,
    qmp: Qmp,
    system: BuiltSystem,
    folder: Path,
    seconds: float | None,
    until: str | None,
    patience: float,
) -> None:
    signs = dict.fromkeys(system.names, until) if until is not None else system.awaited()

    def come() -> bool:
        if seconds is not None:
            return _reached(qmp, system, folder) >= seconds
        said = [machine.console.said(name, sign) is not None for name, sign in signs.items()]
        return any(said) if until is not None else all(said)

    limit = Limit(machine.process.pid, patience)
    while not come():
        if limit.left() == 0 or not machine.running:
            last = " / ".join(line for line in machine.console.log if line.strip()) or "(it printed nothing)"
            within = f"within {machine.seconds:.0f} s ({limit.words()})" if machine.running else "before QEMU ended"
            raise TraceError(f"'{system.name}' did not get that far {within}: {last[-300:]}")
        machine.wait_until(lambda: False, _POLL_S)
