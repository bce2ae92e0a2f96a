# SPDX-License-Identifier: Apache-2.0
"""Rare events in the fabric: coincidences, memory errors, unmapped addresses."""

import itertools
import random
import struct
import zlib

import cocotb
from bench_fabric import SOURCE, TARGET, TASK, fabric, fill, pauses, result
from cocotb.triggers import ClockCycles, FallingEdge
from cocotbext.axi import AxiBurstType, AxiResp
from fabric_helpers import (
    ASSIGN,
    BUSY,
    FAULT_BUS,
    FAULT_CONTEXT,
    FAULT_DMA,
    FAULT_HUNG,
    FAULT_NONE,
    HOLD,
    IDLE,
    PAGE,
    PREEMPTING,
    RECONFIG,
    REGS,
    UNAVAILABLE,
    Fabric,
    Solution,
    probe,
    simb,
)  # fmt: skip
from rtl_tools import Bench, rounds, with_long

BENCHES = with_long(Bench(top="fabric_sim", depth=1, weight=60))  # the build of bench_fabric

EVENTS = (
    "new_solution", "reconfig_over", "prr_stopped", "dma_violation", "task_fault", "hold_expired", "list_overflow",
)  # fmt: skip
ALL = 0x7F
LARGE = 2  # the size class of the last region only


async def pending(made: Fabric, *names: str) -> None:
    """Exactly these events are pending; each raises the line when only it is enabled; all can be cleared."""
    status = await made.get("IRQ_STATUS")
    assert {name for name, value in status.items() if value} == set(names), status
    for bit, name in enumerate(EVENTS):
        await made.put("IRQ_ENABLE", 1 << bit)
        assert int(made.dut.irq_manager_o.value) == (name in names), name
    await made.put("IRQ_ENABLE", ALL)
    await made.put("IRQ_STATUS", ALL)
    assert int(made.dut.irq_manager_o.value) == ("new_solution" in names)  # stays set until the solution is read


@cocotb.test()
async def manager_interrupts(dut):
    """Every event sets its bit, and raises the line if the bit is enabled."""
    made = await fabric(dut)
    await pending(made)
    fill(made, 0, 8192)
    prr = await made.give(0, 0, 1, TASK)
    await pending(made, "reconfig_over")
    await made.job(0, 0, SOURCE, TARGET, 8192)
    await made.wait_state(prr, BUSY)
    await made.put("PRR_STOP", 1, prr)
    await made.wait_state(prr, IDLE)
    await pending(made, "prr_stopped")
    await made.request(0, 0, 1)
    await made.connect(prr, 0, 0)
    await made.finished(0, 0)
    await pending(made)
    await made.job(0, 0, 0x7000_0000, TARGET, 8192)
    await made.finished(0, 0)
    await made.wait_state(prr, IDLE)
    await pending(made, "dma_violation", "task_fault", "prr_stopped")
    await made.put("HOLD_TIME", 50)
    await made.request(0, 0, 1)
    await made.wait_state(prr, IDLE)
    await pending(made, "hold_expired")
    await made.put("HOLD_TIME", 0xFFFFFFFF)
    for dev in range(4):
        await made.request(1, dev, 1)
    await pending(made)
    await made.put("CANCEL", 1)
    await ClockCycles(dut.clk_i, 10)
    await pending(made, "new_solution")
    assert (await made.new_solution()).client == (1, 3, 1)
    await pending(made)


@cocotb.test()
async def vm_interrupts(dut):
    """INT_CTRL bit 0 enables the interrupt for jobs that are over, bit 1 for failed ones; no other VM gets one."""
    made = await fabric(dut)
    fill(made, 2, 64)
    await made.give(2, 1, 1, TASK + 1)
    for control in range(4):
        for source, fault in ((SOURCE, FAULT_NONE), (0x7000_0000, FAULT_DMA)):
            await made.job(2, 1, source, TARGET, 64)
            await made.if_put(2, 1, "INT_CTRL", control)
            assert (await made.finished(2, 1))["fault"] == fault
            wanted = control >> 1 if fault else control & 1
            assert int(dut.irq_vm_o.value) == wanted << 2, (control, fault)
            await made.if_put(2, 1, "OVER", 0)
            assert int(dut.irq_vm_o.value) == wanted << 2, "cleared by a zero"
            await made.if_put(2, 1, "OVER", 1)
            assert int(dut.irq_vm_o.value) == 0
            assert (await made.stat(2, 1))["fault"] == FAULT_NONE
            if fault:
                await made.connect((await made.request(2, 1, 1)).prr, 2, 1)


@cocotb.test()
async def no_event_lost_to_a_write(dut):
    """Hold expires in each of the cycles of a write that acknowledges another event."""
    made = await fabric(dut)
    prr = await made.give(0, 0, 1, TASK)
    await made.put("CANCEL", 0)
    for hold in range(40, 60):
        await made.put("HOLD_TIME", hold)
        await made.put("IRQ_STATUS", ALL)
        assert (await made.request(0, 0, 1)).method == ASSIGN
        for _ in range(15):
            await made.put("IRQ_STATUS", 1 << EVENTS.index("prr_stopped"))
        assert (await made.region(prr))["state"] == IDLE
        assert (await made.get("IRQ_STATUS"))["hold_expired"], hold


async def large(made: Fabric, *clients: tuple[int, int, int]) -> int:
    """Devices 0 and 1 need the only large region; the first client gets it, the others wait. Returns the region."""
    for dev in (0, 1):
        await made.device(dev, TASK, LARGE)
    (vm, dev, prio), *others = clients
    prr = await made.give(vm, dev, prio, TASK)
    for other in others:
        assert (await made.request(*other)).listed
    return prr


@cocotb.test()
async def promised_client_is_notified(dut):
    """A request in any cycle around the end of a job: a client that is answered "preempt" gets PRR Stopped."""
    made = await fabric(dut)
    fill(made, 0, 256)
    prr = await large(made, (0, 0, 1))
    methods = set()
    for delay in range(90):
        await made.job(0, 0, SOURCE, TARGET, 64)
        await made.put("IRQ_STATUS", ALL)
        await ClockCycles(dut.clk_i, delay)
        answer = await made.request(1, 0, 9)
        methods.add(answer.method)
        await made.wait_state(prr, HOLD)
        stopped = (await made.get("IRQ_STATUS"))["prr_stopped"]
        assert stopped == (answer.method == PREEMPTING), (delay, answer)
        # For the next iteration the first client gets the region back.
        await made.put("CANCEL", 1)
        await made.put("CANCEL", 0)
        assert (await made.request(0, 0, 1)).method == ASSIGN
        await made.connect(prr, 0, 0)
        await made.finished(0, 0)
        while await made.new_solution():
            pass
    assert methods == {ASSIGN, PREEMPTING}


@cocotb.test()
async def free_region_precedes_a_connected_one(dut):
    """A region that is connected to its last client is taken only if no free one has the task or none is free."""
    made = await fabric(dut)
    data = fill(made, 0, 256)
    small = await made.give(0, 0, 1, TASK)
    await made.job(0, 0, SOURCE, TARGET, 256)
    await made.finished(0, 0)
    assert (await made.region(small))["state"] == IDLE
    # Without the task: each of the larger free regions comes first.
    others = [await made.give(1, dev, 1, TASK + dev) for dev in (1, 2)]
    assert small == 0 and others == [1, 2]
    # The client of the small region needs neither a request nor a configuration for its next job.
    await made.job(0, 0, SOURCE, TARGET, 256, key=5)
    assert (await made.finished(0, 0))["fault"] == FAULT_NONE
    assert result(made, 0, 256) == probe(data, 5)
    # No free region is left: the connected one is taken, and its client disconnected.
    last = await made.request(2, 3, 1)
    assert (last.method, last.prr, last.reconfig, last.evicted) == (ASSIGN, small, 1, (0, 0)), last
    for vm, dev in ((2, 3), (1, 1), (1, 2)):
        await made.put("CANCEL", vm | dev << 4)
    # A connected region that holds the task precedes a free one without it; a free one with it precedes both.
    held = await made.give(0, 1, 1, TASK + 1)
    await made.job(0, 1, SOURCE, TARGET, 256)
    await made.finished(0, 1)
    near = await made.request(3, 1, 1)
    assert (near.prr, near.reconfig, near.evicted) == (held, 0, (0, 1)) and held == 1, near
    await made.connect(held, 3, 1)
    await made.job(3, 1, SOURCE, TARGET, 256)
    await made.finished(3, 1)
    await made.device(3, TASK + 1)
    await made.device(2, TASK + 1, LARGE)
    large_one = await made.give(2, 2, 1, TASK + 1)
    await made.put("CANCEL", 2 | 2 << 4)
    free = await made.request(2, 3, 1)
    assert (free.prr, free.reconfig, free.evicted) == (large_one, 0, None), free


@cocotb.test()
async def excluded_regions_are_not_used(dut):
    """Neither idle nor preempted; a client waits for the regions that its device may use."""
    made = await fabric(dut)
    await made.device(1, TASK + 1, excluded=0b001)
    assert await made.give(0, 1, 1, TASK + 1) == 1
    await made.put("CANCEL", 1 << 4)
    await made.device(1, TASK + 1, excluded=0b110)
    small = await made.give(0, 1, 1, TASK + 1)
    assert small == 0
    # Two regions are idle, and one has a client of lower priority: neither is allowed.
    await made.device(2, TASK + 2, excluded=0b110)
    await made.job(0, 1, SOURCE, TARGET, 4096)
    waiting = await made.request(1, 2, 1)
    assert (waiting.method, waiting.listed) == (UNAVAILABLE, 1), waiting
    await made.finished(0, 1)
    while (found := await made.new_solution()) is None:
        pass
    assert (found.prr, found.client[:2]) == (small, (1, 2)), found


@cocotb.test()
async def reset_of_an_if_clears_its_flags(dut):
    """START that was written while the IF was not connected, the mark of a saved job, OVER, a fault, INT_CTRL. Other
    IFs keep theirs, and an IF that is connected keeps its own."""
    made = await fabric(dut)
    for vm in (1, 2):
        await made.if_put(vm, 0, "START", 1)
        await made.if_put(vm, 0, "INT_CTRL", 3)
    await made.put("IF_RESET", 1)
    assert (await made.stat(1, 0))["pending"] == 0 and await made.if_get(1, 0, "INT_CTRL") == 0
    assert (await made.stat(2, 0))["pending"] == 1 and await made.if_get(2, 0, "INT_CTRL") == 3
    # A saved job.
    fill(made, 1, 4096)
    prr = await made.give(1, 0, 1, TASK)
    await made.job(1, 0, SOURCE, TARGET, 4096)
    await made.wait_state(prr, BUSY)
    await made.put("IF_RESET", 1)
    assert (await made.stat(1, 0))["busy"] == 1
    await made.put("PRR_STOP", 1, prr)
    await made.wait_state(prr, IDLE)
    assert (await made.stat(1, 0))["saved"] == 1
    await made.put("IF_RESET", 1)
    assert (await made.stat(1, 0))["saved"] == 0
    # The next job begins anew.
    data = fill(made, 1, 256)
    prr = await made.give(1, 0, 1, TASK)
    await made.job(1, 0, SOURCE, TARGET, 256)
    now = await made.finished(1, 0)
    assert (now["fault"], now["over"]) == (FAULT_NONE, 1)
    assert result(made, 1, 256) == probe(data, 0)
    # Its results, of an IF that is not connected only.
    await made.put("IF_RESET", 1)
    assert await made.if_get(1, 0, "DONE_SIZE") == 256
    other = await made.if_get(0, 0, "DONE_SIZE")
    await made.put("CANCEL", 1)
    await made.wait_state(prr, IDLE)
    await made.put("IF_RESET", 1)
    assert (await made.if_get(1, 0, "DONE_SIZE"), await made.if_get(1, 0, "DONE_CODE")) == (0, 0)
    assert await made.if_get(0, 0, "DONE_SIZE") == other
    assert await made.if_get(1, 0, "DATA_SIZE") == 256
    await made.give(1, 0, 1, TASK)
    # OVER and a fault of a job outside of the windows.
    await made.job(1, 0, 0x1000_0000, TARGET, 256)
    assert (await made.finished(1, 0))["fault"] == FAULT_DMA
    await made.put("IF_RESET", 1)
    now = await made.stat(1, 0)
    assert (now["fault"], now["over"]) == (FAULT_NONE, 0)


@cocotb.test()
async def masked_if_raises_no_interrupt(dut):
    """IF_MASK hides an IF from the interrupt of its VM, and nothing else: its registers and the other IFs of the VM
    stay as they are, and the interrupt comes when the mask is removed."""
    made = await fabric(dut)
    line = dut.irq_vm_o
    for device in (0, 1):
        prr = await made.give(1, device, 1, TASK + device)
        fill(made, 1, 256)
        await made.put("IF_MASK", 1 | device << 4 | 1 << 8)
        await made.job(1, device, SOURCE, TARGET, 256)
        assert (await made.finished(1, device))["over"] == 1
        assert await made.if_get(1, device, "INT_CTRL") == 3
        assert int(line.value) == 0, "a masked IF raises the interrupt"
        await made.put("CANCEL", 1 | device << 4)
        await made.wait_state(prr, IDLE)
    await made.put("IF_MASK", 1 | 1 << 4)
    await ClockCycles(dut.clk_i, 3)
    assert int(line.value) == 0b10, "the interrupt of an IF is lost with its mask"
    await made.if_put(1, 1, "OVER", 1)
    await ClockCycles(dut.clk_i, 3)
    assert int(line.value) == 0, "the other IF is masked"
    # IF_RESET clears the mask, with the other flags.
    await made.put("IF_RESET", 1)
    await made.give(1, 0, 1, TASK)
    await made.job(1, 0, SOURCE, TARGET, 256)
    await made.finished(1, 0)
    assert int(line.value) == 0b10


@cocotb.test()
async def cancelled_client_gets_no_region(dut):
    """A cancellation in any cycle around the one in which the list finds a region for its client."""
    made = await fabric(dut)
    found, rounds = 0, [(ahead, delay) for ahead in range(7) for delay in (0, 2)]
    await large(made, (0, 0, 15))
    for ahead, delay in rounds:
        # More earlier entries for the large region delay the scan of the client that accepts any region.
        others = [(1 + number // 2, number % 2, 9) for number in range(ahead)]
        for client in others:
            assert (await made.request(*client)).listed
        for vm in (0, 1):
            await ClockCycles(dut.clk_i, 10)  # until the list is scanned: no overtaking
            assert (await made.request(vm, 2, 1)).method == ASSIGN
        assert (await made.request(3, 2, 1)).listed
        freed = cocotb.start_soon(made.put("CANCEL", 2 << 4))
        await ClockCycles(dut.clk_i, 1 + delay)
        await made.put("CANCEL", 3 | 2 << 4)
        await freed
        await ClockCycles(dut.clk_i, 20)
        found += await made.new_solution() is not None
        assert not (await made.region(0))["client"], (ahead, delay)
        assert (await made.get("LIST"))["waiting"] == ahead
        for vm, dev in (*((vm, dev) for vm, dev, _prio in others), (1, 2)):
            await made.put("CANCEL", vm | dev << 4)
    assert 0 < found < len(rounds)


@cocotb.test()
async def higher_priority_moves_up(dut):
    """A client is served with its highest requested priority; a lower one does not move it."""
    made = await fabric(dut)
    await large(made, (0, 0, 9), (1, 0, 1), (2, 0, 2), (3, 0, 3), (1, 1, 3))
    order = [(1, 0, 1), (2, 0, 4), (1, 0, 3), (2, 0, 2)]
    for again in order:
        assert (await made.request(*again)).listed
    assert (await made.get("LIST"))["waiting"] == 4
    await made.put("CANCEL", 0)
    served = []
    while len(served) < 4:
        await ClockCycles(dut.clk_i, 10)
        found = await made.new_solution()
        served.append(found.client)
        await made.put("CANCEL", found.client[0] | found.client[1] << 4)
    assert served == [(2, 0, 4), (3, 0, 3), (1, 1, 3), (1, 0, 3)]
    assert (await made.get("LIST"))["waiting"] == 0


@cocotb.test()
async def a_new_priority_counts_when_the_region_is_idle(dut):
    """A request of the region's client in Hold and Busy keeps the priority; after the job it sets it."""
    made = await fabric(dut)
    fill(made, 1, 8192)
    prr = await made.give(1, 1, 2, TASK + 1)

    async def again(prio: int) -> tuple[int, int]:
        answer = await made.request(1, 1, prio)
        assert (answer.method, answer.prr, answer.reconfig) == (ASSIGN, prr, 0)
        now = await made.region(prr)
        assert now["connected"]
        return now["state"], now["prio"]

    assert await again(9) == (HOLD, 2)
    await made.job(1, 1, SOURCE, TARGET, 8192)
    await made.wait_state(prr, BUSY)
    assert await again(9) == (BUSY, 2)
    await made.finished(1, 1)
    assert (await made.region(prr))["prio"] == 2
    assert await again(9) == (HOLD, 9)
    assert await again(4) == (HOLD, 9)


@cocotb.test()
async def job_resumes_with_its_registers(dut):
    """The guest writes the registers of its next job while this job is stopped; both jobs run correctly."""
    made = await fabric(dut)
    data = fill(made, 0, 4096)
    follows = fill(made, 0, 512, 0x2000)
    prr = await made.give(0, 0, 1, TASK)
    for after in (0, 1, 2, 5, 20, 100, 300):
        made.ram.write(made.shape.base(0) + 0x8000, bytes(0x4000))
        await made.job(0, 0, SOURCE, TARGET, 4096, key=0x77, every=0)
        await made.wait_state(prr, BUSY)
        await ClockCycles(dut.clk_i, after)
        await made.put("PRR_STOP", 1, prr)
        await made.wait_state(prr, IDLE)
        assert (await made.stat(0, 0))["saved"], after
        await made.job(0, 0, SOURCE + 0x2000, TARGET + 0x2000, 512, key=0x88)
        assert (await made.request(0, 0, 1)).prr == prr
        await made.connect(prr, 0, 0)
        for _ in range(600):
            now = await made.stat(0, 0)
            if not (now["busy"] or now["saved"] or now["pending"]):
                break
        assert result(made, 0, 4096) == probe(data, 0x77), after
        assert result(made, 0, 512, 0xA000) == probe(follows, 0x88), after
        assert now["fault"] == FAULT_NONE


@cocotb.test()
async def foreign_context_is_refused(dut):
    """Any mismatch in the header: the context is refused, the fault is reported, and the job is over."""
    made = await fabric(dut)
    fill(made, 0, 4096)
    buffer = REGS["FABRIC_CONTEXTS"]
    for flipped in (1 << 63, 1 << 40, 1 << 32, 1 << 7, 0x70):  # magic, task, version, two lengths
        prr = await made.give(0, 0, 1, TASK)
        await made.job(0, 0, SOURCE, TARGET, 4096)
        await made.wait_state(prr, BUSY)
        await made.put("PRR_STOP", 1, prr)
        await made.wait_state(prr, IDLE)
        await made.write(buffer, await made.read(buffer) ^ flipped)
        assert (await made.request(0, 0, 1)).prr == prr
        await made.connect(prr, 0, 0)
        now = await made.finished(0, 0)
        assert now["fault"] == FAULT_CONTEXT and not now["saved"], hex(flipped)
        await made.wait_state(prr, IDLE)


def broken(made: Fabric, first: int, size: int = 8):
    """Memory answers with errors in a range, until the returned function is called."""
    ports = (made.ram.read_if, "_read"), (made.ram.write_if, "_write")

    def fails(whole):
        async def access(address, *rest):
            if first <= address < first + size:
                raise ValueError("injected memory error")
            return await whole(address, *rest)

        return access

    for port, name in ports:
        setattr(port, name, fails(getattr(port, name)))

    def mend():
        for port, name in ports:
            delattr(port, name)

    return mend


@cocotb.test()
async def memory_errors(dut):
    """Errors in the middle of input or output: the job fails, the task stays, other VMs are unaffected."""
    made = await fabric(dut)
    other, data = fill(made, 2, 8192), fill(made, 1, 4096)
    await made.give(2, 2, 1, TASK + 2)
    prr = await made.give(1, 1, 1, TASK + 1)
    for at in (0, 0x48, 0xFF8, 0x8000, 0x8238, 0x8FF8):
        mend = broken(made, made.shape.base(1) + at)
        await made.job(2, 2, SOURCE, TARGET, 8192)
        await made.job(1, 1, SOURCE, TARGET, 4096)
        assert (await made.finished(1, 1))["fault"] == FAULT_BUS, hex(at)
        info = await made.get("FAULT_INFO")
        assert (info["vm"], info["dev"], info["prr"], info["why"]) == (1, 1, prr, FAULT_BUS)
        status = await made.get("IRQ_STATUS")
        assert status["task_fault"] and not status["dma_violation"]
        await made.put("IRQ_STATUS", ALL)
        assert (await made.finished(2, 2))["fault"] == FAULT_NONE
        assert result(made, 2, 8192) == probe(other)
        mend()
        again = await made.request(1, 1, 1)
        assert (again.prr, again.reconfig) == (prr, 0)
        await made.connect(prr, 1, 1)
    await made.job(1, 1, SOURCE, TARGET, 4096)
    assert (await made.finished(1, 1))["fault"] == FAULT_NONE
    assert result(made, 1, 4096) == probe(data)


@cocotb.test()
async def truncated_bitstream(dut):
    """A memory error in the middle: the region stays empty, and the ICAP accepts the next bitstream."""
    made = await fabric(dut)
    data = fill(made, 1, 1024)
    for verify in (0, 1):
        first = await made.request(0, 0, 1)
        mend = broken(made, made.shape.bitstreams + 0x1000)
        assert await made.configure(first.prr, simb(first.prr, TASK, 3000), verify=verify) == 6
        mend()
        now = await made.region(first.prr)
        assert (now["state"], now["task_id"], now["coupled"], now["client"]) == (IDLE, 0, 0, 0)
        # The next bitstream is shorter than the missing rest of the first one.
        taken = await made.request(0, 3, 1)
        dev = 1 + verify
        second = await made.request(1, dev, 1)
        assert taken.prr == first.prr != second.prr and second.reconfig
        assert await made.configure(second.prr, simb(second.prr, TASK + dev, 100)) == 0
        await made.connect(second.prr, 1, dev)
        await made.job(1, dev, SOURCE, TARGET, 1024, key=verify)
        assert (await made.finished(1, dev))["fault"] == FAULT_NONE
        assert result(made, 1, 1024) == probe(data, verify)
        for vm, client in ((0, 3), (1, dev)):
            await made.put("CANCEL", vm | client << 4)


@cocotb.test()
async def bitstreams_without_body(dut):
    """Every length below the minimum is an error; the fabric does not wait for missing words."""
    made = await fabric(dut)
    for verify in (0, 1):
        for length in range(0, 28, 4):
            await made.request(0, 0, 1)
            head = struct.pack("<3I", 0x53494D42, TASK << 16, (length // 4 - 5) & 0xFFFFFFFF)
            made.ram.write(made.shape.bitstreams, head + struct.pack("<2I", zlib.crc32(head), 0) + bytes(64))
            await made.put("ICAP_ADDR", made.shape.bitstreams)
            await made.put("ICAP_LENGTH", length)
            await made.put("ICAP_START", verify << 8)
            await ClockCycles(dut.clk_i, 200)
            now = await made.get("ICAP_STATUS")
            assert not now["busy"], length
            # The last one lacks only its body word and the body's checksum.
            assert now["error"] in ((8, 5) if length == 24 else (4,)), (length, now)
            assert (await made.region(0))["state"] == IDLE
    found = await made.request(0, 0, 1)
    assert await made.configure(found.prr, simb(found.prr, TASK)) == 0


async def jobs_beside(made: Fabric, vm: int, dev: int, seen: list[bool]) -> None:
    """Jobs of a client without end; notes for each whether it was right."""
    data = fill(made, vm, 4096)
    while True:
        await made.job(vm, dev, SOURCE, TARGET, 4096)
        fault = (await made.finished(vm, dev))["fault"]
        seen.append(fault == FAULT_NONE and result(made, vm, 4096) == probe(data))


def mutants(good: bytes) -> list[tuple[bytes, int]]:
    """The bitstream with each byte changed in two ways, and cut at each word; each with and without verify."""
    # The first word of the body names the region that the ICAP writes: nobody else notices only with verify.
    names_region = range(16, 20)
    changed = [
        (good[:at] + bytes([good[at] ^ bits]) + good[at + 1 :], verify)
        for at, bits, verify in itertools.product(range(len(good)), (0x01, 0xFF), (0, 1))
        if verify or at not in names_region
    ]
    return [*changed, *((good[:at], verify) for at, verify in itertools.product(range(4, len(good), 4), (0, 1)))]


@cocotb.test()
async def bitstreams_mutated_at_every_byte(dut):
    """A bitstream that differs in any byte, or is cut anywhere, is refused: the region is empty, jobs of another VM
    go on, and the next bitstream works."""
    made = await fabric(dut)
    beside = await made.give(1, 1, 1, TASK + 1)
    seen: list[bool] = []
    jobs = cocotb.start_soon(jobs_beside(made, 1, 1, seen))
    await made.device(0, TASK, excluded=1 << beside)
    prr = (await made.request(0, 0, 1)).prr
    good = simb(prr, TASK, 4)
    for number, (image, verify) in enumerate(mutants(good)[:: rounds(3, 1)]):
        before = int(dut.cfg_words_o.value)
        error = await made.configure(prr, image, verify=verify)
        assert error in range(1, 7), (number, error)
        assert not verify or int(dut.cfg_words_o.value) == before, "a word reached the ICAP before the check"
        now = await made.region(prr)
        assert (now["state"], now["task_id"], now["coupled"], now["client"]) == (IDLE, 0, 0, 0), number
        assert (await made.request(0, 0, 1)).prr == prr
    jobs.cancel()
    assert len(seen) > rounds(5, 10) and all(seen)
    data = fill(made, 0, 256)
    assert await made.configure(prr, good) == 0
    await made.connect(prr, 0, 0)
    await made.job(0, 0, SOURCE, TARGET, 256)
    assert (await made.finished(0, 0))["fault"] == FAULT_NONE
    assert result(made, 0, 256) == probe(data)


@cocotb.test()
async def slow_icap(dut):
    """The ICAP takes a word every other cycle: no word is lost, and no error is reported."""
    made = await fabric(dut)
    data = fill(made, 0, 256)
    found = await made.request(0, 0, 1)
    assert await made.configure(found.prr, simb(found.prr, TASK, 500, slow=True)) == 0
    counts = await made.get("ICAP_COUNTS")
    assert counts["words"] == 502 and 990 < counts["cycles"] < 1020
    await made.connect(found.prr, 0, 0)
    await made.job(0, 0, SOURCE, TARGET, 256)
    await made.finished(0, 0)
    assert result(made, 0, 256) == probe(data)


@cocotb.test()
async def two_violations_of_one_job(dut):
    """Input and output leave the window at any distance from each other: the first violation is reported."""
    made = await fabric(dut)
    await made.window(1, 0, 0x4000_0000, 2 * PAGE, made.shape.base(1))
    fill(made, 1, 2 * PAGE)
    prr = await made.give(1, 1, 1, TASK + 1)
    end, written = 0x4000_0000 + 2 * PAGE, set()
    for distance in range(40):
        await made.job(1, 1, end - 8 * 80, end - 8 * distance, 4096, every=0)
        assert (await made.finished(1, 1))["fault"] == FAULT_DMA
        info, at = await made.get("FAULT_INFO"), (await made.get("FAULT_ADDR"))["addr"]
        assert (info["vm"], info["dev"], info["prr"], info["why"]) == (1, 1, prr, FAULT_DMA), distance
        assert at == end
        written.add(info["write"])
        await made.wait_state(prr, IDLE)
        again = await made.request(1, 1, 1)
        assert again.prr == prr
        await made.connect(prr, 1, 1)
    assert written == {0, 1}


@cocotb.test()
async def the_address_of_a_fault_is_that_of_its_client(dut):
    """Another VM's fault comes between the reads of FAULT_INFO and FAULT_ADDR."""
    made = await fabric(dut)
    wrong = {1: 0x7100_0000, 2: 0x7200_0000}
    for vm in (1, 2):
        await made.give(vm, 1, 1, TASK + vm)
        await made.job(vm, 1, wrong[vm], TARGET, 64)
        assert (await made.finished(vm, 1))["fault"] == FAULT_DMA
        if vm == 1:
            assert (await made.get("FAULT_INFO"))["vm"] == 1
    assert (await made.get("FAULT_ADDR"))["addr"] == wrong[1]
    assert (await made.get("FAULT_INFO"))["vm"] == 2
    assert (await made.get("FAULT_ADDR"))["addr"] == wrong[2]


@cocotb.test()
async def a_fault_without_an_address_reports_none(dut):
    """VM 1 writes outside its windows, then VM 2's task hangs: nothing of VM 1 stands in the report of VM 2."""
    made = await fabric(dut)
    await made.put("STOP_TIME", 300)
    outside = 0x7100_0000
    fill(made, 1, 64)
    fill(made, 2, 4096)
    await made.give(1, 1, 1, TASK + 1)
    await made.job(1, 1, SOURCE, outside, 64)
    assert (await made.finished(1, 1))["fault"] == FAULT_DMA
    prr = await made.give(2, 2, 1, TASK + 2)
    await made.job(2, 2, SOURCE, TARGET, 4096, cmd=1)
    await made.wait_state(prr, BUSY)
    await made.put("PRR_STOP", 1, prr)
    violation = await made.get("FAULT_INFO")
    assert (violation["vm"], violation["write"], violation["why"]) == (1, 1, FAULT_DMA)
    assert (await made.finished(2, 2))["fault"] == FAULT_HUNG
    assert (await made.get("FAULT_ADDR"))["addr"] == outside, "the address of what was read last"
    info, at = await made.get("FAULT_INFO"), (await made.get("FAULT_ADDR"))["addr"]
    assert info == {"vm": 2, "dev": 2, "prr": prr, "write": 0, "why": FAULT_HUNG}, (info, hex(at))
    assert at == 0, (info, hex(at))


@cocotb.test()
async def a_fault_in_the_cycle_of_its_acknowledgement(dut):
    """VM 2's fault before, in and after the cycle that clears VM 1's: in that cycle, the flag stays set for VM 2."""
    made = await fabric(dut)
    line = dut.irq_manager_o
    for vm in (1, 2):
        await made.give(vm, vm, 1, TASK + vm)
    await made.put("IRQ_ENABLE", 1 << EVENTS.index("task_fault"))

    async def violate(vm: int) -> None:
        await made.connect((await made.request(vm, vm, 1)).prr, vm, vm)
        await made.job(vm, vm, 0x7000_0000 + (vm << 24), TARGET, 64)

    falls = 0

    async def count_falls() -> None:
        nonlocal falls
        while True:
            await FallingEdge(line)
            falls += 1

    cocotb.start_soon(count_falls())
    seen = set()
    for delay in range(60):
        await violate(1)
        await made.finished(1, 1)
        assert int(line.value)
        await violate(2)
        falls = 0
        await ClockCycles(dut.clk_i, delay)
        await made.put("IRQ_STATUS", 1 << EVENTS.index("task_fault"))
        await made.finished(2, 2)
        assert (await made.get("FAULT_INFO"))["vm"] == 2, delay
        assert (await made.get("FAULT_ADDR"))["addr"] == 0x7200_0000, delay
        seen.add((falls, int(line.value)))
        await made.put("IRQ_STATUS", ALL)
    # The fault first: its flag is cleared. The write first: the flag is set again. Together: it is never clear.
    assert seen == {(1, 0), (1, 1), (0, 1)}, seen


@cocotb.test()
async def a_job_begins_or_its_region_is_disconnected(dut):
    """The manager disconnects the region in each of the cycles around the begin of a job, which follows another one."""
    made = await fabric(dut)
    fill(made, 1, 64)
    prr = await made.give(1, 1, 1, TASK + 1)
    begun = set()
    for delay in range(60):
        await made.job(1, 1, SOURCE, TARGET, 64)
        await made.if_put(1, 1, "START", 1)
        await ClockCycles(dut.clk_i, delay)
        await made.connect(prr, 1, 1, on=0)
        await ClockCycles(dut.clk_i, 4)
        now = await made.region(prr)
        begun.add(bool(now["connected"]))
        if not now["connected"]:
            assert now["state"] == IDLE and (await made.stat(1, 1))["pending"], delay
            await made.connect(prr, 1, 1)
        await ClockCycles(dut.clk_i, 200)
        assert (await made.region(prr))["state"] == IDLE and not (await made.stat(1, 1))["pending"], delay
    assert begun == {True, False}


@cocotb.test()
async def unmapped_addresses(dut):
    """Between registers, after the windows, of VMs that do not exist: errors, and nothing is written."""
    made = await fabric(dut)
    windows = REGS["FABRIC_WINDOWS"]
    before = [await made.read(windows + at) for at in range(0, 0x200, 8)]
    for nowhere in (0x98, 0xE0, 0x1C0, 0x3F8, windows + 4 * 0x80, windows + 0x7F8, windows + 0x800, windows + 0xFF8):
        assert (await made.bus.read(nowhere, 8)).resp == AxiResp.SLVERR, hex(nowhere)
        assert (await made.bus.write(nowhere, b"\xff" * 8)).resp == AxiResp.SLVERR, hex(nowhere)
    assert [await made.read(windows + at) for at in range(0, 0x200, 8)] == before


@cocotb.test()
async def partial_register_accesses(dut):
    """A register of 64 bits can be read and written in parts, at their own addresses."""
    made = await fabric(dut)
    at = REGS["FABRIC_REGS_ICAP_ADDR"]
    await made.write(at, 0x1122334455667788)
    for size in (1, 2, 4):
        parts = [await made.read(at + part, size) for part in range(0, 8, size)]
        assert b"".join(part.to_bytes(size, "little") for part in parts) == (0x1122334455667788).to_bytes(8, "little")
    await made.write(at + 4, 0xAABBCCDD, 4)
    await made.write(at + 1, 0xEE, 1)
    assert await made.read(at) == 0xAABBCCDD5566EE88
    # A burst: consecutive registers, as one read and as one write.
    await made.bus.write(at, struct.pack("<2Q", 7, 8))
    assert (await made.bus.read(at, 16)).data == struct.pack("<2Q", 7, 8)
    # An error in the middle of a burst affects only its beat.
    list_, key = REGS["FABRIC_REGS_LIST"], REGS["FABRIC_REGS_SORT_KEY"]
    assert key == list_ + 16
    answer = await made.bus.read(list_, 24)
    assert answer.resp == AxiResp.SLVERR
    assert (await made.bus.write(list_, struct.pack("<3Q", 0, 0, 0x1234))).resp == AxiResp.SLVERR
    assert await made.read(key) == 0x1234
    assert (await made.bus.read(key, 8)).resp == AxiResp.OKAY


@cocotb.test()
async def commands_in_wrong_state(dut):
    """Commands in a state in which they are meaningless are ignored."""
    made = await fabric(dut)
    fill(made, 0, 8192)
    found = await made.request(0, 0, 1)
    for on in (0, 1):
        await made.connect(found.prr, 0, 0, on)
    await made.put("PRR_STOP", 1, found.prr)
    now = await made.region(found.prr)
    assert (now["state"], now["connected"]) == (RECONFIG, 0)
    assert await made.configure(found.prr, simb(found.prr, TASK)) == 0
    await made.connect(found.prr, 0, 1)  # of another client
    assert not (await made.region(found.prr))["connected"]
    await made.put("PRR_STOP", 1, found.prr)
    await made.connect(found.prr, 0, 0)
    await made.job(0, 0, SOURCE, TARGET, 8192)
    await made.wait_state(found.prr, BUSY)
    await made.connect(found.prr, 0, 0, 0)
    await made.put("CANCEL", 0)
    now = await made.region(found.prr)
    assert (now["state"], now["connected"]) == (BUSY, 1)
    assert await made.configure(found.prr, simb(found.prr, TASK)) == 7
    for prr in range(3, 8):  # regions that do not exist
        await made.connect(prr, 0, 0)
        await made.put("PRR_STOP", 1, prr)
        assert await made.configure(prr, simb(prr, TASK)) == 7
        assert not any((await made.region(prr)).values())
    assert (await made.finished(0, 0))["fault"] == FAULT_NONE
    assert (await made.request(0, 4, 15)).method == UNAVAILABLE  # a device that does not exist
    assert (await made.get("LIST"))["waiting"] == 0


@cocotb.test()
async def narrow_and_fixed_bursts(dut):
    """Narrow bursts (a part of a word a beat) and fixed bursts (one address), while every channel stalls."""
    made = await fabric(dut)
    writer, reader = made.bus.write_if, made.bus.read_if
    for channel in (writer.aw_channel, writer.w_channel, writer.b_channel, reader.ar_channel, reader.r_channel):
        channel.set_pause_generator(pauses(0.4))
    base = REGS["FABRIC_CONTEXTS"]
    right = bytearray(random.randbytes(512))
    await made.bus.write(base, bytes(right))
    for _ in range(60):
        at, size = random.randrange(512), random.randrange(4)
        length = min(random.choice((1, 3, 8, 40)), 512 - at)
        if random.random() < 0.5:
            right[at : at + length] = data = random.randbytes(length)
            await made.bus.write(base + at, data, size=size)
        else:
            assert (await made.bus.read(base + at, length, size=size)).data == right[at : at + length]
    behind = await made.read(base + 8)
    await made.bus.write(base, struct.pack("<3Q", 1, 2, 3), burst=AxiBurstType.FIXED)
    assert await made.read(base) == 3 and await made.read(base + 8) == behind
    assert (await made.bus.read(base, 24, burst=AxiBurstType.FIXED)).data == struct.pack("<3Q", 3, 3, 3)
    # An error response is stable until accepted, and does not affect the next response.
    for _ in range(20):
        assert (await made.bus.read(0x2000, 8)).resp == AxiResp.SLVERR
        assert (await made.bus.read(base, 8)).resp == AxiResp.OKAY
        assert (await made.bus.write(0x2000, bytes(8))).resp == AxiResp.SLVERR
        assert (await made.bus.write(base, bytes(8))).resp == AxiResp.OKAY


@cocotb.test()
async def solution_read_immediately(dut):
    """A read right after the write of the request: valid is clear until the answer is available."""
    made = await fabric(dut)
    early = 0
    for dev in range(3):
        asked = cocotb.start_soon(made.put("REQUEST", 1 | dev << 4 | 5 << 8))
        answers = [Solution.read(await made.read(REGS["FABRIC_REGS_SOLUTION"])) for _ in range(3)]
        await asked
        early += not answers[0].valid
        assert sorted(answers, key=lambda answer: answer.valid) == answers, "a valid answer became invalid"
        assert {answer.client for answer in answers if answer.valid} == {(1, dev, 5)}
    assert early, "no read was early enough"


@cocotb.test()
async def sorter_read_immediately(dut):
    """An update takes two cycles, and reports busy."""
    made = await fabric(dut)
    for value, key in ((7, 70), (8, 80)):
        await made.put("SORT_KEY", key)
        await made.put("SORT_COMMAND", value << 16)
    await made.put("SORT_KEY", 60)
    moved = cocotb.start_soon(made.put("SORT_COMMAND", 3 | 8 << 16))
    states = [await made.get("SORT_STATUS") for _ in range(3)]
    await moved
    assert states[-1] == {"status": 0, "busy": 0, "count": 2}, states
    assert (await made.get("SORT_HEAD")) == {"value": 8, "valid": 1}
    assert any(state["busy"] for state in states), "no read was early enough"


@cocotb.test()
async def status_registers(dut):
    """Status of regions, of a job and of the configuration that no other test reads."""
    made = await fabric(dut)
    data = fill(made, 3, 256)
    for client in ((0, 0), (0, 1)):
        await made.request(*client, 1)
    for prr in range(3):
        now = await made.region(prr)
        assert (now["size"], now["coupled"], now["target"]) == (prr, 0, TASK + prr if prr < 2 else 0)
    prr = await made.give(3, 2, 7, TASK + 2)
    status = await made.get("ICAP_STATUS")
    assert status == {"busy": 0, "prr": prr, "error": 0, "task_id": TASK + 2}
    now = await made.region(prr)
    assert now == {"state": HOLD, "coupled": 1, "size": 2, "connected": 1, "client": 1, "vm": 3, "dev": 2, "prio": 7,
                   "quiet": 1, "task_id": TASK + 2, "target": TASK + 2, "reconfig_time": 66}  # fmt: skip
    await made.job(3, 2, SOURCE, TARGET, 256)
    now = await made.finished(3, 2)
    assert (now["prr"], now["connected"]) == (prr, 1)
    total = sum(struct.unpack("<32Q", data)) & 0xFFFFFFFF
    assert (await made.if_get(3, 2, "DONE_CODE"), await made.if_get(3, 2, "DONE_SIZE")) == (total, 256)
    # There are four devices: a fifth can be described, but not requested.
    await made.put("DEVICE", TASK, 4)
    assert await made.request(0, 4, 15) == Solution(UNAVAILABLE, 0, 0, 0, None, (0, 4, 15), 1)


@cocotb.test()
async def no_cancel_during_configuration(dut):
    """A cancellation during a configuration is ignored; after it, it takes effect."""
    made = await fabric(dut)
    found = await made.request(0, 0, 1)
    made.ram.write(made.shape.bitstreams, simb(found.prr, TASK, 400))
    await made.put("ICAP_ADDR", made.shape.bitstreams)
    await made.put("ICAP_LENGTH", len(simb(found.prr, TASK, 400)))
    await made.put("ICAP_START", found.prr)
    await made.put("CANCEL", 0)
    assert (await made.get("ICAP_STATUS"))["busy"]
    assert (await made.region(found.prr))["state"] == RECONFIG
    await made.wait_state(found.prr, HOLD)
    assert (await made.get("ICAP_STATUS"))["error"] == 0
    await made.put("CANCEL", 0)
    assert (await made.region(found.prr))["state"] == IDLE
    # While another region is written, it takes effect at once.
    first, second = await made.request(0, 1, 1), await made.request(0, 2, 1)
    made.ram.write(made.shape.bitstreams, simb(first.prr, TASK + 1, 400))
    await made.put("ICAP_START", first.prr)
    await made.put("CANCEL", 2 << 4)
    assert (await made.region(second.prr))["state"] == IDLE
    await made.wait_state(first.prr, HOLD)


@cocotb.test()
async def solution_queue_full(dut):
    """Eight are queued. Then the scan stops without overtaking, even with idle regions; each pop allows one more."""
    made = await fabric(dut)
    prr = await large(made, *((vm, 0, 1) for vm in range(4)))
    for number in range(8):
        holder = number % 4
        await made.put("CANCEL", holder)
        await ClockCycles(dut.clk_i, 8)
        assert (await made.region(prr))["vm"] == (number + 1) % 4
        assert (await made.request(holder, 0, 1)).listed
    await made.put("CANCEL", 0)
    await ClockCycles(dut.clk_i, 20)
    assert not (await made.region(prr))["client"] and (await made.get("LIST"))["waiting"] == 3
    assert (await made.request(0, 0, 1)).listed
    for number in range(1, 9):
        assert (await made.new_solution()).client == (number % 4, 0, 1)
        await ClockCycles(dut.clk_i, 8)
        assert (await made.region(prr))["vm"] == 1
    assert (await made.new_solution()).client == (1, 0, 1)
    assert await made.new_solution() is None


@cocotb.test()
async def registers_sharing_a_word(dut):
    """Two registers share each word of an IF page: a write to one does not change the other."""
    made = await fabric(dut)
    await made.if_put(1, 1, "INT_CTRL", 3)
    await made.if_put(1, 1, "DATA_SIZE", 0x1234)
    assert (await made.if_get(1, 1, "INT_CTRL"), await made.if_get(1, 1, "DATA_SIZE")) == (3, 0x1234)
    await made.if_put(1, 1, "CMD", 0xFFFFFFFF)
    await made.if_put(1, 1, "OVER", 1)
    assert (await made.if_get(1, 1, "OVER"), await made.if_get(1, 1, "CMD")) == (0, 0xFFFFFFFF)
    await made.if_put(1, 1, "START", 0)
    assert not (await made.stat(1, 1))["pending"]
    await made.if_put(1, 1, "START", 1)
    assert (await made.stat(1, 1))["pending"]
