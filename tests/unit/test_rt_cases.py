# SPDX-License-Identifier: Apache-2.0
"""Regression tests of rt, and single cases on which other tests rely."""

import pytest
from core import BLOCKED, NEVER, OFF, SUSPENDED, TICKS_PER_US, VM_RUNNING, time_now
from rt import (
    ACTIVE,
    AGAIN,
    ALREADY,
    CORE,
    DELETE,
    FAILED,
    FREE,
    INVALID_PARAM,
    LAUNCH,
    OK,
    OWN_VM,
    QUANTUM_US,
    SELF,
    Task,
    boot,
    call,
    cpu_of,
    create,
    left_over,
    run,
    run_until_idle,
    set_jobs,
    stats,
)


def launch(task: Task, start: int = 0, cpu: int | None = None) -> int:
    """The manager on `cpu` creates and launches an app with its first release at `start`
    (ticks)."""
    cpu = cpu_of(0) if cpu is None else cpu
    error, number = create(cpu, task)
    assert error == OK
    assert call(cpu, LAUNCH, OWN_VM, number, start)[0] == OK
    set_jobs(0, number, task.jobs)
    run_until_idle()
    return number


def step(cpu: int, number: int, *arguments: int) -> int:
    """A single hypercall, which may return AGAIN."""
    a0, a1, a2 = (*arguments, 0, 0, 0)[:3]
    return CORE.testbed_hypercall(cpu, number, a0, a1, a2, None)


def steps(most: int, cpu: int, number: int, *arguments: int) -> int:
    """At most `most` calls while the answer is AGAIN."""
    answer = AGAIN
    for _ in range(most):
        if answer == AGAIN:
            answer = step(cpu, number, *arguments)
    return answer


def test_best_effort_continues_on_an_idle_cpu() -> None:
    """A VCPU preempted by an app continues on an idle CPU."""
    boot(2, [1], [1])
    cpu = cpu_of(0)
    launch(Task(1000, 500, 1000, (500,), cpu=cpu))
    run_until_idle()
    assert CORE.testbed_on_cpu(cpu) == 1
    assert CORE.testbed_on_cpu(1 - cpu) == 0


def test_best_effort_shares_when_an_app_takes_a_cpu() -> None:
    """Without an idle CPU, the slices of the other CPUs become finite."""
    boot(2, [1, 1], [1, 0])
    cpu = cpu_of(0)
    launch(Task(1000000, 900000, 1000000, (900000,), cpu=cpu))
    run_until_idle()
    before = [CORE.testbed_runtime(vm, 0) for vm in range(2)]
    for _ in range(100):
        run(10000, check=True)
    got = [CORE.testbed_runtime(vm, 0) - before[vm] for vm in range(2)]
    assert min(got) > 400000, got


@pytest.mark.parametrize("first", [0, 20 * TICKS_PER_US])
def test_launch_preserves_the_remainder_of_a_slice(first: int) -> None:
    """A preempted VCPU keeps the remainder of its slice, whenever the release occurs."""
    boot(1, [1, 1], [1, 0])
    assert cpu_of(0) == 0
    launch(Task(10**6, 1, 10**6, (1,), cpu=0), time_now(CORE) + first if first else 0)
    run(100 * TICKS_PER_US)
    assert CORE.testbed_on_cpu(0) == 0
    assert stats(0, 0).releases == 1
    run(QUANTUM_US * TICKS_PER_US)
    assert CORE.testbed_on_cpu(0) == 100


def test_deleting_the_last_app_preserves_the_remainder_of_a_slice() -> None:
    """The slice was cut short for a release that does not happen: the VCPU keeps its turn."""
    boot(1, [1, 1], [1, 0])
    assert cpu_of(0) == 0
    launch(Task(10**6, 1, 10**6, (1,), cpu=0), time_now(CORE) + QUANTUM_US // 2 * TICKS_PER_US)
    assert call(0, DELETE, 0) == (OK, 0)
    run(QUANTUM_US * 3 // 4 * TICKS_PER_US)
    assert CORE.testbed_on_cpu(0) == 0
    run(QUANTUM_US // 2 * TICKS_PER_US)
    assert CORE.testbed_on_cpu(0) == 100


def test_yield_gives_up_the_remainder() -> None:
    boot(1, [1, 1], [1, 0])
    assert cpu_of(0) == 0
    launch(Task(10**6, 1, 10**6, (1,), cpu=0), time_now(CORE) + QUANTUM_US // 2 * TICKS_PER_US)
    assert CORE.testbed_on_cpu(0) == 0
    CORE.testbed_yield(0)
    run_until_idle()
    assert CORE.testbed_on_cpu(0) == 100


def test_a_budget_that_ends_with_the_period_is_used_up() -> None:
    """The overrun is counted although the app was not stopped for it."""
    boot(2, [1], [1])
    launch(Task(10, 10, 10, (0,), cpu=1), start=time_now(CORE))
    run(105 * TICKS_PER_US)
    got = stats(cpu_of(0), 0)
    assert (got.releases, got.misses, got.overruns) == (1, 1, 10)


def test_runtime_has_the_current_slice() -> None:
    """The statistics include the app's current slice."""
    boot(2, [1], [1])
    launch(Task(1000, 500, 1000, (500,), cpu=1), start=time_now(CORE))
    run(123 * TICKS_PER_US)
    assert stats(cpu_of(0), 0).runtime == 123 * TICKS_PER_US


def test_a_new_app_has_used_nothing() -> None:
    """The statistics of the slot's previous app are reset."""
    boot(2, [1], [1])
    task = Task(1000, 500, 1000, (500,), cpu=1)
    launch(task, start=time_now(CORE))
    run(123 * TICKS_PER_US)
    assert call(cpu_of(0), DELETE, 0) == (OK, 0)
    run_until_idle()
    assert create(cpu_of(0), task) == (OK, 0)
    got = stats(cpu_of(0), 0)
    assert (got.releases, got.response_min, got.runtime) == (0, NEVER, 0)


def test_statistics_are_updated_under_the_lock() -> None:
    """The call that ends a job holds no lock, so it must not update statistics that another CPU may
    read."""
    boot(2, [1], [1])
    launch(Task(1000, 500, 1000, (0,), cpu=1), start=time_now(CORE))
    run(123 * TICKS_PER_US)
    CORE.testbed_enter(1)
    before = stats(0, 0)
    assert CORE.testbed_end_job(1) == OK
    asked = stats(0, 0)
    assert bytes(asked) == bytes(before)
    run_until_idle()
    got = stats(cpu_of(0), 0)
    assert (got.completions, got.misses) == (1, 0)
    assert got.response_min == got.response_max == got.response_sum == 123 * TICKS_PER_US


@pytest.mark.parametrize("steps", range(1, 6))
@pytest.mark.parametrize("changes", [{"budget_us": 6}, {"deadline_us": 2}])
def test_replaced_app_is_tested_again(steps: int, changes: dict[str, int]) -> None:
    """An app that is replaced by a more demanding app during its launch is tested again."""
    boot(2, [1], [2])
    launch(Task(10, 5, 5, (5,), cpu=1))
    cpu = cpu_of(0)
    small = Task(10, 2, 10, (2,), cpu=1)
    assert create(cpu, small) == (OK, 1)
    for _ in range(steps):
        answer = step(cpu, LAUNCH, OWN_VM, 1, 0)
    if answer != AGAIN:
        return
    assert call(cpu, DELETE, 1) == (OK, 0)
    assert create(cpu, small, **changes) == (OK, 1)
    assert call(cpu, LAUNCH, OWN_VM, 1, 0)[0] == FAILED


def test_concurrent_launches_complete() -> None:
    """Launches of two managers on two CPUs at the same time both complete."""
    boot(2, [1, 1], [4, 4])
    cpus = [cpu_of(vm) for vm in range(2)]
    for vm in range(2):
        assert create(cpus[vm], Task(10, 2, 9, (2,), cpu=1)) == (OK, 0)
    answers = [AGAIN, AGAIN]
    for _ in range(100):
        for vm in range(2):
            if answers[vm] == AGAIN:
                answers[vm] = step(cpus[vm], LAUNCH, OWN_VM, 0, time_now(CORE) + 1000000)
    assert answers == [OK, OK]


def two_vcpus() -> list[int]:
    """The CPUs of two VCPUs of one VM that may have four apps."""
    boot(2, [2], [4])
    assert CORE.testbed_vcpu_start(cpu_of(0), 0, 1)
    run_until_idle()
    return [cpu_of(0, vcpu) for vcpu in range(2)]


def alternate(cpus: list[int], apps: tuple[int, int]) -> list[int]:
    """The answers to two VCPUs that alternately execute steps of a launch each."""
    answers = [AGAIN, AGAIN]
    for _ in range(100):
        for i in range(2):
            if answers[i] == AGAIN:
                answers[i] = step(cpus[i], LAUNCH, OWN_VM, apps[i], time_now(CORE) + 1000000)
    return answers


def test_two_vcpus_launch_two_apps() -> None:
    """Both launches succeed."""
    cpus = two_vcpus()
    for number in range(2):
        assert create(cpus[0], Task(10, 2, 9, (2,), cpu=1)) == (OK, number)
    assert alternate(cpus, (0, 1)) == [OK, OK]


@pytest.mark.parametrize(("budget", "answers"), [(2, [OK, ALREADY]), (10, [FAILED, FAILED])])
def test_two_vcpus_launch_the_same_app(budget: int, answers: list[int]) -> None:
    """Both VCPUs advance the same decision, and each gets an answer; a refusal remains valid."""
    cpus = two_vcpus()
    launch(Task(10, 2, 9, (2,), cpu=1), time_now(CORE) + 10**7)
    assert create(cpus[0], Task(10, budget, 10, (2,), cpu=1)) == (OK, 1)
    assert sorted(alternate(cpus, (1, 1))) == sorted(answers)
    if answers[0] == FAILED:
        assert step(cpus[1], LAUNCH, OWN_VM, 1, 0) == FAILED
        assert call(cpus[0], DELETE, 0) == (OK, 0)
        assert call(cpus[1], LAUNCH, OWN_VM, 1, 0)[0] == OK


def test_abandoned_launch_does_not_block_others() -> None:
    boot(2, [1, 1], [4, 4])
    cpus = [cpu_of(vm) for vm in range(2)]
    for vm in range(2):
        assert create(cpus[vm], Task(10, 2, 9, (2,), cpu=1)) == (OK, 0)
    assert step(cpus[0], LAUNCH, OWN_VM, 0, time_now(CORE) + 10**7) == AGAIN
    for _ in range(1000):
        CORE.testbed_advance(1000)
        run_until_idle()
        if step(cpu_of(1), LAUNCH, OWN_VM, 0, time_now(CORE) + 10**7) == OK:
            return
    raise AssertionError("an unfinished launch blocks other launches forever")


def test_waiting_app_takes_no_time_from_others() -> None:
    """
    A executes WFI at its release and is woken in the middle of its period. B still meets its
    deadline, since A's budget was consumed during the wait.
    """
    boot(2, [1], [2])
    start = time_now(CORE) + 1000
    launch(Task(10, 5, 10, (5,), cpu=1), start)
    launch(Task(10, 5, 5, (5,), cpu=1), start + 5 * TICKS_PER_US)
    run(start + 1 - time_now(CORE))
    assert CORE.testbed_on_cpu(1) == 1
    CORE.testbed_wait(1)
    run_until_idle()
    run(start + 5 * TICKS_PER_US - time_now(CORE))
    CORE.testbed_raise(0, 0, 1)
    run_until_idle()
    run(100 * TICKS_PER_US)
    assert stats(cpu_of(0), 1).misses == 0


def test_suspended_app_takes_no_time_from_others() -> None:
    """
    As with WFI: A is suspended at its release and resumed in the middle of its period. It continues
    with its next release, and B meets its deadlines.
    """
    boot(2, [1], [2])
    start = time_now(CORE) + 1000
    launch(Task(10, 5, 10, (5,), cpu=1), start)
    launch(Task(10, 5, 5, (5,), cpu=1), start + 5 * TICKS_PER_US)
    run(start + 1 - time_now(CORE))
    assert CORE.testbed_on_cpu(1) == 1
    CORE.testbed_suspend(1)
    run_until_idle()
    assert CORE.testbed_vcpu_state(0, 1) == SUSPENDED
    CORE.testbed_raise(0, 0, 1)
    run_until_idle()
    assert CORE.testbed_vcpu_state(0, 1) == SUSPENDED
    run(start + 5 * TICKS_PER_US - time_now(CORE))
    CORE.testbed_resume(0, 0, 1)
    run_until_idle()
    assert CORE.testbed_vcpu_state(0, 1) == BLOCKED
    assert CORE.testbed_on_cpu(1) == 2
    run(start + 10 * TICKS_PER_US + 1 - time_now(CORE))
    assert CORE.testbed_on_cpu(1) == 1
    assert stats(cpu_of(0), 0).misses == 1
    run(100 * TICKS_PER_US)
    assert stats(cpu_of(0), 0).misses == 1
    assert stats(cpu_of(0), 1).misses == 0


def test_app_suspended_over_releases_continues_at_a_release() -> None:
    """Releases while the app is suspended give it no time: resumed in a later period, it waits for
    the next one."""
    boot(2, [1], [1])
    start = time_now(CORE) + 1000
    launch(Task(10, 5, 10, (5,), cpu=1), start)
    run(start + 1 - time_now(CORE))
    CORE.testbed_suspend(1)
    run(25 * TICKS_PER_US)
    assert CORE.testbed_vcpu_state(0, 1) == SUSPENDED
    CORE.testbed_resume(0, 0, 1)
    run_until_idle()
    assert CORE.testbed_on_cpu(1) == -1
    run(start + 30 * TICKS_PER_US + 1 - time_now(CORE))
    assert CORE.testbed_on_cpu(1) == 1
    assert stats(cpu_of(0), 0).misses == 1


def test_budget_used_by_a_deleted_app_is_not_reused() -> None:
    """A launch after a deletion waits until no job is pending that the deleted app has delayed, and
    not longer."""
    boot(2, [1], [3])
    manager = cpu_of(0)
    start = time_now(CORE) + 1000
    launch(Task(10, 5, 9, (5,), cpu=1), start)
    launch(Task(10, 5, 10, (5,), cpu=1), start)
    run(start + 5 * TICKS_PER_US - 1 - time_now(CORE))
    assert CORE.testbed_on_cpu(1) == 1
    assert call(1, DELETE, SELF) == (OK, 0)
    run_until_idle()
    assert CORE.testbed_vcpu_state(0, 1) == OFF
    late = Task(4, 2, 4, (2,), cpu=1)
    assert create(manager, late) == (OK, 0)
    answer, waited = AGAIN, 0
    while answer == AGAIN and waited <= 5 * TICKS_PER_US + 1:
        run(1)
        waited += 1
        answer = steps(20, manager, LAUNCH, OWN_VM, 0, 0)  # no time passes while it is decided
    assert answer == OK
    set_jobs(0, 0, late.jobs)
    run_until_idle()
    run(100 * TICKS_PER_US)
    assert stats(manager, 1).misses == 0
    assert CORE.testbed_rt_state(0, 1) == ACTIVE


def test_launch_waits_for_all_jobs_that_a_deleted_app_delayed() -> None:
    """The launch waits for all delayed jobs, not only for the first."""
    boot(2, [1], [3])
    manager = cpu_of(0)
    start = time_now(CORE) + 1000
    for period in (19, 20, 20):
        launch(Task(period, 5, period, (5,), cpu=1), start)
    run(start + 3 * TICKS_PER_US - time_now(CORE))
    assert call(1, DELETE, SELF) == (OK, 0)
    run_until_idle()
    assert create(manager, Task(20, 5, 20, (5,), cpu=1)) == (OK, 0)
    until = 0
    while steps(20, manager, LAUNCH, OWN_VM, 0, 0) == AGAIN and until < 20:
        run(TICKS_PER_US)
        until = (time_now(CORE) - start) // TICKS_PER_US
    assert until in (13, 14)


def test_successive_apps_preserve_the_reserve() -> None:
    """Apps launched one after the other could occupy the CPU forever, so each launch waits for the
    reserve."""
    boot(2, [1], [3], reserve=(100, 1000))
    manager = cpu_of(0)
    task = Task(10000, 800, 10000, (0,), cpu=1 - manager)
    begin, intervals, answer = time_now(CORE), [], AGAIN
    assert create(manager, task) == (OK, 0)
    while len(intervals) < 5:
        answer = steps(20, manager, LAUNCH, OWN_VM, 0, 0)
        if answer == OK:
            set_jobs(0, 0, task.jobs)
            run_until_idle()
            start = time_now(CORE)
            run(790 * TICKS_PER_US)
            assert call(1 - manager, DELETE, SELF) == (OK, 0)
            run_until_idle()
            intervals.append(((start - begin) // TICKS_PER_US, (time_now(CORE) - begin) // TICKS_PER_US))
            assert create(manager, task) == (OK, 0)
        else:
            assert answer == AGAIN
            run(10 * TICKS_PER_US)
    assert left_over(intervals, 1000, intervals[-1][1]) >= 100, intervals
    assert intervals[-1][1] < 12000, "a launch waits longer than necessary"


def test_a_launch_does_not_wait_for_an_app_that_was_never_released() -> None:
    boot(2, [1], [3], reserve=(100, 1000))
    manager = cpu_of(0)
    launch(Task(10000, 800, 10000, (1,), cpu=1), time_now(CORE) + 10**6)
    assert call(manager, DELETE, 0) == (OK, 0)
    run_until_idle()
    assert create(manager, Task(10000, 800, 10000, (1,), cpu=1)) == (OK, 0)
    assert steps(20, manager, LAUNCH, OWN_VM, 0, 0) == OK


def test_creation_in_a_stopping_vm_ends_early() -> None:
    """A VM that is being stopped cannot get an app: the call ends at a polling point instead of
    trying all slots."""
    cpus = two_vcpus()
    assert CORE.testbed_vm_stop(cpus[0], 0, True)
    task = Task(1000, 100, 1000, (100,), cpu=cpus[1])
    assert create(cpus[1], task)[0] == AGAIN
    run_until_idle()
    assert CORE.testbed_vm_state(0) == VM_RUNNING
    assert create(cpu_of(0), task) == (OK, 0)


def test_interrupts_before_the_launch_are_discarded() -> None:
    """Like interrupts of a hart that is off; later interrupts are delivered in the app's next
    slice."""
    boot(2, [1], [1])
    CORE.testbed_raise(0, 0, 1)
    launch(Task(1000, 500, 1000, (500,), cpu=1), time_now(CORE) + 100)
    run(200)
    assert CORE.testbed_on_cpu(1) == 1
    assert CORE.testbed_raised(0, 1) == 0
    CORE.testbed_raise(0, 0, 1)
    run(2000 * TICKS_PER_US)
    assert CORE.testbed_raised(0, 1) == 1


def test_an_app_may_launch_another_on_its_cpu() -> None:
    """A launch by an app after a deletion on the same CPU does not wait for that app itself
    forever."""
    boot(1, [1], [3])
    launch(Task(100, 40, 100, (0,)))
    launch(Task(100, 40, 90, (0,)))
    assert CORE.testbed_on_cpu(0) == 2
    assert create(0, Task(100, 40, 100, (40,))) == (OK, 2)
    assert call(0, DELETE, 0) == (OK, 0)
    run_until_idle()
    for _ in range(300):
        if CORE.testbed_on_cpu(0) == 2 and step(0, LAUNCH, OWN_VM, 2, 0) == OK:
            break
        CORE.testbed_advance(TICKS_PER_US)
        run_until_idle()
    assert CORE.testbed_rt_state(0, 2) == ACTIVE


def test_an_app_that_is_deleted_while_its_vm_stops_is_not_removed_twice() -> None:
    """By a VCPU that has not yet handled the stop: the VM's count of its VCPUs must be decremented
    once per app."""
    cpus = two_vcpus()
    launch(Task(1000, 100, 1000, (100,), cpu=cpus[0]), time_now(CORE) + 10**6, cpus[0])
    assert CORE.testbed_vm_stop(cpus[0], 0, True)
    assert CORE.testbed_on_cpu(cpus[1]) == 1
    assert call(cpus[1], DELETE, 0) == (OK, 0)
    CORE.testbed_enter(cpus[0])
    run_until_idle()
    assert CORE.testbed_vm_state(0) == VM_RUNNING
    assert CORE.testbed_vm_starts(0) == 2
    assert CORE.testbed_rt_state(0, 0) == FREE


def test_no_app_is_launched_while_its_vm_stops() -> None:
    """By a VCPU that has not yet handled the stop: the VM's end would have to wait for the new
    app."""
    cpus = two_vcpus()
    assert create(cpus[1], Task(1000, 100, 1000, (100,), cpu=cpus[1])) == (OK, 0)
    assert CORE.testbed_vm_stop(cpus[0], 0, True)
    assert call(cpus[1], LAUNCH, OWN_VM, 0, 0)[0] == INVALID_PARAM
    run_until_idle()
    assert CORE.testbed_vm_state(0) == VM_RUNNING
    assert CORE.testbed_rt_state(0, 0) == FREE


# --- launches while an app runs on another CPU ---


FAR = 10**9  # ticks
LONG_JOB = Task(20000, 15000, 20000, (15000,))


def victim() -> tuple[int, int]:
    """An app of VM 1 runs a long job on one CPU; VM 0 runs on the other. Returns both CPUs, the
    victim's first."""
    boot(2, [1, 1], [8, 1])
    cpu = cpu_of(1)
    assert create(cpu, LONG_JOB, cpu=cpu) == (OK, 0)
    assert call(cpu, LAUNCH, OWN_VM, 0, 0)[0] == OK
    set_jobs(1, 0, LONG_JOB.jobs)
    run_until_idle()
    run(1000 * TICKS_PER_US)
    assert CORE.testbed_on_cpu(cpu) == 101
    CORE.testbed_wait(cpu_of(1))
    run_until_idle()
    assert cpu_of(0) == 1 - cpu
    return cpu, 1 - cpu


def kicks_of_launches(cpu: int, caller: int, firsts: list[int]) -> tuple[list[int], int]:
    """Launches apps for `cpu` from CPU `caller`. Returns the answers and the number of interrupts
    of `cpu`."""
    answers, kicks = [], 0
    for first in firsts:
        error, number = create(caller, Task(10**6, 1, 10**6, (1,), cpu=cpu))
        assert error == OK
        answers.append(call(caller, LAUNCH, OWN_VM, number, first)[0])
        kicks += CORE.testbed_kicks(cpu)
        run_until_idle()
    return answers, kicks


def test_later_releases_interrupt_no_app() -> None:
    """Releases after the next release of that CPU."""
    cpu, caller = victim()
    now = time_now(CORE)
    assert kicks_of_launches(cpu, caller, [now + FAR - n for n in range(8)]) == ([OK] * 8, 0)


def test_earlier_releases_interrupt_an_app_once() -> None:
    """Each release precedes all others: the first launch interrupts the CPU, further launches wait
    until no app is ready there. A launch for the current time does not wait."""
    cpu, caller = victim()
    soon = time_now(CORE) + 1000 * TICKS_PER_US
    assert kicks_of_launches(cpu, caller, [soon - n for n in range(4)]) == ([OK] + [AGAIN] * 3, 1)
    assert kicks_of_launches(cpu, caller, [0]) == ([OK], 1)
    for number in (0, 4):
        set_jobs(0, number, (1,))
    run(20000 * TICKS_PER_US)
    assert CORE.testbed_on_cpu(cpu) == 101  # the victim's next job
    soon = time_now(CORE) + 1000 * TICKS_PER_US
    assert [call(cpu_of(0), LAUNCH, OWN_VM, number, soon - number)[0] for number in (1, 2)] == [OK, AGAIN]


def test_app_with_the_next_release_is_not_deleted_before() -> None:
    """The CPU's timer is set to that release; deleting the app would leave a useless interrupt,
    once per such app."""
    cpu, caller = victim()
    now = time_now(CORE)
    firsts = [now + n * 1000 * TICKS_PER_US for n in (1, 2, 3)]
    assert kicks_of_launches(cpu, caller, firsts) == ([OK] * 3, 1)
    for number in range(3):
        set_jobs(0, number, (1,))
    assert [step(caller, DELETE, number) for number in (0, 2)] == [AGAIN, OK]
    assert CORE.testbed_kicks(cpu) == 0
    # The app is released, as admission has accounted for, and is ready after the job.
    run(1100 * TICKS_PER_US)
    assert CORE.testbed_on_cpu(cpu) == 101
    assert [step(caller, DELETE, number) for number in (0, 1)] == [OK, AGAIN]
    run(20000 * TICKS_PER_US)
    assert step(cpu_of(0), DELETE, 1) == OK


def test_an_app_that_runs_is_deleted_at_once() -> None:
    """Although its next release may be the first of that CPU."""
    boot(2, [1], [1])
    launch(Task(1000, 900, 1000, (900,), cpu=1))
    run(200 * TICKS_PER_US)
    assert CORE.testbed_on_cpu(1) == 1
    assert step(cpu_of(0), DELETE, 0) == OK


def test_launches_for_now_do_not_wait() -> None:
    """Their releases interrupt the CPU in any case."""
    cpu, caller = victim()
    assert kicks_of_launches(cpu, caller, [0] * 4) == ([OK] * 4, 4)
    assert CORE.testbed_on_cpu(cpu) == 101
    assert CORE.testbed_rt_ready(cpu) == 4
