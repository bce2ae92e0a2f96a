# SPDX-License-Identifier: Apache-2.0
"""Lint of the SoC in RTL, at several numbers of VMs."""

import subprocess
from pathlib import Path

import pytest
import sources
from rtl_tools import FPGA, packages, search_arguments


def ours(output: str, *others: str) -> list[str]:
    """Verilator's messages, without its summary and those about files with others' names in their path."""
    messages = [line for line in output.splitlines() if line.startswith("%") and "Exiting due" not in line]
    return [line for line in messages if not any(name in line for name in others)]


def complaints(top: str, **parameters: int) -> str:
    """Verilator's messages, with all warnings on, about our files of the SoC."""
    folder = FPGA.parent / "build" / "soc" / "lint"
    sets = [f"-G{name}={value}" for name, value in parameters.items()]
    done = subprocess.run(
        ["verilator", "--lint-only", "-Wall", "--no-timing", "--top-module", top, *sets, *sources.arguments(folder),
         str(sources.RTL / f"{top}.sv")],
        env=sources.environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    checkout = sources.checkout()
    return "\n".join(ours(done.stderr, "pythondata_cpu_cva6", *([str(checkout)] if checkout else [])))


LONG = pytest.mark.long


@pytest.mark.parametrize(
    "vms", [*(pytest.param(vms, marks=LONG) for vms in ((1, 1), (2, 2), (10, 10))), (16, 5)], ids=str
)
def test_lint(vms):
    own, shared = vms
    assert complaints("soc_top", NumVms=own, NumSharedVms=shared) == ""


@LONG
def test_more_vms_than_interrupt_sources_are_refused():
    assert "more VMs than sources of the PLIC" in complaints("soc_top", NumVms=16, NumSharedVms=6)


def test_lint_of_the_port_of_a_core_with_h():
    """The core itself is not here: a stub has its ports."""
    stub = Path(__file__).with_name("stub_core.sv")
    done = subprocess.run(
        ["verilator", "--lint-only", "-Wall", "--no-timing", "--top-module", "soc_core", *search_arguments(),
         str(FPGA / "waivers.vlt"), str(sources.SOC / "waivers.vlt"), *map(str, packages()),
         str(sources.RTL / "soc_pkg.sv"), str(stub), str(sources.SOC / "core-h" / "soc_core.sv")],
        env=sources.environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    complaints_of_port = ours(done.stderr, "stub_core")
    assert complaints_of_port == []
