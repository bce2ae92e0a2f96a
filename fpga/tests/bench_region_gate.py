# SPDX-License-Identifier: Apache-2.0
"""The decoupling of a region: silent when decoupled, transparent when coupled."""

import random

import cocotb
from cocotb.triggers import Timer
from rtl_tools import Bench

BENCHES = [Bench(top="region_gate")]


@cocotb.test()
async def noise_does_not_pass(dut):
    """A thousand cycles of noise on all outputs of the region, coupled at random."""
    width = len(dut.rsp_i)
    assert width == 8 + 32 + 2 * 64  # all members of region_rsp_t
    for _ in range(1000):
        couple, sent = random.getrandbits(1), random.getrandbits(width)
        dut.couple_i.value = couple
        dut.rsp_i.value = sent
        await Timer(1, "ns")
        assert int(dut.rsp_o.value) == (sent if couple else 0)
