# SPDX-License-Identifier: Apache-2.0
"""Single cases of rt that have been wrong once, or that everything else leans on."""

import pytest
from core import NEVER, OFF, TICKS_PER_US, VM_RUNNING, time_now
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
    set_jobs,
    settle,
    stats,
)


def launch(task: Task, start: int = 0, cpu: int | None = None) -> int:
    """The manager on `cpu` creates and launches an app, admitted, for `start` (ticks)."""
    cpu = cpu_of(0) if cpu is None else cpu
    error, number = create(cpu, task)
    assert error == OK
    assert call(cpu, LAUNCH, OWN_VM, number, start)[0] == OK
    set_jobs(0, number, task.jobs)
    settle()
    return number


def step(cpu: int, number: int, *arguments: int) -> int:
    """One call, which may have to be made again."""
    a0, a1, a2 = (*arguments, 0, 0, 0)[:3]
    return CORE.testbed_hypercall(cpu, number, a0, a1, a2, None)


def steps(most: int, cpu: int, number: int, *arguments: int) -> int:
    """At most so many calls, as long as they have to be made again."""
    answer = AGAIN
    for _ in range(most):
        if answer == AGAIN:
            answer = step(cpu, number, *arguments)
    return answer


def test_best_effort_goes_on_elsewhere() -> None:
    """A VCPU whose CPU an app takes goes on on a CPU that slept."""
    boot(2, [1], [1])
    cpu = cpu_of(0)
    launch(Task(1000, 500, 1000, (500,), cpu=cpu))
    settle()
    assert CORE.testbed_on_cpu(cpu) == 1
    assert CORE.testbed_on_cpu(1 - cpu) == 0


def test_best_effort_shares_when_an_app_takes_a_cpu() -> None:
    """Where no CPU sleeps, the slices of the others get an end."""
    boot(2, [1, 1], [1, 0])
    cpu = cpu_of(0)
    launch(Task(1000000, 900000, 1000000, (900000,), cpu=cpu))
    settle()
    before = [CORE.testbed_runtime(vm, 0) for vm in range(2)]
    for _ in range(100):
        run(10000, check=True)
    got = [CORE.testbed_runtime(vm, 0) - before[vm] for vm in range(2)]
    assert min(got) > 400000, got


@pytest.mark.parametrize("first", [0, 20 * TICKS_PER_US])
def test_a_launch_leaves_a_turn_what_it_has_left(first: int) -> None:
    """The VCPU that is interrupted is not taken for one whose turn is over, whenever the release comes."""
    boot(1, [1, 1], [1, 0])
    assert cpu_of(0) == 0
    launch(Task(10**6, 1, 10**6, (1,), cpu=0), time_now(CORE) + first if first else 0)
    run(100 * TICKS_PER_US)
    assert CORE.testbed_on_cpu(0) == 0
    assert stats(0, 0).releases == 1
    run(QUANTUM_US * TICKS_PER_US)
    assert CORE.testbed_on_cpu(0) == 100


def test_who_gives_up_its_turn_gives_up_what_a_release_had_left_of_it() -> None:
    boot(1, [1, 1], [1, 0])
    assert cpu_of(0) == 0
    launch(Task(10**6, 1, 10**6, (1,), cpu=0), time_now(CORE) + QUANTUM_US // 2 * TICKS_PER_US)
    assert CORE.testbed_on_cpu(0) == 0
    CORE.testbed_yield(0)
    settle()
    assert CORE.testbed_on_cpu(0) == 100


def test_a_budget_that_ends_with_the_period_is_used_up() -> None:
    """The overrun counts although nobody had to stop the app."""
    boot(2, [1], [1])
    launch(Task(10, 10, 10, (0,), cpu=1), start=time_now(CORE))
    run(105 * TICKS_PER_US)
    got = stats(cpu_of(0), 0)
    assert (got.releases, got.misses, got.overruns) == (1, 1, 10)


def test_runtime_has_the_current_slice() -> None:
    """The manager sees what an app has used until now, not until its last switch."""
    boot(2, [1], [1])
    launch(Task(1000, 500, 1000, (500,), cpu=1), start=time_now(CORE))
    run(123 * TICKS_PER_US)
    assert stats(cpu_of(0), 0).runtime == 123 * TICKS_PER_US


def test_a_new_app_has_used_nothing() -> None:
    """Whatever the one before it in its slot has."""
    boot(2, [1], [1])
    task = Task(1000, 500, 1000, (500,), cpu=1)
    launch(task, start=time_now(CORE))
    run(123 * TICKS_PER_US)
    assert call(cpu_of(0), DELETE, 0) == (OK, 0)
    settle()
    assert create(cpu_of(0), task) == (OK, 0)
    got = stats(cpu_of(0), 0)
    assert (got.releases, got.response_min, got.runtime) == (0, NEVER, 0)


def test_a_job_comes_into_the_figures_under_the_lock() -> None:
    """Not by the call that ends it, which holds none: the manager on another CPU would see half of it."""
    boot(2, [1], [1])
    launch(Task(1000, 500, 1000, (0,), cpu=1), start=time_now(CORE))
    run(123 * TICKS_PER_US)
    CORE.testbed_enter(1)
    before = stats(0, 0)
    assert CORE.testbed_end_job(1) == OK
    asked = stats(0, 0)
    assert bytes(asked) == bytes(before)
    settle()
    got = stats(cpu_of(0), 0)
    assert (got.completions, got.misses) == (1, 0)
    assert got.response_min == got.response_max == got.response_sum == 123 * TICKS_PER_US


@pytest.mark.parametrize("steps", range(1, 6))
@pytest.mark.parametrize("changes", [{"budget_us": 6}, {"deadline_us": 2}])
def test_a_launch_is_decided_for_the_app_that_it_launches(steps: int, changes: dict[str, int]) -> None:
    """An app that is deleted and created anew with larger wishes in the middle of a launch is tested anew."""
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


def test_two_launches_at_a_time_end() -> None:
    """Two managers on two CPUs that launch at the same time do not keep each other from it."""
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
    settle()
    return [cpu_of(0, vcpu) for vcpu in range(2)]


def take_turns(cpus: list[int], apps: tuple[int, int]) -> list[int]:
    """What two VCPUs are told that launch an app each, a step at a time in turn."""
    answers = [AGAIN, AGAIN]
    for _ in range(100):
        for i in range(2):
            if answers[i] == AGAIN:
                answers[i] = step(cpus[i], LAUNCH, OWN_VM, apps[i], time_now(CORE) + 1000000)
    return answers


def test_two_vcpus_of_a_vm_launch_at_a_time() -> None:
    """Each gets its app."""
    cpus = two_vcpus()
    for number in range(2):
        assert create(cpus[0], Task(10, 2, 9, (2,), cpu=1)) == (OK, number)
    assert take_turns(cpus, (0, 1)) == [OK, OK]


@pytest.mark.parametrize(("budget", "answers"), [(2, [OK, ALREADY]), (10, [FAILED, FAILED])])
def test_two_vcpus_launch_the_same_app(budget: int, answers: list[int]) -> None:
    """They help each other, and each gets an answer; a refusal stands."""
    cpus = two_vcpus()
    launch(Task(10, 2, 9, (2,), cpu=1), time_now(CORE) + 10**7)
    assert create(cpus[0], Task(10, budget, 10, (2,), cpu=1)) == (OK, 1)
    assert sorted(take_turns(cpus, (1, 1))) == sorted(answers)
    if answers[0] == FAILED:
        assert step(cpus[1], LAUNCH, OWN_VM, 1, 0) == FAILED
        assert call(cpus[0], DELETE, 0) == (OK, 0)
        assert call(cpus[1], LAUNCH, OWN_VM, 1, 0)[0] == OK


def test_a_launch_that_nobody_goes_on_with_keeps_nobody_waiting() -> None:
    boot(2, [1, 1], [4, 4])
    cpus = [cpu_of(vm) for vm in range(2)]
    for vm in range(2):
        assert create(cpus[vm], Task(10, 2, 9, (2,), cpu=1)) == (OK, 0)
    assert step(cpus[0], LAUNCH, OWN_VM, 0, time_now(CORE) + 10**7) == AGAIN
    for _ in range(1000):
        CORE.testbed_advance(1000)
        settle()
        if step(cpu_of(1), LAUNCH, OWN_VM, 0, time_now(CORE) + 10**7) == OK:
            return
    raise AssertionError("an unfinished launch keeps others from theirs for ever")


def test_an_app_that_waits_takes_no_time_from_others() -> None:
    """
    A executes WFI at its release and is interrupted in the middle of its period: B, which was admitted beside it, still
    makes its deadline, for A's budget has gone on.
    """
    boot(2, [1], [2])
    start = time_now(CORE) + 1000
    launch(Task(10, 5, 10, (5,), cpu=1), start)
    launch(Task(10, 5, 5, (5,), cpu=1), start + 5 * TICKS_PER_US)
    run(start + 1 - time_now(CORE))
    assert CORE.testbed_on_cpu(1) == 1
    CORE.testbed_wait(1)
    settle()
    run(start + 5 * TICKS_PER_US - time_now(CORE))
    CORE.testbed_raise(0, 0, 1)
    settle()
    run(100 * TICKS_PER_US)
    assert stats(cpu_of(0), 1).misses == 0


def test_what_a_deleted_app_has_used_is_not_given_twice() -> None:
    """A launch in the place of an app that has left waits until no job runs that the other has delayed; not longer."""
    boot(2, [1], [3])
    manager = cpu_of(0)
    start = time_now(CORE) + 1000
    launch(Task(10, 5, 9, (5,), cpu=1), start)
    launch(Task(10, 5, 10, (5,), cpu=1), start)
    run(start + 5 * TICKS_PER_US - 1 - time_now(CORE))
    assert CORE.testbed_on_cpu(1) == 1
    assert call(1, DELETE, SELF) == (OK, 0)
    settle()
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
    settle()
    run(100 * TICKS_PER_US)
    assert stats(manager, 1).misses == 0
    assert CORE.testbed_rt_state(0, 1) == ACTIVE


def test_a_launch_waits_for_all_that_a_deleted_app_has_delayed() -> None:
    """Not only for the first of them."""
    boot(2, [1], [3])
    manager = cpu_of(0)
    start = time_now(CORE) + 1000
    for period in (19, 20, 20):
        launch(Task(period, 5, period, (5,), cpu=1), start)
    run(start + 3 * TICKS_PER_US - time_now(CORE))
    assert call(1, DELETE, SELF) == (OK, 0)
    settle()
    assert create(manager, Task(20, 5, 20, (5,), cpu=1)) == (OK, 0)
    until = 0
    while steps(20, manager, LAUNCH, OWN_VM, 0, 0) == AGAIN and until < 20:
        run(TICKS_PER_US)
        until = (time_now(CORE) - start) // TICKS_PER_US
    assert until in (13, 14)


def test_apps_that_take_each_others_places_leave_best_effort_its_reserve() -> None:
    """Each would be admitted, one after the other they would have the CPU for ever: the next waits for the reserve."""
    boot(2, [1], [3], reserve=(100, 1000))
    manager = cpu_of(0)
    task = Task(10000, 800, 10000, (0,), cpu=1 - manager)
    begin, stretches, answer = time_now(CORE), [], AGAIN
    assert create(manager, task) == (OK, 0)
    while len(stretches) < 5:
        answer = steps(20, manager, LAUNCH, OWN_VM, 0, 0)
        if answer == OK:
            set_jobs(0, 0, task.jobs)
            settle()
            start = time_now(CORE)
            run(790 * TICKS_PER_US)
            assert call(1 - manager, DELETE, SELF) == (OK, 0)
            settle()
            stretches.append(((start - begin) // TICKS_PER_US, (time_now(CORE) - begin) // TICKS_PER_US))
            assert create(manager, task) == (OK, 0)
        else:
            assert answer == AGAIN
            run(10 * TICKS_PER_US)
    assert left_over(stretches, 1000, stretches[-1][1]) >= 100, stretches
    assert stretches[-1][1] < 12000, "it waits longer than it must"


def test_a_launch_does_not_wait_for_an_app_that_was_never_released() -> None:
    boot(2, [1], [3], reserve=(100, 1000))
    manager = cpu_of(0)
    launch(Task(10000, 800, 10000, (1,), cpu=1), time_now(CORE) + 10**6)
    assert call(manager, DELETE, 0) == (OK, 0)
    settle()
    assert create(manager, Task(10000, 800, 10000, (1,), cpu=1)) == (OK, 0)
    assert steps(20, manager, LAUNCH, OWN_VM, 0, 0) == OK


def test_an_app_that_cannot_be_made_is_not_tried_in_every_slot() -> None:
    """One that its VM, about to lose its apps, would get in none of them: the VCPU looks at interrupts, and leaves."""
    cpus = two_vcpus()
    assert CORE.testbed_vm_stop(cpus[0], 0, True)
    task = Task(1000, 100, 1000, (100,), cpu=cpus[1])
    assert create(cpus[1], task)[0] == AGAIN
    settle()
    assert CORE.testbed_vm_state(0) == VM_RUNNING
    assert create(cpu_of(0), task) == (OK, 0)


def test_what_was_raised_before_its_launch_an_app_does_not_see() -> None:
    """As of a hart that is off; what is raised later it sees at its next turn."""
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
    """An app that launches in the place of another on its own CPU does not wait for itself for ever."""
    boot(1, [1], [3])
    launch(Task(100, 40, 100, (0,)))
    launch(Task(100, 40, 90, (0,)))
    assert CORE.testbed_on_cpu(0) == 2
    assert create(0, Task(100, 40, 100, (40,))) == (OK, 2)
    assert call(0, DELETE, 0) == (OK, 0)
    settle()
    for _ in range(300):
        if CORE.testbed_on_cpu(0) == 2 and step(0, LAUNCH, OWN_VM, 2, 0) == OK:
            break
        CORE.testbed_advance(TICKS_PER_US)
        settle()
    assert CORE.testbed_rt_state(0, 2) == ACTIVE


def test_an_app_that_is_deleted_while_its_vm_stops_is_not_removed_twice() -> None:
    """By a VCPU that has yet to learn that it is to leave: the VM's end waits for each of them once."""
    cpus = two_vcpus()
    launch(Task(1000, 100, 1000, (100,), cpu=cpus[0]), time_now(CORE) + 10**6, cpus[0])
    assert CORE.testbed_vm_stop(cpus[0], 0, True)
    assert CORE.testbed_on_cpu(cpus[1]) == 1
    assert call(cpus[1], DELETE, 0) == (OK, 0)
    CORE.testbed_enter(cpus[0])
    settle()
    assert CORE.testbed_vm_state(0) == VM_RUNNING
    assert CORE.testbed_vm_starts(0) == 2
    assert CORE.testbed_rt_state(0, 0) == FREE


def test_no_app_is_launched_while_its_vm_stops() -> None:
    """By a VCPU that has yet to learn that it is to leave: it would be one more that the VM's end waits for."""
    cpus = two_vcpus()
    assert create(cpus[1], Task(1000, 100, 1000, (100,), cpu=cpus[1])) == (OK, 0)
    assert CORE.testbed_vm_stop(cpus[0], 0, True)
    assert call(cpus[1], LAUNCH, OWN_VM, 0, 0)[0] == INVALID_PARAM
    settle()
    assert CORE.testbed_vm_state(0) == VM_RUNNING
    assert CORE.testbed_rt_state(0, 0) == FREE


# --- launches beside an app that runs on another CPU ---


FAR = 10**9  # ticks
LONG_JOB = Task(20000, 15000, 20000, (15000,))


def victim() -> tuple[int, int]:
    """An app of VM 1 has begun a long job on one CPU; VM 0 runs on the other. Returns both CPUs: the victim's first."""
    boot(2, [1, 1], [8, 1])
    cpu = cpu_of(1)
    assert create(cpu, LONG_JOB, cpu=cpu) == (OK, 0)
    assert call(cpu, LAUNCH, OWN_VM, 0, 0)[0] == OK
    set_jobs(1, 0, LONG_JOB.jobs)
    settle()
    run(1000 * TICKS_PER_US)
    assert CORE.testbed_on_cpu(cpu) == 101
    CORE.testbed_wait(cpu_of(1))
    settle()
    assert cpu_of(0) == 1 - cpu
    return cpu, 1 - cpu


def kicks_of_launches(cpu: int, caller: int, firsts: list[int]) -> tuple[list[int], int]:
    """Launches apps to `cpu` from the CPU `caller` as long as none has to wait: what each answered, and how many
    interrupted `cpu`."""
    answers, kicks = [], 0
    for first in firsts:
        error, number = create(caller, Task(10**6, 1, 10**6, (1,), cpu=cpu))
        assert error == OK
        answers.append(call(caller, LAUNCH, OWN_VM, number, first)[0])
        kicks += CORE.testbed_kicks(cpu)
        settle()
    return answers, kicks


def test_launches_for_later_interrupt_no_app() -> None:
    """Their releases come after the next one there."""
    cpu, caller = victim()
    now = time_now(CORE)
    assert kicks_of_launches(cpu, caller, [now + FAR - n for n in range(8)]) == ([OK] * 8, 0)


def test_launches_for_soon_interrupt_an_app_once() -> None:
    """Each release comes before all others: the first launch interrupts, the others wait until no app is ready there.
    One for now does not."""
    cpu, caller = victim()
    soon = time_now(CORE) + 1000 * TICKS_PER_US
    assert kicks_of_launches(cpu, caller, [soon - n for n in range(4)]) == ([OK] + [AGAIN] * 3, 1)
    assert kicks_of_launches(cpu, caller, [0]) == ([OK], 1)
    for number in (0, 4):
        set_jobs(0, number, (1,))
    run(20000 * TICKS_PER_US)
    assert CORE.testbed_on_cpu(cpu) == 101  # its next job
    soon = time_now(CORE) + 1000 * TICKS_PER_US
    assert [call(cpu_of(0), LAUNCH, OWN_VM, number, soon - number)[0] for number in (1, 2)] == [OK, AGAIN]


def test_who_is_released_next_there_is_not_deleted_before() -> None:
    """The CPU's clock is set to that release, and would interrupt the app for nothing: once for each such app."""
    cpu, caller = victim()
    now = time_now(CORE)
    firsts = [now + n * 1000 * TICKS_PER_US for n in (1, 2, 3)]
    assert kicks_of_launches(cpu, caller, firsts) == ([OK] * 3, 1)
    for number in range(3):
        set_jobs(0, number, (1,))
    assert [step(caller, DELETE, number) for number in (0, 2)] == [AGAIN, OK]
    assert CORE.testbed_kicks(cpu) == 0
    run(1100 * TICKS_PER_US)  # it is released, which its admission has counted, and waits behind the job
    assert CORE.testbed_on_cpu(cpu) == 101
    assert [step(caller, DELETE, number) for number in (0, 1)] == [OK, AGAIN]
    run(20000 * TICKS_PER_US)
    assert step(cpu_of(0), DELETE, 1) == OK


def test_an_app_that_runs_is_deleted_at_once() -> None:
    """Though its own next release may be the first there."""
    boot(2, [1], [1])
    launch(Task(1000, 900, 1000, (900,), cpu=1))
    run(200 * TICKS_PER_US)
    assert CORE.testbed_on_cpu(1) == 1
    assert step(cpu_of(0), DELETE, 0) == OK


def test_launches_for_now_do_not_wait() -> None:
    """Their releases interrupt anyway."""
    cpu, caller = victim()
    assert kicks_of_launches(cpu, caller, [0] * 4) == ([OK] * 4, 4)
    assert CORE.testbed_on_cpu(cpu) == 101
    assert CORE.testbed_rt_ready(cpu) == 4
