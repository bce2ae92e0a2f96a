# SPDX-License-Identifier: Apache-2.0
"""Reset of the whole fabric, at any time relative to its clock, while a job runs and while the bus is used."""

import cocotb
from bench_fabric import SOURCE, TARGET, TASK, fill, result
from cocotb.triggers import ReadOnly, RisingEdge, Timer
from fabric_helpers import BUSY, FAULT_NONE, IDLE, PERIOD, REGS, Fabric, probe, simb
from rtl_tools import Bench

BENCHES = [Bench(top="fabric_sim", depth=1, weight=10)]  # the build of bench_fabric

STAGES = 2  # edges of the clock from the release to the first cycle of the fabric


async def job_runs(made: Fabric) -> bytes:
    """Configures the fabric from reset, and starts a job of VM 1."""
    data = fill(made, 1, 4096)
    await made.device(1, TASK)
    await made.window(1, 0, 0x4000_0000, made.shape.vm_bytes, made.shape.base(1))
    prr = await made.give(1, 1, 1, TASK)
    await made.job(1, 1, SOURCE, TARGET, 4096, key=9)
    await made.wait_state(prr, BUSY)
    return data


async def edges_until_released(dut) -> int:
    for edge in range(1, 10):
        await RisingEdge(dut.clk_i)
        await ReadOnly()
        if int(dut.released_o.value):
            return edge
    raise AssertionError("the fabric stays in reset")


@cocotb.test(timeout_time=200, timeout_unit="us")
async def reset_at_any_phase_of_the_clock(dut):
    """The reset takes effect without a clock edge, ends at the second one after the release, and clears all state."""
    made = Fabric(dut)
    await made.start()
    for phase in range(1, PERIOD):
        await job_runs(made)
        await RisingEdge(dut.clk_i)
        await Timer(phase, "ns")
        assert int(dut.coupled_o.value) and int(dut.released_o.value)
        dut.rst_ni.value = 0
        await Timer(1, "ps")
        assert not int(dut.released_o.value) and not int(dut.coupled_o.value), "the reset waits for the clock"
        assert not int(dut.m_axi_arvalid.value) and not int(dut.m_axi_awvalid.value)
        await made.release(phase)
        edges = cocotb.start_soon(edges_until_released(dut))
        # The bus manager does not wait for the fabric: its first access is not lost.
        assert (await made.get("ID"))["magic"] == 0x54534642
        assert await edges == STAGES, phase
        assert (await made.region(0))["state"] == IDLE and not (await made.region(0))["client"]
        assert not (await made.stat(1, 1))["connected"]
        assert await made.read(REGS["FABRIC_WINDOWS"] + REGS["FABRIC_VM_WINDOWS_STRIDE"]) == 0
    data = await job_runs(made)
    assert (await made.finished(1, 1))["fault"] == FAULT_NONE
    assert result(made, 1, 4096) == probe(data, 9)


@cocotb.test(timeout_time=400, timeout_unit="us")
async def a_reset_cuts_a_bitstream(dut):
    """The ICAP takes the next bitstream as a new one, not as the rest of the one that was cut."""
    made = Fabric(dut)
    await made.start()
    for words in (3, 100, 700):
        dut.rst_ni.value = 0
        await made.release()
        await made.device(1, TASK)
        found = await made.request(1, 1, 1)
        image = simb(found.prr, TASK, words=1000)
        made.ram.write(made.shape.bitstreams, image)
        await made.put("ICAP_ADDR", made.shape.bitstreams)
        await made.put("ICAP_LENGTH", len(image))
        await made.put("ICAP_START", found.prr)
        while (await made.get("ICAP_COUNTS"))["words"] < words:
            pass
        dut.rst_ni.value = 0
        await made.release()
        data = await job_runs(made)
        assert (await made.finished(1, 1))["fault"] == FAULT_NONE
        assert result(made, 1, 4096) == probe(data, 9), words


@cocotb.test(timeout_time=20, timeout_unit="us")
async def first_write_after_reset(dut):
    """A write that begins with the release of the reset takes effect."""
    made = Fabric(dut)
    await made.start()
    for phase in range(1, PERIOD):
        dut.rst_ni.value = 0
        await made.release(phase)
        await made.put("HOLD_TIME", 1000 + phase)
        assert (await made.get("HOLD_TIME"))["cycles"] == 1000 + phase
