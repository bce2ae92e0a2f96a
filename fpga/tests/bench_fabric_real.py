# SPDX-License-Identifier: Apache-2.0
"""The whole fabric with the real HW tasks: bit-exact through windows, DMA, preemption and other regions."""

import random

import cocotb
import model_fft
import model_qam
from cocotb.triggers import ClockCycles
from fabric_lab import ASSIGN, BUSY, FAULT_NONE, HOLD, PREEMPTING, RECONFIG, Fabric, simb
from fabric_model import Lockstep
from rtl_lab import Bench

BENCHES = [Bench(top="fabric_sim", name="fabric_real", parameters={"RealTasks": 1}, depth=1)]

QAM16, QAM64, FFT512, FFT1024 = 1, 2, 3, 4
FRAME = 2350  # bytes: 18,800 bits
SOURCE, TARGET = 0x4000_0000, 0x4001_0000


async def fabric(dut) -> Fabric:
    """Four VMs with 128 KiB each; devices 0 to 3 are QAM16, QAM64, FFT512 and FFT1024."""
    made = Fabric(dut)
    made.model = Lockstep(dut, {dev: (dev + 1, 0) for dev in range(4)}, [0, 1, 2])
    await made.start()
    made.model.begin()
    for dev in range(4):
        await made.device(dev, dev + 1)
    for vm in range(4):
        await made.window(vm, 0, 0x4000_0000, 0x20000, 0x20000 * (vm + 1))
    await made.put("STOP_TIME", 8000)
    return made


def expected(task: int, data: bytes) -> bytes:
    if task in (QAM16, QAM64):
        return model_qam.run(data, 4 if task == QAM16 else 6)
    return model_fft.run(data, 512 if task == FFT512 else 1024, 0)[0]


def fill(made: Fabric, vm: int, task: int) -> bytes:
    data = random.randbytes(FRAME if task in (QAM16, QAM64) else 5 * (2048 if task == FFT512 else 4096))
    made.ram.write(0x20000 * (vm + 1), data)
    return data


def result(made: Fabric, vm: int, size: int) -> bytes:
    return bytes(made.ram.read(0x20000 * (vm + 1) + 0x10000, size))


async def serve(made: Fabric) -> None:
    """What a manager does in its interrupt: whatever is in Reconfig is configured, whatever is held is connected."""
    await made.new_solution()
    for prr in range(3):
        now = await made.region(prr)
        if now["state"] == RECONFIG:
            await made.configure(prr, simb(prr, now["target"], 100), at=0xF0000)
        elif now["state"] == HOLD and not now["connected"]:
            await made.connect(prr, now["vm"], now["dev"])


@cocotb.test()
@cocotb.parametrize(task=[QAM16, QAM64, FFT512, FFT1024])
async def resumed_in_every_region(dut, task):
    """A frame that is stopped again and again, and goes on in another region each time."""
    made = await fabric(dut)
    data = fill(made, 0, task)
    await made.job(0, task - 1, SOURCE, TARGET, len(data))
    used = []
    while not (await made.stat(0, task - 1))["over"]:
        if len(used) % 2:  # the region that holds the task is somebody else's this time
            taken = await made.request(3, task - 1, 1)
        found = await made.request(0, task - 1, 1)
        assert found.method == ASSIGN
        if len(used) % 2:
            await made.put("CANCEL", 3 | (task - 1) << 4)
            assert taken.prr != found.prr
        used.append(found.prr)
        await serve(made)
        await serve(made)
        while (await made.region(found.prr))["state"] not in (BUSY, 0):
            pass
        await ClockCycles(dut.clk_i, 250 + 40 * len(used))
        await made.put("PRR_STOP", 1, found.prr)
        await made.wait_state(found.prr, 0)
    assert (await made.stat(0, task - 1))["fault"] == FAULT_NONE
    assert len(used) >= 3 and len(set(used)) >= 2, used
    wanted = expected(task, data)
    assert result(made, 0, len(wanted)) == wanted


@cocotb.test()
async def four_vms_four_tasks(dut):
    """More clients than regions, of growing priority: all get their results in the end, by themselves."""
    made = await fabric(dut)
    data = {}
    for vm in range(4):
        data[vm] = fill(made, vm, vm + 1)
        await made.job(vm, vm, SOURCE, TARGET, len(data[vm]))
        found = await made.request(vm, vm, vm + 1)
        await serve(made)
        await ClockCycles(dut.clk_i, 200)
        assert found.method == (PREEMPTING if vm == 3 else ASSIGN), found
    for _ in range(400):
        await serve(made)
        if all([(await made.stat(vm, vm))["over"] for vm in range(4)]):
            break
    for vm in range(4):
        wanted = expected(vm + 1, data[vm])
        assert result(made, vm, len(wanted)) == wanted, f"VM {vm}"
