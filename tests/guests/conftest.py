# SPDX-License-Identifier: Apache-2.0
"""Bare-metal guests run natively, without a hypervisor: their behaviour in a VM must be the
same."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile

import pytest

from tessera.run import hosttime
from tessera.run.machine import Machine
from tessera.run.runner import ROOT, Qemu, console_arguments, find_qemu
from tessera.run.virtualtime import By, virtual_time

COUNTED = virtual_time(By.COMMAND)


@pytest.fixture(scope="session")
def qemu() -> Qemu:
    """The QEMU under test: QEMU= or the one in PATH."""
    return find_qemu()


def _booting(qemu: Qemu) -> Iterator[Callable[..., Machine]]:
    with ExitStack() as running:

        def start(guest: str, *arguments: str, cpu: str = "") -> Machine:
            command = [qemu.program, "-M", "virt", "-cpu", f"{qemu.cpu}{cpu}", "-m", "128M", *console_arguments()]
            command += ["-kernel", str(ROOT / "build" / "guests" / guest / f"{guest}.bin"), *arguments]
            return running.enter_context(Machine(command, [guest]))

        yield start


@pytest.fixture
def boot(qemu) -> Iterator[Callable[..., Machine]]:
    """boot("bench", "-append", "..."): boots that guest of build/guests under OpenSBI; its console
    has the guest's name."""
    yield from _booting(qemu)


@pytest.fixture(scope="module")
def boot_once(qemu) -> Iterator[Callable[..., Machine]]:
    """The same for machines shared by the tests of a module."""
    yield from _booting(qemu)


CLOCK_HZ = 100_000_000
IASIM = ROOT / "build" / "iasim" / "release" / "iasim"


@dataclass(frozen=True)
class Run:
    """The output of a MIPS32 guest on iasim, iasim's own messages, and the exit code."""

    printed: str
    remarks: str
    code: int

    def counted(self, what: str) -> int:
        """The number after `what` in the statistics."""
        found = re.search(rf"{what} +(\d+)", self.remarks)
        assert found, f"no '{what}' in:\n{self.remarks}"
        return int(found[1])


def simulate(guest: str, *options: str, typed: Sequence[tuple[float, str]] = (), limit: str = "400M") -> Run:
    """
    Runs that guest of build/guests-mips natively on iasim's generic board for at most `limit`
    instructions. `typed`: (seconds of 100 million clocks, text). The run is deterministic.
    """
    image = ROOT / "build" / "guests-mips" / guest / f"{guest}.elf"
    keys = [(round(at * CLOCK_HZ), byte) for at, text in typed for byte in text.encode()]
    with NamedTemporaryFile() as record:
        Path(record.name).write_text("".join(f"{at} {byte}\n" for at, byte in keys))
        command = [str(IASIM), "run", "--board", "generic", "--limit", limit, "--replay", record.name, *options]
        done = hosttime.run([*command, str(image)], 300)
    return Run(done.stdout.decode().replace("\r", ""), done.stderr.decode(), done.returncode)
