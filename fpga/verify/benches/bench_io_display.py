# SPDX-License-Identifier: Apache-2.0
"""
The display shared by VMs, from their framebuffers in memory to the wire: every pixel of a frame against a model, the
timing of the wire, and what a hostile VM or a slow memory cannot do.
"""

import logging
import random
from dataclasses import dataclass, field, replace

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, RisingEdge, with_timeout
from cocotbext.axi import AxiBus, AxiRam
from rtl_tools import Bench

BENCHES = [
    Bench(top="io_display_sim", depth=1, noise=True, weight=30),
]

VMS, MAX_WIDTH = 16, 64
OWN, BROKEN, SLOW = 0x4000_0000, 0x5000_0000, 0x6000_0000
WINDOW = 0x4000
BASE, STRIDE, ON = 4, 2, 1  # fb_write_i
BLACK = 0
LAX = 4095  # burst_cycles_i of a memory that may be slow


@dataclass(frozen=True)
class Axis:
    active: int
    front: int = 2
    sync: int = 3
    back: int = 2

    def pack(self) -> int:
        return self.active << 48 | self.front << 32 | self.sync << 16 | self.back

    def steps(self) -> list[tuple[bool, int | None]]:
        """Of each pixel or line in the order of the wire: whether it is a sync, and its number if it is active."""
        pause: tuple[bool, int | None] = (False, None)
        active = [(False, n) for n in range(self.active)]
        return [(True, None)] * self.sync + [pause] * self.back + active + [pause] * self.front


@dataclass(frozen=True)
class Rect:
    x: int
    y: int
    width: int
    height: int
    enabled: bool = True

    def pack(self) -> int:
        return self.x << 49 | self.y << 33 | self.width << 17 | self.height << 1 | self.enabled

    def has(self, x: int, y: int) -> bool:
        return self.enabled and self.x <= x < self.x + self.width and self.y <= y < self.y + self.height


@dataclass
class Vm:
    rect: Rect = Rect(0, 0, 0, 0)
    base: int = OWN
    stride: int = 256
    on: bool = False
    memory: bytes = field(default=b"", repr=False)

    def color(self, x: int, y: int) -> int:
        """What the VM's rectangle shows at (x, y) of the screen if its memory is fast."""
        offset = (self.base + (y - self.rect.y) * self.stride + 4 * (x - self.rect.x)) % 2**41
        if not self.on or not any(window <= offset < window + WINDOW for window in (OWN, SLOW)):
            return BLACK
        offset %= WINDOW
        return int.from_bytes(self.memory[offset : offset + 3], "little")


Frame = list[tuple[bool, bool, bool, int]]  # of each pixel: vsync, hsync, data enable, color
SMALL = Axis(40), Axis(20)


class Screen:
    def __init__(self, dut):
        self.dut = dut
        self.vms = [Vm() for _ in range(VMS)]
        self.h, self.v = SMALL
        logging.getLogger(f"cocotb.{dut._name}.m_axi").setLevel(logging.WARNING)
        self.ram = AxiRam(AxiBus.from_prefix(dut, "m_axi"), dut.clk_i, dut.rst_ni, reset_active_level=False,
                          size=VMS * WINDOW)  # fmt: skip
        self.frames = 0
        self.begun = False

    async def start(self, seed: int = 1, axes: tuple[Axis, Axis] = SMALL, **changes: int) -> random.Random:
        """Resets; random contents in the memory of each VM; the frame mode, unless `changes` say otherwise."""
        dut, rng = self.dut, random.Random(seed)
        self.h, self.v = axes
        for vm in self.vms:
            vm.rect, vm.on = Rect(0, 0, 0, 0), False
        values = dict.fromkeys(("frame_i", "rect_write_i", "rect_vm_i", "rect_i", "flush_i", "flush_vm_i"), 0)
        values |= dict.fromkeys(("fb_vm_i", "fb_write_i", "fb_base_i", "fb_stride_i", "fb_on_i", "slow_i"), 0)
        values |= {"compete_i": 0, "record_i": 0, "enable_i": 1, "pixel_cycles_i": 12, "frame_mode_i": 1}
        values |= {"burst_cycles_i": LAX, "h_i": self.h.pack(), "v_i": self.v.pack()}
        for name, value in (values | changes).items():
            getattr(dut, name).value = value
        dut.rst_ni.value = 0
        if not self.begun:
            Clock(dut.clk_i, 10, "ns").start()
            cocotb.start_soon(self._count_frames())
        self.begun = True
        await ClockCycles(dut.clk_i, 4)
        await FallingEdge(dut.clk_i)
        dut.rst_ni.value = 1
        for number, vm in enumerate(self.vms):
            vm.memory = rng.randbytes(WINDOW)
            self.ram.write(number * WINDOW, vm.memory)
        return rng

    async def _count_frames(self) -> None:
        while True:
            await RisingEdge(self.dut.frame_o)
            self.frames += 1

    async def pulse(self, name: str, **values: int) -> None:
        await FallingEdge(self.dut.clk_i)
        for other, value in values.items():
            getattr(self.dut, other).value = value
        getattr(self.dut, name).value = 1
        await FallingEdge(self.dut.clk_i)
        getattr(self.dut, name).value = 0

    async def place(self, vm: int, rect: Rect) -> None:
        self.vms[vm].rect = rect
        await self.pulse("rect_write_i", rect_vm_i=vm, rect_i=rect.pack())

    async def show(
        self,
        vm: int,
        base: int = OWN,
        stride: int = 256,
        on: bool = True,
        registers: tuple[int, ...] = (BASE, STRIDE, ON),
    ) -> None:
        """Writes these registers of a framebuffer, one after the other. The others must have their values already."""
        state = self.vms[vm]
        state.base, state.stride, state.on = base & ~7, stride & ~7, on
        values = {"fb_base_i": base, "fb_stride_i": stride, "fb_on_i": on}
        for register in registers:
            await FallingEdge(self.dut.clk_i)
            self.dut.fb_vm_i.value, self.dut.fb_write_i.value = vm, register
            for name, value in values.items():
                is_set = {BASE: "fb_base_i", STRIDE: "fb_stride_i", ON: "fb_on_i"}[register] == name
                getattr(self.dut, name).value = value if is_set else 0
        await FallingEdge(self.dut.clk_i)
        self.dut.fb_write_i.value = 0

    async def status(self, vm: int) -> tuple[int, int, bool]:
        """Faults, underruns, the fault bit."""
        await FallingEdge(self.dut.clk_i)
        self.dut.fb_vm_i.value = vm
        await RisingEdge(self.dut.clk_i)
        word = int(self.dut.fb_status_o.value)
        return word >> 9, word >> 1 & 0xFF, bool(word & 1)

    async def flush(self, vm: int) -> None:
        self.vms[vm].on = False
        await self.pulse("flush_i", flush_vm_i=vm)

    async def idle(self) -> None:
        await FallingEdge(self.dut.clk_i)
        while not int(self.dut.idle_o.value):
            await with_timeout(RisingEdge(self.dut.idle_o), 20, "ms")
        await ClockCycles(self.dut.clk_i, 4)

    async def frame(self) -> Frame:
        """Sends a frame and returns it."""
        await self.idle()
        await self.pulse("record_i")
        await self.pulse("frame_i")
        await self.idle()
        return self.recorded()

    def recorded(self, limit: int = 1 << 16) -> Frame:
        words = (int(self.dut.recorded[n].value) for n in range(min(limit, int(self.dut.recorded_o.value))))
        return [(bool(word >> 26), bool(word >> 25 & 1), bool(word >> 24 & 1), word & 0xFFFFFF) for word in words]

    def owner(self, x: int, y: int) -> int | None:
        if x >= MAX_WIDTH:
            return None
        return next((number for number, vm in enumerate(self.vms) if vm.rect.has(x, y)), None)

    def color(self, x: int, y: int) -> int:
        number = self.owner(x, y)
        return BLACK if number is None else self.vms[number].color(x, y)

    def expected(self) -> Frame:
        found = []
        for vsync, y in self.v.steps():
            for hsync, x in self.h.steps():
                shown = x is not None and y is not None
                found.append((vsync, hsync, shown, self.color(x, y) if shown else BLACK))
        return found


def by_place(screen: Screen, frame: Frame) -> dict[tuple[int, int], int]:
    """The colors of a frame by (x, y)."""
    wide, high = screen.h.active, screen.v.active
    shown = [color for _, _, enable, color in frame if enable]
    assert len(shown) == wide * high
    return {(n % wide, n // wide): color for n, color in enumerate(shown)}


def compare(screen: Screen, frame: Frame) -> None:
    assert [pixel[:3] for pixel in frame] == [pixel[:3] for pixel in screen.expected()]
    found, wanted = by_place(screen, frame), by_place(screen, screen.expected())
    wrong = [place for place in found if found[place] != wanted[place]]
    assert not wrong, f"{len(wrong)} wrong, first {wrong[0]} of {screen.owner(*wrong[0])}: {found[wrong[0]]:06x}"


def random_rect(rng: random.Random, screen: Screen) -> Rect:
    """Any part of the screen, or beyond its edges."""
    x, y = rng.randrange(screen.h.active + 4), rng.randrange(screen.v.active + 2)
    return Rect(x, y, rng.randrange(1, 42), rng.randrange(1, 12), rng.random() < 0.9)


def strips(number: int, width: int, height: int) -> list[Rect]:
    """Rectangles side by side, which share every line."""
    return [Rect(n * width, 1, width, height) for n in range(number)]


async def arrange(screen: Screen, rects: list[Rect]) -> None:
    for vm, rect in enumerate(rects):
        await screen.place(vm, rect)
        await screen.show(vm)


@cocotb.test()
async def the_wire_has_the_configured_timing(dut):
    """Two frames without pause; pixel_cycles_i of 0 counts as 1."""
    screen = Screen(dut)
    for seed, cycles in enumerate((1, 0, 2, 3, 7)):
        rng = random.Random(seed)
        axes = [Axis(*(rng.randrange(1, 5) for _ in range(4))) for _ in range(2)]
        axes = [replace(axis, active=rng.randrange(2, 30)) for axis in axes]
        await screen.start(axes=(axes[0], axes[1]), frame_mode_i=0, enable_i=0, pixel_cycles_i=cycles)
        await screen.pulse("record_i")
        dut.enable_i.value = 1
        frame = screen.expected()
        before = screen.frames
        await ClockCycles(dut.clk_i, (2 * len(frame) + 2) * max(1, cycles) + MAX_WIDTH + 10)
        assert screen.recorded(2 * len(frame)) == 2 * frame
        assert screen.frames - before == 2 and not int(dut.idle_o.value)
        assert int(dut.uneven_o.value) == (cycles == 0)
        assert int(dut.bursts_o.value) == 0


@cocotb.test()
async def each_rectangle_shows_its_framebuffer(dut):
    """1, 4 and 16 VMs: random rectangles that overlap, and framebuffers at any address."""
    screen = Screen(dut)
    for seed, number in enumerate((1, 1, 4, 4, 16, 16, 16, 16)):
        rng = await screen.start(seed, pixel_cycles_i=40)
        for vm in range(number):
            await screen.place(vm, random_rect(rng, screen))
            stride = rng.choice((0, 8, 168, 256, 264))
            await screen.show(vm, OWN + rng.randrange(0, 0x1000), stride, rng.random() < 0.9)
        compare(screen, await screen.frame())
        for vm in range(number):
            assert await screen.status(vm) == (0, 0, False)


@cocotb.test()
async def wide_screens_are_black_beyond_the_line_buffer(dut):
    screen = Screen(dut)
    await screen.start(axes=(Axis(MAX_WIDTH + 9), Axis(4)), pixel_cycles_i=20)
    await screen.place(3, Rect(MAX_WIDTH - 5, 1, 30, 2))
    await screen.place(4, Rect(1, 0, 60000, 1))
    await screen.place(5, Rect(65535, 0, 65535, 65535))
    for vm in (3, 4, 5):
        await screen.show(vm)
    compare(screen, await screen.frame())
    assert await screen.status(5) == (0, 0, False)


@cocotb.test()
async def a_pulse_sends_a_frame(dut):
    """Nothing happens without one; one is kept while a frame is sent."""
    screen = Screen(dut)
    await screen.start()
    await screen.place(0, Rect(0, 0, 8, 8))
    await screen.show(0)
    await screen.idle()
    await screen.pulse("record_i")
    await ClockCycles(dut.clk_i, 5000)
    assert (screen.frames, int(dut.bursts_o.value), len(screen.recorded())) == (0, 0, 0)
    for pulses, frames in ((1, 1), (2, 2), (4, 2)):
        await screen.pulse("record_i")
        before = screen.frames
        for _ in range(pulses):
            assert int(dut.idle_o.value) or screen.frames == before
            await screen.pulse("frame_i")
            await ClockCycles(dut.clk_i, 100)
            assert not int(dut.idle_o.value)
        await screen.idle()
        assert screen.frames - before == frames
        assert screen.recorded() == frames * screen.expected()


@cocotb.test()
async def registers_keep_what_is_written(dut):
    screen = Screen(dut)
    rng = await screen.start()
    await RisingEdge(dut.clk_i)
    wanted = {}
    for vm in range(VMS):
        dut.fb_vm_i.value = vm
        await FallingEdge(dut.clk_i)
        assert int(dut.fb_o.value) & 1 == 0
        base, stride, on = rng.randrange(1 << 41), rng.randrange(1 << 16), rng.random() < 0.5
        await screen.show(vm, base, stride, on)
        wanted[vm] = (base & ~7) << 17 | (stride & ~7) << 1 | on
    await screen.flush(6)
    wanted[6] = 0
    for vm, value in wanted.items():
        dut.fb_vm_i.value = vm
        await RisingEdge(dut.clk_i)
        await FallingEdge(dut.clk_i)
        assert int(dut.fb_o.value) == value


@cocotb.test()
async def a_bad_framebuffer_is_black_and_counted(dut):
    """Outside the windows, with bus errors, off, and one that ends within a line: the others do not notice."""
    screen = Screen(dut)
    await screen.start(pixel_cycles_i=20)
    await arrange(screen, strips(8, 5, 15))
    await screen.show(1, 0x7000_0000)
    await screen.show(2, BROKEN)
    await screen.show(3, on=False)
    await screen.show(4, (1 << 41) - 8)  # the address wraps around to 0
    await screen.show(5, OWN + WINDOW - 8, 0)  # of each line the first two pixels are in the window
    frame = await screen.frame()
    compare_with_fault(screen, frame, broken=2)
    wanted = {1: 15, 2: 15, 4: 15, 5: 15}
    for vm in range(8):
        assert await screen.status(vm) == (wanted.get(vm, 0), 0, vm in wanted)
    await screen.show(1)  # clears the counters
    assert await screen.status(1) == (0, 0, False)
    for _ in range(18):
        await screen.frame()
    assert await screen.status(4) == (255, 0, True)
    assert await screen.status(1) == (0, 0, False)


def compare_with_fault(screen: Screen, frame: Frame, broken: int) -> None:
    """Like compare(); a burst with a bus error may have brought pixels, but only to its VM's rectangle."""
    patched = [
        (vsync, hsync, enable, BLACK if place is not None and screen.owner(*place) == broken else color)
        for (vsync, hsync, enable, color), place in zip(frame, places(screen), strict=True)
    ]
    compare(screen, patched)


def places(screen: Screen) -> list[tuple[int, int] | None]:
    return [None if x is None or y is None else (x, y) for _, y in screen.v.steps() for _, x in screen.h.steps()]


@cocotb.test()
async def a_flushed_vm_is_black_from_the_next_line_on(dut):
    screen = Screen(dut)
    await screen.start(pixel_cycles_i=20)
    await arrange(screen, strips(4, 10, 18))
    await screen.idle()
    await screen.pulse("record_i")
    await screen.pulse("frame_i")
    while not int(dut.busy_o.value) & 4 or int(dut.recorded_o.value) < 600:
        await FallingEdge(dut.clk_i)
    wanted = by_place(screen, screen.expected())
    await screen.flush(2)
    line = int(dut.recorded_o.value) // len(screen.h.steps()) - screen.v.sync - screen.v.back
    for _ in range(60):
        await FallingEdge(dut.clk_i)
        if not int(dut.busy_o.value) & 4:
            break
    else:
        raise AssertionError("the burst does not end")
    await screen.idle()
    found = by_place(screen, screen.recorded())
    for (x, y), color in found.items():
        black = screen.owner(x, y) == 2 and y > line
        assert color == (BLACK if black else wanted[x, y]), (x, y)
    assert 0 < line < 17
    compare(screen, await screen.frame())
    await screen.show(2, 0, 0, registers=(ON,))  # not the base from before the flush
    compare(screen, await screen.frame())
    await screen.show(2, OWN + 64, 0, registers=(BASE, ON))
    compare(screen, await screen.frame())
    await screen.show(2, OWN + 64)
    compare(screen, await screen.frame())


def own_lines(screen: Screen, number: int) -> list[list[tuple[int, int]]]:
    """The positions of the VM's pixels, line by line."""
    rect = screen.vms[number].rect
    rows = range(rect.y, min(screen.v.active, rect.y + rect.height))
    columns = range(rect.x, rect.x + rect.width)
    return [[(x, y) for x in columns if screen.owner(x, y) == number] for y in rows]


def black_tails(screen: Screen, frame: Frame, slow: set[int]) -> dict[int, int]:
    """
    Checks that only lines of these VMs are incomplete, and that each is right up to a position and black behind it.
    Returns the number of incomplete lines of each VM.
    """
    found, wanted = by_place(screen, frame), by_place(screen, screen.expected())
    lines: dict[int, int] = {}
    for number in range(VMS):
        for line in own_lines(screen, number):
            right = next((n for n, place in enumerate(line) if found[place] != wanted[place]), len(line))
            assert all(found[place] == BLACK for place in line[right:]), (number, line[0])
            if right < len(line):
                lines[number] = lines.get(number, 0) + 1
    assert set(lines) <= slow, lines
    outside = [place for place in found if screen.owner(*place) is None]
    assert all(found[place] == BLACK for place in outside)
    return lines


@cocotb.test()
async def a_vm_with_slow_memory_loses_its_own_lines_only(dut):
    """Three VMs' bursts take 150 cycles each, more than burst_cycles_i: each has one burst a line, no second one."""
    screen = Screen(dut)
    await screen.start(axes=(Axis(60), Axis(12)), pixel_cycles_i=12, burst_cycles_i=60, slow_i=150)
    await arrange(screen, strips(6, 10, 9))
    for vm in (5, 3, 1):
        await screen.show(vm, SLOW + 120)  # one word in the first block, four in the second
    lines = black_tails(screen, await screen.frame(), {5, 3, 1})
    for vm in range(6):
        assert await screen.status(vm) == (0, lines.get(vm, 0), False)
    assert lines == {5: 9, 3: 9, 1: 9}


@cocotb.test()
async def what_comes_too_late_is_black_and_counted(dut):
    """Without a limit the slow VMs take the time of those after them; all lines end, and the count is exact."""
    screen = Screen(dut)
    for cycles in (1, 2, 3, 5):
        await screen.start(axes=(Axis(60), Axis(12)), pixel_cycles_i=cycles, slow_i=90)
        await arrange(screen, strips(6, 10, 9))
        for vm in (5, 2):
            await screen.show(vm, SLOW + 120)
        lines = black_tails(screen, await screen.frame(), set(range(6)))
        counts = [(await screen.status(vm))[1] for vm in range(6)]
        dut._log.info(f"{cycles} cycles a pixel: incomplete lines {lines}, counted {counts}")
        assert lines
        if cycles > 2:  # otherwise some lines are not begun
            assert {vm: count for vm, count in enumerate(counts) if count} == lines


@cocotb.test()
async def counters_saturate(dut):
    screen = Screen(dut)
    await screen.start(axes=(Axis(20), Axis(60)), pixel_cycles_i=2, slow_i=100)
    await screen.place(9, Rect(0, 0, 20, 60))
    await screen.show(9, SLOW)
    for _ in range(9):
        await screen.frame()
    assert await screen.status(9) == (0, 255, False)


def most_bursts(pixels: int) -> int:
    words = (pixels + 1) // 2
    return (words + 30) // 16


@cocotb.test()
async def within_the_bound_no_line_is_incomplete(dut):
    """All VMs share each line, another client reads without pause; lines last as docs/hardware-io.md says."""
    screen = Screen(dut)
    burst = 2 * 30  # cycles of a burst of this memory, and of one of the other client before it
    need = VMS + sum(most_bursts(4) * (burst + 1) + 4 for _ in range(VMS))
    axes = (Axis(64), Axis(10))
    cycles = -(-need // len(axes[0].steps()))
    await screen.start(axes=axes, pixel_cycles_i=cycles, burst_cycles_i=burst, compete_i=1)
    await arrange(screen, strips(VMS, 4, 8))
    for vm in range(VMS):
        await screen.show(vm, OWN + 120)  # as many bursts as possible
    compare(screen, await screen.frame())
    for vm in range(VMS):
        assert await screen.status(vm) == (0, 0, False)
    assert int(dut.bursts_o.value) == 2 * VMS * 8
    assert int(dut.competed_o.value) > int(dut.bursts_o.value) and int(dut.in_row_o.value) == 1


@cocotb.test()
async def a_screen_that_is_enabled_again_shows_nothing_old(dut):
    """It stops in the middle of lines and of bursts; then other rectangles are shown, and what was fetched is gone."""
    screen = Screen(dut)
    rng = await screen.start(frame_mode_i=0)
    for _ in range(12):
        for vm in range(VMS):
            await screen.place(vm, Rect(0, 0, 0, 0))
        for vm in range(4):
            await screen.place(vm, random_rect(rng, screen))
            await screen.show(vm)
        dut.enable_i.value, dut.frame_mode_i.value = 1, 0
        await ClockCycles(dut.clk_i, rng.randrange(4000, 9000))
        await FallingEdge(dut.clk_i)
        dut.enable_i.value, dut.frame_mode_i.value = 0, 1
        for vm in range(4):
            await screen.place(vm, Rect(10, 5, 3, 3, vm == 3))
        await screen.idle()
        assert int(dut.busy_o.value) == 0
        dut.enable_i.value = 1
        compare(screen, await screen.frame())


@cocotb.test()
async def a_rectangle_that_moves_leaves_no_pixel_behind(dut):
    """Without pause; a frame after the last move is as if there had been none."""
    screen = Screen(dut)
    rng = await screen.start(frame_mode_i=0, pixel_cycles_i=8)
    for vm in range(5):
        await screen.show(vm)
    for _ in range(6):
        for _ in range(10):
            await ClockCycles(dut.clk_i, rng.randrange(300))
            await screen.place(rng.randrange(5), random_rect(rng, screen))
        await RisingEdge(dut.frame_o)
        await screen.pulse("record_i")
        await RisingEdge(dut.frame_o)
        front = len(screen.h.steps()) * screen.v.front  # pixels behind frame_o
        await ClockCycles(dut.clk_i, 8 * front + 20)
        frame = screen.recorded()
        begin = next(n for n, pixel in enumerate(frame) if pixel[0])
        compare(screen, frame[begin : begin + len(screen.expected())])
