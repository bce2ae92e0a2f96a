# SPDX-License-Identifier: Apache-2.0
"""The Ethernet device: frames on the wire, their delivery to VMs, refusals, and the time from a request to the wire."""

import random
import zlib
from dataclasses import dataclass

import cocotb
import figures
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge
from rtl_tools import Bench, rounds, with_long

BENCHES = with_long(Bench(top="io_eth_harness", noise=True, depth=1, weight=60))

DONE, BAD, FORBIDDEN, VIOLATION, TIMEOUT = 0, 1, 2, 3, 5  # io_status_e
FORGED, VLAN, OVERFLOW, NO_REQUEST, REQUEST, WIRE = 0, 1, 2, 3, 4, 7  # lost_e
NO_START, RUNT, LONG, FCS, NOBODY = 1, 2, 3, 4, 5  # wire_e
SEND, RECEIVE = 0, 1
NUM_VMS, WINDOW = 4, 1 << 14
SHORTEST, LONGEST = 14, 1514
START = bytes([0x55] * 7 + [0xD5])
GAP = 12
ENABLE, ERROR = 1 << 9, 1 << 8
EVERYBODY = bytes([0xFF] * 6)
GROUP = bytes.fromhex("01005e000001")
LINK = bytes.fromhex("0180c200000e")
TAG = b"\x81\x00"


def random_bytes(number: int) -> bytes:
    return random.randbytes(number)


@dataclass(frozen=True)
class Vm:
    """A row of the table."""

    mac: bytes
    vlan: int | None = None
    multicast: bool = False
    enabled: bool = True

    def row(self) -> int:
        in_vlan = self.vlan is not None
        flags = self.enabled << 2 | self.multicast << 1 | in_vlan
        return (flags << 12 | (self.vlan or 0)) << 48 | int.from_bytes(self.mac, "big")

    def takes(self, frame: bytes) -> bool:
        """Whether it receives a frame on the wire, without FCS."""
        if not self.enabled or vlan_of(frame) != self.vlan:
            return False
        dest, source = frame[:6], frame[6:12]
        if dest[0] & 1:
            return (dest == EVERYBODY or self.multicast) and source != self.mac
        return dest == self.mac

    def misses(self, frame: bytes) -> bool:
        return self.enabled and frame[:6] == self.mac and vlan_of(frame) != self.vlan


def vlan_of(frame: bytes) -> int | None:
    return (int.from_bytes(frame[14:16], "big") & 0xFFF or None) if frame[12:14] == TAG else None


def without_tag(frame: bytes) -> bytes:
    return frame[:12] + frame[16:] if frame[12:14] == TAG else frame


def with_tag(frame: bytes, vlan: int | None, priority: int = 0) -> bytes:
    return frame if vlan is None else frame[:12] + TAG + (priority << 13 | vlan).to_bytes(2, "big") + frame[12:]


def padded(frame: bytes) -> bytes:
    return frame.ljust(60, b"\0")


def with_fcs(frame: bytes) -> bytes:
    return frame + zlib.crc32(frame).to_bytes(4, "little")


VMS = [
    Vm(bytes.fromhex("020000000010")),
    Vm(bytes.fromhex("020000000011"), multicast=True),
    Vm(bytes.fromhex("020000000012"), vlan=0x5A5, multicast=True),
    Vm(bytes.fromhex("021200000010"), vlan=0x5A5),
]


@dataclass(frozen=True)
class Completion:
    vm: int
    tag: int
    status: int
    bytes: int
    data: int


class Device:
    """The harness, driven after falling edges."""

    def __init__(self, dut):
        self.dut = dut
        self.vms = list(VMS)
        self.completions: list[Completion] = []
        self.read = 0  # words of the recording that were taken
        self.tag = 0
        self.begun = False

    async def begin(self, ticks: int = 1, latency: int = 20) -> None:
        dut = self.dut
        for name in ("write", "start", "submit", "flush", "abort", "loop", "play"):
            getattr(dut, f"{name}_i").value = 0
        for name in ("write_vm", "row", "why", "count_vm", "vm", "op", "bytes", "addr", "first", "last", "submit_vm",
                     "submit_op", "submit_tag", "submit_bytes", "submit_addr", "flush_vm", "play_bytes"):  # fmt: skip
            getattr(dut, f"{name}_i").value = 0
        dut.complete_ready_i.value = 1
        dut.ticks_i.value, dut.latency_i.value = ticks, latency
        dut.rst_ni.value = 0
        if not self.begun:
            Clock(dut.clk_i, 10, "ns").start()
            cocotb.start_soon(self.collect())
        self.begun, self.read = True, 0
        await ClockCycles(dut.clk_i, 2)
        await FallingEdge(dut.clk_i)
        dut.rst_ni.value = 1
        for vm, row in enumerate(self.vms):
            await self.configure(vm, row)

    async def pulse(self, name: str) -> None:
        getattr(self.dut, name).value = 1
        await FallingEdge(self.dut.clk_i)
        getattr(self.dut, name).value = 0

    async def configure(self, vm: int, row: Vm) -> None:
        self.vms[vm] = row
        self.dut.write_vm_i.value, self.dut.row_i.value = vm, row.row()
        await self.pulse("write_i")

    async def collect(self) -> None:
        dut = self.dut
        names = ("vm", "tag", "status", "bytes", "data")
        while True:
            await RisingEdge(dut.complete_o)
            await RisingEdge(dut.clk_i)  # the values before the edge
            while int(dut.complete_o.value):
                if int(dut.complete_ready_i.value):
                    values = (int(getattr(dut, f"complete_{name}_o").value) for name in names)
                    self.completions.append(Completion(*values))
                await RisingEdge(dut.clk_i)

    async def count(self, why: int, vm: int) -> int:
        self.dut.why_i.value, self.dut.count_vm_i.value = why, vm
        await FallingEdge(self.dut.clk_i)
        return int(self.dut.count_o.value)

    async def counts(self) -> dict[tuple[int, int], int]:
        rows = [(why, vm) for why in range(5) for vm in range(NUM_VMS)] + [(WIRE, why) for why in range(1, 6)]
        return {row: await self.count(*row) for row in rows}

    # Memory

    def store(self, vm: int, addr: int, data: bytes) -> None:
        """Whole words; what is around the data becomes random."""
        lead = addr % 8
        data = random_bytes(lead) + data + random_bytes(-(lead + len(data)) % 8)
        for at in range(0, len(data), 8):
            word = (vm * WINDOW + addr - lead + at) // 8
            self.dut.mem[word].value = int.from_bytes(data[at : at + 8], "little")

    def load(self, vm: int, addr: int, number: int) -> bytes:
        first, last = (vm * WINDOW + addr) // 8, (vm * WINDOW + addr + number - 1) // 8
        words = b"".join(int(self.dut.mem[w].value).to_bytes(8, "little") for w in range(first, last + 1))
        return words[addr % 8 :][:number]

    # Sending

    async def start(self, vm: int, addr: int, number: int, op: int = SEND, first: int = 1, last: int = 1) -> None:
        dut = self.dut
        dut.vm_i.value, dut.addr_i.value, dut.bytes_i.value, dut.op_i.value = vm, addr, number, op
        dut.first_i.value, dut.last_i.value = first, last
        await self.pulse("start_i")

    async def done(self) -> int:
        if not int(self.dut.done_o.value):
            await RisingEdge(self.dut.done_o)
        await FallingEdge(self.dut.clk_i)  # after the edge at which the arbiter sees done_o, or just before it
        status = int(self.dut.status_o.value)
        if int(self.dut.done_o.value):
            await FallingEdge(self.dut.clk_i)
        return status

    async def send(self, vm: int, frame: bytes, **other: int) -> int:
        addr = random.randrange(WINDOW // 2 - 2048)
        self.store(vm, addr, frame)
        await self.start(vm, addr, len(frame), **other)
        return await self.done()

    async def sent(self) -> list[tuple[int, bytes, bool]]:
        """Frames since the last call: ticks before it, bytes with preamble, whether an error was signalled."""
        await self.silence()
        end, frames = int(self.dut.recorded_o.value), []
        for at in range(self.read, end):
            word = int(self.dut.recorded[at % 65536].value)
            if word >> 10:
                frames.append((word >> 10, bytearray(), []))
            frames[-1][1].append(word & 0xFF)
            frames[-1][2].append(word >> 9 & 1)
        self.read = end
        return [(gap, bytes(data), any(errors)) for gap, data, errors in frames]

    async def silence(self) -> None:
        """Waits until nothing has been sent for a while."""
        cycles = 100 * int(self.dut.ticks_i.value) + 2 * int(self.dut.latency_i.value)
        before = None
        while before != (before := int(self.dut.recorded_o.value)):
            await ClockCycles(self.dut.clk_i, cycles)
        await FallingEdge(self.dut.clk_i)

    # Receiving

    async def post(self, vm: int, addr: int, number: int, op: int = RECEIVE) -> int:
        dut = self.dut
        self.tag = (self.tag + 1) % 256
        dut.submit_vm_i.value, dut.submit_addr_i.value, dut.submit_bytes_i.value = vm, addr, number
        dut.submit_op_i.value, dut.submit_tag_i.value = op, self.tag
        await self.pulse("submit_i")
        return self.tag

    async def play(self, symbols: list[int]) -> None:
        """On the receive pins; returns when all have passed and frames had time to be delivered."""
        await self.play_on(symbols)
        if int(self.dut.playing_o.value):
            await FallingEdge(self.dut.playing_o)
        await self.settle()

    async def play_on(self, symbols: list[int]) -> None:
        symbols = [*symbols, 0, 0]
        assert len(symbols) < 65536
        for at, symbol in enumerate(symbols):
            self.dut.played[at].value = symbol
        self.dut.play_bytes_i.value = len(symbols)
        await FallingEdge(self.dut.clk_i)
        await self.pulse("play_i")

    async def settle(self) -> None:
        await ClockCycles(self.dut.clk_i, 4 * 1600 + 100 * int(self.dut.latency_i.value))
        await FallingEdge(self.dut.clk_i)


def symbols_of(frame: bytes, gap: int = GAP, start: bytes = START, errors: tuple[int, ...] = ()) -> list[int]:
    data = start + frame
    return [ENABLE | (ERROR if at in errors else 0) | byte for at, byte in enumerate(data)] + [0] * gap


def random_length() -> int:
    return random.choice(
        [SHORTEST, 15, 59, 60, 61, 64, 128, 1513, LONGEST, *(random.randint(14, 1514) for _ in range(8))]
    )


def random_frame(source: bytes, dest: bytes | None = None, length: int | None = None) -> bytes:
    head = (dest or random.choice([EVERYBODY, GROUP, VMS[0].mac, VMS[3].mac])) + source + b"\x08\x00"
    return head + random_bytes((length or random_length()) - SHORTEST)


@cocotb.test()
async def frames_are_complete_on_the_wire(dut):
    """All lengths and alignments, tagged or not: preamble, bytes, padding, FCS; and a gap of 12 bytes."""
    device = Device(dut)
    for ticks, latency in ((1, 0), (1, 60), (2, 20), (10, 90)):
        await device.begin(ticks, latency)
        expected = []
        for _ in range(24 if ticks < 10 else 8):
            vm = random.randrange(NUM_VMS)
            frame = random_frame(VMS[vm].mac)
            assert await device.send(vm, frame) == DONE
            expected.append(START + with_fcs(padded(with_tag(frame, VMS[vm].vlan))))
        sent = await device.sent()
        assert [data for _, data, _ in sent] == expected
        assert not any(error for _, _, error in sent)
        least = min(gap for gap, _, _ in sent[1:])
        assert least >= GAP and (least == GAP or latency > 20)  # a slow memory makes it longer


@cocotb.test()
async def forbidden_frames_do_not_reach_the_wire(dut):
    device = Device(dut)
    await device.begin()
    before = await device.count(FORGED, 1)
    mac = VMS[1].mac
    for bit in range(48):
        forged = (int.from_bytes(mac, "big") ^ 1 << bit).to_bytes(6, "big")
        length = random.choice([14, 15, 60, 1514])
        assert await device.send(1, random_frame(forged, length=length)) == FORBIDDEN
    types = [TAG, b"\x88\xa8", b"\x88\x08"]
    for kind in types:
        assert await device.send(1, EVERYBODY + mac + kind + random_bytes(random.choice([0, 50]))) == FORBIDDEN
    assert await device.send(1, random_frame(mac, LINK)) == FORBIDDEN
    assert await device.count(FORGED, 1) == before + 48 + len(types) + 1
    frame = random_frame(mac)
    await device.configure(2, Vm(VMS[2].mac, enabled=False))
    assert await device.send(2, random_frame(VMS[2].mac)) == FORBIDDEN
    assert await device.send(1, frame, op=RECEIVE) == BAD
    assert await device.send(1, frame, first=0) == BAD
    assert await device.send(1, frame, last=0) == BAD
    assert await device.send(1, frame[:13]) == BAD
    assert await device.send(1, random_frame(mac, length=1515)) == BAD
    assert await device.sent() == []
    # It does not take what is beside, nor stop after a refusal.
    for near in (TAG[::-1], b"\x88\x09", b"\x81\x01"):
        assert await device.send(1, LINK[:5] + b"\x10" + mac + near + random_bytes(46)) == DONE
    assert len(await device.sent()) == 3


@cocotb.test()
async def a_forged_frame_behind_a_good_one(dut):
    """The good one is still being sent, and is not disturbed."""
    device = Device(dut)
    await device.begin(ticks=3)
    expected = []
    for _ in range(20):
        frame = random_frame(VMS[0].mac)
        assert await device.send(0, frame) == DONE
        expected.append(START + with_fcs(padded(frame)))
        assert await device.send(1, random_frame(VMS[0].mac)) == FORBIDDEN
    assert [(data, error) for _, data, error in await device.sent()] == [(data, False) for data in expected]


@cocotb.test()
async def memory_that_fails_or_starves(dut):
    device = Device(dut)
    await device.begin()
    frame = random_frame(VMS[0].mac, length=1000)
    device.store(0, WINDOW - 512, frame[:512])
    await device.start(0, WINDOW - 512, 1000)  # its end is outside of the window
    assert await device.done() == VIOLATION
    ((_, data, error),) = await device.sent()
    assert error and data[:-1] == (START + frame)[: len(data) - 1]
    await device.start(0, WINDOW, 1000)
    assert await device.done() == VIOLATION
    assert await device.sent() == []
    dut.latency_i.value = 1000
    assert await device.send(0, frame) == TIMEOUT
    ((_, data, error),) = await device.sent()
    assert error and len(data) < 300
    dut.latency_i.value = 20
    assert await device.send(0, frame) == DONE
    ((_, data, error),) = await device.sent()
    assert not error and data == START + with_fcs(frame)


@cocotb.test()
async def aborted_at_any_time(dut):
    """What is on the wire is a whole frame, or ends with an error; and the next frame is whole."""
    device = Device(dut)
    await device.begin(ticks=2)
    frame = random_frame(VMS[0].mac, length=700)
    whole = START + with_fcs(frame)
    for _ in range(30):
        ahead = random.randrange(2)
        if ahead:
            assert await device.send(0, frame) == DONE
        device.store(0, 0, frame)
        await device.start(0, 0, 700)
        await ClockCycles(dut.clk_i, random.choice([1, 30, 60, 100, 110, 120, random.randrange(850)]))
        await FallingEdge(dut.clk_i)
        dut.abort_i.value = 1
        status = await device.done()
        dut.abort_i.value = 0
        assert status in (DONE, TIMEOUT)
        assert await device.send(0, frame) == DONE
        frames = await device.sent()
        good = [data for _, data, error in frames if not error]
        assert good == [whole] * (ahead + 1 + (status == DONE))
        assert len(frames) - len(good) <= 1


@cocotb.test()
async def a_timeout_while_the_wire_is_slow(dut):
    """
    It ends the wait for the wire; the frame, which is in the queue, follows. The next chunk puts nothing behind it: so
    timeouts do not fill the queue.
    """
    device = Device(dut)
    await device.begin(ticks=250)
    frames = [random_frame(VMS[0].mac, length=length) for length in (60, SHORTEST, SHORTEST, 20)]
    assert await device.send(0, frames[0]) == DONE
    for frame, status in ((frames[1], DONE), (frames[2], TIMEOUT)):
        device.store(0, 0, frame)
        await device.start(0, 0, len(frame))
        await ClockCycles(dut.clk_i, 300)
        await FallingEdge(dut.clk_i)
        dut.abort_i.value = 1
        assert await device.done() == status
        dut.abort_i.value = 0
    assert await device.send(0, frames[3]) == DONE
    expected = [START + with_fcs(padded(frame)) for frame in (*frames[:2], frames[3])]
    assert [(data, error) for _, data, error in await device.sent()] == [(data, False) for data in expected]


def deliveries(device: Device, frame: bytes) -> list[int]:
    return [vm for vm in range(NUM_VMS) if device.vms[vm].takes(frame)]


async def check_delivery(
    device: Device, frame: bytes, posted: dict[int, tuple[int, int]], behind_bad: bool = False
) -> None:
    """
    All VMs that take the frame, in their order, had posted a request for it. If bad frames were before it, the rest of
    the request's memory is arbitrary.
    """
    expected = deliveries(device, frame)
    text = without_tag(frame)
    assert [one.vm for one in device.completions] == expected, (device.completions, expected)
    for one in device.completions:
        tag, addr = posted.pop(one.vm)
        assert (one.tag, one.status, one.bytes, one.data) == (tag, DONE, len(text), len(text))
        assert device.load(one.vm, addr, len(text)) == text
        beyond = 1514 if behind_bad else len(text)
        assert device.load(one.vm, addr + beyond, 8) == bytes([0xEE] * 8)
    device.completions.clear()


async def post_all(device: Device, posted: dict[int, tuple[int, int]]) -> None:
    for vm in range(NUM_VMS):
        if vm not in posted:
            addr = random.randrange(WINDOW // 2, WINDOW - 2048)  # apart from what is sent
            device.store(vm, addr, bytes([0xEE] * 1530))
            posted[vm] = (await device.post(vm, addr, 1514), addr)


@cocotb.test()
async def from_vm_to_vm_by_reflection(dut):
    """What a VM sends is looped back: the VMs that get it are those of its VLAN with the address, and not itself."""
    device = Device(dut)
    for ticks in (1, 4):
        await device.begin(ticks)
        dut.loop_i.value = 1
        posted: dict[int, tuple[int, int]] = {}
        for _ in range(30):
            await post_all(device, posted)
            vm = random.randrange(NUM_VMS)
            dest = random.choice([EVERYBODY, GROUP, *(other.mac for other in VMS), random_bytes(6)])
            if dest == LINK:
                continue
            frame = random_frame(VMS[vm].mac, dest)
            assert await device.send(vm, frame) == DONE
            await device.silence()
            await device.settle()
            await check_delivery(device, padded(with_tag(frame, VMS[vm].vlan)), posted)
        dut.loop_i.value = 0


async def compare_counts(device: Device, before: dict, more: dict) -> None:
    after = await device.counts()
    assert {row: after[row] - before[row] for row in after if after[row] != before[row]} == more


@cocotb.test()
async def from_outside(dut):
    """Any destination and VLAN, with priorities, tags inside tags, and VMs that are configured anew."""
    device = Device(dut)
    await device.begin()
    posted: dict[int, tuple[int, int]] = {}
    for _ in range(60):
        await post_all(device, posted)
        if random.random() < 0.3:
            vm = random.randrange(NUM_VMS)
            await device.configure(vm, Vm(VMS[vm].mac, random.choice([None, 0x5A5, 0x5A4]), random.random() < 0.5,
                                          random.random() < 0.9))  # fmt: skip
        dest = random.choice([EVERYBODY, GROUP, *(other.mac for other in VMS), random_bytes(6)])
        source = random.choice([random_bytes(6), VMS[1].mac])
        frame = dest + source + random.choice([b"\x08\x00", TAG]) + random_bytes(random.choice([46, 47, 1500]))
        if random.random() < 0.6:
            frame = with_tag(frame, random.choice([0, 0x5A5, 0x5A4, 0xFFF]), random.randrange(8))
        elif frame[12:14] == TAG and len(frame) > 1514:
            frame = frame[:1514]
        before, more = await device.counts(), {}
        await device.play(symbols_of(with_fcs(frame)))
        if not deliveries(device, frame):
            more = {(VLAN, vm): 1 for vm in range(NUM_VMS) if device.vms[vm].misses(frame)} | {(WIRE, NOBODY): 1}
        await compare_counts(device, before, more)
        await check_delivery(device, frame, posted)


def noise() -> tuple[list[int], int | None]:
    """Something that is no good frame, and how it is counted."""
    good = with_fcs(padded(random_frame(random_bytes(6), EVERYBODY)))
    kind = random.randrange(7)
    if kind == 0:  # a bit is wrong
        at, bit = random.randrange(len(good)), 1 << random.randrange(8)
        if at in (12, 13):
            at = 14
        return symbols_of(good[:at] + bytes([good[at] ^ bit]) + good[at + 1 :]), FCS
    if kind == 1:
        length = random.randrange(0, 64)
        return symbols_of(with_fcs(good[: length - 4]) if length >= 4 else good[:length]), RUNT
    if kind == 2:
        return symbols_of(
            with_fcs(EVERYBODY + random_bytes(6) + b"\x08\x00" + random_bytes(random.randint(1501, 4000)))
        ), LONG
    if kind == 3:  # truncated
        length = random.randrange(0, len(good))
        return symbols_of(good[:length]), RUNT if length < 64 else FCS
    if kind == 4:
        return symbols_of(good, errors=(random.randrange(8, len(good) + 8),)), FCS
    if kind == 5:  # without a start of frame
        start = random.choice([b"\x55" * 7 + b"\x5d", b"\x00", b"\x55\x54", b"\xff"])
        return symbols_of(good, start=start), NO_START
    return [ENABLE | 0x55] * random.randint(1, 20) + [0] * random.randint(1, 5), NO_START


async def noise_and_a_frame(device: Device, posted: dict[int, tuple[int, int]]) -> None:
    symbols, more = [], {}
    for _ in range(random.randrange(6)):
        bad, why = noise()
        symbols += bad
        more[WIRE, why] = more.get((WIRE, why), 0) + 1
    frame = padded(random_frame(random_bytes(6)))
    symbols += symbols_of(with_fcs(frame), start=START[random.randrange(8) :])
    before = await device.counts()
    await device.play(symbols)
    if not deliveries(device, frame):
        more |= {(VLAN, vm): 1 for vm in range(NUM_VMS) if device.vms[vm].misses(frame)}
        more[WIRE, NOBODY] = more.get((WIRE, NOBODY), 0) + 1
    await compare_counts(device, before, more)
    await check_delivery(device, frame, posted, behind_bad=True)


@cocotb.test()
async def noise_is_dropped_only(dut):
    """Good frames arrive between noise of all kinds, with shortened preambles; then random symbols."""
    device = Device(dut)
    await device.begin()
    posted: dict[int, tuple[int, int]] = {}
    for _ in range(25):
        await post_all(device, posted)
        await noise_and_a_frame(device, posted)
    for _ in range(3):
        await device.play([random.getrandbits(10) for _ in range(4000)])
        await device.play([ENABLE | byte for byte in START + random_bytes(3000)])
        await device.play([ENABLE | random.choice([0x55, 0xD5]) if random.random() < 0.9 else 0 for _ in range(4000)])
        assert not device.completions
        await post_all(device, posted)
        frame = padded(random_frame(random_bytes(6), EVERYBODY))
        await device.play(symbols_of(with_fcs(frame)))
        await check_delivery(device, frame, posted, behind_bad=True)


def bad_frames(dest: bytes) -> list[tuple[list[int], int]]:
    """Frames whose destination is good, and how they are counted."""
    head = dest + random_bytes(6) + b"\x08\x00"
    good, longer = with_fcs(head + random_bytes(1500)), with_fcs(head + random_bytes(1501))
    wrong = good[:-1] + bytes([good[-1] ^ 1])
    return [
        (symbols_of(wrong), FCS),
        (symbols_of(good, errors=(8 + len(good) - 1,)), FCS),
        (symbols_of(good[: random.randint(64, 1517)]), FCS),
        (symbols_of(with_fcs(head + random_bytes(45))), RUNT),
        (symbols_of(good[: random.randint(17, 63)]), RUNT),
        (symbols_of(longer), LONG),
    ]


@cocotb.test()
async def a_bad_frame_completes_nothing(dut):
    """
    Its bytes may be in the memory of its first VM, where the next frame replaces them, and nowhere else; the request
    takes the next good frame, also if memory is so slow that it has arrived before the bad one's bytes are written.
    """
    device = Device(dut)
    for ticks, latency in ((1, 400), (1, 0), (1, 20), (7, 20))[: rounds(1, 4)]:
        await device.begin(ticks, latency)
        for dest, vm in ((EVERYBODY, 0), (VMS[1].mac, 1), (VMS[0].mac, 0))[: rounds(2, 3)]:
            for symbols, why in bad_frames(dest):
                before = await device.counts()
                await device.play(symbols)
                await compare_counts(device, before, {(WIRE, why): 1})  # not as a frame without a request
                posted: dict[int, tuple[int, int]] = {}
                await post_all(device, posted)
                before = await device.counts()
                await device.play(symbols)
                assert not device.completions
                await compare_counts(device, before, {(WIRE, why): 1})
                for other in set(posted) - {vm}:
                    assert device.load(other, posted[other][1], 1530) == bytes([0xEE] * 1530)
                frame = random_frame(random_bytes(6), dest, random.randint(60, 200))
                await device.play(symbols + symbols_of(with_fcs(frame)))
                await compare_counts(device, before, {(WIRE, why): 2})
                await check_delivery(device, frame, posted, behind_bad=True)
                await flush_all(device)


async def flush_all(device: Device) -> None:
    for vm in range(NUM_VMS):
        device.dut.flush_vm_i.value = vm
        await device.pulse("flush_i")


@cocotb.test()
async def requests_that_cannot_take_a_frame(dut):
    """They cost their VM the frame, and another VM gets it. Nothing is written beyond their length."""
    device = Device(dut)
    await device.begin()
    frame = padded(random_frame(random_bytes(6), EVERYBODY, 300))
    for number, addr, op, status in ((299, 0, RECEIVE, BAD), (1514, 0, SEND, BAD), (1514, WINDOW, RECEIVE, VIOLATION),
                                     (1514, WINDOW - 100, RECEIVE, VIOLATION), (300, 3, RECEIVE, DONE),
                                     (None, 0, 0, None)):  # fmt: skip
        before = await device.counts()
        tags = [await device.post(0, addr, number, op)] if number else []
        device.store(0, 0, bytes([0xEE] * 320))
        device.store(1, 256, bytes([0xEE] * 400))
        tags.append(await device.post(1, 256, 300))
        await device.play(symbols_of(with_fcs(frame)))
        assert [one.tag for one in device.completions] == tags
        assert device.completions[-1].status == DONE and device.load(1, 256, 300) == frame
        if number:
            assert device.completions[0] == Completion(0, tags[0], status, 300 * (status == DONE), 300)
        if status == BAD:
            taken = number if op == RECEIVE else 0
            assert device.load(0, 0, 320) == frame[:taken].ljust(320, b"\xee")
        device.completions.clear()
        more = {} if status == DONE else {(REQUEST if number else NO_REQUEST, 0): 1}
        await compare_counts(device, before, more)


async def take_one(dut, device: Device) -> bool:
    """Lets one completion pass; the next frame finds its request. False if there is none."""
    dut.complete_ready_i.value = 1
    for _ in range(3000):
        if device.completions:
            break
        await FallingEdge(dut.clk_i)
    dut.complete_ready_i.value = 0
    return bool(device.completions)


async def take_all(dut, device: Device, addresses: list[int]) -> list[bytes]:
    """The frames that arrive, the first one at the first address, where a request waits for it."""
    arrived: list[bytes] = []
    for addr in addresses[1:]:
        await device.post(0, addr, 1514)
        if not await take_one(dut, device):
            break
        arrived.append(device.load(0, addresses[len(arrived)], device.completions.pop(0).bytes))
    return arrived


async def flood(dut, device: Device, frames: list[bytes]) -> list[bytes]:
    """Sends these frames to VM 0, which takes them afterwards. Returns those that are not lost."""
    before = await device.counts()
    addresses = [random.randrange(WINDOW - 2048) // 8 * 8 for _ in frames]
    await device.post(0, addresses[0], 1514)
    await device.play_on([symbol for frame in frames for symbol in symbols_of(with_fcs(frame))])
    await FallingEdge(dut.playing_o)
    await device.settle()
    lost = await device.count(OVERFLOW, 0) - before[OVERFLOW, 0]
    arrived = await take_all(dut, device, addresses)
    rest = iter(frames)
    assert len(arrived) == len(frames) - lost
    assert all(any(frame == one for frame in rest) for one in arrived)  # in their order
    return arrived


async def fill(dut, device: Device, frames: list[bytes]) -> list[bytes]:
    """As flood(), while nobody takes completions."""
    dut.complete_ready_i.value = 0
    arrived = await flood(dut, device, frames)
    assert not device.completions
    dut.flush_vm_i.value = 0
    await device.pulse("flush_i")
    return arrived


@cocotb.test()
async def a_full_buffer_loses_whole_frames(dut):
    """Nobody takes completions, so that frames stay in the buffer; then all that were kept arrive as a whole."""
    device = Device(dut)
    await device.begin()
    for length, kept in ((1000, 4), (60, 32), (700, 5), (None, None)):
        lengths = [length or random.randint(60, 1514) for _ in range(40)]
        arrived = await fill(dut, device, [random_frame(random_bytes(6), VMS[0].mac, number) for number in lengths])
        assert kept is None or len(arrived) == kept


@cocotb.test()
async def broadcasts_leave_space(dut):
    """They fill half of the buffer, by bytes or by frames, and are counted; a frame to one VM is kept behind them."""
    device = Device(dut)
    await device.begin()
    for length, kept in ((200, 10), (60, 16), (1000, 2)):
        group = [random_frame(random_bytes(6), EVERYBODY, length) for _ in range(40)]
        before = await device.count(OVERFLOW, 1)
        for own in (random_frame(random_bytes(6), VMS[0].mac, number) for number in (60, LONGEST)):
            assert await fill(dut, device, [*group, own]) == [*group[:kept], own]
        assert await device.count(OVERFLOW, 1) == before + 2 * (40 - kept)


@cocotb.test()
async def a_flood_to_one_vm_leaves_broadcasts(dut):
    """
    Frames to one VM do not count to the half that broadcasts get: these fill it behind more bytes or frames than that,
    and again after they have left the buffer.
    """
    device = Device(dut)
    await device.begin()
    for length, before, groups, kept in ((200, 11, 10, 9), (60, 17, 20, 15), (1000, 2, 4, 2), (60, 10, 20, 16)):
        for _ in range(2):
            own = [random_frame(random_bytes(6), VMS[0].mac, length) for _ in range(before)]
            group = [random_frame(random_bytes(6), EVERYBODY, length) for _ in range(groups)]
            assert await fill(dut, device, [*own, *group]) == [*own, *group[:kept]]


def check_after_flush(device: Device, delay: int, frames: list[bytes], tag: int) -> None:
    """VM 1 has the first frame; VM 0, which was flushed, the second one if it was still on the wire."""
    mine = [one for one in device.completions if one.vm == 1]
    assert [(one.tag, one.status, one.bytes) for one in mine] == [(tag, DONE, 1000)]
    assert device.load(1, 0, 1000) == frames[0]
    late = [one for one in device.completions if one.vm == 0]
    if delay >= 300:  # the second frame had arrived
        assert not late and device.load(0, 2900, 200) == bytes([0xEE] * 200)
    elif delay < 200:  # it is still on the wire
        assert len(late) == 1 and device.load(0, 2900, 200) == frames[1]


@cocotb.test()
async def a_flushed_vm_gets_nothing(dut):
    """
    A copy that is under way ends without a completion, and frames in the buffer are no longer for the VM; others get
    theirs.
    """
    device = Device(dut)
    await device.begin()
    for delay in [5, 6, 7, 8, 9, 20, 60, 100, 300, 600, 900, 1000, 1020, 1040, 1060] * 2:
        dut.complete_ready_i.value = random.random() < 0.7
        frames = [random_frame(random_bytes(6), EVERYBODY, 1000), random_frame(random_bytes(6), VMS[0].mac, 200)]
        device.store(0, 0, bytes([0xEE] * 3000))
        await device.post(0, 0, 1514)
        await device.post(0, 1600, 1300)
        tag = await device.post(1, 0, 1514)
        # The second frame begins so late that the VM is flushed before its end.
        await device.play_on([symbol for frame in frames for symbol in symbols_of(with_fcs(frame))])
        await ClockCycles(dut.clk_i, 1024 + delay)
        await FallingEdge(dut.clk_i)
        dut.flush_vm_i.value = 0
        device.completions.clear()
        await device.pulse("flush_i")
        dut.complete_ready_i.value = 1
        await device.post(0, 2900, 1514)  # of the VM after its restart
        device.store(0, 2900, bytes([0xEE] * 1514))
        await device.settle()
        check_after_flush(device, delay, frames, tag)
        device.completions.clear()
        await device.pulse("flush_i")


@cocotb.test()
async def a_vm_flushed_while_its_frame_arrives(dut):
    """
    It gets nothing of it, not even for its next request, whether it is the first VM of the frame or the second one; the
    other VM gets the frame, and both get the next one.
    """
    device = Device(dut)
    await device.begin()
    for turn, delay in enumerate([45, 45, 60, 60, 200, 999, *(random.randint(45, 999) for _ in range(12))]):
        vm, other = turn % 2, 1 - turn % 2
        frames = [random_frame(random_bytes(6), EVERYBODY, number) for number in (1000, 300)]
        addr = random.randrange(2048, 4096)
        device.store(vm, addr, bytes([0xEE] * 1530))
        await device.post(vm, 0, 1514)
        tags = {other: await device.post(other, 0, 1514)}
        await device.play_on(symbols_of(with_fcs(frames[0])))
        await ClockCycles(dut.clk_i, delay)
        await FallingEdge(dut.clk_i)
        dut.flush_vm_i.value = vm
        await device.pulse("flush_i")
        tags[vm] = await device.post(vm, addr, 1514)
        await FallingEdge(dut.playing_o)
        await device.settle()
        assert [(one.vm, one.tag, one.bytes) for one in device.completions] == [(other, tags[other], 1000)]
        assert device.load(other, 0, 1000) == frames[0]
        assert device.load(vm, addr, 1514) == bytes([0xEE] * 1514)
        device.completions.clear()
        tags[other] = await device.post(other, 2048, 1514)
        await device.play(symbols_of(with_fcs(frames[1])))
        assert [(one.vm, one.tag) for one in device.completions] == [(n, tags[n]) for n in (0, 1)]
        assert device.load(vm, addr, 300) == device.load(other, 2048, 300) == frames[1]
        device.completions.clear()


# Of the frame on the wire when the next chunk begins: preamble, bytes in the queue (Ahead of io_eth), FCS and gap.
TAIL = 8 + 112 + 4 + GAP


async def wait_behind(device: Device, ahead: list[int]) -> int:
    """Cycles for which a frame of 60 bytes waits, from its chunk to its preamble, behind frames sent without pause."""
    for length in ahead:
        assert await device.send(0, random_frame(VMS[0].mac, EVERYBODY, length)) == DONE
    cycles, _ = await time_to_wire(device, 60)
    return cycles - (8 + 60 + 4) * int(device.dut.ticks_i.value)


@cocotb.test()
async def a_frame_waits_for_the_rest_of_one(dut):
    """However short and many the frames before it are, and however slow the wire is."""
    device = Device(dut)
    for ticks, latency in ((1, 0), (1, 20), (2, 0), (10, 20)):
        await device.begin(ticks, latency)
        alone = await wait_behind(device, [])
        longest = 0
        for ahead in ([SHORTEST] * 30, [60] * 12, [LONGEST], [LONGEST, *[SHORTEST] * 20], [SHORTEST, 112], [60, 250],
                      *([random_length() for _ in range(4)] for _ in range(3))):  # fmt: skip
            longest = max(longest, await wait_behind(device, ahead))
        dut._log.info("ticks %d, latency %d: waits %d cycles alone, %d behind others", ticks, latency, alone, longest)
        assert longest <= max(alone, TAIL * ticks) + 2 * ticks + 2


async def cycles_in_a_row(device: Device, length: int, number: int = 20) -> float:
    """Cycles of a frame among others of its length, from the first one's end on the wire to the last one's."""
    dut = device.dut
    device.store(0, 128, random_frame(VMS[0].mac, EVERYBODY, length))
    begin = 0
    for turn in range(number):
        await device.start(0, 128, length)
        assert await device.done() == DONE
        begin = begin or (int(dut.cycle_o.value) if turn == 4 else 0)
    end = int(dut.cycle_o.value)
    await device.silence()
    return (end - begin) / (number - 5)


@cocotb.test()
async def frames_in_a_row(dut):
    """What each takes, at most: the wire's time, or that of a chunk from memory if it is longer."""
    device = Device(dut)
    for ticks, latency, length, most in ((1, 0, LONGEST, 1538), (1, 20, LONGEST, 1554), (2, 40, LONGEST, 3076),
                                         (1, 0, 60, 84), (1, 20, 60, 92), (2, 20, 60, 168), (1, 0, SHORTEST, 84),
                                         (1, 20, SHORTEST, 84), (10, 60, SHORTEST, 840)):  # fmt: skip
        await device.begin(ticks, latency)
        cycles = await cycles_in_a_row(device, length)
        text = "%d bytes in a row, %d cycles a byte, latency %d: %.1f cycles each"
        dut._log.info(text, length, ticks, latency, cycles)
        assert cycles <= most


async def time_to_wire(device: Device, length: int) -> tuple[int, int]:
    """Cycles from start_i to the last byte on the wire, with FCS, and those until done_o."""
    dut = device.dut
    device.store(0, 128, random_frame(VMS[0].mac, EVERYBODY, length))
    begin = int(dut.cycle_o.value)
    await device.start(0, 128, length)
    status = await device.done()
    done = int(dut.cycle_o.value)
    assert status == DONE
    await device.silence()
    return int(dut.last_sent_o.value) - begin, done - begin


@cocotb.test()
async def measured(dut):
    """A frame of 64 or 1024 bytes with its FCS; the wire takes them and 8 bytes of preamble."""
    device = Device(dut)
    await device.begin(latency=20)
    for latency in (4, 20, 60):
        dut.latency_i.value = latency
        for length in (64, 1024):
            cycles, done = await time_to_wire(device, length - 4)
            over = cycles - length - 8
            text = "%d bytes, latency %d: %d cycles to the wire, overhead %d, done after %d"
            dut._log.info(text, length, latency, cycles, over, done)
            assert over <= latency + 80
    # In a row: what a frame takes of the device.
    dut.latency_i.value = 20
    device.store(0, 128, random_frame(VMS[0].mac, EVERYBODY, 1020))
    begin = int(dut.cycle_o.value)
    for _ in range(10):
        await device.start(0, 128, 1020)
        assert await device.done() == DONE
    await device.silence()
    cycles = (int(dut.last_sent_o.value) - begin) / 10
    dut._log.info("1024 bytes in a row: %.1f cycles each, the wire 1044", cycles)
    device.read = int(dut.recorded_o.value)
    # The whole way: memory, wire, memory.
    dut.loop_i.value = 1
    for latency in (4, 20, 60):
        dut.latency_i.value = latency
        device.completions.clear()
        await device.configure(0, VMS[0])
        device.store(0, 128, random_frame(VMS[0].mac, VMS[0].mac, 1020))
        await device.post(0, 4096, 1514)
        begin = int(dut.cycle_o.value)
        await device.start(0, 128, 1020)
        await RisingEdge(dut.complete_o)
        cycles = int(dut.cycle_o.value) - begin
        dut._log.info("1024 bytes looped, latency %d: %d cycles", latency, cycles)
        if latency == 20:
            figures.measured("fpga.io.ethernet.loop", cycles)
        await device.silence()
    dut.loop_i.value = 0
    # The latency from which on a frame starves, in the worst alignment of its address.
    device.read = int(dut.recorded_o.value)
    limit = 250
    for offset in (0, 1, 8, 56, 60, 63, 64, 100, 112, 120, 127):
        frame = random_frame(VMS[0].mac, EVERYBODY, LONGEST)
        device.store(0, 128 + offset, frame)
        for latency in range(20, limit, 5):
            dut.latency_i.value = latency
            await device.start(0, 128 + offset, LONGEST)
            if await device.done() != DONE:
                limit = min(limit, latency)
                break
    dut._log.info("starves with a latency of %d cycles or more", limit)
