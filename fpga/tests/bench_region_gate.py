# SPDX-License-Identifier: Apache-2.0
"""The decoupling of a region: silent when decoupled, transparent when coupled."""

import random

import cocotb
from cocotb.triggers import Timer
from rtl_tools import Bench

BENCHES = [Bench(top="region_gate")]

FLAGS = ("stopped", "over", "in_ready", "out_valid", "out_last", "ctx_ready", "ctx_valid", "ctx_last")
WORDS = {"result": 32, "out_data": 64, "ctx_data": 64}


@cocotb.test()
async def noise_does_not_pass(dut):
    """A thousand cycles of noise on all outputs of the region, coupled at random."""
    for _ in range(1000):
        couple = random.getrandbits(1)
        sent = {name: random.getrandbits(1) for name in FLAGS}
        sent |= {name: random.getrandbits(width) for name, width in WORDS.items()}
        dut.couple_i.value = couple
        for name, value in sent.items():
            getattr(dut, f"{name}_i").value = value
        await Timer(1, "ns")
        for name, value in sent.items():
            assert int(getattr(dut, f"{name}_o").value) == (value if couple else 0), name
