# SPDX-License-Identifier: Apache-2.0
"""QEMU's virtual clock while all harts sleep (tessera.run.virtualtime)."""

import time
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from helpers import NEWER_QEMU, SOON_S, VIRTUAL, booted, built, command, wait_for_signs_of_life

from tessera.run.hosttime import Limit
from tessera.trace.take import Qmp

MTIME = 0x0200BFF8  # QEMU's machine "virt"
HZ = 10_000_000
YEAR_S = 365 * 24 * 3600


def clock_s(qmp: Qmp) -> float:
    said = qmp.ask("human-monitor-command", **{"command-line": f"xp /1gx {MTIME:#x}"})
    return int(said.split()[1], 16) / HZ


@pytest.mark.parametrize("qemu", [None, NEWER_QEMU])
def test_machine_that_sleeps_without_a_deadline(qemu):
    """The clock advances, but not to its end, and a key still wakes the machine."""
    system = built("console-load-keys")  # all VCPUs wait for a key, none for a timer
    with TemporaryDirectory() as folder:
        socket = Path(folder) / "qmp"
        words = (*VIRTUAL, "-qmp", f"unix:{socket},server=on,wait=off")
        with booted(system, "virtual-time", *words, qemu=qemu) as machine:
            wait_for_signs_of_life(machine, system)
            qmp = Qmp(socket)
            limit = Limit(machine.process.pid, SOON_S)
            while clock_s(qmp) < 100:
                assert limit.left() > 0, limit.words()
                time.sleep(0.1)
            assert clock_s(qmp) < YEAR_S
            machine.skip("one")
            command(machine, "r")
            machine.expect("one", r"console_load: up$", SOON_S)
            assert clock_s(qmp) < YEAR_S
            qmp.close()
