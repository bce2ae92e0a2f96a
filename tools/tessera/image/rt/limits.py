# SPDX-License-Identifier: Apache-2.0
"""The limits of RT-VMs on each hart, and the reserve of best effort: checks and defaults."""

from tessera.image.model import Board
from tessera.image.validate import Read

LIMITS = ("rt-harts", "rt-share-max", "rt-budget-max-us", "rt-period-max-us")


def _share_left(system: Read) -> int:
    """Returns the percentage of a hart that best effort's reserve leaves to RT apps, rounded
    down."""
    reserve, late = system["be-reserve-us"]
    return (late - reserve) * 100 // late


def _budget_left(system: Read) -> int:
    reserve, late = system["be-reserve-us"]
    return late - reserve


def limit_fields(system: Read, vm: Read) -> dict[str, int]:
    """Returns the limits of a VM's RT apps, as the system image has them. The system must have been checked."""
    harts = range(system["harts"]) if vm["rt-harts"] is None else vm["rt-harts"]
    return {
        "rt_harts": sum(1 << hart for hart in harts),
        "rt_share_max": vm["rt-share-max"] or max(1, _share_left(system)),
        "rt_budget_max_us": vm["rt-budget-max-us"] or _budget_left(system),
    }


def check_rt(system: Read, vms: list[Read], board: Board) -> None:
    """Reports limits that contradict each other, and harts that the system does not have."""
    rt_vms = [vm for vm in vms if vm["rt-apps"]]
    for vm in vms:
        _check_given(vm)
    for vm in rt_vms:
        _check_harts(system, vm)
        _check_period(vm)
    if system["be-reserve-us"] and system["harts"] and _check_reserve(system, vms, board):
        for vm in rt_vms:
            _check_leaves(system, vm)


def _check_given(vm: Read) -> None:
    for prop in LIMITS:
        if vm.given(prop) and not vm["rt-apps"]:
            vm.problem(prop, "expected only on a VM with rt-apps")


def _check_harts(system: Read, vm: Read) -> None:
    for hart in vm["rt-harts"] or ():
        if system["harts"] and hart >= system["harts"]:
            vm.problem("rt-harts", f"expected harts from 0 to {system['harts'] - 1}, which the system uses, got {hart}")


def _check_period(vm: Read) -> None:
    budget, period = vm["rt-budget-max-us"], vm["rt-period-max-us"]
    if budget and period and period < budget:
        vm.problem("rt-period-max-us", f"expected rt-budget-max-us, {budget}, or more, got {period}")


def _check_reserve(system: Read, vms: list[Read], board: Board) -> bool:
    """Reports a bound too short for the reserve and, with RT apps, for the smallest app; returns
    whether it holds."""
    reserve, late = system["be-reserve-us"]
    has_apps = any(vm["rt-apps"] for vm in vms)
    functions = any(vm.children["pci"].children for vm in vms if "pci" in vm.children)
    costs = board.rt_costs(min(system["harts"], board.harts), functions)  # check_harts() reports too many harts
    least_ns = 1000 + costs.release_ns + costs.switch_ns + costs.blocked_ns
    least = reserve + (-(-least_ns // 1000) if has_apps else 0)
    if late >= least:
        return True
    what = "the reserve and an RT app of 1 us take" if has_apps else "the reserve takes"
    system.problem("be-reserve-us", f"expected a second number of {least} or more, which {what}, got {late}")
    return False


def _check_leaves(system: Read, vm: Read) -> None:
    for prop, most in (("rt-share-max", _share_left(system)), ("rt-budget-max-us", _budget_left(system))):
        if vm[prop] and vm[prop] > most:
            vm.problem(prop, f"expected at most {most}, which be-reserve-us leaves, got {vm[prop]}")
