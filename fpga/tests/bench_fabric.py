# SPDX-License-Identifier: Apache-2.0
"""The whole fabric from its bus: what software does, what comes of it, and what it takes."""

import itertools
import random

import cocotb
from cocotb.triggers import ClockCycles, RisingEdge
from fabric_lab import (
    ASSIGN,
    BUSY,
    FAULT_CONTEXT,
    FAULT_DMA,
    FAULT_HUNG,
    FAULT_NONE,
    FAULT_ROGUE,
    HOLD,
    IDLE,
    PREEMPTING,
    RECONFIG,
    UNAVAILABLE,
    Fabric,
    probe,
    simb,
)  # fmt: skip
from rtl_lab import Bench

BENCHES = [Bench(top="fabric_sim", depth=1)]

TASK = 0x10


async def fabric(dut) -> Fabric:
    """A fabric whose four devices are the probe, and whose VMs have 64 KiB each, seen at 0x4000_0000."""
    made = Fabric(dut)
    await made.start()
    for dev in range(4):
        await made.device(dev, TASK + dev)
    for vm in range(4):
        await made.window(vm, 0, 0x4000_0000, 0x10000, 0x10000 * (vm + 1))
    await made.put("STOP_TIME", 4000)
    return made


def fill(made: Fabric, vm: int, size: int, at: int = 0) -> bytes:
    data = random.randbytes(size)
    made.ram.write(0x10000 * (vm + 1) + at, data)
    return data


def result(made: Fabric, vm: int, size: int, at: int = 0x8000) -> bytes:
    return bytes(made.ram.read(0x10000 * (vm + 1) + at, size))


SOURCE, TARGET = 0x4000_0000, 0x4000_8000


@cocotb.test()
async def a_job_from_request_to_interrupt(dut):
    made = await fabric(dut)
    assert (await made.get("ID"))["magic"] == 0x54534642
    assert await made.get("PARAMS") == {
        "vms": 4, "devs": 4, "prrs": 3, "sorter_depth": 16, "list_depth": 16, "windows": 4,
    }  # fmt: skip
    data = fill(made, 1, 4096)
    prr = await made.give(1, 2, 5, TASK + 2)
    assert (await made.region(prr))["state"] == HOLD
    await made.job(1, 2, SOURCE, TARGET, 4096, key=0x1234)
    done = await made.finished(1, 2)
    assert done["fault"] == FAULT_NONE and done["connected"]
    assert result(made, 1, 4096) == probe(data, 0x1234)
    assert await made.if_get(1, 2, "DONE_SIZE") == 4096
    assert int(dut.irq_vm_o.value) == 1 << 1
    await made.if_put(1, 2, "OVER", 1)
    assert int(dut.irq_vm_o.value) == 0
    # Again, without a request: it still has the region.
    await made.job(1, 2, SOURCE, TARGET, 80)
    await made.finished(1, 2)
    assert result(made, 1, 80) == probe(data[:80])
    assert (await made.region(prr))["state"] == IDLE
