# SPDX-License-Identifier: Apache-2.0
"""A GDB controlled through pipes, and the system whose debug server it connects to."""

import itertools
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import helpers

from tessera.run.debugger import gdb_command
from tessera.run.hosttime import Limit
from tessera.run.machine import Machine, die_with_parent
from tessera.run.runner import BuiltSystem

PROMPT = "(gdb) "
ANSWER_S = 60


class Gdb:
    """Sends commands and reads GDB's output. A context manager; on exit it kills GDB without
    closing the session."""

    def __init__(self, place: str, symbols: Path | None) -> None:
        command = gdb_command(place, symbols, "-nx", "-ex", "set width 0", "-ex", "set confirm off")
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, bufsize=1,
            preexec_fn=die_with_parent,
        )  # fmt: skip
        self._numbers = itertools.count(1)
        self._changed = threading.Condition()
        self._said = ""
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        while chunk := self.process.stdout.readline():
            with self._changed:
                self._said += chunk
                self._changed.notify_all()

    def __enter__(self) -> "Gdb":
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()

    def start(self, *commands: str) -> str:
        """Sends commands without waiting; returns the marker that GDB prints after the last of
        them."""
        assert self.process.stdin is not None
        mark = f"@@{next(self._numbers)}@@"
        for command in (*commands, f"echo {mark}\\n"):
            self.process.stdin.write(f"{command}\n")
        return mark

    def finish(self, mark: str, timeout: float = ANSWER_S) -> str:
        """Waits for the marker and returns GDB's output before it."""
        # CPU time of this process tree: GDB, its server and QEMU.
        limit = Limit(os.getpid(), timeout)
        with self._changed:
            while not self._changed.wait_for(lambda: f"{mark}\n" in self._said, limit.left()):
                limit.raise_if_too_slow("the test")
                assert limit.left() > 0, f"GDB does not answer ({limit.words('the test')}); output:\n{self._said}"
            said, _, self._said = self._said.partition(f"{mark}\n")
        return said.replace(PROMPT, "")

    def ask(self, *commands: str, timeout: float = ANSWER_S) -> str:
        return self.finish(self.start(*commands), timeout)

    def value(self, expression: str) -> int:
        said = self.ask(f'printf "%#lx\\n", {expression}')
        assert re.search(r"^0x[0-9a-f]+$|^0$", said, re.MULTILINE), said
        return int(said.strip().splitlines()[-1], 16)

    def interrupt(self) -> None:
        """Sends Ctrl-C."""
        self.process.send_signal(signal.SIGINT)


@contextmanager
def debug_server(system: BuiltSystem, vm: str, label: str) -> Iterator[tuple[Machine, str]]:
    """Boots a system with a debug server for one VM. Yields its console and the path of the
    server's socket."""
    helpers.make("gdb-tool")
    script = (
        "import sys; sys.path.insert(0, 'tools'); from pathlib import Path\n"
        "from tessera.run import debugger, runner\n"
        "system = runner.load_system(sys.argv[1], Path(sys.argv[2]))\n"
        "sys.exit(debugger.serve(runner.system_command(runner.find_qemu(), system), sys.argv[3], sys.argv[4]))\n"
    )
    helpers.OUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        place = f"{folder}/gdb"
        words = [sys.executable, "-c", script, system.name, str(system.image.parents[2]), vm, place]
        with Machine(words, system.names, helpers.OUT / f"{label}.log") as machine:
            machine.expect("tessera", "^Tessera on", helpers.SOON_S)
            while not Path(place).exists():
                assert machine.running
                time.sleep(0.02)
            yield machine, place


def typed_request(sequence: int, operation: int, vcpu: int = 0, address: int = 0, data: bytes = b"") -> str:
    """The keys that the debug server types for one request (services/debug/include/debug_abi.h)."""
    body = bytes([sequence, operation, vcpu, 0]) + address.to_bytes(8, "little") + data
    low = high = 0
    for byte in body:
        low = (low + byte) & 0xFFFF
        high = (high + low) & 0xFFFF
    return f"{helpers.ESCAPE}d{body.hex()}{(high << 16 | low).to_bytes(4, 'little').hex()}\r"
