# SPDX-License-Identifier: Apache-2.0
"""The limits of RT-VMs and the reserve of best effort in the system image."""

from fixtures import SYSTEM
from image_reader import read_image

LIMITS = ("rt_harts", "rt_share_max", "rt_budget_max_us", "rt_period_max_us")


def limits(builder, system: str = "", vm: str = "") -> tuple[tuple[int, int], tuple[int, ...]]:
    """The image's reserve and the limits of VM `two`, given these properties."""
    text = SYSTEM.replace("\tharts = <2>;", f"\tharts = <2>; {system}").replace('"two up";', f'"two up"; {vm}')
    image = read_image(builder.build(text).files["tessera.bin"])
    reserve = (image.header["be_reserve_us"], image.header["be_late_us"])
    return reserve, tuple(image.vms[1].fields[name] for name in LIMITS)


def test_default_limits(builder):
    """The bound for best effort is 10 ms, and the apps may use the remaining time."""
    assert limits(builder, "", "rt-apps = <1>;") == ((1000, 10000), (0b11, 90, 9000, 0x7FFFFFFF))


def test_defaults_leave_the_reserve(builder):
    assert limits(builder, "be-reserve-us = <333 1000>;", "rt-apps = <1>;")[1][1:3] == (66, 667)
    assert limits(builder, "be-reserve-us = <500 1000000>;", "rt-apps = <1>;")[1][1:3] == (99, 999500)


def test_limits_of_the_source(builder):
    vm = "rt-apps = <1>; rt-harts = <1>; rt-share-max = <50>; rt-budget-max-us = <500>; rt-period-max-us = <600>;"
    assert limits(builder, "be-reserve-us = <100 1000>;", vm) == ((100, 1000), (0b10, 50, 500, 600))
    assert limits(builder, "", "rt-apps = <1>; rt-harts = <1 0>;")[1][0] == 0b11
