# SPDX-License-Identifier: Apache-2.0
"""
Best effort's reserve: beside the apps that ask for most of what is admitted, and use it up, the operator's keys,
guests' input and watchdogs are served within the bound; what would break it is refused by name and figure.
"""

from collections.abc import Iterator

import pytest
from lab import (
    SOON_S,
    VIRTUAL,
    await_life,
    booted,
    built,
    command,
    keyboard,
    rt_end,
    rt_rows,
    rt_start,
    states,
    tell,
)

from tessera.bench_parse import gaps
from tessera.machine import HYPERVISOR, Machine

LATE_US = 10000  # the default bound, and the reserve in it
RESERVE_US = 1000
FOR_EVER = 4_000_000_000  # jobs that never end
NS_PER_US = 1000
# The watchdog's 20 ms, the bound, a restart of 4 MiB in the turns that best effort has, and what it takes to ask.
CYCLE_MS = 100
RESTARTS = 10

SETS = {
    "one of a long budget": ["10000:8980:10000"],
    "three, one after the other": ["10000:2980:10000", "10000:2980:10000", "20000:3000:20000"],
    "short periods": ["100:87:100"],
    "the shortest gaps": ["20:16:20"],
}


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    system = built("rt-reserve")
    with booted(system, "rt-reserve", *VIRTUAL) as machine:
        await_life(machine, system)
        yield machine


def refused(machine: Machine, spec: str, hypervisor: str, manager: str) -> str:
    """The hypervisor says why, and the manager by rt_strerror(). Returns the figure in its line."""
    machine.skip(HYPERVISOR)
    tell(machine, "rtm", f"start {spec}:{FOR_EVER}")
    found = machine.expect(HYPERVISOR, rf"^rtm: app {hypervisor}$", SOON_S)
    machine.expect("rtm", rf"^rtm: app .*: {manager}$", SOON_S)
    return found[1]


def test_a_budget_of_35_minutes_is_refused(machine: Machine) -> None:
    """It was admitted, on every hart, and nobody could stop it."""
    refused(machine, "2147483647:2147483547:2147483647",
            r"0 refused: budget (2147483547) us, rt-budget-max-us allows 9000",
            "the budget is longer than rt-budget-max-us")  # fmt: skip
    refused(machine, "2147483647:9001:2147483647", r"0 refused: budget (9001) us, rt-budget-max-us allows 9000",
            "the budget is longer than rt-budget-max-us")  # fmt: skip


def test_what_would_break_the_bound_is_refused(machine: Machine) -> None:
    """By the sum of the apps, each of which would be admitted."""
    rt_start(machine, f"20000:8000:20000:{FOR_EVER}")
    least = refused(machine, "16000:8000:16000",
                    rf"1 refused: best effort would get {RESERVE_US} us of CPU 0 in no less than (\d+) us, "
                    rf"be-reserve-us allows {LATE_US}",
                    "best effort would get be-reserve-us too late")  # fmt: skip
    assert LATE_US < int(least) < 2 * LATE_US
    rt_end(machine, 0)


@pytest.mark.parametrize("name", SETS)
def test_best_effort_never_waits_longer_than_the_bound(machine: Machine, name: str) -> None:
    """The operator's keys take effect beside the apps: one of them starts the guest that watches for gaps."""
    for spec in SETS[name]:
        rt_start(machine, f"{spec}:{FOR_EVER}")
    keyboard(machine, "watch")
    machine.skip("watch")
    command(machine, "g")
    machine.expect("watch", r"^BENCH done$", SOON_S)
    longest = max(after - before for before, after in gaps(machine.console.text("watch").rpartition("role")[2]))
    assert longest <= (LATE_US - RESERVE_US) * NS_PER_US + 2 * LATE_US, name
    if name == "one of a long budget":
        assert longest >= 8980 * NS_PER_US, "the set is not the worst that is admitted"
    assert states(machine)["rtm"]["vcpus"] == f"{1 + len(SETS[name])}/9"
    for number in range(len(SETS[name])):
        rt_end(machine, number)


@pytest.mark.parametrize("name", ["one of a long budget", "the shortest gaps"])
def test_a_watchdog_expires_beside_the_apps(machine: Machine, name: str) -> None:
    """Judged by the app's releases, each a period."""
    (spec,) = SETS[name]
    period_ms = int(spec.split(":")[0]) / 1000
    rt_start(machine, f"{spec}:{FOR_EVER}")
    keyboard(machine, "sleeper")
    command(machine, "g")
    machine.expect(HYPERVISOR, r"^sleeper stopped by its watchdog, starts again$", SOON_S)
    begun, before = rt_rows(machine)[0]["releases"], int(states(machine)["sleeper"]["restarts"])
    for _ in range(RESTARTS):
        machine.expect(HYPERVISOR, r"^sleeper stopped by its watchdog, starts again$", SOON_S)
    restarts = int(states(machine)["sleeper"]["restarts"]) - before
    passed_ms = (rt_rows(machine)[0]["releases"] - begun) * period_ms
    assert restarts >= RESTARTS
    assert passed_ms / restarts <= CYCLE_MS, (passed_ms, restarts)
    keyboard(machine, "sleeper")
    command(machine, "s")
    machine.expect(HYPERVISOR, r"^sleeper stopped by the console$", SOON_S)
    rt_end(machine, 0)
