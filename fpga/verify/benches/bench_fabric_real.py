# SPDX-License-Identifier: Apache-2.0
"""The whole fabric with the real HW tasks: bit-exact across windows, DMA, preemption and moves between regions."""

import random
import sys

import bench_hwtask_aes as aes
import cocotb
import model_fft
import model_qam
import numpy as np
from cocotb.triggers import ClockCycles
from fabric_helpers import ASSIGN, BUSY, FAULT_NONE, HOLD, PREEMPTING, RECONFIG, Fabric, simb
from fabric_model import Lockstep
from rtl_tools import TOP, Bench

sys.path.insert(0, str(TOP / "tests" / "guests"))
import g722_reference

# Long: the tests of systems run the same tasks and their preemption in this RTL, too (tests/e2e/test_accelerators.py).
BENCHES = [
    Bench(
        top="fabric_sim",
        name="fabric_real",
        parameters={"RealTasks": 1, "NumDevs": 6},
        depth=1,
        weight=150,
        long=True,
    )
]

QAM16, QAM64, FFT512, FFT1024, AES128, G722 = TASKS = range(1, 7)
# Bytes of input: a frame of 18,800 bits, five blocks, blocks of a cipher, samples.
SIZES = {QAM16: 2350, QAM64: 2350, FFT512: 5 * 2048, FFT1024: 5 * 4096, AES128: 2352, G722: 400}
COMMANDS = {AES128: aes.CBC_DECRYPT}  # keeps the most state, and has to compute its last key again
SOURCE, TARGET = 0x4000_0000, 0x4001_0000


async def fabric(dut) -> Fabric:
    """Four VMs with 128 KiB each; device 0 is QAM16, and so on."""
    made = Fabric(dut)
    made.model = Lockstep(dut, {task - 1: (task, 0) for task in TASKS}, [0, 1, 2], 16, 4)
    await made.start()
    made.model.begin()
    for task in TASKS:
        await made.device(task - 1, task)
    for vm in range(4):
        await made.window(vm, 0, 0x4000_0000, 0x20000, 0x20000 * (vm + 1))
    await made.put("STOP_TIME", 8000)
    return made


KEY, VECTOR = bytes(range(16)), bytes(range(100, 116))


def expected(task: int, data: bytes) -> bytes:
    if task in (QAM16, QAM64):
        return model_qam.run(data, 4 if task == QAM16 else 6)
    if task == AES128:
        return aes.model(data, aes.CBC_DECRYPT, KEY, VECTOR)
    if task == G722:
        return g722_reference.encode(np.frombuffer(data, "<i2")).tobytes()
    return model_fft.run(data, 512 if task == FFT512 else 1024, 0)[0]


async def begin(made: Fabric, vm: int, task: int, at: int = 0) -> bytes:
    """Starts a job on a VM's device with random data; returns the data."""
    data = random.randbytes(SIZES[task])
    made.ram.write(0x20000 * (vm + 1) + at, data)
    await made.job(vm, task - 1, SOURCE + at, TARGET + at, len(data), cmd=COMMANDS.get(task, 0), custom=KEY + VECTOR)
    return data


def result(made: Fabric, vm: int, size: int, at: int = 0) -> bytes:
    return bytes(made.ram.read(0x20000 * (vm + 1) + 0x10000 + at, size))


async def serve(made: Fabric) -> None:
    """The manager's interrupt handler: configures regions in Reconfig, connects held regions."""
    await made.new_solution()
    for prr in range(3):
        now = await made.region(prr)
        if now["state"] == RECONFIG:
            await made.configure(prr, simb(prr, now["target"], 100), at=0xF0000)
        elif now["state"] == HOLD and not now["connected"]:
            await made.connect(prr, now["vm"], now["dev"])


@cocotb.test()
@cocotb.parametrize(task=list(TASKS))
async def resumed_in_every_region(dut, task):
    """A job that is stopped repeatedly and resumes in another region each time."""
    made = await fabric(dut)
    data = await begin(made, 0, task)
    used = []
    while not (await made.stat(0, task - 1))["over"]:
        if len(used) % 2:  # another client gets the region that holds the task
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
async def four_vms_six_tasks(dut):
    """More clients than regions, with increasing priority: all get their results without further requests."""
    made = await fabric(dut)
    jobs = [(task % 4, task, 0x8000 * (task // 4)) for task in TASKS]
    data, methods = {}, []
    for vm, task, at in jobs:
        data[task] = await begin(made, vm, task, at)
        methods.append((await made.request(vm, task - 1, task)).method)
        await serve(made)
        await ClockCycles(dut.clk_i, 200)
    assert methods[:4] == [ASSIGN, ASSIGN, ASSIGN, PREEMPTING], methods
    for _ in range(400):
        await serve(made)
        if all([(await made.stat(vm, task - 1))["over"] for vm, task, _at in jobs]):
            break
    for vm, task, at in jobs:
        assert (await made.stat(vm, task - 1))["fault"] == FAULT_NONE
        wanted = expected(task, data[task])
        assert result(made, vm, len(wanted), at) == wanted, f"VM {vm}, task {task}"
