# SPDX-License-Identifier: Apache-2.0
"""Run by Linux in a VM (test_accelerators_linux.py), beside guests/examples/dsp/accelerator.py: what a program in user
space can do to the functions of two accelerators. Prints a line for each check that holds."""

import os
import random
import select
import signal
import struct
import sys
import time

from accelerator import CUSTOM, DATA_ADDR, FFT512, OVER, QAM16, RESULT, START, STAT, Accelerator
from function import ACCELERATOR, COMMAND, NO_INTX, FunctionError, Memory, functions

MEMORY_AND_MASTER = 6
PENDING = 1 << 19  # in the word of command and status
RAM = 0x80000000
SOON_MS = 5000
WORDS = bytes(range(256))


class Config:
    """The configuration space of a function, and its interrupts."""

    def load(self, offset: int) -> int:
        return struct.unpack("<I", os.pread(self._config, 4, offset))[0]

    def store(self, offset: int, value: int, width: int) -> None:
        os.pwrite(self._config, (value & (1 << 8 * width) - 1).to_bytes(width, "little"), offset)

    def enable(self, enabled: bool) -> None:
        self.store(COMMAND, MEMORY_AND_MASTER | (0 if enabled else NO_INTX), 2)

    @property
    def pending(self) -> bool:
        return bool(self.load(COMMAND) & PENDING)

    def heard(self, within_ms: int = SOON_MS) -> int:
        """Waits for an interrupt; returns how many there were until now, 0 if none comes."""
        return struct.unpack("<I", os.read(self._events, 4))[0] if self.readable(within_ms) else 0

    def readable(self, within_ms: int) -> bool:
        poll = select.poll()
        poll.register(self._events, select.POLLIN)
        return bool(poll.poll(within_ms))

    def enable_again(self, times: int, last: int = 0) -> int:
        """Each time that the pending interrupt is enabled gives one, and the handler disables it again. `last` is the
        number of interrupts until now, 0: unknown; returns this number."""
        for _ in range(times):
            self.enable(True)
            now = self.heard()
            assert last in (0, now - 1), (last, now)
            assert self.load(COMMAND) & NO_INTX, "the handler has not disabled it"
            last = now
        return last


class Function(Config, Accelerator):
    """An accelerator."""

    def begin_and_wait(self, data: bytes = WORDS) -> None:
        """A job is over; no interrupt is enabled."""
        self.enable(False)
        self.start(data, 8 * len(data))
        while not self.is_over:
            time.sleep(0.001)

    @property
    def works_on(self) -> bool:
        """A job runs, has begun, or is saved."""
        return bool(self._registers[STAT] & (1 << 1 | 1 << 3 | 1 << 4))

    def acknowledge(self) -> None:
        self._registers[OVER] = 1

    def put_address(self, register: int, address: int) -> None:
        self._put(register, address, 8)


def works(one: Function) -> None:
    while one.readable(0):
        one.heard(0)
    one.start(WORDS, 8 * len(WORDS))
    one.enable(True)
    assert one.heard() > 0, "no interrupt"
    assert len(one.finish()[0]) > 0


def bars(qam: Function, fft: Function) -> None:
    """A BAR shows its size, and nothing moves it."""
    for one in (qam, fft):
        found = [one.load(offset) for offset in range(0x10, 0x28, 4)]
        for value in (0xFFFFFFFF, 0, 0x50000000, 0x18200000, RAM, 0xFFFFFFFF):
            for offset in range(0x10, 0x38, 4):
                one.store(offset, value, 4)
        assert one.load(0x10) == 0xFFFFF000
        for offset in range(0x10, 0x28, 4):
            one.store(offset, 0, 4)
        assert [one.load(offset) for offset in range(0x10, 0x28, 4)] == found
        works(one)


def status(qam: Function, fft: Function) -> None:
    """Disabled, an interrupt is seen in the status, and comes once it is enabled; none once the job is acknowledged."""
    works(qam)
    qam.begin_and_wait()
    assert (qam.pending, fft.pending, qam.readable(0)) == (True, False, False)
    qam.enable_again(20)
    qam.acknowledge()
    qam.enable(True)
    assert (qam.pending, qam.readable(50)) == (False, False)


def hidden(qam: Function, fft: Function) -> None:
    """A device whose interrupt is disabled and pending does not hide that of another one on the same line."""
    qam.begin_and_wait()
    works(fft)
    fft.begin_and_wait()
    assert (qam.pending, fft.pending) == (True, True)
    fft.enable(True)
    assert fft.heard() > 0
    fft.acknowledge()
    qam.enable(True)
    assert qam.heard() > 0
    qam.acknowledge()


def outside(qam: Function, fft: Function) -> None:
    """DMA reaches the memory for it only."""
    for register in (DATA_ADDR, RESULT):
        for address in (RAM, RAM + 0x2000000, 0x18100000, 0xA0200000, 0x100000000):
            fft.start(WORDS * 8, 2048)
            fft.finish()
            qam.put_address(DATA_ADDR, fft._memory.address)
            qam.put_address(RESULT, fft._memory.address + 0x100000)
            qam.put_address(register, address)
            qam._registers[START] = 1
            try:
                qam.finish()
                raise AssertionError(f"DMA at {address:#x}")
            except FunctionError as error:
                assert "outside" in str(error), error
    works(qam)


def toggled(qam: Function, fft: Function) -> None:
    """Random writes to the configuration space while jobs run; afterwards the next interrupt is not lost."""
    chance = random.Random(5)
    for _ in range(20):
        qam.start(WORDS, 2048)
        fft.start(WORDS * 8, 2048)
        for _ in range(20):
            offset, width = chance.choice(
                ((4, 1), (5, 1), (4, 2), (6, 2), (0x10, 4), (0x3C, 4), (0x2C, 4), (CUSTOM, 4))
            )
            chance.choice((qam, fft)).store(offset, chance.getrandbits(32), width)
        for one in (qam, fft):
            one.finish()
    works(qam)
    works(fft)


def killed(qam: Function, fft: Function) -> None:
    """A process ends in the middle of its jobs."""
    for _ in range(3):
        child = os.fork()
        if child == 0:
            while True:
                qam.run(WORDS * 16, 32768)
        time.sleep(0.005)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        while qam.works_on:
            time.sleep(0.001)
        qam.acknowledge()
        works(qam)
    works(fft)


def main() -> int:
    """Runs the checks."""
    memory = Memory()
    assert len(functions(ACCELERATOR)) == 2
    for check in (bars, status, hidden, outside, toggled, killed):
        with Function(QAM16, memory) as qam, Function(FFT512, memory) as fft:
            memory._next = 0
            check(qam, fft)
        print(f"functions: {check.__name__}: ok", flush=True)
    print("functions: all hold")
    return 0


if __name__ == "__main__":
    sys.exit(main())
