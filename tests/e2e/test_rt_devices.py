# SPDX-License-Identifier: Apache-2.0
"""An RT app that declares its accelerator, beside VMs that flood the regions and the configuration port, over the
fabric's RTL: what admission accepts is never late."""

import re
from itertools import pairwise
from pathlib import Path

import pytest
from helpers import BOOT_S, NEWER_QEMU, OUT, boot_command, built

from tessera.run.machine import HYPERVISOR, Machine

PERIOD_US, DEADLINE_US, BUDGET_US = 2537, 1000, 120  # tests/e2e/systems/accel-delay.dts
COSTS_NS = 920 + 800 + 8000  # platform/qemu-virt/board.dts: a release, a switch, and the blocking on one hart
CONFIGURE_NS = 40_000  # of region 0, a cycle for each word
TICK_NS = 100
MODEM, QAM16 = "0", "0"  # its number in the fabric, and the device's


def ends(trace: Path) -> list[int]:
    """When jobs of the app ended, in ns: it is never preempted."""
    rows = [line.split() for line in trace.read_text(encoding="utf-8").splitlines()[1:]]
    rows = [row for row in rows if row[1] == "0"]  # of its region
    return [
        int(after[0])
        for before, after in pairwise(rows)
        if before[2:5] == ["busy", MODEM, QAM16] and after[2] != "busy"
    ]


def bound_us(text: str) -> float:
    """The bound on a job's delay: what HCALL_RT_USE_DEVICE returned, a job of the app, and the end of its budget."""
    found = re.search(r"modem: a job on the device takes at most (\d+) us, apps aside", text)
    assert found, text
    return int(found[1]) + BUDGET_US + COSTS_NS / 1000


def traced(system: str, *arguments: str, qemu: str | None = None) -> tuple[list[str], Path]:
    """QEMU's command, and the file for the changes of the regions."""
    OUT.mkdir(parents=True, exist_ok=True)
    trace = OUT / f"{system}.regions"
    words = boot_command(built(system), qemu=qemu)
    words[words.index("-plugin") + 1] += f",trace={trace}"
    return [*words, *arguments], trace


@pytest.mark.parametrize("qemu", [None, NEWER_QEMU], ids=["default", "newer"])
def test_an_accepted_app_is_never_late(qemu):
    """Each job on the device is over before the next release, and sooner than its bound."""
    words, trace = traced("accel-delay", qemu=qemu)
    with Machine(words, built("accel-delay").names, OUT / "accel-delay.log") as machine:
        machine.expect("modem", r"modem: done", BOOT_S)
        text = machine.console.text("modem")
    right = r"modem: qam16: \d+ jobs on the device, 0 in software, 0 late, 0 wrong; \d+ releases, 0 misses"
    assert re.search(right, text), text
    started = [int(ticks) * TICK_NS for ticks in re.findall(r"modem: job \d+ started at (\d+)", text)]
    ended = ends(trace)
    delays = [min(end for end in ended if end > start) - start for start in started[:-1]]
    bound = bound_us(text)
    print(f"rt.device.delay: {max(delays)} ns at most in {len(delays)} jobs, bound {1000 * bound:.0f} ns")
    assert len(delays) >= 25
    assert bound <= PERIOD_US - DEADLINE_US
    assert CONFIGURE_NS < max(delays) < 1000 * bound, "some job had to wait for a configuration, none for longer"


def test_an_app_that_declares_too_much_is_refused():
    """The console and the guest name the delay."""
    words, _ = traced("accel-delay-refused")
    with Machine(words, built("accel-delay-refused").names, OUT / "accel-delay-refused.log") as machine:
        machine.expect("modem", r"modem: done", BOOT_S)
        text, said = machine.console.text("modem"), machine.console.text(HYPERVISOR)
    assert "modem: the app is not launched: a job on a device could last beyond an app's next release" in text
    found = re.search(r"modem: app 0 refused: a job of modem's app 0 on a device would take up to (\d+) us", said)
    assert found, said
    assert int(found[1]) >= bound_us(text)
