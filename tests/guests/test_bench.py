# SPDX-License-Identifier: Apache-2.0
"""The benchmark guest run natively: only the firmware is measured, and all figures are known or
bounded."""

import json
import re

import pytest
from conftest import COUNTED

NATIVE = {  # two reads of instret, and the instructions between them
    "riscv.bench.baseline": 1,
    "riscv.mmio.uart_load": 2,
    "riscv.mmio.uart_load.scr": 2,
    "riscv.mmio.uart_store.scr": 2,
    "riscv.plic.claim": 2,
    "riscv.plic.claim.none": 2,
    "riscv.plic.complete": 2,
    "riscv.plic.claim_complete": 4,
    "riscv.plic.claim_complete.again": 3,
    "riscv.plic.priority_load": 2,
    "riscv.plic.enable_store": 2,
}
FIRMWARE = ["riscv.sbi.base", "riscv.sbi.set_timer", "riscv.sbi.ipi_self", "riscv.sbi.ipi_self.handler"]
TICK = 100  # instructions in a tick of the time CSR at shift=0


def run(boot, cpu: str = "") -> dict[str, dict]:
    machine = boot("bench", *COUNTED, cpu=cpu)
    machine.expect("bench", r"^BENCH done")
    assert machine.status(30) == 0
    lines = re.findall(r"^BENCH (\{.*\})$", machine.console.text("bench"), re.MULTILINE)
    return {figure["metric"]: figure for figure in map(json.loads, lines)}


@pytest.fixture(scope="module")
def native(boot_once):
    return run(boot_once)


def test_operations_without_firmware_have_known_costs(native):
    for metric, instructions in NATIVE.items():
        figure = native[metric]
        assert (figure["min"], figure["max"], figure["n"]) == (instructions, instructions, 100), metric


def test_firmware_costs_something(native):
    for metric in FIRMWARE:
        assert 100 < native[metric]["min"] <= native[metric]["median"] <= native[metric]["max"] < 2000, metric


def test_no_hypercalls_without_a_hypervisor(native):
    assert not [metric for metric in native if "hypercall" in metric]


def test_sstc_is_late_by_less_than_a_tick(native):
    figure = native["riscv.timer.latency.sstc"]
    assert figure["n"] == 200
    assert 0 <= figure["min"] < 10, "no deadline was met at once"
    assert TICK - 10 < figure["max"] <= TICK, "the phases do not cover the whole tick"


def test_firmware_timer_adds_what_the_firmware_needs(boot):
    figures = run(boot, cpu=",sstc=false")
    assert "riscv.timer.latency.sstc" not in figures
    assert figures["riscv.timer.latency.sbi"]["min"] > 100


def test_figures_are_repeatable(boot, native):
    assert run(boot) == native


def test_switch_role_alone_gives_up(boot):
    """Without another VM there are no gaps: the guest must report this and end."""
    machine = boot("bench", *COUNTED, "-append", "quiet role=switch patience=30")
    machine.expect("bench", r"^bench: switch role, VM -1")
    machine.expect("bench", r"^bench: only 0 gaps of 200")
    machine.expect("bench", r"^BENCH done")
