# SPDX-License-Identifier: Apache-2.0
"""Runs guests natively on a machine with the fabric's RTL, on both QEMUs."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tessera.run.cosim import FabricOptions, fabric_arguments
from tessera.run.machine import Machine
from tessera.run.runner import ROOT, Qemu, console_arguments, find_qemu
from tessera.run.virtualtime import By, virtual_time

COUNTED = virtual_time(By.COMMAND)
QEMUS = {"7.2": "qemu-system-riscv64", "10.0": str(ROOT / "cache/qemu-new/qemu-system-riscv64")}
TIMEOUT_S = 60


@dataclass(frozen=True)
class Run:
    """The guest's lines, the figures of the model, and the changes of the regions."""

    lines: tuple[str, ...]
    stats: dict[str, int]
    trace: str

    def said(self, start: str) -> str:
        """The rest of the only line that starts with these words."""
        found = [line.removeprefix(f"fabric: {start}") for line in self.lines if line.startswith(f"fabric: {start}")]
        assert len(found) == 1, f"{len(found)} lines start with '{start}':\n" + "\n".join(self.lines)
        return found[0]


def image_of(guest: str) -> Path:
    return ROOT / "build/guests" / guest / f"{guest}.bin"


def guest_text(qemu: Qemu, name: str, machine: tuple[str, ...], options: FabricOptions) -> str:
    """Runs a guest until it has shut the machine down; returns what it has printed."""
    command = [qemu.program, "-M", "virt", "-cpu", qemu.cpu, "-m", "128M", *console_arguments(), *machine]
    command += ["-kernel", str(image_of(name)), *fabric_arguments(qemu, options=options)]
    with Machine(command, [name]) as running:
        running.expect(name, rf"{name}: done", TIMEOUT_S)
        assert running.wait_until(lambda: not running.running, TIMEOUT_S), "the machine does not shut down"
        return running.console.text(name)


def run_guest(qemu: Qemu, folder: Path, *, machine: tuple[str, ...] = COUNTED, quantum: int | None = None) -> Run:
    """Runs the guest `fabric`."""
    folder.mkdir(parents=True, exist_ok=True)
    options = FabricOptions(quantum=quantum, trace=folder / "trace", stats=folder / "stats.json")
    text = guest_text(qemu, "fabric", machine, options)
    lines = tuple(line for line in re.split(r"[\r\n]+", text) if line.startswith("fabric: "))
    return Run(lines, json.loads((folder / "stats.json").read_text()), (folder / "trace").read_text())


@pytest.fixture(scope="session", params=QEMUS)
def qemu(request) -> Qemu:
    found = find_qemu(QEMUS[request.param])
    assert ".".join(map(str, found.version)) == request.param, f"{found.program} is version {found.version}"
    return found


@pytest.fixture(scope="session")
def run(qemu, tmp_path_factory) -> Run:
    """One run in virtual time."""
    return run_guest(qemu, tmp_path_factory.mktemp("run"))


@pytest.fixture
def run_again(qemu, tmp_path) -> Callable[..., Run]:
    """run_again(quantum=...): another run."""
    return lambda **options: run_guest(qemu, tmp_path / "again", **options)
