# SPDX-License-Identifier: Apache-2.0
"""The UART shared by VMs: what is on the line, and what the registers of each VM's 16550A show."""

import random
import re
from collections import defaultdict
from itertools import pairwise

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, Lock
from cocotb.utils import get_sim_time
from rtl_tools import Bench, rounds, with_long

BENCHES = with_long(Bench(top="io_uart", depth=1, noise=True, weight=60, parameters={"NumVms": 16}))

PERIOD = 10  # ns
DIVIDER = 16
BYTE = 10 * DIVIDER  # cycles
ROOM = 64  # LineBytes
DATA, ENABLE, IDENTITY, LINE, MODEM, STATUS, MODEM_STATUS, SCRATCH = range(8)
FIFO, LOW, HIGH = IDENTITY, DATA, ENABLE
READY, OVERRUN, FRAME, BREAK, EMPTY, DONE, ERRORS = 0x01, 0x02, 0x08, 0x10, 0x20, 0x40, 0x80
NONE, SENT, RECEIVED, LATE, FAULT = 1, 2, 4, 0xC, 6  # causes that IIR shows
DIVISOR_ACCESS = 0x80
LOOP = 0x10


class Machine:
    """The bus, the line, and what has passed on it."""

    def __init__(self, dut):
        self.dut = dut
        self.port = Lock()
        self.wire = bytearray()
        self.sent: dict[int, bytearray] = defaultdict(bytearray)

    async def start(self, **changes: int) -> None:
        dut = self.dut
        values = dict.fromkeys(("mode_i", "focus_i", "flush_i", "flush_vm_i", "access_i", "vm_i"), 0)
        values |= dict.fromkeys(("reg_i", "write_i", "data_i"), 0)
        values |= {"divider_i": DIVIDER, "flush_time_i": 100, "allowed_i": 0xFFFF, "rx_i": 1}
        for name, value in (values | changes).items():
            getattr(dut, name).value = value
        dut.rst_ni.value = 0
        Clock(dut.clk_i, PERIOD, "ns").start()
        await ClockCycles(dut.clk_i, 4)
        await FallingEdge(dut.clk_i)
        dut.rst_ni.value = 1
        await ClockCycles(dut.clk_i, 20)
        cocotb.start_soon(self._listen())

    async def _listen(self) -> None:
        """Receives what is sent; a bit that is not a bit's time long gives a wrong byte or a low stop bit."""
        while True:
            await FallingEdge(self.dut.tx_o)
            await ClockCycles(self.dut.clk_i, DIVIDER // 2, FallingEdge)
            bits = []
            for _ in range(9):
                await ClockCycles(self.dut.clk_i, DIVIDER, FallingEdge)
                bits.append(int(self.dut.tx_o.value))
            assert bits[8] == 1, "no stop bit"
            self.wire.append(sum(bit << n for n, bit in enumerate(bits[:8])))

    # ---- registers ----
    async def access(self, vm: int, reg: int, data: int | None = None, pause: int = 2) -> int:
        """`pause`: cycles until the next access may begin, less one."""
        dut = self.dut
        async with self.port:
            await FallingEdge(dut.clk_i)
            dut.access_i.value, dut.vm_i.value, dut.reg_i.value = 1, vm, reg
            dut.write_i.value, dut.data_i.value = data is not None, data or 0
            await FallingEdge(dut.clk_i)
            dut.access_i.value = 0
            found = int(dut.data_o.value)
            if pause > 1:
                await ClockCycles(dut.clk_i, pause - 1, FallingEdge)
        return found

    async def read(self, vm: int, reg: int) -> int:
        return await self.access(vm, reg)

    async def write(self, vm: int, reg: int, data: int) -> None:
        await self.access(vm, reg, data)

    async def cause(self, vm: int) -> int:
        return await self.read(vm, IDENTITY) & 15

    def interrupt(self, vm: int) -> int:
        return int(self.dut.irq_o.value) >> vm & 1

    # ---- output ----
    async def put(self, vm: int, text: bytes, every: int = 0) -> None:
        """As a driver does it: up to 16 bytes whenever the transmitter is empty; `every`: mean cycles between bytes."""
        left = text
        while left:
            while not await self.read(vm, STATUS) & EMPTY:
                await ClockCycles(self.dut.clk_i, 1000)
            burst, left = left[:16], left[16:]
            for byte in burst:
                if every:
                    await ClockCycles(self.dut.clk_i, random.randrange(1, 2 * every))
                await self.write(vm, DATA, byte)
                self.sent[vm].append(byte)

    async def quiet(self, cycles: int = 4 * BYTE) -> None:
        """Until nothing is sent for so long."""
        before = -1
        while before != len(self.wire):
            before = len(self.wire)
            await ClockCycles(self.dut.clk_i, cycles)

    def lines(self) -> list[tuple[int, bytes]]:
        """The lines on the wire: owner and bytes; one that another VM's line has ended has no newline."""
        found = []
        for line in bytes(self.wire).splitlines(keepends=True):
            parts = re.fullmatch(rb"\[(\d+)\] ([^\r\n]*)(\r?\n|\r|)", line)
            assert parts, f"{line} has no owner"
            found.append((int(parts[1]), parts[2] + (b"\n" if parts[3] == b"\n" else b"")))
        return found

    def check(self, vms=range(16)) -> None:
        """Each VM's bytes are there, in order, and in its own lines."""
        got = defaultdict(bytes)
        for owner, text in self.lines():
            assert set(text) <= set(own(owner)), f"{text} is not all of VM {owner}"
            got[owner] += text
        for vm in vms:
            assert got[vm] == bytes(self.sent[vm]), f"VM {vm}"

    # ---- input ----
    async def receive(self, byte: int, stop: int = 1, low: int = 0) -> None:
        """One byte from the line; `low`: bits after it for which the line is low."""
        for bit in [0, *(byte >> n & 1 for n in range(8)), stop] + [0] * low + [1] * (low > 0 or not stop):
            self.dut.rx_i.value = bit
            await ClockCycles(self.dut.clk_i, DIVIDER, FallingEdge)

    async def receive_all(self, data: bytes) -> None:
        for byte in data:
            await self.receive(byte)
        await ClockCycles(self.dut.clk_i, 40, FallingEdge)  # each VM has been looked at

    async def take(self, vm: int) -> bytes:
        """All bytes that the VM has received."""
        got = bytearray()
        while await self.read(vm, STATUS) & READY:
            got.append(await self.read(vm, DATA))
        return bytes(got)

    async def focus(self, vm: int) -> None:
        await FallingEdge(self.dut.clk_i)
        self.dut.focus_i.value = vm

    async def mode(self, mode: int) -> None:
        await FallingEdge(self.dut.clk_i)
        self.dut.mode_i.value = mode

    async def flush(self, vm: int) -> None:
        await FallingEdge(self.dut.clk_i)
        self.dut.flush_i.value, self.dut.flush_vm_i.value = 1, vm
        await FallingEdge(self.dut.clk_i)
        self.dut.flush_i.value = 0
        await ClockCycles(self.dut.clk_i, 4, FallingEdge)


async def ready(dut, **changes: int) -> Machine:
    machine = Machine(dut)
    await machine.start(**changes)
    return machine


def own(vm: int) -> bytes:
    """The bytes that a VM sends in these tests, none of which another one sends, except for the newline."""
    return bytes([*range(0x80 + 8 * vm, 0x88 + 8 * vm), 10])


def text(vm: int, length: int, rng: random.Random) -> bytes:
    """A line without its newline."""
    return bytes(rng.choices(own(vm)[:-1], k=length))


# ---- lines ----


@cocotb.test()
async def lines_stay_whole(dut):
    """All VMs send lines at once, of up to 49 bytes; some pause within a line. None is split; each has its owner."""
    machine, rng, lines = await ready(dut, flush_time_i=4000), random.Random(1), rounds(3, 8)

    async def vm_sends(vm: int) -> None:
        for _ in range(lines):
            line = text(vm, rng.randrange(49), rng) + b"\n"
            first = rng.randrange(len(line))
            await machine.put(vm, line[:first])
            await ClockCycles(dut.clk_i, 100_000 if vm < 4 and rng.randrange(2) else 1)
            await machine.put(vm, line[first:])

    for task in [cocotb.start_soon(vm_sends(vm)) for vm in range(16)]:
        await task
    await machine.quiet()
    machine.check()
    assert b"\r" not in machine.wire
    assert len(machine.lines()) == 16 * lines


@cocotb.test()
async def a_line_behind_another_one_waits_for_its_end(dut):
    """Also if no space is left."""
    machine, rng = await ready(dut, flush_time_i=4000), random.Random(13)
    await machine.put(1, text(1, 40, rng) + b"\n")
    await machine.put(0, text(0, 20, rng) + b"\n")
    line = text(0, 28, rng)
    await machine.put(0, line)
    assert not await machine.read(0, STATUS) & EMPTY
    await machine.put(2, text(2, 20, rng) + b"\n")
    await machine.quiet()
    assert len(machine.lines()) == 3
    await machine.put(0, b"\n")
    await machine.quiet()
    assert machine.lines()[3:] == [(0, line + b"\n")]


@cocotb.test()
async def any_text_of_any_vm_arrives(dut):
    """Lines of all lengths, some of them slow, incomplete or longer than the buffer."""
    machine, rng = await ready(dut, flush_time_i=3), random.Random(2)

    async def vm_sends(vm: int) -> None:
        for _ in range(rounds(2, 5)):
            await ClockCycles(dut.clk_i, rng.randrange(1, 4000))
            line = text(vm, rng.choice((0, 1, 10, 48, 49, 63, 64, 65, 150)), rng) + b"\n" * rng.randrange(2)
            await machine.put(vm, line, rng.choice((0, 0, 20, 300)))

    for task in [cocotb.start_soon(vm_sends(vm)) for vm in range(16)]:
        await task
    await machine.quiet(4000)
    machine.check()


@cocotb.test()
async def a_prompt_is_sent_and_continued(dut):
    """An incomplete line is sent after once to twice the time; its VM continues it, another one begins a new line."""
    machine, rng = await ready(dut, flush_time_i=9), random.Random(12)
    eighty = 80 * DIVIDER
    for _ in range(10):
        await ClockCycles(dut.clk_i, rng.randrange(eighty))
        await machine.put(3, b"a")
        begin = get_sim_time("ns")
        await FallingEdge(dut.tx_o)
        assert eighty <= (get_sim_time("ns") - begin) // PERIOD + 40 <= 2 * eighty + 80
        await machine.put(3, b"\n")
        await machine.quiet()
    assert machine.wire == b"[3] a\n" * 10
    machine.wire.clear()
    await machine.put(3, b"login: ")
    await ClockCycles(dut.clk_i, 2 * eighty + 12 * BYTE)
    assert machine.wire == b"[3] login: "
    await machine.put(3, b"root\n")
    await machine.quiet()
    assert machine.wire == b"[3] login: root\n"
    await machine.put(12, b"> ")
    await machine.quiet(2 * eighty + BYTE)
    await machine.put(3, b"hello\n")
    await machine.quiet()
    assert machine.wire == b"[3] login: root\n[12] > \r\n[3] hello\n"
    await machine.put(12, b"ls\n")
    await machine.quiet()
    assert machine.lines()[-1] == (12, b"ls\n")


@cocotb.test()
async def a_flood_loses_only_its_own_bytes(dut):
    """VM 5 writes without looking at LSR; the lines of VM 6 are whole, and each one waits for one line of VM 5."""
    machine, rng = await ready(dut), random.Random(3)
    over = False

    async def flood() -> None:
        while not over:
            await machine.write(5, DATA, rng.choice(own(5)[:-1]))

    task = cocotb.start_soon(flood())
    await ClockCycles(dut.clk_i, 40 * BYTE)
    for _ in range(10):
        begin = len(machine.wire)
        await machine.put(6, text(6, 20, rng) + b"\n")
        while not machine.wire.endswith(machine.sent[6][-21:]):
            await ClockCycles(dut.clk_i, BYTE // 4)
            assert len(machine.wire) - begin <= len(b"[5] ") + ROOM + len(b"\r\n[6] ") + 21 + 1
    over = True
    await task
    await machine.quiet()
    machine.check([6])
    assert b"".join(text for owner, text in machine.lines() if owner == 6).count(b"\n") == 10


@cocotb.test()
async def turns_are_equal(dut):
    """If all VMs always have a line, they send in turn."""
    machine, rng, longest = await ready(dut), random.Random(4), rounds(20, 60)

    async def vm_sends(vm: int) -> None:
        for _ in range(rounds(3, 5)):
            await machine.put(vm, text(vm, rng.randrange(longest // 2, longest), rng) + b"\n")

    for task in [cocotb.start_soon(vm_sends(vm)) for vm in range(16)]:
        await task
    await machine.quiet()
    owners = [owner for owner, _ in machine.lines()][16:48]
    assert all(b == (a + 1) % 16 for a, b in pairwise(owners)), owners
    machine.check()


@cocotb.test()
async def accesses_without_pause_stop_no_one(dut):
    """VM 1 reads in every other cycle; the others' lines are sent and received all the same."""
    machine, rng = await ready(dut), random.Random(5)
    await machine.put(2, text(2, 30, rng) + b"\n")
    await machine.focus(3)
    over = False

    async def read() -> None:
        while not over:
            await machine.access(1, STATUS, pause=1)

    task = cocotb.start_soon(read())
    await machine.receive_all(b"abc")
    await machine.quiet()
    over = True
    await task
    machine.check()
    assert await machine.take(3) == b"abc"


@cocotb.test()
async def a_vm_may_be_flushed_at_any_time(dut):
    """Its line ends where it is, its registers are as after a reset; others lose nothing."""
    machine, rng = await ready(dut), random.Random(6)
    for turn in range(20):
        await machine.put(7, text(7, 30, rng) + b"\n" + text(7, 10, rng))
        await machine.write(7, LINE, 0x1B)
        await machine.write(7, SCRATCH, 0x55)
        await machine.write(7, ENABLE, 15)
        await machine.put(8, text(8, 20, rng) + b"\n")
        await ClockCycles(dut.clk_i, rng.randrange(1, 50 * BYTE))
        await machine.flush(7)
        for reg, value in ((LINE, 0), (SCRATCH, 0), (ENABLE, 0), (MODEM, 0), (IDENTITY, NONE), (STATUS, EMPTY | DONE)):
            assert await machine.read(7, reg) == value, (turn, reg)
        assert not machine.interrupt(7)
        await machine.quiet(10 * BYTE)
    got = b"".join(rest for owner, rest in whole_lines(machine) if owner == 8)
    assert got == bytes(machine.sent[8])
    # What it sends afterwards is a new line, also after a line that the flush has interrupted.
    await machine.put(7, text(7, 40, rng) + b"\n")
    await ClockCycles(dut.clk_i, 20 * BYTE)
    await machine.flush(7)
    await machine.put(7, b"again\n")
    await machine.quiet()
    assert machine.wire.endswith(b"\r\n[7] again\n")


def whole_lines(machine: Machine) -> list[tuple[int, bytes]]:
    """Lines, without those that a flush has interrupted in the owner."""
    kept = [line for line in bytes(machine.wire).splitlines(keepends=True) if re.match(rb"\[\d+\] ", line)]
    machine.wire = bytearray(b"".join(kept))
    return machine.lines()


@cocotb.test()
async def raw_bytes_of_the_focus(dut):
    """Mode 1: the focus VM's bytes as they are; the others never wait, and keep their last 64 bytes."""
    machine, rng = await ready(dut, mode_i=1, focus_i=4), random.Random(7)
    await machine.put(4, b"> \r\x1b[K")
    other = text(9, 300, rng)
    await machine.write(9, ENABLE, 2)
    for n, byte in enumerate(other):
        assert await machine.read(9, STATUS) & EMPTY and machine.interrupt(9)
        assert await machine.cause(9) == SENT and (await machine.cause(9) == NONE or n == 0)
        await machine.write(9, DATA, byte)
    await machine.quiet()
    assert machine.wire == b"> \r\x1b[K"
    await machine.focus(9)
    await machine.quiet()
    assert machine.wire == b"> \r\x1b[K" + other[-64:]
    # What was sent is not sent again in mode 0; lines with owners begin a line of their own.
    await machine.mode(0)
    await machine.quiet(200 * DIVIDER)
    assert machine.wire == b"> \r\x1b[K" + other[-64:]
    await machine.put(9, b"done\n")
    await machine.quiet()
    assert machine.wire.endswith(other[-64:] + b"\r\n[9] done\n")


@cocotb.test()
async def the_focus_may_change_within_a_turn(dut):
    """The turn is completed: nothing that its VM writes meanwhile becomes a part of it, or replaces a byte of it."""
    machine, rng = await ready(dut, mode_i=1, focus_i=4), random.Random(14)
    kept = text(9, ROOM, rng)
    await machine.put(9, kept)
    await machine.focus(9)
    while len(machine.wire) < 5:
        await ClockCycles(dut.clk_i, 10)
    await machine.focus(4)
    await machine.put(9, text(9, 200, rng))
    await machine.quiet()
    assert machine.wire == kept


@cocotb.test()
async def modes_change_at_any_time(dut):
    """No byte of the VM with the focus is lost or sent twice if the mode changes while it sends."""
    machine, rng = await ready(dut), random.Random(8)

    async def vm_sends(vm: int) -> None:
        for _ in range(10):
            await machine.put(vm, text(vm, rng.randrange(40), rng) + b"\n", rng.choice((20, 400)))

    tasks = [cocotb.start_soon(vm_sends(vm)) for vm in (0, 1)]
    for turn in range(20):
        await machine.mode(turn & 1)
        await ClockCycles(dut.clk_i, rng.randrange(1, 30 * BYTE))
    await machine.mode(0)
    for task in tasks:
        await task
    await machine.quiet(200 * DIVIDER)
    got = bytes(byte for byte in machine.wire if byte in own(0)[:-1])
    assert got == bytes(byte for byte in machine.sent[0] if byte != 10)


@cocotb.test()
async def without_permission(dut):
    """Writes are ignored; reads show an idle UART that is not there."""
    machine = await ready(dut, allowed_i=0xFFFD, focus_i=1)
    for reg in range(8):
        await machine.write(1, reg, 0x0B)
    for reg in range(8):
        assert await machine.read(1, reg) == (EMPTY | DONE if reg == STATUS else 0)
    await machine.receive_all(b"x")
    await machine.quiet(400 * DIVIDER)
    assert not machine.wire and not machine.interrupt(1)
    dut.allowed_i.value = 0xFFFF
    for reg in (LINE, MODEM, SCRATCH, ENABLE):
        assert await machine.read(1, reg) == 0
    assert await machine.read(1, STATUS) == EMPTY | DONE


# ---- the registers of a 16550A ----


async def scratch_enable(machine: Machine, vm: int) -> None:
    await machine.write(vm, ENABLE, 0)
    assert await machine.read(vm, ENABLE) == 0
    await machine.write(vm, ENABLE, 0x0F)
    assert await machine.read(vm, ENABLE) == 0x0F
    await machine.write(vm, ENABLE, 0)


async def is_16550a(machine: Machine, vm: int) -> None:
    """The tests that find FIFOs, and that exclude a 16650, a 16750, National's and the XScale's variants."""
    await machine.write(vm, LINE, 0xBF)
    await machine.write(vm, FIFO, 0)
    await machine.write(vm, LINE, 0)
    await machine.write(vm, FIFO, 1)
    assert await machine.read(vm, IDENTITY) >> 6 == 3
    for line in (0x80, 0xBF):
        await machine.write(vm, LINE, line)
        assert await machine.read(vm, FIFO) != 0
    modem = await machine.read(vm, MODEM)
    await machine.write(vm, LINE, 0xE0)
    before = await machine.read(vm, IDENTITY)
    await machine.write(vm, LINE, 0)
    await machine.write(vm, MODEM, modem ^ LOOP)
    await machine.write(vm, LINE, 0xE0)
    assert await machine.read(vm, IDENTITY) == before
    await machine.write(vm, LINE, 0)
    await machine.write(vm, MODEM, modem)
    for line in (0, 0x80):
        await machine.write(vm, LINE, line)
        await machine.write(vm, FIFO, 0x21)
        assert await machine.read(vm, IDENTITY) >> 5 == 6
        await machine.write(vm, FIFO, 1)
    await machine.write(vm, LINE, 0)
    await machine.write(vm, ENABLE, 0x40)
    assert await machine.read(vm, ENABLE) == 0


async def size_of_fifo(machine: Machine, vm: int) -> int:
    """As Linux measures it: in loopback mode, with the divisor changed meanwhile."""
    await machine.write(vm, LINE, 0)
    await machine.write(vm, FIFO, 0x07)
    await machine.write(vm, MODEM, LOOP | 2)
    await machine.write(vm, LINE, DIVISOR_ACCESS)
    await machine.write(vm, LOW, 1)
    await machine.write(vm, HIGH, 0)
    await machine.write(vm, LINE, 3)
    for n in range(256):
        await machine.write(vm, DATA, n)
    found = await machine.take(vm)
    assert found == bytes(range(len(found)))
    await machine.write(vm, FIFO, 1)
    await machine.write(vm, MODEM, 0)
    return len(found)


async def transmitter_interrupts_again(machine: Machine, vm: int) -> None:
    """The interrupt of an empty transmitter comes each time that it is enabled."""
    for _ in range(2):
        await machine.write(vm, ENABLE, 2)
        assert await machine.cause(vm) == SENT
        await machine.write(vm, ENABLE, 0)
        assert await machine.cause(vm) == NONE
    await machine.write(vm, ENABLE, 2)
    assert await machine.read(vm, STATUS) == EMPTY | DONE
    assert await machine.cause(vm) == SENT
    await machine.write(vm, ENABLE, 0)


@cocotb.test()
async def linux_finds_a_16550a(dut):
    """The accesses of autoconfig() and startup() of Linux's 8250 driver, beside other VMs that send."""
    machine, rng = await ready(dut), random.Random(9)
    other = cocotb.start_soon(machine.put(1, b"".join(text(1, 30, rng) + b"\n" for _ in range(10))))
    for vm in (0, 15):
        await scratch_enable(machine, vm)
        await machine.write(vm, MODEM, LOOP | 0x0A)
        assert await machine.read(vm, MODEM_STATUS) & 0xF0 == 0x90
        await machine.write(vm, MODEM, 0)
        assert await machine.read(vm, MODEM_STATUS) & 0xF0 == 0xB0
        await is_16550a(machine, vm)
        assert await size_of_fifo(machine, vm) == 16
        # startup
        await machine.write(vm, FIFO, 0x01)
        await machine.write(vm, FIFO, 0x07)
        await machine.write(vm, FIFO, 0x00)
        for reg in (STATUS, DATA, IDENTITY, MODEM_STATUS):
            await machine.read(vm, reg)
        assert await machine.read(vm, STATUS) != 0xFF
        await machine.write(vm, LINE, 3)
        await transmitter_interrupts_again(machine, vm)
        await machine.write(vm, ENABLE, 5)
        # set_termios
        await machine.write(vm, LINE, DIVISOR_ACCESS | 3)
        await machine.write(vm, LOW, 0x0D)
        await machine.write(vm, HIGH, 0x02)
        assert await machine.read(vm, LOW) == 0x0D and await machine.read(vm, HIGH) == 0x02
        await machine.write(vm, LINE, 3)
        assert await machine.read(vm, ENABLE) == 5 and await machine.read(vm, LINE) == 3
        await machine.write(vm, FIFO, 0x81)
        await machine.write(vm, SCRATCH, 0xA5)
        assert await machine.read(vm, SCRATCH) == 0xA5
    await other
    await machine.quiet()
    machine.check()


@cocotb.test()
async def registers_of_vms_are_their_own(dut):
    """Random accesses of all VMs to the registers that keep a value."""
    machine, rng = await ready(dut), random.Random(10)
    masks = {LINE: 0x7F, SCRATCH: 0xFF, MODEM: 0x0F, ENABLE: 0x0F}
    kept: dict[tuple[int, int], int] = {}
    for _ in range(2000):
        vm, reg = rng.randrange(16), rng.choice(list(masks))
        if rng.random() < 0.5:
            kept[vm, reg] = rng.randrange(256) & masks[reg]
            await machine.write(vm, reg, kept[vm, reg] | (0xF0 if reg == ENABLE else 0))
        else:
            assert await machine.read(vm, reg) == kept.get((vm, reg), 0)
    for vm in range(16):
        await machine.write(vm, MODEM, 0xFF)
        assert await machine.read(vm, MODEM) == 0x1F
        await machine.write(vm, MODEM, LOOP | vm)
        shown = await machine.read(vm, MODEM_STATUS)
        assert shown == (vm >> 2 & 3) << 6 | (vm & 1) << 5 | (vm >> 1 & 1) << 4


@cocotb.test()
async def an_empty_transmitter_takes_sixteen_bytes(dut):
    """LSR shows it as long as 16 bytes fit; the interrupt comes once for each write, and again when there is space."""
    machine = await ready(dut)
    await machine.put(1, b"x" * 40 + b"\n")  # occupies the line
    await ClockCycles(dut.clk_i, 100)
    await machine.write(0, ENABLE, 2)
    await ClockCycles(dut.clk_i, 4)
    for number in range(ROOM):
        has = EMPTY | DONE if number <= ROOM - 16 else 0
        assert await machine.read(0, STATUS) == has, number
        assert machine.interrupt(0) == bool(has)
        assert await machine.cause(0) == (SENT if has else NONE)
        await ClockCycles(dut.clk_i, 2)
        assert not machine.interrupt(0) and await machine.cause(0) == NONE
        await machine.write(0, DATA, 0x41)
    assert not machine.interrupt(0)
    while not machine.interrupt(0):
        await ClockCycles(dut.clk_i, 10)
    assert await machine.read(0, STATUS) == EMPTY | DONE and await machine.cause(0) == SENT
    await machine.quiet(1700 * DIVIDER)  # the last 15 bytes are an incomplete line
    assert machine.wire.count(b"A") == ROOM and not machine.interrupt(0)


# ---- input ----


@cocotb.test()
async def the_focus_receives(dut):
    """Bytes go to the VM that has the focus when they end; each VM keeps its own."""
    machine, rng = await ready(dut), random.Random(11)
    expected = defaultdict(bytes)
    for _ in range(12):
        vm = rng.randrange(16)
        await machine.focus(vm)
        data = rng.randbytes(rng.randrange(1, 3))
        await machine.receive_all(data)
        expected[vm] += data
    for vm in range(16):
        assert await machine.take(vm) == expected[vm]
        assert await machine.read(vm, DATA) == 0


@cocotb.test()
async def the_receivers_interrupts(dut):
    """Trigger levels, the time after which fewer bytes interrupt, and the FIFOs disabled."""
    machine = await ready(dut, focus_i=2)
    await machine.write(2, ENABLE, 1)
    for fifo, level in ((0x00, 1), (0x01, 1), (0x41, 4), (0x81, 8), (0xC1, 14)):
        await machine.write(2, FIFO, fifo | 2)
        for n in range(1, level + 1):
            await machine.receive_all(bytes([n]))
            assert machine.interrupt(2) == (n >= level), (fifo, n)
        assert await machine.cause(2) == RECEIVED
        await machine.read(2, DATA)
        await ClockCycles(dut.clk_i, 4)
        assert not machine.interrupt(2)
        await ClockCycles(dut.clk_i, 4 * BYTE - 60)
        assert not machine.interrupt(2)
        await ClockCycles(dut.clk_i, BYTE + 80)
        assert machine.interrupt(2) == (level > 1)
        assert await machine.cause(2) == (LATE if level > 1 else NONE)
        if level > 1:
            await machine.read(2, DATA)
            assert await machine.cause(2) == NONE
    assert not int(dut.irq_o.value) & ~4


@cocotb.test()
async def errors_of_the_line(dut):
    """Overrun, framing error, break, a disturbance; each is shown once, with its byte, to the focus VM only."""
    machine = await ready(dut, focus_i=6)
    await machine.write(6, ENABLE, 4)
    await machine.write(6, FIFO, 1)
    await machine.receive(0x55)
    await machine.receive(0xAA, stop=0)
    await machine.receive(0x00, stop=0, low=30)
    await machine.receive_all(b"\x33")
    dut.rx_i.value = 0
    await ClockCycles(dut.clk_i, DIVIDER // 4, FallingEdge)
    dut.rx_i.value = 1
    await ClockCycles(dut.clk_i, 12 * DIVIDER)
    assert not machine.interrupt(6)
    assert await machine.read(6, STATUS) == READY | EMPTY | DONE
    assert await machine.read(6, DATA) == 0x55
    for flags, byte in ((FRAME, 0xAA), (FRAME | BREAK, 0x00)):
        assert machine.interrupt(6) and await machine.cause(6) == FAULT
        assert await machine.read(6, STATUS) == READY | EMPTY | DONE | ERRORS | flags
        assert await machine.read(6, STATUS) == READY | EMPTY | DONE and not machine.interrupt(6)
        assert await machine.read(6, DATA) == byte
    assert await machine.take(6) == b"\x33"
    await machine.receive_all(bytes(range(17)))
    assert machine.interrupt(6) and await machine.cause(6) == FAULT
    assert await machine.read(6, STATUS) == READY | OVERRUN | EMPTY | DONE
    assert await machine.read(6, STATUS) == READY | EMPTY | DONE
    assert await machine.take(6) == bytes(range(16))
    for vm in range(16):
        assert await machine.read(vm, STATUS) == EMPTY | DONE


@cocotb.test()
async def a_flush_forgets_received_bytes(dut):
    machine = await ready(dut, focus_i=6)
    await machine.write(6, ENABLE, 5)
    await machine.receive_all(bytes(range(17)))
    assert machine.interrupt(6)
    await machine.flush(6)
    assert await machine.read(6, STATUS) == EMPTY | DONE and await machine.read(6, DATA) == 0
    assert not machine.interrupt(6)
    await machine.receive_all(b"y")
    assert await machine.take(6) == b"y"
