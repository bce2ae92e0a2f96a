# SPDX-License-Identifier: Apache-2.0
"""
Work that the manager of accelerators divides: many VCPUs that wait for a device, several regions that expire at
once, several devices of a VM that have to be requested again. Each of its non-preemptible sections is within the bound.
"""

import pytest
from test_many import measured


@pytest.mark.parametrize(
    ("system", "said", "by"),
    [
        ("accel-many", "accel_load: 62 apps", {"vdm_interrupt", "vdm_continue"}),
        ("accel-starts", "accel_load: done", {"vdm_interrupt"}),
    ],
)
def test_sections_of_the_manager(system: str, said: str, by: set[str]) -> None:
    """In accel-starts, vdm_continue() has work only if a START is written in the few hundred nanoseconds in which the
    region leaves its device. Whether one is depends on the lengths of the hypervisor's paths; tests/manager writes
    them there."""
    with measured(system) as machine:
        assert said in machine.console.text("load")
    kinds = {kind for section in machine.worst.sections for kind in section.kind}
    assert by <= kinds
