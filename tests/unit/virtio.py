# SPDX-License-Identifier: Apache-2.0
"""A driver for the PCI functions of the testbed's VMs, for tests: it can do what no driver should do, too."""

import ctypes
import struct
from ctypes import c_bool, c_char_p, c_uint, c_uint32, c_uint64, c_void_p
from dataclasses import dataclass, field

from c_headers import structures, values
from core import CORE

*_, Section = structures("virtio_image.h testbed_virtio.h", "virtio_image virtio_image_function testbed_virtio_section")
Counts, LineCounts = structures("testbed_virtio.h", "testbed_virtio_counts testbed_virtio_line_counts")
GPA, RAM_SIZE = values("testbed.h", "TESTBED_GPA TESTBED_VM_RAM")
ECAM, BARS, BAR_SIZE, IRQ = values("virtio_image.h", "VIRTIO_ECAM VIRTIO_BARS VIRTIO_BAR_SIZE VIRTIO_IRQ")
NET, BLOCK, ENTROPY, SOCKET, CRYPTO, IVSHMEM, ACCELERATOR, HARDWARE_IO, DISK_SERVER = values(
    "virtio_image.h",
    "VIRTIO_IMAGE_NET VIRTIO_IMAGE_BLOCK VIRTIO_IMAGE_ENTROPY VIRTIO_IMAGE_SOCKET VIRTIO_IMAGE_CRYPTO "
    "VIRTIO_IMAGE_IVSHMEM VIRTIO_IMAGE_ACCELERATOR VIRTIO_IMAGE_HARDWARE_IO VIRTIO_IMAGE_DISK_SERVER",
)
UPLINK, OFFLOADS = values("virtio_image.h", "VIRTIO_IMAGE_UPLINK VIRTIO_IMAGE_OFFLOADS")
SHARED_ID, SHARED_GPA, FAULT = values(
    "testbed_virtio.h", "TESTBED_VIRTIO_SHARED_ID TESTBED_VIRTIO_SHARED TESTBED_VIRTIO_FAULT"
)

INDIRECT, EVENT_IDX, VERSION_1 = 1 << 28, 1 << 29, 1 << 32
ACKNOWLEDGE, DRIVER, DRIVER_OK, FEATURES_OK, NEEDS_RESET = 1, 2, 4, 8, 64
NEXT, WRITE, TABLE = 1, 2, 4  # flags of descriptors
ISR_QUEUE, ISR_CONFIG = 1, 2
WIDTHS = {1: 0, 2: 1, 4: 2}

ACTION = ctypes.CFUNCTYPE(None)

_SIGNATURES = {
    "testbed_virtio_make": (c_void_p, [c_uint]),
    "testbed_virtio_give_two_harts": (None, []),
    "testbed_virtio_on": (None, [c_uint]),
    "testbed_virtio_unshare": (None, [c_uint]),
    "testbed_virtio_give_dma": (None, [c_uint]),
    "testbed_virtio_disk": (c_uint64, []),
    "testbed_virtio_content": (c_void_p, [c_uint64]),
    "testbed_virtio_cut": (None, [c_uint]),
    "testbed_virtio_boot": (c_char_p, [c_bool]),
    "testbed_virtio_load": (c_uint64, [c_uint, c_uint64, c_uint]),
    "testbed_virtio_store": (c_uint, [c_uint, c_uint64, c_uint, c_uint64, c_uint]),
    "testbed_virtio_store_once": (c_uint, [c_uint, c_uint64, c_uint, c_uint64, c_uint]),
    "testbed_virtio_during": (None, [c_uint, c_uint, c_uint64, c_uint, c_uint64, c_uint]),
    "testbed_virtio_at_release": (None, [c_uint, c_uint, ACTION]),
    "testbed_virtio_acted": (c_bool, []),
    "testbed_virtio_endless": (None, [c_uint, c_uint64]),
    "testbed_virtio_counts": (None, [c_uint, c_void_p]),
    "testbed_virtio_line_counts": (None, [c_uint, c_void_p]),
    "testbed_virtio_lines": (c_uint32, [c_uint]),
    "testbed_virtio_lines_after": (c_uint32, [c_uint, c_uint]),
    "testbed_memory": (c_void_p, [c_uint, c_uint64]),
}
for _name, (_result, _arguments) in _SIGNATURES.items():
    getattr(CORE, _name).restype = _result
    getattr(CORE, _name).argtypes = _arguments


def make(functions: list[dict], vms: int = 3) -> "Section":
    """Makes an image; each function has the fields of struct virtio_image_function, and slots as they come."""
    section = Section.from_address(CORE.testbed_virtio_make(vms))
    section.header.nfunctions = len(functions)
    slots = dict.fromkeys((fields["vm"] for fields in functions), 0)
    for place, fields in zip(section.functions, functions, strict=False):
        place.slot = slots[fields["vm"]]
        slots[fields["vm"]] += 1
        for name, value in fields.items():
            if isinstance(value, list):
                getattr(place, name)[: len(value)] = value
            elif isinstance(value, bytes):  # with zeros, at which ctypes would stop
                ctypes.memmove(ctypes.addressof(place) + getattr(type(place), name).offset, value, len(value))
            else:
                setattr(place, name, value)
    return section


def boot(seed: bool = True) -> str | None:
    wrong = CORE.testbed_virtio_boot(seed)
    return wrong.decode() if wrong else None


def booted(functions: list[dict], vms: int = 3, harts: int = 1) -> None:
    make(functions, vms)
    if harts > 1:
        CORE.testbed_virtio_give_two_harts()
    wrong = boot()
    assert wrong is None, wrong


def counts(number: int) -> tuple[int, ...]:
    """Frames of a port: sent, received, spoofed, limited, no_buffer, malformed."""
    found = Counts()
    CORE.testbed_virtio_counts(number, ctypes.byref(found))
    return tuple(getattr(found, name) for name, _ in Counts._fields_)


def line_counts(number: int) -> tuple[int, ...]:
    """Bytes of a console: sent, dropped."""
    found = LineCounts()
    CORE.testbed_virtio_line_counts(number, ctypes.byref(found))
    return tuple(getattr(found, name) for name, _ in LineCounts._fields_)


def memory(vm: int) -> ctypes.Array:
    return (ctypes.c_char * RAM_SIZE).from_address(CORE.testbed_memory(vm, GPA))


def restart(vm: int) -> None:
    assert CORE.testbed_vm_stop(0, vm, True)
    pause()


def pause() -> None:
    """Long enough for a VM to stop or to start."""
    for _ in range(30):
        CORE.testbed_advance(10_000)
        assert CORE.testbed_run_until_idle()


@dataclass
class Pci:
    """A function of a VM, by its registers."""

    vm: int
    slot: int = 0
    poll: int = 0  # an interrupt is pending at each poll-th look

    @property
    def config(self) -> int:
        return ECAM + self.slot * 0x8000

    @property
    def bar(self) -> int:
        return BARS + self.slot * BAR_SIZE

    def load(self, address: int, width: int = 4) -> int:
        return CORE.testbed_virtio_load(self.vm, address, WIDTHS[width])

    def store(self, address: int, value: int, width: int = 4) -> int:
        return CORE.testbed_virtio_store(self.vm, address, WIDTHS[width], value, self.poll)

    def begin(self, offset: int, value: int, width: int = 4) -> int:
        """A store that is executed once, although an interrupt is pending."""
        return CORE.testbed_virtio_store_once(self.vm, self.bar + offset, WIDTHS[width], value, 1)

    def read(self, offset: int, width: int = 4) -> int:
        return self.load(self.bar + offset, width)

    def write(self, offset: int, value: int, width: int = 4) -> int:
        return self.store(self.bar + offset, value, width)

    @property
    def line(self) -> bool:
        return bool(CORE.testbed_virtio_lines(self.vm) >> (IRQ + self.slot) & 1)


@dataclass
class Queue:
    """A split virtqueue in the memory of its VM, as a driver has it."""

    device: "Device"
    number: int
    size: int
    base: int  # guest-physical address: descriptors, then the driver's area, then the device's
    avail: int = 0  # chains made available
    used: int = 0  # chains seen returned

    @property
    def places(self) -> tuple[int, int, int]:
        driver = self.base + 16 * self.size
        return self.base, driver, (driver + 6 + 2 * self.size + 3) & ~3

    def descriptor(self, index: int, address: int, length: int, flags: int = 0, following: int = 0) -> None:
        self.device.put(self.base + 16 * index, struct.pack("<QIHH", address, length, flags, following))

    def chain(self, first: int, buffers: list[tuple[int, int, bool]]) -> int:
        """Writes a chain of (address, length, writable) from descriptor `first` on; returns the next free one."""
        for place, (address, length, writable) in enumerate(buffers):
            more = NEXT if place + 1 < len(buffers) else 0
            index = (first + place) % self.size
            self.descriptor(index, address, length, more | (WRITE if writable else 0), (index + 1) % self.size)
        return (first + len(buffers)) % self.size

    def offer(self, head: int) -> None:
        _, driver, _ = self.places
        self.device.put(driver + 4 + 2 * (self.avail % self.size), struct.pack("<H", head))
        self.avail = (self.avail + 1) & 0xFFFF
        self.device.put(driver + 2, struct.pack("<H", self.avail))

    def used_event(self, value: int) -> None:
        self.device.put(self.places[1] + 4 + 2 * self.size, struct.pack("<H", value & 0xFFFF))

    @property
    def avail_event(self) -> int:
        return struct.unpack("<H", self.device.get(self.places[2] + 4 + 8 * self.size, 2))[0]

    def notify(self) -> int:
        return self.device.write(0x3000, self.number, 2)

    def notify_once(self, poll: int) -> bool:
        """Notifies the device, which works until an interrupt is pending, at the poll-th look; returns whether work
        is left."""
        address = self.device.bar + 0x3000
        return bool(CORE.testbed_virtio_store_once(self.device.vm, address, WIDTHS[2], self.number, poll))

    def notify_during(self, look: int, poll: int) -> None:
        """Another VCPU notifies the device at the look-th look from now on, and is interrupted at its poll-th."""
        address = self.device.bar + 0x3000
        CORE.testbed_virtio_during(look, self.device.vm, address, WIDTHS[2], self.number, poll)

    def returned(self) -> list[tuple[int, int]]:
        """The chains (head, length) that the device has returned since the last call."""
        _, _, device = self.places
        index = struct.unpack("<H", self.device.get(device + 2, 2))[0]
        found = []
        while self.used != index:
            found.append(struct.unpack("<II", self.device.get(device + 4 + 8 * (self.used % self.size), 8)))
            self.used = (self.used + 1) & 0xFFFF
        return found


@dataclass
class Device(Pci):
    """A virtio device with its driver; `queues` have `size` descriptors each."""

    size: int = 16
    queues: list[Queue] = field(default_factory=list)

    def put(self, gpa: int, data: bytes) -> None:
        memory(self.vm)[gpa - GPA : gpa - GPA + len(data)] = data

    def get(self, gpa: int, size: int) -> bytes:
        return memory(self.vm)[gpa - GPA : gpa - GPA + size]

    @property
    def status(self) -> int:
        return self.read(20, 1)

    @property
    def isr(self) -> int:
        return self.read(0x1000, 1)

    @property
    def offered(self) -> int:
        self.write(0, 0)
        low = self.read(4)
        self.write(0, 1)
        return low | self.read(4) << 32

    def accept(self, features: int, reset: bool = True) -> bool:
        """Resets the device and negotiates; returns whether it accepts them."""
        self.store(self.config + 4, 6, 2)
        if reset:
            self.write(20, 0, 1)
        self.write(20, ACKNOWLEDGE | DRIVER, 1)
        for half in (0, 1):
            self.write(8, half)
            self.write(12, features >> 32 * half & 0xFFFFFFFF)
        self.write(20, ACKNOWLEDGE | DRIVER | FEATURES_OK, 1)
        return bool(self.status & FEATURES_OK)

    def enable(self, number: int, base: int) -> Queue:
        queue = Queue(self, number, self.size, base)
        for place in queue.places:
            self.put(place, bytes(8))
        self.put(queue.places[1], bytes(6 + 2 * self.size))
        self.put(queue.places[2], bytes(6 + 8 * self.size))
        self.write(22, number, 2)
        self.write(24, self.size, 2)
        for offset, place in zip((32, 40, 48), queue.places, strict=True):
            self.write(offset, place & 0xFFFFFFFF)
            self.write(offset + 4, place >> 32)
        self.write(28, 1, 2)
        return queue

    def start(self, features: int = VERSION_1, reset: bool = True) -> "Device":
        assert self.accept(features, reset)
        count = self.read(18, 2)
        self.queues = [
            self.enable(number, GPA + 0x10000 * (1 + number) + 0x4000 * self.slot) for number in range(count)
        ]
        self.write(20, ACKNOWLEDGE | DRIVER | FEATURES_OK | DRIVER_OK, 1)
        return self
