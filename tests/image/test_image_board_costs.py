# SPDX-License-Identifier: Apache-2.0
"""The costs of RT apps in a board's file: a board without RT apps has none."""

import pytest
from fixtures import SYSTEM

from tessera.image import layout

COSTS = ("rt-release-ns = <920>;", "rt-switch-ns = <800>;", "rt-blocked-ns = <1600 13000 34000 120000>;")
FUNCTIONS = "rt-blocked-functions-ns = <1600 17000 80000 500000>;"
TEXT = SYSTEM.replace('"qemu-virt"', '"alt"')


@pytest.mark.parametrize("cost", COSTS)
def test_a_board_with_rt_apps_has_costs(builder, cost) -> None:
    builder.make_board((cost, ""))
    prop = cost.partition(" ")[0]
    assert any(f"/: {prop}: missing; expected it unless max-rt-apps is 0" in line for line in builder.refuse(TEXT))


def test_a_board_with_several_harts_has_the_section_beside_functions(builder) -> None:
    builder.make_board((FUNCTIONS, ""))
    said = "/: rt-blocked-functions-ns: missing; expected it on several harts unless max-rt-apps is 0"
    assert any(said in line for line in builder.refuse(TEXT))


def test_a_board_with_one_hart_needs_no_section_beside_functions(builder) -> None:
    builder.make_board((FUNCTIONS, ""), ("harts = <8>;", "harts = <1>;"))
    image = builder.build(TEXT.replace("harts = <2>;", "harts = <1>;"))
    assert layout.HEADER.unpack(image.files["tessera.bin"])["rt_blocked_ns"] == 8_000


def test_a_board_without_rt_apps_needs_none(builder) -> None:
    builder.make_board(
        *((cost, "") for cost in (*COSTS, FUNCTIONS)), ("harts = <8>;", "harts = <8>; max-rt-apps = <0>;")
    )
    builder.build(TEXT)


@pytest.mark.parametrize("cost", [COSTS[2], FUNCTIONS])
def test_a_board_has_a_section_for_each_number_of_harts(builder, cost) -> None:
    prop = cost.partition(" ")[0]
    builder.make_board((cost, f"{prop} = <1600 13000>;"))
    said = f"/: {prop}: expected 4 numbers, for 1, 2, 4 ... 8 harts, got 2"
    assert any(said in line for line in builder.refuse(TEXT))


@pytest.mark.parametrize(("pci", "blocked"), [("", 13_000), ('pci { rng { model = "virtio-rng"; }; };', 17_000)])
def test_admission_counts_the_locks_of_queues(builder, pci, blocked) -> None:
    builder.make_board(("rt-firmware-ns = <8000>;", "rt-firmware-ns = <0>;"))
    image = builder.build(TEXT.replace('sign-of-life = "two up";', f'sign-of-life = "two up"; {pci}'))
    assert layout.HEADER.unpack(image.files["tessera.bin"])["rt_blocked_ns"] == blocked


@pytest.mark.parametrize(("pci", "least"), [("", 20), ('pci { rng { model = "virtio-rng"; }; };', 24)])
def test_the_reserve_leaves_time_for_the_locks_of_queues(builder, pci, least) -> None:
    """A reserve of 1 us, an app of 1 us, its release and switches, 6.52 us, and blocking."""
    builder.make_board(("rt-firmware-ns = <8000>;", "rt-firmware-ns = <0>;"))
    text = TEXT.replace("harts = <2>;", "harts = <2>;\n\tbe-reserve-us = <1 2>;")
    text = text.replace('sign-of-life = "two up";', f'sign-of-life = "two up"; rt-apps = <1>; {pci}')
    said = f"be-reserve-us: expected a second number of {least + 2} or more"
    assert any(said in line for line in builder.refuse(text)), builder.refuse(text)
