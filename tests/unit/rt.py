# SPDX-License-Identifier: Apache-2.0
"""RT apps in the testbed (tests/unit/testbed_rt.h) for property tests, reference admission tests,
an EDF simulator."""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, field

from c_headers import structures, values
from core import CORE, TICKS_PER_US, VM_RUNNING, Segment, assert_no_violation, run_until_idle, time_now

QUANTUM_US = 1000
GPA = 0x80000000
ENTRY, STACK = GPA + 0x1000, GPA + 0x3000
SCRATCH = GPA + 0x400  # memory that testbed_idle_violation() does not check

CREATE, LAUNCH, DELETE, END_JOB, STATS, OWN_VM, SELF = values(
    "rt_abi.h",
    """HCALL_RT_CREATE_APP HCALL_RT_LAUNCH_APP HCALL_RT_DELETE_APP HCALL_RT_END_JOB HCALL_RT_GET_STATS
    RT_OWN_VM RT_SELF""",
)
OK, FAILED, NOT_SUPPORTED, INVALID_PARAM, DENIED, INVALID_ADDRESS, ALREADY, AGAIN, NO_CALLER = values(
    "hypercall.h testbed.h",
    """HCALL_OK HCALL_ERR_FAILED HCALL_ERR_NOT_SUPPORTED HCALL_ERR_INVALID_PARAM HCALL_ERR_DENIED
    HCALL_ERR_INVALID_ADDRESS HCALL_ERR_ALREADY_AVAILABLE HCALL_AGAIN TESTBED_NO_CALLER""",
)
REFUSED_UNDECIDED, REFUSED_RESERVE, DENIED_SHARE = values(
    "rt_abi.h", "RT_REFUSED_UNDECIDED RT_REFUSED_RESERVE RT_DENIED_SHARE"
)
FREE, INACTIVE, ACTIVE = values("rt_app.h", "RT_FREE RT_INACTIVE RT_ACTIVE")
App, Stats = structures("rt_abi.h", "rt_params rt_stats")

JOBS = 32
SEGMENTS = 1 << 16
_log = (Segment * SEGMENTS)()


@dataclass(frozen=True)
class Task:
    """An app's parameters in us, its jobs' execution times in us (0: infinite), and the offset of
    its first release."""

    period: int
    budget: int
    deadline: int
    jobs: tuple[int, ...]
    offset: int = 0
    cpu: int = 0


def array(values: Sequence[int], kind: type = ctypes.c_uint) -> ctypes.Array:
    return (kind * len(values))(*values)


def boot(
    cpus: int,
    nvcpus: list[int],
    rt_apps: list[int],
    launchers: list[int] | None = None,
    costs_ns: tuple[int, int, int] = (0, 0, 0),
    reserve: tuple[int, int] = (0, 0),
    limits: dict[int, tuple[int, int, int, int]] | None = None,
) -> None:
    """
    Boots a system in which all VMs run, each with VCPU 0 only. `reserve` is best effort's: us, and
    the interval in us. `limits` by VM: harts, percent of each, longest budget and period in us.
    """
    image = CORE.testbed_image_make(cpus, len(nvcpus), array(nvcpus), QUANTUM_US)
    CORE.testbed_image_rt_costs(image, *costs_ns)
    CORE.testbed_image_reserve(image, *reserve)
    for vm, count in enumerate(rt_apps):
        CORE.testbed_image_rt(image, vm, count, launchers[vm] if launchers else 0)
    for vm, limit in (limits or {}).items():
        CORE.testbed_image_rt_limits(image, vm, *limit)
    assert CORE.testbed_boot_image(image)
    for vm in range(len(nvcpus)):
        assert CORE.testbed_vm_start(0, vm)
    run_until_idle()
    assert all(CORE.testbed_vm_state(vm) == VM_RUNNING for vm in range(len(nvcpus)))


def call(cpu: int, number: int, *arguments: int) -> tuple[int, int]:
    """A hypercall of the VCPU on `cpu`, repeated until it is decided: error and value."""
    value = ctypes.c_uint64()
    a0, a1, a2 = (*arguments, 0, 0, 0)[:3]
    error = CORE.testbed_hypercall_decided(cpu, number, a0, a1, a2, ctypes.byref(value))
    return error, value.value


def cpu_of(vm: int, vcpu: int = 0) -> int:
    """The CPU on which a VCPU runs; advances the time until it does."""
    for _ in range(1000):
        for cpu in range(8):
            if CORE.testbed_on_cpu(cpu) == 100 * vm + vcpu:
                return cpu
        CORE.testbed_advance(max(0, min(CORE.host_next_timer(), time_now(CORE) + 10**6) - time_now(CORE)))
        run_until_idle()
    raise AssertionError(f"VCPU {vcpu} of VM {vm} never runs")


def create(cpu: int, task: Task, /, **changes: int) -> tuple[int, int]:
    """The VM on `cpu` creates an app."""
    app = App(ENTRY, STACK, 7, task.period, task.budget, task.deadline, task.cpu)
    for name, value in changes.items():
        setattr(app, name, value)
    vm = CORE.testbed_on_cpu(cpu) // 100
    ctypes.memmove(CORE.testbed_memory(vm, SCRATCH), ctypes.byref(app), ctypes.sizeof(app))
    return call(cpu, CREATE, SCRATCH, ctypes.sizeof(app))


def stats(cpu: int, app: int) -> Stats:
    """The statistics of an app of the VM on `cpu`."""
    vm = CORE.testbed_on_cpu(cpu) // 100
    assert call(cpu, STATS, app, SCRATCH, ctypes.sizeof(Stats)) == (OK, 0)
    return Stats.from_buffer_copy(ctypes.string_at(CORE.testbed_memory(vm, SCRATCH), ctypes.sizeof(Stats)))


def set_jobs(vm: int, app: int, jobs: Sequence[int]) -> None:
    """Sets the execution times of an app's jobs, in us."""
    CORE.testbed_rt_jobs(vm, app, array([length * TICKS_PER_US for length in jobs], ctypes.c_uint32), len(jobs))


def run(ticks: int, check: bool = True) -> list[Segment]:
    """Advances the time; returns which job ran when."""
    used = ctypes.c_uint()
    assert_no_violation(CORE.testbed_rt_run(time_now(CORE) + ticks, check, _log, SEGMENTS, ctypes.byref(used)))
    return list(_log[: used.value])


def delete_all(vm: int, apps: int) -> None:
    """The manager's VCPU 0 deletes all apps; apps that keep it from running delete themselves."""
    while any(CORE.testbed_rt_state(vm, app) != FREE for app in range(apps)):
        for cpu in range(8):
            on = CORE.testbed_on_cpu(cpu)
            if on == 100 * vm:
                for app in range(apps):
                    if CORE.testbed_rt_state(vm, app) != FREE:
                        assert call(cpu, DELETE, app)[0] in (OK, AGAIN)
            elif on > 100 * vm:
                assert call(cpu, DELETE, SELF) == (OK, 0)
            run_until_idle()


# --- admission by the definition ---


def _busy(demands: Sequence[tuple[int, int, int]], blocked: int, most: int) -> int:
    """The length of the busy period after a common release, at most `most`."""
    end = 1
    while end < most:
        work = sum(-(-end // period) * cost for cost, _, period in demands) + blocked * len(demands)
        if work <= end:
            return end
        end = work
    return most


def refused(
    demands: Sequence[tuple[int, int, int]], blocked: int, hyperperiod: int, release: int = 0
) -> list[tuple[int, int]]:
    """
    All intervals (length, demand) that begin with a common release of apps of (cost, deadline,
    period), end at a deadline up to `hyperperiod`, and have more demand than time. Each app with a
    deadline in the interval adds `blocked` once. The part `release` of a cost is executed at the
    release, also for later deadlines, during the busy period. Deadlines up to the hyperperiod are
    sufficient: with a utilization of at most 1, the demand grows from one hyperperiod to the next
    by no more than the time.
    """
    work: dict[int, int] = {}
    for cost, deadline, period in demands:
        work[deadline] = work.get(deadline, 0) + blocked
        for end in range(deadline, hyperperiod + 1, period):
            work[end] = work.get(end, 0) + cost
    busy = _busy(demands, blocked, hyperperiod)
    total, found = 0, []
    for end in sorted(work):
        total += work[end]
        later = sum(-(-end // period) - max(0, (end - deadline) // period + 1) for _, deadline, period in demands)
        demand = total + release * later
        if total > end or (demand > end and end <= busy):
            found.append((end, demand))
    return found


def longest_wait(demands: Sequence[tuple[int, int, int]], blocked: int, reserve: int, late: int) -> int | None:
    """
    The shortest interval that contains `reserve` for best effort and the demand of the apps of
    (cost, deadline, period) after a common release at its start, each with `blocked` once; None if
    it is longer than `late`.
    """
    for length in range(1, late + 1):
        if sum(-(-length // period) * cost for cost, _, period in demands) + blocked * len(demands) + reserve <= length:
            return length
    return None


def left_over(busy: Sequence[tuple[int, int]], window: int, end: int) -> int:
    """The minimum time that the busy intervals (begin, end) leave in any `window` within 0 ..
    `end`."""
    used = [0] * (end + 1)
    for begin, until in busy:
        for moment in range(max(0, begin), min(end, until)):
            used[moment + 1] = 1
    for moment in range(end):
        used[moment + 1] += used[moment]
    return min(window - (used[at + window] - used[at]) for at in range(end - window + 1))


# --- EDF, microsecond by microsecond ---


@dataclass
class _App:
    """An app in the simulator."""

    task: Task
    number: int
    left: int = 0  # remaining budget
    want: int = 0  # remaining execution time of the job
    job: int = -1  # number of the current job
    begun: bool = False  # the job is pending
    released: int = 0  # release time of the job
    # Absolute deadline, start of the period, number: the lowest runs.
    server: tuple[int, int, int] = (0, 0, 0)
    missed: bool = False
    ended: list[tuple[int, int]] = field(default_factory=list)  # (job, time)
    responses: list[int] = field(default_factory=list)
    misses: int = 0
    overruns: int = 0
    releases: int = 0


@dataclass
class Outcome:
    segments: list[tuple[int, int, int, int]]  # app, job, start, end
    apps: list[_App]


def _period_begins(app: _App, now: int) -> None:
    """Replenishes the budget (hard reservation); releases the next job unless one is pending."""
    app.left = app.task.budget
    app.server = (now + app.task.deadline, now, app.number)
    if app.begun:
        app.misses += not app.missed
        app.missed = True
        return
    app.job += 1
    app.releases += 1
    app.begun, app.missed, app.released = True, False, now
    app.want = app.task.jobs[app.job % len(app.task.jobs)]


def _ran(app: _App, now: int) -> None:
    """Accounts the microsecond up to `now` to the app."""
    app.left -= 1
    app.want -= 1
    if app.want == 0:  # a job of length 0 becomes negative and never ends
        app.begun = False
        app.ended.append((app.job, now))
        app.responses.append(now - app.released)
        if now - app.released > app.task.deadline and not app.missed:
            app.misses += 1
            app.missed = True
    elif app.left == 0:
        app.overruns += 1


def _chosen(apps: Sequence[_App], now: int) -> _App | None:
    """Starts the periods due at `now` and returns the app that runs in the following
    microsecond."""
    for app in apps:
        since = now - app.task.offset
        if since >= 0 and since % app.task.period == 0:
            _period_begins(app, now)
    return min((app for app in apps if app.begun and app.left > 0), key=lambda app: app.server, default=None)


def simulate(tasks: Sequence[Task], length: int) -> Outcome:
    """
    Hard reservations under EDF on one CPU for `length` us, excluding the events at the very end.
    Among equal deadlines the earlier period and then the lower number runs first.
    """
    apps = [_App(task, number) for number, task in enumerate(tasks)]
    segments: list[tuple[int, int, int, int]] = []
    for now in range(length):
        app = _chosen(apps, now)
        if app is None:
            continue
        if segments and segments[-1][:2] == (app.number, app.job) and segments[-1][3] == now:
            segments[-1] = (app.number, app.job, segments[-1][2], now + 1)
        else:
            segments.append((app.number, app.job, now, now + 1))
        if now + 1 < length:
            _ran(app, now + 1)
    return Outcome(segments, apps)
