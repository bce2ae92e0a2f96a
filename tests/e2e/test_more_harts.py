# SPDX-License-Identifier: Apache-2.0
"""
A system with more harts than the host has processors: the runner makes QEMU run the harts in turn, and says so. With a
thread for each hart, VMs that contend for locks stall the system for good: keys are not answered.
"""

import os
import subprocess
import sys

import pytest
from helpers import BOOT_S, NEWER_QEMU, ROOT, booted, built, built_with_harts, states, wait_for_signs_of_life

from tessera.run import runner
from tessera.run.machine import HYPERVISOR

QEMU = r"""#!/bin/sh
case "$*" in *--version*) echo "QEMU emulator version 7.2.0" ;; *-kernel*) echo "$@" ;; esac
"""


@pytest.mark.parametrize("name", ["locks", "accel-harts"])
@pytest.mark.parametrize("qemu", [None, NEWER_QEMU], ids=["qemu", "newer"])
def test_keys_are_answered(name: str, qemu: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """
    From the boot on, while VMs contend for locks. The work of the VMs ends on the newer QEMU: on QEMU 7.2 the holder of
    a lock can be left without a turn.
    """
    monkeypatch.setattr(runner, "host_processors", lambda: 2)
    system = built_with_harts(name, 4)
    with booted(system, f"more-harts-{name}", qemu=qemu) as machine:
        machine.expect(HYPERVISOR, "^Tessera on", BOOT_S)
        for _ in range(3):
            assert states(machine).keys() == set(system.names)
        if qemu is not None:
            wait_for_signs_of_life(machine, system)


@pytest.mark.parametrize(("processors", "notices"), [(1, True), (2, False)])
def test_the_runner_decides_and_says_so(processors, notices, tmp_path):
    """A system with two harts."""
    usable = os.sched_getaffinity(0)
    if len(usable) < processors:
        pytest.skip("this host has one processor")
    fake = tmp_path / "qemu"
    fake.write_text(QEMU)
    fake.chmod(0o755)
    system = built("storm")
    script = (
        "import sys; sys.path.insert(0, 'tools'); from pathlib import Path; import run\n"
        "folder = Path(sys.argv.pop())\n"
        "run.load_system = lambda name, load=run.load_system: load(name, folder)\n"
        "sys.exit(run.main())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, "run", "--system", system.name, str(system.image.parents[2])],
        cwd=ROOT, env={**os.environ, "QEMU": str(fake)}, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        check=False, preexec_fn=lambda: os.sched_setaffinity(0, sorted(usable)[:processors]),
    )  # fmt: skip
    assert ("QEMU runs the harts in turn" in done.stderr) == notices, done
    assert ("-icount shift=0,sleep=on" in done.stdout) == notices, done
