# SPDX-License-Identifier: Apache-2.0
"""
Loading and ending a VM is an ordinary slice: a VCPU that wakes meanwhile waits at most a quantum
for each VCPU before it in the queue, plus one load step, whatever the run queue was when the slice
began. In virtual time.
"""

import ctypes

import pytest
from core import CORE, NEVER, TICKS_PER_US, VM_LOADING, VM_RUNNING, VM_STOPPED, lines, run_until_idle, time_now

QUANTUM_US = 1000
QUANTUM = QUANTUM_US * TICKS_PER_US
# Between two polling points while a VM is loaded: 2 MiB take more than ten quanta.
POLL = 10 * TICKS_PER_US
STEP = 4 * POLL  # the polling point that finds the interrupt, and those up to the next VCPU
TICK = QUANTUM + 7 * POLL
TICKER, BIG = 0, 1  # VMs; the others spin


def boot(cpus: int, vms: int) -> None:
    """Boots and starts all VMs; afterwards loading takes time."""
    image = CORE.testbed_image_make(cpus, vms, (ctypes.c_uint * vms)(*[1] * vms), QUANTUM_US)
    assert CORE.testbed_boot_image(image)
    for vm in range(vms):
        assert CORE.testbed_vm_start(0, vm)
    run_until_idle()
    CORE.testbed_load_costs(POLL)


def cpu_of(vm: int, cpus: int) -> int | None:
    return next((cpu for cpu in range(cpus) if CORE.testbed_on_cpu(cpu) == 100 * vm), None)


def to_next_timer() -> None:
    first = CORE.host_next_timer()
    assert first != NEVER, "no timer is set"
    CORE.testbed_advance(max(0, first - time_now(CORE)))
    run_until_idle()


def run_until(vm: int, cpus: int) -> int:
    """Advances the time until the VM's VCPU runs; returns its CPU."""
    for _ in range(1000):
        cpu = cpu_of(vm, cpus)
        if cpu is not None:
            return cpu
        to_next_timer()
    raise AssertionError("the VM is starved")


def final_state(vm: int) -> int:
    """The VM's state after stopping and loading."""
    for _ in range(1000):
        if CORE.testbed_vm_state(vm) in (VM_RUNNING, VM_STOPPED):
            break
        to_next_timer()
    return CORE.testbed_vm_state(vm)


def wait(cpus: int, deadline: int) -> int:
    """The ticker waits for its deadline. Returns its lateness."""
    CORE.testbed_wait_until(run_until(TICKER, cpus), deadline)
    run_until_idle()
    run_until(TICKER, cpus)
    return time_now(CORE) - deadline


def latest_while_loading(cpus: int) -> int:
    """The ticker's maximum lateness from the stop of the big VM until that VM runs again."""
    assert CORE.testbed_vm_stop(run_until(TICKER, cpus), BIG, True)
    latest = ticks = 0
    while CORE.testbed_vm_starts(BIG) < 2 or CORE.testbed_vm_state(BIG) != VM_RUNNING:
        latest = max(latest, wait(cpus, time_now(CORE) + TICK))
        ticks += 1
    assert ticks > 5, "the load was too short to measure"
    return latest


def test_single_vm_is_loaded_in_one_slice() -> None:
    """No VCPU is ready: the slice is infinite and no timer is set."""
    boot(1, 1)
    assert CORE.testbed_vm_stop(0, 0, True)
    before = time_now(CORE)
    run_until_idle()
    assert CORE.testbed_vm_state(0) == VM_RUNNING
    assert time_now(CORE) - before > 10 * QUANTUM
    assert CORE.host_next_timer() == NEVER


@pytest.mark.parametrize("vms", [2, 3, 4])
def test_lateness_is_a_quantum_per_vm_ahead_in_the_queue(vms: int) -> None:
    """The ticker, the VM that is restarted, and 0, 1 or 2 spinning VMs."""
    boot(1, vms)
    assert latest_while_loading(1) <= (vms - 1) * QUANTUM + STEP


def test_wakeup_by_another_cpu_ends_a_loading_slice() -> None:
    """A VM runs on CPU 0; CPU 1 has been loading another VM for several quanta when VM 2 is
    woken."""
    boot(2, 3)
    CORE.testbed_wait(run_until(2, 2))
    run_until_idle()
    big = CORE.testbed_on_cpu(1) // 100
    assert {big, CORE.testbed_on_cpu(0) // 100} == {0, 1}
    assert CORE.testbed_vm_stop(0, big, True)
    wakes = time_now(CORE) + 5 * QUANTUM
    CORE.testbed_load_raise(wakes, 2)
    CORE.testbed_load_step(1)
    assert CORE.testbed_on_cpu(1) == 200
    assert CORE.testbed_vm_state(big) == VM_LOADING
    assert time_now(CORE) - wakes <= STEP


REFUSED = "error: vm-b is not started: its payload 0 (0x8 bytes for 0x80000000) has a wrong checksum"
STOPPED = "vm-b stopped because a payload is damaged"


def damage(flips: dict[int, int]) -> None:
    """Flips bits of the payload; a second call restores them."""
    for byte, bits in flips.items():
        CORE.testbed_image_damage(byte, bits)


# The payload is two words, 0x55667788 and 0x11223344.
@pytest.mark.parametrize(
    "flips",
    [
        *({byte: 1 << byte} for byte in (0, 3, 4, 7)),
        dict.fromkeys(range(8), 0x44),  # swapped words: the same sum of words
        {0: 0x01, 4: 0x06},  # a word plus 1, the next word minus 2: the same sum of sums
    ],
)
def test_a_vm_whose_payload_was_damaged_is_refused_at_its_next_start(flips: dict[int, int]) -> None:
    """Other VMs, loaded before, keep running; after the repair the VM starts again."""
    boot(1, 3)
    lines()
    damage(flips)
    assert CORE.testbed_vm_stop(0, 1, True)
    assert final_state(1) == VM_STOPPED
    assert [CORE.testbed_vm_state(vm) for vm in (0, 2)] == [VM_RUNNING] * 2
    assert lines() == ["vm-b stopped by the console, starts again", REFUSED, STOPPED]
    assert CORE.testbed_vm_start(0, 1)
    assert final_state(1) == VM_STOPPED
    assert lines() == [REFUSED, STOPPED]
    damage(flips)
    assert CORE.testbed_vm_start(0, 1)
    assert final_state(1) == VM_RUNNING
