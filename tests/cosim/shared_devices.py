# SPDX-License-Identifier: Apache-2.0
"""The RTL of the shared devices on this machine, without QEMU: registers, VMs with memory of their own, the wire."""

import ctypes
import zlib
from collections.abc import Callable
from ctypes import CFUNCTYPE, byref, c_bool, c_char_p, c_size_t, c_uint, c_uint32, c_uint64, c_void_p
from dataclasses import dataclass

from tessera.fabric import registers
from tessera.run.runner import ROOT

NAMES = {name.removeprefix("FABRIC_"): value for name, value in registers.read().items()}
UART, FLASH, SEND, RECEIVE, COPY, DISPLAY, GPIO, SPI = range(8)
DONE, BAD, FORBIDDEN, VIOLATION, BUS, TIMEOUT = range(6)
READ, PROGRAM, ERASE = range(3)
RAM = 0x80000000  # guest-physical
RAM_SIZE = 0x40000
RING = RAM + RAM_SIZE - 0x1000  # rings of the devices, a page of the VM's
RING_ENTRIES = 16
VMS = 6  # of the library for tests
HOST_MEMORY = 0x40000000
FLASH_RESET = 4_500  # cycles after a reset until the flash takes requests: its software reset, with the slowest SCK
GAP = 0x100000  # between the host-physical addresses of two VMs' memory: what lies behind it is not theirs
PREAMBLE = bytes([0x55] * 7 + [0xD5])

LIBRARIES = {VMS: ROOT / "build" / "cosim" / "libshared.so", 16: ROOT / "build" / "cosim" / "libshared-16vm.so"}
TRANSLATE = CFUNCTYPE(c_void_p, c_uint64)


def _library(vms: int) -> ctypes.CDLL:
    library = ctypes.CDLL(str(LIBRARIES[vms]))
    for name, result, arguments in (
        ("make", None, [TRANSLATE, *(c_char_p,) * 5]),
        ("reset", None, []),
        ("read", c_bool, [c_uint64, c_uint, c_void_p]),
        ("write", c_bool, [c_uint64, c_uint, c_uint64]),
        ("step", None, [c_uint64]),
        ("wait", c_uint, [c_uint, c_uint]),
        ("type", None, [c_char_p]),
        ("interrupts", c_uint, []),
        ("complaints", c_uint, []),
        ("cycles", c_uint64, []),
        ("time", c_uint64, []),
        ("pins", c_uint32, []),
        ("receive", None, [c_char_p, c_size_t]),
        ("sent", c_uint, []),
        ("loop", None, [c_bool]),
        ("latency", None, [c_uint]),
    ):
        function = getattr(library, f"shared_{name}")
        function.restype, function.argtypes = result, arguments
    return library


@dataclass(frozen=True)
class Completion:
    """What a device has written into a VM's ring."""

    status: int
    tag: int
    bytes: int
    data: int


def field(name: str, value: int) -> int:
    """A value in its place in a register, e.g. field("SHARED_ALLOW_VM", 2)."""
    assert 0 <= value < 1 << NAMES[f"{name}_WIDTH"], f"{name} = {value}"
    return value << NAMES[f"{name}_LSB"]


class Devices:
    """The devices after a reset of them and of the flash, with VMs that may use all of them."""

    def __init__(
        self,
        *,
        uart: str = "",
        flash: str = "",
        pcap: str = "",
        pins: str = "",
        screen: str = "",
        rights: bool = True,
        vms: int = VMS,
    ):
        self.library = _library(vms)
        self.memory = [bytearray(RAM_SIZE) for _ in range(vms)]
        self.views = [(ctypes.c_char * RAM_SIZE).from_buffer(memory) for memory in self.memory]
        self.translate = TRANSLATE(self._translate)
        self.library.shared_make(self.translate, *(name.encode() for name in (flash, pcap, pins, screen, uart)))
        self.step(FLASH_RESET)
        self.vms = [Client(self, number) for number in range(vms)]
        for vm in self.vms:
            self.open(vm)
        if rights:
            self._allow_all()

    def _translate(self, address: int) -> int:
        number, offset = divmod(address - HOST_MEMORY, GAP)
        if not 0 <= number < len(self.memory) or offset + 8 > RAM_SIZE:
            return 0
        return ctypes.addressof(self.views[number]) + offset

    def _allow_all(self) -> None:
        self.set("ETHERNET_SELECT", 0)
        for n, vm in enumerate(self.vms):
            for device in (UART, FLASH, SEND, RECEIVE, COPY, GPIO, SPI):
                self.allow(n, device)
            self.set("FLASH_WINDOW", field("SHARED_FLASH_WINDOW_VM", n) | (4 * n) << 8 | 4 << 16)
            self.set("ETHERNET_MAC", vm.mac_number)
            self.set("ETHERNET_SET", field("SHARED_ETHERNET_SET_VM", n) | 1 << 4)
            self.set("PINS", n | (0xFF << 8 * n & 0xFFFFFFFF) << 32)
        self.set("ARBITER", 1 | 11 << 8, index=SEND - 1)  # a frame is one chunk

    def open(self, vm: "Client", size: int = RAM_SIZE) -> None:
        """Opens the VM's window onto its memory."""
        at = NAMES["SHARED_WINDOWS"] + vm.number * NAMES["VM_WINDOWS_STRIDE"]
        self.write(at + NAMES["WINDOW_GUEST"], RAM | 3)
        self.write(at + NAMES["WINDOW_HOST"], HOST_MEMORY + vm.number * GAP)
        self.write(at + NAMES["WINDOW_SIZE"], size)

    def close(self, vm: "Client") -> None:
        at = NAMES["SHARED_WINDOWS"] + vm.number * NAMES["VM_WINDOWS_STRIDE"]
        self.write(at + NAMES["WINDOW_SIZE"], 0)

    def allow(self, vm: int, device: int, prio: int = 0, *, allowed: bool = True) -> None:
        self.set("ALLOW", vm | device << 4 | allowed << 8 | prio << 12)

    def write(self, offset: int, value: int, size: int = 8) -> None:
        assert self.library.shared_write(offset, size, value), f"bus error at {offset:#x}"

    def read(self, offset: int, size: int = 8) -> int:
        value = c_uint64()
        assert self.library.shared_read(offset, size, byref(value)), f"bus error at {offset:#x}"
        return value.value

    def refuses(self, offset: int, size: int = 8, value: int | None = None) -> bool:
        """Whether an access is answered with a bus error."""
        if value is not None:
            return not self.library.shared_write(offset, size, value)
        return not self.library.shared_read(offset, size, byref(c_uint64()))

    def set(self, register: str, value: int, *, index: int = 0) -> None:
        """Writes a register of the manager page."""
        stride = NAMES.get(f"SHARED_{register}_STRIDE", 0)
        self.write(NAMES["SHARED"] + NAMES[f"SHARED_{register}"] + index * stride, value)

    def get(self, register: str) -> int:
        return self.read(NAMES["SHARED"] + NAMES[f"SHARED_{register}"])

    def step(self, cycles: int) -> None:
        self.library.shared_step(cycles)

    def wait_for(self, condition: Callable[[], bool], cycles: int = 1_000_000, at_once: int = 50) -> None:
        for _ in range(0, cycles, at_once):
            if condition():
                return
            self.library.shared_step(at_once)
        raise AssertionError(f"not within {cycles} cycles")

    def wait_interrupt(self, lines: int, cycles: int = 1_000_000) -> None:
        assert self.library.shared_wait(lines, cycles), f"no interrupt within {cycles} cycles"

    @property
    def time(self) -> int:
        return self.library.shared_time()

    @property
    def simulated(self) -> int:
        """Cycles that were not skipped."""
        return self.library.shared_cycles()

    @property
    def interrupts(self) -> int:
        return self.library.shared_interrupts()

    def receive(self, frame: bytes, *, damage: bool = False) -> None:
        """A frame arrives, with a preamble and its FCS."""
        frame = frame.ljust(60, b"\0")
        fcs = (zlib.crc32(frame) ^ (0xFF if damage else 0)).to_bytes(4, "little")
        whole = PREAMBLE + frame + fcs
        self.library.shared_receive(whole, len(whole))

    def lost_frames(self, why: int, vm: int) -> int:
        self.set("ETHERNET_SELECT", vm | why << 4)
        return self.get("ETHERNET_COUNT")


class Client:
    """A VM: its memory, its pages, its rings."""

    def __init__(self, devices: Devices, number: int):
        self.devices = devices
        self.number = number
        self.memory = devices.memory[number]
        self.mac = bytes([2, 0, 0, 0, 0, number + 1])
        self.mac_number = int.from_bytes(self.mac, "big")
        self.next: dict[int, int] = {}

    def page(self, device: int) -> int:
        return NAMES["SHARED_PAGES"] + (16 * self.number + device) * NAMES["SHARED_PAGE_STRIDE"]

    def write(self, device: int, register: str, value: int) -> None:
        self.devices.write(self.page(device) + NAMES[register], value)

    def read(self, device: int, register: str) -> int:
        return self.devices.read(self.page(device) + NAMES[register])

    def set_ring(self, device: int, *, interrupt: bool = False) -> None:
        self.write(device, "CHANNEL_RING", RING + 0x80 * device)
        self.write(device, "CHANNEL_INT", int(interrupt))
        start = RING - RAM + 0x80 * device
        self.memory[start : start + 0x80] = bytes(0x80)
        self.next[device] = 0

    def submit(self, device: int, op: int, address: int, length: int, target: int = 0, tag: int = 0) -> None:
        """Two writes."""
        self.write(device, "CHANNEL_ADDR", address)
        self.write(device, "CHANNEL_SUBMIT", op | tag << 8 | length << 16 | target << 32)

    def completion(self, device: int) -> Completion | None:
        """The next completion, if it is there: one read."""
        number = self.next[device]
        start = RING - RAM + 0x80 * device + 8 * (number % RING_ENTRIES)
        word = int.from_bytes(self.memory[start : start + 8], "little")
        if word & 1 != (number // RING_ENTRIES + 1) % 2:
            return None
        self.next[device] += 1
        return Completion(word >> 4 & 15, word >> 8 & 255, word >> 16 & 0xFFFF, word >> 32)

    def wait(self, device: int, cycles: int = 1_000_000) -> Completion:
        """The next completion, as soon as it is there."""
        found: list[Completion] = []

        def look() -> bool:
            completion = self.completion(device)
            found.extend([completion] if completion else [])
            return bool(found)

        self.devices.wait_for(look, cycles)
        return found[0]

    def do(self, device: int, op: int, address: int, length: int, target: int = 0) -> Completion:
        self.submit(device, op, address, length, target)
        return self.wait(device)

    def store(self, offset: int, data: bytes) -> int:
        """Puts data into the VM's memory; returns their guest-physical address."""
        self.memory[offset : offset + len(data)] = data
        return RAM + offset

    def load(self, offset: int, number: int) -> bytes:
        return bytes(self.memory[offset : offset + number])
