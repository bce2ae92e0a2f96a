# SPDX-License-Identifier: Apache-2.0
"""
Upper bounds on what the hypervisor costs, in instructions: the goals of scripts/bench-metrics.tsv. Counts under
-icount repeat exactly, so a bound that holds today fails only when the code has become dearer.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from tessera.bench_collect import MEASUREMENTS, Bench
from tessera.bench_metrics import read_metrics
from tessera.runner import BuiltSystem, Qemu

METRICS = read_metrics()
BOUNDED = {
    "operations": [
        "riscv.hypercall.get_id",
        "riscv.sbi.base",
        "riscv.timer.added",
        "riscv.mmio.uart_load",
        "riscv.plic.claim_complete",
    ],
    "switch": ["riscv.switch.quantum"],
    "messages": ["riscv.ipc.send.100", "riscv.ipc.recv.100", "riscv.ipc.delivery.100"],
    "boot": ["riscv.boot.first_guest_insn"],
    "linux": ["riscv.linux.boot_ratio"],
    "size": ["riscv.size.text", "riscv.size.loc"],
}


@pytest.fixture(scope="module")
def measured(
    qemu: Qemu, build_system: Callable[..., BuiltSystem], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, float]:
    """The statistic of each metric that its goal is about, measured in a VM."""
    for name in ("bench", "switch", "bench-ipc", "bench-linux"):
        build_system(name)
    bench = Bench(qemu, Path(tmp_path_factory.mktemp("bench")))
    for measurement in BOUNDED:
        MEASUREMENTS[measurement](bench)
    found = [taken.figure for taken in bench.taken if taken.system != "native"]
    return {figure.metric: figure.stat(METRICS[figure.metric].stat) for figure in found if figure.metric in METRICS}


@pytest.mark.parametrize("metric", [name for names in BOUNDED.values() for name in names])
def test_bound(measured: dict[str, float], metric: str) -> None:
    goal = METRICS[metric].goal
    assert goal is not None
    assert metric in measured, "not measured"
    assert measured[metric] <= goal
