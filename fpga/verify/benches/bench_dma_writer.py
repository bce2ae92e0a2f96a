# SPDX-License-Identifier: Apache-2.0
"""The DMA that writes a job's output: consecutive jobs, some of them stopped, on a bus that stalls.

Memory always gets the words of the current job at their addresses, and after a stop no word is left that the next job
could send.
"""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge
from rtl_tools import Bench, rounds, with_long

BENCHES = with_long(Bench(top="dma_writer", depth=1, noise=True, weight=40))

PAGE, BEAT, MOST = 4096, 8, 16
SLOW, FAST = 0.03, 0.9  # probability per cycle that a side is ready


def bits(value, lsb: int, width: int) -> int:
    return int(value) >> lsb & ((1 << width) - 1)


class Job:
    """The words that the task produces, and their addresses."""

    def __init__(self, number: int):
        self.first = random.choice([0, 0, 3, 1000])
        self.base = PAGE * random.randrange(1, 1000) + BEAT * random.randrange(PAGE // BEAT)
        self.words = [number << 32 | n for n in range(random.choice([1, 5, 40, 200]))]
        self.stop_after = random.choice([None, None, random.randrange(1, 400)])  # cycles
        self.given = 0
        self.written: dict[int, int] = {}  # by address

    def place(self, at: int) -> int:
        return self.base + BEAT * (self.first + at)


class Environment:
    """The guard, the bus and the task, each ready at random."""

    def __init__(self, dut, job: Job):
        self.dut, self.job = dut, job
        self.aw, self.w, self.guard = (random.choice([SLOW, FAST, 1.0]) for _ in range(3))
        self.bursts: list[tuple[int, int]] = []  # announced and incomplete: address, beats
        self.sent = 0  # beats of the first one that were sent
        self.answers = 0
        self.asked: tuple[int, int] | None = None
        self.go = self.open = self.flush = self.stop = False
        self.ready = [False, False]  # two cycles ago, a cycle ago: a beat and ready_o take a cycle each

    def drive(self) -> None:
        """After a rising edge."""
        dut, job = self.dut, self.job
        dut.go_i.value, dut.open_i.value = self.go, self.open
        dut.flush_i.value, dut.stop_i.value = self.flush, self.stop
        dut.aw_ready_i.value = random.random() < self.aw
        dut.w_ready_i.value = random.random() < self.w
        dut.check_gnt_i.value = self.asked is None and random.random() < self.guard
        answer = self.asked is not None and random.random() < self.guard
        dut.ok_i.value = answer
        dut.addr_i.value = self.asked[0] if answer else random.getrandbits(30)
        self.answered = answer
        dut.b_valid_i.value = self.answers > 0 and random.random() < FAST
        dut.b_i.value = 0
        seen = self.ready[0] and not self.stop
        dut.valid_i.value = seen and job.given < len(job.words) and random.random() < FAST
        dut.data_i.value = job.words[job.given] if job.given < len(job.words) else random.getrandbits(64)

    def sample(self) -> None:
        """At a falling edge: samples what happens at the next rising edge."""
        dut, job = self.dut, self.job
        if self.answered:
            self.asked = None
        if int(dut.check_o.value) and int(dut.check_gnt_i.value):
            self.asked = int(dut.check_addr_o.value), int(dut.check_beats_o.value)
        if int(dut.b_valid_i.value):
            self.answers -= 1
        if int(dut.w_valid_o.value) and int(dut.w_ready_i.value):
            self.beat(int(dut.w_o.value))
        if int(dut.aw_valid_o.value) and int(dut.aw_ready_i.value):
            self.announce(int(dut.aw_o.value))
        job.given += int(dut.valid_i.value)
        self.ready = [self.ready[1], bool(dut.ready_o.value)]

    def announce(self, aw: int) -> None:
        address, beats = bits(aw, 36, 64), bits(aw, 28, 8) + 1
        assert beats <= MOST
        assert address // PAGE == (address + BEAT * beats - 1) // PAGE, "a burst crosses a page"
        end = (address - self.job.place(0)) // BEAT + beats
        assert end <= self.job.given, "a burst was announced before the task has produced all of it"
        self.bursts.append((address, beats))

    def beat(self, w: int) -> None:
        job = self.job
        assert self.bursts, "a beat without a burst"
        address, beats = self.bursts[0]
        at = address + BEAT * self.sent
        word = (at - job.place(0)) // BEAT
        assert 0 <= word < job.given, f"word {word} of {job.given} that the task produced"
        assert bits(w, 10, 64) == job.words[word], f"word {word}: {bits(w, 10, 64):#x}, not {job.words[word]:#x}"
        assert at not in job.written, "written twice"
        job.written[at] = bits(w, 10, 64)
        self.sent += 1
        assert bits(w, 1, 1) == (self.sent == beats), "w_last is wrong"
        if self.sent == beats:
            self.sent = 0
            self.answers += 1
            del self.bursts[0]


async def step(environment: Environment) -> None:
    await RisingEdge(environment.dut.clk_i)
    environment.drive()
    await FallingEdge(environment.dut.clk_i)
    environment.sample()


async def run(dut, job: Job) -> None:
    """A job from its start until the DMA is quiet again."""
    environment = Environment(dut, job)
    dut.base_i.value, dut.first_i.value = job.base, job.first
    environment.go = True
    await step(environment)
    environment.go, environment.open = False, True
    for cycle in range(20000):
        environment.stop = job.stop_after is not None and cycle >= job.stop_after
        environment.flush = environment.stop or job.given == len(job.words)
        await step(environment)
        if environment.flush and int(dut.quiet_o.value):
            break
    else:
        raise AssertionError("the DMA does not become quiet")
    assert not environment.bursts, "quiet is reported with a burst outstanding"
    if job.stop_after is None:
        assert len(job.written) == len(job.words), "words are missing in memory"


@cocotb.test()
async def every_word_belongs_to_its_job(dut):
    for name in ("go", "open", "flush", "stop", "check_gnt", "ok", "bad", "valid", "aw_ready", "w_ready", "b_valid"):
        getattr(dut, f"{name}_i").value = 0
    dut.rst_ni.value = 0
    Clock(dut.clk_i, 10, "ns").start()
    for _ in range(4):
        await RisingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    stopped = 0
    for number in range(1, rounds(81, 201)):
        job = Job(number)
        await run(dut, job)
        stopped += job.stop_after is not None and len(job.written) < len(job.words)
    assert stopped > 5, f"only {stopped} jobs were stopped before their end"
