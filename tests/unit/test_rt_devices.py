# SPDX-License-Identifier: Apache-2.0
"""RT apps that use devices: the declaration, the bound on a job's delay by its definition, and what a launch does with
it."""

from collections.abc import Iterator
from random import Random

import pytest
from c_headers import values
from core import LONG, Admit, Costs, Demand, lines
from rt import (
    ALREADY,
    CORE,
    DELETE,
    DENIED,
    FAILED,
    INVALID_PARAM,
    LAUNCH,
    OK,
    OWN_VM,
    TICKS_PER_US,
    Task,
    boot,
    call,
    cpu_of,
    create,
)

USE, NO_APPS, HARTS, NATIVE, SHARED, HOLD, NO_APP, NO_DEVICE, NO_TIME = values(
    "rt_abi.h",
    "HCALL_RT_USE_DEVICE RT_USE_NO_APPS RT_USE_HARTS RT_USE_NATIVE RT_USE_SHARED RT_USE_HOLD RT_USE_APP RT_USE_DEVICE "
    "RT_USE_TIME",
)
INVALID_STATE, BAD_RANGE = values("hypercall_abi.h", "HCALL_ERR_INVALID_STATE HCALL_ERR_BAD_RANGE")
UNDECIDED, ADMITTED, GAVE_UP, DELAYED = values("rt_admit.h", "RT_UNDECIDED RT_ADMITTED RT_GAVE_UP RT_DELAYED")
UNKNOWN, BOUNDED, BROKEN, BLOCKS, TAKEN, CPUS = values(
    "resource.h",
    "RESOURCE_UNKNOWN RESOURCE_BOUNDED RESOURCE_FAILED RESOURCE_BLOCKS RESOURCE_SHARED RESOURCE_CPUS",
)
(FIRST,) = values("testbed_rt.h", "TESTBED_DEVICE_FIRST")
KEPT = 10_000 * TICKS_PER_US
Apps = list[tuple[int, int, int, int]]  # cost, deadline, period, wait


def decide(apps: Apps, blocked: int) -> tuple[int, Admit, int]:
    """The verdict, the test, and its number of steps."""
    demands, test, costs = (Demand * len(apps))(*(Demand(*app) for app in apps)), Admit(), Costs(blocked=blocked)
    CORE.rt_admit_begin(test, demands, len(apps), sum(app[3] != 0 for app in apps), costs)
    verdict, steps = UNDECIDED, 0
    while verdict == UNDECIDED:
        verdict, steps = CORE.rt_admit_step(test), steps + 1
    return verdict, test, steps


def delay(apps: Apps, blocked: int, user: int) -> int:
    """The definition: the shortest time that holds the job's own waits, and the work of every app that can be there."""
    for end in range(1, 10**6):
        work = sum(-(-(end + deadline) // period) * cost for cost, deadline, period, _ in apps)
        if apps[user][3] + blocked * len(apps) + work <= end:
            return end
    raise AssertionError("the apps use all of the time")


def late_users(apps: Apps, blocked: int) -> list[tuple[int, int]]:
    """The apps whose jobs on devices can be late, and their delays."""
    found = [(user, delay(apps, blocked, user)) for user, app in enumerate(apps) if app[3] != 0]
    return [(user, longest) for user, longest in found if longest > apps[user][2] - apps[user][1]]


def random_set(random: Random) -> Apps:
    """Apps with a utilization below 1; the waits of some are near what their slack allows."""
    count = random.randint(1, 8)
    apps = []
    for _ in range(count):
        period = random.randint(50, 400)
        deadline = random.randint(period // 4, period)
        cost = max(1, min(deadline, random.randint(1, period)) // (2 * count))
        slack = period - deadline
        apps.append((cost, deadline, period, random.choice((0, random.randint(0, slack)))))
    return apps


@pytest.mark.slow
def test_the_delay_is_the_least_fixed_point() -> None:
    """The verdict is that of the definition, and a refusal names the app and its delay, however long."""
    seen = {ADMITTED: 0, DELAYED: 0}
    for seed in range(6000 if LONG else 800):
        random = Random(seed)
        apps, blocked = random_set(random), random.choice((0, 1, 5))
        if decide([(*app[:3], 0) for app in apps], blocked)[0] != ADMITTED:
            continue
        late = late_users(apps, blocked)
        verdict, test, _ = decide(apps, blocked)
        assert verdict == (DELAYED if late else ADMITTED)
        if late:
            assert (test.user, test.at) == late[0]
        seen[verdict] += any(app[3] for app in apps)
    assert min(seen.values()) > 50


def test_apps_without_devices_take_no_more_steps() -> None:
    """The delays are tested only where there is one."""
    apps = [(1, 40, 50, 0)] * 20
    _, _, steps = decide(apps, 0)
    demands, test, costs = (Demand * 20)(*(Demand(*app) for app in apps)), Admit(), Costs()
    CORE.rt_admit_begin(test, demands, 20, 0, costs)
    for _ in range(steps - 1):
        assert CORE.rt_admit_step(test) == UNDECIDED
    assert CORE.rt_admit_step(test) == ADMITTED
    assert decide([*apps[:19], (1, 10, 50, 1)], 0)[2] > steps


def test_an_endless_fixed_point_gives_up() -> None:
    assert decide([(1, 1, 2, 1 << 61), (1, 2, 4, 0)], 0)[0] in (GAVE_UP, DELAYED)


@pytest.fixture
def manager() -> Iterator[int]:
    """VM 0 with three apps, VM 1 without; the first device takes 100 us, the next ones are refused."""
    boot(2, [1, 1], [3, 0])
    for number, answer in enumerate((BOUNDED, BROKEN, BLOCKS, TAKEN)):
        CORE.testbed_rt_device(FIRST + number, answer, 100 * TICKS_PER_US, KEPT, False)
    lines()
    yield cpu_of(0)
    for number in range(4):
        CORE.testbed_rt_device(FIRST + number, UNKNOWN, 0, 0, False)


TASK = Task(1000, 100, 500, (50,))


def new_app(manager: int, task: Task = TASK) -> int:
    error, app = create(manager, task)
    assert error == OK
    return app


@pytest.mark.parametrize(
    ("device", "us", "answer"),
    [
        (FIRST, 0, (INVALID_PARAM, NO_TIME)),
        (FIRST, 1 << 31, (INVALID_PARAM, NO_TIME)),
        (FIRST, (1 << 32) + 1, (INVALID_PARAM, NO_TIME)),
        (0, 10, (INVALID_PARAM, NO_DEVICE)),
        (15, 10, (INVALID_PARAM, NO_DEVICE)),
        (FIRST - 1, 10, (INVALID_PARAM, NO_DEVICE)),
        (32 + FIRST, 10, (INVALID_PARAM, NO_DEVICE)),
        ((1 << 64) - 1, 10, (INVALID_PARAM, NO_DEVICE)),
        (FIRST + 1, 10, (FAILED, 0)),
        (FIRST + 2, 10, (DENIED, NATIVE)),
        (FIRST + 3, 10, (DENIED, SHARED)),
        (FIRST, 10, (OK, 110)),
        (FIRST, (1 << 31) - 1, (OK, 100 + (1 << 31) - 1)),
    ],
)
def test_a_declaration_is_checked(manager: int, device: int, us: int, answer: tuple[int, int]) -> None:
    app = new_app(manager)
    assert call(manager, USE, app, device, us) == answer
    expected = OK if answer[0] != OK or us < 400 else BAD_RANGE
    assert call(manager, LAUNCH, OWN_VM, app, 0)[0] == expected


def test_only_an_inactive_app_of_the_caller(manager: int) -> None:
    for app in (0, 2, 3, 255, 1 << 32, (1 << 64) - 1):
        assert call(manager, USE, app, FIRST, 10) == (INVALID_PARAM, NO_APP)
    assert call(cpu_of(1), USE, 0, FIRST, 10) == (DENIED, NO_APPS)
    app = new_app(manager)
    assert call(manager, LAUNCH, OWN_VM, app, 0)[0] == OK
    assert call(cpu_of(0), USE, app, FIRST, 10) == (INVALID_STATE, 0)


def test_a_device_whose_manager_works_on_several_harts_is_refused(manager: int) -> None:
    app = new_app(manager)
    CORE.testbed_rt_device(FIRST, CPUS, 0, KEPT, False)
    assert call(manager, USE, app, FIRST, 10) == (DENIED, HARTS)


@pytest.mark.parametrize(("missing", "answer"), [(0, (OK, 110)), (1, (DENIED, HOLD))])
def test_a_region_must_not_expire_in_a_job(manager: int, missing: int, answer: tuple[int, int]) -> None:
    """It is kept for as long as a job may take, from the app's deadline to its next release, or a tick less."""
    app = new_app(manager)
    CORE.testbed_rt_device(FIRST, BOUNDED, 100 * TICKS_PER_US, 500 * TICKS_PER_US - missing, False)
    assert call(manager, USE, app, FIRST, 10) == answer


def test_a_device_has_one_app(manager: int) -> None:
    """Until that is deleted, launched or not; the next app of the slot has no device."""
    first, second = new_app(manager), new_app(manager)
    assert call(manager, USE, first, FIRST, 10)[0] == OK
    assert call(manager, USE, second, FIRST, 10) == (ALREADY, 0)
    assert call(manager, USE, first, FIRST, 20) == (ALREADY, 0)
    for app in (first, second):
        assert call(manager, DELETE, app)[0] == OK
    third = new_app(cpu_of(0), Task(1000, 100, 1000, (50,)))
    assert call(cpu_of(0), LAUNCH, OWN_VM, third, 0)[0] == OK
    fourth = new_app(cpu_of(0))
    assert call(cpu_of(0), USE, fourth, FIRST, 10)[0] == OK


def test_a_refusal_reports_the_converged_delay(manager: int) -> None:
    """100 us of waits, 350 on the device, and a job of 100 us of the app itself are 550, longer than from its deadline
    to its next release, so that a second job of the app can be there: 650."""
    app = new_app(manager)
    assert call(manager, USE, app, FIRST, 350)[0] == OK
    assert call(manager, LAUNCH, OWN_VM, app, 0) == (BAD_RANGE, 650)
    assert lines()[-1].endswith("vm-a: app 0 refused: a job of vm-a's app 0 on a device would take up to 650 us")
    assert call(manager, DELETE, app)[0] == OK
    app = new_app(manager)
    assert call(manager, USE, app, FIRST, 300)[0] == OK
    assert call(manager, LAUNCH, OWN_VM, app, 0)[0] == OK


def test_a_longer_job_is_declared_later(manager: int) -> None:
    """A test that was begun without the device is begun again."""
    app = new_app(manager)
    CORE.testbed_rt_device(FIRST + 1, BOUNDED, 0, KEPT, False)
    assert call(manager, USE, app, FIRST, 350)[0] == OK
    assert call(manager, LAUNCH, OWN_VM, app, 0)[0] == BAD_RANGE
    assert call(manager, USE, app, FIRST + 1, 1)[0] == OK
    assert call(manager, LAUNCH, OWN_VM, app, 0)[0] == BAD_RANGE


@pytest.mark.parametrize(("us", "answer"), [(400, (OK, 500)), (401, (BAD_RANGE, 501))])
def test_apps_do_not_delay_a_shared_device(manager: int, us: int, answer: tuple[int, int]) -> None:
    """A request of 500 us fits between the app's deadline and its next release, whatever the apps do."""
    app = new_app(manager)
    CORE.testbed_rt_device(FIRST, BOUNDED, 100 * TICKS_PER_US, KEPT, True)
    assert call(manager, USE, app, FIRST, us) == answer
    assert call(manager, LAUNCH, OWN_VM, app, 0)[0] == OK
    fits = new_app(cpu_of(0), Task(2000, 150, 500, (50,)))
    assert call(cpu_of(0), LAUNCH, OWN_VM, fits, 0)[0] == OK


def test_a_launch_must_not_delay_a_job_on_a_device(manager: int) -> None:
    """An app without a device that would make an accepted app's job late, and one that would not: 250, 100 of the app
    itself and 150 are 500."""
    user = new_app(manager)
    assert call(manager, USE, user, FIRST, 150)[0] == OK
    assert call(manager, LAUNCH, OWN_VM, user, 0)[0] == OK
    other = new_app(cpu_of(0), Task(2000, 160, 500, (50,)))
    assert call(cpu_of(0), LAUNCH, OWN_VM, other, 0) == (BAD_RANGE, 610)
    assert lines()[-1].endswith("vm-a: app 1 refused: a job of vm-a's app 0 on a device would take up to 610 us")
    fits = new_app(cpu_of(0), Task(2000, 150, 500, (50,)))
    assert call(cpu_of(0), LAUNCH, OWN_VM, fits, 0)[0] == OK
