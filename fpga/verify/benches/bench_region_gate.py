# SPDX-License-Identifier: Apache-2.0
"""The boundary of a region: registered in both directions, silent when decoupled."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge, Timer
from rtl_tools import Bench

BENCHES = [Bench(top="region_gate")]

RSP_BITS = 8 + 32 + 2 * 64  # all members of region_rsp_t
# The members of region_req_t in their order: start, resume, stop; cmd, size, custom; the rest.
PULSE_BITS, STABLE_BITS, STREAM_BITS = 3, 32 + 32 + 8 * 32, 7 + 2 * 64


async def reset(dut) -> None:
    dut.couple_i.value, dut.req_i.value, dut.rsp_i.value = 0, 0, 0
    dut.rst_ni.value = 0
    Clock(dut.clk_i, 10, "ns").start()
    await RisingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    await FallingEdge(dut.clk_i)


@cocotb.test()
async def noise_does_not_pass(dut):
    """A thousand cycles of noise on all outputs of the region, coupled at random."""
    await reset(dut)
    width = len(dut.rsp_i)
    assert width == RSP_BITS
    was_coupled, before = 0, 0
    for _ in range(1000):
        couple, sent = random.getrandbits(1), random.getrandbits(width)
        dut.couple_i.value = couple
        dut.rsp_i.value = sent
        await Timer(1, "ns")
        assert int(dut.rsp_o.value) == (before if couple and was_coupled else 0)
        await FallingEdge(dut.clk_i)
        was_coupled, before = couple, sent


@cocotb.test()
async def request_arrives_a_cycle_later(dut):
    """Except cmd, size and custom, which prr_run keeps stable during a job."""
    await reset(dut)
    width = len(dut.req_i)
    assert width == PULSE_BITS + STABLE_BITS + STREAM_BITS
    stable = ((1 << STABLE_BITS) - 1) << STREAM_BITS
    before = 0
    for _ in range(1000):
        sent = random.getrandbits(width)
        dut.req_i.value = sent
        await Timer(1, "ns")
        assert int(dut.req_o.value) == (before & ~stable) | (sent & stable)
        await FallingEdge(dut.clk_i)
        before = sent
