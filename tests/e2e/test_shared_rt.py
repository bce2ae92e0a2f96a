# SPDX-License-Identifier: Apache-2.0
"""An RT app that declares the shared flash, over its RTL: what admission accepts is never late."""

import re

import pytest
from helpers import BOOT_S, SOON_S, booted, built

from tessera.run.machine import HYPERVISOR

PERIOD_US, DEADLINE_US = 600, 100  # tests/e2e/systems/shared-rt.dts


@pytest.mark.long  # of test_rt_devices.py, the same of an accelerator is not
def test_an_accepted_read_is_never_late():
    with booted(built("shared-rt"), "shared-rt") as machine:
        machine.expect("sampler", r"sampler: done", BOOT_S)
        machine.expect("flood", r"0 failed", SOON_S)
        said = machine.console.text("sampler")
    bound = re.search(r"a read takes at most (\d+) us beside all other VMs", said)
    assert bound is not None, said
    assert int(bound[1]) <= PERIOD_US - DEADLINE_US
    assert re.search(r"sampler: 6\d reads in time, 0 late, 0 wrong", said), said


def test_a_read_without_a_short_bound_is_refused():
    """One that could last beyond the app's next release, and one beside a VM of its priority without a budget."""
    with booted(built("shared-rt-refused"), "shared-rt-refused") as machine:
        machine.expect("tight", r"not declared: a request could last beyond the app's next release \(\d{3}\)", BOOT_S)
        machine.expect("equal", r"not declared: other VMs may use it for any time", BOOT_S)
        why = r"equal: shared device 1 refused for an app: a VM that it may wait for has no budget: rival"
        machine.expect(HYPERVISOR, why, SOON_S)
