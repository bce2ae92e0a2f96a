# SPDX-License-Identifier: Apache-2.0
"""Debian's Linux on its window of the shared flash, and on the shared UART, through the drivers of its own kernel
(docs/hardware-io.md)."""

import hashlib
import re
import shutil
from pathlib import Path

import pytest
from helpers import BOOT_S, LINUX_PROMPT, NEWER_QEMU, SOON_S, ask, command, keyboard, tell
from test_hardware_io import RECORD, SECTOR, Files, files_in, leave, recording

from tessera.run.machine import HYPERVISOR, Machine
from tessera.run.recorded import owned_lines

# Bare guests drive the same devices in test_shared_devices.py, Linux others in test_hardware_io_linux.py.
pytestmark = pytest.mark.long
SECTORS = 256
WINDOW = range(8, 14)  # of Linux
LOG = range(4)  # of the other VM
# What jffs2 writes to the start of an erased sector.
CLEAN = bytes.fromhex("85 19 03 20 0c 00 00 00 b1 b0 1e e4")


def formatted() -> bytes:
    """A flash with an empty file system in Linux's window, but for the window's last sector: it is erased, which Linux
    does not know. To erase and read each sector would take long."""
    content = bytearray(b"\xff" * SECTORS * SECTOR)
    for sector in WINDOW[:-1]:
        content[sector * SECTOR : sector * SECTOR + len(CLEAN)] = CLEAN
    return bytes(content)


def sector_of(files: Files, number: int) -> bytes:
    return files.flash.read_bytes()[number * SECTOR : (number + 1) * SECTOR]


def found_window(machine: Machine) -> None:
    """The only partition is the VM's window."""
    said = machine.expect("linux", r"flash: mtd0 is (.*) of (\d+) bytes\n", BOOT_S)
    assert said.groups() == ('"window"', str(len(WINDOW) * SECTOR))


def mounted(machine: Machine, number: int) -> None:
    """Linux has mounted the file system for the `number`th time."""
    found_window(machine)
    machine.expect("linux", rf"flash: life {number}\n", BOOT_S)
    machine.expect("linux", LINUX_PROMPT, BOOT_S)


def interrupts(machine: Machine, device: str) -> int:
    """Those of a device that Linux has counted."""
    return int(ask(machine, f"grep {device} /proc/interrupts", rf"\d+: +(\d+) .*\b{device}\n")[1])


def records(machine: Machine) -> list[int]:
    return [int(number) for number in re.findall(r"flash_log: (\d+): record", machine.console.text("log"))]


@pytest.fixture(scope="module")
def lived(tmp_path_factory) -> Files:
    """Two lives of Linux in one machine: a file of the first one is there in the second."""
    files = files_in(tmp_path_factory.mktemp("linux"))
    files.flash.write_bytes(formatted())
    with recording("shared-linux", {"flash": files.flash}) as machine:
        mounted(machine, 1)
        keyboard(machine, "linux")
        assert interrupts(machine, "spi") == 0, "polls"
        ask(machine, "echo first life >/mnt/file; sync; ls /mnt", r"file +lives")
        # jffs2 erases the last sector in the background, reads it, and marks it as clean.
        marker = f"dd if=/dev/mtd0 bs=4 skip={(len(WINDOW) - 1) * SECTOR // 4} count=1 2>/dev/null | hexdump"
        ask(machine, f"until {marker} | grep 1985; do sleep 1; done", r"0000000 1985 2003")
        command(machine, "r")
        machine.expect(HYPERVISOR, r"linux stopped by the console, starts again", SOON_S)
        mounted(machine, 2)
        ask(machine, "cat /mnt/file", r"\nfirst life\n")
        leave(machine)
        logged = records(machine)
        assert logged == list(range(len(logged)))
        assert len(logged) > 5
    return files


def test_linux_erases_and_programs(lived):
    """Each sector of the window has a clean marker, and one or more have nodes of files."""
    used = [sector_of(lived, number) for number in WINDOW]
    assert all(data.startswith(CLEAN) for data in used)
    assert any(data[len(CLEAN) : len(CLEAN) + 2] == CLEAN[:2] for data in used)


def test_no_other_sectors(lived):
    """The other VM's sectors have its records, and those of nobody are erased."""
    for number in set(range(SECTORS)) - set(WINDOW):
        data = sector_of(lived, number)
        slots = [data[at : at + RECORD] for at in range(0, SECTOR, RECORD)]
        written = [slot for slot in slots if slot != b"\xff" * RECORD]
        assert not written or number in LOG, number
        assert all(slot[:4] == b"TLOG" for slot in written), number


def test_another_machine_by_interrupts(lived, tmp_path):
    """It has the same content. On the newer QEMU, with a clock at which Linux's driver does not poll."""
    files = files_in(tmp_path)
    shutil.copy(lived.flash, files.flash)
    first = sector_of(lived, WINDOW[0])
    with recording("shared-linux-interrupts", {"flash": files.flash}, qemu=NEWER_QEMU) as machine:
        found_window(machine)
        machine.expect("linux", LINUX_PROMPT, BOOT_S)
        keyboard(machine, "linux")
        before = interrupts(machine, "spi")
        assert before > 0, "the chip's identification"
        digest = hashlib.md5(first[:1024], usedforsecurity=False).hexdigest()
        ask(machine, "head -c 1024 /dev/mtd0 | md5sum", digest)
        assert interrupts(machine, "spi") - before >= 1024 // 8
        # Into the first sector's end, which is erased.
        ask(machine, f"echo interrupted | dd of=/dev/mtd0 bs=16 seek={SECTOR // 16 - 1} 2>&1", r"0\+1 records out")
        leave(machine)
    assert sector_of(files, WINDOW[0]) == first[:-16] + b"interrupted\n" + b"\xff" * 4
    for number in WINDOW[1:]:
        assert sector_of(files, number) == sector_of(lived, number), number


FLOOD_LINES, MARKED = 200, 50  # of the flood, and those from one with a question mark to the next
WORDS = [f"word {number}" for number in range(FLOOD_LINES // MARKED)]  # what the terminal answers to the flood
NUMBERS = "1 2 3 4 5 6"  # of Linux's lines with each of these
ANSWERS = ["one", "two words"]  # to Linux's questions


def until_said(machine: Machine, what: str) -> None:
    machine.expect("linux", rf"^{what}: 0\n", BOOT_S)


def repeats_words(machine: Machine) -> None:
    """Linux sends lines with each word that it receives, while the other VM sends lines without pause. That VM starts
    when Linux has read its command, which takes Linux longer than the other one's lines."""
    loop = f'read -r word <&3; for i in {NUMBERS}; do echo "$i $word of Linux" >&3; done'
    tell(machine, "linux", f"echo waits: $?; for n in $(seq {len(WORDS)}); do {loop}; done; echo repeated: $?")
    until_said(machine, "waits")
    keyboard(machine, "flood")
    command(machine, "g")
    machine.expect("flood", r"shared: done, 0 wrong\n", BOOT_S)
    until_said(machine, "repeated")


def asks_questions(machine: Machine) -> None:
    """Nobody else uses the UART. A question is an incomplete line, so that it is sent after a time."""
    question = 'printf "question $n? " >&3; read -r line <&3; echo "answer: $line" >&3'
    tell(machine, "linux", f"for n in $(seq {len(ANSWERS)}); do {question}; done; echo asked: $?")
    until_said(machine, "asked")
    machine.expect("linux", LINUX_PROMPT, BOOT_S)


@pytest.fixture(scope="module")
def terminal(tmp_path_factory) -> tuple[list[tuple[int, str]], int]:
    """The lines that the terminal has received, with their owners, and the interrupts that Linux has counted."""
    folder = tmp_path_factory.mktemp("uart")
    files: dict[str, Path] = {name: folder / name for name in ("uart", "typed")}
    files["typed"].write_text("".join(f"{line}\n" for line in WORDS + ANSWERS), encoding="ascii")
    with recording("shared-linux-uart", files) as machine:
        machine.expect("linux", LINUX_PROMPT, BOOT_S)
        keyboard(machine, "linux")
        ask(machine, "exec 3<>/dev/ttyS1; stty raw -echo <&3; echo opened: $?", r"\nopened: 0\n")
        before = interrupts(machine, "ttyS1")
        repeats_words(machine)
        asks_questions(machine)
        counted = interrupts(machine, "ttyS1") - before
        leave(machine)
    return owned_lines(files["uart"]), counted


def test_each_vms_lines_at_the_terminal(terminal):
    """They are whole and in order, those of the flood and those of Linux."""
    lines, _ = terminal
    sent = {owner: [line for number, line in lines if number == owner] for owner in (0, 1)}
    assert len(lines) == sum(map(len, sent.values()))
    assert sent[1] == [f"line {n} of FFFFFFFF{'?' * (n % MARKED == 0)}" for n in range(FLOOD_LINES)]
    repeated = [f"{i} {word} of Linux" for word in WORDS for i in NUMBERS.split()]
    assert sent[0] == repeated + [f"question {n}? answer: {line}" for n, line in enumerate(ANSWERS, 1)]


def test_linux_is_not_held_up_by_the_flood(terminal):
    """It has sent all lines with a word before the next one comes, within the time of the flood's lines until then."""
    lines, _ = terminal
    for number, word in enumerate(WORDS):
        last = lines.index((0, f"{NUMBERS[-1]} {word} of Linux"))
        assert last < lines.index((1, f"line {number * MARKED + MARKED - 1} of FFFFFFFF")), word


def test_linux_does_not_poll_the_uart(terminal):
    """Each line that it receives is an interrupt, and each answer another one, which may be the last of several: the
    driver sends all that has space."""
    assert terminal[1] >= 2 * len(WORDS + ANSWERS)
