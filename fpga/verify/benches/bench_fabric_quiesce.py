# SPDX-License-Identifier: Apache-2.0
"""No access to memory follows the end of a job, nor PRR_STATUS.quiet: faults and closed windows with slow memory."""

import itertools
import random

import cocotb
from bench_fabric import SOURCE, TARGET, TASK, fabric, fill, pauses, result
from bench_fabric_rare import broken
from cocotb.triggers import ClockCycles, ReadOnly, RisingEdge
from fabric_helpers import (
    ASSIGN,
    BUSY,
    FAULT_BUS,
    FAULT_CONTEXT,
    FAULT_DMA,
    FAULT_HUNG,
    FAULT_ROGUE,
    IDLE,
    PREEMPT,
    STATES,
    SWITCH,
    Fabric,
    probe,
)  # fmt: skip
from fabric_model import Inputs
from rtl_tools import Bench, rounds, with_long

BENCHES = with_long(Bench(top="fabric_sim", depth=1, weight=60))  # the build of bench_fabric

BEAT = 8


class Traffic:
    """Counts what the regions do on the memory's bus."""

    def __init__(self, dut):
        self.dut = dut
        self.bursts = self.beats = self.reads = 0
        self.unanswered = 0  # write bursts
        cocotb.start_soon(self.run())

    async def run(self) -> None:
        dut = self.dut
        while True:
            await RisingEdge(dut.clk_i)
            await ReadOnly()
            moved = {
                name: int(getattr(dut, f"m_axi_{name}valid").value) and int(getattr(dut, f"m_axi_{name}ready").value)
                for name in ("aw", "w", "b", "ar")
            }
            self.bursts += moved["aw"]
            self.beats += moved["w"]
            self.reads += moved["ar"]
            self.unanswered += moved["aw"] - moved["b"]

    def snapshot(self) -> tuple[int, int, int]:
        return self.bursts, self.beats, self.reads


def slow_writes(made: Fabric, share: float) -> None:
    for channel in (made.ram.write_if.w_channel, made.ram.write_if.b_channel):
        channel.set_pause_generator(pauses(share))


async def interrupted(dut, vm: int, cycles: int = 30000) -> None:
    for _ in range(cycles):
        await RisingEdge(dut.clk_i)
        await ReadOnly()
        if int(dut.irq_vm_o.value) >> vm & 1:
            return
    raise AssertionError(f"VM {vm} gets no interrupt")


async def ends_quietly(made: Fabric, traffic: Traffic, fault: int, prr: int) -> None:
    """When the VM gets its interrupt, STAT and OVER report the fault and no access is outstanding or follows."""
    await interrupted(made.dut, 1)
    before = traffic.snapshot()
    assert traffic.unanswered == 0, f"{traffic.unanswered} bursts are outstanding at the interrupt"
    await RisingEdge(made.dut.clk_i)  # the bus's driver needs a writable phase
    now = await made.stat(1, 1)
    assert (now["over"], now["fault"], now["busy"], await made.if_get(1, 1, "OVER")) == (1, fault, 0, 1), now
    await ClockCycles(made.dut.clk_i, 1500)
    assert traffic.snapshot() == before, f"accesses after the interrupt: {before}, then {traffic.snapshot()}"
    await made.wait_state(prr, IDLE)


# Fault, and what causes it: parameters of the job, STOP_TIME if the job is stopped.
OUTSIDE = -64 * BEAT  # from the end of the window
CASES = (
    (FAULT_DMA, {"target": OUTSIDE}, 0),
    (FAULT_DMA, {"source": OUTSIDE}, 0),
    (FAULT_BUS, {}, 0),
    (FAULT_ROGUE, {"cmd": 5}, 0),
    (FAULT_HUNG, {"cmd": 1}, 300),
    (FAULT_HUNG, {"cmd": 6}, 4000),
    (FAULT_CONTEXT, {"cmd": 4}, 4000),
    (FAULT_HUNG, {"every": 1000}, 100),  # memory stalls the task
)


async def detected(dut, traffic: Traffic, prr: int) -> int:
    """Write bursts outstanding when the fabric detects the fault."""
    while True:
        await RisingEdge(dut.clk_i)
        await ReadOnly()
        if Inputs.of(int(dut.events_o.value) >> 15 * prr & 0x7FFF).fault:
            return traffic.unanswered


async def fails(made: Fabric, traffic: Traffic, fault: int, job: dict, stop_time: int) -> int:
    """One failed job; returns the write bursts outstanding when the fault was detected."""
    prr = await made.give(1, 1, 1, TASK + 1)
    watch = cocotb.start_soon(detected(made.dut, traffic, prr))
    end = 0x4000_0000 + made.shape.vm_bytes
    places = {name: end + job[name] for name in ("source", "target") if name in job}
    others = {name: value for name, value in job.items() if name not in places}
    await made.job(1, 1, **{"source": SOURCE, "target": TARGET, **places}, size=4096, **others)
    if stop_time:
        await made.put("STOP_TIME", stop_time)
        await made.wait_state(prr, BUSY)
        await made.put("PRR_STOP", 1, prr)
    await ends_quietly(made, traffic, fault, prr)
    return await watch


@cocotb.test()
@cocotb.parametrize(share=[0.0, 0.95])
async def failed_job_is_over_after_its_writes(dut, share):
    """Every fault, while memory stalls the writes for a share of the time."""
    made = await fabric(dut)
    slow_writes(made, share)
    traffic = Traffic(dut)
    data = fill(made, 1, 4096)
    writing = []
    for fault, job, stop_time in CASES if share else CASES[:-1]:
        mend = broken(made, made.shape.base(1) + 0x400) if fault == FAULT_BUS else None
        writing.append(await fails(made, traffic, fault, job, stop_time))
        if mend:
            mend()
    dut._log.info("write bursts outstanding when the fault was detected: %s", writing)
    assert not share or sum(number > 0 for number in writing) > 2, "too few writes: the bench proves nothing"
    slow_writes(made, 0.0)
    await made.give(1, 1, 1, TASK + 1)
    await made.job(1, 1, SOURCE, TARGET, 4096)
    await made.finished(1, 1)
    assert result(made, 1, 4096) == probe(data)


async def open_window(made: Fabric, is_open: bool) -> None:
    await made.window(1, 0, 0x4000_0000, made.shape.vm_bytes if is_open else 0, made.shape.base(1))


async def connected(made: Fabric) -> int:
    """A region for device 1 of VM 1, connected; a pending or saved job begins."""
    found = await made.request(1, 1, 1)
    assert (found.method, found.reconfig) == (ASSIGN, 0), found
    await made.connect(found.prr, 1, 1)
    return found.prr


async def finish(made: Fabric) -> None:
    """Ends the job of the round, if one is left, with an open window."""
    await open_window(made, True)
    for _ in range(4000):
        now = await made.stat(1, 1)
        if not (now["busy"] or now["saved"] or now["pending"]):
            break
        if not now["connected"]:
            await connected(made)
    else:
        raise AssertionError(f"the job did not end: {now}")
    await made.put("CANCEL", 1 | 1 << 4)


async def advance(made: Fabric, how: str, prr: int, delay: int) -> None:
    """Brings the region to a state: held, with a job that begins or runs, that stops, or that resumes."""
    if how == "hold":
        return
    await made.job(1, 1, SOURCE, TARGET, 1024)
    if how != "run":
        await made.wait_state(prr, BUSY)
        await ClockCycles(made.dut.clk_i, 20 + 5 * delay)
        await made.put("PRR_STOP", 1, prr)
    if how == "resume":
        await made.wait_state(prr, IDLE)
        await connected(made)
    await ClockCycles(made.dut.clk_i, delay)


async def until_quiet(made: Fabric, prr: int) -> dict[str, int]:
    for _ in range(5000):
        now = await made.region(prr)
        if now["quiet"]:
            return now
    raise AssertionError(f"region {prr} does not become quiet")


async def no_access_follows(made: Fabric, traffic: Traffic, why: str) -> None:
    before = traffic.snapshot()
    assert traffic.unanswered == 0, f"{why}: {traffic.unanswered} bursts are outstanding"
    await ClockCycles(made.dut.clk_i, 1000)
    assert traffic.snapshot() == before, f"{why}: {before}, then {traffic.snapshot()}"


@cocotb.test()
@cocotb.parametrize(share=[0.0, 0.9])
async def closed_window_is_effective_when_quiet(dut, share):
    """A window is closed before or after `quiet` is read as 1, in every state: no access follows the second of both."""
    made = await fabric(dut)
    slow_writes(made, share)
    traffic = Traffic(dut)
    fill(made, 1, 1024)
    first = await made.request(1, 1, 1)  # in Reconfig
    states = {(await until_quiet(made, first.prr))["state"]}
    await made.put("CANCEL", 1 | 1 << 4)
    await made.give(1, 1, 1, TASK + 1)
    await made.put("CANCEL", 1 | 1 << 4)
    writing = 0
    delays = ((0, 6, 10, 60, 100) if share else (0, 6, 15, 60, 3, 10, 25, 150))[: rounds(3 if share else 4, 8)]
    for how, close_first, delay in itertools.product(("hold", "run", "stop", "resume"), (False, True), delays):
        prr = await connected(made)
        await advance(made, how, prr, delay + random.randrange(3))
        writing += traffic.unanswered > 0
        now = await (made.region(prr) if close_first else until_quiet(made, prr))
        states.add(now["state"])
        assert now["quiet"] or now["state"] in NOT_QUIET, now
        if not close_first:
            await ClockCycles(dut.clk_i, 40)  # for accesses of a job that `quiet` must not ignore
        await open_window(made, False)
        if close_first:
            await until_quiet(made, prr)
        await no_access_follows(made, traffic, f"{how}, {delay} cycles, {STATES[now['state']]}")
        await finish(made)
    dut._log.info("states %s, %d rounds with writes outstanding", [STATES[state] for state in states], writing)
    assert states == {*range(len(STATES))} or share
    assert writing > rounds(3, 8), "too few writes were outstanding: the bench proves nothing"


NOT_QUIET = {BUSY, PREEMPT, SWITCH}
