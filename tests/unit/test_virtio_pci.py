# SPDX-License-Identifier: Apache-2.0
"""The virtual PCI bus: configuration space, BARs, negotiation, interrupts, ivshmem's doorbells, refused images."""

import ctypes
import os
import subprocess
import sys

import pytest
from c_headers import structures, values
from core import CORE
from virtio import (
    ACCELERATOR,
    ACKNOWLEDGE,
    BAR_SIZE,
    BARS,
    BLOCK,
    DRIVER,
    DRIVER_OK,
    ENTROPY,
    EVENT_IDX,
    FAULT,
    FEATURES_OK,
    GPA,
    INDIRECT,
    ISR_CONFIG,
    ISR_QUEUE,
    IVSHMEM,
    NEEDS_RESET,
    NET,
    RAM_SIZE,
    SHARED_GPA,
    SHARED_ID,
    SOCKET,
    VERSION_1,
    WRITE,
    Device,
    Pci,
    Section,
    boot,
    booted,
    make,
    pause,
    restart,
)

ONES = 0xFFFFFFFF
RING, DOORBELLS, DENIED, NO_VCPU, NOT_RUNNING = values(
    "ipc_abi.h", "HCALL_IPC_RING HCALL_IPC_DOORBELLS HCALL_ERR_DENIED IPC_ERR_NO_VCPU IPC_ERR_NOT_RUNNING"
)
(NO_CALLER,) = values("testbed_ipc.h", "TESTBED_NO_CALLER")
RAM_BASE, BOARD_RAM, ALIGN = values("host.h arch.h", "HOST_RAM_BASE HOST_RAM_SIZE ARCH_RAM_ALIGN")
(Header,) = structures("sysimage.h", "sysimage_header")
IMAGE_SIZE = Header.from_address(CORE.testbed_image_make(1, 1, (ctypes.c_uint * 1)(1), 1000)).total_size
ALL = VERSION_1 | INDIRECT | EVENT_IDX
DISK = {"vm": 0, "kind": BLOCK, "disk_size": 4096}


def disk(**fields: int) -> dict:
    return {**DISK, "disk": CORE.testbed_virtio_disk(), **fields}


@pytest.fixture
def bus() -> None:
    booted(
        [
            {"vm": 0, "kind": NET, "mac": 0x020000000001},
            {"vm": 0, "kind": ENTROPY},
            {"vm": 0, "kind": IVSHMEM, "shared": SHARED_ID},
            {"vm": 1, "kind": IVSHMEM, "shared": SHARED_ID},
        ]
    )


@pytest.mark.usefixtures("bus")
def test_configuration_space():
    """What an enumeration finds: ids, classes, BARs with their sizes, no further functions."""
    ids = [Pci(0, slot).load(Pci(0, slot).config) for slot in range(4)]
    assert ids == [0x10411AF4, 0x10441AF4, 0x11101AF4, ONES]
    assert Pci(0).load(Pci(0).config + 0x1000) == ONES, "function 1"
    assert [Pci(0, slot).load(Pci(0, slot).config + 8) >> 8 for slot in range(3)] == [0x020000, 0xFF0000, 0x050000]
    for slot in range(3):
        function = Pci(0, slot)
        assert function.load(function.config + 0x10) == BARS + slot * BAR_SIZE
        assert function.load(function.config + 0x3D, 1) == 1, "INTA"
        assert function.load(function.config + 14, 1) == 0, "header type"
        function.store(function.config + 0x10, ONES)
        function.store(function.config + 0x11, 0, 1)
        assert function.load(function.config + 0x10) == ONES - BAR_SIZE + 1
        function.store(function.config + 0x10, 0x50000000)
        assert function.load(function.config + 0x10) == BARS + slot * BAR_SIZE, "it does not move"


@pytest.mark.usefixtures("bus")
def test_capabilities_of_virtio():
    """Sections 4.1.4.1 and 4.1.4: each structure once, in BAR 0; ivshmem has none."""
    function, found = Pci(0), {}
    at = function.load(function.config + 0x34, 1)
    assert function.load(function.config + 6, 2) & 0x10
    while at:
        vendor, following, length, kind = (function.load(function.config + at + i, 1) for i in range(4))
        assert (vendor, length >= 16) == (9, True)
        assert function.load(function.config + at + 4, 1) == 0
        found[kind] = function.load(function.config + at + 8)
        at = following
    assert found == {1: 0, 2: 0x3000, 3: 0x1000, 4: 0x2000}
    shared = Pci(0, 2)
    assert not shared.load(shared.config + 6, 2) & 0x10
    assert [shared.load(shared.config + at, 1) for at in (0x34, 0x40)] == [0, 0]


@pytest.mark.usefixtures("bus")
def test_memory_space_is_off_at_first():
    function = Pci(0)
    assert function.read(20) == ONES
    function.write(20, ACKNOWLEDGE, 1)
    function.store(function.config + 4, 2, 2)
    assert function.read(20, 1) == 0
    assert function.read(24, 2) == 256, "the size of queue 0, without a reset by the driver"
    function.write(20, ACKNOWLEDGE, 1)
    function.store(function.config + 4, 4, 2)
    function.write(20, 0, 1)
    assert function.read(20) == ONES, "also of a bus master"
    function.store(function.config + 4, 2, 2)
    assert function.read(20, 1) == ACKNOWLEDGE
    assert Pci(2).load(Pci(2).config) == FAULT, "a VM without functions has no bus"


@pytest.mark.usefixtures("bus")
def test_ivshmem():
    """The region is BAR 2, and a doorbell raises the other VM's interrupt until its status is read."""
    here, there = Pci(0, 2), Pci(1, 0)
    assert here.load(here.config + 0x18) & ~15 == SHARED_GPA
    here.store(here.config + 0x18, ONES)
    here.store(here.config + 0x1C, ONES)
    assert here.load(here.config + 0x18) & ~15 == ONES - RAM_SIZE + 1
    assert here.load(here.config + 0x1C) == ONES
    assert here.load(here.config + 0x10) == BARS + 2 * BAR_SIZE
    for function in (here, there):
        function.store(function.config + 4, 2, 2)
    assert [here.read(8), there.read(8)] == [0, 1]
    here.write(12, 1 << 16)
    assert (here.line, there.line) == (False, True)
    assert there.load(there.config + 6, 2) & 8, "the interrupt status of the PCI status register"
    there.store(there.config + 4, 0x402, 2)
    assert not there.line, "INTx is disabled"
    there.store(there.config + 4, 2, 2)
    assert there.line
    assert [there.read(4), there.read(4)] == [1, 0]
    assert not there.line
    for nobody in (3, 0xFFFF):
        here.write(12, nobody << 16)
    there.write(12, 0, 1)  # not 32 bits
    there.write(12, 0, 2)
    assert not here.line
    assert not there.line


def call(vm: int, number: int, *arguments: int) -> tuple[int, int]:
    """A hypercall of the VM, once it is its turn."""
    value = ctypes.c_uint64(0)
    for _ in range(30):
        error = CORE.testbed_call(vm, number, *(list(arguments) + [0] * 3)[:3], ctypes.byref(value))
        if error != NO_CALLER:
            return error, value.value
        CORE.testbed_advance(10_000)
        assert CORE.testbed_run_until_idle()
    raise AssertionError(f"VM {vm} does not run")


@pytest.mark.usefixtures("bus")
def test_doorbells_between_a_function_and_calls():
    """VM 2 shares the region and has no function: it is rung for its call, and rings functions by a call."""
    here, there = Pci(0, 2), Pci(1, 0)
    for function in (here, there):
        function.store(function.config + 4, 2, 2)
    assert call(2, DOORBELLS) == (0, 0)
    here.write(12, 2 << 16)
    assert call(2, DOORBELLS) == (0, 1 << SHARED_ID)
    assert call(2, RING, SHARED_ID, 1) == (0, 0)
    assert (here.line, there.line) == (False, True)
    assert there.read(4) == 1
    assert call(1, RING, SHARED_ID, 1) == (0, 0), "a VM may ring its own function"
    assert call(1, DOORBELLS) == (0, 0), "the function has its doorbells"
    assert there.read(4) == 1
    assert call(2, RING, SHARED_ID, 2) == (0, 0)
    assert call(2, DOORBELLS) == (0, 1 << SHARED_ID)
    assert call(2, RING, SHARED_ID + 1, 1)[0] == DENIED
    assert call(2, RING, SHARED_ID, 3)[0] == NO_VCPU
    assert CORE.testbed_vm_stop(0, 1, False)
    assert call(2, RING, SHARED_ID, 1)[0] == NOT_RUNNING
    assert not there.line


@pytest.mark.usefixtures("bus")
def test_a_new_life_has_no_interrupt_and_no_mask_of_the_former_one():
    """Its peer rang while it was stopped."""
    here, there = Pci(0, 2), Pci(1, 0)
    for function in (here, there):
        function.store(function.config + 4, 2, 2)
    there.write(0, 0x12345678)
    assert there.read(0) == 0x12345678
    assert CORE.testbed_vm_stop(0, 1, False)
    pause()
    here.write(12, 1 << 16)
    assert CORE.testbed_vm_start(0, 1)
    pause()
    there.store(there.config + 4, 2, 2)
    assert (there.line, there.read(4), there.read(0)) == (False, 0, 0)
    here.write(12, 1 << 16)
    assert there.line


def test_a_function_for_other_memory_is_not_rung():
    booted([{"vm": 0, "kind": IVSHMEM, "shared": SHARED_ID}, {"vm": 1, "kind": IVSHMEM, "shared": SHARED_ID + 1}])
    here, there = Pci(0), Pci(1)
    for function in (here, there):
        function.store(function.config + 4, 2, 2)
    here.write(12, 1 << 16)
    assert there.read(4) == 0
    assert call(1, DOORBELLS) == (0, 1 << SHARED_ID)
    there.write(12, 0)
    assert (here.read(4), there.read(4)) == (0, 0)


def test_only_the_function_for_the_region_is_rung():
    """The other one has 0 where an ivshmem function has its region."""
    booted(
        [
            {"vm": 0, "kind": IVSHMEM, "shared": 0},
            {"vm": 0, "kind": ENTROPY, "shared": SHARED_ID},
            {"vm": 1, "kind": ENTROPY},
            {"vm": 1, "kind": IVSHMEM, "shared": 0},
        ]
    )
    assert [Pci(0, slot).load(Pci(0, slot).config + 0x18) for slot in (0, 1)] == [0, 0], "no BAR 2"
    Pci(0).store(Pci(0).config + 4, 2, 2)
    Pci(0).write(12, 1 << 16)
    assert (Pci(1, 0).line, Pci(1, 1).line) == (False, True)
    assert call(0, RING, 0, 1) == (DENIED, 0), "region 0 is not the one that it shares"


def test_calls_ring_no_function_for_memory_of_others():
    make([{"vm": 1, "kind": IVSHMEM, "shared": SHARED_ID}])
    CORE.testbed_virtio_unshare(2)
    assert boot() is None
    there = Pci(1)
    assert call(2, RING, SHARED_ID, 1) == (DENIED, 0)
    assert there.read(4) in (0, ONES)
    assert call(0, RING, SHARED_ID, 1) == (0, 0)


@pytest.mark.parametrize(
    ("features", "accepted"),
    [(VERSION_1, True), (ALL, True), (ALL | 1 << 5, True), (0, False), (EVENT_IDX, False), (VERSION_1 | 1 << 6, False)],
)
@pytest.mark.usefixtures("bus")
def test_features(features: int, accepted: bool):
    device = Device(0)
    assert device.accept(features) == accepted
    assert device.offered == ALL | 1 << 5
    if not accepted:
        device.write(20, ACKNOWLEDGE | DRIVER | FEATURES_OK | DRIVER_OK, 1)
        assert not device.status & DRIVER_OK


@pytest.mark.usefixtures("bus")
def test_features_are_final_once_they_are_accepted():
    device = Device(0)
    assert device.accept(VERSION_1)
    device.write(8, 0)
    device.write(12, 1 << 5)
    assert device.read(12) == 0


@pytest.mark.usefixtures("bus")
def test_the_command_register_byte_by_byte():
    device = Device(0)
    device.store(device.config + 4, 0x406, 2)
    for offset, value, whole in ((0, 2, 0x402), (1, 0, 0x002), (0, 6, 0x006), (1, 4, 0x406)):
        device.store(device.config + 4 + offset, value, 1)
        assert device.load(device.config + 4, 2) == whole


@pytest.mark.usefixtures("bus")
def test_a_driver_that_sets_its_status_at_once():
    device = Device(0)
    device.store(device.config + 4, 6, 2)
    device.write(8, 1)
    device.write(12, VERSION_1 >> 32)
    device.write(20, ACKNOWLEDGE | DRIVER | FEATURES_OK | DRIVER_OK, 1)
    assert device.status == ACKNOWLEDGE | DRIVER | FEATURES_OK | DRIVER_OK


@pytest.mark.usefixtures("bus")
def test_status_keeps_what_the_driver_writes():
    """But not that the device needs a reset."""
    device = Device(0)
    assert device.accept(VERSION_1)
    device.write(20, 0xFF, 1)
    assert device.status == 0xBF


@pytest.mark.usefixtures("bus")
def test_queue_registers():
    """Section 4.1.4.3: sizes are powers of two, an enabled queue keeps its registers, unknown queues have size 0."""
    device = Device(0)
    assert device.accept(VERSION_1)
    assert device.read(16) == 2 << 16 | 0xFFFF
    device.write(22, 2, 2)
    assert [device.read(24, 2), device.read(28, 2)] == [0, 0]
    device.write(28, 1, 2)
    device.write(22, 1, 2)
    assert device.read(22, 2) == 1
    sizes = []
    for size in (2, 256, 512, 100, 0, 2, 1):
        device.write(24, size, 2)
        sizes.append(device.read(24, 2))
    assert sizes == [2, 256, 256, 256, 256, 2, 1]
    queue = device.enable(1, GPA + 0x10000)
    device.write(24, 2, 2)
    device.write(32, 0x1234)
    assert [device.read(24, 2), device.read(28, 2), device.read(32)] == [device.size, 1, queue.places[0]]
    device.write(20, 0, 1)
    device.write(22, 1, 2)
    assert [device.read(24, 2), device.read(28, 2), device.read(32), device.status] == [256, 0, 0, 0]


@pytest.mark.usefixtures("bus")
def test_stores_to_no_register():
    """And to registers that have a value."""
    device = Device(0)
    device.store(device.config + 4, 6, 2)
    device.write(20, ACKNOWLEDGE | DRIVER, 1)
    for select in (2, ONES):
        device.write(8, select)
        device.write(12, ONES)
    for select in (0, 1):
        device.write(8, select)
        assert device.read(12) == 0
    for at in range(32, 56, 4):
        device.write(at, ONES)
        device.write(at, at << 12)
    for at, width in ((16, 2), (18, 2), (26, 2), (30, 2), (33, 1), (34, 2), (56, 4), (60, 4)):
        device.write(at, 0xFF, width)
    assert [device.read(at) for at in range(32, 64, 4)] == [*(at << 12 for at in range(32, 56, 4)), 0, 0]


@pytest.mark.usefixtures("bus")
def test_stores_of_more_than_a_register():
    device = Device(0)
    device.store(device.config + 4, 6, 2)
    device.write(20, ACKNOWLEDGE | DRIVER, 1)
    for at, value in ((22, 1), (24, 4), (28, 1)):
        device.write(at, 0xFFFF0000 | value, 2)
        assert device.read(at, 2) == value
    device.write(20, 0xFF00)
    assert device.status == 0


@pytest.mark.usefixtures("bus")
def test_registers_after_a_reset():
    device = Device(0)
    assert device.accept(VERSION_1 | 1 << 5)
    for at, value in ((0, 1), (8, 1), *((at, 0x1000) for at in range(32, 56, 4))):
        device.write(at, value)
    device.write(22, 1, 2)
    device.write(24, 4, 2)
    for at in range(32, 56, 4):
        device.write(at, 0x1000)
    device.write(20, 0, 1)
    assert [device.read(0), device.read(8), device.read(22, 2)] == [0, 0, 0]
    for number in (0, 1):
        device.write(22, number, 2)
        device.write(8, number)
        assert [device.read(12), device.read(24, 2)] == [0, 256]
        assert [device.read(at) for at in range(32, 56, 4)] == [0] * 6


@pytest.mark.usefixtures("bus")
def test_every_reset_clears_the_registers():
    device = Device(0)
    device.store(device.config + 4, 6, 2)
    for _ in range(2):
        device.write(22, 1, 2)
        device.write(20, 0, 1)
        assert device.read(22, 2) == 0


@pytest.mark.usefixtures("bus")
def test_interrupts_that_a_driver_wishes_after_a_reset():
    """An earlier life's do not count."""
    device = Device(0, 1).start(VERSION_1 | EVENT_IDX)
    for head in range(5):
        device.queues[0].descriptor(head, GPA + 0x1000, 8, WRITE)
        device.queues[0].offer(head)
        device.queues[0].notify()
    device.start(VERSION_1 | EVENT_IDX)
    device.queues[0].used_event(10)
    device.queues[0].offer(0)
    device.queues[0].descriptor(0, GPA + 0x1000, 8, WRITE)
    device.queues[0].notify()
    assert device.queues[0].returned() == [(0, 8)]
    assert device.isr == 0


@pytest.mark.usefixtures("bus")
def test_a_queue_that_is_enabled_after_its_driver_is_ready():
    device = Device(0, 1)
    assert device.accept(VERSION_1)
    device.write(20, ACKNOWLEDGE | DRIVER | FEATURES_OK | DRIVER_OK, 1)
    queue = device.enable(0, GPA + 0x10000)
    queue.descriptor(0, GPA + 0x1000, 8, WRITE)
    queue.offer(0)
    queue.notify()
    assert queue.returned() == [(0, 8)]


# The last places of the rings of a queue of 256: bytes behind those of the test below.
LAST = (RAM_SIZE - 16 * 256, RAM_SIZE - 0x1000 - 2 * (2 + 256 + 1), RAM_SIZE - 0x2000 - 2 * (2 + 4 * 256 + 2))


@pytest.mark.usefixtures("bus")
def test_rings_at_the_end_of_the_ram():
    for ring, place in enumerate(LAST):
        device = Device(0)
        assert device.accept(VERSION_1)
        for offset, start in zip((32, 40, 48), (GPA, GPA + 0x1000, GPA + 0x2000), strict=True):
            device.write(offset, start + (place if offset == 32 + 8 * ring else 0))
        device.write(28, 1, 2)
        device.write(20, ACKNOWLEDGE | DRIVER | FEATURES_OK | DRIVER_OK, 1)
        assert not device.status & NEEDS_RESET


@pytest.mark.parametrize(
    "offsets",
    [
        *((8, 0, 0), (0, 1, 0), (0, 0, 2), (RAM_SIZE, 0, 0), (0, RAM_SIZE, 0), (0, 0, RAM_SIZE)),
        *((LAST[0] + 16, 0, 0), (0, LAST[1] + 2, 0), (0, 0, LAST[2] + 4)),
    ],
)
@pytest.mark.usefixtures("bus")
def test_rings_must_be_aligned_and_in_ram(offsets: tuple[int, ...]):
    """Otherwise the device needs a reset, says so by an interrupt, and works after the reset."""
    device = Device(0)
    assert device.accept(VERSION_1)
    for offset, place, move in zip((32, 40, 48), (GPA, GPA + 0x1000, GPA + 0x2000), offsets, strict=True):
        device.write(offset, place + move)
    device.write(28, 1, 2)
    assert not device.status & NEEDS_RESET, "it matters once the driver is ready"
    device.write(20, ACKNOWLEDGE | DRIVER | FEATURES_OK | DRIVER_OK, 1)
    assert device.status & NEEDS_RESET
    assert device.line
    assert device.isr == ISR_CONFIG
    assert not device.start().status & NEEDS_RESET


@pytest.mark.usefixtures("bus")
def test_no_queue_starts_while_the_device_needs_a_reset():
    """Not even when the driver enables another one."""
    device = Device(0)
    assert device.accept(VERSION_1)
    queue = device.enable(1, GPA + 0x10000)
    device.write(20, ACKNOWLEDGE | DRIVER | FEATURES_OK | DRIVER_OK, 1)
    queue.offer(99)
    queue.notify()
    assert device.status & NEEDS_RESET
    device.put(queue.places[1] + 4, bytes(2))
    queue.descriptor(0, GPA + 0x1000, 100)
    device.enable(0, GPA + 0x20000)
    queue.notify()
    assert queue.returned() == []


@pytest.mark.usefixtures("bus")
def test_a_function_that_is_no_bus_master_accesses_no_memory():
    """Queues start when it becomes one; if it is none any more, the device needs a reset."""
    memory_only, master = 2, 6
    device = Device(0, 1)
    assert device.accept(VERSION_1)
    device.store(device.config + 4, memory_only, 2)
    queue = device.enable(0, GPA + 0x10000)
    device.write(20, ACKNOWLEDGE | DRIVER | FEATURES_OK | DRIVER_OK, 1)
    for head in range(2):
        queue.descriptor(head, GPA + 0x1000, 8, WRITE)
        queue.offer(head)
    assert queue.notify() == 0
    assert queue.returned() == []
    device.store(device.config + 4, master, 2)
    assert device.status & NEEDS_RESET == 0
    queue.notify()
    assert queue.returned() == [(0, 8), (1, 8)]
    queue.offer(0)
    device.store(device.config + 4, memory_only, 2)
    assert device.status & NEEDS_RESET
    device.store(device.config + 4, master, 2)
    queue.notify()
    assert queue.returned() == []
    device.start()
    device.queues[0].descriptor(0, GPA + 0x1000, 8, WRITE)
    device.queues[0].offer(0)
    device.queues[0].notify()
    assert device.queues[0].returned() == [(0, 8)]


@pytest.mark.usefixtures("bus")
def test_isr_and_line():
    device = Device(0, 1).start()
    device.queues[0].descriptor(0, GPA + 0x1000, 8, WRITE)
    device.queues[0].offer(0)
    device.queues[0].notify()
    assert device.line
    assert device.isr == ISR_QUEUE
    assert not device.line
    assert device.isr == 0


@pytest.mark.usefixtures("bus")
def test_only_the_address_of_notifications_notifies():
    """Or a misaligned store of 8 bytes, which comes in pieces, would notify with each of them."""
    device = Device(0, 1).start()
    queue = device.queues[0]
    queue.descriptor(0, GPA + 0x1000, 8, WRITE)
    queue.offer(0)
    for offset, width in [(0x3001, 1), (0x3002, 2), (0x3004, 4), (0x3FFE, 2)]:
        device.write(offset, 0, width)
    assert queue.returned() == []
    device.write(0x3000, 0xFFFF0000, 4)
    assert queue.returned() == [(0, 8)]


@pytest.mark.usefixtures("bus")
def test_registers_of_a_stopped_vm():
    """A VM's next life begins with the devices' power-on state."""
    device = Device(0, 1).start()
    device.store(device.config + 0x10, ONES)
    restart(0)
    assert device.read(20) == ONES, "memory space is off"
    assert device.load(device.config + 0x10) == BARS + BAR_SIZE
    device.store(device.config + 4, 2, 2)
    assert device.status == 0
    assert device.start().status & DRIVER_OK


@pytest.mark.parametrize(
    ("functions", "message"),
    [
        ([{"vm": 3, "kind": NET}], "a VM that does not exist"),
        ([{"vm": 0, "kind": 99}], "a PCI function of unknown kind"),
        ([{"vm": 0, "kind": NET, "network": 16}], "a wrong NIC of a network"),
        ([{"vm": 0, "kind": NET, "mac": 0x010000000001}], "a wrong NIC of a network"),
        ([{"vm": 0, "kind": NET, "mac": 1 << 48}], "a wrong NIC of a network"),
        ([{"vm": 0, "kind": NET, "vlan": 4095}], "a wrong NIC of a network"),
        ([{"vm": 0, "kind": SOCKET, "cid": 2}], "a wrong context id"),
        ([{"vm": 0, "kind": ENTROPY, "slot": 1}], "in the wrong order"),
        ([{"vm": 0, "kind": ENTROPY}] * 9, "in the wrong order"),
        ([{"vm": 0, "kind": ACCELERATOR}], "an accelerator that its VM does not have"),
        ([{"vm": 0, "kind": ACCELERATOR, "device": 1 << 31}], "an accelerator that its VM does not have"),
        ([DISK], "a disk is not in the board's RAM"),
    ],
)
def test_refused_functions(functions: list[dict], message: str):
    make(functions)
    wrong = boot()
    assert wrong is not None
    assert message in wrong


@pytest.mark.parametrize(
    "fields",
    [
        {"disk_size": 0},
        {"disk_size": 513},
        {"disk_size": 1 << 40},
        {"disk": 0x80000000},
        {"disk": 0x80001000},
        {"disk": RAM_BASE + BOARD_RAM - ALIGN + 4096},
        {"disk": RAM_BASE + BOARD_RAM - ALIGN, "disk_size": ALIGN + 512},
        {"disk": RAM_BASE + BOARD_RAM + ALIGN},
        {"content": 1 << 40},
        {"content": 4096, "content_size": 8192},
        {"content": 4096, "content_size": 1 << 40},
        {"content": IMAGE_SIZE - 512, "content_size": 1024},
    ],
)
def test_refused_disks(fields: dict):
    """Also if a function that is right follows."""
    make([])  # for the place of the disk
    make([disk(**fields), {"vm": 0, "kind": ENTROPY}])
    assert "a disk is not in the board's RAM" in str(boot())


@pytest.mark.parametrize(
    "fields",
    [
        {"disk": RAM_BASE + BOARD_RAM - ALIGN, "disk_size": ALIGN},
        {"content": IMAGE_SIZE - 4096, "content_size": 4096},
        {"content": IMAGE_SIZE},
    ],
)
def test_disks_that_just_fit(fields: dict):
    """At the end of the RAM, with the end of the image, with nothing."""
    make([])  # for the place of the disk
    booted([disk(**fields)])


@pytest.mark.slow
def test_no_random_numbers_without_a_seed():
    """In a process of its own, because the hypervisor keeps a seed for good."""
    program = "from virtio import *; make([{'vm': 0, 'kind': ENTROPY}]); print(boot(seed=False))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "a virtio-rng without a seed" in done.stdout


TABLE = Section.functions.offset
WHOLE = TABLE + Section.functions.size // 14  # with one function


@pytest.mark.parametrize(
    ("size", "fields"),
    [
        (TABLE + 33 * (WHOLE - TABLE), {"nfunctions": 33}),
        (4, {"functions_offset": 0, "nfunctions": 0}),
        (8, {}),
        (WHOLE - 1, {}),
        (WHOLE, {"functions_offset": TABLE + 4}),
        (WHOLE, {"functions_offset": TABLE - 4}),
        (WHOLE, {"functions_offset": WHOLE + 8, "nfunctions": 0}),
    ],
)
def test_section_out_of_bounds(size: int, fields: dict[str, int]):
    section = make([{"vm": 0, "kind": ENTROPY}])
    for name, value in fields.items():
        setattr(section.header, name, value)
    CORE.testbed_virtio_cut(size)
    assert "out of bounds" in str(boot())


@pytest.mark.parametrize("functions", [0, 1])
def test_section_that_just_fits(functions: int):
    make([{"vm": 0, "kind": ENTROPY}] * functions)
    CORE.testbed_virtio_cut(WHOLE if functions else TABLE)
    assert boot() is None
