# SPDX-License-Identifier: Apache-2.0
"""
The protocol between CPUs (tests/model/smp/smp.pml: kicks, remote fences, stop and restart of a VM, messages), followed
by spin through every order of its steps; and with faults planted, which it must find.
"""

import re
import subprocess
from pathlib import Path

import pytest

from tessera.run.runner import ROOT

MODEL = ROOT / "tests" / "model" / "smp" / "smp.pml"
DEPTH = 20_000  # steps of one way through

# What the guests do, in all orders.
SCENARIOS = {
    "kicks": ("N_SEND=2", "N_TURNS=1"),
    "three senders": ("N_SEND=1", "N_SEND_OWN=1", "N_RING=1"),
    "a line": ("N_SEND=1", "N_RING=1", "BY_LINE=1"),
    "fences": ("N_FENCE0=1", "N_FENCE1=1", "N_TURNS=1"),
    "a restart": ("N_SEND=2", "N_RESTART=1"),
    "a restart, and a line": ("N_SEND=1", "N_RING=1", "N_RESTART=1", "BY_LINE=1"),
    "a restart, and fences": ("N_FENCE0=1", "N_FENCE1=1", "N_RESTART=1"),
    "a reset, and a message": ("N_SEND=1", "N_RESET=1", "N_TURNS=1"),
    "a VCPU that goes and comes": ("N_OFF=1", "N_ON=1", "N_FENCE0=1", "N_SEND=1"),
}

# The fault, and the scenario that shows it.
FAULTS = {
    "FAULT_CLEAR_LATE": "kicks",  # the software interrupt is cleared after its reasons were taken
    "FAULT_WAIT_BLIND": "kicks",  # a VCPU blocks without a look at what was raised meanwhile
    "FAULT_FENCE_KEEPS": "fences",  # a VCPU that does not run is not made to forget
    "FAULT_STOP_EARLY": "a restart",  # the end does not wait for VCPUs that run
    "FAULT_END_LEAVES": "a restart",  # the end's steps leave a VCPU that sleeps
    "FAULT_UNLOCK_SILENT": "a line",  # nobody wakes the VCPU whose line came up under its VM's lock
    "FAULT_PENDING_STAYS": "a restart",  # what was raised is not forgotten with the memory
    "FAULT_INBOX_EARLY": "a restart",  # the inbox is open while the memory is loaded
    "FAULT_LINE_LATE": "a restart, and a line",  # the line follows an inbox that is closed
}


def explore(folder: Path, *defines: str) -> str:
    """What spin's verifier says; it goes all ways, or to the first error."""
    options = [f"-D{define}" for define in defines]
    subprocess.run(["spin", "-a", *options, str(MODEL)], cwd=folder, check=True, capture_output=True, timeout=60)
    subprocess.run(
        ["gcc", "-O1", "-w", "-DSAFETY", "-DCOLLAPSE", "-o", "pan", "pan.c"], cwd=folder, check=True, timeout=120
    )
    run = ["./pan", f"-m{DEPTH}", "-w22"]
    return subprocess.run(run, cwd=folder, check=True, capture_output=True, text=True, timeout=300).stdout


def errors(said: str) -> int:
    found = re.search(r"errors: (\d+)$", said, re.MULTILINE)
    assert found, said
    return int(found[1])


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_protocol_holds(tmp_path: Path, scenario: str) -> None:
    said = explore(tmp_path, *SCENARIOS[scenario])
    assert errors(said) == 0, said
    assert "max search depth too small" not in said
    assert "Search not completed" not in said


@pytest.mark.long
@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(tmp_path: Path, fault: str) -> None:
    said = explore(tmp_path, fault, *SCENARIOS[FAULTS[fault]])
    assert errors(said) == 1, said


def test_the_model_names_functions_that_there_are() -> None:
    """Each inline is named after a function of the C code, or is said to stand for some."""
    text = MODEL.read_text(encoding="utf-8")
    sources = "".join(
        path.read_text(encoding="utf-8")
        for part in ("core", "ipc", "arch/riscv")
        for path in (ROOT / part).rglob("*.[chS]")
    )
    comments = " ".join(re.findall(r"/\*.*?\*/", text, re.DOTALL))
    for name in re.findall(r"\b(\w+)\(\)", comments):
        assert re.search(rf"\b{name}\b", sources), f"{name}() is no function of the code"
