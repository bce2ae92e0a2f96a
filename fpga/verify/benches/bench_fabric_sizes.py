# SPDX-License-Identifier: Apache-2.0
"""The fabric at the extremes of its parameters and between powers of two: random load, reference model, sorter."""

import os

import cocotb
from bench_fabric import SOURCE, TARGET, TASK, RandomGuests, fabric, fill, result, slow_memory, sort
from fabric_helpers import ASSIGN, FAULT_NONE, REGS, UNAVAILABLE, Shape, probe
from rtl_tools import Bench

SHAPES = (Shape(1, 1, 1, 2), Shape(2, 3, 2, 5), Shape(16, 16, 8, 24))  # the last one takes some minutes


def bench(shape: Shape) -> Bench:
    parameters = {"NumVms": shape.vms, "NumDevs": shape.devs, "NumPrrs": shape.prrs, "SorterDepth": shape.sorter}
    return Bench(
        top="fabric_sim",
        name=f"fabric_{shape.vms}_{shape.devs}_{shape.prrs}",
        parameters=parameters,
        depth=1,
        environment={"FABRIC_SHAPE": f"{shape.vms} {shape.devs} {shape.prrs} {shape.sorter}"},
        long=True,
        weight=60,
    )


BENCHES = [bench(shape) for shape in SHAPES]


def this() -> Shape:
    return Shape(*map(int, os.environ["FABRIC_SHAPE"].split()))


@cocotb.test()
async def parameter_register(dut):
    """The register PARAMS; the last IF has a page, and the next address has none."""
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
            assert answer.resp == 2, "an IF that does not exist"


@cocotb.test()
async def nonexistent_vm(dut):
    """A VM that does not exist gets no region, and is not listed."""
    shape = this()
    made = await fabric(dut, shape)
    for vm in {shape.vms, 15} - {*range(shape.vms), 16}:
        answer = await made.request(vm, 0, 5)
        assert (answer.method, answer.listed) == (UNAVAILABLE, 0)


@cocotb.test()
async def every_region_for_the_last_vm(dut):
    """The highest VM and device have each region once; other clients preempt them."""
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
async def search_list_full(dut):
    """The next request is refused; a client that loses its region while the list is full raises List Overflow."""
    shape = this()
    made = await fabric(dut, shape)
    all_clients = [(vm, dev) for vm in range(shape.vms) for dev in range(shape.devs)]
    if len(all_clients) < shape.prrs + shape.list_depth + 2:
        return  # the list has space for all
    prr = await made.give(*all_clients[0], 1, TASK + all_clients[0][1])
    for client in all_clients[1 : shape.prrs]:
        assert (await made.request(*client, 1)).method == ASSIGN
    waiting = all_clients[shape.prrs : shape.prrs + shape.list_depth]
    for client in waiting:
        assert (await made.request(*client, 1)).listed
    assert not (await made.request(*all_clients[-2], 1)).listed
    assert not (await made.get("IRQ_STATUS"))["list_overflow"]
    urgent = await made.request(*all_clients[-1], 15)
    assert (urgent.method, urgent.prr, urgent.evicted) == (ASSIGN, prr, all_clients[0])
    assert (await made.get("IRQ_STATUS"))["list_overflow"]
    assert (await made.get("LIST"))["waiting"] == shape.list_depth


@cocotb.test()
@cocotb.parametrize(share=[0.0, 0.5])
async def random_load_any_size(dut, share):
    shape = this()
    made = await fabric(dut, shape)
    slow_memory(made, share)
    await made.put("STOP_TIME", 3000)
    await made.put("HOLD_TIME", 1500)
    guests = RandomGuests(made, dut)
    for _ in range(4):  # one VM with one device and one region completes few jobs
        await guests.run(150)
        if guests.done >= 3:
            break
    dut._log.info("%d jobs done, %d failed as expected, %d cycles\n%s", guests.done, guests.failed,
                  made.model.cycles, made.model.table())  # fmt: skip
    assert guests.done >= 3


@cocotb.test()
async def sorter_any_depth(dut):
    shape = this()
    await sort(await fabric(dut, shape), 10 * shape.sorter)
