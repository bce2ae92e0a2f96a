# SPDX-License-Identifier: Apache-2.0
"""
The flash shared by VMs, from a request to its completion in memory, with a model of an S25FL128S: what the VMs get,
how long they wait, and what a hostile one cannot do.
"""

import logging
import random
import struct
from dataclasses import dataclass, field

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, Event, FallingEdge, Lock, RisingEdge, Timer, with_timeout
from cocotbext.axi import AxiBus, AxiRam
from figures import measured
from rtl_tools import Bench, rounds, with_long

RESET = 500  # cycles of the flash's software reset
# Cycles after rst_ni: deselected, the command of the software reset with the slowest SCK, and the software reset.
RECOVERY = 256 + 8 * 2 * 255 + RESET
# the protocol, not the times
SHORT = {"EraseCycles": 60_000, "ProgramCycles": 4_000, "SuspendCycles": 1_000, "ResetCycles": RESET}
BENCHES = with_long(Bench(top="io_flash_sim", depth=1, weight=60, parameters=SHORT))

PERIOD = 10  # ns
BASE, WINDOW = 0x4000_0000, 0x10000
RING, BUFFERS = 0xF000, 0x1000  # in a VM's window
ENTRIES = 16
SECTOR = 0x10000
READ, PROGRAM, ERASE = range(3)
ROUND_ROBIN, PRIORITY, EDF = range(3)
DONE, BAD, FORBIDDEN, VIOLATION, BUS, TIMEOUT = range(6)
BYTE = 32  # cycles of a byte at SCK 25 MHz


def pattern(address: int) -> int:
    """What flash_model holds at first."""
    return (address * 167 + (address >> 8) * 13 + (address >> 16)) & 0xFF


@dataclass
class Completion:
    status: int
    tag: int
    bytes: int
    data: int
    cycles: int  # from the request to the completion in memory


@dataclass
class Vm:
    number: int
    position: int = 0
    takes: bool = True  # its completions, as they come
    waiting: dict[int, int] = field(default_factory=dict)  # tag: when it was submitted
    completions: list[Completion] = field(default_factory=list)
    changed: Event = field(default_factory=Event)


class Machine:
    def __init__(self, dut, vms: int = 16):
        self.dut, self.vms = dut, [Vm(n) for n in range(vms)]
        logging.getLogger(f"cocotb.{dut._name}.m_axi").setLevel(logging.WARNING)
        axi = AxiBus.from_prefix(dut, "m_axi")
        self.ram = AxiRam(axi, dut.clk_i, dut.rst_ni, reset_active_level=False, size=vms * WINDOW)
        self.ignored = 0
        self.lost = [0] * vms
        self.order: list[int] = []  # the VMs of the completions
        self.port = Lock()

    async def start(self, policy: int = PRIORITY, size: int = 7, **changes: int) -> None:
        """Each VM has two sectors of the flash, and its number as priority; `size`: a chunk has 2^size bytes."""
        dut, vms = self.dut, self.vms
        values = dict.fromkeys(("timeout_i", "period_i", "changed_i", "submit_i", "flush_i", "set_i", "op_i"), 0)
        values |= dict.fromkeys(("vm_i", "tag_i", "length_i", "target_i", "addr_i", "due_i", "flush_vm_i"), 0)
        values |= {
            "set_vm_i": 0,
            "set_addr_i": 0,
            "set_budget_i": 0,
            "set_cycles_i": 0,
            "policy_i": policy,
            "size_i": size,
            "half_i": 2,
            "slice_i": 10_000,
        }
        values |= {
            "allowed_i": (1 << len(vms)) - 1,
            "prio_i": sum(n << 4 * n for n in range(len(vms))),
            "first_i": sum(2 * n << 8 * n for n in range(len(vms))),
            "number_i": sum(2 << 9 * n for n in range(len(vms))),
        }
        for name, value in (values | changes).items():
            getattr(dut, name).value = value
        Clock(dut.clk_i, PERIOD, "ns").start()
        dut.power_ni.value = 0
        await self.reset()
        cocotb.start_soon(self._watch())
        await ClockCycles(dut.clk_i, RECOVERY + 200)

    async def reset(self, ns: int = 4 * PERIOD) -> None:
        """A reset of the devices: without power_ni, the flash does not notice. All requests are lost. The flash may
        ignore the command that the reset cuts, which is over four cycles later."""
        self.dut.rst_ni.value = 0
        await Timer(ns, "ns")
        self.dut.rst_ni.value, self.dut.power_ni.value = 1, 1
        await ClockCycles(self.dut.clk_i, 4)
        self.ignored = 0
        for vm in self.vms:
            vm.waiting.clear()
            await self.set_ring(vm.number)

    async def set_ring(self, vm: int, addr: int = BASE + RING) -> None:
        await FallingEdge(self.dut.clk_i)
        self.dut.set_i.value, self.dut.set_vm_i.value, self.dut.set_addr_i.value = 1, vm, addr
        await FallingEdge(self.dut.clk_i)
        self.dut.set_i.value = 0
        self.vms[vm].position = 0
        self.write(vm, RING, bytes(8 * ENTRIES))

    def write(self, vm: int, offset: int, data: bytes) -> None:
        self.ram.write(vm * WINDOW + offset, data)

    def read(self, vm: int, offset: int, size: int) -> bytes:
        return self.ram.read(vm * WINDOW + offset, size)

    def now(self) -> int:
        return int(self.dut.cycle_o.value)

    async def _watch(self) -> None:
        """Collects events. written_o rises for a cycle, and at most every fifth one."""
        dut = self.dut
        while True:
            await RisingEdge(dut.event_o)
            await FallingEdge(dut.clk_i)
            self.ignored += int(dut.ignored_o.value)
            lost, written = int(dut.lost_o.value), int(dut.written_o.value)
            for vm in self.vms if lost or written else []:
                self.lost[vm.number] += lost >> vm.number & 1
                if vm.takes and written >> vm.number & 1:
                    self._take(vm)

    def _take(self, vm: Vm) -> None:
        word = struct.unpack("<Q", self.read(vm.number, RING + 8 * (vm.position % ENTRIES), 8))[0]
        assert word & 1 == 1 - vm.position // ENTRIES % 2, "the entry is not new"
        vm.position += 1
        self.order.append(vm.number)
        tag = word >> 8 & 0xFF
        cycles = int(self.dut.beat_o.value) - vm.waiting.pop(tag)
        vm.completions.append(Completion(word >> 4 & 15, tag, word >> 16 & 0xFFFF, word >> 32, cycles))
        vm.changed.set()

    async def submit(
        self, vm: int, op: int, target: int, length: int, addr: int = 0, tag: int = 0, due: int = 0
    ) -> bool:
        """One request; `addr` is an offset in the VM's window, or an address outside. False if it is refused."""
        async with self.port:
            return await self._submit(vm, op, target, length, addr, tag, due)

    async def _submit(self, vm: int, op: int, target: int, length: int, addr: int, tag: int, due: int) -> bool:
        dut = self.dut
        await FallingEdge(dut.clk_i)
        where = addr if addr > WINDOW else BASE + addr
        names = ("vm_i", "op_i", "tag_i", "length_i", "target_i", "addr_i", "due_i", "submit_i")
        for name, value in zip(names, (vm, op, tag, length, target, where, due, 1), strict=True):
            getattr(dut, name).value = value
        await RisingEdge(dut.clk_i)
        refused = bool(int(dut.refused_o.value))
        if not refused:
            assert tag not in self.vms[vm].waiting
            self.vms[vm].waiting[tag] = self.now()
        await FallingEdge(dut.clk_i)
        dut.submit_i.value = 0
        return not refused

    async def finish(self) -> None:
        """Waits until every request has its completion."""
        for vm in self.vms:
            while vm.waiting:
                await self.change(vm)

    async def change(self, vm: Vm) -> None:
        vm.changed.clear()
        await with_timeout(vm.changed.wait(), 20, "ms")

    async def do(self, vm: int, op: int, target: int, length: int, addr: int = 0) -> Completion:
        assert await self.submit(vm, op, target, length, addr, tag=255)
        while 255 in self.vms[vm].waiting:
            await self.change(self.vms[vm])
        await FallingEdge(self.dut.clk_i)
        return self.vms[vm].completions[-1]

    def expected(self, vm: int, target: int, length: int) -> bytes:
        return bytes(pattern(2 * vm * SECTOR + target + n) for n in range(length))


@cocotb.test()
async def reads_return_the_vms_own_bytes(dut):
    """Random addresses and lengths of all VMs at once, in any alignment; bytes around the buffer stay."""
    machine, rng = Machine(dut), random.Random(1)
    await machine.start(ROUND_ROBIN)
    wanted = []
    for tag in range(4):
        for vm in range(16):
            length, target = rng.choice((1, 3, 4, 5, 8, 60, 200)), rng.randrange(2 * SECTOR - 256)
            addr = BUFFERS + tag * 0x200 + rng.randrange(1, 9)
            machine.write(vm, addr - 1, b"\xa5" * (length + 2))
            assert await machine.submit(vm, READ, target, length, addr, tag)
            wanted.append((vm, tag, target, length, addr))
    await machine.finish()
    for vm, tag, target, length, addr in wanted:
        found = next(c for c in machine.vms[vm].completions if c.tag == tag)
        assert (found.status, found.bytes) == (DONE, length)
        data = machine.expected(vm, target, length)
        if length <= 4:
            assert found.data == int.from_bytes(data, "little")
            data = b"\xa5" * length
        assert machine.read(vm, addr - 1, length + 2) == b"\xa5" + data + b"\xa5"
    assert machine.ignored == 0 and int(dut.shortest_o.value) == 2


@cocotb.test()
async def a_read_takes_the_time_of_its_wire(dut):
    machine = Machine(dut)
    await machine.start(size=7)
    one = (await machine.do(3, READ, 77, 1)).cycles
    measured("fpga.io.flash.read1_overhead", one - 5 * BYTE)
    whole = (await machine.do(3, READ, 512, 256, BUFFERS)).cycles
    measured("fpga.io.flash.read256", whole)
    assert machine.read(3, BUFFERS, 256) == machine.expected(3, 512, 256)


VMS = 9  # of the published measurement
CHUNK = (4 + 128) * BYTE  # cycles on the wire


async def load(machine: Machine, length: int, rounds: int, rng: random.Random) -> dict[int, list[int]]:
    """Every VM always has a request of this length waiting. Returns the times of each VM's requests in cycles."""
    taken: dict[int, list[int]] = {}

    async def client(vm: int) -> None:
        for _ in range(rounds):
            target = rng.randrange(2 * SECTOR - length)
            found = await machine.do(vm, READ, target, length, BUFFERS)
            assert (found.status, found.bytes) == (DONE, length)
            if length > 4:
                assert machine.read(vm, BUFFERS, length) == machine.expected(vm, target, length)
            taken.setdefault(vm, []).append(found.cycles)

    for task in [cocotb.start_soon(client(vm)) for vm in range(VMS)]:
        await task
    return taken


@cocotb.test()
async def the_highest_priority_waits_for_one_chunk(dut):
    """Nine VMs read without pause: 1, 4, 64 and 256 bytes. Beside the two highest, the seven lowest get nothing."""
    machine, rng = Machine(dut), random.Random(2)
    await machine.start(PRIORITY)
    for length in (1, 4, 64, 256):
        machine.order.clear()
        taken = (await load(machine, length, 12, rng))[VMS - 1]
        lasts = len(machine.order) - machine.order[::-1].index(VMS - 1)
        assert set(machine.order[1:lasts]) == {VMS - 2, VMS - 1}, "behind the request that found the device idle"
        chunks = -(-length // 128)
        wire = (4 * chunks + length) * BYTE
        foreign = min(CHUNK, (4 + length) * BYTE)
        dut._log.info(f"{length} B, highest of nine: {min(taken)} .. {max(taken)}, wire {wire}")
        assert max(taken) <= wire + foreign + 30 * (chunks + 1)
        assert max(taken) - min(taken) <= foreign
        measured(f"fpga.io.flash.read{length}_loaded", max(taken))
        measured(f"fpga.io.flash.read{length}_spread", max(taken) - min(taken))


@cocotb.test()
async def under_round_robin_a_read_waits_for_one_chunk_of_each_other_vm(dut):
    machine, rng = Machine(dut), random.Random(3)
    await machine.start(ROUND_ROBIN)
    taken = await load(machine, 64, 8, rng)
    longest = max(max(times) for times in taken.values())
    one = (4 + 64) * BYTE
    dut._log.info(f"64 B, round robin of nine: up to {longest}, one alone {one}")
    assert 8 * one < longest <= VMS * (one + 40)


@cocotb.test()
async def under_edf_the_earliest_deadline_is_first(dut):
    machine, rng = Machine(dut), random.Random(4)
    await machine.start(EDF)
    order = list(range(1, 12))
    rng.shuffle(order)
    assert await machine.submit(0, READ, 0, 128, BUFFERS, due=0xFFFF_FF00)  # is served while the others arrive
    for n, vm in enumerate(order):
        assert await machine.submit(vm, READ, 0, 4, due=(0xFFFF_FFF0 + 16 * vm) & 0xFFFF_FFFF, tag=n)
    await machine.finish()
    ends = {vm: machine.vms[vm].completions[0].cycles for vm in order}
    assert sorted(order) == sorted(ends, key=lambda vm: ends[vm] + 2 * order.index(vm))


@cocotb.test()
async def under_edf_any_deadlines_have_an_order(dut):
    """Random deadlines of 32 bits, against the definition: from 2^31 cycles before the present time on."""
    machine, rng = Machine(dut), random.Random(11)
    await machine.start(EDF)
    for turn in range(12):
        due = {vm: rng.randrange(1 << 32) for vm in range(1, 16)}
        assert await machine.submit(0, READ, 0, 128, BUFFERS, tag=turn)  # is served while the others arrive
        for vm in rng.sample(sorted(due), len(due)):
            assert await machine.submit(vm, READ, 0, 4, due=due[vm], tag=turn)
        past = machine.now() - (1 << 31)
        machine.order.clear()
        await machine.finish()
        assert machine.order == [0, *sorted(due, key=lambda vm: (due[vm] - past) % (1 << 32))]


@cocotb.test()
async def a_budget_stops_its_vm_until_the_next_replenishment(dut):
    """VM 15 has the highest priority and a quarter of the time, VM 0 the lowest one and no limit."""
    machine = Machine(dut)
    await machine.start(PRIORITY, period_i=40_000)
    await FallingEdge(dut.clk_i)
    dut.set_budget_i.value, dut.set_vm_i.value, dut.set_cycles_i.value = 1, 15, 10_000
    await FallingEdge(dut.clk_i)
    dut.set_budget_i.value = 0
    done = {0: 0, 15: 0}

    async def client(vm: int) -> None:
        while machine.now() < 400_000:
            await machine.do(vm, READ, 0, 60, BUFFERS)
            done[vm] += 1

    for one in [cocotb.start_soon(client(vm)) for vm in done]:
        await one
    share = done[15] / sum(done.values())
    dut._log.info(f"share of the VM with a quarter: {share:.3f}")
    assert 0.24 < share < 0.25 + 64 * BYTE / 40_000


@cocotb.test()
async def what_is_written_is_read(dut):
    """Programs pages across their ends, erases a sector, and other VMs' sectors stay."""
    machine, rng = Machine(dut), random.Random(5)
    await machine.start(ROUND_ROBIN, size=6)
    data = rng.randbytes(300)
    assert (await machine.do(4, ERASE, SECTOR, 0)).status == DONE
    machine.write(4, BUFFERS + 5, data)
    found = await machine.do(4, PROGRAM, SECTOR + 200, 300, BUFFERS + 5)
    assert (found.status, found.bytes) == (DONE, 300)
    await machine.do(4, READ, SECTOR + 190, 320, BUFFERS + 0x400)
    assert machine.read(4, BUFFERS + 0x400, 320) == b"\xff" * 10 + data + b"\xff" * 10
    for vm, target in ((3, 2 * SECTOR - 64), (4, SECTOR - 64), (5, 0)):
        await machine.do(vm, READ, target, 64, BUFFERS)
        assert machine.read(vm, BUFFERS, 64) == machine.expected(vm, target, 64)
    assert machine.ignored == 0


@cocotb.test()
async def an_erase_does_not_delay_reads(dut):
    """Three VMs erase and program while another one reads, which waits for two slices and the suspension at most."""
    machine, rng = Machine(dut), random.Random(6)
    await machine.start(PRIORITY, size=6, slice_i=2_000)
    data = {vm: rng.randbytes(40) for vm in (1, 2, 3)}

    async def writer(vm: int) -> None:
        machine.write(vm, BUFFERS, data[vm])
        assert (await machine.do(vm, ERASE, 0, 0)).status == DONE
        found = await machine.do(vm, PROGRAM, 0x100, 40, BUFFERS)
        assert (found.status, found.bytes) == (DONE, 40)

    writers = [cocotb.start_soon(writer(vm)) for vm in data]
    longest = 0
    while any(not one.done() for one in writers):
        await ClockCycles(dut.clk_i, rng.randrange(3_000))
        longest = max(longest, (await machine.do(9, READ, 64, 4)).cycles)
    dut._log.info(f"longest read beside erases: {longest}")
    # The flash continues a program operation to its end, then an erase, and suspends it within 1,000 cycles; or 40
    # bytes are sent and programmed instead of the erase. Between them there are statuses.
    assert longest < (4 + 40) * BYTE + 2 * 2_000 + 1_000 + 12 * BYTE + 8 * BYTE
    for vm, written in data.items():
        await machine.do(vm, READ, 0x100, 40, BUFFERS + 0x800)
        assert machine.read(vm, BUFFERS + 0x800, 40) == written
        await machine.do(vm, READ, 0, 32, BUFFERS + 0x800)
        assert machine.read(vm, BUFFERS + 0x800, 32) == b"\xff" * 32
    assert machine.ignored == 0


@cocotb.test()
async def bad_requests_are_refused_and_hurt_nobody(dut):
    machine = Machine(dut)
    await machine.start(ROUND_ROBIN)
    good = await machine.do(7, READ, 16, 4)
    cases = [
        (99, 0, 8, BUFFERS, BAD),
        (READ, 0, 0, BUFFERS, BAD),
        (PROGRAM, 0, 0, BUFFERS, BAD),
        (ERASE, 8, 0, BUFFERS, BAD),
        (ERASE, 0, 8, BUFFERS, BAD),
        (READ, 2 * SECTOR - 4, 8, BUFFERS, FORBIDDEN),
        (READ, 0xFFFF_FFFC, 8, BUFFERS, FORBIDDEN),
        (PROGRAM, 2 * SECTOR, 8, BUFFERS, FORBIDDEN),
        (ERASE, 2 * SECTOR, 0, BUFFERS, FORBIDDEN),
        (READ, 0, 8, BASE + WINDOW, VIOLATION),
        (READ, 0, 8, BASE - 16, VIOLATION),
        (PROGRAM, 0, 8, BASE + WINDOW - 4, VIOLATION),
    ]
    for op, target, length, addr, status in cases:
        found = await machine.do(6, op, target, length, addr)
        assert (found.status, found.bytes) == (status, 0), (op, target, length, addr)
        again = await machine.do(7, READ, 16, 4)
        assert (again.status, again.data) == (DONE, good.data), (op, target, length, addr)
        await machine.do(7, READ, 32, 40, BUFFERS)
        assert machine.read(7, BUFFERS, 40) == machine.expected(7, 32, 40), (op, target, length, addr)
    assert machine.ignored == 0


@cocotb.test()
async def a_flood_fills_only_its_own_ring(dut):
    """A VM submits in every other cycle; another one's read waits for one chunk, and gets its data."""
    machine = Machine(dut)
    await machine.start(ROUND_ROBIN)
    accepted = refused = 0
    for tag in range(100):
        if await machine.submit(2, READ, 0, 200, BUFFERS, tag):
            accepted += 1
        else:
            refused += 1
    assert accepted < 8 and refused > 90
    found = await machine.do(11, READ, 5, 4)
    assert found.status == DONE and found.cycles < CHUNK + 12 * BYTE
    await machine.finish()


async def flush(machine: Machine, vm: int) -> None:
    await FallingEdge(machine.dut.clk_i)
    machine.dut.flush_i.value, machine.dut.flush_vm_i.value = 1, vm
    await FallingEdge(machine.dut.clk_i)
    machine.dut.flush_i.value = 0
    machine.vms[vm].waiting.clear()


@cocotb.test()
async def a_vm_may_be_flushed_at_any_time(dut):
    """Its requests disappear without a completion; the others' stay right; afterwards it starts anew."""
    machine, rng = Machine(dut), random.Random(7)
    await machine.start(ROUND_ROBIN, size=6, slice_i=500)
    for turn in range(rounds(10, 30)):
        ops = [(READ, 0, rng.randrange(1, 150)), (PROGRAM, 0x200, 20), (ERASE, SECTOR, 0)]
        for tag, (op, target, length) in enumerate(rng.sample(ops, 3)):
            assert await machine.submit(5, op, target, length, BUFFERS, tag=tag)
        assert await machine.submit(6, READ, 40, 4, tag=turn)
        await ClockCycles(dut.clk_i, rng.randrange(20_000))
        await flush(machine, 5)
        count = len(machine.vms[5].completions)
        await machine.finish()
        assert machine.vms[6].completions[-1].data == int.from_bytes(machine.expected(6, 40, 4), "little")
        for _ in range(10_000):
            if not int(dut.busy_o.value):
                break
            await ClockCycles(dut.clk_i, 16)
        await machine.set_ring(5)
        assert len(machine.vms[5].completions) == count
    found = await machine.do(5, READ, 0x1000, 4)
    assert found.data == int.from_bytes(machine.expected(5, 0x1000, 4), "little")
    assert machine.ignored == 0


async def erase_is_suspended(machine: Machine, vm: int, reader: int) -> None:
    """VM `vm` erases its first sector, which is suspended for reads of the other VM; they are under way."""
    assert await machine.submit(vm, ERASE, 0, 0, tag=9)
    await ClockCycles(machine.dut.clk_i, 4_000)
    for tag in range(4):
        assert await machine.submit(reader, READ, 0, 256, BUFFERS, tag=tag)
    await machine.change(machine.vms[reader])


@cocotb.test()
async def a_suspended_operation_of_a_flushed_vm_is_not_its_next_one(dut):
    machine = Machine(dut)
    await machine.start(PRIORITY, size=6, slice_i=500)
    await erase_is_suspended(machine, 5, 6)
    await flush(machine, 5)
    await machine.set_ring(5)
    machine.write(5, BUFFERS, b"life")
    assert (await machine.do(5, PROGRAM, 0x40, 4, BUFFERS)).status == DONE
    assert (await machine.do(5, READ, 0x40, 4)).data == int.from_bytes(b"life", "little")
    assert machine.ignored == 0


@cocotb.test()
async def an_operation_that_another_vm_has_ended_is_not_the_next_one_of_a_flushed_vm(dut):
    """VM 14's program operation brings VM 12's erase to its end; VM 12, flushed meanwhile, erases its other sector."""
    machine = Machine(dut)  # whose flash has kept what the tests before have written
    await machine.start(PRIORITY, size=6, slice_i=500)
    await erase_is_suspended(machine, 12, 13)
    for tag in range(2):
        assert await machine.submit(14, PROGRAM, 0x200 * tag, 8, BUFFERS, tag=tag)
    while 0 in machine.vms[14].waiting:
        await machine.change(machine.vms[14])
    await flush(machine, 12)
    await machine.set_ring(12)
    assert (await machine.do(12, ERASE, SECTOR, 0)).status == DONE
    assert (await machine.do(12, READ, SECTOR + 8, 4)).data == 0xFFFF_FFFF
    assert machine.ignored == 0


async def erase_between_reads(machine: Machine, vm: int, reader: int) -> None:
    """VM `vm`, whose erase is under way, is flushed while it is suspended for reads, and starts again."""
    await erase_is_suspended(machine, vm, reader)
    await flush(machine, vm)
    await machine.set_ring(vm)


@cocotb.test()
async def the_next_life_reads_no_sector_that_is_erased(dut):
    """Its read, of any length, ends the erase of its former life first; reads of others do not wait for it."""
    machine = Machine(dut)
    await machine.start(PRIORITY, size=6, slice_i=3_000)
    for vm, length in ((8, 4), (10, 40)):
        machine.write(vm, BUFFERS, b"\0" * 64)
        assert (await machine.do(vm, PROGRAM, 0, 64, BUFFERS)).status == DONE
        await erase_between_reads(machine, vm, 13)
        found = await machine.do(vm, READ, 0, length, BUFFERS)
        assert (found.status, found.bytes) == (DONE, length)
        read = found.data.to_bytes(4, "little") if length <= 4 else machine.read(vm, BUFFERS, length)
        assert read == b"\xff" * length
        await erase_between_reads(machine, vm, 13)
        assert await machine.submit(vm, READ, 0, 4, tag=1)
        assert (await machine.do(14, READ, 0, 4)).cycles < 3_000 + 1_000 + 30 * BYTE
        assert 1 in machine.vms[vm].waiting, "the erase is under way"
        await machine.finish()
        assert machine.vms[vm].completions[-1].data == 0xFFFF_FFFF
    assert machine.ignored == 0


@cocotb.test()
async def after_a_timeout_the_flash_can_be_used(dut):
    """An erase takes longer than a chunk may, alone. Another VM's read is right, and so is what follows of both VMs."""
    machine = Machine(dut)
    await machine.start(PRIORITY, size=6, timeout_i=30_000)
    machine.write(2, BUFFERS, b"data")
    for vm, op, target in ((3, READ, 0), (4, PROGRAM, 0x100), (5, ERASE, 0)):
        assert (await machine.do(2, ERASE, 0, 0)).status == TIMEOUT
        if op == READ:
            read = (await machine.do(vm, READ, SECTOR, 4)).data
            assert read == int.from_bytes(machine.expected(vm, SECTOR, 4), "little")
            assert (await machine.do(vm, READ, SECTOR, 40, BUFFERS)).bytes == 40
            assert machine.read(vm, BUFFERS, 40) == machine.expected(vm, SECTOR, 40)
        else:
            status = (await machine.do(vm, op, target, 4 if op == PROGRAM else 0, BUFFERS)).status
            assert status == (DONE if op == PROGRAM else TIMEOUT)  # which is that of the other VM's erase
        for _ in range(4):
            status = (await machine.do(2, READ, 0, 4)).status
            if status == DONE:
                break
            assert status == TIMEOUT, "the erase is continued in each turn"
        assert machine.vms[2].completions[-1].data == 0xFFFF_FFFF
        assert (await machine.do(2, PROGRAM, 0x40, 4, BUFFERS)).status == DONE
        assert (await machine.do(2, READ, 0x40, 4)).data == int.from_bytes(b"data", "little")
    assert machine.ignored == 0


@cocotb.test()
async def an_operation_whose_request_has_failed_is_not_the_next_one(dut):
    """The last bytes of a page cannot be read; the program operation that has begun before is suspended meanwhile."""
    machine = Machine(dut)
    await machine.start(PRIORITY, size=8, slice_i=100)
    assert (await machine.do(7, ERASE, SECTOR, 0)).status == DONE
    assert await machine.submit(7, PROGRAM, SECTOR, 256, BASE + WINDOW - 250, tag=1)
    await ClockCycles(dut.clk_i, 600)
    assert await machine.submit(9, READ, 0, 4, tag=1)
    await machine.finish()
    assert machine.vms[7].completions[-1].status == VIOLATION
    machine.write(7, BUFFERS, b"next")
    assert (await machine.do(7, PROGRAM, SECTOR + 0x400, 4, BUFFERS)).status == DONE
    assert (await machine.do(7, READ, SECTOR + 0x400, 4)).data == int.from_bytes(b"next", "little")
    assert machine.ignored == 0


@cocotb.test()
async def a_timeout_during_a_suspension_loses_no_operation(dut):
    """The erase, suspended for a VM of lower priority, is the first thing that the next request of its VM ends."""
    machine = Machine(dut)
    await machine.start(PRIORITY, size=6, slice_i=10_000, timeout_i=10_600)
    machine.write(12, BUFFERS, b"\0\0\0\0")
    assert (await machine.do(12, PROGRAM, 0, 4, BUFFERS)).status == DONE
    assert await machine.submit(12, ERASE, 0, 0, tag=1)
    assert await machine.submit(12, READ, 0, 4, tag=2)
    await ClockCycles(dut.clk_i, 5_000)
    assert await machine.submit(1, READ, 0, 4, tag=1)
    await machine.finish()
    assert [one.status for one in machine.vms[12].completions[1:]] == [TIMEOUT] * 2
    assert machine.vms[1].completions[-1].status == DONE
    for _ in range(8):
        found = await machine.do(12, READ, 0, 4)
        if found.status == DONE:
            break
    assert found.data == 0xFFFF_FFFF
    machine.write(12, BUFFERS, b"next")
    assert (await machine.do(12, PROGRAM, 0, 4, BUFFERS)).status == DONE
    assert (await machine.do(12, READ, 0, 4)).data == int.from_bytes(b"next", "little")
    assert machine.ignored == 0


class Turns:
    """The cycles of each VM's chunks, as the arbiter charges them."""

    def __init__(self, dut, vms: int = 16):
        self.dut, self.cycles = dut, [0] * vms
        cocotb.start_soon(self._watch())

    async def _watch(self) -> None:
        while True:
            await RisingEdge(self.dut.start_o)
            await FallingEdge(self.dut.clk_i)
            vm, began = int(self.dut.chunk_vm_o.value), int(self.dut.cycle_o.value)
            await RisingEdge(self.dut.chunk_done_o)
            await FallingEdge(self.dut.clk_i)
            self.cycles[vm] += int(self.dut.cycle_o.value) - began


@cocotb.test()
async def a_program_operation_does_not_wait_for_an_erase(dut):
    """Of the highest priority, a program operation takes its own time, a slice and the suspension, beside erases."""
    machine, rng = Machine(dut), random.Random(8)
    await machine.start(PRIORITY, size=8, slice_i=2_000)
    data = rng.randbytes(40)
    machine.write(15, BUFFERS, data)
    assert (await machine.do(15, ERASE, 0, 0)).status == DONE
    for turn in range(3):
        for vm in (1, 2):
            assert await machine.submit(vm, ERASE, 0, 0, tag=turn)
        longest = 0
        for page in range(4):
            await ClockCycles(dut.clk_i, rng.randrange(4_000))
            found = await machine.do(15, PROGRAM, (4 * turn + page) << 8, 40, BUFFERS)
            assert (found.status, found.bytes) == (DONE, 40)
            longest = max(longest, found.cycles)
        assert set(machine.vms[1].waiting) | set(machine.vms[2].waiting), "an erase is under way"
        assert longest < (4 + 40) * BYTE + 4_000 + 2_000 + 1_000 + 40 * BYTE
        await machine.finish()
    for page in range(12):
        await machine.do(15, READ, page << 8, 40, BUFFERS + 0x400)
        assert machine.read(15, BUFFERS + 0x400, 40) == data
    for vm in (1, 2):
        assert (await machine.do(vm, READ, 0, 4)).data == 0xFFFF_FFFF
    assert machine.ignored == 0


@cocotb.test()
async def an_erase_pays_for_itself_only(dut):
    """The erase of the highest priority waits for the one under way, which is continued by its own VM's turns, beside
    reads and programs of a third VM; no VM's turns take longer than its own requests."""
    machine = Machine(dut)
    await machine.start(PRIORITY, size=6, slice_i=3_000)
    turns = Turns(dut)
    assert await machine.submit(1, ERASE, 0, 0, tag=1)
    await ClockCycles(dut.clk_i, 10_000)
    assert await machine.submit(15, ERASE, 0, 0, tag=1)
    for page in range(3):
        await ClockCycles(dut.clk_i, 5_000)
        assert (await machine.do(9, PROGRAM, page << 8, 20, BUFFERS)).status == DONE
        assert (await machine.do(9, READ, SECTOR, 40, BUFFERS)).status == DONE
    assert 1 in machine.vms[1].waiting
    assert turns.cycles[15] < 200
    await machine.finish()
    # An erase takes 60,000 cycles, each of its turns a suspension and a status.
    assert 60_000 < turns.cycles[1] < 60_000 + 12 * 2_000
    assert 60_000 < turns.cycles[15] < 62_000
    for vm in (1, 15):
        assert (await machine.do(vm, READ, 8, 4)).data == 0xFFFF_FFFF
    assert machine.ignored == 0


@cocotb.test()
async def a_vm_whose_erase_waited_is_served_after_a_flush(dut):
    """Its next request, a read, waits for nothing; and an erase whose request is removed blocks nobody for ever."""
    machine = Machine(dut)
    await machine.start(PRIORITY, size=6, slice_i=3_000)
    assert await machine.submit(1, ERASE, 0, 0, tag=1)
    await ClockCycles(dut.clk_i, 8_000)
    assert await machine.submit(15, ERASE, 0, 0, tag=1)
    await ClockCycles(dut.clk_i, 8_000)
    await flush(machine, 15)
    await machine.set_ring(15)
    assert (await machine.do(15, READ, SECTOR + 4, 4)).cycles < 3_000 + 1_000 + 30 * BYTE
    assert await machine.submit(15, ERASE, 0, 0, tag=2)
    await ClockCycles(dut.clk_i, 8_000)
    await flush(machine, 1)
    await machine.set_ring(1)
    await machine.finish()
    assert (await machine.do(15, READ, 0, 4)).data == 0xFFFF_FFFF
    assert (await machine.do(1, READ, 0, 4)).data == 0xFFFF_FFFF
    assert machine.ignored == 0


async def turn_begins(machine: Machine, vm: int) -> None:
    """Waits for the VM's next turn."""
    while True:
        await RisingEdge(machine.dut.start_o)
        await FallingEdge(machine.dut.clk_i)
        if int(machine.dut.chunk_vm_o.value) == vm:
            return


async def leave_erase(machine: Machine, vm: int) -> None:
    """The VM begins an erase at once, if it may, and removes the request."""
    assert await machine.submit(vm, ERASE, 0, 0, tag=1)
    await turn_begins(machine, vm)
    await ClockCycles(machine.dut.clk_i, 3_500)
    await flush(machine, vm)


async def rounds_until_erased(machine: Machine, victim: int, attackers: tuple[int, ...]) -> int:
    """The attackers know how long an erase takes. While the victim's turn continues an erase that one of them has left,
    the next one submits an erase a moment before the end, to end it in its own turn and to leave another one."""
    await leave_erase(machine, attackers[-1])
    assert await machine.submit(victim, ERASE, 0, 0, tag=1)
    for done in range(6):
        while 1 in machine.vms[victim].waiting and not (
            int(machine.dut.busy_o.value) and int(machine.dut.chunk_vm_o.value) == victim
        ):
            await ClockCycles(machine.dut.clk_i, 8)
        progress = 1_300 if done else 3_700  # of the erase, in its VM's turn
        await ClockCycles(machine.dut.clk_i, 60_000 - progress - 1_500)
        if 1 not in machine.vms[victim].waiting:
            return done
        await leave_erase(machine, attackers[done % len(attackers)])
        if machine.vms[victim].completions:
            return done
    raise AssertionError("the erase does not begin")


@cocotb.test()
@cocotb.parametrize(attackers=[(3,), (3, 1), (1, 3)])
async def erases_that_are_left_keep_no_erase_from_beginning(dut, attackers: tuple[int, ...]):
    """Under round robin, an erase waits for one erase of each other VM, also of VMs that remove each of theirs."""
    machine = Machine(dut)
    await machine.start(ROUND_ROBIN, size=6, slice_i=3_000)
    rounds = await rounds_until_erased(machine, 2, attackers)
    dut._log.info(f"rounds of {attackers} before another VM's erase is over: {rounds}")
    assert rounds <= len(attackers)
    assert (await machine.do(2, READ, 0, 4)).data == 0xFFFF_FFFF
    assert machine.ignored == 0


class Sector:
    """The first sector of a VM, and what the VM knows of the begin of its pages."""

    SIZE = 32

    def __init__(self, machine: Machine, vm: int, rng: random.Random):
        self.machine, self.vm, self.rng = machine, vm, rng
        self.pages: list[bytes | None] = [None] * 16  # None: unknown
        self.compared = 0

    async def erase(self) -> None:
        status = (await self.machine.do(self.vm, ERASE, 0, 0)).status
        self.pages = [b"\xff" * self.SIZE if status == DONE else None] * 16

    async def program(self, page: int) -> None:
        data = self.rng.randbytes(self.SIZE)
        self.machine.write(self.vm, BUFFERS, data)
        status = (await self.machine.do(self.vm, PROGRAM, page << 8, self.SIZE, BUFFERS)).status
        self.pages[page] = data if status == DONE else None

    async def lose(self) -> None:
        """Begins an erase or a program operation, and is flushed some time later."""
        op, length = self.rng.choice(((ERASE, 0), (PROGRAM, self.SIZE)))
        assert await self.machine.submit(self.vm, op, 0, length, BUFFERS, tag=1)
        await ClockCycles(self.machine.dut.clk_i, self.rng.randrange(12_000))
        await flush(self.machine, self.vm)
        await self.machine.set_ring(self.vm)
        self.pages = [None] * 16

    async def compare(self, page: int) -> None:
        found = await self.machine.do(self.vm, READ, page << 8, self.SIZE, BUFFERS + 0x400)
        data = self.pages[page]
        if found.status == DONE and data is not None:
            assert self.machine.read(self.vm, BUFFERS + 0x400, self.SIZE) == data, (self.vm, page)
            self.compared += 1

    async def step(self) -> None:
        what, page = self.rng.random(), self.rng.randrange(16)
        if what < (0.3 if self.pages[page] is None else 0.01):
            await self.erase()
        elif what < 0.5 and self.pages[page] == b"\xff" * self.SIZE:
            await self.program(page)
        elif 0.5 < what < 0.52:
            await self.lose()
        else:
            await self.compare(page)


async def use_after_reset(machine: Machine) -> None:
    """Each operation of three VMs is what its completion says."""
    read = await machine.do(2, READ, SECTOR + 4, 4)
    assert (read.status, read.data) == (DONE, int.from_bytes(machine.expected(2, SECTOR + 4, 4), "little"))
    for vm in (1, 3):
        assert (await machine.do(vm, ERASE, 0, 0)).status == DONE
        assert (await machine.do(vm, READ, 0x200, 4)).data == 0xFFFF_FFFF
        machine.write(vm, BUFFERS, b"next")
        assert (await machine.do(vm, PROGRAM, 0x200, 4, BUFFERS)).status == DONE
        assert (await machine.do(vm, READ, 0x200, 4)).data == int.from_bytes(b"next", "little")
    assert machine.ignored == 0


@cocotb.test()
@cocotb.parametrize(op=[ERASE, PROGRAM], suspended=[False, True])
async def a_reset_finds_the_flash_in_any_state(dut, op: int, suspended: bool):
    """The devices are reset, the flash is not: it executes an operation, or suspends it for VM 6."""
    machine = Machine(dut)
    await machine.start(PRIORITY, size=6, slice_i=500)
    assert await machine.submit(1, op, 0, 40 if op == PROGRAM else 0, BUFFERS, tag=1)
    await ClockCycles(dut.clk_i, 500 if op == ERASE else 44 * BYTE + 500)
    if suspended:
        for tag in range(3):
            assert await machine.submit(6, READ, 0, 256, BUFFERS, tag=tag)
        await machine.change(machine.vms[6])
    assert 1 in machine.vms[1].waiting
    await machine.reset()
    await use_after_reset(machine)


@cocotb.test()
async def a_reset_cuts_a_command_anywhere(dut):
    """Also that of the software reset."""
    machine, rng = Machine(dut), random.Random(10)
    await machine.start(PRIORITY, size=6, slice_i=500)
    for turn in range(12):
        for vm, op, length in ((1, ERASE, 0), (3, PROGRAM, 40), (6, READ, 200)):
            await machine.submit(vm, op, 0, length, BUFFERS, tag=turn)
        await ClockCycles(dut.clk_i, rng.choice((rng.randrange(RECOVERY), RECOVERY + rng.randrange(4_000))))
        await machine.reset()
        if turn % 3 == 0:
            await use_after_reset(machine)


@cocotb.test()
@cocotb.parametrize(ns=[1, 9, 23, 60])
async def a_short_reset_leaves_the_flash_deselected_for_long_enough(dut, ns: int):
    """It cuts the command that erases, or the one of its status: the flash obeys the software reset, and so all that
    follows is what its completion says."""
    machine = Machine(dut)
    await machine.start(PRIORITY, size=6, slice_i=500)
    for tag, cycles in enumerate((2 * BYTE, 8 * BYTE)):
        assert await machine.submit(1, ERASE, 0, 0, tag=tag)
        await FallingEdge(dut.cs_no)
        await ClockCycles(dut.clk_i, cycles)
        while dut.cs_no.value:
            await FallingEdge(dut.clk_i)
        await machine.reset(ns)
        await use_after_reset(machine)


@cocotb.test()
async def everything_at_once_keeps_all_contents(dut):
    """Six VMs erase, program, read and are flushed at random, with timeouts that end some erases: what a VM has
    programmed since its last erase is what it reads, and no command comes when the flash ignores it."""
    machine, rng = Machine(dut), random.Random(9)
    await machine.start(ROUND_ROBIN, size=6, slice_i=1_500, timeout_i=58_000)
    ends = machine.now() + rounds(900_000, 1_800_000)
    sectors = [Sector(machine, vm, rng) for vm in range(6)]

    async def client(sector: Sector) -> None:
        while machine.now() < ends:
            await sector.step()

    for one in [cocotb.start_soon(client(sector)) for sector in sectors]:
        await one
    compared = [sector.compared for sector in sectors]
    statuses = [sum(one.status == status for vm in machine.vms for one in vm.completions) for status in (DONE, TIMEOUT)]
    dut._log.info(f"reads compared: {compared}; requests done, and with a timeout: {statuses}")
    assert sum(compared) > rounds(30, 60) and min(statuses) > 0
    assert machine.ignored == 0


@cocotb.test()
async def a_ring_that_is_set_is_empty(dut):
    """Also in each cycle around a completion into the ring before it, without a flush: nothing in it is missing."""
    machine, rings = Machine(dut), (RING, RING + 0x800)
    await machine.start(ROUND_ROBIN)
    machine.vms[3].takes = False
    for turn in range(40):
        ring = rings[turn % 2]
        machine.write(3, ring, bytes(8 * ENTRIES))
        assert await machine.submit(3, READ, 0, 1, tag=2 * turn)
        await ClockCycles(dut.clk_i, 5 * BYTE - 8 + turn)
        await FallingEdge(dut.clk_i)
        dut.set_i.value, dut.set_vm_i.value, dut.set_addr_i.value = 1, 3, BASE + ring
        await FallingEdge(dut.clk_i)
        dut.set_i.value = 0
        assert await machine.submit(3, READ, 0, 1, tag=2 * turn + 1)
        await ClockCycles(dut.clk_i, 12 * BYTE)
        words = struct.unpack("<3Q", machine.read(3, ring, 24))
        tags = [word >> 8 & 0xFF for word in words if word & 1]
        assert tags in ([2 * turn + 1], [2 * turn, 2 * turn + 1]), (turn, words)


@cocotb.test()
async def a_flushed_vm_has_no_ring(dut):
    machine = Machine(dut)
    await machine.start(ROUND_ROBIN)
    await flush(machine, 3)
    assert await machine.submit(3, READ, 0, 4)
    await machine.do(4, READ, 0, 4)
    await ClockCycles(dut.clk_i, 400)
    assert machine.lost[3] == 1 and not machine.vms[3].completions


@cocotb.test()
async def a_chunk_that_takes_too_long_ends_with_a_timeout(dut):
    machine = Machine(dut)
    await machine.start(ROUND_ROBIN, timeout_i=500)
    found = await machine.do(1, READ, 0, 100, BUFFERS)
    assert found.status == TIMEOUT and found.cycles < 500 + 4 * BYTE
    found = await machine.do(2, READ, 0, 4)
    assert found.status == DONE


@cocotb.test()
async def completions_without_a_ring_are_lost(dut):
    """A ring outside the VM's memory is reported, and holds up nobody."""
    machine = Machine(dut)
    await machine.start(ROUND_ROBIN)
    await machine.set_ring(3, BASE + WINDOW)
    assert await machine.submit(3, READ, 0, 4)
    found = await machine.do(4, READ, 0, 4)
    assert found.status == DONE
    await ClockCycles(dut.clk_i, 400)
    assert machine.lost[3] == 1 and not machine.vms[3].completions
