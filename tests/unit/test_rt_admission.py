# SPDX-License-Identifier: Apache-2.0
"""
The admission test of rt against the definition: the demand at every deadline of a hyperperiod, and
the exact utilization.
"""

import math
from fractions import Fraction
from random import Random

import pytest
from core import LONG, Admit, Costs, Demand, examples
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rt import CORE, Task, left_over, longest_wait, refused, simulate

UNDECIDED, ADMITTED, REFUSED, STARVES, GAVE_UP = range(5)
MAX_PASSES = 40000
# Divisors of 720, so that hyperperiods are small.
PERIODS = [n for n in range(1, 721) if 720 % n == 0]
HYPERPERIOD = 720
Apps = list[tuple[int, int, int]]


def decide(apps: Apps, blocked: int, release: int = 0, reserve: int = 0, late: int = 0) -> tuple[int, Admit]:
    demands = (Demand * len(apps))(*(Demand(*app) for app in apps))
    costs = Costs(release=release, blocked=blocked, reserve=reserve, late=late)
    test = Admit()
    CORE.rt_admit_begin(test, demands, len(apps), 0, costs)
    verdict = UNDECIDED
    steps = 0
    while verdict == UNDECIDED:
        steps += 1
        assert steps <= (MAX_PASSES + 1) * len(apps), "the decision takes more steps than its limit"
        verdict = CORE.rt_admit_step(test)
    return verdict, test


def assert_named_interval(apps: Apps, blocked: int, test: Admit, release: int = 0) -> None:
    """The interval that a refusal reports is a valid reason."""
    ends = {(test.at - deadline) % period for _, deadline, period in apps if test.at >= deadline}
    assert 0 in ends, "the reported interval does not end at a deadline"
    work = sum(((test.at - d) // t + 1) * (cost - release) + blocked for cost, d, t in apps if test.at >= d)
    work += sum(-(-test.at // t) * release for _, _, t in apps)
    assert test.demand == work > test.at


def utilization(apps: Apps) -> Fraction:
    return sum((Fraction(cost, period) for cost, _, period in apps), Fraction(0))


def assert_exact(apps: Apps, blocked: int, release: int = 0) -> int:
    """Asserts that the verdict matches the definition. Returns the verdict."""
    verdict, test = decide(apps, blocked, release)
    if utilization(apps) > 1:
        assert verdict == REFUSED
        assert (test.at, test.demand) == (0, 0)
        return verdict
    violations = refused(apps, blocked, HYPERPERIOD, release)
    assert verdict == (REFUSED if violations else ADMITTED)
    if verdict == REFUSED:
        assert_named_interval(apps, blocked, test, release)
    return verdict


def make_set(random: Random) -> Apps:
    """Up to 64 apps whose utilization is near 1, some exactly 1; deadlines up to periods."""
    count = random.randint(1, random.choice([6, 16, 64]))
    total = random.choice([0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 1, 1, 1.05])
    weights = [random.randint(1, 50) for _ in range(count)]
    implicit = random.random() < 0.5
    apps = []
    for weight in weights:
        period = random.choice(PERIODS)
        cost = max(1, round(total * weight / sum(weights) * period))
        deadline = period if implicit else random.randint(max(1, min(cost, period)), period)
        apps.append((cost, deadline, period))
    left = HYPERPERIOD - sum(cost * HYPERPERIOD // period for cost, _, period in apps)
    if left > 0 and count < 64 and random.random() < 0.5:  # fill up to exactly 1
        apps.append((left, HYPERPERIOD, HYPERPERIOD))
    return apps


@pytest.mark.slow
def test_the_verdict_is_exact() -> None:
    """Thousands of sets. Each verdict must occur often, which shows that the sets are near the
    boundary."""
    seen = {ADMITTED: 0, REFUSED: 0}
    full = {ADMITTED: 0, REFUSED: 0}
    for seed in range(12000 if LONG else 1200):
        random = Random(seed)
        apps = make_set(random)
        release = random.choice([0, random.randint(0, min(cost for cost, _, _ in apps))])
        verdict = assert_exact(apps, random.choice([0, 0, 1, random.randint(0, 60)]), release)
        seen[verdict] += 1
        full[verdict] += utilization(apps) == 1
    assert min(seen.values()) > sum(seen.values()) // 10
    assert min(full.values()) > 20


TIME = st.integers(0, len(PERIODS) - 1).map(PERIODS.__getitem__)
APPS = st.lists(st.tuples(TIME, TIME, TIME).map(lambda t: (min(t), sorted(t)[1], max(t))), min_size=1, max_size=8)


@settings(max_examples=examples(200, 1500), deadline=None, derandomize=True)
@given(APPS, st.sampled_from([0, 0, 1, 7, 60]))
@example([(1, 1, 1)], 0)
@example([(1, 1, 1)], 1)
@example([(1, 3, 3)] * 3, 0)
@example([(1, 3, 3)] * 3 + [(1, 720, 720)], 0)
@example([(240, 240, 240)] * 64, 0)
@example([(5, 2, 10)], 0)  # cost exceeds the deadline
@example([(11, 10, 10)], 0)  # cost, including overhead, exceeds the period
def test_the_verdict_is_exact_at_the_edges(apps: Apps, blocked: int) -> None:
    assert_exact(apps, blocked)


@pytest.mark.parametrize("blocked", [0, 1, 7])
def test_full_utilization(blocked: int) -> None:
    """Utilization 1 with deadlines equal to periods is admitted without blocking, and refused with
    one tick more."""
    full = [(period // 4, period, period) for period in (4, 8, 240, 720)]
    verdict, test = decide(full, blocked)
    assert verdict == (ADMITTED if blocked == 0 else REFUSED)
    if blocked:
        assert (test.at, test.demand) == (720, 720 + len(full) * blocked)
    verdict, test = decide([*full[:3], (181, 720, 720)], blocked)
    assert verdict == REFUSED
    assert test.at == 0


@pytest.mark.parametrize("apps", [[(1024 * 10, 10, 10)], [(16 * 10, 10, 10)] * 64, [(1 << 60, 1, 1)] * 64])
def test_utilization_beyond_64_bits_is_over_1(apps: Apps) -> None:
    """
    On a slow board the hypervisor's cost per job may be many short periods. The sum 2^10 overflows
    to 0 in 64 bits, also as the sum of 2^10 / 64 for each of 64 apps.
    """
    verdict, test = decide(apps, 0)
    assert (verdict, test.at, test.demand) == (REFUSED, 0, 0)


def test_releases_of_later_deadlines_are_counted() -> None:
    """A release interrupts the running app whatever its deadline; here the running app has no time
    for a second one."""
    urgent, others = (7, 10, 20), [(3, 60, 60), (3, 50, 60)]
    assert decide([urgent, others[0]], 0, 2)[0] == ADMITTED
    assert decide([urgent, others[0]], 1, 2)[0] == ADMITTED
    verdict, test = decide([urgent, *others], 0, 2)
    assert (verdict, test.at, test.demand) == (REFUSED, 10, 11)
    assert decide([urgent, *others], 0, 0)[0] == ADMITTED


# Shares of a second; no power of two divides them.
THIRDS = [(10**7 + 1) // 3] * 2 + [10**7 - 2 * ((10**7 + 1) // 3)]


@pytest.mark.parametrize("count", [1, 21])
def test_infinite_busy_period_is_decided_in_few_passes(count: int) -> None:
    """With an infinite busy period, the decision takes a few passes over the apps."""
    apps = [(cost, 10**7, count * 10**7) for cost in THIRDS for _ in range(count)]
    assert utilization(apps) == 1
    verdict, test = decide(apps, 1)
    assert verdict == REFUSED
    assert test.passes <= 6
    assert_named_interval(apps, 1, test)
    less = [(apps[0][0] - 2 * len(apps), *apps[0][1:]), *apps[1:]]
    assert decide([(cost, period, period) for cost, _, period in less], 1)[0] == ADMITTED


@pytest.mark.parametrize("shift", [0, 10, 20, 30, 44])
def test_long_times(shift: int) -> None:
    """The same verdicts with times in the smallest units: products do not overflow 64 bits."""
    for apps in ([(1, 2, 2), (1, 2, 2)], [(1, 1, 2), (1, 2, 2)], [(1, 1, 2), (1, 1, 2)], [(2, 2, 2), (1, 2, 2)]):
        small, _ = decide(apps, 0)
        large, test = decide([(c << shift, d << shift, t << shift) for c, d, t in apps], 0)
        assert (small, small == ADMITTED) == (large, large == ADMITTED), (apps, test.at, test.demand)


def test_minimal_excess_over_one_is_refused() -> None:
    """An excess smaller than the resolution of the sum of rounded shares."""
    period = 2**45
    third = (period - 2) // 3  # three of them leave two ticks
    apps = [(third, period, period)] * 3
    assert decide([*apps, (2, period, period)], 0)[0] == ADMITTED
    numbers = (262139, 262133, 524047)
    product = math.prod(numbers)
    hair = [(pow(product // n, -1, n), n, n) for n in numbers]
    assert 1 < utilization(hair) == 1 + Fraction(1, product) < 1 + Fraction(1, 2**54)
    verdict, test = decide(hair, 0)
    assert verdict == REFUSED
    assert (test.at, test.demand) == (0, 0)


def test_periods_with_a_huge_hyperperiod() -> None:
    """An excess over 1 below the rounding error: the busy period is infinite, and the test ends at
    its pass limit."""
    period = 2**45
    product = period * (period - 1)
    hair = [(pow(product // n, -1, n), n, n) for n in (period, period - 1)]
    assert utilization(hair) == 1 + Fraction(1, product)
    verdict, test = decide(hair, 0)
    assert (verdict, test.passes) == (GAVE_UP, MAX_PASSES + 1)


@pytest.mark.parametrize("blocked", [2**61, 2**63 - 1, 2**63])
def test_busy_period_beyond_64_bits_is_refused_at_once(blocked: int) -> None:
    """Two apps are blocked for that time each: sums from 2^62 on and products that overflow are
    refused."""
    verdict, test = decide([(1, 2**45, 2**45)] * 2, blocked)
    assert verdict == GAVE_UP
    assert test.passes <= 2


def test_decision_ends_at_the_pass_limit() -> None:
    """A busy period whose end cannot be determined, and a busy period that is far too long."""
    primes = [n for n in range(2, 400) if all(n % k for k in range(2, math.isqrt(n) + 1))][-60:]
    apps = [(n // 60, n, n) for n in primes]
    verdict, test = decide(apps, 0)
    assert verdict in (ADMITTED, REFUSED)
    numbers = (1000, 999, 997)
    product = math.prod(numbers)
    almost = [(-pow(product // n, -1, n) % n, n, n) for n in numbers]
    assert utilization(almost) == 1 - Fraction(1, product)
    verdict, test = decide(almost, 1)
    assert (verdict, test.passes) == (GAVE_UP, MAX_PASSES + 1)


# --- best effort's reserve ---


def make_light_set(random: Random) -> Apps:
    """Up to six apps that leave some CPU time."""
    left = random.choice([50, 70, 80, 90])
    apps = []
    for _ in range(random.randint(1, 6)):
        period = random.choice([n for n in PERIODS if n >= 8])
        share = random.randint(1, max(1, left // 2))
        cost = max(1, period * share // 100)
        left = max(1, left - share)
        apps.append((cost, random.choice([period, random.randint(cost, period)]), period))
    return apps


@pytest.mark.slow
def test_the_reserve_is_exact() -> None:
    """Exactly those sets are refused for the reserve that would leave it too late by the
    definition."""
    seen = {ADMITTED: 0, REFUSED: 0, STARVES: 0}
    for seed in range(8000 if LONG else 1000):
        random = Random(f"reserve {seed}")
        apps = random.choice([make_light_set, make_light_set, make_set])(random)
        blocked, reserve = random.choice([0, 0, 3]), random.randint(1, 60)
        late = random.choice([random.randint(reserve, 400), random.randint(100, 1500)])
        wait = longest_wait(apps, blocked, reserve, late)
        verdict, test = decide(apps, blocked, 0, reserve, late)
        seen[verdict] += 1
        if wait is not None:
            assert verdict == decide(apps, blocked)[0]
        elif verdict == STARVES:
            longer = longest_wait(apps, blocked, reserve, 4 * HYPERPERIOD)
            assert late < test.at <= (longer or test.at), "the reported figure is not the minimum"
        else:
            assert verdict == REFUSED
            assert utilization(apps) >= 1
    assert min(seen.values()) > sum(seen.values()) // 20, seen


def idle_until(busy: list[tuple[int, int]], reserve: int) -> int:
    """The time at which the busy intervals have left `reserve` in total."""
    now = left = 0
    for begin, end in busy:
        if left + begin - now >= reserve:
            break
        left, now = left + begin - now, end
    return now + reserve - left


@pytest.mark.slow
def test_longest_wait_follows_a_common_release() -> None:
    """
    In the simulator, apps that are released together and exhaust their budgets leave the reserve
    after exactly the time that admission has computed; with any other phases and jobs, no interval
    leaves less.
    """
    rounds = 0
    for seed in range(1500 if LONG else 250):
        random = Random(f"phases {seed}")
        apps, reserve = make_light_set(random), random.randint(1, 40)
        wait = longest_wait(apps, 0, reserve, 300)
        if wait is None or decide(apps, 0, 0, reserve, 300)[0] != ADMITTED:
            continue
        rounds += 1
        greedy = [Task(period, cost, deadline, (0,)) for cost, deadline, period in apps]
        together = simulate(greedy, 400).segments
        assert idle_until([(begin, end) for _, _, begin, end in together], reserve) == wait
        others = [
            Task(task.period, task.budget, task.deadline, random.choice([(0,), (task.budget, 1), (3 * task.budget,)]),
                 random.randint(0, task.period))
            for task in greedy
        ]  # fmt: skip
        busy = [(begin, end) for _, _, begin, end in simulate(others, 900).segments]
        assert left_over(busy, wait, 900) >= reserve
    assert rounds > 100
