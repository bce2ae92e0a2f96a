# SPDX-License-Identifier: Apache-2.0
"""
Shared devices under the hypervisor (shared), over a model of their registers that records what is written: what each
VM gets, sections that are refused, the life of a VM, interrupts and what is reported.
"""

import ctypes
from ctypes import CFUNCTYPE, c_bool, c_char_p, c_uint, c_uint64, c_void_p

import pytest
from c_headers import evaluate, values
from core import CORE, DMA, MMIO, SHARED, TICKS_PER_US, VM_RUNNING, VM_STOPPED, VM_STOPPING, lines, run_until_idle

BASE, IRQ, VM_IRQ, GUEST_IRQ = values(
    "testbed_io.h", "TESTBED_IO_BASE TESTBED_IO_IRQ TESTBED_IO_VM_IRQ TESTBED_IO_GUEST_IRQ"
)
CLIENTS, CHANNELS, DEVICES = values("shared_image.h", "SHARED_MAX_CLIENTS SHARED_CHANNELS SHARED_DEVICES")
UART, FLASH, DISPLAY, GPIO, SPI = values(
    "shared_image.h", "SHARED_UART SHARED_FLASH SHARED_DISPLAY SHARED_GPIO SHARED_SPI"
)
(GPA_LIMIT,) = values("arch_types.h", "ARCH_GPA_LIMIT")
MANAGER, WINDOWS, PAGES, PAGE = values(
    "fabric_map.h", "FABRIC_SHARED FABRIC_SHARED_WINDOWS FABRIC_SHARED_PAGES FABRIC_SHARED_PAGE_STRIDE"
)
VM_WINDOWS, WINDOW = values("fabric_map.h", "FABRIC_VM_WINDOWS_STRIDE FABRIC_WINDOW_STRIDE")
GUEST, SIZE, HOST = values("fabric_map.h", "FABRIC_WINDOW_GUEST FABRIC_WINDOW_SIZE FABRIC_WINDOW_HOST")
GPA, RAM = values("testbed.h", "TESTBED_GPA TESTBED_VM_RAM")
NAMES = (
    *(
        "ID",
        "PARAMS",
        "IRQ_STATUS",
        "IRQ_ENABLE",
        "FAULT",
        "FAULT_ADDR",
        "LOST",
        "BUSY",
        "FLUSH",
        "ALLOW",
        "BUDGET",
        "ARBITER",
    ),
    *("TIMEOUT", "PERIOD", "FLASH", "FLASH_WINDOW", "ETHERNET_MAC", "ETHERNET_SET", "PINS"),
    *("SCREEN", "SCREEN_H", "SCREEN_V", "SCREEN_RECT", "SCREEN_SET", "UART"),
)
REGISTERS = dict(zip(NAMES, values("fabric_map.h", " ".join(f"FABRIC_SHARED_{name}" for name in NAMES)), strict=True))
# Of a VM's page for the display, by offset.
SCREEN_PAGE = dict(
    zip(values("fabric_map.h", "FABRIC_SCREEN_BASE FABRIC_SCREEN_FORMAT"), ("BASE", "FORMAT"), strict=True)
)
PER_CHANNEL = ("ARBITER", "TIMEOUT", "PERIOD")
MAGIC = 0x5453494F
FAULT, LOST = 1, 2
QUIET = 100_000 * TICKS_PER_US
QUANTUM = 1000 * TICKS_PER_US
SHARED_GPA = 0x18200000
FRAMEBUFFER = 0x80100000

READ, WRITE = CFUNCTYPE(c_uint64, c_uint64, c_uint), CFUNCTYPE(None, c_uint64, c_uint, c_uint64)
_SIGNATURES = {
    "testbed_io_make": (c_void_p, [c_uint] * 3),
    "testbed_io_region": (None, [c_uint, c_uint, c_uint64, c_uint64]),
    "testbed_io_cut": (None, [c_uint]),
    "testbed_io_boot": (c_char_p, [READ, WRITE]),
    "testbed_io_page": (c_uint64, [c_uint, c_uint64]),
    "testbed_io_raise": (c_bool, [c_uint]),
    "testbed_io_interrupt": (None, []),
}
for _name, (_result, _arguments) in _SIGNATURES.items():
    getattr(CORE, _name).restype = _result
    getattr(CORE, _name).argtypes = _arguments

_HEADER = [
    "base",
    "clock_hz",
    "vm_irq",
    "devices",
    "nclients",
    "clients_offset",
    "flash_half",
    "flash_deselect",
    "flash_slice",
]
_HEADER += [
    f"channels[3].{name}" for name in ("policy", "period_cycles", "chunk_cycles", "least_cycles", "wait_cycles")
]
_HEADER += ["channels[1].policy", "channels[1].size", "pixel_cycles", "burst_cycles", "on_request"]
_HEADER += ["uart_divider", "uart_flush", "uart_mode", "uart_focus"]
_CLIENT = ["vm", "guest_irq", "devices", "flash_first", "flash_sectors", "pins", "mac", "ethernet", "vlan", "gpa"]
_CLIENT += ["priority[2]", "priority[3]", "budget[3]", "rect.width", "framebuffer"]
_PLACES = [f"shared_image, {name}" for name in _HEADER] + [f"shared_image_client, {name}" for name in _CLIENT]
_BYTES = dict.fromkeys(("base", "clock_hz", "mac", "gpa", "framebuffer"), 8)
_BYTES |= dict.fromkeys(("pixel_cycles", "burst_cycles", "rect.width"), 2)  # others have 4


def _evaluated(text: str) -> list[int]:
    return list(evaluate(["shared_image.h", "stddef.h"], [text.replace("@", place) for place in _PLACES]).values())


# Offset and size of each field.
FIELDS = {
    place.replace(", ", "."): field
    for place, *field in zip(
        _PLACES,
        _evaluated("offsetof(struct @)"),
        [_BYTES.get(name, 4) for name in _HEADER + _CLIENT],
        strict=True,
    )
}
SIZES = evaluate(["shared_image.h"], ["sizeof(struct shared_image)", "sizeof(struct shared_image_client)"])
HEADER_SIZE, CLIENT_SIZE = SIZES.values()


def settle() -> None:
    """Until what a VM's stop and start need is done, in its slices beside those of other VMs."""
    for _ in range(20):
        CORE.testbed_advance(QUANTUM)
        run_until_idle()


class Hardware:
    """The registers: those that only hold what is written, and those of which writes are commands."""

    def __init__(self) -> None:
        self.plain = {"ID": MAGIC, "PARAMS": CLIENTS | 8 << 8 | 4 << 16 | 32 << 24 | 0xFF << 32, "BUSY": 0}
        self.plain |= {"IRQ_STATUS": 0, "IRQ_ENABLE": 0, "FAULT": 0, "FAULT_ADDR": 0, "LOST": 0}
        self.writes: list[tuple[str, int]] = []
        self.windows: dict[tuple[int, int], dict[int, int]] = {}
        self.busy_reads = 0  # further reads of BUSY that see 1 for all VMs
        self.read, self.write = READ(self._read), WRITE(self._write)

    def _read(self, offset: int, size: int) -> int:
        assert size == 8
        name = next(name for name in self.plain if REGISTERS[name] == offset)
        if name == "BUSY" and self.busy_reads:
            self.busy_reads -= 1
            return 0xFFFF
        return self.plain[name]

    def _write(self, offset: int, size: int, value: int) -> None:
        assert size == 8
        if offset >= PAGES - MANAGER:
            self._write_page(offset - (PAGES - MANAGER), value)
        elif offset >= WINDOWS - MANAGER:
            self._write_window(offset - (WINDOWS - MANAGER), value)
        elif offset == REGISTERS["IRQ_STATUS"]:
            self.plain["IRQ_STATUS"] &= ~value
        elif offset == REGISTERS["IRQ_ENABLE"]:
            self.plain["IRQ_ENABLE"] = value
        else:
            self.writes.append((self._name(offset), value))

    def _write_page(self, offset: int, value: int) -> None:
        """Of the VMs' pages, the hypervisor writes those of the display only."""
        page, register = divmod(offset, PAGE)
        vm, device = divmod(page, 16)
        assert device == DISPLAY
        self.writes.append((f"{SCREEN_PAGE[register]} of {vm}", value))

    def _write_window(self, offset: int, value: int) -> None:
        vm, rest = divmod(offset, VM_WINDOWS)
        number, register = divmod(rest, WINDOW)
        window = self.windows.setdefault((vm, number), {})
        window[register] = value
        self.writes.append((f"window {register}", vm))

    @staticmethod
    def _name(offset: int) -> str:
        for name, register in REGISTERS.items():
            index = (offset - register) // 8
            if offset == register:
                return name
            if name in PER_CHANNEL and 0 < index < CHANNELS:
                return f"{name}{index}"
        raise AssertionError(f"a write to 0x{offset:x}, where no register can be written")

    def last(self, name: str, mask: int, key: int) -> int | None:
        """The last value written to the register with these bits, or None."""
        found = [value for register, value in self.writes if register == name and value & mask == key]
        return found[-1] if found else None

    def is_open(self, vm: int) -> bool:
        return any(self.windows.get((vm, number), {}).get(SIZE, 0) for number in range(4))

    def interrupts(self) -> bool:
        return self.plain["IRQ_STATUS"] & self.plain["IRQ_ENABLE"] != 0


class Machine:
    """An image that the test may change, then a system booted from it."""

    def __init__(self, vms: int = 2, clients: int | None = None, cpus: int = 1):
        self.hardware = Hardware()
        self.vms, self.clients = vms, vms if clients is None else clients
        self.section = CORE.testbed_io_make(cpus, vms, self.clients)

    def put(self, field: str, value: int, client: int = 0) -> None:
        """Changes a field of the section."""
        offset, size = FIELDS[field]
        if field.startswith("shared_image_client"):
            offset += HEADER_SIZE + client * CLIENT_SIZE
        ctypes.memmove(self.section + offset, value.to_bytes(size, "little"), size)

    def refusal(self) -> str | None:
        said = CORE.testbed_io_boot(self.hardware.read, self.hardware.write)
        return said.decode() if said is not None else None

    def boot(self) -> "Machine":
        assert self.refusal() is None
        lines()
        return self

    def interrupt(self) -> int:
        """Handles the interrupt to the manager while it is high; returns how often."""
        times = 0
        while self.hardware.interrupts():
            CORE.testbed_io_interrupt()
            times += 1
            assert times <= CLIENTS
        return times

    def event(self, bits: int) -> list[str]:
        """The hypervisor's lines after an event of the hardware."""
        self.hardware.plain["IRQ_STATUS"] |= bits
        self.interrupt()
        return lines()

    def later(self) -> list[str]:
        """The same after the time without reports."""
        CORE.testbed_advance(QUIET + TICKS_PER_US)
        run_until_idle()
        return self.event(0)


@pytest.fixture
def machine() -> Machine:
    return Machine().boot()


def follow(hardware: Hardware, *writes: tuple[str, int]) -> bool:
    """Whether these writes follow each other."""
    at = hardware.writes.index(writes[0])
    return hardware.writes[at : at + len(writes)] == list(writes)


def test_vms_get_what_the_section_says() -> None:
    hardware = Machine(3).boot().hardware
    for vm in range(3):
        for device in range(DEVICES):
            index = device - FLASH if device != SPI else 0  # its requests are the flash's
            priority = (vm + index) & 15 if 0 <= index < CHANNELS else 0
            name = vm | device << 4
            assert hardware.last("ALLOW", 0xFF, name) == name | 1 << 8 | priority << 12
            budget = name | (1000 * vm + index) << 32 if 0 <= device - FLASH < CHANNELS else None
            assert hardware.last("BUDGET", 0xFF, name) == budget
        assert hardware.last("FLASH_WINDOW", 0xF, vm) == vm | 8 * vm << 8 | 8 << 16
        assert hardware.last("PINS", 0xF, vm) == vm | 3 << 2 * vm + 32
        rect = 10 * vm | 20 << 16 | 5 + vm << 32 | 30 << 48
        assert follow(hardware, ("SCREEN_RECT", rect), ("SCREEN_SET", vm | 1 << 4))
        flags = 1 << 4 | (vm & 1) << 5 | (vm >> 1 & 1) << 6
        assert follow(hardware, ("ETHERNET_MAC", 0x020000000001 + vm), ("ETHERNET_SET", vm | flags | 100 + vm << 16))


def test_devices_are_set(machine: Machine) -> None:
    written = dict(machine.hardware.writes)
    for index in range(CHANNELS):
        suffix = str(index) if index else ""
        assert written[f"ARBITER{suffix}"] == index % 3 | 7 + index << 8
        assert written[f"TIMEOUT{suffix}"] == 10000 + index
        assert written[f"PERIOD{suffix}"] == 20000 + index
    assert written["FLASH"] == 2 | 10 << 8 | 100000 << 32
    assert written["UART"] == 868 | 1 << 16 | 1 << 20 | 287 << 32


def test_the_mode_of_the_screen_changes_while_it_is_disabled(machine: Machine) -> None:
    assert follow(
        machine.hardware,
        ("SCREEN", 0),
        ("SCREEN_H", 320 | 48 << 16 | 32 << 32 | 80 << 48),
        ("SCREEN_V", 240 | 3 << 16 | 4 << 32 | 6 << 48),
        ("SCREEN", 1 | 1 << 1 | 4 << 8 | 144 << 16),
    )
    assert [value & 1 for name, value in machine.hardware.writes if name == "SCREEN"] == [0, 1]


def test_other_vms_of_the_hardware_have_no_rights() -> None:
    hardware = Machine(3, 1).boot().hardware
    for vm in range(1, CLIENTS):
        for device in range(DEVICES):
            assert hardware.last("ALLOW", 0xFF, vm | device << 4) == vm | device << 4
            budget = vm | device << 4 if 0 <= device - FLASH < CHANNELS else None
            assert hardware.last("BUDGET", 0xFF, vm | device << 4) == budget
        assert sum(name == "BUDGET" and value & 0xF == vm for name, value in hardware.writes) == CHANNELS
        for name in ("FLUSH", "FLASH_WINDOW", "ETHERNET_SET", "SCREEN_SET", "PINS"):
            assert hardware.last(name, 0xF, vm) == vm
        assert not hardware.is_open(vm)


def test_rights_are_taken_before_any_is_given(machine: Machine) -> None:
    """The hardware may have rights of VMs from before a restart of the machine."""
    allows = [value >> 8 & 1 for name, value in machine.hardware.writes if name == "ALLOW"]
    assert allows == sorted(allows)
    assert sum(allows) == 2 * DEVICES
    assert len(allows) == (2 + CLIENTS) * DEVICES


def test_a_vm_gets_the_devices_that_it_may_use_only() -> None:
    machine = Machine(2)
    machine.put("shared_image_client.devices", 1 << FLASH | 1 << GPIO, client=1)
    hardware = machine.boot().hardware
    for device in range(DEVICES):
        name, has = 1 | device << 4, device in (FLASH, GPIO)
        assert (hardware.last("ALLOW", 0x1FF, name | 1 << 8) is not None) == has
        assert (CORE.testbed_io_page(1, SHARED_GPA + PAGE * device) != 0) == has
    assert hardware.last("ETHERNET_SET", 0xF, 1) == hardware.last("SCREEN_SET", 0xF, 1) == 1
    assert hardware.last("FLASH_WINDOW", 0xF, 1) == 1 | 8 << 8 | 8 << 16


@pytest.mark.parametrize("device", [FLASH + 1, FLASH + 2], ids=["send", "receive"])
def test_a_vm_that_uses_one_direction_of_ethernet_has_an_address(device: int) -> None:
    machine = Machine(2)
    machine.put("shared_image_client.devices", 1 << device, client=1)
    assert machine.boot().hardware.last("ETHERNET_SET", 0x1F, 1 | 1 << 4) is not None


def test_channels_that_the_system_does_not_use_are_not_set() -> None:
    machine = Machine(1)
    machine.put("shared_image.devices", 1 << FLASH)
    machine.put("shared_image_client.devices", 1 << FLASH)
    written = [name for name, _ in machine.boot().hardware.writes]
    assert [name for name in written if name.startswith("ARBITER")] == ["ARBITER"]


def test_a_vm_with_an_spi_controller_has_window_priority_and_budget_of_the_flash() -> None:
    machine = Machine(2)
    machine.put("shared_image_client.devices", 1 << SPI, client=1)
    hardware = machine.boot().hardware
    assert hardware.last("FLASH_WINDOW", 0xF, 1) == 1 | 8 << 8 | 8 << 16
    assert hardware.last("BUDGET", 0xFF, 1 | FLASH << 4) == 1 | FLASH << 4 | 1000 << 32
    assert hardware.last("ALLOW", 0xFF, 1 | FLASH << 4) == 1 | FLASH << 4 | 1 << 12
    assert hardware.last("ALLOW", 0xFF, 1 | SPI << 4) == 1 | SPI << 4 | 1 << 8 | 1 << 12
    assert CORE.testbed_io_page(1, SHARED_GPA + PAGE * FLASH) == 0
    assert CORE.testbed_io_page(1, SHARED_GPA + PAGE * SPI) != 0


def test_devices_that_the_system_does_not_use_are_not_set() -> None:
    machine = Machine(1)
    machine.put("shared_image.devices", 1 << GPIO)
    machine.put("shared_image_client.devices", 1 << GPIO)
    written = dict(machine.boot().hardware.writes)
    assert not {"FLASH", "ARBITER", "TIMEOUT1", "PERIOD2", "SCREEN", "SCREEN_RECT", "UART"} & set(written)
    assert written["FLASH_WINDOW"] == CLIENTS - 1  # of the last VM: none


def test_pages_and_interrupts_of_vms() -> None:
    Machine(3, 2).boot()
    for vm in range(3):
        for device in range(DEVICES):
            page = PAGES - MANAGER + (16 * vm + device) * PAGE
            assert CORE.testbed_io_page(vm, SHARED_GPA + PAGE * device) == (page if vm < 2 else 0)
        assert CORE.testbed_io_raise(VM_IRQ + vm) == (vm < 2)
        assert CORE.testbed_lines(vm) == (1 << GUEST_IRQ if vm < 2 else 0)


def test_client_and_vm_have_different_numbers() -> None:
    """The first client is the third VM."""
    machine = Machine(3, 1)
    machine.put("shared_image_client.vm", 2)
    hardware = machine.boot().hardware
    assert hardware.is_open(0)
    assert hardware.windows[0, 0] == {GUEST: GPA | 3, HOST: hardware.windows[0, 0][HOST], SIZE: RAM}
    assert CORE.testbed_io_page(2, SHARED_GPA) == PAGES - MANAGER
    assert CORE.testbed_io_page(0, SHARED_GPA) == 0
    assert CORE.testbed_io_raise(VM_IRQ)
    assert [CORE.testbed_lines(vm) for vm in range(3)] == [0, 0, 1 << GUEST_IRQ]


def test_windows_are_those_of_memory_and_at_most_four() -> None:
    machine = Machine(1)
    CORE.testbed_io_region(1, MMIO, 0x30000000, 0x20000000)
    shared = [(0x90000000 + number * RAM, 0x82000000 - number * RAM) for number in range(4)]
    for number, place in enumerate(shared):
        CORE.testbed_io_region(2 + number, SHARED, *place)
    hardware = machine.boot().hardware
    assert hardware.windows[0, 0][GUEST] == GPA | 3
    for number, (gpa, hpa) in enumerate(shared[:3]):
        assert hardware.windows[0, 1 + number] == {GUEST: gpa | 3, HOST: hpa, SIZE: RAM}
    assert not hardware.is_open(1)  # the place behind the fourth is the next VM's


def test_a_vm_with_memory_for_dma_has_windows_of_that_memory_only() -> None:
    """They have the memory's own address; CPUs, which clear it, use the alias that is not cached."""
    machine = Machine(1)
    CORE.testbed_io_region(1, SHARED, 0x90000000, 0x82000000)
    CORE.testbed_io_region(2, DMA, 0xA0000000, 0x82200000)
    hardware = machine.boot().hardware
    assert hardware.windows[0, 0] == {GUEST: 0xA0000000 | 3, HOST: 0x82200000, SIZE: RAM}
    assert all(not hardware.windows.get((0, number), {}).get(SIZE) for number in (1, 2, 3))


def test_pages_may_not_be_where_a_vm_has_another_device() -> None:
    machine = Machine(1)
    CORE.testbed_io_region(1, MMIO, SHARED_GPA + 0x7000 - RAM, 0x20000000)
    assert machine.refusal() == PLACE


def test_without_a_section_nothing_happens() -> None:
    machine = Machine(2)
    CORE.testbed_io_cut(0)
    machine.boot()
    assert CORE.testbed_vm_stop(0, 0, True)
    settle()
    assert CORE.testbed_vm_state(0) == VM_RUNNING
    assert machine.hardware.writes == []
    assert CORE.testbed_io_page(0, SHARED_GPA) == 0


BOUNDS = "the image's section for shared devices is out of bounds"
SETTING = "the image has a wrong setting of a shared device"
RIGHTS = "the image gives a VM what no shared device has"
VM = "the image gives shared devices to a VM that does not exist, or twice to one"
PLACE = "the pages of shared devices are where a VM has memory"
FEWER = "the hardware has fewer VMs, windows or shared devices than the board file"
NOTHING = "there are no shared devices at the address in the board file"
TAKEN = "the interrupt of a VM's shared devices is taken"


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("shared_image.base", BASE + 0x1000, BOUNDS),
        ("shared_image.nclients", CLIENTS + 1, BOUNDS),
        ("shared_image.nclients", 0xFFFFFFFF, BOUNDS),
        ("shared_image.clients_offset", HEADER_SIZE + 4, BOUNDS),
        ("shared_image.clients_offset", 0xFFFFFFF8, BOUNDS),
        ("shared_image.clients_offset", HEADER_SIZE + 15 * CLIENT_SIZE, BOUNDS),
        ("shared_image.devices", 1 << DEVICES, SETTING),
        ("shared_image.clock_hz", 10**6 - 1, SETTING),
        ("shared_image.clock_hz", 10**9 + 1, SETTING),
        ("shared_image.flash_half", 0, SETTING),
        ("shared_image.flash_half", 256, SETTING),
        ("shared_image.flash_deselect", 256, SETTING),
        ("shared_image.channels[1].policy", 3, SETTING),
        ("shared_image.channels[1].size", 1, SETTING),
        ("shared_image.channels[1].size", 16, SETTING),
        ("shared_image.pixel_cycles", 256, SETTING),
        ("shared_image.burst_cycles", 4096, SETTING),
        ("shared_image.on_request", 2, SETTING),
        ("shared_image.uart_divider", 1 << 16, SETTING),
        ("shared_image.uart_flush", 1 << 12, SETTING),
        ("shared_image.uart_mode", 2, SETTING),
        ("shared_image.uart_focus", CLIENTS, SETTING),
        ("shared_image_client.vm", 2, VM),
        ("shared_image_client.vm", 1, VM),
        ("shared_image_client.gpa", SHARED_GPA + 8, PLACE),
        ("shared_image_client.gpa", GPA - PAGE, PLACE),
        ("shared_image_client.gpa", GPA + RAM - PAGE, PLACE),
        ("shared_image_client.gpa", (1 << 64) - PAGE, PLACE),
        ("shared_image_client.gpa", GPA_LIMIT - (DEVICES - 1) * PAGE, PLACE),
        ("shared_image_client.devices", 1 << DEVICES, RIGHTS),
        ("shared_image_client.flash_first", 256, RIGHTS),
        ("shared_image_client.flash_sectors", 257, RIGHTS),
        ("shared_image_client.mac", 1 << 48, RIGHTS),
        ("shared_image_client.ethernet", 4, RIGHTS),
        ("shared_image_client.vlan", 4096, RIGHTS),
        ("shared_image_client.priority[2]", 16, RIGHTS),
        ("shared_image_client.framebuffer", FRAMEBUFFER + 4, RIGHTS),
        ("shared_image_client.framebuffer", 1 << 41, RIGHTS),
    ],
)
def test_wrong_sections_are_refused(field: str, value: int, message: str) -> None:
    machine = Machine(2)
    machine.put(field, value)
    assert machine.refusal() == message
    assert machine.hardware.writes == []


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("shared_image.clock_hz", 10**6),
        ("shared_image.clock_hz", 10**9),
        ("shared_image.flash_half", 255),
        ("shared_image.flash_deselect", 255),
        ("shared_image.channels[1].size", 2),
        ("shared_image.channels[1].size", 15),
        ("shared_image_client.gpa", GPA_LIMIT - DEVICES * PAGE),
        ("shared_image_client.framebuffer", 0),
    ],
)
def test_a_setting_at_its_limit_is_accepted(field: str, value: int) -> None:
    machine = Machine(2)
    machine.put(field, value)
    assert machine.refusal() is None


def test_a_window_of_no_sectors_begins_in_the_flash() -> None:
    machine = Machine(2)
    machine.put("shared_image_client.flash_first", 256)
    machine.put("shared_image_client.flash_sectors", 0)
    assert machine.refusal() == RIGHTS


def test_more_vms_than_the_hardware_can_have_are_refused() -> None:
    """Also if the section has space for them."""
    machine = Machine(2)
    machine.put("shared_image.nclients", CLIENTS + 1)
    machine.put("shared_image.clients_offset", 0)
    assert machine.refusal() == BOUNDS


@pytest.mark.parametrize(("sectors", "message"), [(248, None), (249, RIGHTS)])
def test_a_window_ends_with_the_flash(sectors: int, message: str | None) -> None:
    """The second VM's begins with sector 8."""
    machine = Machine(2)
    machine.put("shared_image_client.flash_sectors", sectors, client=1)
    assert machine.refusal() == message


@pytest.mark.parametrize(("width", "line_bytes"), [(7, 32), (8, 32), (16382, 65528), (16383, None)])
def test_lines_of_a_framebuffer(width: int, line_bytes: int | None) -> None:
    machine = Machine(1)
    machine.put("shared_image_client.rect.width", width)
    machine.put("shared_image_client.framebuffer", FRAMEBUFFER)
    assert machine.refusal() == (RIGHTS if line_bytes is None else None)
    shown = [value for name, value in machine.hardware.writes if name == "FORMAT of 0"]
    assert shown == ([] if line_bytes is None else [line_bytes | 1 << 32])


def test_a_width_counts_with_a_framebuffer_only() -> None:
    machine = Machine(2)
    machine.put("shared_image_client.rect.width", 16383)
    machine.put("shared_image_client.framebuffer", 0)
    assert machine.refusal() is None


def test_a_section_without_vms_is_accepted() -> None:
    machine = Machine(2, 0)
    CORE.testbed_io_cut(HEADER_SIZE)
    assert machine.refusal() is None


def test_a_section_that_is_cut_is_refused() -> None:
    for size in (8, HEADER_SIZE - 8, HEADER_SIZE, HEADER_SIZE + 2 * CLIENT_SIZE - 8):
        machine = Machine(2)
        CORE.testbed_io_cut(size)
        assert machine.refusal() == BOUNDS
    machine = Machine(2)
    CORE.testbed_io_cut(HEADER_SIZE + 2 * CLIENT_SIZE)
    assert machine.refusal() is None


@pytest.mark.parametrize(
    ("register", "value", "message"),
    [
        ("ID", MAGIC + 1, NOTHING),
        ("PARAMS", 1 | 4 << 16 | 32 << 24 | 0xFF << 32, FEWER),
        ("PARAMS", 2 | 3 << 16 | 32 << 24 | 0xFF << 32, FEWER),
        ("PARAMS", 2 | 4 << 16 | 32 << 24 | 0x7F << 32, FEWER),
        ("PARAMS", 2 | 4 << 16 | 3 << 24 | 0xFF << 32, RIGHTS),
    ],
)
def test_other_hardware_is_refused(register: str, value: int, message: str) -> None:
    machine = Machine(2)
    machine.hardware.plain[register] = value
    assert machine.refusal() == message
    assert machine.hardware.writes == []


def test_hardware_that_has_just_enough_is_accepted() -> None:
    machine = Machine(2)
    machine.hardware.plain["PARAMS"] = 2 | 4 << 16 | 4 << 24 | 0xFF << 32
    machine.boot()
    assert {value & 0xF for name, value in machine.hardware.writes if name == "FLUSH"} == {0, 1}


def test_hardware_for_more_vms_is_accepted() -> None:
    machine = Machine(2)
    machine.hardware.plain["PARAMS"] += 1
    machine.boot()
    assert [name for name, _ in machine.hardware.writes].count("FLUSH") == CLIENTS


def test_events_from_before_the_boot_are_not_reported() -> None:
    machine = Machine(2)
    machine.hardware.plain["IRQ_STATUS"] = FAULT | LOST
    machine.boot()
    assert machine.event(0) == []
    assert machine.hardware.plain["IRQ_ENABLE"] == FAULT | LOST


@pytest.mark.parametrize("vms", [9, CLIENTS])
def test_tables_that_are_used_up_are_reported(vms: int) -> None:
    assert Machine(vms).refusal() == "page tables for guests are used up"


def test_windows_are_open_while_the_vm_lives(machine: Machine) -> None:
    hardware = machine.hardware
    assert hardware.is_open(0)
    assert hardware.is_open(1)
    opened = [name for name, vm in hardware.writes if name.startswith("window") and vm == 0][4:]
    assert opened == [f"window {register}" for register in (GUEST, HOST, SIZE)]  # the size opens it
    assert CORE.testbed_vm_stop(0, 0, False)
    settle()
    assert CORE.testbed_vm_state(0) == VM_STOPPED
    assert not hardware.is_open(0)
    assert hardware.is_open(1)
    assert CORE.testbed_vm_start(0, 0)
    settle()
    assert hardware.is_open(0)


def test_a_vm_that_stops_loses_requests_then_windows(machine: Machine) -> None:
    machine.hardware.writes.clear()
    assert CORE.testbed_vm_stop(0, 1, True)
    settle()
    assert CORE.testbed_vm_state(1) == VM_RUNNING
    names = [name for name, _ in machine.hardware.writes]
    assert names == ["FLUSH", *[f"window {SIZE}"] * 4, *[f"window {register}" for register in (GUEST, HOST, SIZE)]]
    assert all(value == 1 for _, value in machine.hardware.writes)


def test_a_framebuffer_is_shown_from_each_start_on() -> None:
    """The windows are open before; and the VM, which has no page of the display, cannot change it."""
    machine = Machine(3)
    machine.put("shared_image_client.framebuffer", FRAMEBUFFER, client=1)
    hardware = machine.boot().hardware
    shown = [("BASE of 1", FRAMEBUFFER), ("FORMAT of 1", 24 | 1 << 32)]
    for life in range(3):
        assert [write for write in hardware.writes if write[0].endswith(" of 1")] == shown
        opened = max(at for at, write in enumerate(hardware.writes) if write == (f"window {SIZE}", 1))
        assert opened < hardware.writes.index(shown[0])
        hardware.writes.clear()
        assert CORE.testbed_vm_stop(0, 1, life == 0)
        settle()
        assert (CORE.testbed_vm_state(1) == VM_STOPPED) == (life > 0)
        assert life == 0 or (CORE.testbed_vm_start(0, 1) and not settle())
    for vm in range(3):
        assert (CORE.testbed_io_page(vm, SHARED_GPA + PAGE * DISPLAY) != 0) == (vm != 1)
        assert CORE.testbed_io_page(vm, SHARED_GPA + PAGE * UART) != 0


def test_a_framebuffer_without_the_display_is_not_shown() -> None:
    machine = Machine(1)
    machine.put("shared_image_client.framebuffer", FRAMEBUFFER)
    machine.put("shared_image_client.devices", 1 << GPIO)
    assert not [name for name, _ in machine.boot().hardware.writes if name.endswith(" of 0")]


@pytest.mark.parametrize("steps", [1, 5])
def test_a_stop_waits_until_no_access_is_outstanding(machine: Machine, steps: int) -> None:
    machine.hardware.busy_reads = steps
    machine.hardware.writes.clear()
    assert CORE.testbed_vm_stop(0, 0, False)
    settle()
    assert machine.hardware.busy_reads == 0
    assert CORE.testbed_vm_state(0) == VM_STOPPED
    assert [name for name, _ in machine.hardware.writes].count("FLUSH") == 1


@pytest.mark.parametrize("vm", [0, 1])
def test_a_stop_does_not_wait_for_accesses_of_other_vms(machine: Machine, vm: int) -> None:
    machine.hardware.plain["BUSY"] = 0xFFFF & ~(1 << vm)
    CORE.testbed_load_costs(10 * TICKS_PER_US)  # from one look at BUSY to the next
    assert CORE.testbed_vm_stop(0, vm, False)
    settle()
    assert CORE.testbed_vm_state(vm) == VM_STOPPED


def test_a_vm_that_stays_busy_takes_no_more_than_its_slices(machine: Machine) -> None:
    machine.hardware.busy_reads = 10**6
    before = CORE.testbed_runtime(1, 0)
    CORE.testbed_load_costs(10 * TICKS_PER_US)  # from one look at BUSY to the next
    assert CORE.testbed_vm_stop(0, 0, False)
    settle()
    assert 0 < machine.hardware.busy_reads < 10**6
    assert CORE.testbed_vm_state(0) == VM_STOPPING
    assert CORE.testbed_vm_state(1) == VM_RUNNING
    assert CORE.testbed_runtime(1, 0) - before >= 9 * QUANTUM
    machine.hardware.busy_reads = 0
    settle()
    assert CORE.testbed_vm_state(0) == VM_STOPPED


def test_the_hook_may_be_called_again_when_it_is_done(machine: Machine) -> None:
    """Another component needs more steps."""
    CORE.testbed_stop_steps(0, 6)
    machine.hardware.writes.clear()
    assert CORE.testbed_vm_stop(0, 0, False)
    settle()
    assert CORE.testbed_vm_state(0) == VM_STOPPED
    assert [name for name, _ in machine.hardware.writes] == ["FLUSH", *[f"window {SIZE}"] * 4]


@pytest.mark.parametrize(
    ("fault", "line"),
    [
        (0, "a read by a shared device is outside of the VM"),
        (1 << 4, "a write by a shared device is outside of the VM"),
        (1 << 5, "a read by a shared device got a bus error"),
        (3 << 4, "a write by a shared device got a bus error"),
    ],
)
def test_faults_are_reported(machine: Machine, fault: int, line: str) -> None:
    machine.hardware.plain |= {"FAULT": fault | 1, "FAULT_ADDR": 0x12340, "LOST": 1 << 4}
    assert machine.event(FAULT) == [f"error: vm-b: {line}, address 0x12340"]
    assert machine.hardware.plain["IRQ_STATUS"] == 0


def test_a_flood_of_faults_is_not_reported(machine: Machine) -> None:
    assert len(machine.event(FAULT)) == 1
    for _ in range(20):
        assert machine.event(FAULT) == []
    CORE.testbed_advance(QUIET // 2)
    run_until_idle()
    assert machine.event(FAULT) == []
    assert len(machine.later()) == 1
    assert machine.later() == []


def test_an_interrupt_that_was_pending_before_the_time_without_reports_does_nothing(machine: Machine) -> None:
    assert len(machine.event(FAULT)) == 1
    machine.hardware.plain["IRQ_STATUS"] = FAULT | LOST
    CORE.testbed_io_interrupt()
    assert lines() == []
    assert machine.hardware.plain["IRQ_STATUS"] == FAULT | LOST
    assert len(machine.later()) == 1


def test_faults_of_nobody_and_of_a_vm_that_stops_are_not_reported(machine: Machine) -> None:
    machine.hardware.plain["FAULT"] = 9
    assert machine.event(FAULT) == []
    machine.hardware.plain |= {"FAULT": 0, "LOST": 1 << 4}
    assert CORE.testbed_vm_stop(0, 0, False)
    settle()
    for event in (FAULT, LOST):
        machine.later()
        lines()
        assert machine.event(event) == []
    assert CORE.testbed_vm_start(0, 0)
    settle()
    machine.later()
    assert len(machine.event(FAULT)) == 1


def test_lost_completions_are_reported_with_vm_and_device() -> None:
    machine = Machine(3).boot()
    machine.hardware.plain["LOST"] = 2 | 2 << 4
    assert machine.event(LOST) == ["error: vm-c: a completion of Ethernet (send) could not be written"]
    assert machine.later() == []
    machine.hardware.plain["LOST"] = 0 | 4 << 4
    assert machine.event(LOST) == ["error: vm-a: a completion of the copier could not be written"]
    assert machine.hardware.plain["IRQ_STATUS"] == 0
    for device in (0, 5, 15):
        machine.later()
        machine.hardware.plain["LOST"] = 0 | device << 4
        assert machine.event(LOST) == []


def test_a_fault_and_a_loss_at_once(machine: Machine) -> None:
    machine.hardware.plain["LOST"] = 1 << 4
    assert len(machine.event(FAULT | LOST)) == 2


def test_the_manager_and_vms_may_not_have_the_same_interrupt() -> None:
    machine = Machine(2)
    machine.put("shared_image.vm_irq", IRQ - 1)
    assert machine.refusal() == "the interrupt of the shared devices is taken"
