# SPDX-License-Identifier: Apache-2.0
"""
The best-effort scheduler and the life cycle of VMs under events in any order, on one to four CPUs.
After every event the invariants are checked (tests/unit/testbed_check.c), and again when all CPUs
are idle.
"""

import ctypes
from collections.abc import Sequence

from c_headers import values
from core import (
    BLOCKED,
    CORE,
    HELD,
    NEVER,
    OFF,
    READY,
    RUNNING,
    TICKS_PER_US,
    VM_RUNNING,
    VM_STOPPED,
    VM_STOPPING,
    VM_WAITING,
    assert_no_violation,
    examples,
    run_until_idle,
    time_now,
)
from events import INDEX, SystemEvents
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule, run_state_machine_as_test

QUANTUM_US = 1000
QUANTUM = QUANTUM_US * TICKS_PER_US
WATCHDOG_PET, DENIED = values("hypercall_abi.h", "HCALL_WATCHDOG_PET HCALL_ERR_DENIED")
SETTINGS = settings(
    max_examples=examples(60, 500),
    stateful_step_count=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)


def boot(cpus: int, vcpus: list[int], watchdogs: Sequence[int] = (), pause_ms: int = 0) -> None:
    array = (ctypes.c_uint * len(vcpus))(*vcpus)
    image = CORE.testbed_image_make(cpus, len(vcpus), array, QUANTUM_US)
    for vm in range(min(len(watchdogs), len(vcpus))):
        CORE.testbed_image_watchdog(image, vm, watchdogs[vm], pause_ms)
    assert CORE.testbed_boot_image(image)


def start_all(vcpus: list[int]) -> None:
    for vm in range(len(vcpus)):
        assert CORE.testbed_vm_start(0, vm)
    run_until_idle()
    for vm, count in enumerate(vcpus):
        for vcpu in range(1, count):
            assert CORE.testbed_vcpu_start(0, vm, vcpu)
    run_until_idle()


# enum debug_operation
ATTACH, DETACH, STOP, CONTINUE, RESTART, END, EXCEPTION = 0, 1, 3, 4, 9, 10, 11


class VmEvents(SystemEvents):
    """All events that guests, devices, the console or a debugger can cause."""

    vcpus: list[int] = []
    debugged: int | None = None
    watchdogs: list[int] = []

    @initialize(
        cpus=st.integers(1, 4),
        vcpus=st.lists(st.integers(1, 3), min_size=1, max_size=5),
        watchdogs=st.lists(st.sampled_from((0, 1, 3, 20)), min_size=5, max_size=5),
        pause_ms=st.sampled_from((0, 150, 10000)),
    )
    def boot(self, cpus: int, vcpus: list[int], watchdogs: list[int], pause_ms: int) -> None:
        self.cpus = cpus
        self.vms = len(vcpus)
        self.vcpus = vcpus
        self.watchdogs = watchdogs
        boot(cpus, vcpus, watchdogs, pause_ms)
        start_all(vcpus)

    def _total(self, vm: int) -> int:
        return self.vcpus[vm]

    def _vcpu(self, vm: int, number: int) -> int:
        return number % self.vcpus[vm]

    @rule(cpu=INDEX, vm=INDEX)
    def start(self, cpu: int, vm: int) -> None:
        cpu, vm = self._cpu(cpu), self._vm(vm)
        state = CORE.testbed_vm_state(vm)
        stays = state == VM_STOPPING and not CORE.testbed_vm_starts_again(vm)
        assert CORE.testbed_vm_start(cpu, vm) == (stays or state in (VM_STOPPED, VM_WAITING))

    @rule(cpu=INDEX, vm=INDEX, vcpu=INDEX)
    def start_vcpu(self, cpu: int, vm: int, vcpu: int) -> None:
        cpu, vm = self._cpu(cpu), self._vm(vm)
        vcpu = self._vcpu(vm, vcpu)
        can = CORE.testbed_vcpu_state(vm, vcpu) == OFF and CORE.testbed_vm_state(vm) == VM_RUNNING
        assert CORE.testbed_vcpu_start(cpu, vm, vcpu) == can

    @rule(cpu=INDEX, vm=INDEX, vcpu=INDEX)
    def interrupt(self, cpu: int, vm: int, vcpu: int) -> None:
        vm = self._vm(vm)
        CORE.testbed_raise(self._cpu(cpu), vm, self._vcpu(vm, vcpu))

    @rule(cpu=INDEX)
    def pet(self, cpu: int) -> None:
        cpu = self._cpu(cpu)
        on = CORE.testbed_on_cpu(cpu)
        if on >= 0:
            period = self.watchdogs[on // 100]
            value = ctypes.c_uint64()
            error = CORE.testbed_hypercall(cpu, WATCHDOG_PET, 0, 0, 0, ctypes.byref(value))
            assert (error, value.value) == ((0, period) if period else (DENIED, 0))

    @rule(cpu=INDEX, vm=INDEX, suspend=st.booleans())
    def suspend_watchdog(self, cpu: int, vm: int, suspend: bool) -> None:
        CORE.testbed_suspend_watchdog(self._cpu(cpu), self._vm(vm), suspend)

    @rule(cpu=INDEX)
    def guest_waits(self, cpu: int) -> None:
        CORE.testbed_wait(self._cpu(cpu))

    @rule()
    def next_timer(self) -> None:
        first = CORE.host_next_timer()
        if first != NEVER and first > time_now(CORE):
            CORE.testbed_advance(first - time_now(CORE))

    @rule(
        cpu=INDEX, vm=INDEX, vcpu=st.integers(0, 3),
        operation=st.sampled_from((ATTACH, ATTACH, DETACH, STOP, CONTINUE, CONTINUE, RESTART, END, EXCEPTION)),
    )  # fmt: skip
    def debug(self, cpu: int, vm: int, vcpu: int, operation: int) -> None:
        who = 0xFF if operation == CONTINUE and vcpu == 3 else vcpu
        refused = CORE.testbed_debug(self._cpu(cpu), operation, self._vm(vm), who)
        if operation == ATTACH and not refused:
            self.debugged = self._vm(vm)
        elif operation == DETACH:
            self.debugged = None

    def held_vcpus(self) -> None:
        """Only VCPUs of the debugged VM and of VMs that stop are held, and all of the former while it is halted."""
        for vm, count in enumerate(self.vcpus):
            states = [CORE.testbed_vcpu_state(vm, vcpu) for vcpu in range(count)]
            assert vm == self.debugged or CORE.testbed_vm_state(vm) == VM_STOPPING or HELD not in states
            assert vm != self.debugged or RUNNING not in states or not CORE.testbed_debug_halted(0)

    @precondition(lambda self: self.cpus > 0)
    @rule()
    def is_halted(self) -> None:
        run_until_idle()
        self.held_vcpus()


def test_any_sequence_of_events_preserves_the_invariants() -> None:
    run_state_machine_as_test(VmEvents, settings=SETTINGS)


def states(vcpus: list[int]) -> list[int]:
    return [CORE.testbed_vcpu_state(vm, vcpu) for vm, count in enumerate(vcpus) for vcpu in range(count)]


def runtimes(vcpus: list[int]) -> list[int]:
    return [CORE.testbed_runtime(vm, vcpu) for vm, count in enumerate(vcpus) for vcpu in range(count)]


def to_next_timer() -> None:
    first = CORE.host_next_timer()
    assert first != NEVER, "no slice is finite"
    CORE.testbed_advance(max(0, first - time_now(CORE)))
    run_until_idle()


@settings(max_examples=examples(60), deadline=None, derandomize=True)
@given(cpus=st.integers(1, 4), vcpus=st.lists(st.integers(1, 3), min_size=1, max_size=6))
def test_busy_vcpus_share_the_cpus_evenly(cpus: int, vcpus: list[int]) -> None:
    """Round robin: in any interval, runnable VCPUs differ by little more than a quantum."""
    boot(cpus, vcpus)
    start_all(vcpus)
    total = sum(vcpus)
    assert states(vcpus).count(RUNNING) == min(cpus, total)
    assert states(vcpus).count(READY) == max(0, total - cpus)
    if total <= cpus:
        # The end of a slice set while more VCPUs were runnable is not cancelled.
        for _ in range(cpus):
            CORE.testbed_advance(QUANTUM)
            run_until_idle()
        assert CORE.host_next_timer() == NEVER, "a timer is set although no VCPU is ready"
        return
    for _ in range(2 * total):
        to_next_timer()  # ends the slices that began while VMs were being loaded
    before = runtimes(vcpus)
    begin = time_now(CORE)
    for _ in range(5 * total):
        to_next_timer()
    got = [after - early for early, after in zip(before, runtimes(vcpus), strict=True)]
    assert max(got) - min(got) <= 2 * QUANTUM
    elapsed = time_now(CORE) - begin
    assert abs(sum(got) - cpus * elapsed) <= cpus * QUANTUM, "time is lost or accounted twice"


@settings(max_examples=examples(60), deadline=None, derandomize=True)
@given(cpus=st.integers(1, 3), sleepers=st.lists(st.integers(1, 20 * QUANTUM), min_size=1, max_size=4))
def test_sleepers_wake_in_time(cpus: int, sleepers: list[int]) -> None:
    """VCPUs that wait for their timers become ready exactly at the deadline, without other timers
    meanwhile."""
    boot(cpus, [1] * len(sleepers))
    deadlines: dict[int, int] = {}
    for vm, ticks in enumerate(sleepers):
        assert CORE.testbed_vm_start(0, vm)
        run_until_idle()
        cpu = next(cpu for cpu in range(cpus) if CORE.testbed_on_cpu(cpu) == 100 * vm)
        deadlines[vm] = time_now(CORE) + ticks
        CORE.testbed_wait_until(cpu, deadlines[vm])
        run_until_idle()
        assert CORE.testbed_vcpu_state(vm, 0) == BLOCKED
    for vm, deadline in sorted(deadlines.items(), key=lambda item: item[1]):
        if time_now(CORE) < deadline:
            CORE.testbed_advance(deadline - 1 - time_now(CORE))
            run_until_idle()
            assert CORE.testbed_vcpu_state(vm, 0) == BLOCKED, "woken early"
            CORE.testbed_advance(1)
        run_until_idle()
        assert CORE.testbed_vcpu_state(vm, 0) in (READY, RUNNING), "not woken at its deadline"
        assert_no_violation(CORE.testbed_idle_violation())


def test_timer_of_zero_does_not_stop_slices() -> None:
    """A deadline of zero is in the past and must not be written to the hardware timer: slices still
    end."""
    boot(1, [1, 1, 1])
    start_all([1, 1, 1])
    CORE.testbed_wait_until(0, 0)
    run_until_idle()
    before = runtimes([1, 1, 1])
    for _ in range(20):
        to_next_timer()
    got = [after - early for early, after in zip(before, runtimes([1, 1, 1]), strict=True)]
    assert min(got) >= QUANTUM


def test_a_deadline_of_0_is_past() -> None:
    """A VCPU that waits for it becomes ready at once, and later timers still fire."""
    boot(1, [1, 1])
    assert CORE.testbed_vm_start(0, 0)
    run_until_idle()
    CORE.testbed_advance(1)
    CORE.testbed_wait_until(0, 0)
    run_until_idle()
    assert CORE.testbed_vcpu_state(0, 0) in (READY, RUNNING)
    CORE.testbed_wait_until(0, 5 * QUANTUM)
    run_until_idle()
    assert CORE.testbed_vcpu_state(0, 0) == BLOCKED
    to_next_timer()
    assert CORE.testbed_vcpu_state(0, 0) in (READY, RUNNING)


def test_interrupts_before_a_vcpus_start_are_discarded() -> None:
    """Like interrupts of a hart that is off."""
    boot(2, [2])
    assert CORE.testbed_vm_start(0, 0)
    run_until_idle()
    CORE.testbed_raise(0, 0, 1)
    assert CORE.testbed_vcpu_start(0, 0, 1)
    run_until_idle()
    assert CORE.testbed_raised(0, 1) == 0
    CORE.testbed_raise(0, 0, 1)
    run_until_idle()
    assert CORE.testbed_raised(0, 1) == 1


def test_interrupts_before_a_vms_start_are_discarded() -> None:
    """Neither while the VM was stopped nor while it is being loaded."""
    boot(1, [1])
    CORE.testbed_raise(0, 0, 0)
    assert CORE.testbed_vm_start(0, 0)
    CORE.testbed_raise(0, 0, 0)
    run_until_idle()
    assert CORE.testbed_vm_state(0) == VM_RUNNING
    assert CORE.testbed_raised(0, 0) == 0


def interrupts() -> int:
    """The number of firmware calls that interrupted other CPUs, each for any number of CPUs."""
    return ctypes.c_uint.in_dll(CORE, "host_interrupts").value


def kicked(cpus: int) -> list[int]:
    return [cpu for cpu in range(cpus) if CORE.testbed_kicks(cpu)]


def test_a_stop_waits_for_the_components() -> None:
    """A component is called again until it is done."""
    boot(1, [1])
    start_all([1])
    CORE.testbed_stop_steps(0, 5)
    assert CORE.testbed_vm_stop(0, 0, False)
    run_until_idle()
    assert CORE.testbed_vm_state(0) == VM_STOPPED
    assert CORE.testbed_stop_steps_left(0) == 0


def test_wakeup_interrupts_one_idle_cpu_of_eight() -> None:
    boot(8, [1])
    assert CORE.testbed_vm_start(0, 0)
    run_until_idle()
    cpu = next(cpu for cpu in range(8) if CORE.testbed_on_cpu(cpu) == 0)
    CORE.testbed_wait(cpu)
    run_until_idle()
    before = interrupts()
    CORE.testbed_raise(7, 0, 0)
    assert len(kicked(8)) <= 1
    assert interrupts() - before <= 1
    run_until_idle()
    assert CORE.testbed_vcpu_state(0, 0) == RUNNING


def test_wakeup_ends_one_of_eight_slices_at_a_time() -> None:
    """A ready VCPU runs when the oldest slice has used its quantum, and then shares all CPUs."""
    boot(8, [8, 1])
    start_all([8])
    for _ in range(10):  # ends of slices that were set while VMs were being loaded
        CORE.testbed_advance(QUANTUM)
        run_until_idle()
    assert CORE.host_next_timer() == NEVER
    before = interrupts()
    assert CORE.testbed_vm_start(0, 1)
    assert len(kicked(8)) <= 1
    assert interrupts() - before <= 1
    run_until_idle()
    before = interrupts()
    to_next_timer()
    assert interrupts() - before <= 2
    for _ in range(20):
        to_next_timer()
    assert_no_violation(CORE.testbed_idle_violation())
    got = runtimes([8, 1])
    for _ in range(9 * 8):
        to_next_timer()
    got = [after - early for early, after in zip(got, runtimes([8, 1]), strict=True)]
    assert max(got) - min(got) <= 2 * QUANTUM


def test_components_learn_of_a_sync_whose_vcpu_has_stopped_running() -> None:
    """A component's work for pages of a VM is due on the CPU on which the VM ran, also if that CPU is
    idle when the interrupt comes."""
    boot(2, [1])
    start_all([1])
    idle = next(cpu for cpu in range(2) if CORE.testbed_on_cpu(cpu) == -1)
    before = CORE.testbed_syncs()
    CORE.testbed_request_sync(1 - idle, idle)
    run_until_idle()
    assert CORE.testbed_syncs() == before + 1


def test_a_vm_that_stops_interrupts_all_its_cpus_by_one_call() -> None:
    """After the lock is released: arch/host fails the test if a lock is held during the call."""
    boot(4, [4])
    start_all([4])
    assert states([4]) == [RUNNING] * 4
    before = interrupts()
    assert CORE.testbed_vm_stop(0, 0, False)
    assert kicked(4) == [1, 2, 3]
    assert interrupts() - before == 1
    run_until_idle()
    assert CORE.testbed_vm_state(0) == VM_STOPPED


def states_at_polls(vcpus: list[int]) -> list[list[int]]:
    """The states of all VCPUs, and what CPU 0 runs, at each polling point until all CPUs are idle."""
    seen: list[list[int]] = []
    hook = ctypes.CFUNCTYPE(None)(lambda: seen.append([*states(vcpus), CORE.testbed_on_cpu(0)]))
    on_poll = ctypes.c_void_p.in_dll(CORE, "host_on_poll")
    on_poll.value = ctypes.cast(hook, ctypes.c_void_p).value
    run_until_idle()
    on_poll.value = None
    return seen


def test_interrupts_are_polled_between_a_removal_and_the_next_pick() -> None:
    """Both together would be too long for one critical section."""
    boot(1, [2, 1])
    start_all([2, 1])
    while CORE.testbed_on_cpu(0) != 1:
        to_next_timer()
    assert CORE.testbed_vm_stop(0, 0, False)
    assert [READY, OFF, READY, -1] in states_at_polls([2, 1])


def test_a_picked_vcpu_of_a_vm_that_stops_is_removed_by_a_step_of_the_stop() -> None:
    """Not in the critical section of the pick."""
    boot(2, [3])
    start_all([3])
    while states([3]) != [RUNNING, RUNNING, READY]:
        to_next_timer()
    assert CORE.testbed_vm_stop(0, 0, False)
    assert HELD in {seen[2] for seen in states_at_polls([3])}
    assert states([3]) == [OFF] * 3
    assert CORE.testbed_vm_state(0) == VM_STOPPED
