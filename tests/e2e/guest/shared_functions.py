# SPDX-License-Identifier: Apache-2.0
"""Run by Linux in a VM (test_accelerators_linux.py), beside guests/examples/dsp/hardware_io.py: what a program in user
space can do to the function of the VM's shared devices, a flash and a copier. Prints a line for each check that
holds."""

import os
import random
import signal
import sys
import time
from collections.abc import Callable

from function import FunctionError, Memory
from functions import Config
from hardware_io import COPY, ENABLE, FLASH, INT, PENDING, READ, STATUS, SUBMIT, UART, Channel, HardwareIo

RAM = 0x80000000
PAGES, SIZE = 0x18200000, 0x8000
WINDOW = 4 * 65536  # bytes of the flash
BYTES = 512
WAITING = 31  # in STATUS: requests that are not complete
SIGNALS = (signal.SIGBUS, signal.SIGSEGV)


class Devices(Config, HardwareIo):
    """With their channels, and a buffer."""

    def __init__(self, memory: Memory) -> None:
        super().__init__(memory)
        self.buffer = memory.take(2 * BYTES)
        self.address = memory.address + self.buffer
        self.flash, self.copier = Channel(self, FLASH), Channel(self, COPY)

    def copy(self) -> None:
        """A request of which the bytes are checked."""
        data = random.randbytes(BYTES)
        at = self.buffer
        self.memory.bytes[at : at + 2 * BYTES] = data + bytes(BYTES)
        assert self.copier.run(0, self.address + BYTES, BYTES, self.address).bytes == BYTES
        assert self.memory.bytes[at + BYTES : at + 2 * BYTES] == data

    def works(self) -> None:
        """Both devices, and an interrupt for each."""
        while self.readable(0):
            self.heard(0)
        for device in (FLASH, COPY):
            self.put(device, INT, ENABLE | PENDING)
        before = self.interrupts
        self.copy()
        self.flash.run(READ, self.address, BYTES)
        assert self.interrupts > before, "no interrupt"

    def done(self, channel: Channel) -> None:
        """A request is complete, and no interrupt enabled."""
        channel.submit(0, self.address + BYTES, 64, self.address if channel is self.copier else 0)
        while channel.completion() is None:
            time.sleep(0.001)


def bars(devices: Devices) -> None:
    """A BAR shows its size, and nothing moves it."""
    found = [devices.load(offset) for offset in range(0x10, 0x28, 4)]
    assert found[0] == PAGES
    for value in (0xFFFFFFFF, 0, 0x50000000, PAGES + SIZE, RAM, 0xFFFFFFFF):
        for offset in range(0x10, 0x38, 4):
            devices.store(offset, value, 4)
    assert devices.load(0x10) == -SIZE & 0xFFFFFFFF
    for offset in range(0x10, 0x28, 4):
        devices.store(offset, 0, 4)
    assert [devices.load(offset) for offset in range(0x10, 0x28, 4)] == found


def status(devices: Devices) -> None:
    """Disabled, an interrupt of either device is seen in the status, and comes once it is enabled; none once both
    events are cleared."""
    devices.enable(False)
    for channel in (devices.flash, devices.copier):
        devices.done(channel)
        assert (devices.pending, devices.readable(0)) == (True, False)
    last = devices.enable_again(10)
    devices.put(FLASH, INT, ENABLE | PENDING)
    devices.enable_again(10, last)
    devices.put(COPY, INT, ENABLE | PENDING)
    devices.enable(True)
    assert (devices.pending, devices.readable(50)) == (False, False)


def outside(devices: Devices) -> None:
    """DMA reaches the memory for it only, and requests the VM's part of the flash."""
    tries = [(devices.flash, READ, address, 0) for address in (RAM, PAGES, 0xA0200000, 0x100000000)]
    tries += [(devices.copier, 0, address, devices.address) for address in (RAM, 0xA0200000 - 64)]
    tries += [(devices.copier, 0, devices.address, source) for source in (RAM, 0xA0200000 - 64)]
    tries += [(devices.flash, READ, devices.address, target) for target in (WINDOW - 64, WINDOW, 0xFFFFFFC0)]
    for channel, operation, address, target in tries:
        try:
            channel.run(operation, address, 128, target)
            raise AssertionError(f"a request for {address:#x}, {target:#x}")
        except FunctionError as error:
            assert "outside" in str(error), error


def kills(action: Callable[[], object]) -> bool:
    """Whether the process that does this ends by a fault."""
    child = os.fork()
    if child == 0:
        action()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status) and os.WTERMSIG(status) in SIGNALS


def faults(devices: Devices) -> None:
    """A page that the VM does not have, and a store of a byte to a register of 64 bits, end the process."""
    registers = devices._registers
    for page in set(range(8)) - {FLASH, COPY}:
        assert not devices.pages >> page & 1
        assert kills(lambda at=page * 0x1000: registers[at]), f"a load from page {page}"
        assert kills(lambda at=page * 0x1000: registers.__setitem__(at, 1)), f"a store to page {page}"
    assert kills(lambda: registers.__setitem__(COPY * 0x1000 + SUBMIT, 1))


def toggled(devices: Devices) -> None:
    """Random writes to the configuration space while requests are executed."""
    chance = random.Random(5)
    for _ in range(20):
        devices.copier.submit(0, devices.address + BYTES, BYTES, devices.address)
        devices.flash.submit(READ, devices.address, 64)
        for _ in range(20):
            offset, width = chance.choice(((4, 1), (5, 1), (4, 2), (6, 2), (0x10, 4), (0x3C, 4), (0x2C, 4), (0x40, 4)))
            devices.store(offset, chance.getrandbits(32), width)
        assert devices.copier.wait().status == devices.flash.wait().status == 0


def killed(devices: Devices) -> None:
    """A process ends in the middle of its requests; the next one removes them."""
    for _ in range(3):
        child = os.fork()
        if child == 0:
            own = Devices(devices.memory)
            while True:
                own.flash.submit(READ, own.address, BYTES)
                own.copier.run(0, own.address + BYTES, BYTES, own.address)
        while not devices.get(FLASH, STATUS) & WAITING:
            time.sleep(0.001)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        with Devices(devices.memory) as after:
            after.works()
    devices.flash, devices.copier = Channel(devices, FLASH), Channel(devices, COPY)


def main() -> int:
    """Runs the checks."""
    memory = Memory()
    with Devices(memory) as devices:
        assert devices.pages == 1 << FLASH | 1 << COPY
        assert not devices.pages >> UART & 1
        for check in (bars, status, outside, faults, toggled, killed):
            check(devices)
            devices.works()
            print(f"functions: {check.__name__}: ok", flush=True)
    print("functions: all hold")
    return 0


if __name__ == "__main__":
    sys.exit(main())
