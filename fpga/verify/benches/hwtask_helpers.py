# SPDX-License-Identifier: Apache-2.0
"""Runs jobs on hwtask_harness: loads the memories, starts, waits, and returns output and measurements."""

import re
from dataclasses import dataclass

from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge
from rtl_tools import find_module

NEVER = 0xFFFFFFFF
CYCLE = 10  # ns


def declared_wait(task):
    """The longest wait to a consistency point that hwtask_pkg declares for a task, by its name there."""
    found = re.search(rf"{task}Wait = (\d+);", find_module("hwtask_pkg").read_text(encoding="utf-8"))
    assert found, task
    return int(found[1])


@dataclass
class Outcome:
    """A job's output and the harness's measurements."""

    data: bytes
    result: int
    cycles: int
    stops: int
    wait: int
    save: int
    restore: int


def words(data):
    """Bytes as 64-bit words, the last one padded with ones, because padding must not affect the result."""
    padded = data + b"\xff" * (-len(data) % 8)
    return [int.from_bytes(padded[at : at + 8], "little") for at in range(0, len(padded), 8)]


def same(found, expected):
    """Reports the position of the first difference only."""
    differing = next((at for at, pair in enumerate(zip(found, expected, strict=False)) if pair[0] != pair[1]), None)
    assert differing is None, f"byte {differing} is {found[differing]:#x}, not {expected[differing]:#x}"
    assert len(found) == len(expected), f"{len(found)} bytes, not {len(expected)}"


class Harness:
    """One hwtask_harness."""

    def __init__(self, dut):
        self.dut = dut
        self.loaded = None

    async def reset(self):
        dut = self.dut
        dut.start_i.value = 0
        dut.rst_ni.value = 0
        Clock(dut.clk_i, CYCLE, "ns").start()
        for _ in range(3):
            await FallingEdge(dut.clk_i)
        dut.rst_ni.value = 1
        await FallingEdge(dut.clk_i)

    def _load(self, data):
        if data != self.loaded:
            for at, word in enumerate(words(data)):
                self.dut.mem_in[at].value = word
            self.loaded = data

    async def run(self, data, *, cmd=0, custom=0, rates=(255, 255), stop=NEVER, mask=0, move=True, size=None, seed=1):
        """Runs a job, stopped `stop` cycles (plus a random part of `mask`) after its start and after each resume."""
        dut = self.dut
        self._load(data)
        dut.size_i.value = len(data) if size is None else size
        dut.cmd_i.value, dut.custom_i.value, dut.seed_i.value = cmd, custom, seed
        dut.in_rate_i.value, dut.out_rate_i.value = rates
        dut.stop_after_i.value, dut.stop_mask_i.value, dut.move_i.value = stop, mask, int(move)
        dut.start_i.value = 1
        await FallingEdge(dut.clk_i)
        dut.start_i.value = 0
        await FallingEdge(dut.clk_i)
        if not int(dut.done_o.value):
            await RisingEdge(dut.done_o)
        await FallingEdge(dut.clk_i)
        assert int(dut.errors_o.value) == 0, f"interface rules violated: {int(dut.errors_o.value):#x}"
        return self._outcome()

    def _outcome(self):
        dut = self.dut
        out = b"".join(int(dut.mem_out[at].value).to_bytes(8, "little") for at in range(int(dut.beats_out_o.value)))
        names = ("result", "cycles", "stops", "max_wait", "max_save", "max_restore")
        return Outcome(out, *(int(getattr(dut, f"{name}_o").value) for name in names))


async def ready(dut):
    """A harness after reset."""
    harness = Harness(dut)
    await harness.reset()
    return harness
