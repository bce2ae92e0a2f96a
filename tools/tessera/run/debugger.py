# SPDX-License-Identifier: Apache-2.0
"""Runs a system in QEMU with a GDB server for one of its VMs (tools/gdb), and GDB."""

import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import termios
import time
import tty
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tessera.run.machine import die_with_parent, end_process
from tessera.run.runner import ROOT, BuiltSystem, RunError

TOOL = ROOT / "build" / "gdb" / "release" / "tessera-gdb"
# GDB's default of two seconds is too short while the machine starts.
PATIENCE_S = 60
POLL_S = 0.02
MAX_PORT = 65535


def own_socket(system: BuiltSystem) -> str:
    """Returns the path of the system's socket for GDB, relative to the current folder: its length is limited."""
    path = ROOT / "build" / "debug" / f"{system.name}.gdb"
    path.parent.mkdir(parents=True, exist_ok=True)
    return os.path.relpath(path)


def check_place(listen: str) -> None:
    """Raises RunError if the GDB server cannot listen at `listen`: a TCP port of this machine or a
    socket's path."""
    if not re.fullmatch(r"[-+]?\d\w*|[^/]*:[^/]*", listen):  # 127.0.0.1:1234 is not a path either
        _check_path(listen)
        return
    if not listen.isdecimal() or not 1 <= int(listen) <= MAX_PORT:
        raise RunError(f"PORT={listen}: expected a TCP port from 1 to {MAX_PORT}, or the path of a socket")
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the server does
        try:
            probe.bind(("127.0.0.1", int(listen)))
        except OSError as error:
            another = f"choose another one, for instance make debug-server PORT={_free_port()}"
            raise RunError(f"PORT={listen}: cannot listen at TCP port {listen}: {error.strerror}; {another}") from None


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _check_path(listen: str) -> None:
    path = Path(listen)
    if not listen or path.is_dir() or not path.parent.is_dir() or (path.exists() and not path.is_socket()):
        raise RunError(f"PORT={listen}: expected a TCP port, or the path of a socket that does not exist yet")


@contextlib.contextmanager
def server(command: list[str], vm: str, listen: str, console: Path | None = None) -> Iterator[subprocess.Popen[bytes]]:
    """
    Runs QEMU by `command`, with a GDB server for `vm` at `listen` (a port or a path). The console
    is the file `console`, without a keyboard, or else standard input and output. Yields the
    server's process, which ends when QEMU ends.
    """
    if not TOOL.is_file():
        raise RunError(f"{TOOL} does not exist (run `make gdb-tool`)")
    own = console is not None  # in a new session, so that Ctrl-C of the terminal goes to GDB alone
    qemu = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=die_with_parent, start_new_session=own
    )
    assert qemu.stdin is not None and qemu.stdout is not None
    ends = (qemu.stdout.fileno(), qemu.stdin.fileno())
    words = [str(TOOL), "--vm", vm, "--listen", listen, "--from", f"/dev/fd/{ends[0]}", "--to", f"/dev/fd/{ends[1]}"]
    words += ["--console", str(console)] if console else []
    try:
        tool = subprocess.Popen(words, pass_fds=ends, preexec_fn=die_with_parent, start_new_session=own)
        qemu.stdin.close()
        qemu.stdout.close()
        try:
            yield tool
        finally:
            end_process(tool)
    finally:
        end_process(qemu)


@contextlib.contextmanager
def raw_terminal() -> Iterator[None]:
    """Passes every key to the guests, Ctrl-C too, as QEMU does on a terminal."""
    if not sys.stdin.isatty():
        yield
        return
    before = termios.tcgetattr(sys.stdin)
    tty.setraw(sys.stdin)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def symbols_of(vm: dict[str, Any]) -> Path | None:
    """Returns the ELF file in the folder of the VM's image, where the build writes it for guests
    that it compiles."""
    named = os.environ.get("SYMBOLS")
    if named:
        return Path(named)
    elf = (ROOT / vm["image"]["path"]).with_suffix(".elf")
    return elf if elf.is_file() else None


def gdb_command(place: str, symbols: Path | None, *more: str) -> list[str]:
    """Returns the command line of a GDB that connects to the server at `place`."""
    gdb = os.environ.get("GDB") or "gdb-multiarch"
    if shutil.which(gdb) is None:
        raise RunError(f"GDB: there is no program '{gdb}' (run `make setup-debug`, or name another one: GDB=path)")
    first = ["set architecture riscv:rv64", f"set remotetimeout {PATIENCE_S}", f"target extended-remote {place}"]
    words = [gdb, "-q", *(word for line in first for word in ("-ex", line)), *more]
    return [*words, str(symbols)] if symbols else words


def debug(command: list[str], system: BuiltSystem, name: str, log: Path) -> int:
    """Runs GDB in the foreground with the console in `log`, until GDB ends."""
    vm = system.vm(name)
    log.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="tessera-") as folder:
        place = str(Path(folder) / "gdb")
        gdb = gdb_command(place, symbols_of(vm))
        with server(command, name, place, log) as tool:
            while not Path(place).exists():
                if tool.poll() is not None:
                    raise RunError(f"the GDB server does not start; see {log}")
                time.sleep(POLL_S)
            return subprocess.run(gdb, check=False).returncode


def serve(command: list[str], name: str, listen: str) -> int:
    """Runs the console on this terminal and a server at `listen` for any GDB, until QEMU ends."""
    with raw_terminal(), server(command, name, listen) as tool:
        return tool.wait()
