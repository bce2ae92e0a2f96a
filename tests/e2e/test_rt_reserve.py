# SPDX-License-Identifier: Apache-2.0
"""
The reserve of best effort: with the most demanding sets of apps that are admitted, which use their
whole budgets, the operator's keys, guest input and watchdogs are served within the bound. Apps that
would break the bound are refused. On one hart, and on four harts whose apps are released at the
same times; in virtual time.
"""

from collections.abc import Iterator

import pytest
from helpers import (
    NEWER_QEMU,
    SOON_S,
    TURN_US,
    TURNS,
    VIRTUAL,
    booted,
    built,
    built_with_harts,
    command,
    keyboard,
    rt_end,
    rt_start,
    states,
    tell,
    wait_for_signs_of_life,
)

from tessera.bench.parse import gaps
from tessera.run.machine import HYPERVISOR, Machine

LATE_US = 10000  # the default bound: RESERVE_US of best effort within LATE_US
RESERVE_US = 1000
QUANTUM_US = 1000  # best effort's quantum in rt-reserve.dts
FOR_EVER = 4_000_000_000  # jobs that never end
NS_PER_US = 1000
NS_PER_MS = 1_000_000
# The watchdog's 20 ms, the bound, reloading 4 MiB in the time left to best effort, and the query
# itself.
CYCLE_MS = 100
RESTARTS = 10
LONGEST_US = 8980  # the longest admitted budget in a period of LATE_US
HARTS = 4
LONGEST_ON_FOUR_US = 8950  # on four harts, where waits for locks count, too

SETS = {
    "one of a long budget": [f"{LATE_US}:{LONGEST_US}:{LATE_US}"],
    "three, one after the other": ["10000:2980:10000", "10000:2980:10000", "20000:3000:20000"],
    "short periods": ["100:87:100"],
    "the shortest gaps": ["20:10:20"],
}


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    system = built("rt-reserve")
    with booted(system, "rt-reserve", *VIRTUAL) as machine:
        wait_for_signs_of_life(machine, system)
        yield machine


def refused(machine: Machine, spec: str, hypervisor: str, manager: str) -> str:
    """Expects the reason from the hypervisor and, by rt_strerror(), from the manager. Returns the
    figure in the line."""
    machine.skip(HYPERVISOR)
    tell(machine, "rtm", f"start {spec}")
    found = machine.expect(HYPERVISOR, rf"^rtm: app {hypervisor}$", SOON_S)
    machine.expect("rtm", rf"^rtm: app .*: {manager}$", SOON_S)
    return found[1]


@pytest.mark.parametrize("budget", [2147483547, 9001])
def test_a_budget_beyond_the_bound_is_refused(machine: Machine, budget: int) -> None:
    """Regression: a budget of 35 minutes was admitted on every hart, and no VM could stop that
    app."""
    refused(machine, f"2147483647:{budget}:2147483647:{FOR_EVER}",
            rf"0 refused: budget ({budget}) us, rt-budget-max-us allows 9000",
            "the budget is longer than rt-budget-max-us")  # fmt: skip


def test_apps_that_would_break_the_bound_are_refused(machine: Machine) -> None:
    """Refused because of the sum of the apps, each of which alone would be admitted."""
    rt_start(machine, f"20000:8000:20000:{FOR_EVER}")
    least = refused(machine, f"16000:8000:16000:{FOR_EVER}",
                    rf"1 refused: best effort would get {RESERVE_US} us of CPU 0 in no less than (\d+) us, "
                    rf"be-reserve-us allows {LATE_US}",
                    "best effort would get be-reserve-us too late")  # fmt: skip
    assert LATE_US < int(least) < 2 * LATE_US
    rt_end(machine, 0)


def watched(machine: Machine) -> list[tuple[int, int]]:
    """Runs the guest `watch` once; returns the times (ns) before and after each gap in which it did
    not run."""
    keyboard(machine, "watch")
    machine.skip("watch")
    command(machine, "g")
    machine.expect("watch", r"^BENCH done$", SOON_S)
    return gaps(machine.console.text("watch").rpartition("role")[2])


def assert_waits_within_bound(machine: Machine, slack_us: int) -> int:
    """Asserts that all gaps are within the bound. Returns the longest gap, in ns."""
    longest = max(after - before for before, after in watched(machine))
    assert longest <= (LATE_US - RESERVE_US + slack_us) * NS_PER_US
    return longest


def now_and_restarts(machine: Machine) -> tuple[int, int]:
    """The current time in ns, and the restarts of the guest `sleeper`."""
    now = watched(machine)[-1][1]
    return now, int(states(machine)["sleeper"]["restarts"])


def await_watchdog(machine: Machine) -> None:
    machine.expect(HYPERVISOR, r"^sleeper stopped by its watchdog, starts again$", SOON_S)


def assert_watchdog_expires(machine: Machine) -> None:
    """The watchdog expires RESTARTS times, each within CYCLE_MS."""
    keyboard(machine, "sleeper")
    command(machine, "g")
    await_watchdog(machine)
    begun, before = now_and_restarts(machine)
    for _ in range(RESTARTS):
        await_watchdog(machine)
    now, after = now_and_restarts(machine)
    assert after - before >= RESTARTS
    assert 0 < now - begun <= (after - before) * CYCLE_MS * NS_PER_MS
    keyboard(machine, "sleeper")
    command(machine, "s")
    machine.expect(HYPERVISOR, r"^sleeper stopped by the console$", SOON_S)


@pytest.mark.parametrize("name", SETS)
def test_best_effort_never_waits_longer_than_the_bound(machine: Machine, name: str) -> None:
    """The operator's keys take effect under the load: one of them starts the guest that measures
    the gaps."""
    for spec in SETS[name]:
        rt_start(machine, f"{spec}:{FOR_EVER}")
    longest = assert_waits_within_bound(machine, slack_us=20)
    if name == "one of a long budget":
        assert longest >= LONGEST_US * NS_PER_US, "the set is not the worst case that is admitted"
    assert states(machine)["rtm"]["vcpus"] == f"{1 + len(SETS[name])}/9"
    for number in range(len(SETS[name])):
        rt_end(machine, number)


@pytest.mark.parametrize("name", ["one of a long budget", "the shortest gaps"])
def test_a_watchdog_expires_beside_the_apps(machine: Machine, name: str) -> None:
    (spec,) = SETS[name]
    rt_start(machine, f"{spec}:{FOR_EVER}")
    assert_watchdog_expires(machine)
    rt_end(machine, 0)


@pytest.fixture(scope="module")
def limited() -> Iterator[Machine]:
    """Two harts, and an RT-VM with limits in the system file."""
    limits = "rt-harts = <1>; rt-share-max = <34>; rt-budget-max-us = <3000>; rt-period-max-us = <20000>;"
    system = built_with_harts("rt-reserve", 2, f"vms {{ rtm {{ {limits} }}; }};")
    with booted(system, "rt-limits", *VIRTUAL, *TURNS) as machine:
        wait_for_signs_of_life(machine, system)
        yield machine


@pytest.mark.parametrize(
    ("spec", "hypervisor", "manager"),
    [
        ("10000:100:10000:1:0", "CPU (0), rt-harts does not name it",
         "the hart is not one of rt-harts"),
        ("20001:100:10000:1:1", "period (20001) us, rt-period-max-us allows 20000",
         "the period is longer than rt-period-max-us"),
        ("10000:3001:10000:1:1", "budget (3001) us, rt-budget-max-us allows 3000",
         "the budget is longer than rt-budget-max-us"),
        ("8000:2800:8000:1:1", "(35) % of CPU 1, rt-share-max allows 34",
         "the VM would have more of the hart than rt-share-max"),
    ],
)  # fmt: skip
def test_limits_of_the_system_file(limited: Machine, spec: str, hypervisor: str, manager: str) -> None:
    refused(limited, spec, f"0 refused: {hypervisor}", manager)


def test_limits_of_the_system_file_may_be_reached(limited: Machine) -> None:
    """An RT-VM may use exactly its limit, and the share of a deleted app is free again."""
    rt_start(limited, f"20000:3000:20000:{FOR_EVER}:1")
    rt_start(limited, f"10000:1900:10000:{FOR_EVER}:1")
    refused(limited, f"10000:10:10000:{FOR_EVER}:1", "2 refused: (35) % of CPU 1, rt-share-max allows 34",
            "the VM would have more of the hart than rt-share-max")  # fmt: skip
    rt_end(limited, 1)
    rt_start(limited, f"10000:1900:10000:{FOR_EVER}:1")


@pytest.fixture(scope="module")
def harts() -> Iterator[Machine]:
    """
    Four harts, each with the longest app that is admitted, all released together. QEMU runs the
    harts alternately; the gaps that this causes are below the threshold of `watch`.
    """
    apps = ",".join(f"{LATE_US}:{LONGEST_ON_FOUR_US}:{LATE_US}:{FOR_EVER}:{hart}" for hart in range(HARTS))
    turns_ns = 2 * HARTS * TURN_US * NS_PER_US
    changes = f"""
        vms {{
            rtm {{ bootargs = "report=0 set={apps}"; sign-of-life = "rtm: {HARTS} apps run"; }};
            watch {{ bootargs = "role=switch patience=100 gaps=24 threshold={turns_ns}"; }};
        }};
    """
    system = built_with_harts("rt-reserve", HARTS, changes)
    # QEMU 7.2 lets harts starve.
    with booted(system, "rt-reserve-harts", *VIRTUAL, *TURNS, qemu=NEWER_QEMU) as machine:
        wait_for_signs_of_life(machine, system)
        yield machine


@pytest.mark.long
def test_on_several_harts_apps_that_would_break_the_bound_are_refused(harts: Machine) -> None:
    for hart in range(HARTS):
        refusal = rf"best effort would get {RESERVE_US} us of CPU {hart} in no less than (\d+) us"
        least = refused(harts, f"20000:15:20000:{FOR_EVER}:{hart}",
                        rf"{HARTS} refused: {refusal}, be-reserve-us allows {LATE_US}",
                        "best effort would get be-reserve-us too late")  # fmt: skip
        assert LATE_US < int(least) < LATE_US + RESERVE_US


@pytest.mark.long
def test_on_several_harts_best_effort_never_waits_longer_than_the_bound(harts: Machine) -> None:
    longest = assert_waits_within_bound(harts, slack_us=20 + HARTS * TURN_US)
    assert longest >= LONGEST_ON_FOUR_US * NS_PER_US, "the set is not the worst case that is admitted"
    assert states(harts)["rtm"]["vcpus"] == f"{1 + HARTS}/9"


@pytest.mark.long
def test_on_several_harts_a_watchdog_expires_beside_the_apps(harts: Machine) -> None:
    assert_watchdog_expires(harts)


@pytest.mark.long
def test_on_several_harts_a_preempted_guest_continues_elsewhere(harts: Machine) -> None:
    """A guest preempted by an app continues at once on the hart without an app."""
    rt_end(harts, HARTS - 1)
    longest = max((after - before for before, after in watched(harts)), default=0)
    assert longest <= QUANTUM_US * NS_PER_US


@pytest.mark.long
def test_on_several_harts_the_operator_ends_the_apps(harts: Machine) -> None:
    """The operator ends the apps of all harts and starts them again."""
    keyboard(harts, "rtm")
    command(harts, "s")
    harts.expect(HYPERVISOR, r"^rtm stopped by the console$", SOON_S)
    assert states(harts)["rtm"]["vcpus"] == "0/9"
    harts.skip("rtm")
    command(harts, "g")
    harts.expect("rtm", rf"^rtm: {HARTS} apps run$", SOON_S)
    assert_watchdog_expires(harts)
