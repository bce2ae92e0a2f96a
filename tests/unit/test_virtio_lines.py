# SPDX-License-Identifier: Apache-2.0
"""Interrupt lines of functions whose VM has many VCPUs: VM 1 of the testbed has three."""

import pytest
from core import CORE
from virtio import (
    BARS,
    ENTROPY,
    GPA,
    IRQ,
    ISR_QUEUE,
    IVSHMEM,
    SHARED_ID,
    WIDTHS,
    Device,
    Pci,
    boot,
    booted,
    make,
    restart,
)

DOORBELL = BARS + 12


KINDS = [{"kind": ENTROPY}, {"kind": ENTROPY}, {"kind": IVSHMEM, "shared": SHARED_ID}]
FUNCTIONS = [{"vm": 0, "kind": IVSHMEM, "shared": SHARED_ID}, *({"vm": 1, **kind} for kind in KINDS)]


@pytest.fixture
def functions() -> tuple[Device, Device, Pci]:
    """Two generators of random numbers and a doorbell of VM 1."""
    booted(FUNCTIONS)
    return opened()


def opened() -> tuple[Device, Device, Pci]:
    bell, ringer = Pci(1, 2), Pci(0, 0)
    for function in (bell, ringer):
        function.store(function.config + 4, 2, 2)
    return Device(1, 0).start(), Device(1, 1).start(), bell


def draw(device: Device) -> None:
    """Takes random numbers; the interrupts of the device stay pending."""
    device.queues[0].chain(0, [(GPA + 0x80000, 32, True)])
    device.queues[0].offer(0)
    while device.queues[0].notify_once(0):
        pass


def ring() -> None:
    CORE.testbed_virtio_store_once(0, DOORBELL, WIDTHS[4], 1 << 16, 0)


def lines(interrupts: int) -> list[int]:
    """The slots whose lines are high once so many interrupts are taken."""
    high = CORE.testbed_virtio_lines_after(1, interrupts)
    return [slot for slot in range(3) if high >> (IRQ + slot) & 1]


def test_each_line_is_set_in_a_section_of_its_own(functions):
    """In the order of the interrupts."""
    first, second, _ = functions
    draw(second)
    ring()
    draw(first)
    assert [lines(interrupts) for interrupts in (0, 1, 1, 1, 9)] == [[], [1], [1, 2], [0, 1, 2], [0, 1, 2]]


def test_a_line_waits_once(functions):
    """An interrupt before its section is part of it, and one after it has another. It keeps its place."""
    first, _, bell = functions
    for _ in range(40):  # more than there are places
        ring()
    draw(first)
    ring()
    assert [lines(interrupts) for interrupts in (0, 1, 1, 9)] == [[], [2], [0, 2], [0, 2]]
    assert first.isr == ISR_QUEUE
    assert bell.read(4) == 1
    ring()
    assert [lines(interrupts) for interrupts in (0, 1, 9)] == [[], [2], [2]]


def test_a_line_waits_for_a_pending_interrupt():
    """Of a VM with one VCPU, whose lines are otherwise set at once."""
    booted([{"vm": 0, "kind": ENTROPY}])
    device = Device(0).start()
    for poll in (0, 1):
        device.queues[0].chain(0, [(GPA + 0x80000, 32, True)])
        device.queues[0].offer(0)
        while device.queues[0].notify_once(poll):
            pass
        assert [CORE.testbed_virtio_lines_after(0, interrupts) for interrupts in (0, 9)] == [
            (1 - poll) << IRQ,
            1 << IRQ,
        ]
        assert device.isr == ISR_QUEUE


@pytest.mark.parametrize("take_back", ["status", "reset", "restart"])
def test_what_takes_an_interrupt_back_before_its_section(functions, take_back):
    first, second, _ = functions
    draw(first)
    draw(second)
    if take_back == "status":
        assert first.isr == ISR_QUEUE, "the status is there at once"
    elif take_back == "reset":
        CORE.testbed_virtio_store_once(1, first.bar + 20, WIDTHS[1], 0, 0)
    else:
        restart(1)
    assert lines(9) == ([] if take_back == "restart" else [1])


def test_harts_do_not_wait_for_each_other():
    """A hart sets the lines of what it has raised, also if another one was to set the same line before."""
    make(FUNCTIONS)
    CORE.testbed_virtio_give_two_harts()
    assert boot() is None
    first, second, _ = opened()
    draw(first)
    CORE.testbed_virtio_on(1)
    draw(second)
    draw(first)
    assert [lines(interrupts) for interrupts in (0, 1, 1, 9)] == [[], [1], [0, 1], [0, 1]]
    assert first.isr == ISR_QUEUE
    CORE.testbed_virtio_on(0)
    assert [lines(interrupts) for interrupts in (0, 9)] == [[1], [1]], "the first hart finds it acknowledged"
