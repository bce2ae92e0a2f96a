# SPDX-License-Identifier: Apache-2.0
"""
Watchdogs and restarts: a guest that pets in time is never restarted, a guest that does not is
restarted at the exact tick; restarts of a VM that fails repeatedly have the backoff of a simple
model; other VMs are not affected.
"""

import ctypes
from dataclasses import dataclass

import pytest
from c_headers import values
from core import (
    BLOCKED,
    NEVER,
    RUNNING,
    TICKS_PER_US,
    VM_RUNNING,
    VM_STOPPED,
    VM_STOPPING,
    VM_WAITING,
    examples,
    lines,
    operator,
    time_now,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from rt import (
    ACTIVE,
    CORE,
    DELETE,
    DENIED,
    FREE,
    LAUNCH,
    OK,
    OWN_VM,
    Task,
    array,
    assert_no_violation,
    call,
    cpu_of,
    create,
    run_until_idle,
    set_jobs,
)
from rt import run as run_apps

QUANTUM_US = 1000
MS = 1000 * TICKS_PER_US
(PET,) = values("hypercall_abi.h", "HCALL_WATCHDOG_PET")
LONG_LIFE_MS, FIRST_PAUSE_MS = values("vm.h", "VM_LONG_LIFE_MS VM_FIRST_PAUSE_MS")
SETTINGS = settings(max_examples=examples(25, 200), deadline=None, derandomize=True)


def boot(cpus: int, vcpus: list[int], watchdogs: list[int], most_ms: int = 0, rt_apps: int = 0) -> None:
    """Boots a system in which all VMs run, each with VCPU 0 only; VM n has watchdogs[n] ms, VM 0
    the RT apps."""
    image = CORE.testbed_image_make(cpus, len(vcpus), array(vcpus), QUANTUM_US)
    for vm, period_ms in enumerate(watchdogs):
        CORE.testbed_image_watchdog(image, vm, period_ms, most_ms)
    CORE.testbed_image_rt(image, 0, rt_apps, 0)
    assert CORE.testbed_boot_image(image)
    for vm in range(len(vcpus)):
        assert CORE.testbed_vm_start(0, vm)
    run_until_idle()
    assert all(CORE.testbed_vm_state(vm) == VM_RUNNING for vm in range(len(vcpus)))
    lines()


def advance(ticks: int) -> None:
    """Advances the time, from timer to timer."""
    until = time_now(CORE) + ticks
    while time_now(CORE) < until:
        CORE.testbed_advance(max(1, min(CORE.host_next_timer(), until) - time_now(CORE)))
        run_until_idle()


def where(vm: int) -> int | None:
    """A CPU that runs a VCPU of the VM."""
    return next((cpu for cpu in range(8) if CORE.testbed_on_cpu(cpu) // 100 == vm), None)


def pet(cpu: int) -> tuple[int, int]:
    value = ctypes.c_uint64()
    error = CORE.testbed_hypercall(cpu, PET, 0, 0, 0, ctypes.byref(value))
    return error, value.value


def starts(*vms: int) -> list[int]:
    """The numbers of starts, including a start that follows a stop still in progress."""
    return [CORE.testbed_vm_starts(vm) + (CORE.testbed_vm_state(vm) == VM_STOPPING) for vm in vms]


# --- petting ---


@SETTINGS
@given(cpus=st.integers(1, 3), others=st.integers(0, 4), vcpus=st.integers(1, 2), slack=st.integers(1, 3 * MS))
def test_vm_that_pets_in_each_slice_is_never_restarted(cpus: int, others: int, vcpus: int, slack: int) -> None:
    """With any number of other busy VCPUs, if the period exceeds their quanta, as the builder
    requires."""
    turns = -(-(vcpus + others) // cpus) * QUANTUM_US * TICKS_PER_US
    period = turns // MS + 1 + slack // MS
    boot(cpus, [vcpus, *[1] * others], [period])
    for vcpu in range(1, vcpus):
        assert CORE.testbed_vcpu_start(where(0) or 0, 0, vcpu) or others
    run_until_idle()
    until = time_now(CORE) + 30 * period * MS
    while time_now(CORE) < until:
        cpu = where(0)
        if cpu is not None:
            assert pet(cpu) == (OK, period)
        advance(MS // 2)
    assert set(starts(*range(1 + others))) == {1}


@SETTINGS
@given(
    period=st.integers(1, 50),
    gaps=st.lists(st.floats(0, 1, exclude_max=True), max_size=12),
    hang=st.sampled_from(("spin", "sleep", "nap")),
    cpus=st.integers(1, 3),
    others=st.integers(0, 2),
)
def test_vm_that_stops_petting_is_restarted_at_the_exact_tick(
    period: int, gaps: list[float], hang: str, cpus: int, others: int
) -> None:
    """Exactly one period after the last petting, whether the guest spins, sleeps forever or sleeps
    for a while."""
    cpus = max(cpus, 1 + others)  # one CPU per VM, so that the guest can pet at any time
    boot(cpus, [1] * (1 + others), [period])
    last = time_now(CORE)
    for gap in gaps:
        advance(int(gap * period * MS))
        cpu = where(0)
        assert cpu is not None
        assert pet(cpu) == (OK, period)
        last = time_now(CORE)
    cpu = where(0)
    assert cpu is not None
    if hang != "spin":
        CORE.testbed_wait_until(cpu, NEVER if hang == "sleep" else last + period * MS // 3)
        run_until_idle()
        assert CORE.testbed_vcpu_state(0, 0) == BLOCKED
    advance(last + period * MS - 1 - time_now(CORE))
    assert starts(*range(1 + others)) == [1] * (1 + others)
    assert lines() == []
    advance(1)
    assert starts(*range(1 + others)) == [2] + [1] * others
    assert CORE.testbed_vm_restarts(0) == 1
    assert lines() == ["vm-a stopped by its watchdog, starts again"]
    assert (CORE.testbed_vm_state(0), CORE.testbed_vcpu_state(0, 0)) == (VM_RUNNING, RUNNING)


def test_watchdog_period_is_exact() -> None:
    """Petted one tick after the timer was set, the watchdog is not due when that timer fires."""
    boot(1, [1], [3])
    advance(1)
    assert pet(cpu_of(0)) == (OK, 3)
    advance(3 * MS - 1)
    assert starts(0) == [1]
    advance(1)
    assert starts(0) == [2]


def test_first_period_begins_with_the_guest() -> None:
    """A guest that never pets is restarted after each period."""
    boot(2, [1, 1], [7], most_ms=0)
    for life in range(1, 6):
        assert starts(0, 1) == [life, 1]
        advance(7 * MS - 1)
        assert starts(0, 1) == [life, 1]
        advance(1)
    assert lines() == ["vm-a stopped by its watchdog, starts again"] * 5


def test_any_of_several_vcpus_pets() -> None:
    boot(2, [2], [5])
    assert CORE.testbed_vcpu_start(where(0), 0, 1)
    run_until_idle()
    for turn in range(20):
        advance(4 * MS)
        cpu = next(cpu for cpu in range(2) if CORE.testbed_on_cpu(cpu) == turn // 10)
        assert pet(cpu) == (OK, 5)
    assert starts(0) == [1]
    advance(5 * MS)
    assert starts(0) == [2]
    assert CORE.testbed_vcpu_state(0, 1) != RUNNING, "VCPU 1 runs after the restart"


def test_without_a_watchdog_there_is_nothing_to_pet() -> None:
    boot(1, [1, 1], [0, 9])
    assert pet(cpu_of(0)) == (DENIED, 0)
    assert pet(cpu_of(1)) == (OK, 9)
    advance(8 * MS)
    assert starts(0, 1) == [1, 1]


# --- stopped, suspended ---


@pytest.mark.parametrize("how", ["console", "off", "shutdown"])
def test_stopped_vm_stays_stopped(how: str) -> None:
    boot(1, [1, 1], [5, 0])
    cpu = cpu_of(0)
    if how == "console":
        assert CORE.testbed_vm_stop(cpu, 0, False)
    elif how == "off":
        CORE.testbed_off(cpu)
    else:
        CORE.testbed_guest_ends(cpu, False)
    run_until_idle()
    advance(100 * MS)
    assert (CORE.testbed_vm_state(0), starts(0, 1)) == (VM_STOPPED, [1, 1])
    assert CORE.testbed_vm_start(0, 0)
    run_until_idle()
    advance(5 * MS - 1)
    assert starts(0) == [2]
    advance(1)
    assert starts(0) == [3]


@pytest.mark.parametrize("how", ["reset", "fault", "console"])
def test_console_stop_during_a_restart(how: str) -> None:
    """A guest in a reset loop is hardly ever running; the restart key does not cancel a stop."""
    boot(2, [1, 1], [0, 0])
    cpu = cpu_of(0)
    if how == "reset":
        CORE.testbed_guest_ends(cpu, True)
    elif how == "fault":
        CORE.testbed_guest_faults(cpu)
    else:
        assert CORE.testbed_vm_stop(cpu, 0, True)
    assert CORE.testbed_vm_state(0) == VM_STOPPING
    for key in "rs":
        assert operator(key) == ["vm-a is stopping already"]
    run_until_idle()
    assert (CORE.testbed_vm_state(0), starts(0, 1)) == (VM_STOPPED, [1, 1])
    assert lines()[-1] == "vm-a stopped by the console"
    advance(100 * MS)
    assert CORE.testbed_vm_state(0) == VM_STOPPED
    assert operator("g") == ["vm-a starts"]
    run_until_idle()
    assert (CORE.testbed_vm_state(0), starts(0, 1)) == (VM_RUNNING, [2, 1])


@SETTINGS
@given(before=st.floats(0, 1, exclude_max=True), length=st.integers(0, 40 * MS))
def test_suspended_watchdog_restarts_its_period(before: float, length: int) -> None:
    boot(1, [1, 1], [5, 0])
    advance(int(before * 5 * MS))
    CORE.testbed_suspend_watchdog(0, 0, True)
    advance(length)
    assert starts(0, 1) == [1, 1]
    CORE.testbed_suspend_watchdog(0, 0, False)
    advance(5 * MS - 1)
    assert starts(0, 1) == [1, 1]
    advance(1)
    assert starts(0, 1) == [2, 1]


def test_a_watchdog_is_still_suspended_after_a_restart() -> None:
    boot(1, [1], [5])
    CORE.testbed_suspend_watchdog(0, 0, True)
    assert CORE.testbed_vm_stop(0, 0, True)
    run_until_idle()
    advance(50 * MS)
    assert starts(0) == [2]
    CORE.testbed_suspend_watchdog(0, 0, False)
    advance(5 * MS)
    assert starts(0) == [3]


# --- backoff ---


@dataclass
class Model:
    """The pause before a restart, in ms."""

    most: int
    failures: int = 0  # consecutive failures after short runs

    def fails(self, life_ms: int) -> int:
        self.failures = 1 if life_ms >= LONG_LIFE_MS else self.failures + 1
        if self.failures == 1:
            return 0
        return min(self.most, FIRST_PAUSE_MS * 2 ** (self.failures - 2))

    def asked(self) -> int:
        self.failures = 0
        return 0


LIVES = st.tuples(
    st.sampled_from(("watchdog", "reset", "fault", "console", "stop")),
    st.sampled_from((0, 1, 3000, LONG_LIFE_MS - 1, LONG_LIFE_MS, 2 * LONG_LIFE_MS)),
)
REASONS = {
    "watchdog": "by its watchdog",
    "reset": "by its own reset",
    "fault": "by a fatal trap",
    "console": "by the console",
}


def end_life(how: str) -> None:
    """Ends VM 0, which has a CPU to itself."""
    cpu = where(0)
    assert cpu is not None
    if how == "watchdog":  # the last petting was a period ago
        advance(25 * MS)
    elif how == "reset":
        CORE.testbed_guest_ends(cpu, True)
    elif how == "fault":
        CORE.testbed_guest_faults(cpu)
    else:
        assert CORE.testbed_vm_stop(cpu, 0, True)
    run_until_idle()


def live(ms: int) -> int:
    """VM 0 runs and pets for `ms`; a watchdog failure adds its period to this time."""
    until = time_now(CORE) + ms * MS
    while time_now(CORE) < until:
        cpu = where(0)
        assert cpu is not None
        assert pet(cpu)[0] == OK
        advance(min(24 * MS, until - time_now(CORE)))
    cpu = where(0)
    assert cpu is not None
    assert pet(cpu)[0] == OK
    return ms


@settings(max_examples=examples(60), deadline=None, derandomize=True)
@given(lives=st.lists(LIVES, min_size=1, max_size=14), most=st.sampled_from((0, 50, 150, 10000)))
def test_pauses_are_those_of_the_model(lives: list[tuple[str, int]], most: int) -> None:
    boot(2, [1, 1], [25, 0], most_ms=most)
    model = Model(most)
    restarts = 0
    for how, ms in lives:
        if how == "stop":  # and start: an operator's start resets the backoff
            assert CORE.testbed_vm_stop(0, 0, False)
            run_until_idle()
            assert CORE.testbed_vm_start(0, 0)
            run_until_idle()
            model.asked()
            lines()
            continue
        lived = live(ms)
        end_life(how)
        restarts += 1
        pause = model.asked() if how == "console" else model.fails(lived + (25 if how == "watchdog" else 0))
        told = f"vm-a stopped {REASONS[how]}, starts again" + (f" in {pause} ms" if pause else "")
        assert lines()[-1] == told
        if pause:
            advance(pause * MS - 1)
            assert CORE.testbed_vm_state(0) == VM_WAITING
            advance(1)
        assert CORE.testbed_vm_state(0) == VM_RUNNING
        assert CORE.testbed_vm_restarts(0) == restarts
    assert starts(1) == [1]


def test_endless_failures_reach_the_longest_pause() -> None:
    """The pause stays at the maximum for more than a hundred failures: the doubling must not
    overflow."""
    boot(1, [1], [0], most_ms=10000)
    pauses = []
    for _ in range(120):
        CORE.testbed_guest_ends(0, True)
        run_until_idle()
        begin = time_now(CORE)
        while CORE.testbed_vm_state(0) == VM_WAITING:
            advance(CORE.host_next_timer() - time_now(CORE))
        pauses.append((time_now(CORE) - begin) // MS)
    assert pauses == [0, 100, 200, 400, 800, 1600, 3200, 6400, *[10000] * 112]


@pytest.mark.parametrize("key", ["start", "restart", "stop"])
def test_the_console_ends_a_pause(key: str) -> None:
    boot(2, [1, 1], [0], most_ms=10000)
    for _ in range(3):
        CORE.testbed_guest_ends(cpu_of(0), True)
        run_until_idle()
        if CORE.testbed_vm_state(0) == VM_WAITING:
            break
    assert CORE.testbed_vm_state(0) == VM_WAITING
    before = starts(0)[0]
    if key == "start":
        assert CORE.testbed_vm_start(0, 0)
    else:
        assert CORE.testbed_vm_stop(0, 0, key == "restart")
    run_until_idle()
    assert CORE.testbed_vm_state(0) == (VM_STOPPED if key == "stop" else VM_RUNNING)
    advance(20000 * MS)
    assert starts(0) == [before + (key != "stop")]
    if key != "stop":
        CORE.testbed_guest_ends(cpu_of(0), True)
        run_until_idle()
        assert CORE.testbed_vm_state(0) == VM_RUNNING, "the backoff was not reset"


def test_cancelled_pause_does_not_expire() -> None:
    """The pause's timer would expire while the VM, started by the operator, waits to be loaded."""
    boot(1, [1], [0], most_ms=10000)
    for _ in range(2):
        CORE.testbed_guest_ends(0, True)
        run_until_idle()
    assert CORE.testbed_vm_state(0) == VM_WAITING
    assert CORE.testbed_vm_start(0, 0)
    CORE.testbed_advance(FIRST_PAUSE_MS * MS)
    run_until_idle()
    assert (CORE.testbed_vm_state(0), starts(0)) == (VM_RUNNING, [3])
    assert not any("watchdog" in line for line in lines())


# --- the RT-VM ---

APPS = [
    Task(1000, 450, 1000, (0,)),
    Task(2000, 800, 2000, (0,)),
]  # jobs never end: the apps use 85 % of the hart


def launch(cpu: int, tasks: list[Task]) -> None:
    for number, task in enumerate(tasks):
        assert create(cpu, task) == (OK, number)
        assert call(cpu, LAUNCH, OWN_VM, number, 0)[0] == OK
        set_jobs(0, number, task.jobs)
    run_until_idle()


def test_apps_cannot_delay_their_managers_watchdog() -> None:
    """The apps use 85 % of the hart and the manager hangs: its restart is late by at most a busy
    period and deletes them."""
    boot(1, [1, 1], [20, 0], rt_apps=2)
    launch(cpu_of(0), APPS)
    begin = time_now(CORE)
    while starts(0) == [1]:
        assert_no_violation(CORE.testbed_rt_run(time_now(CORE) + MS // 10, True, None, 0, None))
        run_until_idle()
        assert time_now(CORE) <= begin + 20 * MS + 2 * MS, "late by more than the longest busy period of the apps"
    assert time_now(CORE) >= begin + 19 * MS
    assert starts(0, 1) == [2, 1]
    advance(MS)  # the other VM's slice; then the stop is reported
    assert [CORE.testbed_rt_state(0, number) for number in range(2)] == [FREE, FREE]
    assert lines() == ["vm-a stopped by its watchdog, starts again"]
    launch(cpu_of(0), APPS)  # would be refused if the earlier apps still existed
    assert [CORE.testbed_rt_state(0, number) for number in range(2)] == [ACTIVE, ACTIVE]


def test_an_app_does_not_pet_for_its_manager() -> None:
    boot(2, [1], [20], rt_apps=1)
    task = Task(1000, 500, 1000, (400,), cpu=0)
    launch(where(0), [task])
    refused = 0
    begin = time_now(CORE)
    while time_now(CORE) < begin + 19 * MS:
        for cpu in range(2):
            if CORE.testbed_on_cpu(cpu) == 1:
                assert pet(cpu) == (DENIED, 0)
                refused += 1
        run_apps(MS // 5)
        run_until_idle()
    assert refused > 10
    assert starts(0) == [1]
    run_apps(3 * MS)
    run_until_idle()
    assert starts(0) == [2]


def test_a_manager_that_pets_keeps_its_apps() -> None:
    boot(1, [1, 1], [20, 0], rt_apps=2)
    launch(cpu_of(0), APPS)
    begin = time_now(CORE)
    while time_now(CORE) < begin + 500 * MS:
        cpu = where(0)
        if cpu is not None and CORE.testbed_on_cpu(cpu) == 0:
            assert pet(cpu) == (OK, 20)
        run_apps(MS // 10)
        run_until_idle()
    assert starts(0, 1) == [1, 1]
    assert call(cpu_of(0), DELETE, 0) == (OK, 0)


@pytest.mark.parametrize("first", [0, 1])
def test_first_of_two_concurrent_failures_is_reported(first: int) -> None:
    boot(2, [2], [0])
    assert CORE.testbed_vcpu_start(0, 0, 1)
    run_until_idle()
    cpus = [cpu_of(0, 0), cpu_of(0, 1)]
    CORE.testbed_guest_faults(cpus[first])
    CORE.testbed_guest_faults(cpus[1 - first])
    run_until_idle()
    assert f"vm-a vcpu {first}: a test: cause 12" in lines()[0]
