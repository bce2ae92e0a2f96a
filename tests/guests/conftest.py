# SPDX-License-Identifier: Apache-2.0
"""Bare-metal guests on the machine itself, without a hypervisor: what they do there is what they must do in a VM."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tessera.machine import Machine
from tessera.runner import ROOT, Qemu, console_arguments, find_qemu

COUNTED = ("-icount", "shift=0,sleep=off")


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
    """boot("bench", "-append", "..."): that guest of build/guests under OpenSBI, its console under its own name."""
    yield from _booting(qemu)


@pytest.fixture(scope="module")
def boot_once(qemu) -> Iterator[Callable[..., Machine]]:
    """The same for what the tests of a module share."""
    yield from _booting(qemu)
