# SPDX-License-Identifier: Apache-2.0
"""The whole fabric, driven from its bus: what software does, the results, and the cycles."""

import functools
import itertools
import random
from collections import Counter

import cocotb
from cocotb.triggers import ClockCycles, ReadOnly, RisingEdge
from cocotb.utils import get_sim_time
from cocotbext.axi import AxiBurstType, AxiResp
from fabric_helpers import (
    ASSIGN,
    BUSY,
    FAULT_CONTEXT,
    FAULT_DMA,
    FAULT_HUNG,
    FAULT_NONE,
    FAULT_ROGUE,
    HOLD,
    IDLE,
    MASK,
    PAGE,
    PERIOD,
    PREEMPTING,
    RECONFIG,
    REGS,
    STATES,
    UNAVAILABLE,
    Fabric,
    Shape,
    fields,
    probe,
    simb,
)  # fmt: skip
from fabric_model import Lockstep
from figures import measured
from rtl_tools import Bench, rounds, with_long

BENCHES = with_long(Bench(top="fabric_sim", depth=1, weight=130))

TASK = 0x10


async def fabric(dut, shape: Shape | None = None) -> Fabric:
    """A fabric whose devices are all the probe; its VMs (default: four) see their memory at 0x4000_0000."""
    made = Fabric(dut, shape)
    shape = made.shape
    tasks = {dev: (TASK + dev, 0) for dev in range(shape.devs)}
    made.model = Lockstep(dut, tasks, shape.sizes, shape.list_depth, shape.vms)
    await made.start()
    made.model.begin()
    for dev in range(shape.devs):
        await made.device(dev, TASK + dev)
    for vm in range(shape.vms):
        await made.window(vm, 0, 0x4000_0000, shape.vm_bytes, shape.base(vm))
    await made.put("STOP_TIME", 4000)
    return made


def fill(made: Fabric, vm: int, size: int, at: int = 0) -> bytes:
    data = random.randbytes(size)
    made.ram.write(made.shape.base(vm) + at, data)
    return data


def result(made: Fabric, vm: int, size: int, at: int = 0x8000) -> bytes:
    return bytes(made.ram.read(made.shape.base(vm) + at, size))


SOURCE, TARGET = 0x4000_0000, 0x4000_8000


@cocotb.test()
async def job_from_request_to_interrupt(dut):
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
    # A second job without a request: the client still has the region.
    await made.job(1, 2, SOURCE, TARGET, 80)
    await made.finished(1, 2)
    assert result(made, 1, 80) == probe(data[:80])
    assert (await made.region(prr))["state"] == IDLE


@cocotb.test()
async def preempted_and_resumed_in_another_region(dut):
    """Two jobs of low priority have the large regions; a client of high priority gets one; the preempted job resumes
    in another region."""
    made = await fabric(dut)
    await made.device(0, TASK, 1)  # too large for region 0, the smallest
    await made.device(1, TASK, 1)
    data = {vm: fill(made, vm, 8192) for vm in range(3)}
    first = await made.give(0, 0, 2, TASK)
    await made.job(0, 0, SOURCE, TARGET, 8192, key=7)
    await made.wait_state(first, BUSY)
    second = await made.give(1, 0, 3, TASK)
    await made.job(1, 0, SOURCE, TARGET, 2048, key=8)
    assert {first, second} == {1, 2}
    urgent = await made.request(2, 1, 9)
    assert (urgent.method, urgent.prr, urgent.reconfig, urgent.evicted) == (PREEMPTING, first, 0, (0, 0)), urgent
    await made.wait_state(first, HOLD)
    stopped = await made.stat(0, 0)
    assert stopped["saved"] and not stopped["connected"] and not stopped["over"]
    assert (await made.get("LIST"))["waiting"] == 1  # the fabric puts it into the list again
    await made.connect(first, 2, 1)
    await made.job(2, 1, SOURCE, TARGET, 8192, key=9)
    await made.finished(1, 0)
    found = None
    while found is None:
        found = await made.new_solution()
    assert (found.method, found.prr, found.client) == (ASSIGN, second, (0, 0, 2)), found
    await made.connect(found.prr, 0, 0)
    for vm, dev in ((0, 0), (2, 1)):
        assert (await made.finished(vm, dev))["fault"] == FAULT_NONE
    assert not (await made.stat(0, 0))["saved"]
    for vm, size in ((0, 8192), (1, 2048), (2, 8192)):
        assert result(made, vm, size) == probe(data[vm][:size], 7 + vm), f"VM {vm}"


async def request_region(made: Fabric, number: int):
    """A request of VM 0 while other clients hold the first regions, so that region `number` is chosen."""
    taken = [await made.request(3, dev, 2) for dev in range(number)]
    found = await made.request(0, 0, 1)
    for other in taken:
        await made.put("CANCEL", 3 | other.client[1] << 4)
    return found


@cocotb.test()
async def preempted_at_every_consistency_point(dut):
    """One job, stopped repeatedly after varying times, each time resumed in another region."""
    made = await fabric(dut)
    data = fill(made, 0, 8192)
    for dev in range(3):
        await made.device(dev, TASK)
    for prr in range(3):  # every region holds the task
        assert await made.give(3, prr, 1, TASK) == prr
    for prr in range(3):
        await made.put("CANCEL", 3 | prr << 4)
    await made.job(0, 0, SOURCE, TARGET, 8192, key=3, every=3)
    used, rounds = [], 0
    while not (await made.stat(0, 0))["over"]:
        found = await request_region(made, rounds % 3)
        assert found.method == ASSIGN and not found.reconfig, found
        used.append(found.prr)
        await made.connect(found.prr, 0, 0)
        while (await made.region(found.prr))["state"] not in (BUSY, IDLE):
            pass
        await ClockCycles(dut.clk_i, 3 * rounds % 25)
        await made.put("PRR_STOP", 0, found.prr)  # no effect
        assert (await made.region(found.prr))["state"] in (BUSY, IDLE)
        await made.put("PRR_STOP", 1, found.prr)
        await made.wait_state(found.prr, IDLE)
        rounds += 1
    assert (await made.stat(0, 0))["fault"] == FAULT_NONE
    assert set(used) == {0, 1, 2} and rounds > 12, used
    assert result(made, 0, 8192) == probe(data, 3)


@cocotb.test()
async def bad_bitstreams_leave_the_region_empty(dut):
    """Each kind of damage has its error code and leaves the region empty; the next bitstream works."""
    made = await fabric(dut)
    good = simb(0, TASK)
    body = bytearray(good)
    body[40] ^= 1
    header = bytearray(good)
    header[5] ^= 1
    cases = [
        (bytes(header), 0, 1), (simb(1, TASK), 0, 2), (simb(0, TASK + 1), 0, 3), (good, len(good) - 4, 4),
        (bytes(body), 0, 5), (simb(0, TASK, body_region=0)[:-4] + b"abcd", 0, 5),
    ]  # fmt: skip
    for (image, length, error), verify in itertools.product(cases, (0, 1)):
        found = await made.request(0, 0, 1)
        assert (found.prr, found.reconfig) == (0, 1)
        written = 0 if verify or error < 5 else 1
        before = int(dut.cfg_words_o.value)
        assert await made.configure(0, image, verify=verify, length=length) == error
        assert (int(dut.cfg_words_o.value) > before) == bool(written), "a word reached the ICAP before the check"
        now = await made.region(0)
        assert (now["state"], now["task_id"], now["coupled"], now["client"]) == (IDLE, 0, 0, 0)
        assert (await made.get("IRQ_STATUS"))["reconfig_over"]
        await made.put("IRQ_STATUS", 2)
    # Not in Reconfig: nothing is written.
    assert await made.configure(2, simb(2, TASK)) == 7
    data = fill(made, 0, 256)
    await made.give(0, 0, 1, TASK)
    await made.job(0, 0, SOURCE, TARGET, 256)
    await made.finished(0, 0)
    assert result(made, 0, 256) == probe(data)


@cocotb.test()
async def noise_stays_in_its_region(dut):
    """A region drives noise while it is written or empty; the noise does not pass the gate and causes no traffic."""
    made = await fabric(dut)
    loud = 0

    async def watch():
        nonlocal loud
        while True:
            await RisingEdge(dut.clk_i)
            coupled = int(dut.coupled_o.value)
            loud += bin(int(dut.region_out_o.value) & ~coupled).count("1")
            assert int(dut.gated_out_o.value) & ~coupled == 0
            assert int(dut.quiet_o.value) | coupled == 7, "bus traffic of a decoupled region"

    cocotb.start_soon(watch())
    data = fill(made, 1, 4096)
    await made.give(1, 1, 2, TASK + 1)
    await made.job(1, 1, SOURCE, TARGET, 4096)
    found = await made.request(0, 0, 1)
    await made.configure(found.prr, simb(found.prr, TASK, 500))
    await made.finished(1, 1)
    assert result(made, 1, 4096) == probe(data)
    assert (await made.stat(0, 0))["fault"] == FAULT_NONE
    assert loud > 500, "the region drove no noise"


@cocotb.test()
async def dma_outside_the_windows(dut):
    """Accesses outside a window, over its end, or without the right: refused, reported, other VMs unaffected."""
    made = await fabric(dut)
    await made.window(1, 1, 0x5000_0000, PAGE, 0x30000, 1)
    await made.window(1, 2, 0x6000_0000, PAGE, 0x31000, 2)
    other = fill(made, 2, 8192)
    await made.give(2, 2, 1, TASK + 2)
    prr = await made.give(1, 1, 1, TASK + 1)
    before = bytes(made.ram.read(0, 0x20000)), bytes(made.ram.read(0x38000, 0x48000))
    sources = 0x4100_0000, 0x4000_F800, SOURCE + 4, SOURCE | 1 << 60, 0x6000_0000
    targets = 0x3000_0000, 0x4000_F800, 0x5000_0000, 0x4000_FFFC
    cases = [*((source, TARGET, 0) for source in sources), *((SOURCE, target, 1) for target in targets)]
    for source, target, write in cases:
        await made.job(2, 2, SOURCE, TARGET, 8192)
        await made.job(1, 1, source, target, 4096)
        assert (await made.finished(1, 1))["fault"] == FAULT_DMA, (hex(source), hex(target))
        assert (await made.get("IRQ_STATUS"))["dma_violation"]
        info = await made.get("FAULT_INFO")
        assert (info["vm"], info["dev"], info["prr"], info["write"], info["why"]) == (1, 1, prr, write, FAULT_DMA)
        await made.put("IRQ_STATUS", 0x7F)
        assert (await made.finished(2, 2))["fault"] == FAULT_NONE
        assert result(made, 2, 8192) == probe(other)
        again = await made.request(1, 1, 1)
        assert (again.method, again.reconfig) == (ASSIGN, 0)
        await made.connect(again.prr, 1, 1)
        prr = again.prr
    assert bytes(made.ram.read(0, 0x20000)) == before[0], "memory of another VM changed"


@cocotb.test()
async def misbehaving_tasks(dut):
    """Hung, endless output, unexpected outputs, endless or missing context: each contained, the region reconfigured."""
    made = await fabric(dut)
    await made.put("STOP_TIME", 300)
    other = fill(made, 2, 8192)
    data = fill(made, 1, 4096)
    cases = {
        1: FAULT_HUNG,
        2: FAULT_DMA,
        3: FAULT_ROGUE,
        4: FAULT_CONTEXT,
        5: FAULT_ROGUE,
        6: FAULT_HUNG,
        7: FAULT_ROGUE,
    }
    for wrong, fault in cases.items():
        neighbour = await made.give(2, 2, 15, TASK + 2)
        prr = await made.give(1, 1, 1, TASK + 1)
        assert prr != neighbour
        await made.job(2, 2, SOURCE, TARGET, 8192)
        await made.job(1, 1, SOURCE, TARGET, 4096, cmd=wrong)
        if wrong in (1, 4, 6):
            await ClockCycles(dut.clk_i, 100)
            await made.put("PRR_STOP", 1, prr)
        done = await made.finished(1, 1)
        if wrong == 3:  # the job was correct; the outputs after it were not
            assert done["fault"] == FAULT_NONE
        else:
            assert done["fault"] == fault, wrong
        await made.wait_state(prr, IDLE)
        assert (await made.get("FAULT_INFO"))["why"] == fault
        expected = TASK + 1 if fault == FAULT_DMA else 0  # endless output ends at the window: the task stays
        assert (await made.region(prr))["task_id"] == expected, wrong
        await made.finished(2, 2)
        assert result(made, 2, 8192) == probe(other)
        await made.put("CANCEL", 1 | 1 << 4)
    await made.give(1, 1, 1, TASK + 1)
    await made.job(1, 1, SOURCE, TARGET, 4096)
    assert (await made.finished(1, 1))["fault"] == FAULT_NONE
    assert result(made, 1, 4096) == probe(data)


@cocotb.test()
async def hold_expires_and_cancel_frees(dut):
    made = await fabric(dut)
    await made.put("HOLD_TIME", 200)
    prr = await made.give(0, 0, 1, TASK)
    await made.wait_state(prr, IDLE)
    assert (await made.get("IRQ_STATUS"))["hold_expired"]
    assert not (await made.stat(0, 0))["connected"]
    await made.put("HOLD_TIME", 0xFFFFFFFF)
    for dev in range(3):
        await made.request(0, dev, 1)
    assert (await made.request(1, 3, 1)).listed
    assert (await made.request(1, 3, 1)).listed
    assert (await made.get("LIST"))["waiting"] == 1
    await made.put("CANCEL", 1 | 3 << 4)
    assert (await made.get("LIST"))["waiting"] == 0
    assert (await made.request(1, 3, 1)).listed
    await made.put("CANCEL", 0)
    await ClockCycles(dut.clk_i, 10)
    found = await made.new_solution()
    assert found and found.client == (1, 3, 1)
    assert await made.new_solution() is None
    assert (await made.request(2, 2, 1)).method == UNAVAILABLE
    assert (await made.request(2, 2, 1)).client == (2, 2, 1)


class RandomGuests:
    """A manager and the guests of all IFs with random actions; the output of every job is checked."""

    def __init__(self, made: Fabric, dut):
        self.made, self.dut = made, dut
        self.jobs: dict[tuple[int, int], tuple[bytes, int, int]] = {}
        self.done = self.failed = 0

    def random_client(self) -> tuple[int, int]:
        return random.randrange(self.made.shape.vms), random.randrange(self.made.shape.devs)

    def any_region(self) -> int:
        return random.randrange(self.made.shape.prrs)

    def place(self, vm: int, dev: int) -> tuple[int, int]:
        """Source and target of an IF, guest-physical; the VM's memory starts at 0x4000_0000."""
        return 0x4000_0000 + dev * 0x4000, 0x4000_2000 + dev * 0x4000

    async def job(self, interface: tuple[int, int] | None = None) -> None:
        vm, dev = interface or self.random_client()
        if (vm, dev) in self.jobs:
            return
        size = random.choice((0, 8, 64, 136, 1000, 3000, 4096, 8192))
        wrong = random.choice((0,) * 9 + (1, 5)) if size else 0
        key = random.getrandbits(32)
        source, target = self.place(vm, dev)
        data = fill(self.made, vm, size, source - SOURCE)
        self.jobs[vm, dev] = data, key, wrong
        await self.made.job(vm, dev, source, target, size, key, random.choice((0, 1, 7, 60)), wrong)

    async def request(self) -> None:
        await self.made.request(*self.random_client(), random.randrange(16))

    def client_with_region(self) -> tuple[int, int]:
        """An IF whose client has a region, otherwise any IF."""
        having = [region.client.interface for region in self.made.model.regions if region.client]
        return random.choice([*having, self.random_client()])

    async def cancel(self) -> None:
        vm, dev = self.client_with_region()
        await self.made.put("CANCEL", vm | dev << 4)

    async def stop(self) -> None:
        await self.made.put("PRR_STOP", 1, self.any_region())

    async def disconnect(self) -> None:
        """Disconnects or connects, at the client's region or at another."""
        await self.made.connect(self.any_region(), *self.client_with_region(), random.getrandbits(1))

    async def serve(self) -> None:
        """Does what the regions wait for: configures and connects."""
        await self.made.new_solution()
        for prr in range(self.made.shape.prrs):
            now = await self.made.region(prr)
            if now["state"] == RECONFIG:
                image = bytearray(simb(prr, now["target"], random.choice((1, 40, 300))))
                if random.random() < 0.1:
                    image[random.randrange(len(image) // 4) * 4] ^= 0x10
                await self.made.configure(prr, bytes(image), verify=random.getrandbits(1))
            elif now["client"] and not now["connected"]:
                await self.made.connect(prr, now["vm"], now["dev"])

    async def check(self) -> None:
        for vm, dev in list(self.jobs):
            now = await self.made.stat(vm, dev)
            if now["over"]:
                data, key, wrong = self.jobs.pop((vm, dev))
                if wrong:
                    assert now["fault"] in (FAULT_HUNG, FAULT_ROGUE, FAULT_CONTEXT), now
                    self.failed += 1
                else:
                    assert now["fault"] == FAULT_NONE, now
                    out = result(self.made, vm, len(data) + 7 & ~7, self.place(vm, dev)[1] - SOURCE)
                    assert out[: len(data)] == probe(data + bytes(-len(data) % 8), key)[: len(data)]
                    self.done += 1
                await self.made.if_put(vm, dev, "OVER", 1)
                if random.random() < 0.3:
                    await self.job((vm, dev))

    async def run(self, steps: int) -> None:
        """Runs `steps` random actions, then waits until all jobs are over."""
        for _ in range(steps):
            await self.step()
        for _ in range(3000):
            if not self.jobs:
                return
            vm, dev = random.choice(list(self.jobs))
            await self.made.request(vm, dev, random.randrange(16))
            await self.serve()
            if self.jobs[vm, dev][2]:
                await self.stop()
            await self.check()
        raise AssertionError(f"jobs that do not end: {self.jobs.keys()}")

    async def step(self) -> None:
        does = (self.job, self.request, self.serve, self.check, self.cancel, self.stop, self.disconnect)
        await random.choices(does, weights=(20, 25, 25, 10, 5, 5, 10))[0]()
        await ClockCycles(self.dut.clk_i, random.choice((1, 2, 5, 40)))


def pauses(share: float):
    while True:
        yield random.random() < share


def slow_memory(made: Fabric, share: float) -> None:
    ports = made.ram.write_if, made.ram.read_if
    for channel in (
        ports[0].aw_channel,
        ports[0].w_channel,
        ports[0].b_channel,
        ports[1].ar_channel,
        ports[1].r_channel,
    ):
        channel.set_pause_generator(pauses(share))


@cocotb.test()
@cocotb.parametrize(share=[0.3, 0.0, 0.8][: rounds(1, 3)])
async def random_load(dut, share):
    """Random actions, compared with the reference model in every cycle; memory stalls for a share of the time."""
    made = await fabric(dut)
    slow_memory(made, share)
    await made.put("STOP_TIME", 3000)
    await made.put("HOLD_TIME", 1500)
    made.model.hold_time = 1500
    guests = RandomGuests(made, dut)
    for steps in (rounds(200, 400), 200, 200):  # the number of faulty jobs varies between runs
        await guests.run(steps)
        if guests.failed > 2:
            break
    dut._log.info("%d jobs done, %d failed as expected, %d cycles\n%s", guests.done, guests.failed,
                  made.model.cycles, made.model.table())  # fmt: skip
    assert guests.done > 15 and guests.failed > 2
    COVERAGE.update(made.model.coverage)
    if share == 0.8:
        check_coverage(dut, made.model)


COVERAGE: Counter = Counter()

# The events that are possible in each state; each must occur in one of the runs.
POSSIBLE = {
    "Idle": ("begin", "alloc", "connect_command"),
    "Busy": ("over", "fault", "alloc", "stop"),
    "Preempt": ("over", "stopped", "fault"),
    "Switch": ("saved", "restored"),
    "Reconfig": ("cfg_done", "cfg_fail", "cancel"),
    "Hold": ("begin", "restore", "alloc", "cancel", "connect_command"),
}


def check_coverage(dut, model: Lockstep) -> None:
    model.coverage = COVERAGE
    dut._log.info("all runs together\n%s", model.table())
    for state, events in POSSIBLE.items():
        for event in events:
            assert COVERAGE[STATES.index(state), event], f"{event} in {state} did not occur"


# ---- Figures: fabric clock cycles, each with its bound in figures.tsv ----
async def span(dut, begins, ends, most: int = 200) -> int:
    """Cycles from the first in which `begins()` holds to the first in which `ends()` holds."""
    since = None
    for cycle in range(most):
        await RisingEdge(dut.clk_i)
        await ReadOnly()
        if since is None and begins():
            since = cycle
        if since is not None and ends():
            return cycle - since
    raise AssertionError("`ends()` never holds")


def high(*signals) -> bool:
    return all(int(signal.value) for signal in signals)


@cocotb.test()
async def figures_of_the_bus_and_the_monitor(dut):
    made = await fabric(dut)
    taken = cocotb.start_soon(span(dut, lambda: high(dut.s_axi_arvalid),
                                   lambda: high(dut.s_axi_rvalid, dut.s_axi_rready)))  # fmt: skip
    await made.get("PARAMS")
    measured("fpga.bus.read", await taken)
    taken = cocotb.start_soon(span(dut, lambda: high(dut.s_axi_arvalid),
                                   lambda: high(dut.s_axi_rvalid, dut.s_axi_rready)))  # fmt: skip
    await made.stat(0, 0)
    measured("fpga.bus.read_if", await taken)
    taken = cocotb.start_soon(span(dut, lambda: high(dut.s_axi_awvalid),
                                   lambda: high(dut.s_axi_bvalid, dut.s_axi_bready)))  # fmt: skip
    await put_key(made, 1, key=7, value=3, ahead=0)
    measured("fpga.bus.sorter_put", await taken)
    taken = cocotb.start_soon(span(dut, lambda: high(dut.s_axi_arvalid),
                                   lambda: high(dut.s_axi_rvalid, dut.s_axi_rready)))  # fmt: skip
    await assert_first(made, 1, {3: (7, 0, 0)})
    measured("fpga.bus.sorter_head", await taken)

    def written():
        return high(dut.s_axi_wvalid, dut.s_axi_wready)

    def answered(client: int) -> bool:
        """The answer of this client, not of the previous request."""
        shown = int(dut.monitor_o.value)
        return bool(shown & 1) and shown >> 10 & 0xFFF == client

    worst = 0
    for dev in range(4):  # three solutions, one refusal
        client = 1 << 8 | dev << 4 | 5
        taken = cocotb.start_soon(span(dut, written, functools.partial(answered, client)))
        await made.put("REQUEST", 1 | dev << 4 | 5 << 8)
        took = await taken
        assert took > 0
        worst = max(worst, took)
        await ClockCycles(dut.clk_i, 3)
    assert (await made.solution()).method == UNAVAILABLE
    measured("fpga.monitor.solution", worst)
    for prr in range(3):
        await made.configure(prr, simb(prr, TASK + prr))
    taken = cocotb.start_soon(span(dut, written, lambda: int(dut.seen_o.value) >> 37 & 1))
    await made.connect(0, 1, 0)
    measured("fpga.if.connect", await taken)
    taken = cocotb.start_soon(span(dut, written, lambda: not int(dut.seen_o.value) >> 37 & 1))
    await made.connect(0, 1, 0, 0)
    measured("fpga.if.disconnect", await taken)


async def duration(dut, access) -> int:
    """Cycles that an access takes, its wait in the bus's manager included."""
    begun = get_sim_time("ns")
    await access
    return round((get_sim_time("ns") - begun) / PERIOD)


async def other_hart(made: Fabric, access) -> None:
    """A hart that accesses the fabric without pause."""
    while True:
        await access(made)


@cocotb.test()
async def figures_of_a_sorter_under_load(dut):
    """Puts and reads of a head while two other harts write and read without pause, and jobs run in all regions: the
    cycles beyond those of an idle fabric, which the bus's manager has part in."""
    made = await fabric(dut)
    head = REGS["FABRIC_SORTERS"] + REGS["FABRIC_SORTER_STRIDE"] + REGS["FABRIC_SORTER_HEAD"]
    accesses = {"put": lambda n: put_key(made, 1, key=n, value=n % 16, ahead=0), "head": lambda _: made.read(head)}
    idle = {name: await duration(dut, access(0)) for name, access in accesses.items()}
    guests = RandomGuests(made, dut)
    load = [cocotb.start_soon(guests.run(10_000))]
    load.append(cocotb.start_soon(other_hart(made, lambda made: made.bus.read(REGS["FABRIC_IFS"], 8))))
    load.append(
        cocotb.start_soon(other_hart(made, lambda made: made.bus.write(REGS["FABRIC_CONTEXTS"] + 64, bytes(8))))
    )
    longest = dict.fromkeys(accesses, 0)
    for n in range(rounds(500, 1000)):
        for name, access in accesses.items():
            longest[name] = max(longest[name], await duration(dut, access(n)) - idle[name])
            await ClockCycles(dut.clk_i, random.randrange(20))
    assert guests.done > rounds(0, 5)
    for task in load:
        task.cancel()
    measured("fpga.bus.sorter_put_load", longest["put"])
    measured("fpga.bus.sorter_head_load", longest["head"])


@cocotb.test()
async def figures_of_contexts(dut):
    """Twelve words of the probe's context and two of the wrapper's."""
    made = await fabric(dut)
    fill(made, 0, 4096)
    prr = await made.give(0, 0, 1, TASK)
    await made.job(0, 0, SOURCE, TARGET, 4096)
    await ClockCycles(dut.clk_i, 100)
    taken = cocotb.start_soon(span(dut, lambda: high(dut.ctx_saving_o), lambda: not high(dut.ctx_saving_o)))
    await made.put("PRR_STOP", 1, prr)
    measured("fpga.fabric.save", await taken)
    await made.request(0, 0, 1)
    taken = cocotb.start_soon(span(dut, lambda: high(dut.ctx_restoring_o), lambda: not high(dut.ctx_restoring_o)))
    await made.connect(prr, 0, 0)
    measured("fpga.fabric.restore", await taken)
    await made.finished(0, 0)


WORDS_AT: list[int] = []


async def words_of(dut) -> None:
    """Records the cycles in which the ICAP takes a word."""
    WORDS_AT.clear()
    for cycle in itertools.count():
        await RisingEdge(dut.clk_i)
        await ReadOnly()
        if high(dut.cfg_valid_o, dut.cfg_ready_o):
            WORDS_AT.append(cycle)


@cocotb.test()
async def figures_of_configuration(dut):
    """The ICAP takes a word a cycle; only memory causes further cycles."""
    made = await fabric(dut)
    for verify in (0, 1):
        found = await made.request(0, verify, 1)
        moved = cocotb.start_soon(words_of(dut))
        assert await made.configure(found.prr, simb(found.prr, TASK + verify, 4000), verify=verify) == 0
        moved.cancel()
        counts = await made.get("ICAP_COUNTS")
        assert counts["words"] == 4002 == len(WORDS_AT)
        assert counts["cycles"] == WORDS_AT[-1] - WORDS_AT[0] + 1, "the fabric counts what the ICAP sees"
        measured("fpga.config.rate_verified" if verify else "fpga.config.rate", counts["words"] / counts["cycles"])


@cocotb.test()
async def configuration_time_follows_the_length(dut):
    """The formulas of docs/fabric.md, with memory that never stalls; reconfig_time is that of the last success."""
    made = await fabric(dut)
    assert (await made.region(0))["reconfig_time"] == 0
    for length, verify in itertools.product((8, 68, 69, 262, 700), (0, 1)):
        found = await made.request(0, verify, 1)
        image = simb(found.prr, TASK + verify, length - 7)
        assert (found.prr, len(image)) == (0, 4 * length)
        taken = cocotb.start_soon(span(dut, lambda: busy(dut), lambda: not busy(dut), 4000))
        assert await made.configure(found.prr, image, verify=verify) == 0
        assert await taken == (2 * length + 17 if verify else length + 8), (length, verify)
        assert await made.get("ICAP_COUNTS") == {"cycles": length - 5, "words": length - 5}
        assert (await made.region(0))["reconfig_time"] == length - 5
        await made.put("CANCEL", verify << 4)
    found = await made.request(0, 0, 1)
    assert await made.configure(found.prr, image[:400] + bytes(len(image) - 400)) == 3  # of another task
    assert (await made.region(0))["reconfig_time"] == length - 5


def busy(dut) -> bool:
    """The ICAP works, as in ICAP_STATUS."""
    return bool(int(dut.commands_o.value) >> 32 & 1)


@cocotb.test()
async def bursts_and_back_pressure(dut):
    """Reads and writes of any length and alignment in the context buffers, while every channel stalls."""
    made = await fabric(dut)
    writer, reader = made.bus.write_if, made.bus.read_if
    for channel in (writer.aw_channel, writer.w_channel, writer.b_channel, reader.ar_channel, reader.r_channel):
        channel.set_pause_generator(pauses(0.4))
    base, size = REGS["FABRIC_CONTEXTS"], 4 * REGS["FABRIC_CONTEXT_STRIDE"]
    right = bytearray(random.randbytes(size))
    await made.bus.write(base, bytes(right))
    for _ in range(150):
        at = random.randrange(size)
        length = min(random.choice((1, 2, 4, 8, 33, 300)), size - at)
        if random.random() < 0.5:
            right[at : at + length] = data = random.randbytes(length)
            await made.bus.write(base + at, data)
        else:
            assert (await made.bus.read(base + at, length)).data == right[at : at + length]
    for nowhere in (REGS["FABRIC_IFS"] + 4 * 16 * PAGE, REGS["FABRIC_IFS"] + 128, 0x2000, 0x400):
        assert (await made.bus.read(nowhere, 8)).resp == AxiResp.SLVERR, hex(nowhere)
        assert (await made.bus.write(nowhere, bytes(8))).resp == AxiResp.SLVERR, hex(nowhere)
    assert (await made.bus.read(REGS["FABRIC_IFS"], 8)).resp == AxiResp.OKAY


@cocotb.test()
async def reads_beside_a_saturating_writer(dut):
    """A manager that writes without pause delays a read by one write, and one that reads a write by one read."""
    made = await fabric(dut)
    base, target = REGS["FABRIC_CONTEXTS"], REGS["FABRIC_CONTEXTS"] + 64
    writes = [made.bus.init_write(base, bytes(8)) for _ in range(200)]
    for _ in range(10):
        read = cocotb.start_soon(made.bus.read(target, 8))
        await ClockCycles(dut.clk_i, 24)
        assert read.done(), "the read waits for more than one write"
    assert not writes[-1].is_set(), "the writes ended too early to prove anything"
    for write in writes:
        await write.wait()
    reads = [made.bus.init_read(base, 8) for _ in range(200)]
    for _ in range(10):
        write = cocotb.start_soon(made.bus.write(target, bytes(8)))
        await ClockCycles(dut.clk_i, 24)
        assert write.done(), "the write waits for more than one read"
    assert not reads[-1].is_set(), "the reads ended too early to prove anything"


@cocotb.test()
async def wrap_bursts_are_refused(dut):
    """A WRAP burst is answered with an error, reads zeros and writes nothing."""
    made = await fabric(dut)
    base, right = REGS["FABRIC_CONTEXTS"], bytes(range(1, 33))
    await made.bus.write(base, right)
    got = await made.bus.read(base, 32, burst=AxiBurstType.WRAP)
    assert (got.resp, bytes(got.data)) == (AxiResp.SLVERR, bytes(32))
    assert (await made.bus.write(base, bytes(32), burst=AxiBurstType.WRAP)).resp == AxiResp.SLVERR
    got = await made.bus.read(base, 32)
    assert (got.resp, bytes(got.data)) == (AxiResp.OKAY, right)


@cocotb.test()
async def configuration_keeps_its_parameters(dut):
    """ICAP_ADDR, ICAP_LENGTH and PRR written during a transfer have no effect on it."""
    made = await fabric(dut)
    found = await made.request(0, 0, 1)
    image, at = simb(found.prr, TASK), made.shape.bitstreams
    made.ram.write(at, image)
    await made.put("ICAP_ADDR", at)
    await made.put("ICAP_LENGTH", len(image))
    await made.put("ICAP_START", found.prr)
    for length in (8 * len(image), 24, 0):
        await made.put("ICAP_ADDR", at + 4096)
        await made.put("ICAP_LENGTH", length)
    for _ in range(4 * len(image)):
        status = await made.get("ICAP_STATUS")
        if not status["busy"]:
            break
    assert (status["busy"], status["error"]) == (0, 0)
    assert (await made.region(found.prr))["task_id"] == TASK


@cocotb.test()
async def read_only_if_registers(dut):
    """Only the fabric sets STAT, DONE_SIZE, DONE_CODE and OVER; other registers keep their values, also unconnected."""
    made = await fabric(dut)
    page = made.page(3, 3)
    done = {name: await made.if_get(3, 3, name) for name in ("DONE_SIZE", "DONE_CODE")}
    other = await made.if_get(3, 2, "CMD")
    await made.bus.write(page, b"\xff" * 96)
    await made.if_put(3, 3, "INT_CTRL", 0)
    for name, wanted in {"OVER": 0, "CMD": 0xFFFFFFFF, "DATA_ADDR": MASK, "DATA_SIZE": 0xFFFFFFFF, "INT_CTRL": 0,
                         "RESULT": MASK, **done}.items():  # fmt: skip
        assert await made.if_get(3, 3, name) == wanted, name
    stat = await made.stat(3, 3)
    assert stat["pending"] and not any(stat[name] for name in ("connected", "busy", "over", "saved", "fault"))
    assert int(dut.irq_vm_o.value) == 0
    assert await made.if_get(3, 2, "CMD") == other, "another IF's page"


class Queue:
    """A model of the sorter: the effect and the outcome of each command."""

    INSERT, POP, REMOVE, UPDATE = range(4)
    DONE, FULL, DUPLICATE, ABSENT = range(4)

    def __init__(self, depth: int):
        self.depth = depth
        self.entries: list[tuple[int, int]] = []

    def outcome(self, op: int, present: list) -> int:
        if op == self.INSERT:
            if present:
                return self.DUPLICATE
            return self.FULL if len(self.entries) == self.depth else self.DONE
        there = self.entries if op == self.POP else present
        return self.DONE if there else self.ABSENT

    def command(self, op: int, key: int, value: int) -> int:
        present = [entry for entry in self.entries if entry[1] == value]
        status = self.outcome(op, present)
        if status == self.DONE:
            gone = self.entries[:1] if op == self.POP else present
            self.entries = [entry for entry in self.entries if entry not in gone]
            if op in (self.INSERT, self.UPDATE):
                self.entries = sorted([*self.entries, (key, value)], key=lambda entry: entry[0])
        return status


async def sort(made: Fabric, commands: int) -> None:
    """Commands of a scheduler, compared with a sorted list: mostly insertions until full, then mostly removals."""
    depth = made.shape.sorter
    queue, filling, full = Queue(depth), True, False
    for number in range(commands):
        filling = (filling and len(queue.entries) < depth) or not queue.entries
        full = full or len(queue.entries) == depth
        op = random.choice((Queue.INSERT if filling else Queue.POP,) * 6 + tuple(range(4)))
        key, value = random.getrandbits(64) >> random.choice((0, 61)), random.randrange(depth + depth // 4 + 1)
        await made.put("SORT_KEY", key)
        await made.put("SORT_COMMAND", op | value << 16)
        status = queue.command(op, key, value)
        now = await made.get("SORT_STATUS")
        assert (now["status"], now["busy"], now["count"]) == (status, 0, len(queue.entries)), number
        head = queue.entries[0] if queue.entries else (MASK, 0xFFFF)
        assert (await made.get("SORT_HEAD_KEY"))["key"] == head[0]
        assert await made.get("SORT_HEAD") == {"value": head[1], "valid": int(bool(queue.entries))}
    assert full, "the sorter was never full"


@cocotb.test()
async def sorter_through_registers(dut):
    """Insert, peek, pop, remove and update as a scheduler would."""
    await sort(await fabric(dut), 120)


async def put_key(made: Fabric, sorter: int, key: int, value: int, ahead: int) -> None:
    """One write: the key to the address of sorter, value and order, which is `ahead`, -16 .. 15, of ORDER."""
    at = REGS["FABRIC_SORT_PUT"] + sorter * REGS["FABRIC_SORT_PUT_STRIDE"]
    at += value * REGS["FABRIC_SORT_PUT_VALUE_STRIDE"] + (ahead & 31) * REGS["FABRIC_SORT_PUT_ORDER_STRIDE"]
    await made.write(at, key)


async def assert_first(made: Fabric, sorter: int, entries: dict[int, tuple[int, int, int]]) -> None:
    """Head, key and count, read at once after a command; entries: value -> (key, order, number of the put)."""
    at = REGS["FABRIC_SORTERS"] + sorter * REGS["FABRIC_SORTER_STRIDE"]
    first = min(entries, key=lambda value: entries[value], default=0xFFFF)
    head = fields("FABRIC_SORTER_HEAD", await made.read(at + REGS["FABRIC_SORTER_HEAD"]))
    assert head == {"value": first, "valid": int(bool(entries))}
    key = await made.read(at + REGS["FABRIC_SORTER_HEAD_KEY"])
    assert key == (entries[first][0] if entries else MASK)
    status = fields("FABRIC_SORTER_STATUS", await made.read(at + REGS["FABRIC_SORTER_STATUS"]))
    assert status["count"] == len(entries)


@cocotb.test()
async def sorters_take_a_key_by_one_write(dut):
    """Both sorters: insertions and updates, few keys, so that orders decide; removals; orders that wrap around."""
    made = await fabric(dut)
    assert await made.get("SORTERS") == {"count": 2}
    queues: list[dict[int, tuple[int, int, int]]] = [{}, {}]
    base = (1 << 32) - 200
    for number in range(300):
        sorter = random.randrange(2)
        queue, at = queues[sorter], REGS["FABRIC_SORTERS"] + sorter * REGS["FABRIC_SORTER_STRIDE"]
        value, ahead, key = random.randrange(16), random.randrange(-16, 16), random.choice((3, 5, MASK))
        order = base + number
        await made.write(at + REGS["FABRIC_SORTER_ORDER"], order & 0xFFFFFFFF)
        if random.random() < 0.7:
            await put_key(made, sorter, key, value, ahead)
            queue[value] = (key, order + ahead, number)
        else:
            await made.write(at + REGS["FABRIC_SORTER_REMOVE"], value)
            status = fields("FABRIC_SORTER_STATUS", await made.read(at + REGS["FABRIC_SORTER_STATUS"]))
            assert status["status"] == (Queue.DONE if queue.pop(value, None) else Queue.ABSENT)
        await assert_first(made, sorter, queue)
        await assert_first(made, 1 - sorter, queues[1 - sorter])


@cocotb.test()
async def sorters_refuse_other_accesses(dut):
    """A part of a key has no effect; a sorter that does not exist, and a read of a put's address, are errors."""
    made = await fabric(dut)
    await made.write(REGS["FABRIC_SORT_PUT"], 7, 4)
    await assert_first(made, 0, {})
    absent = REGS["FABRIC_SORT_PUT"] + 2 * REGS["FABRIC_SORT_PUT_STRIDE"]
    assert (await made.bus.write(absent, bytes(8))).resp == AxiResp.SLVERR
    assert (await made.bus.read(REGS["FABRIC_SORT_PUT"], 8)).resp == AxiResp.SLVERR
    assert (await made.bus.read(REGS["FABRIC_SORTERS"] + 2 * REGS["FABRIC_SORTER_STRIDE"], 8)).resp == AxiResp.SLVERR
    assert (await made.bus.read(REGS["FABRIC_SORTERS"] + REGS["FABRIC_SORTER_SPAN"], 8)).resp == AxiResp.SLVERR
