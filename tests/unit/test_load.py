# SPDX-License-Identifier: Apache-2.0
"""
Loading and ending a VM is an ordinary slice: a VCPU that wakes meanwhile waits for no more than a quantum of each VCPU
that is in front of it, and one load step, whatever the run queue was like when the slice began. In virtual time.
"""

import ctypes

import pytest
from core import CORE, NEVER, TICKS_PER_US, VM_LOADING, VM_RUNNING, VM_STOPPED, lines, settle, time_now

QUANTUM_US = 1000
QUANTUM = QUANTUM_US * TICKS_PER_US
LOOK = 10 * TICKS_PER_US  # between two looks at interrupts while a VM is loaded: 2 MiB take more than ten quanta
STEP = 4 * LOOK  # the look that finds the interrupt, and those on the way to the next VCPU
TICK = QUANTUM + 7 * LOOK
TICKER, BIG = 0, 1  # VMs; the others spin


def boot(cpus: int, vms: int) -> None:
    """All VMs run; from here on loading takes time."""
    image = CORE.world_image_make(cpus, vms, (ctypes.c_uint * vms)(*[1] * vms), QUANTUM_US)
    assert CORE.world_boot_image(image)
    for vm in range(vms):
        assert CORE.world_vm_start(0, vm)
    settle()
    CORE.world_load_costs(LOOK)


def cpu_of(vm: int, cpus: int) -> int | None:
    return next((cpu for cpu in range(cpus) if CORE.world_on_cpu(cpu) == 100 * vm), None)


def to_next_timer() -> None:
    first = CORE.host_next_timer()
    assert first != NEVER, "nothing will ever happen"
    CORE.world_advance(max(0, first - time_now(CORE)))
    settle()


def run_until(vm: int, cpus: int) -> int:
    """Lets time pass until the VM's VCPU has a CPU, which is returned."""
    for _ in range(1000):
        cpu = cpu_of(vm, cpus)
        if cpu is not None:
            return cpu
        to_next_timer()
    raise AssertionError("the VM is starved")


def state_after_a_while(vm: int) -> int:
    """The VM's state once it is neither stopping nor loading."""
    for _ in range(1000):
        if CORE.world_vm_state(vm) in (VM_RUNNING, VM_STOPPED):
            break
        to_next_timer()
    return CORE.world_vm_state(vm)


def wait(cpus: int, deadline: int) -> int:
    """The ticker waits for its deadline. Returns by how much it comes too late."""
    CORE.world_wait_until(run_until(TICKER, cpus), deadline)
    settle()
    run_until(TICKER, cpus)
    return time_now(CORE) - deadline


def latest_while_loading(cpus: int) -> int:
    """The ticker's worst latency from the stop of the big VM until it runs again."""
    assert CORE.world_vm_stop(run_until(TICKER, cpus), BIG, True)
    latest = ticks = 0
    while CORE.world_vm_starts(BIG) < 2 or CORE.world_vm_state(BIG) != VM_RUNNING:
        latest = max(latest, wait(cpus, time_now(CORE) + TICK))
        ticks += 1
    assert ticks > 5, "the load was too short to tell"
    return latest


def test_a_vm_that_is_alone_is_loaded_in_one_slice() -> None:
    """Nobody waits: the slice has no end, and nothing ticks."""
    boot(1, 1)
    assert CORE.world_vm_stop(0, 0, True)
    before = time_now(CORE)
    settle()
    assert CORE.world_vm_state(0) == VM_RUNNING
    assert time_now(CORE) - before > 10 * QUANTUM
    assert CORE.host_next_timer() == NEVER


@pytest.mark.parametrize("vms", [2, 3, 4])
def test_a_ticker_is_late_by_a_quantum_of_each_vm_in_front_of_it(vms: int) -> None:
    """The ticker, the VM that is restarted, and 0, 1 or 2 that spin."""
    boot(1, vms)
    assert latest_while_loading(1) <= (vms - 1) * QUANTUM + STEP


def test_a_vcpu_that_another_cpu_wakes_ends_the_slice_of_a_cpu_that_loads() -> None:
    """A VM runs on CPU 0; another one is being loaded by CPU 1, and has been for quanta when VM 2 is woken."""
    boot(2, 3)
    CORE.world_wait(run_until(2, 2))
    settle()
    big = CORE.world_on_cpu(1) // 100
    assert {big, CORE.world_on_cpu(0) // 100} == {0, 1}
    assert CORE.world_vm_stop(0, big, True)
    wakes = time_now(CORE) + 5 * QUANTUM
    CORE.world_load_raise(wakes, 2)
    CORE.world_load_turn(1)
    assert CORE.world_on_cpu(1) == 200
    assert CORE.world_vm_state(big) == VM_LOADING
    assert time_now(CORE) - wakes <= STEP


REFUSED = "error: vm-b is not started: its payload 0 (0x8 bytes for 0x80000000) has a wrong checksum"
STOPPED = "vm-b stopped because a payload is damaged"


def damage(flips: dict[int, int]) -> None:
    """Of the payload's bytes; once more, and they are as they were."""
    for byte, bits in flips.items():
        CORE.world_image_damage(byte, bits)


# The payload is two words, 0x55667788 and 0x11223344.
@pytest.mark.parametrize(
    "flips",
    [
        *({byte: 1 << byte} for byte in (0, 3, 4, 7)),
        dict.fromkeys(range(8), 0x44),  # the words exchanged: the same sum of words
        {0: 0x01, 4: 0x06},  # one word more by 1, the next one less by 2: the same sum of sums
    ],
)
def test_a_vm_whose_payload_was_damaged_is_refused_at_its_next_start(flips: dict[int, int]) -> None:
    """The others, which were loaded before, run on; mended, the VM starts again."""
    boot(1, 3)
    lines()
    damage(flips)
    assert CORE.world_vm_stop(0, 1, True)
    assert state_after_a_while(1) == VM_STOPPED
    assert [CORE.world_vm_state(vm) for vm in (0, 2)] == [VM_RUNNING] * 2
    assert lines() == ["vm-b stopped by the console, starts again", REFUSED, STOPPED]
    assert CORE.world_vm_start(0, 1)
    assert state_after_a_while(1) == VM_STOPPED
    assert lines() == [REFUSED, STOPPED]
    damage(flips)
    assert CORE.world_vm_start(0, 1)
    assert state_after_a_while(1) == VM_RUNNING
