# SPDX-License-Identifier: Apache-2.0
"""The copy device: what it copies and how long it takes, memory that it may not access or that fails, and its ends."""

import random
from dataclasses import dataclass

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge, with_timeout
from rtl_tools import Bench

BENCHES = [Bench(top="io_copy_sim", noise=True, depth=1, weight=40)]

DONE, BAD, VIOLATION, BUS, TIMEOUT = 0, 1, 3, 4, 5  # io_status_e
NUM_VMS, MEMORY, PAGE = 4, 1 << 14, 1 << 12
BASE, READ_ONLY, END = 0x4000_0000, 0x5000_0000, 1 << 32  # guest-physical; END: of the first 4 GiB
FAILS_READ, FAILS_WRITE = 1, 2
SLOT = 1600  # destinations: four slots from the second page on; sources are before them and in the last page


@dataclass(frozen=True)
class Completion:
    vm: int
    tag: int
    status: int
    bytes: int


class Device:
    """The harness, driven after falling edges, and what its memory has to contain."""

    def __init__(self, dut):
        self.dut = dut
        self.completions: list[Completion] = []
        self.memory = [bytearray(random.randbytes(MEMORY)) for _ in range(NUM_VMS)]

    async def begin(self, size: int = 7, latency: int = 20, timeout: int = 0) -> None:
        dut = self.dut
        for name in ("submit", "vm", "op", "tag", "length", "target", "addr", "flush", "flush_vm", "bad", "bad_word"):
            getattr(dut, f"{name}_i").value = 0
        dut.size_i.value, dut.latency_i.value, dut.timeout_i.value = size, latency, timeout
        dut.rst_ni.value = 0
        Clock(dut.clk_i, 10, "ns").start()
        await ClockCycles(dut.clk_i, 2)
        await FallingEdge(dut.clk_i)
        dut.rst_ni.value = 1
        cocotb.start_soon(self.collect())
        for vm, memory in enumerate(self.memory):
            for at in range(0, MEMORY, 8):
                dut.mem[(vm * MEMORY + at) // 8].value = int.from_bytes(memory[at : at + 8], "little")
        await FallingEdge(dut.clk_i)

    async def collect(self) -> None:
        dut = self.dut
        while True:
            await RisingEdge(dut.complete_o)
            await FallingEdge(dut.clk_i)
            names = ("vm", "tag", "status", "bytes")
            self.completions.append(Completion(*(int(getattr(dut, f"complete_{name}_o").value) for name in names)))

    async def submit(self, vm: int, dest: int, source: int, length: int, tag: int = 0, op: int = 0) -> None:
        dut = self.dut
        dut.vm_i.value, dut.addr_i.value, dut.target_i.value = vm, dest, source & 0xFFFF_FFFF
        dut.length_i.value, dut.tag_i.value, dut.op_i.value = length, tag, op
        dut.submit_i.value = 1
        await RisingEdge(dut.clk_i)
        assert not int(dut.refused_o.value)
        await FallingEdge(dut.clk_i)
        dut.submit_i.value = 0

    async def finished(self, number: int) -> None:
        """Waits until there are so many completions."""

        async def enough() -> None:
            while len(self.completions) < number:
                await FallingEdge(self.dut.clk_i)

        await with_timeout(enough(), 5, "ms")

    async def copy(self, vm: int, dest: int, source: int, length: int, **other: int) -> tuple[int, int]:
        """Status and bytes of a request alone."""
        self.completions.clear()
        await self.submit(vm, dest, source, length, **other)
        await self.finished(1)
        (done,) = self.completions
        assert done.vm == vm
        return done.status, done.bytes

    def expect(self, vm: int, dest: int, source: int, length: int) -> None:
        memory = self.memory[vm]
        memory[dest : dest + length] = memory[source : source + length]

    def load(self, vm: int) -> bytes:
        words = range(vm * MEMORY // 8, (vm + 1) * MEMORY // 8)
        return b"".join(int(self.dut.mem[word].value).to_bytes(8, "little") for word in words)

    def check(self) -> None:
        for vm, memory in enumerate(self.memory):
            assert self.load(vm) == memory, vm

    async def flush(self, vm: int) -> None:
        self.dut.flush_i.value, self.dut.flush_vm_i.value = 1, vm
        await FallingEdge(self.dut.clk_i)
        self.dut.flush_i.value = 0


def random_length() -> int:
    return random.choice([1, 2, 7, 8, 9, 127, 128, 129, 255, 1500, *(random.randint(1, 1500) for _ in range(6))])


def random_copy(slot: int) -> tuple[int, int, int]:
    """Destination in the slot, source and length, in any alignment; offsets in the VM's memory."""
    length = random_length()
    dest = PAGE + SLOT * slot + random.randrange(SLOT - length)
    source = random.choice([random.randrange(PAGE - length), 3 * PAGE + random.randrange(PAGE - length)])
    return dest, source, length


def guest(offset: int) -> int:
    return BASE + offset if offset < 3 * PAGE else READ_ONLY + offset - 3 * PAGE


def is_begun(found: bytes, before: bytes, after: bytes) -> bool:
    """The copy has got so far, from nothing to all of it."""
    return any(found == after[:number] + before[number:] for number in range(len(after) + 1))


@cocotb.test()
async def any_alignment_and_length(dut):
    """All VMs at once; whole memories are compared, so bytes beside the destinations stay."""
    device = Device(dut)
    await device.begin()
    for size, latency in ((7, 20), (3, 0), (11, 0), (10, 60), (0, 2), (4, 7)):
        dut.size_i.value, dut.latency_i.value = size, latency
        for _ in range(4 if size > 3 else 1):
            device.completions.clear()
            lengths = {}
            for vm, slot in random.sample([(vm, slot) for vm in range(NUM_VMS) for slot in range(4)], 16):
                dest, source, length = random_copy(slot)
                await device.submit(vm, guest(dest), guest(source), length, tag=slot)
                device.expect(vm, dest, source, length)
                lengths[vm, slot] = length
            await device.finished(16)
            assert {(one.vm, one.tag): one.bytes for one in device.completions} == lengths
            assert all(one.status == DONE for one in device.completions)
            device.check()


@cocotb.test()
async def a_byte_a_cycle(dut):
    device = Device(dut)
    await device.begin(size=12)
    for dest, source in ((PAGE, 0), (PAGE + 1, 7), (PAGE + 127, 1)):
        begin = int(dut.cycle_o.value)
        assert await device.copy(0, guest(dest), guest(source), 3000) == (DONE, 3000)
        cycles = int(dut.cycle_o.value) - begin
        dut._log.info("3000 bytes, latency 20: %d cycles", cycles)
        assert cycles < 3000 + 150
        device.expect(0, dest, source, 3000)
    for size in (7, 10):
        dut.size_i.value = size
        begin = int(dut.cycle_o.value)
        assert await device.copy(0, guest(PAGE), guest(0), 2048) == (DONE, 2048)
        dut._log.info("2048 bytes in chunks of %d, latency 20: %d cycles", 1 << size, int(dut.cycle_o.value) - begin)
        device.expect(0, PAGE, 0, 2048)
    device.check()


@cocotb.test()
async def downwards_areas_may_overlap(dut):
    device = Device(dut)
    await device.begin()
    for distance in (1, 3, 8, 64, 200, 1000):
        assert await device.copy(1, guest(PAGE), guest(PAGE + distance), 1500) == (DONE, 1500)
        device.expect(1, PAGE, PAGE + distance, 1500)
        device.check()


@cocotb.test()
async def bad_requests_access_no_memory(dut):
    device = Device(dut)
    await device.begin()
    for op in (1, 2, 255):
        assert await device.copy(0, guest(PAGE), guest(0), 64, op=op) == (BAD, 0)
    for lead in range(8):
        assert await device.copy(0, guest(PAGE + lead), guest(lead), 0) == (BAD, 0)
    assert await device.copy(0, END - 32, guest(0), 33) == (BAD, 0)
    assert await device.copy(0, guest(PAGE), END - 32, 33) == (BAD, 0)
    assert int(dut.bursts_o.value) == 0
    device.check()


@cocotb.test()
async def both_areas_are_in_the_same_4_gib(dut):
    """An area may end at their end; one that goes on is refused with the chunk that reaches the end."""
    device = Device(dut)
    await device.begin()
    assert await device.copy(0, END - 200, guest(0), 200) == (DONE, 200)
    device.expect(0, 3 * PAGE - 200, 0, 200)
    assert await device.copy(0, guest(PAGE), END - 200, 200) == (DONE, 200)
    device.expect(0, PAGE, 3 * PAGE - 200, 200)
    assert await device.copy(0, END + 8, END + 1003, 300) == (DONE, 300)  # pages 1 of the memory
    device.expect(0, PAGE + 8, PAGE + 1003, 300)
    device.check()
    for before in (128, 256, 1, 127):
        assert await device.copy(0, END - before, guest(0), 400) == (BAD, 0)
        device.expect(0, 3 * PAGE - before, 0, (before - 1) // 128 * 128)
        assert await device.copy(0, guest(PAGE), END - before, 400) == (BAD, 0)
        device.expect(0, PAGE, 3 * PAGE - before, (before - 1) // 128 * 128)
        device.check()


@cocotb.test()
async def windows_limit_both_sides(dut):
    device = Device(dut)
    await device.begin(size=10)
    cases = [
        (guest(PAGE), BASE + 3 * PAGE, 100, 0),
        (guest(PAGE), BASE - 100, 100, 0),
        (guest(PAGE), READ_ONLY - 8, 16, 0),
        (guest(PAGE), BASE + 3 * PAGE - 128, 129, 128),  # up to the page's end it may be written
        (BASE + 3 * PAGE, guest(0), 100, 0),
        (READ_ONLY, guest(0), 100, 0),
        (END + PAGE - 8, END, 100, 8),
    ]
    for dest, source, length, most in cases:
        assert await device.copy(2, dest, source, length) == (VIOLATION, 0), (dest, source)
        found = device.load(2)
        at = (dest - BASE if dest < READ_ONLY else 2 * PAGE - 8) if most else 0
        device.memory[2][at : at + most] = found[at : at + most]
        device.check()
        assert await device.copy(3, guest(PAGE), guest(5), 40) == (DONE, 40)
        device.expect(3, PAGE, 5, 40)


@cocotb.test()
async def memory_that_fails(dut):
    """Of a burst that fails no byte is copied, nor one behind it."""
    device = Device(dut)
    await device.begin(size=11)
    for _ in range(40):
        (dest, source, length), which = random_copy(0), random.choice([FAILS_READ, FAILS_WRITE])
        first = source if which == FAILS_READ else dest
        word = random.randint(first // 8, (first + length - 1) // 8)
        dut.bad_i.value, dut.bad_word_i.value = which, MEMORY // 8 + word
        assert await device.copy(1, guest(dest), guest(source), length) == (BUS, 0)
        block = max(word * 8 // 128 * 128 - first, 0)  # bytes before the burst that fails
        memory, found = device.memory[1], device.load(1)
        if which == FAILS_READ:
            assert is_begun(found[dest : dest + block], memory[dest : dest + block], memory[source : source + block])
            memory[dest : dest + block] = found[dest : dest + block]
        else:
            assert found[dest : dest + block] == memory[source : source + block]
            memory[dest : dest + length] = found[dest : dest + length]
        device.check()
        dut.bad_i.value = 0
        assert await device.copy(1, guest(dest), guest(source), length) == (DONE, length)
        device.expect(1, dest, source, length)
        device.check()


@cocotb.test()
async def a_timeout_ends_when_bursts_are_over(dut):
    device = Device(dut)
    await device.begin(size=11)
    for timeout, latency in ((1, 20), (30, 20), (500, 20), (100, 300), (700, 400)):
        dut.timeout_i.value, dut.latency_i.value = timeout, latency
        begin = int(dut.cycle_o.value)
        assert await device.copy(1, guest(PAGE + 3), guest(5), 1500) == (TIMEOUT, 0)
        assert int(dut.cycle_o.value) - begin < timeout + 4 * (latency + 40)
        assert not int(dut.active_o.value)
        bursts, found = int(dut.bursts_o.value), device.load(1)
        await ClockCycles(dut.clk_i, 1000)
        await FallingEdge(dut.clk_i)
        assert int(dut.bursts_o.value) == bursts
        memory, area = device.memory[1], slice(PAGE + 3, PAGE + 1503)
        assert is_begun(found[area], memory[area], memory[5:1505])
        memory[area] = found[area]
        device.check()
        dut.timeout_i.value = 0
        assert await device.copy(1, guest(PAGE + 9), guest(4), 333) == (DONE, 333)
        device.expect(1, PAGE + 9, 4, 333)
        device.check()


def check_flushed(device: Device, found: bytes, turn: int, done: int) -> None:
    """Of VM 0's three copies so many were completed before the flush; the others got so far, or were not begun."""
    memory = device.memory[0]
    for slot in range(3):
        area, source = slice(PAGE + SLOT * slot, PAGE + SLOT * slot + 1000), slot + 9 * turn
        assert is_begun(found[area], memory[area], memory[source : source + 1000])
        assert slot >= done or found[area] == memory[source : source + 1000]
        memory[area] = found[area]
    device.check()


@cocotb.test()
async def a_vm_may_be_flushed_at_any_time(dut):
    """Its requests disappear without a completion; when the device is not busy for it, nothing of its is written."""
    device = Device(dut)
    await device.begin(size=9)
    for turn in range(30):
        device.completions.clear()
        for slot in range(3):
            await device.submit(0, *map(guest, (PAGE + SLOT * slot, slot + 9 * turn)), 1000, tag=slot)
        await device.submit(1, *map(guest, (PAGE + turn, 3 * turn)), 700)
        device.expect(1, PAGE + turn, 3 * turn, 700)
        await ClockCycles(dut.clk_i, random.randrange(2500))
        await FallingEdge(dut.clk_i)
        await device.flush(0)
        before = [one for one in device.completions if one.vm == 0]
        while int(dut.busy_o.value) and int(dut.busy_vm_o.value) == 0:
            await FallingEdge(dut.clk_i)
        found = device.load(0)
        await ClockCycles(dut.clk_i, 3000)
        await FallingEdge(dut.clk_i)
        assert [one for one in device.completions if one.vm == 0] == before
        check_flushed(device, found, turn, len(before))
    assert await device.copy(0, guest(PAGE), guest(77), 500) == (DONE, 500)
    device.expect(0, PAGE, 77, 500)
    device.check()
