# SPDX-License-Identifier: Apache-2.0
"""The parser of the shared console, on which all other end-to-end tests rely."""

import sys

import pytest

from tessera.run.machine import FIRMWARE, HYPERVISOR, Console, Machine, MachineTimeoutError, line_pattern

GREEN, PLAIN, ERASE, CUT = "\x1b[32m", "\x1b[0m", "\r\x1b[K", "\x1b[m"


def prefix(name):
    return f"{GREEN}{name:<8}|{PLAIN} "


def fed(*pieces, names=("linux", "uboot")):
    console = Console(names)
    for piece in pieces:
        console.feed(piece)
    return console


OUTPUT = (
    f"OpenSBI v1.1 | not a VM\r\n{prefix('tessera')}hello\r\n{prefix('linux')}a | b\r\n"
    f"{prefix('uboot')}{GREEN}=> {PLAIN}\r\n{prefix('linux')}\x1b[6nhalf"
)


@pytest.mark.parametrize("cut", range(len(OUTPUT)))
def test_output_is_sorted_by_vm_however_it_is_split(cut):
    console = fed(OUTPUT[:cut], OUTPUT[cut:])
    assert console.text(FIRMWARE) == "OpenSBI v1.1 | not a VM\n"
    assert console.text(HYPERVISOR) == "hello\n"
    assert console.text("linux") == "a | b\nhalf"
    assert console.text("uboot") == "=> \n"


@pytest.mark.parametrize("cut", range(len(OUTPUT)))
def test_text_only_grows_while_a_line_comes(cut):
    assert fed(OUTPUT).text("linux").startswith(fed(OUTPUT[:cut]).text("linux"))


def test_a_line_that_was_erased_and_drawn_again_counts_once():
    console = fed(f"{prefix('linux')}$ l{ERASE}{prefix('uboot')}=> \r\n{prefix('linux')}$ ls\r\n")
    assert console.text("linux") == "$ ls\n"
    assert console.text("uboot") == "=> \n"


@pytest.mark.parametrize("piece", [1, 7, 1000])
def test_split_line_is_joined(piece):
    """Also with lines of other VMs in between."""
    output = f"{prefix('linux')}linux is{CUT}\r\n{prefix('uboot')}x\r\n{prefix('linux')} up\r\n"
    console = fed(*(output[at : at + piece] for at in range(0, len(output), piece)))
    assert console.text("linux") == "linux is up\n"
    assert console.said("linux", "linux is up") == "linux is up"
    assert console.said("uboot", "linux is up") is None
    assert fed(output[: output.index("x\r\n")]).text("linux") == "linux is"


def test_without_a_hypervisor_all_output_is_the_guests():
    console = fed("OpenSBI | v1.1\r\nlinux    | x\r\n", names=["uboot"])
    assert console.text("uboot") == "OpenSBI | v1.1\nlinux    | x\n"


def test_expect_matches_in_order_and_names_the_silent_vm():
    script = f"print({prefix('linux') + 'one two'!r}); import sys; print({prefix('linux')!r} + sys.stdin.readline())"
    with Machine([sys.executable, "-u", "-c", script], ["linux", "uboot"]) as machine:
        machine.expect("linux", "one", timeout=10)
        machine.send("three\n")
        machine.expect("linux", "^three", timeout=10)
        with pytest.raises(MachineTimeoutError, match=r"(?s)linux: /one/: QEMU has ended \(status 0\).*  three"):
            machine.expect("linux", "one", timeout=10)
        with pytest.raises(MachineTimeoutError, match=r"\(nothing\)"):
            machine.expect("uboot", "=> ", timeout=1)


@pytest.mark.parametrize(("said", "found"), [
    ("42\n", True),
    ("42[   25.493337] hrtimer: interrupt took 39059800 ns\n", True),
    ("42[1]\n", False),
    ("421\n", False),
])  # fmt: skip
def test_a_line_may_end_before_a_message_of_linux(said: str, found: bool):
    assert bool(line_pattern("^42$").search(f"first\n{said}")) == found
    assert not line_pattern(r"^42\$").search(said)


def test_a_character_is_not_shown_as_its_bytes():
    """The last byte of U+00DB is CSI: as a character of a message it would begin a control sequence."""
    script = r"import os, time; [os.write(1, bytes([c])) or time.sleep(0.01) for c in '\xdb2J'.encode() + b'|\x9b2J\n']"
    with Machine([sys.executable, "-u", "-c", script], ["linux"]) as machine:
        machine.expect("linux", "J$", timeout=10)
        assert machine.console.last("linux") == ["\xdb2J|\ufffd2J"]


def test_incomplete_line_has_no_end():
    script = f"import sys; print({prefix('linux') + 'by its watc'!r}, end=''); sys.stdin.readline(); print('hdog')"
    with Machine([sys.executable, "-u", "-c", script], ["linux", "uboot"]) as machine:
        machine.expect("linux", "by", timeout=10)
        with pytest.raises(MachineTimeoutError):
            machine.expect("linux", "c$", timeout=1)
        machine.send("\n")
        machine.expect("linux", "hdog$", timeout=10)


def test_incomplete_number_is_not_matched():
    script = "import sys; print('ticks 7', end=''); sys.stdin.readline(); print('0 of', 9); sys.stdin.readline()"
    with Machine([sys.executable, "-u", "-c", script], ["adpcm"]) as machine:
        machine.expect("adpcm", "ticks", timeout=10)
        with pytest.raises(MachineTimeoutError):
            machine.expect("adpcm", r"(\d+)", timeout=1)
        machine.send("\n")
        assert machine.expect("adpcm", r"(\d+)", timeout=10)[1] == "70"
        assert machine.expect("adpcm", r"of \d+", timeout=10)[0] == "of 9"
