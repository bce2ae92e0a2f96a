# SPDX-License-Identifier: Apache-2.0
"""An RT app that declares its accelerator, beside VMs that flood the regions and the ICAP, over the
fabric's RTL: what admission accepts is never late."""

import re
from pathlib import Path

import pytest
from helpers import BOOT_S, NEWER_QEMU, OUT, boot_command, built

from tessera.bench.delay import bound_us, delays, with_trace
from tessera.run.machine import HYPERVISOR, Machine

PERIOD_US, DEADLINE_US = 2537, 1000  # systems/bench/rt-device.dts
CONFIGURE_NS = 40_000  # of region 0, a cycle for each word


def traced(system: str, *arguments: str, qemu: str | None = None) -> tuple[list[str], Path]:
    """QEMU's command, and the file for the changes of the regions."""
    OUT.mkdir(parents=True, exist_ok=True)
    trace = OUT / f"{system}.regions"
    return [*with_trace(boot_command(built(system), qemu=qemu), trace), *arguments], trace


@pytest.mark.parametrize("qemu", [pytest.param(None, marks=pytest.mark.long), NEWER_QEMU], ids=["default", "newer"])
def test_an_accepted_app_is_never_late(qemu):
    """Each job on the device is over before the next release, and sooner than its bound."""
    words, trace = traced("rt-device", qemu=qemu)
    with Machine(words, built("rt-device").names, OUT / "rt-device.log") as machine:
        machine.expect("modem", r"modem: done", BOOT_S)
        text = machine.console.text("modem")
    right = r"modem: qam16: \d+ jobs on the device, 0 in software, 0 late, 0 wrong; \d+ releases, 0 misses"
    assert re.search(right, text), text
    found, bound = delays(text, trace), bound_us(text)
    print(f"rt.device.delay: {max(found)} ns at most in {len(found)} jobs, bound {1000 * bound:.0f} ns")
    assert len(found) >= 25
    assert bound <= PERIOD_US - DEADLINE_US
    assert CONFIGURE_NS < max(found) < 1000 * bound, "some job had to wait for a configuration, none for longer"


def test_an_app_that_declares_too_much_is_refused():
    """The console and the guest name the delay."""
    words, _ = traced("rt-device-refused")
    with Machine(words, built("rt-device-refused").names, OUT / "rt-device-refused.log") as machine:
        machine.expect("modem", r"modem: done", BOOT_S)
        text, said = machine.console.text("modem"), machine.console.text(HYPERVISOR)
    assert "modem: the app is not launched: a job on a device could last beyond an app's next release" in text
    found = re.search(r"modem: app 0 refused: a job of modem's app 0 on a device would take up to (\d+) us", said)
    assert found, said
    assert int(found[1]) >= bound_us(text)
