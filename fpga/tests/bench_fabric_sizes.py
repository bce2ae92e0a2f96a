# SPDX-License-Identifier: Apache-2.0
"""The fabric at the corners of its parameters and off powers of two: chance, the reference model, and the sorter."""

import os

import cocotb
from bench_fabric import SOURCE, TARGET, TASK, Crowd, fabric, fill, result, slow_memory, sort
from fabric_lab import ASSIGN, FAULT_NONE, REGS, UNAVAILABLE, Shape, probe
from rtl_lab import Bench

LARGEST = Shape(16, 16, 8, 24)  # takes some minutes
SHAPES = (Shape(1, 1, 1, 2), Shape(2, 3, 2, 5), LARGEST)


def bench(shape: Shape) -> Bench:
    parameters = {"NumVms": shape.vms, "NumDevs": shape.devs, "NumPrrs": shape.prrs, "SorterDepth": shape.sorter}
    return Bench(
        top="fabric_sim",
        name=f"fabric_{shape.vms}_{shape.devs}_{shape.prrs}",
        parameters=parameters,
        depth=1,
        environment={"FABRIC_SHAPE": f"{shape.vms} {shape.devs} {shape.prrs} {shape.sorter}"},
        long=shape is LARGEST,
        weight=60,
    )


BENCHES = [bench(shape) for shape in SHAPES]


def this() -> Shape:
    return Shape(*map(int, os.environ["FABRIC_SHAPE"].split()))


@cocotb.test()
async def what_it_says_of_itself(dut):
    """The register PARAMS; the last IF has a page, and there is none behind it."""
    shape = this()
    made = await fabric(dut, shape)
    assert await made.get("PARAMS") == {
        "vms": shape.vms, "devs": shape.devs, "prrs": shape.prrs, "sorter_depth": shape.sorter,
        "list_depth": shape.list_depth, "windows": 4,
    }  # fmt: skip
    last = shape.vms - 1, shape.devs - 1
    await made.if_put(*last, "CMD", 0x1234)
    assert await made.if_get(*last, "CMD") == 0x1234
    for vm, dev in ((shape.vms, 0), (0, shape.devs)):
        if vm < 16 and dev < 16:
            answer = await made.bus.read(made.page(vm, dev) + REGS["FABRIC_IF_CMD"], 4)
            assert answer.resp == 2, "an IF that is not there"


@cocotb.test()
async def a_vm_that_is_not_there(dut):
    """It gets no region, and does not wait for one."""
    shape = this()
    made = await fabric(dut, shape)
    for vm in {shape.vms, 15} - {*range(shape.vms), 16}:
        answer = await made.request(vm, 0, 5)
        assert (answer.method, answer.listed) == (UNAVAILABLE, 0)


@cocotb.test()
async def every_region_for_the_last_vm(dut):
    """The VM and device of the highest numbers have each region once; others take those they had."""
    shape = this()
    made = await fabric(dut, shape)
    vm, dev = shape.vms - 1, shape.devs - 1
    for prr in range(shape.prrs):
        data = fill(made, vm, 1000)
        assert await made.give(vm, dev, 5, TASK + dev) == prr
        await made.job(vm, dev, SOURCE, TARGET, 1000, key=prr)
        assert (await made.finished(vm, dev))["fault"] == FAULT_NONE
        assert result(made, vm, 1000) == probe(data, prr)
        assert int(dut.irq_vm_o.value) == 1 << vm
        await made.if_put(vm, dev, "OVER", 1)
        await made.put("CANCEL", vm | dev << 4)
        if shape.vms * shape.devs > prr + 1:
            assert (await made.request(prr % shape.vms, prr // shape.vms, 15)).prr == prr


@cocotb.test()
async def more_clients_than_the_list_has_room_for(dut):
    """The next one is told no; and the manager hears of one that loses its region when the list is full."""
    shape = this()
    made = await fabric(dut, shape)
    everybody = [(vm, dev) for vm in range(shape.vms) for dev in range(shape.devs)]
    if len(everybody) < shape.prrs + shape.list_depth + 2:
        return  # there is room for all
    prr = await made.give(*everybody[0], 1, TASK + everybody[0][1])
    for client in everybody[1 : shape.prrs]:
        assert (await made.request(*client, 1)).method == ASSIGN
    waiting = everybody[shape.prrs : shape.prrs + shape.list_depth]
    for client in waiting:
        assert (await made.request(*client, 1)).listed
    assert not (await made.request(*everybody[-2], 1)).listed
    assert not (await made.get("IRQ_STATUS"))["list_overflow"]
    urgent = await made.request(*everybody[-1], 15)
    assert (urgent.method, urgent.prr, urgent.evicted) == (ASSIGN, prr, everybody[0])
    assert (await made.get("IRQ_STATUS"))["list_overflow"]
    assert (await made.get("LIST"))["waiting"] == shape.list_depth


@cocotb.test()
@cocotb.parametrize(share=[0.0, 0.5])
async def a_crowd_of_any_size(dut, share):
    shape = this()
    made = await fabric(dut, shape)
    slow_memory(made, share)
    await made.put("STOP_TIME", 3000)
    await made.put("HOLD_TIME", 1500)
    crowd = Crowd(made, dut)
    await crowd.run(150)
    dut._log.info("%d jobs done, %d failed as they should, %d cycles\n%s", crowd.done, crowd.failed,
                  made.model.cycles, made.model.table())  # fmt: skip
    assert crowd.done >= 3


@cocotb.test()
async def the_sorter_of_any_depth(dut):
    shape = this()
    await sort(await fabric(dut, shape), 10 * shape.sorter)
