# SPDX-License-Identifier: Apache-2.0
"""
Admission with hypervisor overhead (testbed_costs() of tests/unit/testbed.h): the largest sets that
are admitted with the overhead accounted for meet every deadline, also next to apps that overrun and
end in the longest hypercall.

Each of these faults was injected once, and a test detected it:

| fault: what was omitted or changed                             | test that fails                                  |
|----------------------------------------------------------------|--------------------------------------------------|
| rt_demand_of(): release, change, or both                       | test_admitted_sets_keep_their_deadlines          |
| demanded(): `blocked`, or all but the first app's              | test_admitted_sets_keep_their_deadlines          |
| demanded(): releases of later deadlines                        | test_releases_of_later_deadlines_are_counted     |
| give_budget(): the debt, or rt_costs.change                    | test_admitted_sets_keep_their_deadlines          |
| give_budget(): at most rt_costs.blocked of the debt            | test_debt_is_repaid_completely                   |
| refund(): the refund; clearing the overrun                     | the same; test_an_interruption_...               |
| release_due(): refunds twice the cost of a release             | test_app_keeps_its_deadlines_beside_overruns     |
| sched_pick(): the time of picking is not accounted             | test_app_keeps_its_deadlines_beside_overruns     |
| edf_enqueue(): `carry_in`, or its check for ready apps         | test_rt_cases.py: ..._used_by_a_deleted_app_...  |
| launch(): does not clear `pending`                             | test_rt_cases.py: ..._before_the_launch_...      |
| rt_create_app(): does not clear `runtime`                      | test_rt_cases.py: test_a_new_app_has_used_nothing |
| vm_loaded(), vm_begin(): the inbox is opened too early         | test_messages.py: ..._to_a_vm_being_loaded       |
"""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

import pytest
from core import LONG, TICKS_PER_US, assert_no_violation, time_now
from rt import (
    CORE,
    DELETE,
    FAILED,
    LAUNCH,
    OK,
    OWN_VM,
    Task,
    boot,
    call,
    cpu_of,
    create,
    refused,
    run,
    run_until_idle,
    set_jobs,
    stats,
)

SLOTS = 12
PERIODS = [20, 24, 30, 40, 60, 120]
LONG_PERIOD = HYPERPERIOD = 1200
LENGTH = 2 * HYPERPERIOD
CLOCK_READS = 3  # reads of the clock from one guest to the next
NS_PER_TICK = 1000 // TICKS_PER_US


@dataclass(frozen=True)
class Costs:
    """The parameters of testbed_costs(), and the costs that admission must account for."""

    enter: int
    look: int
    leave: int
    longest_section: int

    @property
    def release(self) -> int:
        """From the interruption of an app until it continues."""
        return self.enter + CLOCK_READS * self.look + self.leave

    @property
    def change(self) -> int:
        """Switching to a job, and from it to the next one."""
        return self.enter + CLOCK_READS * self.look + self.leave

    @property
    def blocked(self) -> int:
        return self.longest_section + self.release

    def begin(self, apps: int) -> None:
        """Boots a system whose admission accounts for these costs; they are not yet spent."""
        in_ns = tuple(NS_PER_TICK * ticks for ticks in (self.release, self.change, self.blocked))
        boot(1, [1], [apps], costs_ns=in_ns)

    def take(self) -> None:
        CORE.testbed_costs(self.enter, self.look, self.leave, self.longest_section)

    def admits(self, tasks: list[Task]) -> bool:
        """Whether the tasks are admitted by the definition."""
        own = self.release + self.change
        demands = [(TICKS_PER_US * t.budget + own, TICKS_PER_US * t.deadline, TICKS_PER_US * t.period) for t in tasks]
        hyperperiod = TICKS_PER_US * HYPERPERIOD
        full = sum(hyperperiod // period * cost for cost, _, period in demands) > hyperperiod
        return not full and not refused(demands, self.blocked, hyperperiod, self.release)


def largest(costs: Costs, tasks: list[Task], task: Task) -> int:
    """The largest budget with which `task` is admitted in addition to `tasks`; 0 for none."""
    low, high = 0, task.deadline
    while low < high:
        middle = (low + high + 1) // 2
        admits = costs.admits([*tasks, Task(task.period, middle, task.deadline, ())])
        low, high = (middle, high) if admits else (low, middle - 1)
    return low


def launch(task: Task, start: int) -> int:
    """Creates and launches an app. Returns its number, or -1 if admission refuses it."""
    cpu = cpu_of(0)
    error, number = create(cpu, task)
    assert error == OK
    error, _ = call(cpu, LAUNCH, OWN_VM, number, start + task.offset * TICKS_PER_US)
    assert error in (OK, FAILED)
    if error == OK:
        set_jobs(0, number, task.jobs)
        run_until_idle()
        return number
    assert call(cpu, DELETE, number) == (OK, 0)
    return -1


def fill(random: Random, costs: Costs, start: int) -> list[Task]:
    """Launches apps with at most the largest admitted budget until none is admitted; one
    microsecond more is refused."""
    tasks: list[Task] = []
    while len(tasks) < SLOTS - 1:
        period = random.choice(PERIODS)
        deadline = random.choice([period, random.randint(period // 2, period)])
        most = largest(costs, tasks, Task(period, 1, deadline, ()))
        if most < deadline:
            assert launch(Task(period, most + 1, deadline, (0,)), start) == -1
        if most == 0:
            break
        budget = random.choice([most, random.randint(1, most), (most + 3) // 4])
        jobs = random.choice([(0,), (budget,), (budget,), (random.randint(1, budget), budget)])
        offset = random.choice([0, 0, random.randint(0, period)])
        tasks.append(Task(period, budget, deadline, jobs, offset))
        assert launch(tasks[-1], start) == len(tasks) - 1, "refused, although the definition admits the app"
    return tasks


def assert_kept(tasks: list[Task]) -> int:
    """Asserts that apps within their budgets met all deadlines. Returns the number of these
    apps."""
    kept = 0
    for number, task in enumerate(tasks):
        got = stats(0, number)
        if 0 not in task.jobs:
            assert got.releases >= LENGTH // task.period - 1
            assert (got.misses, got.overruns) == (0, 0), (number, task, got.response_max)
            kept += 1
    return kept


def any_costs(random: Random) -> Costs:
    return Costs(*(random.choice(some) for some in ((1, 3, 8), (0, 1, 2), (0, 2, 4), (0, 0, 30))))


def neighbours(random: Random, costs: Costs, start: int) -> list[Task]:
    """Apps of short periods that always overrun, and an app of a long period that stays within the
    remaining time."""
    tasks: list[Task] = []
    while len(tasks) < 4:
        period = random.choice(PERIODS[:4])
        most = largest(costs, [*tasks, Task(LONG_PERIOD, 20, LONG_PERIOD, ())], Task(period, 1, period, ()))
        if most == 0:
            break
        tasks.append(Task(period, random.randint(1, (most + 3) // 4), period, (0,), random.choice([0, len(tasks)])))
    left = largest(costs, tasks, Task(LONG_PERIOD, 1, LONG_PERIOD, ()))
    tasks.append(Task(LONG_PERIOD, left, LONG_PERIOD, (left,)))
    for number, task in enumerate(tasks):
        assert launch(task, start) == number
    return tasks


def one_set(seed: str, make: Callable[[Random, Costs, int], list[Task]]) -> int:
    """Runs such a set from an almost common release. Returns the number of apps within their
    budgets."""
    random = Random(seed)
    costs = any_costs(random)
    costs.begin(SLOTS)
    start = time_now(CORE) + 1000
    tasks = make(random, costs, start)
    run(start - time_now(CORE) - 100)
    costs.take()
    assert_no_violation(CORE.testbed_rt_run(start + LENGTH * TICKS_PER_US, True, None, 0, None))
    CORE.testbed_costs(0, 0, 0, 0)
    return assert_kept(tasks)


@pytest.mark.slow
def test_admitted_sets_keep_their_deadlines() -> None:
    rounds = 3000 if LONG else 80
    assert sum(one_set(f"costs {number}", fill) for number in range(rounds)) > rounds


def test_an_interruption_at_the_end_of_a_budget_takes_nothing_of_it() -> None:
    """An overrunning app gets its whole budget, at whatever time in its period it is
    interrupted."""
    costs = Costs(enter=8, look=1, leave=3, longest_section=0)
    for ticks in range(100):
        costs.begin(2)
        start = time_now(CORE) + 1000
        for task, later in ((Task(100, 5, 100, (0,)), 0), (Task(100, 1, 20, (1,)), ticks)):
            assert launch(task, start + later) >= 0
        run(start - time_now(CORE) - 100)
        costs.take()
        assert_no_violation(CORE.testbed_rt_run(start + 90 * TICKS_PER_US, True, None, 0, None))
        CORE.testbed_costs(0, 0, 0, 0)
        assert (stats(0, 0).overruns, stats(0, 1).overruns) == (1, 0)
        assert CORE.testbed_rt_left(0, 0) <= 0, ticks


@pytest.mark.slow
def test_app_keeps_its_deadlines_beside_overruns() -> None:
    rounds = 1000 if LONG else 40
    assert sum(one_set(f"greedy {number}", neighbours) for number in range(rounds)) == rounds


def test_debt_is_repaid_completely() -> None:
    """At the end of each budget the app stays in the hypervisor for three budgets, far longer than
    admission accounts for. Over many periods it gets no more than their budgets and the last debt.
    Periods without a budget count as overruns."""
    task, stuck = Task(100, 20, 100, (0,)), 60 * TICKS_PER_US
    boot(1, [1], [2], costs_ns=(0, 0, NS_PER_TICK))
    start = time_now(CORE) + 1000
    assert launch(task, start) == 0
    run(start - time_now(CORE) - 100)
    CORE.testbed_costs(0, 0, 0, stuck)
    assert_no_violation(CORE.testbed_rt_run(start + 40 * task.period * TICKS_PER_US - 1, True, None, 0, None))
    CORE.testbed_costs(0, 0, 0, 0)
    got = stats(cpu_of(0), 0)
    assert 38 * task.budget * TICKS_PER_US <= got.runtime <= 40 * task.budget * TICKS_PER_US + stuck
    assert got.overruns == 40
