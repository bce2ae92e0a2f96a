# SPDX-License-Identifier: Apache-2.0
"""Accelerators of the fabric from user space of Linux: PCI functions with uio_pci_generic (docs/accelerators.md).

    memory = Memory()
    with Accelerator(QAM16, memory) as qam:
        symbols, _ = qam.run(data, 8 * len(data))

A process needs the rights of root: /dev/uioN, and `resource0`, `resource2` and `config` of the function in sysfs.
"""

from __future__ import annotations

import mmap
import os
import struct
from pathlib import Path

QAM16, QAM64, FFT512, FFT1024, AES128, G722 = range(1, 7)  # HW tasks: subsystem ids of their functions

VENDOR, DEVICE = 0x1AF4, 0x10F0
FUNCTIONS = Path("/sys/bus/pci/devices")

# Registers of BAR 0 (docs/fabric.md).
STAT, START, OVER, CMD, DATA_ADDR, DATA_SIZE, INT_CTRL = 0x00, 0x04, 0x08, 0x0C, 0x10, 0x18, 0x1C
RESULT, DONE_SIZE, DONE_CODE, CUSTOM = 0x20, 0x28, 0x2C, 0x40
STAT_OVER = 1 << 2  # in the first byte of STAT; the fault is in the second one
FAULTS = ("", "memory outside of what the VM may use", "a bus error", "the task hung", "a rogue task", "a bad context")
EITHER = 3  # INT_CTRL: a job that is over, or that has failed

# The command register of the configuration space.
COMMAND = 4
MEMORY_AND_MASTER, NO_INTX = 0x006, 0x400

ALIGN = 64  # of a buffer, bytes


class AcceleratorError(Exception):
    """No such function, no memory, or a job that has failed."""


def _number(function: Path, name: str) -> int:
    return int((function / name).read_text(), 16)


def functions() -> list[Path]:
    """Returns the folders in sysfs of all functions of accelerators."""
    found = sorted(FUNCTIONS.iterdir())
    return [one for one in found if (_number(one, "vendor"), _number(one, "device")) == (VENDOR, DEVICE)]


def _map(file: Path, size: int) -> mmap.mmap:
    descriptor = os.open(file, os.O_RDWR | os.O_SYNC)
    try:
        return mmap.mmap(descriptor, size)
    finally:
        os.close(descriptor)


class Memory:
    """The memory to which accelerators have access: BAR 2 of one of the functions. Buffers are given until the end of
    the process."""

    def __init__(self) -> None:
        for function in functions():
            first, last, _ = (int(word, 16) for word in (function / "resource").read_text().splitlines()[2].split())
            if last > first:
                self.address = first  # guest-physical, which is what the registers take
                self.bytes = _map(function / "resource2", last - first + 1)
                self._next = 0
                return
        raise AcceleratorError("no function has memory for buffers: expected dma-memory in the system file")

    def take(self, size: int) -> int:
        """Returns the offset of a buffer in the memory."""
        offset = self._next
        if offset + size > len(self.bytes):
            raise AcceleratorError(f"expected at most {len(self.bytes) - offset} bytes, got {size}")
        self._next += -(-size // ALIGN) * ALIGN
        return offset


class Accelerator:
    """The function of a task. One process uses it at a time."""

    def __init__(self, task: int, memory: Memory) -> None:
        self.function = next((one for one in functions() if _number(one, "subsystem_device") == task), None)
        if self.function is None:
            raise AcceleratorError(f"the VM has no function of task {task}")
        uio = next((self.function / "uio").glob("uio*"), None) if (self.function / "uio").is_dir() else None
        if uio is None:
            raise AcceleratorError(f"{self.function.name} has no driver: expected uio_pci_generic")
        self.interrupts = 0
        self._memory = memory
        self._registers = _map(self.function / "resource0", mmap.PAGESIZE)
        self._config = os.open(self.function / "config", os.O_RDWR)
        self._events = os.open(f"/dev/{uio.name}", os.O_RDONLY)  # counts interrupts from here on
        self._size = 0

    def __enter__(self) -> Accelerator:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Gives up the function. A job that runs goes on."""
        os.close(self._events)
        os.close(self._config)
        self._registers.close()

    # Python copies bytes of a mapping with accesses of any width. Most registers take any; START, OVER and INT_CTRL
    # have an effect when their first byte is written, so only this one is.

    def _put(self, register: int, value: int, size: int = 4) -> None:
        self._registers[register : register + size] = value.to_bytes(size, "little")

    def _get(self, register: int) -> int:
        return int.from_bytes(self._registers[register : register + 4], "little")

    def start(self, data: bytes, most: int, command: int = 0, custom: tuple[int, ...] = ()) -> None:
        """Starts a job with this input, whose output has at most `most` bytes."""
        if most > self._size or len(data) > self._size:
            self._size = max(most, len(data))
            self._input, self._output = self._memory.take(self._size), self._memory.take(self._size)
        self._memory.bytes[self._input : self._input + len(data)] = data
        self._put(CMD, command)
        self._put(DATA_ADDR, self._memory.address + self._input, 8)
        self._put(DATA_SIZE, len(data))
        self._put(RESULT, self._memory.address + self._output, 8)
        for number, value in enumerate(custom):
            self._put(CUSTOM + 4 * number, value)
        self._registers[INT_CTRL] = EITHER
        self._registers[START] = 1

    @property
    def is_over(self) -> bool:
        """Whether the job is over, or has failed."""
        return bool(self._registers[STAT] & STAT_OVER)

    def _enable_intx(self) -> None:
        """uio_pci_generic sets "interrupt disable" with each interrupt; whoever waits for the next one clears it."""
        os.pwrite(self._config, struct.pack("<H", MEMORY_AND_MASTER), COMMAND)

    # listing: finish
    def finish(self) -> tuple[bytes, int]:
        """Sleeps until the job is over; returns its output, and the task's own result."""
        while not self.is_over:
            self._enable_intx()
            os.read(self._events, 4)
            self.interrupts += 1
        fault, size, code = self._registers[STAT + 1] & 7, self._get(DONE_SIZE), self._get(DONE_CODE)
        self._registers[OVER] = 1
        if fault:
            raise AcceleratorError(f"the job has failed: {FAULTS[fault] if fault < len(FAULTS) else fault}")
        return bytes(self._memory.bytes[self._output : self._output + size]), code

    # listing end
    def run(self, data: bytes, most: int, command: int = 0, custom: tuple[int, ...] = ()) -> tuple[bytes, int]:
        """Runs a job: start() and finish()."""
        self.start(data, most, command, custom)
        return self.finish()
