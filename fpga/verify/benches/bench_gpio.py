# SPDX-License-Identifier: Apache-2.0
"""The timing-accurate GPIO against its model: every edge of every pin, and every result, in exactly its cycle."""

import os
import random
from itertools import pairwise

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge
from figures import measured
from model_gpio import (
    CAPTURE,
    DRIVE,
    END,
    FALLING,
    LOOP,
    PAUSE,
    REPEAT,
    RISING,
    SAMPLE,
    SET,
    UNTIL,
    WAIT,
    WRITE,
    Command,
    Log,
    Model,
    Pads,
    Result,
    stored,
    waveform,
)
from rtl_tools import Bench

BENCHES = [
    Bench(top="gpio_harness", name="gpio", depth=1, noise=True, weight=30, environment={"GPIO_EVENTS": "30000"}),
    Bench(top="gpio_harness", name="gpio-million", depth=1, noise=True, weight=300, long=True,
          environment={"GPIO_EVENTS": "1000000"}),
    Bench(top="gpio_harness", name="gpio-small", depth=1, noise=True, weight=20, environment={"GPIO_EVENTS": "20000"},
          parameters={"NumVms": 3, "NumPins": 19, "CommandDepth": 8, "ResultDepth": 2}),
]  # fmt: skip

MEASURED_EVENTS = 1_000_000  # from which on the figures of `make bench` are recorded
BEFORE_WRAP = (5 << 48) - 3000  # the low 48 bits of the time wrap around during a test


class Driver:
    """Drives the harness, one cycle a step, and records what goes in and comes out."""

    def __init__(self, dut):
        self.dut = dut
        self.vms, self.pins = len(dut.start_i), len(dut.outside_i)
        self.depth = int(dut.CommandDepth.value)
        self.result_depth = int(dut.ResultDepth.value)
        self.logs = [Log() for _ in range(self.vms)]
        self.results: list[list[Result]] = [[] for _ in range(self.vms)]
        self.queues: list[list[Command]] = [[] for _ in range(self.vms)]  # to be submitted
        self.pads, self.wave = [], [(0, 0)]
        self.owners = [0] * self.vms
        self.all = (1 << self.vms) - 1
        self.outside = 0
        self.read_vm = 0
        self.reading = True
        self.patient = True  # waits until a memory has space
        self.last_vm = 0
        self.valid = self.pulses = False

    async def reset(self, time: int, claims: list[int]) -> None:
        """Of the VMs that claim a pin, the first one owns it."""
        dut = self.dut
        for name in ("flush", "command_valid", "command_vm", "command", "start", "stop", "result_vm", "result_pop",
                     "outside", "flush_vm"):  # fmt: skip
            getattr(dut, f"{name}_i").value = 0
        owned = 0
        for vm, claim in enumerate(claims):
            self.owners[vm] = claim & ~owned
            owned |= claim
        dut.owner_i.value = sum(claim << self.pins * vm for vm, claim in enumerate(claims))
        dut.time_start_i.value = time
        dut.rst_ni.value = 0
        await FallingEdge(dut.clk_i)
        await FallingEdge(dut.clk_i)
        dut.rst_ni.value = 1
        self.first, self.now = time + 1, time
        await self.step()

    async def step(self, start: int = 0, stop: int = 0, flush: int | None = None) -> None:
        """One cycle, and what is done in it; starts and stops are masks of VMs."""
        await FallingEdge(self.dut.clk_i)
        self.now += 1
        self._record_pins()
        self._pulse(start, stop, flush)
        self._submit()
        self._read()

    async def steps(self, number: int) -> None:
        for _ in range(number):
            await self.step()

    def _record_pins(self) -> None:
        pins = int(self.dut.pins_o.value)
        if pins != self.wave[-1][1]:
            self.wave.append((self.now, pins))
        level, drive = pins & (1 << self.pins) - 1, pins >> self.pins
        self.dut.outside_i.value = self.outside
        self.pads.append(level & drive | self.outside & ~drive)

    def _pulse(self, start: int, stop: int, flush: int | None) -> None:
        dut, active = self.dut, bool(start or stop or flush is not None)
        if active or self.pulses:
            dut.start_i.value, dut.stop_i.value = start, stop
            dut.flush_i.value, dut.flush_vm_i.value = flush is not None, flush or 0
        self.pulses = active
        for vm in range(self.vms) if active else ():
            self._note_pulses(vm, bool(start >> vm & 1), bool(stop >> vm & 1), flush == vm)

    def _note_pulses(self, vm: int, start: bool, stop: bool, flush: bool) -> None:
        log = self.logs[vm]
        for times, pulse in ((log.starts, start), (log.stops, stop), (log.flushes, flush)):
            if pulse:
                times.append(self.now)

    def _submit(self) -> None:
        """One command of the next VM that has one. A command that is refused is lost."""
        dut = self.dut
        vm = self._next_vm(int(dut.command_ready_o.value)) if any(self.queues) else None
        if vm is None:
            if self.valid:
                dut.command_valid_i.value = self.valid = False
            return
        self.last_vm = vm
        command = self.queues[vm].pop(0)
        dut.command_valid_i.value = self.valid = True
        dut.command_vm_i.value, dut.command_i.value = vm, command.encode()
        self.logs[vm].pushes.append((self.now, command, bool(self.ready >> vm & 1)))

    def _next_vm(self, ready: int) -> int | None:
        self.ready = ready
        for turn in range(1, self.vms + 1):
            vm = (self.last_vm + turn) % self.vms
            if self.queues[vm] and (ready >> vm & 1 or not self.patient):
                return vm
        return None

    def _read(self) -> None:
        """Pops a result of read_vm, or looks at the next VM."""
        dut = self.dut
        if self.reading and int(dut.result_valid_o.value):
            self.results[self.read_vm].append(Result.decode(int(dut.result_o.value)))
            self.logs[self.read_vm].pops.append(self.now)
            dut.result_pop_i.value = 1
            return
        dut.result_pop_i.value = 0
        self.read_vm = (self.read_vm + 1) % self.vms
        dut.result_vm_i.value = self.read_vm

    async def status(self, vm: int) -> dict[str, int]:
        word = int(self.dut.status_o.value) >> 33 * vm
        names = ("space", "dropped", "forbidden", "late", "running")
        return {name: word >> 8 * at & (0xFF if at < 4 else 1) for at, name in enumerate(names)}

    # ---- Comparison ----
    async def finish(self) -> int:
        """Reads all results and compares everything with the model; returns the number of events."""
        await self.steps(3)
        end = self.now
        await self.step(stop=self.all)
        self.reading = True
        for queue in self.queues:
            queue.clear()
        await self.steps(3 * self.vms + 2 * self.vms * self.result_depth)
        assert int(self.dut.time_o.value) == self.now
        pads = Pads(self.first, self.pads, self.pins)
        models = [Model(log, own, pads, end + 1, self.depth) for log, own in zip(self.logs, self.owners, strict=True)]
        self._compare_wave(models)
        for vm, model in enumerate(models):
            await self._compare_results(vm, model)
        edges = sum((a ^ b).bit_count() for (_, a), (_, b) in pairwise(self.wave))
        return edges + sum(map(len, self.results))

    def _compare_wave(self, models: list[Model]) -> None:
        expected = waveform(models, self.pins)
        for want, have in zip(expected, self.wave, strict=False):
            assert want == have, f"pins: expected {want[1]:#x} at {want[0]}, not {have[1]:#x} at {have[0]}"
        assert len(expected) == len(self.wave)

    async def _compare_results(self, vm: int, model: Model) -> None:
        log = model.log
        kept, dropped = stored(model.results, log.pops, log.flushes, self.result_depth)
        for want, have in zip(kept, self.results[vm], strict=False):
            assert want == have, f"VM {vm}: expected {want}, not {have}"
        assert len(kept) == len(self.results[vm])
        since = [result for result in model.results if result.stamp > max(log.flushes, default=0)]
        status = await self.status(vm)
        assert status == {
            "running": 0,
            "space": self.depth,
            "late": min(255, sum(result.late for result in since)),
            "forbidden": min(255, sum(result.forbidden or result.bad for result in since)),
            "dropped": min(255, len(dropped)),
        }


def share(pins: int, vms: int) -> list[int]:
    """Every pin to one of the VMs, in a random order."""
    order = random.sample(range(pins), pins)
    return [sum(1 << pin for pin in order[vm::vms]) for vm in range(vms)]


async def ready(dut, time: int = 1000, claims: list[int] | None = None) -> Driver:
    driver = Driver(dut)
    await driver.reset(time, claims or share(driver.pins, driver.vms))
    return driver


async def ready_with_outputs(dut, time: int = 1000, claims: list[int] | None = None) -> Driver:
    """Every pin of a VM is an output."""
    driver = await ready(dut, time, claims)
    for own, queue in zip(driver.owners, driver.queues, strict=True):
        queue += [Command(DRIVE, 2 + bank, bank, own >> 16 * bank & 0xFFFF, 0xFFFF) for bank in (0, 1)]
        queue += [Command(END, 1)]
    await driver.steps(3 * driver.vms)
    await driver.step(start=driver.all)
    await driver.steps(12)
    return driver


def begin(dut) -> None:
    Clock(dut.clk_i, 10, "ns").start()


# ---- A flood in time ----
class Flood:
    """Commands of a VM that can all be executed in time: while one block is executed, the next one is submitted."""

    def __init__(self, driver: Driver, vm: int):
        self.own = driver.owners[vm]
        self.longest = min(12, driver.depth // 2 - 3)
        self.time = 20 * driver.vms  # to submit a block

    def block(self) -> list[Command]:
        """A loop, whose first command leaves time to take the repeat and the loop; or commands one by one."""
        body = [self._change(random.randint(5, 12))]
        body += [self._change(random.choice((1, 1, 2, 3, 7))) for _ in range(random.randint(1, self.longest))]
        if random.random() < 0.2:
            return [*body, Command(WAIT, self.time + random.randint(0, 99))]
        period = sum(command.delay for command in body)
        return [Command(LOOP, self.time // period + random.randint(2, 20)), *body, Command(REPEAT)]

    def _change(self, delay: int) -> Command:
        if random.random() < 0.05:
            return Command(SAMPLE, delay)
        if random.random() < 0.5:
            return Command(WRITE, delay, value=random.getrandbits(32))
        bank = random.getrandbits(1)
        return Command(SET, delay, bank, self.own >> 16 * bank & 0xFFFF, random.getrandbits(16))


@cocotb.test()
async def flood_without_an_error(dut):
    """All VMs change their pins as fast as they can; no command is late by one cycle."""
    begin(dut)
    goal = int(os.environ["GPIO_EVENTS"])
    events = cycles = 0
    while events < goal:
        driver = await ready_with_outputs(dut, BEFORE_WRAP)
        await flood(driver, min(goal - events, 100_000))
        events += await driver.finish()
        cycles += driver.now - driver.first
        assert not any(result.late for results in driver.results for result in results)
    dut._log.info("%d events in %d cycles, each in its cycle", events, cycles)
    if goal >= MEASURED_EVENTS:  # finish() has compared the cycle of each event
        measured("fpga.io.gpio.events", events)
        measured("fpga.io.gpio.error", 0)


async def flood(driver: Driver, goal: int) -> None:
    floods = [Flood(driver, vm) for vm in range(driver.vms)]
    start = driver.now + 2 * driver.depth * driver.vms
    for queue in driver.queues:
        queue.append(Command(UNTIL, start + random.randint(0, 9)))
    await driver.steps(driver.vms)
    await driver.step(start=driver.all)
    seen = len(driver.wave)
    while len(driver.wave) - seen < goal // 2:
        for queue, source in zip(driver.queues, floods, strict=True):
            if len(queue) < driver.depth:
                queue += source.block()
        await driver.steps(20)


# ---- Anything ----
class Anything:
    """Random commands, of which many are late, forbidden or misplaced."""

    def __init__(self, driver: Driver, vm: int):
        self.driver, self.own = driver, driver.owners[vm]

    def command(self) -> Command:
        op = random.choice(
            (WAIT, UNTIL, SET, SET, SET, WRITE, DRIVE, SAMPLE, CAPTURE, CAPTURE, LOOP, REPEAT, PAUSE, END, 0, 13)
        )
        now = random.random() < 0.1
        delay = random.choice((0, 1, 1, 2, 3, 9, random.randint(0, 200)))
        if op == UNTIL:
            return Command(op, self.driver.now + random.randint(-100, 300))
        if op == CAPTURE:
            return Command(
                op, delay + random.choice((0, 20, 100)), pin=self._pin(), edges=random.randint(0, 3), now=now
            )
        if op == LOOP:
            return Command(op, random.choice((0, 1, 1, 2, 3, 10)))
        bank = random.getrandbits(1)
        mask = random.getrandbits(16)
        if random.random() < 0.8:
            mask &= self.own >> 16 * bank
        if op == WRITE:
            return Command(op, delay, value=random.getrandbits(32), now=now)
        return Command(op, delay, bank, mask, random.getrandbits(16), now=now)

    def _pin(self) -> int:
        pins = [pin for pin in range(self.driver.pins) if self.own >> pin & 1]
        return random.choice(pins) if pins and random.random() < 0.9 else random.getrandbits(5)


async def random_programs(driver: Driver, cycles: int) -> None:
    """All VMs get random commands, and are started, stopped and flushed at random; pads change at random."""
    sources = [Anything(driver, vm) for vm in range(driver.vms)]
    for cycle in range(cycles):
        driver.patient, driver.reading = random.random() < 0.9, cycle // 500 % 2 == 0
        for queue, source in zip(driver.queues, sources, strict=True):
            if len(queue) < 3 and random.random() < 0.3:
                queue += [source.command() for _ in range(random.randint(1, 12))]
        if random.random() < 0.3:
            driver.outside ^= 1 << random.randrange(driver.pins)
        await driver.step(some(driver, 0.2), some(driver, 0.01), flush_of(0.01))


def some_pins(pins: int) -> int:
    """Pins that a VM claims beside its own, so that several VMs claim some."""
    return sum(1 << pin for pin in range(pins) if random.random() < 0.02)


def is_edge(result) -> bool:
    return result.op == CAPTURE and not result.timeout and not result.forbidden


@cocotb.test()
async def anything(dut):
    """Random programs of all VMs, started, stopped and flushed at random, on pads with noise."""
    begin(dut)
    for time in (1000, BEFORE_WRAP, (1 << 63) - 2000):
        pins, vms = len(dut.outside_i), len(dut.start_i)
        driver = await ready(dut, time, [own | some_pins(pins) for own in share(pins, vms)])
        await random_programs(driver, 12000)
        events = await driver.finish()
        seen = [result for results in driver.results for result in results]
        counts = {name: sum(getattr(one, name) for one in seen) for name in ("late", "forbidden", "timeout", "bad")}
        captured = sum(map(is_edge, seen))
        dut._log.info("%d events, %d edges captured, %s", events, captured, counts)
        assert captured and all(counts.values())


def some(driver: Driver, chance: float) -> int:
    return 1 << random.randrange(driver.vms) if random.random() < chance else 0


def flush_of(chance: float) -> int | None:
    return random.randrange(16) if random.random() < chance else None


# ---- One thing at a time, in numbers ----
async def run(driver: Driver, *commands: Command, cycles: int = 60) -> int:
    """VM 0 executes commands, which are submitted before it starts; the cycle of the start."""
    driver.queues[0] += commands
    await driver.steps(len(commands) + 2)
    await driver.step(start=1)
    start = driver.now
    await driver.steps(cycles)
    return start


async def ready_alone(dut) -> Driver:
    """VM 0 has pins 0..7, which are outputs."""
    begin(dut)
    driver = await ready(dut, claims=[0xFF] + [0xFF00] * (len(dut.start_i) - 1))
    await run(driver, Command(DRIVE, 2, 0, 0xFF, 0x0F), Command(END, 1), cycles=10)
    assert driver.wave[-1][1] == 0x0F << driver.pins
    return driver


def levels(driver: Driver) -> list[tuple[int, int]]:
    """Changes of the pins' levels."""
    return [(cycle, pins & (1 << driver.pins) - 1) for cycle, pins in driver.wave[2:]]


@cocotb.test()
async def set_and_sample_and_capture(dut):
    """A set has its effect in the cycle of its time; an edge is seen two cycles later."""
    driver = await ready_alone(dut)
    at = driver.now + 40
    await run(driver, Command(UNTIL, at), Command(SET, 0, 0, 0xFF, 1), Command(SET, 1, 0, 1, 0),
              Command(SET, 5, 0, 1, 1), Command(CAPTURE, 9, pin=0, edges=RISING), Command(WRITE, 4, value=2),
              Command(SAMPLE, 1), Command(SAMPLE, 1), Command(CAPTURE, 9, pin=1, edges=FALLING),
              Command(END, 1))  # fmt: skip
    assert levels(driver) == [(at, 1), (at + 1, 0), (at + 6, 1), (at + 12, 2)]
    await driver.finish()
    # The falling edge of pin 1 does not come within 9 cycles of the last sample.
    assert driver.results[0] == [
        Result(CAPTURE, at + 8, 1),
        Result(SAMPLE, at + 13, 1),
        Result(SAMPLE, at + 14, 2),
        Result(CAPTURE, at + 23, 2, timeout=True),
    ]


@cocotb.test()
async def late_is_reported(dut):
    """With the number of cycles. The next command's time counts from the time that was missed."""
    driver = await ready_alone(dut)
    past = driver.now - 100
    start = await run(
        driver, Command(UNTIL, past), Command(SET, 0, 0, 1, 1), Command(SET, 3, 0, 1, 0), Command(SAMPLE, 4)
    )
    assert levels(driver) == [(start + 4, 1), (start + 5, 0)]
    status = await driver.status(0)
    assert (status["late"], status["running"]) == (3, 1)
    await driver.finish()
    by = start + 4 - past
    assert [(one.stamp - start, one.by, one.late) for one in driver.results[0]] == [
        (4, by, True), (5, by - 2, True), (6, by - 5, True),
    ]  # fmt: skip


@cocotb.test()
async def foreign_pins_do_not_change(dut):
    driver = await ready_alone(dut)
    await run(driver, Command(SET, 5, 0, 0xFF01, 0xFFFF), Command(DRIVE, 1, 1, 1, 1),
              Command(WRITE, 1, value=0xFFFFFFFF), Command(CAPTURE, 1000, pin=8, edges=3), Command(13), Command(REPEAT),
              Command(END, 9, now=True))  # fmt: skip
    assert [pins for _, pins in levels(driver)] == [1, 0xFF]
    status = await driver.status(0)
    assert (status["forbidden"], status["late"], status["running"]) == (5, 0, 0)
    await driver.finish()
    assert [(one.op, one.forbidden, one.bad) for one in driver.results[0]] == [
        (SET, True, False), (DRIVE, True, False), (CAPTURE, True, False), (13, False, True), (REPEAT, False, True),
    ]  # fmt: skip


@cocotb.test()
async def loop_until_stopped(dut):
    """A square wave with a period of 7 cycles, without drift, until a stop."""
    driver = await ready_alone(dut)
    at = driver.now + 40
    await run(driver, Command(UNTIL, at), Command(LOOP, 0), Command(SET, 4, 0, 1, 1), Command(SET, 3, 0, 1, 0),
              Command(REPEAT), Command(SET, 1, 0, 2, 2), cycles=1000)  # fmt: skip
    await driver.step(stop=1)
    stopped = driver.now
    await driver.steps(30)
    wave = levels(driver)
    assert wave == [(at + 4 + 7 * (n // 2) + 3 * (n % 2), 1 - n % 2) for n in range(len(wave))]
    assert stopped - 4 <= wave[-1][0] <= stopped
    assert (await driver.status(0))["space"] == driver.depth
    await driver.finish()


@cocotb.test()
async def results_overflow(dut):
    """Results that find the FIFO full are counted; the pins' times are exact all the same."""
    driver = await ready_alone(dut)
    driver.reading, at = False, driver.now + 40
    await run(driver, Command(UNTIL, at), Command(LOOP, 100), Command(SAMPLE, 4), Command(SET, 1, 0, 1, 1),
              Command(SET, 2, 0, 1, 0), Command(REPEAT), Command(END, 5), cycles=900)  # fmt: skip
    status = await driver.status(0)
    assert (status["dropped"], status["late"], status["running"]) == (100 - driver.result_depth, 0, 0)
    assert levels(driver) == [(at + 7 * n + 5 + 2 * low, 1 - low) for n in range(100) for low in (0, 1)]
    await driver.finish()
    assert [one.stamp for one in driver.results[0]] == [at + 7 * n + 4 for n in range(driver.result_depth)]


@cocotb.test()
async def flush_in_the_middle(dut):
    """In the next cycle the pins are inputs, nothing runs, and nothing is left in the memories."""
    driver = await ready_alone(dut)
    driver.reading = False
    await run(
        driver,
        Command(LOOP, 0),
        Command(SET, 4, 0, 1, 1),
        Command(SAMPLE, 1),
        Command(SET, 0, 0, 1, 0),
        Command(REPEAT),
    )
    assert int(dut.status_o.value) & 0xFF != driver.depth
    await driver.step(flush=0)
    flushed = driver.now
    await driver.step()
    assert driver.wave[-1] == (flushed + 1, 0)
    status = await driver.status(0)
    assert status == {"running": 0, "late": 0, "forbidden": 0, "dropped": 0, "space": driver.depth}
    await driver.steps(40)
    assert driver.wave[-1] == (flushed + 1, 0)
    # The VM begins again.
    at = driver.now + 40
    await run(driver, Command(UNTIL, at), Command(DRIVE, 0, 0, 1, 1), Command(SET, 1, 0, 1, 1))
    assert driver.wave[-2:] == [(at, 1 << driver.pins), (at + 1, 1 | 1 << driver.pins)]
    await driver.finish()
    assert not driver.results[0]


@cocotb.test()
async def full_memory_refuses(dut):
    """A command too many is refused and lost; a loop that does not fit into the memory is reported, not waited for."""
    driver = await ready_alone(dut)
    driver.patient = False
    driver.queues[0] += [Command(LOOP, 3)] + [Command(PAUSE, 2)] * (driver.depth + 1)
    await driver.steps(driver.depth + 1)
    assert (await driver.status(0))["space"] == 0
    await driver.step()
    assert int(dut.refused_o.value)
    await driver.step(start=1)
    await driver.steps(2)
    driver.patient = True
    driver.queues[0] += [Command(PAUSE, 2)] * 4 + [Command(REPEAT), Command(END, 2)]
    await driver.steps(3 * driver.depth)
    assert (await driver.status(0)) == {"running": 0, "late": 0, "forbidden": 1, "dropped": 0, "space": driver.depth}
    await driver.finish()
    assert [(one.op, one.bad) for one in driver.results[0]] == [(REPEAT, True)]
