# SPDX-License-Identifier: Apache-2.0
"""PCI functions in user space of Linux, by uio_pci_generic: registers, memory for DMA, interrupts
(docs/accelerators.md#from-linux-by-python).

A process needs the rights of root: /dev/uioN, and `resource0`, `resource2` and `config` of the function in sysfs.
"""

from __future__ import annotations

import mmap
import os
import struct
from pathlib import Path

VENDOR = 0x1AF4
ACCELERATOR, HARDWARE_IO = 0x10F0, 0x10F1  # device ids: an accelerator, the VM's devices shared by hardware
FUNCTIONS = Path("/sys/bus/pci/devices")

# The command register of the configuration space.
COMMAND = 4
MEMORY_AND_MASTER, NO_INTX = 0x006, 0x400

ALIGN = 128  # of a buffer, bytes


class FunctionError(Exception):
    """No such function, no memory, or a job that has failed."""


def number_in(function: Path, name: str) -> int:
    """Returns the hexadecimal number in a file of a function."""
    return int((function / name).read_text(), 16)


def functions(*devices: int) -> list[Path]:
    """Returns the folders in sysfs of all functions with these device ids."""
    found = sorted(FUNCTIONS.iterdir())
    return [one for one in found if number_in(one, "vendor") == VENDOR and number_in(one, "device") in devices]


def bar_of(function: Path, number: int) -> tuple[int, int]:
    """Returns the guest-physical address and the bytes of a BAR; 0 bytes if the function does not have it."""
    first, last, _ = (int(word, 16) for word in (function / "resource").read_text().splitlines()[number].split())
    return first, last - first + 1 if last > first else 0


def _map(file: Path, size: int) -> mmap.mmap:
    descriptor = os.open(file, os.O_RDWR | os.O_SYNC)
    try:
        return mmap.mmap(descriptor, size)
    finally:
        os.close(descriptor)


class Memory:
    """The memory to which the functions have access: BAR 2 of one of them. Buffers are given until the end of the
    process."""

    def __init__(self) -> None:
        for function in functions(ACCELERATOR, HARDWARE_IO):
            self.address, size = bar_of(function, 2)  # guest-physical, which is what the registers take
            if size:
                self.bytes = _map(function / "resource2", size)
                self._next = 0
                return
        raise FunctionError("no function has memory for buffers: expected dma-memory in the system file")

    def take(self, size: int) -> int:
        """Returns the offset of a buffer in the memory."""
        offset = self._next
        if offset + size > len(self.bytes):
            raise FunctionError(f"expected at most {len(self.bytes) - offset} bytes, got {size}")
        self._next += -(-size // ALIGN) * ALIGN
        return offset


class Function:
    """A function with its registers, BAR 0. One process uses it at a time."""

    def __init__(self, function: Path, memory: Memory) -> None:
        uio = next((function / "uio").glob("uio*"), None) if (function / "uio").is_dir() else None
        if uio is None:
            raise FunctionError(f"{function.name} has no driver: expected uio_pci_generic")
        self.function = function
        self.interrupts = 0
        self._memory = memory
        self._registers = _map(function / "resource0", bar_of(function, 0)[1])
        self._config = os.open(function / "config", os.O_RDWR)
        self._events = os.open(f"/dev/{uio.name}", os.O_RDONLY)  # counts interrupts from here on

    def __enter__(self) -> Function:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Gives up the function. What the device does goes on."""
        os.close(self._events)
        os.close(self._config)
        self._registers.close()

    def _sleep(self) -> None:
        """Sleeps until an interrupt, or returns at once if it is pending. uio_pci_generic sets "interrupt disable" with
        each one; whoever waits for the next one clears it."""
        os.pwrite(self._config, struct.pack("<H", MEMORY_AND_MASTER), COMMAND)
        os.read(self._events, 4)
        self.interrupts += 1
