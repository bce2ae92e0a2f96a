# SPDX-License-Identifier: Apache-2.0
"""QAM16 and QAM64: bit-exact, in time, and preempted at every consistency point."""

import random

import cocotb
import model_qam
from figures import measured
from hwtask_helpers import declared_wait, ready, same
from rtl_tools import Bench

BENCHES = [
    Bench(top="hwtask_harness", depth=1, name="qam16", parameters={"Task": 1}, noise=True),
    Bench(top="hwtask_harness", depth=1, name="qam64", parameters={"Task": 2}, noise=True, long=True),
]
FRAME = 18800 // 8
BITS = {1: 4, 2: 6}
NAME = {1: "qam16", 2: "qam64"}
DECLARED_WAIT = {1: declared_wait("Qam16"), 2: declared_wait("Qam64")}


async def job(dut, harness, data, **how):
    """Runs a job and compares its output with the model."""
    out = await harness.run(data, **how)
    same(out.data, model_qam.run(data, BITS[int(dut.Task.value)]))
    assert out.result == 0
    return out


@cocotb.test()
async def a_frame_in_time(dut):
    harness = await ready(dut)
    out = await job(dut, harness, random.randbytes(FRAME))
    dut._log.info("MEASURED frame %d cycles, %d beats", out.cycles, len(out.data) // 8)
    measured(f"fpga.{NAME[int(dut.Task.value)]}.frame", out.cycles)


@cocotb.test()
async def every_symbol(dut):
    """All 2^12 pairs of symbols of 6 bits, which hold all pairs of 4 bits too."""
    harness = await ready(dut)
    bits = sum(number << 12 * number for number in range(4096))
    await job(dut, harness, bits.to_bytes(4096 * 12 // 8, "little"))


@cocotb.test()
async def every_size(dut):
    """No data, one byte, and every remainder of a group and of a beat."""
    harness = await ready(dut)
    for size in [*range(75), 767, 768, 769]:
        await job(dut, harness, random.randbytes(size))


@cocotb.test()
async def streams_that_stall(dut):
    harness = await ready(dut)
    for rates in ((255, 40), (20, 255), (128, 128), (30, 200)):
        await job(dut, harness, random.randbytes(500), rates=rates, seed=random.getrandbits(31))


@cocotb.test()
async def moved_at_every_consistency_point(dut):
    """Stopped as soon as a group has started: at the end of each group the job moves to the other instance."""
    harness = await ready(dut)
    task = int(dut.Task.value)
    groups = -(-FRAME // {1: 8, 2: 24}[task])
    out = await job(dut, harness, random.randbytes(FRAME), stop=1)
    dut._log.info("MEASURED moves %d, save %d, restore %d cycles", out.stops, out.save, out.restore)
    assert out.stops >= groups - 1
    measured(f"fpga.{NAME[task]}.save", out.save)
    measured(f"fpga.{NAME[task]}.restore", out.restore)
    await job(dut, harness, random.randbytes(600), stop=1, rates=(100, 100), seed=7)


@cocotb.test()
async def the_longest_wait(dut):
    """Stops after every number of cycles up to two groups, repeatedly within a job."""
    harness = await ready(dut)
    data = random.randbytes(1200)
    longest = 0
    for stop in range(45):
        out = await job(dut, harness, data, stop=max(stop, 1), move=False)
        longest = max(longest, out.wait)
    dut._log.info("MEASURED wait %d cycles", longest)
    measured(f"fpga.{NAME[int(dut.Task.value)]}.wait", longest)
    assert longest <= DECLARED_WAIT[int(dut.Task.value)]
