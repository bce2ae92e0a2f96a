# SPDX-License-Identifier: Apache-2.0
"""How late a ticker is beside a VM that is loaded again and again; with two VMs it is a bound of test_bounds.py."""

from helpers import BOOT_S, built

from tessera.bench_machine import run_until
from tessera.bench_metrics import read_metrics
from tessera.bench_parse import figures
from tessera.runner import Qemu


def test_a_third_vm_that_computes(qemu: Qemu) -> None:
    """Each of the other two has a quantum of 1 ms before the ticker's turn; loading takes no more."""
    said = run_until(qemu, built("load-three"), "ticker", r"^BENCH done$", BOOT_S)
    late = figures(said)["riscv.load.late.max"]
    assert 1000 < late.max <= read_metrics()["riscv.load.late.max"].goal
