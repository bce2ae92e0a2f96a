# SPDX-License-Identifier: Apache-2.0
"""
The EDF class against the simulator in rt.py, which advances by single microseconds and has no
queues, timers or slices: segments, completions and counts must be the same, and an admitted app
within its budget misses no deadline, whatever the other apps do.
"""

from collections.abc import Sequence
from random import Random

import pytest
from core import LONG, NEVER, TICKS_PER_US, Segment, time_now
from rt import (
    CORE,
    FAILED,
    LAUNCH,
    OK,
    OWN_VM,
    REFUSED_RESERVE,
    Outcome,
    Task,
    boot,
    call,
    cpu_of,
    create,
    delete_all,
    left_over,
    longest_wait,
    refused,
    run,
    run_until_idle,
    set_jobs,
    simulate,
    stats,
)

SLOTS = 12
PERIODS = [4, 5, 6, 8, 10, 12, 15, 20, 24, 30, 40, 60]
HYPERPERIOD = 120
LENGTH = 250  # us: slightly more than two hyperperiods


def assert_answer(demands: list[tuple[int, int, int]], reserve: tuple[int, int], error: int, value: int) -> None:
    """Asserts that the answer to the launch of the last of `demands` matches the definitions."""
    full = sum(HYPERPERIOD // period * cost for cost, _, period in demands) > HYPERPERIOD
    starves = reserve[1] > 0 and longest_wait(demands, 0, *reserve) is None
    assert error == (FAILED if full or refused(demands, 0, HYPERPERIOD) or starves else OK)
    if error != OK:
        assert (value == 0) == full
        assert full or (value == REFUSED_RESERVE) == starves


def launch_all(tasks: Sequence[Task], start: int, reserve: tuple[int, int] = (0, 0)) -> list[Task]:
    """
    Creates and launches apps until one is refused, and checks each answer; `reserve` is best
    effort's. Returns the admitted tasks.
    """
    cpu = cpu_of(0)
    running: list[Task] = []
    for task in tasks:
        error, number = create(cpu, task)
        assert (error, number) == (OK, len(running))
        error, value = call(cpu, LAUNCH, OWN_VM, number, start + task.offset * TICKS_PER_US)
        demands = [(t.budget, t.deadline, t.period) for t in [*running, task] if t.cpu == task.cpu]
        assert_answer(demands, reserve, error, value)
        if error != OK:
            break
        running.append(task)
        set_jobs(0, number, task.jobs)
    run_until_idle()
    return running


def of_cpu(segments: Sequence[Segment], numbers: Sequence[int], start: int) -> list[tuple[int, int, int, int]]:
    """The segments of the apps `numbers`, in us since `start`, numbered as the simulator does."""
    return [
        (numbers.index(s.app), s.job, (s.start - start) // TICKS_PER_US, (s.end - start) // TICKS_PER_US)
        for s in segments
        if s.app in numbers
    ]


def assert_same_counts(numbers: Sequence[int], want: Outcome) -> None:
    """Compares the statistics with the simulator's; any VCPU of the VM may query them."""
    asker = next(cpu for cpu in range(8) if CORE.testbed_on_cpu(cpu) >= 0)
    for place, number in enumerate(numbers):
        got, app = stats(asker, number), want.apps[place]
        assert (got.releases, got.completions) == (app.releases, len(app.ended))
        assert (got.misses, got.overruns) == (app.misses, app.overruns)
        responses = [ticks * TICKS_PER_US for ticks in app.responses]
        assert got.response_sum == sum(responses)
        assert (got.response_min, got.response_max) == (min(responses, default=NEVER), max(responses, default=0))
        assert got.runtime == TICKS_PER_US * sum(end - begin for a, _, begin, end in want.segments if a == place)


def keeps_to_its_budget(task: Task) -> bool:
    return all(0 < length <= task.budget for length in task.jobs)


def assert_guarantees(tasks: Sequence[Task], outcome: Outcome) -> None:
    for task, app in zip(tasks, outcome.apps, strict=True):
        if keeps_to_its_budget(task):
            assert app.misses == 0, "an admitted app misses a deadline"
            assert app.overruns == 0


def slices_within(slices: Sequence[tuple[int, int]], begin: int, end: int) -> list[tuple[int, int]]:
    return [(max(b, begin), min(e, end)) for b, e in slices if e > begin and b < end]


def assert_budget_per_period(task: Task, number: int, outcome: Outcome) -> None:
    """An overrunning app gets exactly its budget in every period, before the deadline."""
    if set(task.jobs) != {0}:
        return
    mine = [(begin, end) for app, _, begin, end in outcome.segments if app == number]
    for begin in range(task.offset, LENGTH - task.period, task.period):
        slices = slices_within(mine, begin, begin + task.period)
        assert sum(e - b for b, e in slices) == task.budget
        assert slices[-1][1] <= begin + task.deadline


def compare_cpu(numbers: list[int], tasks: Sequence[Task], segments: Sequence[Segment], start: int) -> None:
    """Compares the apps `numbers` of one CPU since `start` with the simulator."""
    want = simulate(tasks, LENGTH)
    assert of_cpu(segments, numbers, start) == want.segments
    ended = [(s.app, s.job, s.end) for s in segments if s.ended and s.app in numbers]
    expected = [(number, job, end) for number, app in enumerate(want.apps) for job, end in app.ended]
    assert [(numbers.index(app), job, (end - start) // TICKS_PER_US) for app, job, end in ended] == sorted(
        expected, key=lambda item: item[2]
    )
    assert_guarantees(tasks, want)
    for place, task in enumerate(tasks):
        assert_budget_per_period(task, place, want)
    assert_same_counts(numbers, want)


def compare(tasks: Sequence[Task], check: bool) -> tuple[int, int]:
    """Runs the tasks and compares with the simulator. Returns the numbers of apps and jobs that
    ran."""
    start = time_now(CORE) + 100 * TICKS_PER_US
    tasks = launch_all(tasks, start)
    run(start - time_now(CORE), check)
    segments = run(LENGTH * TICKS_PER_US, check)
    for cpu in {task.cpu for task in tasks}:
        numbers = [number for number, task in enumerate(tasks) if task.cpu == cpu]
        compare_cpu(numbers, [tasks[number] for number in numbers], segments, start)
    delete_all(0, SLOTS)
    return len(tasks), sum(s.ended for s in segments)


def make_tasks(random: Random, cpus: int) -> list[Task]:
    count = random.randint(1, SLOTS)
    share = random.choice([0.5, 0.8, 1.0, 1.0, 1.2]) * cpus / count
    implicit = random.random() < 0.6
    tasks = []
    for _ in range(count):
        period = random.choice(PERIODS)
        budget = max(1, min(period, round(period * share * random.uniform(0.4, 1.6))))
        deadline = period if implicit else random.randint(budget, period)
        way = random.choice(["below", "at", "above", "mixed", "ever", "below", "at"])
        jobs = {
            "below": [random.randint(1, budget) for _ in range(random.randint(1, 7))],
            "at": [budget],
            "above": [random.randint(budget, 3 * budget + 1) for _ in range(random.randint(1, 7))],
            "mixed": [random.randint(1, 2 * budget) for _ in range(random.randint(1, 7))],
            "ever": [0],
        }[way]
        offset = random.choice([0, 0, random.randint(0, 2 * period)])
        tasks.append(Task(period, budget, deadline, tuple(jobs), offset, random.randrange(cpus)))
    return tasks


@pytest.mark.slow
@pytest.mark.parametrize("cpus", [1, 2, 3])
def test_thousands_of_task_sets(cpus: int) -> None:
    boot(cpus, [1], [SLOTS])
    apps = jobs = 0
    rounds = 5000 if LONG else 200
    for seed in range(rounds):
        ran, ended = compare(make_tasks(Random(f"{cpus} {seed}"), cpus), check=seed % 10 == 0)
        apps += ran
        jobs += ended
    assert apps > 3 * rounds
    assert jobs > 20 * rounds


@pytest.mark.parametrize("cpus", [1, 3])
def test_best_effort_gets_its_reserve(cpus: int) -> None:
    """On each CPU in any interval, whatever the admitted apps do; exactly the apps that would break
    it are refused."""
    rounds = 1000 if LONG else 60 // cpus
    ran = 0
    for seed in range(rounds):
        random = Random(f"reserve {cpus} {seed}")
        late = random.randint(20, 120)
        reserve = (random.randint(1, late // 3), late)
        boot(cpus, [1], [SLOTS], reserve=reserve)
        start = time_now(CORE) + 100 * TICKS_PER_US
        tasks = launch_all(make_tasks(random, cpus), start, reserve)
        ran += len(tasks)
        run(start - time_now(CORE), check=False)
        segments = run(LENGTH * TICKS_PER_US, check=False)
        for cpu in range(cpus):
            mine = [s for s in segments if s.cpu == cpu]
            busy = [((s.start - start) // TICKS_PER_US, (s.end - start) // TICKS_PER_US) for s in mine]
            assert left_over(busy, late, LENGTH) >= reserve[0], (cpu, reserve, tasks)
    assert ran > rounds
