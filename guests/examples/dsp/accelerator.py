# SPDX-License-Identifier: Apache-2.0
"""Accelerators of the fabric from user space of Linux (docs/accelerators.md#from-linux-by-python).

    memory = Memory()
    with Accelerator(QAM16, memory) as qam:
        symbols, _ = qam.run(data, 8 * len(data))

A process has one Accelerator for a device.
"""

from function import ACCELERATOR, Function, FunctionError, Memory, functions, number_in

QAM16, QAM64, FFT512, FFT1024, AES128, G722 = range(1, 7)  # HW tasks: subsystem ids of their functions

# Registers of BAR 0 (docs/fabric.md).
STAT, START, OVER, CMD, DATA_ADDR, DATA_SIZE, INT_CTRL = 0x00, 0x04, 0x08, 0x0C, 0x10, 0x18, 0x1C
RESULT, DONE_SIZE, DONE_CODE, CUSTOM = 0x20, 0x28, 0x2C, 0x40
STAT_OVER = 1 << 2  # in the first byte of STAT; the fault is in the second one
FAULTS = ("", "memory outside of what the VM may use", "a bus error", "the task hung", "a rogue task", "a bad context")
EITHER = 3  # INT_CTRL: a job that is over, or that has failed


class Accelerator(Function):
    """The function of a task."""

    def __init__(self, task: int, memory: Memory) -> None:
        found = [one for one in functions(ACCELERATOR) if number_in(one, "subsystem_device") == task]
        if not found:
            raise FunctionError(f"the VM has no function of task {task}")
        super().__init__(found[0], memory)
        self._size = 0

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

    # listing: finish
    def finish(self) -> tuple[bytes, int]:
        """Sleeps until the job is over; returns its output, and the task's own result."""
        while not self.is_over:
            self._sleep()
        fault, size, code = self._registers[STAT + 1] & 7, self._get(DONE_SIZE), self._get(DONE_CODE)
        self._registers[OVER] = 1
        if fault:
            raise FunctionError(f"the job has failed: {FAULTS[fault] if fault < len(FAULTS) else fault}")
        return bytes(self._memory.bytes[self._output : self._output + size]), code

    # listing end
    def run(self, data: bytes, most: int, command: int = 0, custom: tuple[int, ...] = ()) -> tuple[bytes, int]:
        """Runs a job: start() and finish()."""
        self.start(data, most, command, custom)
        return self.finish()
