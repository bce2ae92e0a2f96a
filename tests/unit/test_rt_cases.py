# SPDX-License-Identifier: Apache-2.0
"""Single cases of rt that have been wrong once, or that everything else leans on."""

from core import TICKS_PER_US, time_now
from rt import (
    CORE,
    LAUNCH,
    OK,
    OWN_VM,
    Task,
    boot,
    call,
    cpu_of,
    create,
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
    assert call(cpu, LAUNCH, OWN_VM, number, start) == (OK, 0)
    set_jobs(0, number, task.jobs)
    settle()
    return number


def test_best_effort_goes_on_elsewhere() -> None:
    """A VCPU whose CPU an app takes goes on on a CPU that slept."""
    boot(2, [1], [1])
    cpu = cpu_of(0)
    launch(Task(1000, 500, 1000, (500,), cpu=cpu))
    settle()
    assert CORE.world_on_cpu(cpu) == 1
    assert CORE.world_on_cpu(1 - cpu) == 0


def test_best_effort_shares_when_an_app_takes_a_cpu() -> None:
    """Where no CPU sleeps, the slices of the others get an end."""
    boot(2, [1, 1], [1, 0])
    cpu = cpu_of(0)
    launch(Task(1000000, 900000, 1000000, (900000,), cpu=cpu))
    settle()
    before = [CORE.world_runtime(vm, 0) for vm in range(2)]
    for _ in range(100):
        run(10000, check=True)
    got = [CORE.world_runtime(vm, 0) - before[vm] for vm in range(2)]
    assert min(got) > 400000, got


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
