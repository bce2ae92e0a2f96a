# SPDX-License-Identifier: Apache-2.0
"""Timer lateness of a VM while another VM is reloaded repeatedly; test_bounds.py has the bound for
two VMs."""

from helpers import BOOT_S, built

from tessera.bench.machine import run_until
from tessera.bench.metrics import read_metrics
from tessera.bench.parse import figures
from tessera.run.runner import Qemu


def test_lateness_with_a_third_computing_vm(qemu: Qemu) -> None:
    """Each of the other two VMs may use its quantum of 1 ms before the ticker's slice; loading
    takes no longer."""
    said = run_until(qemu, built("load-three"), "ticker", r"^BENCH done$", BOOT_S)
    late = figures(said)["riscv.load.late.max"]
    assert 1000 < late.max <= read_metrics()["riscv.load.late.max"].goal
