# SPDX-License-Identifier: Apache-2.0
"""Guests that print as fast as they can at the same time: every line arrives whole, once, in order
and unmixed."""

import fcntl
import os
import re
import select
import struct
import subprocess
import termios
import time

import pytest
from helpers import (
    BOOT_S,
    ESCAPE,
    OUT,
    assert_undisturbed,
    booted,
    built,
    few_of,
    keyboard,
    tell,
    wait_for_signs_of_life,
)

from tessera.run.hosttime import Limit
from tessera.run.machine import Console
from tessera.run.runner import find_qemu, system_command

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
OVER = "misbehave: flood is over"
# Virtual time stops while the host does not run QEMU. In host time, a busy host may delay the rest
# of a line for longer than the console waits, and the console then correctly splits the line. One
# hart only: under -icount two harts starve each other.
STEADY = ("-icount", "shift=3,sleep=off")


# A slow terminal: about 50 kB/s, connected by a pipe with little buffering.
GULP = 1024
GULP_S = 0.02
PIPE = 4096
UART_FIFO = 16  # characters that QEMU may write at once
BLOCKED_S = 0.2  # for the guests, which go on until their lines are full


def flood_lines(count: int) -> list[str]:
    return [f"misbehave: flood {number} {LETTERS[number % len(LETTERS) :]}" for number in range(count)]


def assert_flood_whole(text: str, count: int, vm: str) -> None:
    """The text contains exactly the lines of the flood, whole, in order and adjacent."""
    lines = text.split("\n")
    start = lines.index("misbehave: flood 0 " + LETTERS)
    for number, (got, wanted) in enumerate(zip(lines[start:], [*flood_lines(count), OVER], strict=False)):
        assert got == wanted, f"{vm}: line {number} of the flood"
    assert len(lines) > start + count, f"{vm}: {len(lines) - start} lines of {count}"


def assert_flood_complete(text: str, count: int, vm: str) -> None:
    """The text contains every character of the flood in order, with at most line ends between
    them."""
    got = text.replace("\n", "")
    wanted = "".join([*flood_lines(count), OVER])
    got = got[got.index("misbehave: flood 0 ") :]
    for at, (one, other) in enumerate(zip(got, wanted, strict=False)):
        assert one == other, f"{vm}: after {at} characters {got[at - 40 : at + 40]!r}"
    assert len(got) >= len(wanted), f"{vm}: {len(got)} characters of {len(wanted)}"


@pytest.mark.parametrize(
    ("name", "steady", "check"),
    [
        pytest.param("console-stress", STEADY, assert_flood_whole, id="one hart"),
        pytest.param("trio", (), assert_flood_complete, id="two harts", marks=pytest.mark.long),
    ],
)
def test_floods_of_two_vms_are_complete_and_unmixed(name, steady, check):
    count = 500
    system = built(name)
    with booted(system, f"console-stress-{name}", *steady) as machine:
        wait_for_signs_of_life(machine, system)
        tell(machine, "second", f"flood {count:x}")
        tell(machine, "first", f"flood {count:x}")
        # Its lines are now shown character by character, interleaved with other lines.
        keyboard(machine, "freertos")
        machine.send("uptime\rtasks\r")
        machine.expect("freertos", r"^up \d+ s \(\d+ ticks of 1000 Hz, \d+ sleeps without ticks\)$", BOOT_S)
        machine.expect("freertos", r"^heap free \d+ B of \d+$", BOOT_S)
        for vm in ("first", "second"):
            machine.wait_until(lambda vm=vm: machine.console.said(vm, OVER) is not None, BOOT_S)
            check(machine.console.text(vm), count, vm)
        foreign = re.findall(r"^.*(?:misbehave|flood|tessera).*$", machine.console.text("freertos"), re.MULTILINE)
        assert not foreign, foreign[:5]
        assert_undisturbed(machine)


def wait_until_full(process: subprocess.Popen[bytes]) -> None:
    """Until QEMU cannot write to the pipe: however slow the host, the guests block then."""
    assert process.stdout is not None
    limit = Limit(process.pid, BOOT_S)
    waiting = 0
    while waiting < PIPE - UART_FIFO and limit.left() > 0:
        time.sleep(GULP_S)
        (waiting,) = struct.unpack("i", fcntl.ioctl(process.stdout, termios.FIONREAD, b"\0" * 4))
    assert waiting >= PIPE - UART_FIFO, f"{waiting} bytes in the pipe; {limit.words()}"
    time.sleep(BLOCKED_S)


def read_slowly(process: subprocess.Popen[bytes], console: Console, done: list[str], seconds: float) -> bytes:
    """Reads small pieces with pauses, like a slow terminal, so that QEMU's output blocks."""
    assert process.stdout is not None
    everything = b""
    limit = Limit(process.pid, seconds)
    while limit.left() > 0:
        if not select.select([process.stdout], [], [], 5)[0]:
            continue
        chunk = os.read(process.stdout.fileno(), GULP)
        if not chunk:
            break
        everything += chunk
        console.feed(chunk.decode("latin-1"))
        if all(console.said(name, OVER) for name in done):
            break
        time.sleep(GULP_S)
    return everything


@pytest.mark.parametrize("command", few_of(["flood", "legacy"], ["flood"]), ids=["UART", "SBI v0.1"])
def test_a_slow_terminal_loses_nothing(command):
    """
    The guests print faster than the terminal reads: they block, and no output is lost.

    In host time, because in virtual time the guests would be stopped together with the terminal and
    never block.
    """
    count = 500
    system = built("console-stress")
    words = system_command(find_qemu(), system)
    everything = b""
    console = Console(system.names)
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        fcntl.fcntl(process.stdout, fcntl.F_SETPIPE_SZ, PIPE)
        limit = Limit(process.pid, BOOT_S)
        while not all(console.said(name, "alive 1") for name in ("first", "second")) and limit.left() > 0:
            console.feed(os.read(process.stdout.fileno(), 65536).decode("latin-1"))
        process.stdin.write(f"{command} {count:x}\r\x142flood {count:x}\r\x143".encode())
        wait_until_full(process)
        everything = read_slowly(process, console, ["first", "second"], BOOT_S)
    finally:
        process.kill()
        process.wait()
        (OUT / f"console-slow-{command}.log").write_bytes(everything)
    for name in ("first", "second"):
        assert_flood_complete(console.text(name), count, name)


# Sequences for reports, titles, modes and states that a terminal does not leave; the guest echoes
# each in an answer.
ESCAPES = (
    b"\x1b[21t", b"\x1b[c", b"\x1b[6n", b"\x1bP$qm\x1b\\", b"\x05", b"\x1b]0;title\x07", b"\x1b[2J\x1b[H",
    b"\x1b[1K", b"\b" * 30 + b"tessera | forged", b"\x1b[40Dtessera | forged", b"\x9b21t", "\x9b21t".encode(),
    b"\x1b(0", b"\x1b[?1049h", b"\x1b[31mred", b"\x1b[", b"\x1b]0;", b"\x1b",
)  # fmt: skip
ALLOWED = re.compile(rb"[ -~\r\n]|\x1b\[[0-9;]*m|\x1b\[K|\x1b\[(\d+)G")


@pytest.mark.parametrize("focus", few_of(["second", "first"], ["second"]), ids=["without the keyboard", "with it"])
def test_no_escape_sequence_of_a_vm_reaches_the_terminal(focus):
    system = built("console-stress")
    label = f"console-escapes-{focus}"
    with booted(system, label, *STEADY) as machine:
        wait_for_signs_of_life(machine, system)
        for word in ESCAPES:
            keyboard(machine, "first")
            machine.skip("first")
            machine.send(word.decode("latin-1") + "\r" + ("" if focus == "first" else f"{ESCAPE}2"))
            machine.expect("first", r"^misbehave: no command '.*", BOOT_S)
        machine.expect("first", r"^misbehave: alive \d+$", BOOT_S)
    sent = (OUT / f"{label}.log").read_bytes()
    sent = sent[sent.index(b"tessera |") : sent.rindex(b"\n")]  # the end of the machine may cut the last line
    left = ALLOWED.sub(lambda found: found[0] if found[1] and int(found[1]) <= len("first   | ") else b"", sent)
    assert not left, left
