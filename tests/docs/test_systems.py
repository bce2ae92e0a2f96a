# SPDX-License-Identifier: Apache-2.0
"""The tutorials that build and run a system."""

import os
import re
from dataclasses import replace

from reader import BOOT_S, ESCAPE, LINUX_PROMPT, command, commands, leave, missing, type_turns, until_shown
from terminal import Terminal, read_file

from check import tutorials

PROMPT = rf"{LINUX_PROMPT} *$"


def test_two_commands(blocks, reader):
    """README.md: the first command is executed here, the second by continuous integration."""
    run, test = commands(blocks[0])
    assert re.search(rf"^exec {test}\b", (reader.tree / ".ci" / "run").read_text(), re.MULTILINE)
    with reader.terminal(run) as shown:
        for name in ("linux", "freertos", "uboot"):
            shown.until(rf"^{name} *\|", BOOT_S)
        shown.write(f"{ESCAPE}h".encode())
        shown.until(r"^tessera *\| .*quit")
        shown.write(f"{ESCAPE}2".encode())
        shown.until(r"^tessera *\| keyboard: freertos$")
        shown.write(f"{ESCAPE}n".encode())
        shown.until(r"^tessera *\| keyboard: uboot$")
        shown.write(f"{ESCAPE}l".encode())
        shown.until(r"^tessera *\| \* +3 uboot +running")
        leave(shown)


def test_commands_in_the_text(reader):
    """The commands outside of blocks are those that other suites run, or that take hours: make accepts them. Recursive
    calls, of which `bench` has hundreds, do nothing."""
    for line in tutorials.inline_commands(reader.tree):
        reader.run(line.replace("make ", "make -n MAKE=: ", 1))


def test_first_guest(blocks, reader):
    _, _, system, mistake, run, sleeps, smoke = blocks
    before = reader.replace(system.listing, "hello {\n\t\t\tmemory-size", "hello {\n\t\t\tmemory-sise")
    assert mistake.text.strip() in reader.run(command(run), status=2)
    (reader.tree / system.listing).write_text(before)
    with reader.terminal(command(run)) as shown:
        shown.until(r"^freertos *\| freertos: self-check passed$", BOOT_S)
        shown.until(r"^hello *\| hello: hart 0 of VM 0$")
        shown.write(b"help\r")
        shown.until(r"^freertos *\| help +this list$")
        shown.write(f"{ESCAPE}l".encode())
        shown.until(r"^tessera *\|.* 2 freertos")
        shown.write(f"{ESCAPE}l".encode())  # of the time since the first list
        until_shown(shown, sleeps)
        leave(shown)
    said = reader.run(command(smoke))
    assert "smoke: all 2 VMs of 'hello' are alive" in said


def test_first_accelerator(blocks, reader):
    *_, check, _guest, _rule, _system, run, shown_lines = blocks
    assert " passed" in reader.run(command(check))
    with reader.terminal(command(run)) as shown:
        until_shown(shown, shown_lines)
        until_shown(shown, replace(shown_lines, text=of_other_vm(shown_lines.text)))
        shown.until(r"power off")


def of_other_vm(text: str) -> str:
    """The lines of the VM without the device: the same symbols, in software."""
    return text.replace("radio", "plain").replace("device", "software")


def test_sdk_example(blocks, reader):
    reader.run("make guest-small")
    assert (reader.tree / "build/guests/hello/hello.bin").is_file()


def test_control_loop(blocks, reader):
    source, _, _, run, statistics, load, refusal = blocks
    with reader.terminal(command(run)) as shown:
        until_shown(shown, statistics)
        shown.until(PROMPT, BOOT_S)
        shown.write(f"{command(load)}\r".encode())
        reports = shown.text.count("motor: control:")
        shown.wait(lambda: shown.text.count("motor: control:") >= reports + 3, BOOT_S, "three reports under load")
        late = re.findall(r"motor: control: (\d+) jobs, (\d+) ended, (\d+) late, (\d+) budgets", shown.text)
        assert all(int(jobs) - int(ended) <= 1 and lost == "0" for jobs, ended, *rest in late for lost in rest), late
        leave(shown)
    before = reader.replace(
        source.listing, "start(&tasks[1], stacks[1], 10000, 3000)", "start(&tasks[1], stacks[1], 10000, 9700)"
    )
    with reader.terminal(command(run)) as shown:
        until_shown(shown, refusal)
        leave(shown)
    (reader.tree / source.listing).write_text(before)


def test_messages(blocks, reader):
    """Each line has one answer."""
    run, _, transcript = blocks[0].text.partition("\n")
    with reader.terminal(run.removeprefix("$ ")) as shown:
        shown.until(PROMPT, BOOT_S)
        for answer, said in type_turns(shown, "linux", transcript):
            # A line of FreeRTOS may divide the command's echo.
            assert [row for row in said if re.match(r"\d+: ", row)] == answer.splitlines()
        leave(shown)


def test_network(blocks, reader):
    """east has the keyboard."""
    run, transcript, *listings = blocks
    assert [one.listing for one in listings] == [
        f"systems/network.dts#{part}" for part in ("functions", "host", "uplink")
    ]
    with reader.terminal(command(run)) as shown:
        shown.until(r"^east *\| linux:~# *$", BOOT_S)
        shown.until(r"^rtos *\| web: ", BOOT_S)
        shown.until(r"^west *\| linux:~# *$", BOOT_S)
        for answer, said in type_turns(shown, "east", transcript.text):
            assert missing(answer, [], "\n".join(said)) is None, said
        leave(shown)


def test_encryption(blocks, reader):
    assert [one.listing for one in blocks] == ["systems/bench/bench-crypto.dts#functions"]
    assert "are alive" in reader.run("make smoke SYSTEM=bench-crypto")


def test_linux_accelerators(blocks, reader):
    run, transcript, *listings = blocks
    assert [one.listing for one in listings] == [
        "systems/python.dts#vm",
        *("guests/examples/dsp/accelerator.py#finish", "guests/examples/dsp/hardware_io.py#wait"),
    ]
    with reader.terminal(command(run)) as shown:
        shown.until(r"^linux *\| linux:~# *$", BOOT_S)
        for answer, said in type_turns(shown, "linux", transcript.text):
            assert missing(answer, transcript.varies, "\n".join(said)) is None, said
        leave(shown)


def test_storage(blocks, reader):
    """The disk keeps the number of Linux's starts over two runs."""
    *listings, shows = blocks
    assert [one.listing for one in listings] == [f"systems/storage.dts#{part}" for part in ("storage", "disk")]
    (line,) = re.findall(r"^linux:~# (.*)$", shows.text, flags=re.MULTILINE)
    (reader.tree / "build/guests/storage/disk.img").unlink(missing_ok=True)  # it may have been used
    for life in (1, 2):
        with reader.terminal("make run SYSTEM=storage") as shown:
            shown.until(rf"disk: life {life}", BOOT_S)
            shown.until(PROMPT, BOOT_S)
            shown.write(f"{line}\r".encode())
            shown.until(rf"^linux *\| {life}$", BOOT_S)
            leave(shown)


def test_watchdog(blocks, reader):
    _, report = blocks
    with reader.terminal("make run SYSTEM=watchdog") as shown:
        until_shown(shown, report)
        shown.wait(lambda: shown.text.count("watchdog: round 10") >= 2, BOOT_S, "a second life")
        leave(shown)


def test_output_to_a_file(blocks, reader):
    """Every line of a VM is written once and complete."""
    log = reader.tree / "log"
    log.write_bytes(b"")
    with reader.terminal(command(blocks[0])) as shown:
        shown.wait(lambda: b"freertos: self-check passed" in log.read_bytes(), BOOT_S, "the sign of life in the file")
        shown.write(f"{ESCAPE}q".encode())
        shown.wait(lambda: b" bye" in log.read_bytes(), BOOT_S, "the end of the run")
    assert log.read_bytes().count(b"freertos: self-check passed\r") == 1
    assert b"\x1b[K" not in log.read_bytes()


def test_pseudo_terminals(blocks, reader):
    run, _, paths = blocks[0].text.partition("\n")
    shows = replace(blocks[0], text=paths)
    with reader.terminal(run.removeprefix("$ ")) as shown:
        until_shown(shown, shows)
        file = os.open(reader.tree / "build/systems/demo/console-freertos", os.O_RDWR | os.O_NOCTTY)
        freertos = Terminal(lambda seconds: read_file(file, seconds), lambda keys: os.write(file, keys))
        freertos.until(r"^freertos: self-check passed$", BOOT_S)
        freertos.write(b"help\r")
        freertos.until(r"^help +this list$")
        os.close(file)
        leave(shown)
