# SPDX-License-Identifier: Apache-2.0
"""Devices shared by hardware from user space of Linux (docs/hardware-io.md): those that execute requests.

    memory = Memory()
    with HardwareIo(memory) as devices:
        flash = Channel(devices, FLASH)
        flash.run(READ, buffer_address, size, offset_in_the_flash)

A process has one HardwareIo at a time, for all devices of the VM.
"""

import os
import struct
from dataclasses import dataclass

from function import HARDWARE_IO, Function, FunctionError, Memory, bar_of, functions, number_in

UART, FLASH, SEND, RECEIVE, COPY, DISPLAY, GPIO, SPI = range(8)  # numbers of pages in BAR 0
NAMES = ("the UART", "the flash", "Ethernet", "Ethernet", "the copier", "the screen", "pins", "an SPI controller")
PAGE = 0x1000

# Registers of a page for requests (docs/hardware-io.md), and operations.
ADDR, SUBMIT, DEADLINE, RING, STATUS, INT, INFO, FLUSH = range(0, 64, 8)
ENABLE, PENDING, REFUSED = 1, 2, 4  # bits of INT
READ, PROGRAM, ERASE = range(3)  # of the flash; the copier's only one is 0
ENTRIES = 16  # of a ring
WHY = (
    "",
    "a bad request",
    "outside of the VM's part of the device",
    "memory outside of what the VM may use",
    "a bus error",
    "a timeout",
)

STORE = "/bin/store64"


@dataclass(frozen=True)
class Completion:
    """What a device has written into the ring."""

    status: int
    tag: int
    bytes: int
    data: int


class HardwareIo(Function):
    """The function of the VM's shared devices, which have one interrupt."""

    def __init__(self, memory: Memory) -> None:
        found = functions(HARDWARE_IO)
        if not found:
            raise FunctionError("the VM has no function of shared devices")
        super().__init__(found[0], memory)
        self.memory = memory
        self.pages = number_in(found[0], "subsystem_device")  # bit n: the VM has page n
        self._begin_store(found[0] / "resource0", bar_of(found[0], 0)[1])

    # Most registers take stores of 64 bits only, and Python copies numbers to a mapping byte by byte. So another
    # process stores them. Loads may have any width.

    def _begin_store(self, file: os.PathLike, size: int) -> None:
        (records, self._records), (self._stored, stored) = os.pipe(), os.pipe()
        actions = [(os.POSIX_SPAWN_DUP2, records, 0), (os.POSIX_SPAWN_DUP2, stored, 1)]
        words = [STORE, os.fspath(file), str(size)]
        self._store = os.posix_spawn(STORE, words, {}, file_actions=actions)
        os.close(records)
        os.close(stored)

    def close(self) -> None:
        """Gives up the function. What the devices do goes on."""
        os.close(self._records)
        os.close(self._stored)
        os.waitpid(self._store, 0)
        super().close()

    def put(self, device: int, register: int, value: int) -> None:
        """Stores 64 bits."""
        os.write(self._records, struct.pack("<QQ", device * PAGE + register, value))
        if not os.read(self._stored, 1):
            raise FunctionError(f"{NAMES[device]} does not take a store at {register:#x}")

    def get(self, device: int, register: int) -> int:
        """Loads 64 bits."""
        at = device * PAGE + register
        return int.from_bytes(self._registers[at : at + 8], "little")

    def sleep(self) -> None:
        """Sleeps until a device raises the interrupt. Its event is to be cleared at the device."""
        self._sleep()


class Channel:
    """A device that executes requests, with a ring of completions in the memory."""

    def __init__(self, devices: HardwareIo, device: int) -> None:
        if not devices.pages >> device & 1:
            raise FunctionError(f"the VM may not use {NAMES[device]}")
        self._devices, self._device = devices, device
        self._memory = devices.memory
        self._ring = self._memory.take(8 * ENTRIES)
        self._memory.bytes[self._ring : self._ring + 8 * ENTRIES] = bytes(8 * ENTRIES)
        self._taken = 0
        devices.put(device, FLUSH, 1)  # a process before may have left requests
        devices.put(device, RING, self._memory.address + self._ring)
        devices.put(device, INT, ENABLE | PENDING | REFUSED)

    def submit(self, operation: int, address: int, length: int, target: int = 0, tag: int = 0) -> None:
        """Submits a request. `address`: guest-physical, `target`: in the device; for a copy, of the source."""
        self._devices.put(self._device, ADDR, address)
        self._devices.put(self._device, SUBMIT, operation | tag << 8 | length << 16 | (target & 0xFFFFFFFF) << 32)

    def completion(self) -> Completion | None:
        """Returns the next completion, None if there is none yet."""
        at = self._ring + 8 * (self._taken % ENTRIES)
        word = int.from_bytes(self._memory.bytes[at : at + 8], "little")
        if word & 1 == self._taken // ENTRIES % 2:
            return None
        self._taken += 1
        return Completion(word >> 4 & 15, word >> 8 & 0xFF, word >> 16 & 0xFFFF, word >> 32)

    # listing: wait
    def wait(self) -> Completion:
        """Sleeps until the next completion."""
        while (done := self.completion()) is None:
            self._devices.sleep()
            self._devices.put(self._device, INT, ENABLE | PENDING)  # clears the event; then the ring is looked at
        return done

    # listing end
    def run(self, operation: int, address: int, length: int, target: int = 0) -> Completion:
        """Executes a request: submit() and wait()."""
        self.submit(operation, address, length, target)
        done = self.wait()
        if done.status:
            raise FunctionError(f"{NAMES[self._device]}: {WHY[done.status] if done.status < len(WHY) else done.status}")
        return done
