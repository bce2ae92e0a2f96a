# SPDX-License-Identifier: Apache-2.0
"""FFT512 and FFT1024: bit-exact, close to the true transform, in time, and preempted at every consistency point."""

import random

import cocotb
import model_fft
import model_qam
import numpy as np
from figures import measured
from hwtask_helpers import NEVER, declared_wait, ready, same
from rtl_tools import Bench, find_module

BENCHES = [
    Bench(top="hwtask_harness", depth=1, name="fft512", parameters={"Task": 3}, noise=True),
    Bench(top="hwtask_harness", depth=1, name="fft1024", parameters={"Task": 4}, noise=True, long=True),
]
POINTS = {3: 512, 4: 1024}
DECLARED_WAIT = {3: declared_wait("Fft512"), 4: declared_wait("Fft1024")}
HALVE_ALL, HALVE_EVEN, HALVE_NONE = 0x3FF, 0x155, 0


def points_of(dut):
    return POINTS[int(dut.Task.value)]


async def job(dut, harness, data, cmd=HALVE_EVEN, **how):
    """Runs a job and compares its output with the model."""
    out = await harness.run(data, cmd=cmd, **how)
    expected, result = model_fft.run(data, points_of(dut), cmd)
    same(out.data, expected)
    assert out.result == result
    return out


def noise(samples, bits=16):
    """Random samples of `bits` bits, both parts independent."""
    low = -(1 << bits - 1)
    return b"".join(random.randint(low, -low - 1).to_bytes(2, "little", signed=True) for _ in range(2 * samples))


def frame():
    """18,800 bits as 4700 symbols of 16-QAM: the output of the QAM16 task."""
    return model_qam.run(random.randbytes(18800 // 8), 4)


@cocotb.test()
async def the_flag_is_of_this_job(dut):
    """Runs first: delay lines contain noise, in both instances. Neither noise nor data of an earlier job may set
    the flag."""
    harness = await ready(dut)
    points = points_of(dut)
    loud, quiet = noise(2 * points, 16), noise(2 * points, 5)
    for stop in (3, NEVER):
        assert (await job(dut, harness, quiet, cmd=HALVE_NONE, stop=stop)).result == 0
        assert (await job(dut, harness, loud, cmd=HALVE_NONE, stop=stop)).result == 1
    assert (await job(dut, harness, quiet, cmd=HALVE_NONE)).result == 0


@cocotb.test()
async def a_frame_in_time(dut):
    harness = await ready(dut)
    out = await job(dut, harness, frame())
    dut._log.info("MEASURED frame %d cycles, %d beats", out.cycles, len(out.data) // 8)
    assert len(out.data) == 5120 * 4
    measured(f"fpga.fft{points_of(dut)}.frame", out.cycles)


def true_transform(data, points, halvings):
    """The transform in floating point, in the order of the task's output."""
    exact = np.fft.fft(model_fft.blocks(data, points) @ np.array([1, 1j]))
    return exact[:, model_fft.bit_reverse(points)] / 2**halvings


@cocotb.test()
async def the_true_transform(dut):
    """The model against NumPy's FFT: tones in every part of the band, a frame, noise."""
    harness = await ready(dut)
    points = points_of(dut)
    time = np.arange(points)
    tones = [(1, 20000), (points // 3, 15000), (points - 2, 9000)]
    signal = np.concatenate([np.exp(2j * np.pi * time * k / points) * level for k, level in tones])
    loud = np.stack([signal.real, signal.imag], axis=-1).round().astype("<i2").tobytes() + frame()
    for cmd, data, bound in ((HALVE_ALL, loud, 6), (HALVE_EVEN, noise(4 * points, 14), 8)):
        out = await harness.run(data, cmd=cmd)
        halvings = bin(cmd & (points - 1)).count("1")
        error = model_fft.blocks(out.data, points) @ np.array([1, 1j]) - true_transform(data, points, halvings)
        dut._log.info("MEASURED error of at most %.2f of 65536, command %#x", np.abs(error).max(), cmd)
        assert np.abs(error).max() < bound
        assert out.result == 0


@cocotb.test()
async def extremes(dut):
    """Full scale, everything saturated, and each command bit alone."""
    harness = await ready(dut)
    points = points_of(dut)
    limits = b"".join(random.choice((b"\xff\x7f", b"\x00\x80", b"\x01\x80", b"\x00\x00")) for _ in range(4 * points))
    for cmd in (HALVE_NONE, HALVE_ALL, HALVE_EVEN, 0x2AA):
        out = await job(dut, harness, limits, cmd=cmd)
        assert out.result == 1 or cmd == HALVE_ALL
    for stage in range(10):
        await job(dut, harness, noise(points, 8), cmd=1 << stage)


@cocotb.test()
async def sizes(dut):
    harness = await ready(dut)
    points = points_of(dut)
    for size in (0, 1, 4, 7, 4 * points - 8, 4 * points - 1, 4 * points, 4 * points + 1, 8 * points + 12):
        await job(dut, harness, random.randbytes(size))


@cocotb.test()
async def streams_that_stall(dut):
    harness = await ready(dut)
    for rates in ((255, 60), (60, 255), (128, 128)):
        await job(dut, harness, noise(1300), rates=rates, seed=random.getrandbits(31))


@cocotb.test()
async def moved_at_every_consistency_point(dut):
    """Stopped as soon as a block has started: at the end of each block the job moves to the other instance."""
    harness = await ready(dut)
    out = await job(dut, harness, frame(), stop=1)
    dut._log.info("MEASURED moves %d, save %d, restore %d cycles", out.stops, out.save, out.restore)
    assert out.stops == 5120 // points_of(dut) - 1
    measured(f"fpga.fft{points_of(dut)}.save", out.save)
    measured(f"fpga.fft{points_of(dut)}.restore", out.restore)
    await job(dut, harness, noise(4 * points_of(dut)), stop=1, rates=(180, 180), seed=7)


@cocotb.test()
async def the_longest_wait(dut):
    """Stops around the first beat of a block, where the wait is longest, and at random points."""
    harness = await ready(dut)
    points = points_of(dut)
    data = frame()
    near = [
        await job(dut, harness, data, stop=stop, move=False) for stop in (*range(1, 8), points // 2 - 1, points // 2)
    ]
    far = [await job(dut, harness, data, stop=1, mask=2 * points - 1, move=False, seed=seed) for seed in range(12)]
    longest = max(out.wait for out in near + far)
    dut._log.info("MEASURED wait %d cycles", longest)
    measured(f"fpga.fft{points_of(dut)}.wait", longest)
    assert longest <= DECLARED_WAIT[int(dut.Task.value)]


@cocotb.test()
async def the_table_of_cosines(_dut):
    """The quadrant in fft_pkg is round(2^16 cos)."""
    text = find_module("fft_pkg").read_text(encoding="utf-8")
    table = text.split("Quarter[257] = '{")[1].split("}")[0]
    found = [int(word.strip().removeprefix("17'd")) for word in table.split(",")]
    assert found == np.rint(65536 * np.cos(2 * np.pi * np.arange(257) / 1024)).astype(int).tolist()
