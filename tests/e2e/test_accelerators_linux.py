# SPDX-License-Identifier: Apache-2.0
"""
Accelerators as PCI functions (docs/accelerators.md): a program in Linux's user space runs jobs of two of them
from Python, by uio_pci_generic, beside a bare VM that uses the same devices at a higher priority.
"""

import base64
import gzip
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers import BOOT_S, LINUX_PROMPT, booted, built, keyboard, tell

from tessera.run.machine import Machine

pytestmark = pytest.mark.long  # the tutorial's test (tests/docs/test_systems.py) runs the same programs

CHUNK = 600  # characters that are typed in a line: busybox's shell takes 1023
SCRIPTS = Path(__file__).parent / "guest"
FRAMES = 12
BLOCKS = 2


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    with booted(built("accel-python"), "accel-python") as machine:
        machine.expect("other", r"^accel: done, 0 wrong", BOOT_S)
        machine.expect("linux", LINUX_PROMPT, BOOT_S)
        yield machine


def ask(machine: Machine, line: str, answer: str) -> re.Match[str]:
    """Runs a shell command in Linux; returns the match of `answer` in its output, after the next prompt."""
    tell(machine, "linux", line)
    found = machine.expect("linux", answer, BOOT_S)
    machine.expect("linux", LINUX_PROMPT, BOOT_S)
    return found


def upload(machine: Machine, file: Path) -> None:
    """Types a file into Linux's working directory."""
    text = base64.b64encode(gzip.compress(file.read_bytes())).decode()
    for at in range(0, len(text), CHUNK):
        ask(machine, f"echo {text[at : at + CHUNK]} {'>>' if at else '>'}typed; echo typ''ed", r"^typed$")
    ask(machine, f"base64 -d <typed | gunzip >{file.name}; wc -c <{file.name}", rf"^{file.stat().st_size}$")


def test_jobs_from_python(machine):
    """Each result is compared with Python's own, and the process has slept until interrupts."""
    found = ask(machine, f"python3 dsp.py {FRAMES}", r"^dsp: (\w+), slept until (\d+) interrupts$")
    assert found[1] == "correct"
    assert int(found[2]) > 0
    said = machine.console.text("linux")
    assert f"dsp: qam16: {FRAMES} frames of 256 bytes, 0 wrong numbers" in said


def test_shared_devices_from_python(machine):
    """Blocks are written to the flash, read back and copied; the checksums are the same, and the process has slept."""
    found = ask(machine, f"python3 blocks.py {BLOCKS}", r"^blocks: (\w+), slept until (\d+) interrupts$")
    assert found[1] == "correct"
    assert int(found[2]) > 0
    sums = re.findall(r"written (\w{8}), read from the flash (\w{8}), copied (\w{8})", machine.console.text("linux"))
    assert len(sums) == len({one[0] for one in sums}) == BLOCKS
    assert all(len(set(one)) == 1 for one in sums)


def test_functions_in_sysfs(machine):
    """What identifies them: class, subsystem ids; their driver; the resources, which are pages and memory."""
    where = "/sys/bus/pci/devices/0000:00:0"
    ask(machine, f"cat {where}0.0/class {where}1.0/subsystem_device | tr '\\n' ' '; echo", r"^0x120000 0x0003 $")
    ask(machine, f"ls {where}*/driver/module/drivers", r"uio_pci_generic")
    ask(
        machine,
        f"head -n 3 {where}0.0/resource | cut -c 1-38 | tr '\\n' ' '; echo",
        r"^0x0{8}18100000 0x0{8}18100fff .*0x0{8}a0000000 0x0{8}a01fffff",
    )


def test_programs_that_misbehave(machine):
    """guest/functions.py, shared_functions.py: BARs, the interrupt's status and disable bit, DMA outside of the memory,
    random writes, killed processes; pages that the VM does not have."""
    for name in ("functions.py", "shared_functions.py"):
        upload(machine, SCRIPTS / name)
        said = ask(machine, f"python3 {name} 2>&1; echo status $?", r"^status (\d+)$")
        assert said[1] == "0", machine.console.text("linux")[-3000:]


def test_restart(machine):
    """With the programs of the test before; also with interrupts that are disabled and pending when the VM ends."""
    ask(
        machine,
        'python3 -c \'from functions import *; Function(QAM16, Memory()).begin_and_wait(); print("ov" + "er")\'',
        r"^over$",
    )
    keyboard(machine, "linux")
    machine.skip("linux")
    machine.send("reboot\r")
    machine.expect("linux", r"^dsp: correct", BOOT_S)
    machine.expect("linux", LINUX_PROMPT, BOOT_S)
