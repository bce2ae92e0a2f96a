# SPDX-License-Identifier: Apache-2.0
"""G.722 against spandsp, like the guests' codec (tests/guests/g722_reference.py), and preempted after every octet."""

import random
import sys

import cocotb
import numpy as np
from figures import measured
from hwtask_helpers import declared_wait, ready, same
from rtl_tools import TOP, Bench

sys.path.insert(0, str(TOP / "tests" / "guests"))
import g722_reference as reference

BENCHES = [Bench(top="hwtask_harness", depth=1, name="g722", parameters={"Task": 6}, noise=True)]

ENCODE, DECODE = 0, 1
DONE, RAGGED, UNKNOWN = range(3)
DECLARED_WAIT = declared_wait("G722")


def signals(generator):
    """Signals that exercise the codec: loud and quiet noise, tones, squares, pauses, filter overshoots."""
    time = np.arange(4000)
    signs = np.tile(np.r_[np.ones(300), np.sign(reference.FILTER), np.ones(80), -np.sign(reference.FILTER)], 8)
    return {
        "noise": generator.integers(-32768, 32768, 4000),
        "quiet-noise": generator.integers(-40, 41, 2000),
        "sweep": 30000 * np.sin(2 * np.pi * 0.5 * time**2 / 8000),
        "voice": 9000 * np.sin(time / 9) * (np.sin(time / 300) > 0) + generator.normal(0, 90, 4000),
        "full-scale": np.full(1000, -32768),
        "overshoot-low": 32767 * signs,
        "overshoot-high": 32767 * signs * np.where(np.arange(len(signs)) % 2 == 0, -1, 1),
        **{f"square-{period}": np.where(time // period % 2, 32767, -32768) for period in (1, 2, 7, 100)},
    }


def noise(count):
    """Random samples of changing level."""
    generator = np.random.default_rng(random.getrandbits(32))
    return (generator.integers(-32768, 32768, count) >> generator.integers(0, 12, count)).astype(np.int16)


def padded(array):
    data = array.tobytes()
    return data + bytes(-len(data) % 8)


async def encode(harness, samples, **how):
    out = await harness.run(samples.astype("<i2").tobytes(), cmd=ENCODE, **how)
    same(out.data, padded(reference.encode(samples)))
    assert out.result == DONE
    return out


async def decode(harness, codes, expected=None, **how):
    out = await harness.run(codes.astype(np.uint8).tobytes(), cmd=DECODE, **how)
    same(out.data, padded(reference.decode(codes) if expected is None else expected))
    assert out.result == DONE
    return out


@cocotb.test()
async def every_signal(dut):
    """Coded and decoded, each compared with the reference."""
    harness = await ready(dut)
    for name, signal in signals(np.random.default_rng(722)).items():
        samples = signal.astype(np.int16)
        out = await encode(harness, samples)
        back = await decode(harness, np.frombuffer(out.data, np.uint8)[: len(samples) // 2])
        dut._log.info("%s: %.1f cycles an octet to decode", name, back.cycles / (len(samples) / 2))
        if name == "noise":
            measured("fpga.g722.octet", out.cycles / (len(samples) / 2))


@cocotb.test()
async def every_octet(dut):
    """Octets that no encoder sends, and long runs of each octet."""
    harness = await ready(dut)
    generator = np.random.default_rng(64)
    await decode(harness, generator.integers(0, 256, 4000))
    await decode(harness, np.repeat(np.arange(256), 15))
    await decode(harness, generator.integers(0, 4, 1000) | generator.integers(0, 4, 1000) << 6)


@cocotb.test()
async def sums_are_limited_one_by_one(dut):
    """Saturation that spandsp does differently (see g722_reference): octets that cause it, against the model."""
    harness = await ready(dut)
    turning = np.tile(np.r_[np.full(600, 0xA0), np.full(3, 0x04), np.full(3, 0xA0), np.full(30, 0x04)], 4)
    expected, overflowed = reference.model_decode(turning)
    assert overflowed
    await decode(harness, turning, expected)


@cocotb.test()
async def sizes(dut):
    harness = await ready(dut)
    for octets in range(1, 20):
        await encode(harness, noise(2 * octets))
        await decode(harness, np.frombuffer(random.randbytes(octets), np.uint8))
    for cmd in (ENCODE, DECODE):
        out = await harness.run(b"", cmd=cmd)
        assert (out.result, out.data) == (DONE, b"")
    for size in (1, 2, 3, 5):
        out = await harness.run(bytes(size), cmd=ENCODE)
        assert (out.result, out.data) == (RAGGED, b"")
    out = await harness.run(bytes(8), cmd=2)
    assert (out.result, out.data) == (UNKNOWN, b"")


@cocotb.test()
async def streams_that_stall(dut):
    harness = await ready(dut)
    for rates in ((255, 5), (5, 255), (20, 20)):
        await encode(harness, noise(200), rates=rates, seed=random.getrandbits(31))
        await decode(harness, np.frombuffer(random.randbytes(100), np.uint8), rates=rates, seed=3)


@cocotb.test()
async def moved_at_every_consistency_point(dut):
    """Stopped as soon as an octet or a beat has started: the instances alternate after each octet."""
    harness = await ready(dut)
    octets = 500
    for out in (
        await encode(harness, noise(2 * octets), stop=1),
        await decode(harness, np.frombuffer(random.randbytes(octets), np.uint8), stop=1),
    ):
        assert out.stops >= octets - 1
        measured("fpga.g722.save", out.save)
        measured("fpga.g722.restore", out.restore)
    await encode(harness, noise(300), stop=1, rates=(50, 50), seed=7)


@cocotb.test()
async def the_longest_wait(dut):
    harness = await ready(dut)
    samples, codes = noise(400), np.frombuffer(random.randbytes(100), np.uint8)
    outs = [await encode(harness, samples, stop=stop, move=False) for stop in range(1, 100, 3)]
    outs += [await decode(harness, codes, stop=stop, move=False) for stop in range(1, 100, 3)]
    longest = max(out.wait for out in outs)
    dut._log.info("MEASURED wait %d cycles", longest)
    measured("fpga.g722.wait", longest)
    assert longest <= DECLARED_WAIT
