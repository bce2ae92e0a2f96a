# SPDX-License-Identifier: Apache-2.0
"""The costs of RT apps in a board's file: a board without RT apps has none."""

import pytest
from fixtures import SYSTEM

COSTS = ("rt-release-ns = <920>;", "rt-switch-ns = <800>;", "rt-blocked-ns = <1600 13000 34000 120000>;")
TEXT = SYSTEM.replace('"qemu-virt"', '"alt"')


@pytest.mark.parametrize("cost", COSTS)
def test_a_board_with_rt_apps_has_costs(builder, cost) -> None:
    builder.make_board((cost, ""))
    prop = cost.partition(" ")[0]
    assert any(f"/: {prop}: missing; expected it unless max-rt-apps is 0" in line for line in builder.refuse(TEXT))


def test_a_board_without_rt_apps_needs_none(builder) -> None:
    builder.make_board(*((cost, "") for cost in COSTS), ("harts = <8>;", "harts = <8>; max-rt-apps = <0>;"))
    builder.build(TEXT)
