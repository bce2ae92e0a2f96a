# SPDX-License-Identifier: Apache-2.0
"""
Devices shared by hardware as PCI functions (devices/virtio/hardware_io.c, devices/shared/function.c) over the devices'
RTL: their configuration space, and their interrupts. VMs 0 and 1 have a function for all their devices; VM 2 has such
devices, but no function. A model keeps what each guest has written: a VM's line is high if one of its devices raises
the interrupt, and its function does not disable it.
"""

import random
from ctypes import CFUNCTYPE, c_char_p, c_uint, c_uint64, c_void_p, memmove

import pytest
from c_headers import evaluate, values
from core import CORE, LONG, TICKS_PER_US, VM_RUNNING, VM_STOPPED, run_until_idle
from shared_devices import COPY, DONE, NAMES, RAM, UART, Client, Devices

ECAM, BARS = values("virtio_image.h", "VIRTIO_ECAM VIRTIO_BARS")
FAULT = values("testbed_virtio.h", "TESTBED_VIRTIO_FAULT")[0]
PAGES = 0x18200000
ONES = 0xFFFFFFFF
COMMAND, BAR0, BAR2 = 4, 0x10, 0x18
MEMORY, MASTER, NO_INTX, PENDING = 2, 4, 0x400, 1 << 19  # in the word of command and status
WIDTHS = {1: 0, 2: 1, 4: 2}
IER, EMPTY = 4, 2  # of the UART: interrupts that are enabled; that of a transmitter that takes bytes
QUANTUM = 1000 * TICKS_PER_US
SEEDS = 300 if LONG else 5
STEPS = 150

READ, WRITE = CFUNCTYPE(c_uint64, c_uint64, c_uint), CFUNCTYPE(None, c_uint64, c_uint, c_uint64)
for name, result, arguments in (
    ("testbed_io_make", c_void_p, [c_uint] * 3),
    ("testbed_io_functions", c_void_p, [c_uint]),
    ("testbed_io_boot", c_char_p, [READ, WRITE]),
    ("testbed_virtio_load", c_uint64, [c_uint, c_uint64, c_uint]),
    ("testbed_virtio_store", c_uint, [c_uint, c_uint64, c_uint, c_uint64, c_uint]),
):
    getattr(CORE, name).restype, getattr(CORE, name).argtypes = result, arguments


class Machine:
    """The hypervisor and the devices."""

    def __init__(self, vms: int = 3, clients: int = 3) -> None:
        self.devices = Devices(rights=False)
        self.read = READ(lambda offset, size: self.devices.read(NAMES["SHARED"] + offset, size))
        self.write = WRITE(lambda offset, size, value: self.devices.write(NAMES["SHARED"] + offset, value, size))
        self.section = CORE.testbed_io_make(1, vms, clients)
        CORE.testbed_io_functions(2)

    def refusal(self) -> str | None:
        said = CORE.testbed_io_boot(self.read, self.write)
        return said.decode() if said is not None else None

    def boot(self) -> "Machine":
        assert self.refusal() is None
        for vm in range(3):
            self.open(vm)
        return self

    def open(self, vm: int) -> Client:
        """A VM that has started has its memory where the devices' test has it, and a ring of the copier."""
        client = self.devices.vms[vm]
        self.devices.open(client)
        client.set_ring(COPY, interrupt=True)
        return client

    def wants(self, vm: int, wanted: bool) -> None:
        """The UART raises the VM's interrupt, or no longer."""
        self.devices.write(self.devices.vms[vm].page(UART) + IER, EMPTY if wanted else 0, 4)

    def copy(self, vm: int) -> None:
        client = self.devices.vms[vm]
        assert client.do(COPY, 0, RAM + 64, 8, RAM).status == DONE

    def acknowledge(self, vm: int) -> None:
        self.devices.vms[vm].write(COPY, "CHANNEL_INT", 1 | 1 << 1)

    def line(self, vm: int) -> bool:
        """The devices' interrupt of the VM, after the writes that have been made."""
        self.devices.step(8)
        return bool(self.devices.interrupts >> (1 + vm) & 1)

    def settle(self) -> None:
        """Until what a VM's stop and start need is done."""
        for _ in range(20):
            self.devices.step(1000)
            CORE.testbed_advance(QUANTUM)
            run_until_idle()

    def stop(self, vm: int, again: bool) -> None:
        assert CORE.testbed_vm_stop(0, vm, again)
        self.settle()
        assert CORE.testbed_vm_state(vm) == (VM_RUNNING if again else VM_STOPPED)


@pytest.fixture
def machine() -> Machine:
    return Machine().boot()


def load(vm: int, offset: int, width: int = 4) -> int:
    return CORE.testbed_virtio_load(vm, ECAM + offset, WIDTHS[width])


def store(vm: int, offset: int, value: int, width: int = 4) -> None:
    CORE.testbed_virtio_store(vm, ECAM + offset, WIDTHS[width], value, 0)


def is_pending(vm: int) -> bool:
    return bool(load(vm, COMMAND) & PENDING)


def seen(machine: Machine, vm: int) -> tuple[bool, bool]:
    return machine.line(vm), is_pending(vm)


@pytest.mark.usefixtures("machine")
def test_configuration_space():
    """Ids, class, pages; the BAR is where they are, and does not move; no capabilities, and no second BAR without
    memory."""
    for vm in range(2):
        assert load(vm, 0) == 0x10F11AF4
        assert load(vm, 8) == 0x08800001
        assert load(vm, 0x2C) == 0x1AF4 | 0xFF << 16
        assert (load(vm, 0x34), load(vm, 0x3D, 1), load(vm, COMMAND) >> 16) == (0, 1, 0)
        for value, found in ((ONES, ONES - 0x7FFF), (0x50000000, PAGES), (0, PAGES)):
            store(vm, BAR0, value)
            store(vm, BAR2, value)
            assert (load(vm, BAR0), load(vm, BAR2), load(vm, BAR2 + 4)) == (found, 0, 0)
        assert load(vm, 0x8000) == ONES
    assert CORE.testbed_virtio_load(2, ECAM, 2) == FAULT


@pytest.mark.usefixtures("machine")
def test_the_place_of_bar_0_of_other_functions_is_empty():
    store(0, COMMAND, MEMORY)
    for offset in (0, 4, 12, 0x14, 0x1000, 0x2000, 0x3000):
        for width in WIDTHS.values():
            CORE.testbed_virtio_store(0, BARS + offset, width, 1, 0)
            assert CORE.testbed_virtio_load(0, BARS + offset, width) == 0


def test_vm_without_shared_devices():
    assert Machine(3, 1).refusal() == "the image has a PCI function of shared devices that its VM does not have"


@pytest.mark.parametrize("pages", [0x18201000, 0x18204000, 0x118200000])
def test_pages_that_cannot_be_a_bar(pages):
    machine = Machine()
    places = (
        "sizeof(struct shared_image)",
        "sizeof(struct shared_image_client)",
        "offsetof(struct shared_image_client, gpa)",
    )
    header, client, gpa = evaluate(["shared_image.h", "stddef.h"], list(places)).values()
    memmove(machine.section + header + client + gpa, pages.to_bytes(8, "little"), 8)
    assert machine.refusal() == "the pages of a VM's shared devices cannot be a BAR"


def test_interrupt_status_and_disable(machine):
    """The status tells of an interrupt also while it is disabled."""
    assert seen(machine, 0) == (False, False)
    machine.wants(0, True)
    assert seen(machine, 0) == (True, True)
    store(0, COMMAND, NO_INTX, 2)
    assert seen(machine, 0) == (False, True)
    machine.wants(0, False)
    assert seen(machine, 0) == (False, False)
    machine.wants(0, True)
    assert seen(machine, 0) == (False, True)
    store(0, COMMAND, 0, 2)
    assert seen(machine, 0) == (True, True)


def test_interrupt_of_a_completion_is_not_lost(machine):
    store(0, COMMAND + 1, NO_INTX >> 8, 1)
    machine.copy(0)
    assert seen(machine, 0) == (False, True)
    store(0, COMMAND + 1, 0, 1)
    assert seen(machine, 0) == (True, True)
    machine.acknowledge(0)
    assert seen(machine, 0) == (False, False)


def test_other_vms_are_not_affected(machine):
    for vm in range(3):
        machine.wants(vm, True)
    store(0, COMMAND, NO_INTX, 2)
    assert [machine.line(vm) for vm in range(3)] == [False, True, True]
    store(1, COMMAND, NO_INTX, 2)
    machine.wants(1, False)
    assert [machine.line(vm) for vm in range(3)] == [False, False, True]
    assert [is_pending(vm) for vm in range(2)] == [True, False]


@pytest.mark.parametrize("again", [True, False])
def test_restart_enables_the_interrupt(machine, again):
    """Also if it is disabled and pending when the VM ends, and in each further life."""
    for _ in range(2):
        store(0, COMMAND, NO_INTX | MASTER, 2)
        machine.copy(0)
        machine.wants(0, True)
        machine.stop(0, again)
        if not again:
            assert not machine.line(0)
            assert CORE.testbed_vm_start(0, 0)
            machine.settle()
        assert load(0, COMMAND) == 0
        assert seen(machine, 0) == (False, False)
        machine.open(0)
        machine.copy(0)
        assert seen(machine, 0) == (True, True)


class Model:
    """What guests have written, and what has come of their requests."""

    def __init__(self, machine: Machine, chance: random.Random):
        self.machine, self.chance = machine, chance
        self.uart, self.copied, self.disabled = [False] * 3, [False] * 3, [False] * 3

    def check(self) -> None:
        wanted = [uart or copied for uart, copied in zip(self.uart, self.copied, strict=True)]
        enabled = [wants and not off for wants, off in zip(wanted, self.disabled, strict=True)]
        assert [self.machine.line(vm) for vm in range(3)] == enabled
        assert [is_pending(vm) for vm in range(2)] == wanted[:2]

    def step(self) -> None:
        vm, kind = self.chance.randrange(3), self.chance.randrange(5)
        if kind == 0:
            self.uart[vm] = self.chance.random() < 0.5
            self.machine.wants(vm, self.uart[vm])
        elif kind < 3:
            self.copied[vm] = kind == 1
            (self.machine.copy if self.copied[vm] else self.machine.acknowledge)(vm)
        elif vm < 2:
            (self.command if kind == 3 else self.any_register)(vm)

    def command(self, vm: int) -> None:
        self.disabled[vm] = self.chance.random() < 0.5
        offset, width, value = self.chance.choice(((COMMAND, 2, NO_INTX), (COMMAND + 1, 1, NO_INTX >> 8)))
        store(vm, offset, value if self.disabled[vm] else 0, width)

    def any_register(self, vm: int) -> None:
        offset, width = self.chance.choice(((0, 4), (6, 2), (8, 4), (BAR0, 4), (BAR2, 2), (0x3C, 1), (0x40, 4)))
        store(vm, offset, self.chance.choice((0, ONES, self.chance.getrandbits(32))), width)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_accesses(machine, seed):
    model = Model(machine, random.Random(seed))
    for _ in range(STEPS):
        model.step()
        model.check()
