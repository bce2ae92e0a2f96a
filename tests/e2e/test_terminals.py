# SPDX-License-Identifier: Apache-2.0
"""`make run` at a terminal, with one VM in exclusive use of it, with a pseudo terminal per VM, and
into a file."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
from helpers import BOOT_S, SOON_S, built, clean_environment
from terminal import Terminal, at_terminal, read_file

from tessera.run.channels import TO_CHANNELS
from tessera.run.hosttime import Limit
from tessera.run.runner import ROOT
from tessera.run.session import Session, Terminals

RUN = [str(ROOT / "tools" / "run.py"), "run"]


def run_at_terminal(name: str, *options: str) -> AbstractContextManager[Terminal]:
    return at_terminal([sys.executable, *RUN, "--system", name, *options], clean_environment())


def test_make_run_without_options(build_system):
    build_system("demo")
    with at_terminal(["make", "run"], clean_environment()) as shown:
        shown.until(r"^freertos *\| freertos: self-check passed$", BOOT_S)
        shown.write(b"\x14q")
        shown.until(r"^tessera +\| bye")


def name_of(system: str) -> str:
    return f"../e2e/systems/{built(system).image.parent.name}"


# Prints a line of the hypervisor byte by byte; exits with 0 if the runner then requests channels.
FIRST_LINE_IN_PIECES = f"""
import os, sys, time
for byte in b"\\x1b[90mtessera |\\x1b[0m 1 VM":
    os.write(1, bytes((byte,)))
    time.sleep(0.01)
sys.exit(os.read(0, 9) != {TO_CHANNELS!r})
"""


def test_channels_are_requested_after_a_first_line_in_pieces(build_system, monkeypatch):
    with open(os.devnull) as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        command = [sys.executable, "-c", f"import signal; signal.alarm({SOON_S})\n{FIRST_LINE_IN_PIECES}"]
        system = build_system("linux")
        with Terminals(system) as terminals:
            assert Session(command, system, terminals).run() == 0


@pytest.fixture
def back(build_system, monkeypatch) -> Callable[[float, bytes], bytes]:
    """A session just after a VM's exclusive use of the terminal has ended. The returned function
    types `data` at a time in seconds since then, and returns all bytes that the machine has
    received."""
    now = [0.0]
    monkeypatch.setattr("tessera.run.session.write_all", lambda data: None)
    monkeypatch.setattr("tessera.run.session.take_keys", lambda **options: None)
    monkeypatch.setattr("tessera.run.session.time.monotonic", lambda: now[0])
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    session = Session([], build_system("linux"))
    session._type(b"\x14a")
    session._type(b"\x14a\x1b[5;8R")  # with an answer of the terminal
    before = len(session._typed)

    def typed(seconds: float, data: bytes) -> bytes:
        now[0] = seconds
        session._type(data)
        return bytes(session._typed[before:])

    return typed


def test_late_answers_are_typed_into_no_vm(back):
    """Answers to the VM's queries and to the runner's own query are discarded."""
    assert back(0.1, b"\x1b[5;8R\x1b[0") == b""
    assert back(0.2, b"n\x1b[0n") == b""
    assert back(0.4, b"\x1b[0n\x1b[5;8R") == b""
    assert back(0.6, b"") == b""
    assert back(0.71, b"") == b""
    assert back(0.72, b"ls\r") == b"ls\r"


def test_keys_are_kept_for_a_terminal_that_does_not_answer(back):
    assert back(0.1, b"ls") == b""
    assert back(1.1, b"\r") == b"\x1b[5;8Rls\r"
    assert back(1.2, b"x") == b"\x1b[5;8Rls\rx"


def test_vi_and_top_on_a_pseudo_terminal(build_system):
    system = build_system("linux")
    link = system.image.parent / "console-linux"
    with run_at_terminal("linux", "--consoles", "pty") as main:
        main.until(re.escape(str(link.relative_to(ROOT))))
        file = os.open(link, os.O_RDWR | os.O_NOCTTY)
        linux = Terminal(lambda seconds: read_file(file, seconds), lambda keys: os.write(file, keys))
        linux.until(r"^linux:~#$", BOOT_S)
        linux.write(b"stty rows 30 cols 100; vi /etc/profile\r")
        linux.until(r"^- /etc/profile 1/\d+ \d+%")
        linux.write(b"Ofirst\rsecond\x1b")
        linux.until(r"^- /etc/profile \[Modified\] 2/")
        rows = linux.text.split("\n")
        # REUSE-IgnoreStart
        assert rows[:3] == ["first", "second", "# SPDX-License-Identifier: Apache-2.0"], linux.text
        # REUSE-IgnoreEnd
        assert rows[10:28] == ["~"] * 18, linux.text
        linux.write(b":q!\r")
        linux.until(r"^linux:~#$")
        linux.write(b"top\r")
        linux.until(r"^ +\d+ .* top$")
        assert linux.text.startswith("Mem: "), linux.text
        linux.write(b"q")
        linux.until(r"^linux:~#$")
        main.write(b"\x14l")
        main.until(r"^tessera \| \*  1 linux +running")
        assert "vi /etc" not in main.text
        linux.write(b"echo \x14-\r")  # the escape key has no special meaning there
        linux.until(r"^\x14?-$")
        main.write(b"\x14q")
        main.until(r"^tessera \| bye")
        os.close(file)
        # at_terminal() would kill a runner that still cleans up.
        main.wait(lambda: not link.is_symlink(), SOON_S, f"{link} is removed")


def test_exclusive_use_and_return():
    name = name_of("trio")
    folder = ROOT / "build" / "systems" / name
    for log in folder.glob("console-*.log"):
        log.unlink()
    with run_at_terminal(name) as shown:
        shown.until(r"^first +\| misbehave: alive 1$", BOOT_S)
        shown.write(b"\x14a")
        shown.until(r"^\[one VM has the terminal alone: Ctrl-T a returns; the other VMs' output is in ")
        shown.until(r"^misbehave: alive \d+$")
        shown.write(b"\x1b[?1049h\x1b[2J\x1b[5;8r\x1b%@\x1b[7m\r")  # the guest echoes it unchanged
        shown.until_sent(b"\x1b[5;8r")
        before = len(shown.sent)
        log = folder / "console-second.log"
        shown.wait(lambda: log.exists() and log.read_bytes().count(b"misbehave: alive") >= 3, SOON_S, str(log))
        assert b"second" not in shown.sent[before:]
        shown.write(b"\x14a")
        shown.until(r"^tessera \| keyboard: first$")
        shown.until(r"^second +\| misbehave: alive \d+$")
        assert shown.screen.margins is None
        assert not shown.screen.cursor.attrs.reverse
        assert shown.stream.use_utf8
        shown.write(b"\x14a")
        shown.until(r"^misbehave: alive \d+$")
        # Any key after the escape key ends exclusive use and has its usual effect.
        shown.write(b"\x14q")
        shown.until(r"^tessera \| bye")
    # Its first line may be the rest of one that began on the terminal.
    assert re.match(rb"([^\n]*\n)?misbehave: alive \d+\n", log.read_bytes().replace(b"\r\n", b"\n"))


def test_second_signal_does_not_interrupt_the_cleanup(build_system):
    link = build_system("linux").image.parent / "console-linux"
    link.unlink(missing_ok=True)
    command = [sys.executable, *RUN, "--system", "linux", "--consoles", "pty"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
        limit = Limit(process.pid, BOOT_S)
        while not link.is_symlink() and limit.left() > 0:
            time.sleep(0.05)
        limit.raise_if_too_slow()
        while process.poll() is None:
            process.terminate()
            time.sleep(0.01)
    assert not link.is_symlink()


def test_signal_while_the_pseudo_terminals_open_leaves_no_link(build_system, monkeypatch):
    system = build_system("demo")
    links = [system.image.parent / f"console-{name}" for name in system.names]
    real_ttyname = os.ttyname

    def ttyname(file: int) -> str:
        if links[0].is_symlink():  # for the second terminal
            raise SystemExit(128 + signal.SIGTERM)
        return real_ttyname(file)

    monkeypatch.setattr(os, "ttyname", ttyname)
    with pytest.raises(SystemExit), Terminals(system):
        pass
    assert not [link for link in links if link.is_symlink()]


def numbers(output: bytes, name: bytes) -> list[int]:
    """The numbers in a VM's `alive` lines, each on a separate line."""
    found = re.findall(rb"^\x1b\[\d+m" + name + rb" +\|\x1b\[0m misbehave: alive (\d+)\r$", output, re.MULTILINE)
    return [int(number) for number in found]


@pytest.mark.parametrize(
    "focus",
    [
        pytest.param(b"", marks=pytest.mark.long, id="at first"),
        pytest.param(b"\x141", marks=pytest.mark.long, id="first"),
        pytest.param(b"\x142", id="second"),
    ],
)
def test_a_file_has_each_line_once_and_whole(focus):
    """Although at a terminal the VM with the keyboard focus would print its lines in pieces between
    other lines."""
    process = subprocess.Popen(
        [sys.executable, *RUN, "--system", name_of("trio")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        process.stdin.write(focus)
        output, limit = b"", Limit(process.pid, BOOT_S)
        while not all(len(numbers(output, name)) >= 8 for name in (b"first", b"second")) and limit.left() > 0:
            output += read_file(process.stdout.fileno(), 0.2)
        limit.raise_if_too_slow()
        process.stdin.write(b"\x14q")
        process.stdin.close()
        output += process.stdout.read()
        assert process.wait(SOON_S) == 0
    finally:
        process.kill()
        process.wait()
    assert b"\x1b[K" not in output
    for name in (b"first", b"second"):
        said = numbers(output, name)
        assert said == list(range(len(said))), output
    assert output.count(b"freertos: self-check passed") <= 1
