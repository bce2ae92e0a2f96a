# SPDX-License-Identifier: Apache-2.0
"""
Accelerators as PCI functions (devices/virtio/accelerator.c, devices/accel/function.c) over the fabric's RTL: their
configuration space, and their interrupts. VMs 0 and 1 have a function for each device. A model keeps what each guest
has written: a VM's line is high if one of its devices has a job that is over, enables the interrupt for that, and its
function does not disable it.
"""

import random
from collections.abc import Iterator
from ctypes import c_bool, c_uint, c_uint32, c_uint64

import pytest
from c_headers import values
from core import CORE, LONG
from test_manager import (
    DEVICES,
    DONE,
    FABRIC,
    FAULT,
    HOLD,
    INT_CTRL,
    IS_OVER,
    OVER,
    STAT,
    Machine,
    started,
)

ECAM, BARS, BAR_SIZE = values("virtio_image.h", "VIRTIO_ECAM VIRTIO_BARS VIRTIO_BAR_SIZE")
PAGES = values("accel_abi.h", "ACCEL_PAGES")[0]
SEEDS = 300 if LONG else 10
STEPS = 150
ONES = 0xFFFFFFFF
COMMAND, BAR0, BAR2 = 4, 0x10, 0x18
MEMORY, MASTER, NO_INTX, PENDING = 2, 4, 0x400, 1 << 19  # in the word of command and status
WIDTHS = {1: 0, 2: 1, 4: 2}

for name, result, arguments in (
    ("testbed_accel_functions", None, [c_bool]),
    ("testbed_virtio_load", c_uint64, [c_uint, c_uint64, c_uint]),
    ("testbed_virtio_store", c_uint, [c_uint, c_uint64, c_uint, c_uint64, c_uint]),
    ("testbed_virtio_lines", c_uint32, [c_uint]),
):
    getattr(CORE, name).restype, getattr(CORE, name).argtypes = result, arguments


@pytest.fixture
def machine() -> Iterator[Machine]:
    CORE.testbed_accel_functions(True)
    yield Machine(3, [1, 1, 1])
    CORE.testbed_accel_functions(False)


def load(vm: int, device: int, offset: int, width: int = 4) -> int:
    return CORE.testbed_virtio_load(vm, ECAM + device * 0x8000 + offset, WIDTHS[width])


def store(vm: int, device: int, offset: int, value: int, width: int = 4) -> None:
    CORE.testbed_virtio_store(vm, ECAM + device * 0x8000 + offset, WIDTHS[width], value, 0)


def line(vm: int) -> bool:
    """The fabric's interrupt of the VM, after the writes that have been made."""
    FABRIC.fabric_step(4)
    return bool(FABRIC.fabric_interrupts() >> (1 + vm) & 1)


def is_pending(vm: int, device: int) -> bool:
    return bool(load(vm, device, COMMAND) & PENDING)


def put(vm: int, device: int, offset: int, value: int) -> None:
    assert CORE.testbed_accel_store(vm, device, offset, value) == DONE


def over(machine: Machine, vm: int, device: int, control: int, fails: bool = False) -> None:
    """A job of the device is over, with this value of INT_CTRL."""
    guest = started(machine, vm, device, 64, *((0,) if fails else ()))
    for _ in range(100):
        machine.pass_time(HOLD)
        machine.settle()
        if guest.is_over():
            put(vm, device, INT_CTRL, control)
            return
    raise AssertionError("the job does not end")


@pytest.mark.usefixtures("machine")
def test_configuration_space():
    """Ids, class, task; the BAR is the page, and does not move; no capabilities, and no second BAR without memory."""
    for device in range(DEVICES):
        assert load(0, device, 0) == 0x10F01AF4
        assert load(0, device, 8) == 0x12000001
        assert load(0, device, 0x2C) == 0x1AF4 | (device + 1) << 16
        assert (load(0, device, 0x34), load(0, device, 0x3D, 1), load(0, device, COMMAND) >> 16) == (0, 1, 0)
        for value, found in ((ONES, ONES - 0xFFF), (0x50000000, PAGES + device * 0x1000), (0, PAGES + device * 0x1000)):
            store(0, device, BAR0, value)
            store(0, device, BAR2, value)
            assert (load(0, device, BAR0), load(0, device, BAR2), load(0, device, BAR2 + 4)) == (found, 0, 0)
    assert load(0, DEVICES, 0) == ONES
    assert load(1, 0, 0) == 0x10F01AF4


@pytest.mark.usefixtures("machine")
def test_a_vm_without_functions_has_no_bus():
    assert CORE.testbed_virtio_load(2, ECAM, 2) == values("testbed_virtio.h", "TESTBED_VIRTIO_FAULT")[0]


@pytest.mark.usefixtures("machine")
def test_the_place_of_bar_0_of_other_functions_is_empty():
    for offset in (0, 4, 12, 0x14, 0x1000, 0x2000, 0x3000):
        place = BARS + offset
        store(0, 0, COMMAND, MEMORY)
        for width in (1, 2, 4):
            CORE.testbed_virtio_store(0, place, WIDTHS[width], 1, 0)
            assert CORE.testbed_virtio_load(0, place, WIDTHS[width]) == 0


@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize(
    ("writes", "command"),
    [
        ([(4, 4, ONES)], MEMORY | MASTER | NO_INTX),
        ([(4, 2, 0x406)], MEMORY | MASTER | NO_INTX),
        ([(5, 1, 4)], NO_INTX),
        ([(4, 1, 6)], MEMORY | MASTER),
        ([(4, 2, 0x406), (5, 1, 0)], MEMORY | MASTER),
        ([(4, 2, 0x406), (4, 1, 0)], NO_INTX),
        ([(6, 2, ONES)], 0),
        ([(7, 1, 0xFF)], 0),
    ],
)
def test_command_register_by_parts(writes, command):
    """As the bytes of the register are written by drivers: byte 5 has "interrupt disable"."""
    for offset, width, value in writes:
        store(0, 3, offset, value, width)
    assert load(0, 3, COMMAND) == command


@pytest.mark.parametrize("fails", [False, True])
def test_interrupt_status_and_disable(machine, fails):
    """The status tells of an interrupt also while it is disabled; it is that of the enabled cause."""
    over(machine, 0, 2, 0, fails)
    mine, others = (2, 1) if fails else (1, 2)
    assert (line(0), is_pending(0, 2)) == (False, False)
    put(0, 2, INT_CTRL, others)
    assert (line(0), is_pending(0, 2)) == (False, False)
    put(0, 2, INT_CTRL, mine)
    assert (line(0), is_pending(0, 2)) == (True, True)
    store(0, 2, COMMAND, NO_INTX, 2)
    assert (line(0), is_pending(0, 2)) == (False, True)
    assert CORE.testbed_accel_load(0, 2, INT_CTRL) == mine, "the guest's register does not change"
    store(0, 2, COMMAND, 0, 2)
    assert (line(0), is_pending(0, 2)) == (True, True)
    put(0, 2, OVER, 1)
    assert (line(0), is_pending(0, 2)) == (False, False)
    assert CORE.testbed_virtio_lines(0) >> 24 == 0, "no source of another function"


def test_disabled_device_does_not_hide_another_one(machine):
    over(machine, 0, 0, 1)
    store(0, 0, COMMAND, NO_INTX, 2)
    assert not line(0)
    over(machine, 0, 1, 1)
    assert line(0)
    assert [is_pending(0, device) for device in range(3)] == [True, True, False]
    store(0, 1, COMMAND, NO_INTX, 2)
    assert not line(0)


def test_devices_of_other_vms_are_not_seen(machine):
    over(machine, 1, 0, 1)
    assert (line(1), is_pending(1, 0)) == (True, True)
    assert (line(0), is_pending(0, 0)) == (False, False)
    store(0, 0, COMMAND, NO_INTX, 2)
    assert line(1), "VM 0 has disabled the interrupt of VM 1"


def test_restart_enables_the_interrupt(machine):
    store(0, 0, COMMAND, NO_INTX, 2)
    assert CORE.testbed_vm_stop(0, 0, True)
    machine.settle()
    assert CORE.testbed_vm_starts(0) == 2
    assert load(0, 0, COMMAND) == 0
    over(machine, 0, 0, 1)
    assert line(0)


class Model:
    """What guests have written, and what has come of their jobs."""

    def __init__(self, machine: Machine, chance: random.Random):
        self.machine, self.chance = machine, chance
        self.disabled = {(vm, device): False for vm in range(2) for device in range(DEVICES)}

    def wants(self, vm: int, device: int) -> bool:
        stat, control = (CORE.testbed_accel_load(vm, device, offset) for offset in (STAT, INT_CTRL))
        return bool(stat >> IS_OVER & 1 and control & (2 if stat >> FAULT & 7 else 1))

    def check(self) -> None:
        for vm in range(2):
            wanted = [self.wants(vm, device) for device in range(DEVICES)]
            assert [is_pending(vm, device) for device in range(DEVICES)] == wanted
            assert line(vm) == any(wants and not self.disabled[vm, at] for at, wants in enumerate(wanted))

    def step(self) -> None:
        vm, device = self.chance.randrange(2), self.chance.randrange(DEVICES)
        kind = self.chance.randrange(5)
        if kind == 0:
            over(self.machine, vm, device, self.chance.randrange(4), self.chance.random() < 0.3)
        elif kind == 1:
            put(vm, device, self.chance.choice((OVER, INT_CTRL)), self.chance.randrange(4))
        elif kind < 4:
            self.command(vm, device)
        else:
            offset, width = self.chance.choice(((0, 4), (6, 2), (8, 4), (BAR0, 4), (BAR2, 2), (0x3C, 1), (0x40, 4)))
            store(vm, device, offset, self.chance.choice((0, ONES, self.chance.getrandbits(32))), width)

    def command(self, vm: int, device: int) -> None:
        value, (offset, width) = self.chance.getrandbits(32), self.chance.choice(((4, 4), (4, 2), (4, 1), (5, 1)))
        store(vm, device, offset, value & (1 << 8 * width) - 1, width)
        written = value << 8 * (offset - COMMAND)
        if (offset, width) != (4, 1):
            self.disabled[vm, device] = bool(written & NO_INTX)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_guests(machine, seed):
    """Also after each restart of a VM, whose functions are as after power-on."""
    model = Model(machine, random.Random(seed))
    for step in range(STEPS // 5):
        model.step()
        model.check()
        if step % 20 == 19:
            assert CORE.testbed_vm_stop(0, 0, True)
            machine.settle()
            model.disabled |= {(0, device): False for device in range(DEVICES)}
            model.check()
