# SPDX-License-Identifier: Apache-2.0
"""The DMA guard of the shared devices against a model: random windows, moved and closed, and random bursts."""

import random
from dataclasses import dataclass

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge
from rtl_tools import Bench

VMS, WINDOWS = 4, 4
BENCHES = [Bench(top="io_guard", depth=1, parameters={"NumVms": VMS})]

PAGE = 4096
PAGES = 64  # addresses lie in a range this small, so that they hit
ADDRESS_BITS = 41
GUEST, SIZE, HOST = range(3)  # words of a window


@dataclass
class Window:
    """Pages; before its size is written, a window is closed."""

    guest: int = 0
    rights: int = 0
    size: int = 0
    host: int = 0


@dataclass(frozen=True)
class Burst:
    """As dma_check_t."""

    vm: int
    write: bool
    address: int
    beats: int

    def packed(self) -> int:
        return ((self.vm << 1 | self.write) << 64 | self.address) << 5 | self.beats


def allowed(windows: list[Window], burst: Burst) -> int | None:
    """The host-physical address of a burst, or None."""
    page, offset = divmod(burst.address, PAGE)
    if burst.address >> ADDRESS_BITS or offset % 8 or burst.beats == 0 or offset + 8 * burst.beats > PAGE:
        return None
    for window in windows:
        if window.guest <= page < window.guest + window.size and window.rights >> burst.write & 1:
            return (window.host + page - window.guest) * PAGE + offset
    return None


def random_burst() -> Burst:
    address = random.randrange(PAGES) * PAGE + random.choice((0, 8, PAGE - 128, PAGE - 8, 8 * random.randrange(512)))
    if random.random() < 0.1:
        address ^= 1 << random.randrange(64)
    beats = random.choice((1, 16, random.randrange(17)))
    return Burst(random.randrange(VMS), random.random() < 0.5, address, beats)


async def reset(dut) -> None:
    dut.req_i.value, dut.we_i.value, dut.word_i.value, dut.data_i.value = 0, 0, 0, 0
    dut.check_i.value, dut.request_i.value = 0, 0
    dut.rst_ni.value = 0
    Clock(dut.clk_i, 10, "ns").start()
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    await FallingEdge(dut.clk_i)


async def write(dut, vm: int, window: int, word: int, value: int) -> None:
    dut.req_i.value, dut.we_i.value = 1, 1
    dut.word_i.value, dut.data_i.value = vm << 4 | window << 2 | word, value
    await FallingEdge(dut.clk_i)
    dut.req_i.value, dut.we_i.value = 0, 0


async def set_window(dut, windows: list[list[Window]]) -> None:
    """Moves a window, as the hypervisor does: the size is written last; or closes it."""
    vm, number = random.randrange(VMS), random.randrange(WINDOWS)
    window = windows[vm][number]
    if window.size:
        window.size = 0
        await write(dut, vm, number, SIZE, 0)
    if random.random() < 0.3:
        return
    window.guest, window.rights = random.randrange(PAGES), random.randrange(4)
    window.host, window.size = random.getrandbits(20), random.randrange(PAGES // 2)
    await write(dut, vm, number, GUEST, window.guest * PAGE | window.rights)
    await write(dut, vm, number, HOST, window.host * PAGE)
    await write(dut, vm, number, SIZE, window.size * PAGE)


async def check(dut, burst: Burst) -> tuple[int | None, int]:
    """The answer, and the cycles until it."""
    dut.check_i.value, dut.request_i.value = 1, burst.packed()
    assert dut.gnt_o.value == 1
    await FallingEdge(dut.clk_i)
    dut.check_i.value, dut.request_i.value = 0, random_burst().packed()
    for cycles in range(1, WINDOWS + 1):
        ok, bad = int(dut.ok_o.value), int(dut.bad_o.value)
        assert not (ok and bad)
        if ok or bad:
            return int(dut.addr_o.value) if ok else None, cycles
        await FallingEdge(dut.clk_i)
    raise AssertionError("no answer")


@cocotb.test()
async def decides_as_the_model(dut):
    """Every burst is allowed or refused as the windows tell, within a cycle for each window."""
    await reset(dut)
    windows = [[Window() for _ in range(WINDOWS)] for _ in range(VMS)]
    seen = set()
    for _ in range(6000):
        if random.random() < 0.1:
            await set_window(dut, windows)
        burst = random_burst()
        answer, cycles = await check(dut, burst)
        assert answer == allowed(windows[burst.vm], burst), burst
        seen.add((answer is not None, cycles))
        await FallingEdge(dut.clk_i)
    assert seen >= {(True, cycles) for cycles in range(1, WINDOWS + 1)} | {(False, 1), (False, WINDOWS)}
    dut._log.info("answers: %s", sorted(seen))


@cocotb.test()
async def a_reset_closes_all_windows(dut):
    await reset(dut)
    for vm in range(VMS):
        await write(dut, vm, 0, GUEST, 3)
        await write(dut, vm, 0, HOST, 0)
        await write(dut, vm, 0, SIZE, PAGES * PAGE)
    assert (await check(dut, Burst(1, True, 0, 1)))[0] == 0
    dut.rst_ni.value = 0
    await FallingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    await FallingEdge(dut.clk_i)
    for vm in range(VMS):
        assert (await check(dut, Burst(vm, True, 0, 1)))[0] is None
