# SPDX-License-Identifier: Apache-2.0
"""
The life cycle of RT apps under events in any order: VMs stop, restart and fail, apps are deleted
while they run and launched with and without permission. Every invalid argument is refused and
changes nothing. Releases do not drift.
"""

import ctypes
from random import Random

import pytest
from core import LONG, NEVER, OFF, READY, TICKS_PER_US, VM_RUNNING, VM_STOPPED, examples, lines, operator, time_now
from events import INDEX, SystemEvents
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule, run_state_machine_as_test
from rt import (
    ACTIVE,
    AGAIN,
    ALREADY,
    CORE,
    CREATE,
    DELETE,
    DENIED,
    DENIED_SHARE,
    END_JOB,
    ENTRY,
    FAILED,
    FREE,
    GPA,
    INVALID_ADDRESS,
    INVALID_PARAM,
    LAUNCH,
    NO_CALLER,
    OK,
    OWN_VM,
    REFUSED_UNDECIDED,
    SCRATCH,
    SELF,
    STACK,
    STATS,
    App,
    Stats,
    Task,
    assert_no_violation,
    boot,
    call,
    cpu_of,
    create,
    delete_all,
    run,
    run_until_idle,
    set_jobs,
    stats,
)

SETTINGS = settings(
    max_examples=examples(40, 500),
    stateful_step_count=60,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=list(HealthCheck),
)
VMS = 3
VCPUS = [2, 1, 1]
APPS = [4, 3, 0]
LAUNCHERS = [0b100, 0, 0]  # VM 2, which has no apps, may launch those of VM 0
RAM = 0x200000


def states_of(vm: int, apps: int) -> list[int]:
    return [CORE.testbed_rt_state(vm, app) for app in range(apps)]


def states() -> list[int]:
    return [state for vm in range(VMS) for state in states_of(vm, APPS[vm])]


class AppEvents(SystemEvents):
    """Events of guests, their apps, the console and timers."""

    vms = VMS

    @initialize(cpus=st.integers(1, 4), costs=st.sampled_from([(0, 0, 0), (700, 400, 1300)]))
    def boot(self, cpus: int, costs: tuple[int, int, int]) -> None:
        self.cpus = cpus
        boot(cpus, VCPUS, APPS, LAUNCHERS, costs)

    def _total(self, vm: int) -> int:
        return VCPUS[vm] + APPS[vm]

    def _vm_on(self, cpu: int) -> int:
        CORE.testbed_enter(cpu)  # completes a pending request to wait
        on = CORE.testbed_on_cpu(cpu)
        return -1 if on < 0 else on // 100

    @rule(cpu=INDEX, where=INDEX, period=st.integers(1, 3000), share=st.integers(1, 100), room=st.integers(0, 100))
    def create(self, cpu: int, where: int, period: int, share: int, room: int) -> None:
        cpu %= self.cpus
        vm = self._vm_on(cpu)
        if vm < 0:
            return
        running = CORE.testbed_vm_state(vm) == VM_RUNNING
        free = [CORE.testbed_rt_state(vm, app) == FREE for app in range(APPS[vm])]
        budget = max(1, period * share // 100)
        task = Task(period, budget, budget + (period - budget) * room // 100, (1,), cpu=where % self.cpus)
        error, number = create(cpu, task)
        if not APPS[vm]:
            assert error == DENIED
        elif not any(free):
            assert error == FAILED
        elif error == OK:
            assert running
            assert free[number]
        else:
            assert error == AGAIN
            assert not running

    @staticmethod
    def _launch_steps(cpu: int, vm: int, app: int, steps: int, first: int) -> int:
        """The call, repeated at most `steps` times while the answer is AGAIN."""
        error = AGAIN
        for _ in range(steps):
            if error == AGAIN:
                error = CORE.testbed_hypercall(cpu, LAUNCH, vm, app, first, None)
        return int(error)

    @rule(
        cpu=INDEX, vm=st.sampled_from([0, 1, 2, OWN_VM]), app=st.integers(0, 4), steps=st.integers(1, 30), later=INDEX
    )
    def launch(self, cpu: int, vm: int, app: int, steps: int, later: int) -> None:
        cpu %= self.cpus
        caller = self._vm_on(cpu)
        if caller < 0:
            return
        target = caller if vm == OWN_VM else vm
        before = CORE.testbed_rt_state(target, app) if app < APPS[target] else FREE
        error = self._launch_steps(cpu, vm, app, steps, time_now(CORE) + later - 500)
        if caller != target and not LAUNCHERS[target] & 1 << caller:
            assert error == DENIED
        elif CORE.testbed_vm_state(target) != VM_RUNNING or before == FREE:
            assert error == INVALID_PARAM
        elif before == ACTIVE:
            assert error == ALREADY
        else:
            assert error in (OK, FAILED, AGAIN)
            assert (CORE.testbed_rt_state(target, app) == ACTIVE) == (error == OK)

    @rule(cpu=INDEX, app=st.sampled_from([0, 1, 2, 3, SELF, SELF]))
    def delete(self, cpu: int, app: int) -> None:
        call(cpu % self.cpus, DELETE, app)

    @rule(cpu=INDEX)
    def end_job(self, cpu: int) -> None:
        CORE.testbed_enter(cpu % self.cpus)
        on = CORE.testbed_on_cpu(cpu % self.cpus)
        error = CORE.testbed_end_job(cpu % self.cpus)
        if on < 0:
            assert error == NO_CALLER
        elif on % 100 < VCPUS[on // 100]:
            assert error == DENIED

    @rule(cpu=INDEX, app=st.integers(0, 4))
    def query(self, cpu: int, app: int) -> None:
        call(cpu % self.cpus, STATS, app, SCRATCH, ctypes.sizeof(Stats))

    @rule(cpu=INDEX)
    def start(self, cpu: int) -> None:
        for vm in range(VMS):
            if CORE.testbed_vm_state(vm) == VM_STOPPED:
                CORE.testbed_vm_start(cpu % self.cpus, vm)

    @rule(cpu=INDEX)
    def start_vcpu(self, cpu: int) -> None:
        if CORE.testbed_vm_state(0) == VM_RUNNING and CORE.testbed_vcpu_state(0, 1) == OFF:
            CORE.testbed_vcpu_start(cpu % self.cpus, 0, 1)

    @rule(cpu=INDEX, vm=st.integers(0, 1), vcpu=st.integers(0, 3))
    def interrupt(self, cpu: int, vm: int, vcpu: int) -> None:
        CORE.testbed_raise(cpu % self.cpus, vm, vcpu)

    @rule(times=st.integers(1, 5))
    def next_timers(self, times: int) -> None:
        for _ in range(times):
            first = CORE.host_next_timer()
            if first != NEVER and first > time_now(CORE):
                CORE.testbed_advance(first - time_now(CORE))
            run_until_idle()


def test_any_sequence_of_events_preserves_the_invariants() -> None:
    run_state_machine_as_test(AppEvents, settings=SETTINGS)


# --- arguments ---


def snapshot() -> tuple:
    return (
        states(),
        [CORE.testbed_vcpu_state(vm, vcpu) for vm in range(VMS) for vcpu in range(VCPUS[vm] + APPS[vm])],
        [CORE.testbed_rt_ready(cpu) for cpu in range(2)],
        CORE.host_next_timer(),
    )


@pytest.fixture
def managers() -> list[int]:
    """The CPU on which each VM's VCPU 0 runs."""
    boot(4, VCPUS, APPS, LAUNCHERS)
    return [cpu_of(vm) for vm in range(VMS)]


GOOD = Task(1000, 100, 1000, (100,), cpu=3)
LAST = GPA + RAM
ENTRY_FIELD, STACK_FIELD, PERIOD_FIELD, BUDGET_FIELD, DEADLINE_FIELD, CPU_FIELD = 1, 2, 4, 5, 6, 7
BAD_APPS = [
    *(
        ({"entry": entry}, INVALID_ADDRESS, ENTRY_FIELD)
        for entry in (0, ENTRY + 1, GPA - 4, LAST, LAST - 2, 2**64 - 4, 2**64 - 2)
    ),
    *(({"stack": stack}, INVALID_ADDRESS, STACK_FIELD) for stack in (0, 15, STACK + 8, GPA, LAST + 16, 2**64 - 16, 16)),
    *(({"period_us": period}, INVALID_PARAM, PERIOD_FIELD) for period in (0, 2**31, 2**32 - 1)),
    *(({"deadline_us": deadline}, INVALID_PARAM, DEADLINE_FIELD) for deadline in (0, 1001, 2**32 - 1)),
    *(({"budget_us": budget}, INVALID_PARAM, BUDGET_FIELD) for budget in (0, 1001, 2**32 - 1)),
    ({"period_us": 999}, INVALID_PARAM, DEADLINE_FIELD),
    ({"deadline_us": 99}, INVALID_PARAM, BUDGET_FIELD),
    *(({"cpu": cpu}, INVALID_PARAM, CPU_FIELD) for cpu in (4, 8, 2**32 - 1)),
]


@pytest.mark.parametrize(("changes", "error", "field"), BAD_APPS)
def test_bad_apps_are_refused(managers: list[int], changes: dict[str, int], error: int, field: int) -> None:
    """The answer reports the invalid field."""
    before = snapshot()
    assert create(managers[0], GOOD, **changes) == (error, field)
    assert snapshot() == before
    assert create(managers[0], GOOD) == (OK, 0)


LIMITS = (0b1010, 50, 100, 1000)  # exactly what GOOD requests
DENIED_APPS = [
    ({"budget_us": 101}, BUDGET_FIELD, "app 0 refused: budget 101 us, rt-budget-max-us allows 100"),
    (
        {"budget_us": 2**31 - 101, "deadline_us": 2**31 - 1, "period_us": 2**31 - 1},
        PERIOD_FIELD,
        "app 0 refused: period 2147483647 us, rt-period-max-us allows 1000",
    ),
    (
        {"period_us": 1001, "deadline_us": 1001},
        PERIOD_FIELD,
        "app 0 refused: period 1001 us, rt-period-max-us allows 1000",
    ),
    ({"cpu": 2}, CPU_FIELD, "app 0 refused: CPU 2, rt-harts does not name it"),
    ({"cpu": 0}, CPU_FIELD, "app 0 refused: CPU 0, rt-harts does not name it"),
]


@pytest.mark.parametrize(("changes", "field", "line"), DENIED_APPS)
def test_apps_beyond_the_system_files_limits_are_refused(changes: dict[str, int], field: int, line: str) -> None:
    """The console reports the property and the figure. Apps within the limits are created, also by
    another VM."""
    boot(4, [1, 1], [4, 4], limits={0: LIMITS})
    first, second = (cpu_of(vm) for vm in range(2))
    lines()  # drains the log, which earlier tests may have filled
    assert create(first, GOOD, **changes) == (DENIED, field)
    assert any(f"vm-a: {line}" in told for told in lines())
    assert create(first, GOOD) == (OK, 0)
    assert create(second, GOOD, **changes) == (OK, 0)


def test_endless_refusals_do_not_fill_the_console() -> None:
    boot(4, [1, 1], [4, 4], limits={0: LIMITS, 1: LIMITS})
    first, second = (cpu_of(vm) for vm in range(2))
    lines()
    for _ in range(40):
        assert create(first, GOOD, budget_us=101) == (DENIED, BUDGET_FIELD)
    assert CORE.testbed_vm_stop(second, 1, False)
    run_until_idle()
    told = lines()
    assert sum("vm-a: app 0 refused" in line for line in told) == 16
    assert any("vm-b stopped" in line for line in told)
    assert not any("lines are lost" in line for line in told)
    assert create(first, GOOD, budget_us=101) == (DENIED, BUDGET_FIELD)
    assert any("vm-a: app 0 refused" in line for line in lines())


def test_a_vms_share_of_each_cpu_is_limited() -> None:
    """Up to the last app that fits. Deleted apps free their share; other VMs' apps and other CPUs
    do not count."""
    boot(4, [1, 1], [16, 4], limits={0: (0b1111, 34, 10**6, 10**6)})
    first, second = (cpu_of(vm) for vm in range(2))
    lines()  # what other tests have left could take the room of this one's
    third = Task(3000, 1000, 3000, (1,), cpu=3)
    assert create(second, third) == (OK, 0)
    assert call(second, LAUNCH, OWN_VM, 0, 10**9)[0] == OK
    for cpu in (3, 2):
        (error, whole), (_, bit) = create(first, third, cpu=cpu), create(first, Task(1000, 7, 1000, (1,), cpu=cpu))
        assert error == OK
        assert call(first, LAUNCH, OWN_VM, whole, 10**9)[0] == OK
        assert call(first, LAUNCH, OWN_VM, bit, 10**9) == (DENIED, DENIED_SHARE)
        line = f"vm-a: app {bit} refused: 35 % of CPU {cpu}, rt-share-max allows 34"
        assert any(line in told for told in lines())
        assert create(first, Task(1000, 6, 1000, (1,), cpu=cpu)) == (OK, bit + 1)
        assert call(first, LAUNCH, OWN_VM, bit + 1, 10**9)[0] == OK
        assert call(first, DELETE, whole) == (OK, 0)
        run_until_idle()
        assert call(first, LAUNCH, OWN_VM, bit, 10**9)[0] == OK
        assert create(first, third, cpu=cpu) == (OK, whole)
        assert call(first, LAUNCH, OWN_VM, whole, 10**9) == (DENIED, DENIED_SHARE)
        assert call(first, DELETE, whole) == (OK, 0)


def test_exact_shares_are_allowed() -> None:
    """Three fifths equal 60 %."""
    boot(2, [1], [4], limits={0: (0b11, 60, 10**6, 10**6)})
    cpu = cpu_of(0)
    for number in range(3):
        assert create(cpu, Task(5, 1, 5, (1,))) == (OK, number)
        assert call(cpu, LAUNCH, OWN_VM, number, 10**9)[0] == OK
    assert create(cpu, Task(1000, 1, 1000, (1,))) == (OK, 3)
    assert call(cpu, LAUNCH, OWN_VM, 3, 10**9) == (DENIED, DENIED_SHARE)


@pytest.mark.parametrize(
    "changes",
    [
        {"entry": GPA},
        {"entry": LAST - 4},
        {"stack": GPA + 16},
        {"stack": LAST},
        {"period_us": 2**31 - 1},
        {"budget_us": 1000},
        {"budget_us": 1, "deadline_us": 1, "period_us": 1},
        {"arg": 2**64 - 1},
        {"cpu": 0},
    ],
)
def test_apps_at_the_edges_are_taken(managers: list[int], changes: dict[str, int]) -> None:
    assert create(managers[0], GOOD, **changes) == (OK, 0)
    assert call(managers[0], LAUNCH, OWN_VM, 0, 0)[0] == OK
    run_until_idle()


SIZE_APP, SIZE_STATS = ctypes.sizeof(App), ctypes.sizeof(Stats)
# (VM that calls, number, arguments) -> error; VM 0 has app 0 active, app 1 created, apps 2 and 3
# free.
BAD_CALLS = [
    *(((0, CREATE, SCRATCH, size), INVALID_PARAM) for size in (0, 1, SIZE_APP - 1, SIZE_APP + 1, 2**64 - 1)),
    *(((0, CREATE, gpa, SIZE_APP), INVALID_ADDRESS) for gpa in (0, GPA - 8, LAST - 8, LAST, 2**64 - 8)),
    ((2, CREATE, SCRATCH, SIZE_APP), DENIED),
    *(((0, LAUNCH, vm, 1), INVALID_PARAM) for vm in (3, 16, 2**32, 2**63, 2**64 - 2)),
    *(((0, LAUNCH, OWN_VM, app), INVALID_PARAM) for app in (2, 3, 4, 64, 2**32, 2**32 + 1, 2**64 - 1)),
    ((0, LAUNCH, OWN_VM, 0), ALREADY),
    ((0, LAUNCH, 0, 0), ALREADY),
    ((2, LAUNCH, 0, 0), ALREADY),
    ((2, LAUNCH, 0, 2), INVALID_PARAM),
    ((0, LAUNCH, 1, 0), DENIED),
    ((1, LAUNCH, 0, 1), DENIED),
    ((2, LAUNCH, 1, 0), DENIED),
    ((1, LAUNCH, 0, 99), DENIED),
    ((2, LAUNCH, OWN_VM, 0), INVALID_PARAM),
    *(((0, DELETE, app), INVALID_PARAM) for app in (2, 3, 4, 64, 2**32, 2**64 - 2, SELF)),
    ((2, DELETE, 0), DENIED),
    ((2, DELETE, SELF), DENIED),
    *(((vm, END_JOB), DENIED) for vm in range(VMS)),
    *(((0, STATS, app, SCRATCH, SIZE_STATS), INVALID_PARAM) for app in (2, 4, 64, 2**32, 2**64 - 1)),
    *(((0, STATS, 0, SCRATCH, size), INVALID_PARAM) for size in (0, SIZE_STATS - 1, SIZE_STATS + 8)),
    *(((0, STATS, 0, gpa, SIZE_STATS), INVALID_ADDRESS) for gpa in (0, GPA - 8, LAST - 8, LAST, 2**64 - 8)),
    ((2, STATS, 0, SCRATCH, SIZE_STATS), DENIED),
]


def test_bad_calls_change_nothing(managers: list[int]) -> None:
    for number in range(2):
        assert create(managers[0], GOOD) == (OK, number)
    assert call(managers[0], LAUNCH, OWN_VM, 0, 10**9)[0] == OK
    run_until_idle()
    before = snapshot()
    for (vm, number, *arguments), error in BAD_CALLS:
        assert call(managers[vm], number, *arguments) == (error, 0), (vm, number, arguments)
        assert snapshot() == before, (vm, number, arguments)
    run_until_idle()
    assert snapshot() == before


def test_launch_beyond_the_pass_limit_is_refused() -> None:
    """The busy period of three apps would be minutes, since they leave a millionth of the CPU; two
    are admitted."""
    boot(1, [1], [3], costs_ns=(0, 0, 1000))
    manager = cpu_of(0)
    lines()
    for number, (period, budget) in enumerate(((1000, 333), (999, 500), (997, 166))):
        assert create(manager, Task(period, budget, period, (1,))) == (OK, number)
    for number in range(2):
        assert call(manager, LAUNCH, OWN_VM, number, 10**9)[0] == OK
    assert call(manager, LAUNCH, OWN_VM, 2, 10**9) == (FAILED, REFUSED_UNDECIDED)
    assert "vm-a: app 2 refused: the test of CPU 0 is undecided after 40000 passes" in lines()


def test_slots_are_exhausted_and_freed(managers: list[int]) -> None:
    for number in range(APPS[0]):
        assert create(managers[0], GOOD) == (OK, number)
    assert create(managers[0], GOOD) == (FAILED, 0)
    assert call(managers[0], DELETE, 2) == (OK, 0)
    assert create(managers[0], GOOD) == (OK, 2)


def test_the_list_counts_apps_and_what_they_use() -> None:
    """An app of each run uses half of the hart; reusing a slot does not subtract the earlier app's
    time."""
    boot(2, [1, 1], [2, 0])
    half = Task(1000, 500, 1000, (0,))
    for _ in range(3):
        manager = cpu_of(0)
        assert create(manager, half, cpu=1 - manager) == (OK, 0)
        assert stats(manager, 0).runtime == 0
        assert call(manager, LAUNCH, OWN_VM, 0, 0)[0] == OK
        set_jobs(0, 0, (0,))
        run_until_idle()
        run(10000 * TICKS_PER_US)
        assert 4500 * TICKS_PER_US <= stats(cpu_of(0), 0).runtime <= 5000 * TICKS_PER_US
        operator("l")
        run(1000 * TICKS_PER_US)
        words = operator("l")[1].split()
        assert (words[2], words[4]) == ("vm-a", "2/3")
        assert 40 < float(words[5].rstrip("%")) < 160, words
        assert call(cpu_of(0), DELETE, 0) == (OK, 0)
        run(1000 * TICKS_PER_US)
        manager = cpu_of(0)
        assert create(manager, half) == (OK, 0)
        words = operator("l")[1].split()
        assert (words[2], words[4]) == ("vm-a", "1/3")
        assert 0 <= float(words[5].rstrip("%")) < 210, words
        assert call(manager, DELETE, 0) == (OK, 0)


def test_launch_by_another_vm(managers: list[int]) -> None:
    """VM 2 may launch VM 0's apps while VM 0 runs."""
    assert create(managers[0], GOOD) == (OK, 0)
    assert call(managers[2], LAUNCH, 0, 0, 0)[0] == OK
    run_until_idle()
    assert CORE.testbed_on_cpu(3) == VCPUS[0]
    assert CORE.testbed_vm_stop(managers[2], 0, False)
    run_until_idle()
    assert set(states()) == {FREE}
    assert call(cpu_of(2), LAUNCH, 0, 0, 0) == (INVALID_PARAM, 0)


def test_first_releases_far_ahead(managers: list[int]) -> None:
    """Up to the largest number; a past time means now."""
    for number, first in enumerate((NEVER, NEVER - 1, 2**63, 1)):
        assert create(managers[0], GOOD) == (OK, number)
        assert call(managers[0], LAUNCH, OWN_VM, number, first)[0] == OK
        set_jobs(0, number, GOOD.jobs)
        run_until_idle()
    run(5000 * TICKS_PER_US)
    assert [stats(cpu_of(0), number).releases for number in range(4)] == [0, 0, 0, 5]


# --- many apps, and long runs ---


def delete_one(random: Random) -> bool:
    """Deletes an app, preferably a ready one, unless the call has to wait, and advances the time.
    True if it was ready."""
    there = [number for number in range(64) if CORE.testbed_rt_state(0, number) == ACTIVE]
    waiting = [number for number in there if CORE.testbed_vcpu_state(0, 1 + number) == READY]
    answer = call(cpu_of(0), DELETE, random.choice(waiting or there))[0]
    assert answer in (OK, AGAIN)
    run(random.randint(0, 700) * TICKS_PER_US)
    return answer == OK and bool(waiting)


def find(vm: int) -> int:
    """A CPU on which a VCPU or app of the VM runs, while all apps continue with their jobs."""
    for _ in range(1000):
        for cpu in range(2):
            if CORE.testbed_on_cpu(cpu) // 100 == vm:
                return cpu
        run(50 * TICKS_PER_US)
    raise AssertionError(f"VM {vm} never runs")


@pytest.mark.parametrize("how", ["console", "fault"])
def test_sixty_apps_end_with_their_vm_without_disturbing_others(how: str) -> None:
    """Deletion has polling points, however many interrupts arrive; the other VM's apps meet every
    deadline."""
    boot(2, [1, 1, 1], [60, 4, 0])
    first = time_now(CORE) + 10**6
    for vm, count, task in ((0, 60, Task(20000, 500, 20000, (0,))), (1, 4, Task(1000, 100, 1000, (90,)))):
        cpu = cpu_of(vm)
        for number in range(count):  # VM 0's apps never end a job and use 75 % of each hart
            assert create(cpu, task, cpu=number % 2) == (OK, number)
            assert call(cpu, LAUNCH, OWN_VM, number, first) == (OK, first)
            set_jobs(vm, number, task.jobs)
    run_until_idle()
    run(10**6 + 45000 * TICKS_PER_US)
    cpu = find(0)
    CORE.testbed_rt_count_deletions(0)
    if how == "console":
        assert CORE.testbed_vm_stop(1 - cpu, 0, True)
    else:
        CORE.testbed_guest_faults(cpu)
    run(45000 * TICKS_PER_US)
    assert 1 <= CORE.testbed_rt_max_deletions() <= 4
    assert states_of(0, 60) == [FREE] * 60
    assert (CORE.testbed_vm_state(0), CORE.testbed_vm_starts(0)) == (VM_RUNNING, 2)
    told = [stats(find(1), number) for number in range(4)]
    assert [(s.misses, s.overruns) for s in told] == [(0, 0)] * 4
    assert all(90 <= s.releases <= s.completions + 1 for s in told)
    assert create(cpu_of(0), GOOD, cpu=0) == (OK, 0)


def test_sixty_four_apps_on_four_cpus() -> None:
    """All slots in use, then deleted in any order while they run; repeated, to find state left by
    the first round."""
    boot(4, [1], [64])
    random = Random(64)
    for _ in range(2):
        start = time_now(CORE) + 10000
        for number in range(64):
            period = random.randint(800, 3000)
            task = Task(period, period // 20, period, (period // 20,), cpu=number % 4)
            manager = cpu_of(0)
            assert create(manager, task) == (OK, number)
            assert call(manager, LAUNCH, OWN_VM, number, start) == (OK, start)
            set_jobs(0, number, task.jobs)
            run_until_idle()
        run(20000 * TICKS_PER_US)
        assert all(stats(cpu_of(0), number).misses == 0 for number in range(64))
        assert all(stats(cpu_of(0), number).releases > 5 for number in range(64))
        assert sum(delete_one(random) for _ in range(48)) > 5
        delete_all(0, 64)
    assert CORE.testbed_vm_stop(0, 0, True)
    run_until_idle()


SECOND = 10**6 * TICKS_PER_US


@pytest.mark.slow
@pytest.mark.parametrize(
    ("periods", "length"),
    [
        ([997, 1009, 2003, 3301, 7919, 10007, 33331, 99991], 600 * SECOND if LONG else 60 * SECOND),
        ([1299709, 2750159, 15485863], (1000 if LONG else 24) * 3600 * SECOND),
    ],
)
def test_releases_do_not_drift(periods: list[int], length: int) -> None:
    """
    testbed_rt_run() compares every release with first + k * period; this test also checks their
    number after a minute for short periods, and after a day for periods of seconds.
    """
    boot(3, [1], [24])
    random = Random(7)
    firsts: dict[int, tuple[int, int]] = {}
    for number in range(24):
        period = random.choice(periods)
        task = Task(period, period // 12, period, (random.randint(1, period // 12), period // 12), cpu=number % 3)
        manager = cpu_of(0)
        firsts[number] = (time_now(CORE) + random.randint(1, 99999), period * TICKS_PER_US)
        assert create(manager, task) == (OK, number)
        assert call(manager, LAUNCH, OWN_VM, number, firsts[number][0])[0] == OK
        set_jobs(0, number, task.jobs)
        run_until_idle()
    assert_no_violation(CORE.testbed_rt_run(time_now(CORE) + length, False, None, 0, None))
    run_until_idle()
    # cpu_of() would advance the time without ending jobs.
    while all(CORE.testbed_on_cpu(cpu) != 0 for cpu in range(3)):
        run(1000 * TICKS_PER_US)
        run_until_idle()
    manager = cpu_of(0)
    released = 0
    for number, (first, period) in firsts.items():
        got = stats(manager, number)
        released += got.releases
        assert got.releases == (time_now(CORE) - first) // period + 1
        assert got.completions in (got.releases, got.releases - 1)
        assert (got.misses, got.overruns) == (0, 0)
    assert released > 5 * 10**5
