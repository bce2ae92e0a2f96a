# SPDX-License-Identifier: Apache-2.0
"""
Work that the manager of accelerators divides: many VCPUs that wait for a device, several regions that expire at
once, several devices of a VM that have to be requested again. Each of its non-preemptible sections is within the bound.
"""

import pytest
from test_many import measured


@pytest.mark.long
@pytest.mark.parametrize(
    ("system", "said"),
    [
        pytest.param("accel-many", "accel_load: 62 apps", marks=pytest.mark.long),
        ("accel-starts", "accel_load: done"),
    ],
)
def test_sections_of_the_manager(system: str, said: str) -> None:
    with measured(system) as machine:
        assert said in machine.console.text("load")
    kinds = {kind for section in machine.worst.sections for kind in section.kind}
    assert {"accel_interrupt", "accel_continue"} <= kinds
