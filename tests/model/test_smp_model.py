# SPDX-License-Identifier: Apache-2.0
"""
Model checking of the protocol between CPUs (tests/model/smp/smp.pml: kicks, remote fences, stop and
restart of a VM, messages). spin explores every interleaving, and must find injected faults.
"""

import re
import subprocess
from pathlib import Path

import pytest

from tessera.run.runner import ROOT

MODEL = ROOT / "tests" / "model" / "smp" / "smp.pml"
DEPTH = 20_000  # steps of one execution

# Actions of the guests, which spin explores in all orders.
SCENARIOS = {
    "kicks": ("N_SEND=2", "N_TURNS=1"),
    "three senders": ("N_SEND=1", "N_SEND_OWN=1", "N_RING=1"),
    "a line": ("N_SEND=1", "N_RING=1", "BY_LINE=1"),
    "fences": ("N_FENCE0=1", "N_FENCE1=1", "N_TURNS=1"),
    "a restart": ("N_SEND=2", "N_RESTART=1"),
    "a restart, and a line": ("N_SEND=1", "N_RING=1", "N_RESTART=1", "BY_LINE=1"),
    "a restart, and fences": ("N_FENCE0=1", "N_FENCE1=1", "N_RESTART=1"),
    "a reset, and a message": ("N_SEND=1", "N_RESET=1", "N_TURNS=1"),
    "a VCPU turns off and on": ("N_OFF=1", "N_ON=1", "N_FENCE0=1", "N_SEND=1"),
}

# Injected faults, each with the scenario that detects it.
FAULTS = {
    "FAULT_CLEAR_LATE": "kicks",  # the software interrupt is cleared after its reasons are read
    "FAULT_WAIT_BLIND": "kicks",  # a VCPU blocks without checking pending interrupts
    "FAULT_FENCE_KEEPS": "fences",  # the TLB entries of a VCPU that does not run are kept
    "FAULT_STOP_EARLY": "a restart",  # a stop does not wait for running VCPUs
    "FAULT_END_LEAVES": "a restart",  # the steps of a stop omit a blocked VCPU
    "FAULT_UNLOCK_SILENT": "a line",  # a line raised under the VM's lock wakes no VCPU
    "FAULT_PENDING_STAYS": "a restart",  # pending interrupts survive the restart
    "FAULT_INBOX_EARLY": "a restart",  # the inbox accepts messages during the load
    "FAULT_LINE_LATE": "a restart, and a line",  # the line is raised for a closed inbox
}


def explore(folder: Path, *defines: str) -> str:
    """Output of spin's verifier, which explores all executions or stops at the first error."""
    options = [f"-D{define}" for define in defines]
    subprocess.run(["spin", "-a", *options, str(MODEL)], cwd=folder, check=True, capture_output=True, timeout=60)
    subprocess.run(["gcc", "-w", "-DSAFETY", "-DCOLLAPSE", "-o", "pan", "pan.c"], cwd=folder, check=True, timeout=120)
    run = ["./pan", f"-m{DEPTH}", "-w22"]
    return subprocess.run(run, cwd=folder, check=True, capture_output=True, text=True, timeout=300).stdout


def errors(output: str) -> int:
    found = re.search(r"errors: (\d+)$", output, re.MULTILINE)
    assert found, output
    return int(found[1])


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_protocol_holds(tmp_path: Path, scenario: str) -> None:
    output = explore(tmp_path, *SCENARIOS[scenario])
    assert errors(output) == 0, output
    assert "max search depth too small" not in output
    assert "Search not completed" not in output


@pytest.mark.long
@pytest.mark.parametrize("fault", FAULTS)
def test_an_injected_fault_is_found(tmp_path: Path, fault: str) -> None:
    output = explore(tmp_path, fault, *SCENARIOS[FAULTS[fault]])
    assert errors(output) == 1, output


def test_the_model_names_existing_functions() -> None:
    """Every function named in a comment of the model exists in the code."""
    text = MODEL.read_text(encoding="utf-8")
    sources = "".join(
        path.read_text(encoding="utf-8")
        for part in ("core", "ipc", "arch/riscv")
        for path in (ROOT / part).rglob("*.[chS]")
    )
    comments = " ".join(re.findall(r"/\*.*?\*/", text, re.DOTALL))
    for name in re.findall(r"\b(\w+)\(\)", comments):
        assert re.search(rf"\b{name}\b", sources), f"{name}() is not in the code"
