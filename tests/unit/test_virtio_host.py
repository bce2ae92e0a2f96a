# SPDX-License-Identifier: Apache-2.0
"""Functions of the machine's PCI bus: a model of one is behind the registers that the hypervisor accesses."""

import ctypes
import struct
from ctypes import CFUNCTYPE, c_uint, c_uint64, c_void_p

import pytest
from c_headers import values
from core import CORE
from virtio import ECAM, ENTROPY, IRQ, boot, make, restart

READ = CFUNCTYPE(c_uint64, c_uint64, c_uint)
STORE = CFUNCTYPE(None, c_uint64, c_uint, c_uint64)
POLL = CFUNCTYPE(None)
HOST = 0x112
CONFIG, WINDOW, VM_WINDOW = 0x30008000, 0x40000000, 0x41000000
COMMAND, BAR0, CAPABILITIES, INTERRUPT = 0x04, 0x10, 0x34, 0x3C
MEMORY, MASTER, INTX_DISABLE = 2, 4, 0x400
ONES = 0xFFFFFFFF
TICKS_PER_US, IO_BASE, FUNCTIONS = values(
    "testbed.h testbed_io.h virtio_image.h", "TESTBED_TICKS_PER_US TESTBED_IO_BASE VIRTIO_MAX_HOST_FUNCTIONS"
)
FLR_TICKS = 100_000 * TICKS_PER_US
PREFETCHABLE_64, IO = 0xC, 1
VENDOR, MSI, EXPRESS, MSIX = 0x09, 0x05, 0x10, 0x11
CORE.testbed_io_page.restype, CORE.testbed_io_page.argtypes = c_uint64, (c_uint, c_uint64)


class _Registers(ctypes.Structure):
    _fields_ = (("read", c_void_p), ("write", c_void_p))


class Function:
    """A function of the machine: configuration space, and the status of a virtio device in BAR 4."""

    def __init__(self, bars: dict[int, tuple[int, int]], capabilities: list[bytes], vendor: int = 0x8086) -> None:
        self.space = bytearray(256)
        struct.pack_into("<HH", self.space, 0, vendor, 0x1041)
        self.space[INTERRUPT + 1] = 1
        self.sizes = bars
        for number, (size, flags) in bars.items():  # as firmware has left them
            struct.pack_into("<I", self.space, BAR0 + 4 * number, 0x60000000 & ~(size - 1) | flags)
        self.reset_bars = bytes(self.space[BAR0 : BAR0 + 24])
        self.stopping = False
        self.writes: list[tuple[int, int]] = []
        self.times: list[int] = []  # of the writes
        self.wrong: list[str] = []  # accesses that the hypervisor must not do
        self.status, self.status_at, self.deaf = 0xF, None, False
        at, link = 0x40, CAPABILITIES
        for body in capabilities:
            self.space[link] = at
            self.space[at : at + len(body)] = body
            link, at = at + 1, at + (len(body) + 3) // 4 * 4
        if capabilities:
            self.space[COMMAND + 2] |= 0x10

    def word(self, offset: int) -> int:
        return struct.unpack_from("<I", self.space, offset)[0]

    def read(self, at: int, size: int) -> int:
        if at == self.status_at:
            return self.status
        if not CONFIG <= at < CONFIG + 256:
            self.wrong.append(f"read {at:#x}")
            return 0
        return int.from_bytes(self.space[at - CONFIG : at - CONFIG + size], "little")

    def write(self, at: int, size: int, value: int) -> None:
        if at == self.status_at:
            if not self.space[COMMAND] & MEMORY:
                self.wrong.append("status, not decoded")
            self.status = self.status if self.deaf else value
            return
        offset = at - CONFIG
        if size != 4 or offset not in range(0, 256, 4):
            self.wrong.append(f"write {at:#x}")
            return
        self.writes.append((offset, value))
        self.times.append(c_uint64.in_dll(CORE, "host_time").value)
        number = (offset - BAR0) // 4
        if 0 <= number < 6:
            struct.pack_into("<I", self.space, offset, self.bar(number, value))
        elif offset == COMMAND:
            self.stopping = value & INTX_DISABLE != 0
            struct.pack_into("<H", self.space, offset, value & 0xFFFF)
        elif self.space[offset - 8] == EXPRESS and value & 0x8000:
            self.space[BAR0 : BAR0 + 24] = self.reset_bars  # function-level reset
            self.space[COMMAND : COMMAND + 2] = b"\0\0"

    def bar(self, number: int, value: int) -> int:
        """What the register of a BAR holds after a write."""
        if number in self.sizes:
            size, flags = self.sizes[number]
            return value & ~(size - 1) & ONES | flags
        upper = self.sizes.get(number - 1)
        if upper and upper[1] & 4:
            return value & ~((upper[0] - 1) >> 32) & ONES
        return 0


def capability(kind: int, *rest: int) -> bytes:
    return bytes((kind, 0, *rest))


def express(flr: bool) -> bytes:
    """Its device status has bits that a write of ones would clear, and it has other abilities."""
    return struct.pack("<BBHIHH", EXPRESS, 0, 2, flr << 28 | 0x8000, 0x2810, 0xF)


def common(bar: int, offset: int) -> bytes:
    """The capability with the common configuration of a virtio device."""
    return struct.pack("<BBBBBBHII", VENDOR, 0, 16, 1, bar, 0x55, 0, offset, 0x38)


@pytest.fixture
def machine():
    """Puts a function into the machine; returns a function that boots a VM with it."""
    registers = _Registers.in_dll(CORE, "host_registers")
    polled = c_void_p.in_dll(CORE, "host_on_poll")
    kept = []
    functions: list[Function] = []

    def put(function: Function, slot: int = 0, **fields: int) -> str | None:
        callbacks = READ(function.read), STORE(function.write)
        kept.extend(callbacks)
        functions.append(function)
        registers.read, registers.write = (ctypes.cast(one, c_void_p) for one in callbacks)
        others = [{"vm": 0, "kind": ENTROPY} for _ in range(slot)]
        place = {"vm": 0, "kind": HOST, "config": CONFIG, "window": WINDOW, "irq": 33, **fields}
        make([*others, place])
        return boot()

    def advance(function: Function, ticks: int) -> None:
        """Time advances whenever the hypervisor polls while it stops the function."""
        poll = POLL(lambda: CORE.host_spend(c_uint64(ticks if function.stopping else 0)))
        kept.append(poll)
        polled.value = ctypes.cast(poll, c_void_p).value

    put.advance = advance
    yield put
    polled.value = None
    registers.read = registers.write = None
    assert not [access for function in functions for access in function.wrong]


def guest_read(offset: int, slot: int = 0) -> int:
    return CORE.testbed_virtio_load(0, ECAM + slot * 0x8000 + offset, 2)


def given(gpa: int) -> int:
    """The page that the guest has at the address, or 0."""
    offset = CORE.testbed_io_page(0, gpa)
    return (offset + IO_BASE) % (1 << 64) if offset else 0


def guest_write(offset: int, value: int, width: int = 2, slot: int = 0) -> None:
    CORE.testbed_virtio_store(0, ECAM + slot * 0x8000 + offset, width, value, 0)


BARS = {0: (0x20, IO), 1: (0x80, 0), 2: (0x20000, 0), 4: (0x4000, PREFETCHABLE_64)}
# Each BAR's offset in the window: natural alignment, whole pages.
PLACES = {1: 0x0, 2: 0x20000, 4: 0x40000}


def test_bars_have_pages_of_their_own(machine):
    function = Function(BARS, [])
    assert machine(function) is None
    flags = {number: BARS[number][1] for number in PLACES}
    for number, at in PLACES.items():
        assert function.word(BAR0 + 4 * number) == WINDOW + at | flags[number]
        assert guest_read(BAR0 + 4 * number) == VM_WINDOW + at | flags[number]
    assert guest_read(BAR0) == function.word(BAR0) & ~IO == 0, "BARs of I/O are left out"
    assert guest_read(BAR0 + 20) == function.word(BAR0 + 20) == 0
    mapped = {at: given(VM_WINDOW + at) for at in range(0, 0x50000, 0x1000)}
    pages = [0, *range(0x20000, 0x44000, 0x1000)]
    assert mapped == {at: WINDOW + at if at in pages else 0 for at in mapped}


def test_place_of_another_slot(machine):
    assert machine(Function({0: (0x1000, 0)}, []), slot=3) is None
    assert guest_read(BAR0, 3) == VM_WINDOW + 3 * 0x200000
    assert CORE.host_device_raise(c_uint(33))
    assert CORE.testbed_virtio_lines(0) == 1 << IRQ + 3


def test_sizes_of_bars(machine):
    """By the VM's own registers: the machine's keep their addresses."""
    function = Function(BARS, [])
    assert machine(function) is None
    before, function.writes = bytes(function.space), []
    guest_write(BAR0 + 8, ONES)
    assert guest_read(BAR0 + 4) == VM_WINDOW + PLACES[1]
    for number in range(6):
        guest_write(BAR0 + 4 * number, ONES)
    shown = [guest_read(BAR0 + 4 * number) for number in range(6)]
    assert shown == [0, ONES & ~0x7F, ONES & ~0x1FFFF, 0, ONES & ~0x3FFF | PREFETCHABLE_64, ONES]
    for number in range(6):
        guest_write(BAR0 + 4 * number, 0x50000000)
    assert guest_read(BAR0 + 8) == VM_WINDOW + PLACES[2]
    assert (bytes(function.space), function.writes) == (before, [])


def test_writes_have_no_effect_but_the_command(machine):
    function = Function(BARS, [capability(VENDOR, 8, *bytes(5)), express(True)])
    assert machine(function) is None
    function.writes = []
    for width in range(3):
        for offset in range(0, 0x200, 1 << width):
            if offset // 4 * 4 != COMMAND:
                guest_write(offset, 0xA5A5A5A5, width)
    guest_write(COMMAND + 2, 0xFFFF, 1)
    assert function.writes == []
    guest_write(COMMAND, 0xFF, 0)
    guest_write(COMMAND + 1, 0xFF, 0)
    assert function.writes == [(COMMAND, MEMORY | MASTER), (COMMAND, MEMORY | MASTER | INTX_DISABLE)]
    guest_write(COMMAND, 0xFFFF, 1)
    assert function.writes[-1] == (COMMAND, MEMORY | MASTER | INTX_DISABLE)
    assert guest_read(COMMAND) & 0xFFFF == MEMORY | MASTER | INTX_DISABLE
    guest_write(COMMAND, 0, 1)
    assert function.writes[-1] == (COMMAND, MEMORY), "memory is always decoded"
    assert guest_read(COMMAND) & 0xFFFF == 0


def chain() -> list[tuple[int, int]]:
    """The capabilities that the guest finds: offset and kind."""
    found, at = [], guest_read(CAPABILITIES) & 0xFF
    while at and len(found) < 50:
        found.append((at, guest_read(at) & 0xFF))
        at = guest_read(at) >> 8 & 0xFF
    return found


def test_capabilities_of_vendors_only(machine):
    bodies = [capability(MSI, *bytes(10)), capability(VENDOR, 12, *range(9)), express(True)]
    bodies += [capability(MSIX, *bytes(10)), capability(VENDOR, 8, *range(5))]
    assert machine(Function(BARS, bodies)) is None
    first, last = 0x4C, 0x4C + 12 + 12 + 12
    assert chain() == [(first, VENDOR), (last, VENDOR)]
    assert guest_read(COMMAND) >> 20 & 1
    assert guest_read(first + 4) == 0x04030201
    assert guest_read(first + 8) == 0x08070605
    assert [guest_read(at) for at in (0x28, 0x40, 0x44, 0x48, first + 12, last + 8, 0x100, 0xFFC)] == [0] * 8


def test_lengths_of_capabilities(machine):
    """At least the head, at most up to the end of the configuration space."""
    function = Function(BARS, [capability(VENDOR, 3, 0), capability(VENDOR, 4, 0)])
    function.space[0x45] = 0xFC
    function.space[0xFC:] = capability(VENDOR, 4, 0)
    assert machine(function) is None
    assert chain() == [(0x44, VENDOR), (0xFC, VENDOR)]


@pytest.mark.parametrize(("there", "seen"), [(1, 1), (9, 8)])
def test_number_of_capabilities(machine, there, seen):
    assert machine(Function(BARS, [capability(VENDOR, 4, 0)] * there)) is None
    assert chain() == [(0x40 + 4 * number, VENDOR) for number in range(seen)]
    assert guest_read(0x80) == 0


def test_a_pointer_without_capabilities(machine):
    """The status says whether there are any; the pointer is a multiple of 4."""
    function = Function(BARS, [capability(VENDOR, 4, 0)])
    function.space[CAPABILITIES : CAPABILITIES + 2] = b"\x43\xff"
    assert machine(function) is None
    assert chain() == [(0x40, VENDOR)]
    function.space[COMMAND + 2] = 0
    assert machine(function) is None
    assert chain() == []


def test_no_capabilities(machine):
    assert machine(Function(BARS, [capability(MSI, *bytes(10))])) is None
    assert guest_read(CAPABILITIES) == 0
    assert guest_read(COMMAND) >> 20 & 1 == 0


@pytest.mark.parametrize("following", [0x40, 0x44, 0xFF, 0x2C])
def test_chain_that_does_not_end(machine, following):
    """A loop, or the header as the next one."""
    function = Function(BARS, [capability(VENDOR, 4, 0), capability(VENDOR, 4, 0)])
    function.space[0x2C : 0x2C + 4] = capability(VENDOR, 4, 0)
    function.space[0x45] = following
    assert machine(function) is None
    assert chain() == [(0x40, VENDOR), (0x44, VENDOR)]


def test_length_behind_the_end(machine):
    function = Function(BARS, [capability(VENDOR, 255, 0)])
    assert machine(function) is None
    assert chain() == []


REFUSED = {
    "the machine does not have this PCI function": {"space": (0, b"\xff\xff\xff\xff")},
    "this PCI function is a bridge, or has no interrupt INTA": {"space": (0x0E, b"\1")},
    "the BARs of this PCI function take more than 2 MiB": {"bars": {0: (0x1000, 0), 2: (0x200000, PREFETCHABLE_64)}},
    "the interrupt of this PCI function has another owner, or does not exist": {"fields": {"irq": 64}},
    "the image has wrong addresses for this PCI function": {"fields": {"window": WINDOW + 0x1000}},
}


@pytest.mark.parametrize("wrong", REFUSED)
def test_refused(machine, wrong):
    case = REFUSED[wrong]
    function = Function(case.get("bars", BARS), [])
    at, data = case.get("space", (0, b""))
    function.space[at : at + len(data)] = data
    assert machine(function, **case.get("fields", {})) == wrong


@pytest.mark.parametrize("bars", [{0: (1 << 32, PREFETCHABLE_64)}, {0: (0x1000, 0), 1: (0x400000, 0)}])
def test_a_bar_that_is_too_large(machine, bars):
    """In the upper half of its register, or at a place that is behind the window."""
    assert machine(Function(bars, [])) == "the BARs of this PCI function take more than 2 MiB"


def test_a_bar_that_takes_the_window(machine):
    """It has space there; the host has fewer pages."""
    assert machine(Function({0: (0x200000, 0)}, [])) == "page tables are used up"


def test_the_last_bar_has_32_bits(machine):
    assert machine(Function({5: (0x1000, PREFETCHABLE_64)}, [capability(VENDOR, 4, 0)])) is None
    assert guest_read(BAR0 + 20) == VM_WINDOW | PREFETCHABLE_64
    assert chain() == [(0x40, VENDOR)]


def test_no_interrupt(machine):
    function = Function(BARS, [])
    function.space[INTERRUPT + 1] = 2
    assert machine(function) == "this PCI function is a bridge, or has no interrupt INTA"


def test_too_many_functions():
    place = {"vm": 0, "kind": HOST, "config": CONFIG, "window": WINDOW}
    space = Function({}, []).space
    read = READ(lambda at, size: int.from_bytes(space[at - CONFIG : at - CONFIG + size], "little"))
    write = STORE(lambda at, size, value: None)
    registers = _Registers.in_dll(CORE, "host_registers")
    registers.read, registers.write = (ctypes.cast(one, c_void_p) for one in (read, write))
    for count, wrong in ((FUNCTIONS, None), (FUNCTIONS + 1, "the image has too many PCI functions of the machine")):
        make([place | {"irq": 33 + number} for number in range(count)])
        assert boot() == wrong
    registers.read = registers.write = None


@pytest.mark.parametrize(
    "fields", [{"config": CONFIG + 4}, {"config": 0x80000000}, {"window": 0x80000000}, {"window": 1 << 32}]
)
def test_places_that_are_not_the_functions(machine, fields):
    assert machine(Function(BARS, []), **fields) == "the image has wrong addresses for this PCI function"


def test_firmware_has_left_it_on(machine):
    """Its DMA ends at boot, before BARs are sized."""
    function = Function(BARS, [])
    function.space[COMMAND] = MEMORY | MASTER
    assert machine(function) is None
    assert function.writes[0] == (COMMAND, INTX_DISABLE)
    assert function.word(COMMAND) & 0xFFFF == MEMORY


def restart_slowly() -> None:
    """Restarts the VM, whose stop takes many slices."""
    restart(0)
    for _ in range(300):
        CORE.testbed_advance(10_000)
        assert CORE.testbed_run_until_idle()


def test_stop_resets_by_the_function(machine):
    """DMA ends first; BARs are the same afterwards, at least 100 ms later."""
    function = Function(BARS, [express(True)])
    assert machine(function) is None
    guest_write(COMMAND, MEMORY | MASTER, 1)
    bars, function.writes = bytes(function.space[BAR0 : BAR0 + 24]), []
    function.times = []
    machine.advance(function, FLR_TICKS // 1000)
    restart_slowly()
    assert function.writes[:2] == [(COMMAND, MEMORY | INTX_DISABLE), (0x48, 0xA810)]  # 0x2810 and the reset
    assert bytes(function.space[BAR0 : BAR0 + 24]) == bars
    assert function.times[2] - function.times[1] >= FLR_TICKS
    assert function.word(COMMAND) & 0xFFFF == MEMORY
    assert guest_read(COMMAND) & 0xFFFF == 0


def test_stop_without_a_reset(machine):
    function = Function(BARS, [express(False)])
    assert machine(function) is None
    for _ in range(2):
        guest_write(COMMAND, MEMORY | MASTER, 1)
        function.writes = []
        restart(0)
        commands = [value for offset, value in function.writes if offset == COMMAND]
        assert commands == [MEMORY | INTX_DISABLE, MEMORY]


@pytest.mark.parametrize("deaf", [False, True])
def test_stop_resets_a_virtio_device(machine, deaf):
    """By its status; a device that does not answer is given up."""
    function = Function(BARS, [common(4, 0x1000), express(True)], vendor=0x1AF4)
    function.status_at = WINDOW + PLACES[4] + 0x1000 + 20
    assert machine(function) is None
    assert function.status == 0, "firmware may have used it"
    function.status, function.deaf, function.writes, function.times = 0xF, deaf, [], []
    guest_write(COMMAND, MEMORY | MASTER, 1)
    machine.advance(function, FLR_TICKS // 1000)
    restart_slowly()
    assert function.status == (0xF if deaf else 0)
    assert (function.times[2] - function.times[1] >= FLR_TICKS) == deaf
    assert not [value for offset, value in function.writes if offset == 0x50 + 8], "no function-level reset"
    assert function.word(COMMAND) & 0xFFFF == MEMORY


@pytest.mark.parametrize(("vendor", "status"), [(0x1AF4, 0), (0x8086, 0xF)])
def test_common_configuration(machine, vendor, status):
    """It is a virtio device's capability of type 1; those of other types are somewhere else."""
    notifications = struct.pack("<BBBBIII", VENDOR, 0, 16, 2, 4, 0x2000, 4)
    function = Function(BARS, [common(4, 0x1000), notifications], vendor=vendor)
    function.status_at = WINDOW + PLACES[4] + 0x1000 + 20
    assert machine(function) is None
    assert function.status == status
    assert chain() == [(0x40, VENDOR), (0x50, VENDOR)]


@pytest.mark.parametrize(("bar", "offset"), [(0, 0), (6, 0), (4, 0x4000 - 20), (4, ONES - 19), (3, 0)])
def test_status_outside_of_a_bar(machine, bar, offset):
    """Such a device is not reset by its status."""
    function = Function(BARS, [common(bar, offset)], vendor=0x1AF4)
    assert machine(function) is None  # the model notes accesses to other addresses
    restart(0)


def test_bars_of_the_virtual_bus_at_its_slot(machine):
    """What would be BAR 0 of a function of the hypervisor reads as nothing there, and a store has no effect."""
    function = Function(BARS, [])
    assert machine(function) is None
    guest_write(COMMAND, MEMORY | MASTER, 1)
    function.writes = []
    for offset in (0, 20, 0x1000, 0x2000, 0x3000):
        assert CORE.testbed_virtio_load(0, 0x40000000 + offset, 2) == ONES
        assert CORE.testbed_virtio_store(0, 0x40000000 + offset, 2, ONES, 0) == 0
    assert function.writes == []


def test_what_the_guest_sees_of_the_machine(machine):
    """Vendor and device are the function's, the interrupt is the virtual INTA."""
    function = Function(BARS, [])
    function.space[INTERRUPT] = 0x77
    assert machine(function) is None
    assert guest_read(0) == 0x1041_8086
    assert guest_read(INTERRUPT) == 0x100


def test_machine_without_the_function():
    """What the host's model says of addresses at which it has nothing."""
    make([{"vm": 0, "kind": HOST, "config": CONFIG, "window": WINDOW, "irq": 33}])
    assert boot() == "page tables are used up"
