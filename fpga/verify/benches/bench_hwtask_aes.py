# SPDX-License-Identifier: Apache-2.0
"""AES-128 against the library `cryptography` (OpenSSL) and the standard's example, and preempted at every block."""

import random

import cocotb
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from figures import measured
from hwtask_helpers import declared_wait, ready, same
from rtl_tools import Bench

BENCHES = [Bench(top="hwtask_harness", depth=1, name="aes128", parameters={"Task": 5}, noise=True)]

ECB_ENCRYPT, ECB_DECRYPT, CBC_ENCRYPT, CBC_DECRYPT, CTR = range(5)
DONE, RAGGED, UNKNOWN = range(3)
DECLARED_WAIT = declared_wait("Aes")


def model(data, cmd, key, vector):
    kind = {CTR: modes.CTR, CBC_ENCRYPT: modes.CBC, CBC_DECRYPT: modes.CBC}.get(cmd)
    cipher = Cipher(algorithms.AES(key), kind(vector) if kind else modes.ECB())
    side = cipher.decryptor() if cmd in (ECB_DECRYPT, CBC_DECRYPT) else cipher.encryptor()
    return side.update(data) + side.finalize()


async def job(harness, data, cmd, key=None, vector=None, **how):
    """Runs a job and compares its output with the library."""
    key, vector = key or random.randbytes(16), vector or random.randbytes(16)
    out = await harness.run(data, cmd=cmd, custom=int.from_bytes(key + vector, "little"), **how)
    expected = model(data, cmd, key, vector)
    same(out.data, expected + bytes(-len(expected) % 8))
    assert out.result == DONE
    return out


@cocotb.test()
async def the_example_of_the_standard(dut):
    """FIPS 197, appendix C.1."""
    harness = await ready(dut)
    key, plain = bytes(range(16)), bytes.fromhex("00112233445566778899aabbccddeeff")
    coded = bytes.fromhex("69c4e0d86a7b0430d8cdb78070b4c55a")
    for cmd, data, expected in ((ECB_ENCRYPT, plain, coded), (ECB_DECRYPT, coded, plain)):
        out = await harness.run(data, cmd=cmd, custom=int.from_bytes(key, "little"))
        same(out.data, expected)


@cocotb.test()
async def every_mode(dut):
    harness = await ready(dut)
    for cmd in range(5):
        for size in (0, 16, 32, 256):
            await job(harness, random.randbytes(size), cmd)
    outs = [await job(harness, random.randbytes(2352), cmd) for cmd in range(5)]
    measured("fpga.aes128.block", max(out.cycles for out in outs) / (2352 / 16))


@cocotb.test()
async def parts_of_blocks(dut):
    """CTR takes any size; the other modes refuse partial blocks; an unknown command is refused."""
    harness = await ready(dut)
    for size in range(1, 50):
        data = random.randbytes(size)
        await job(harness, data, CTR)
        if size % 16:
            out = await harness.run(data, cmd=size % 4)
            assert (out.result, out.data) == (RAGGED, b"")
    for cmd in (5, 7, 8, 1 << 31):
        out = await harness.run(bytes(16), cmd=cmd)
        assert (out.result, out.data) == (UNKNOWN, b"")


@cocotb.test()
async def the_counter_carries(dut):
    harness = await ready(dut)
    for ones in (1, 4, 8, 15, 16):
        await job(harness, bytes(64), CTR, vector=b"\x01" * (16 - ones) + b"\xff" * ones)


@cocotb.test()
async def streams_that_stall(dut):
    harness = await ready(dut)
    for cmd in range(5):
        for rates in ((255, 60), (60, 255), (100, 100)):
            await job(harness, random.randbytes(160), cmd, rates=rates, seed=random.getrandbits(31))


@cocotb.test()
async def moved_at_every_consistency_point(dut):
    """Stopped as soon as a block has started: at the end of each block the job moves to the other instance."""
    harness = await ready(dut)
    for cmd in range(5):
        # A decryption computes its last key first, in ten cycles.
        stop = 11 if cmd in (ECB_DECRYPT, CBC_DECRYPT) else 1
        out = await job(harness, random.randbytes(640), cmd, stop=stop)
        assert out.stops == 640 // 16 - 1
        measured("fpga.aes128.save", out.save)
        measured("fpga.aes128.restore", out.restore)
    await job(harness, random.randbytes(333), CTR, stop=1, rates=(100, 100), seed=7)


@cocotb.test()
async def the_longest_wait(dut):
    harness = await ready(dut)
    data = random.randbytes(640)
    outs = [await job(harness, data, cmd, stop=stop, move=False) for cmd in range(5) for stop in range(11, 40)]
    longest = max(out.wait for out in outs)
    dut._log.info("MEASURED wait %d cycles", longest)
    measured("fpga.aes128.wait", longest)
    assert longest <= DECLARED_WAIT
