# SPDX-License-Identifier: Apache-2.0
"""The sorter against a sorted list: outcome, head and number of cycles of each command."""

import bisect
import random
from collections import Counter

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly, RisingEdge
from figures import measured
from rtl_tools import Bench

BENCHES = [
    Bench(top="fabric_sorter", depth=1, name="sorter-64", noise=True),
    Bench(
        top="fabric_sorter",
        depth=1,
        name="sorter-128",
        parameters={"Depth": 128, "KeyWidth": 32, "ValueWidth": 32},
        long=True,
    ),
    Bench(top="fabric_sorter", depth=1, name="sorter-2", parameters={"Depth": 2, "KeyWidth": 3, "ValueWidth": 2}),
    Bench(
        top="fabric_sorter",
        depth=1,
        name="sorter-11",
        parameters={"Depth": 11, "KeyWidth": 4, "ValueWidth": 5},
        long=True,
    ),
    Bench(
        top="fabric_sorter",
        depth=1,
        name="sorter-order",
        parameters={"Depth": 16, "KeyWidth": 3, "ValueWidth": 6, "OrderWidth": 5},
    ),
]

INSERT, POP, REMOVE, UPDATE, PUT = range(5)
DONE, FULL, DUPLICATE, ABSENT = range(4)
CYCLES = {INSERT: 1, POP: 1, REMOVE: 1, UPDATE: 2, PUT: 2}  # PUT of a new value: 1


class Model:
    """A model of the sorter: a sorted list."""

    def __init__(self, depth):
        self.depth, self.entries = depth, []  # entries: (key, value, order), in their order

    def _find(self, value):
        return next((at for at, entry in enumerate(self.entries) if entry[1] == value), None)

    def _put(self, key, value, order):
        ranks = [(entry[0], entry[2]) for entry in self.entries]
        self.entries.insert(bisect.bisect_right(ranks, (key, order)), (key, value, order))
        return DONE

    def insert(self, key, value, order):
        if self._find(value) is not None:
            return DUPLICATE
        return FULL if len(self.entries) == self.depth else self._put(key, value, order)

    def remove(self, _key, value, _order):
        at = self._find(value)
        if at is not None:
            del self.entries[at]
        return ABSENT if at is None else DONE

    def pop(self, _key, _value, _order):
        if self.entries:
            del self.entries[0]
            return DONE
        return ABSENT

    def update(self, key, value, order):
        return self._put(key, value, order) if self.remove(key, value, order) == DONE else ABSENT

    def put(self, key, value, order):
        return (self.insert if self._find(value) is None else self.update)(key, value, order)

    def run(self, op, *operands):
        return (self.insert, self.pop, self.remove, self.update, self.put)[op](*operands)


class Driver:
    """Issues commands, one a cycle unless the sorter stalls, and compares every outcome with the model."""

    def __init__(self, dut):
        self.dut = dut
        self.depth = int(dut.Depth.value)
        self.key_top = 2 ** len(dut.key_i) - 1
        self.value_top = 2 ** len(dut.value_i) - 1
        self.order_bits = int(dut.OrderWidth.value)
        self.first_order = random.getrandbits(16)  # of the orders given; they wrap around
        self.model = Model(self.depth)
        self.seen = Counter()
        self.cycles = Counter()

    async def reset(self):
        Clock(self.dut.clk_i, 10, "ns").start()
        self.dut.op_valid_i.value = 0
        self.dut.rst_ni.value = 0
        for _ in range(2):
            await FallingEdge(self.dut.clk_i)
        self.dut.rst_ni.value = 1
        self.check_head()

    def head(self):
        return int(self.dut.head_key_o.value), int(self.dut.head_value_o.value)

    async def peek(self):
        """The head after a command, valid in the next cycle."""
        waited, expected = 0, self.model.entries[0][:2] if self.model.entries else (self.key_top, self.value_top)
        while self.head() != expected and waited < 3:
            await FallingEdge(self.dut.clk_i)
            waited += 1
        self.cycles["peek"] = max(self.cycles["peek"], waited)
        self.check_head()

    def check_head(self):
        dut, entries = self.dut, self.model.entries
        key, value = entries[0][:2] if entries else (self.key_top, self.value_top)
        assert int(dut.head_valid_o.value) == bool(entries)
        assert int(dut.count_o.value) == len(entries)
        assert self.head() == (key, value)

    def any_value(self, most):
        """A value of 0 to `most`, often one that is in the queue."""
        if self.model.entries and random.random() < 0.4:
            return random.choice(self.model.entries)[1]
        return random.randint(0, most)

    async def do(self, op, key=0, value=0, order=0):
        """Call before a rising edge; returns before the first edge after the command. Checks outcome and head."""
        dut = self.dut
        dut.op_valid_i.value, dut.op_i.value, dut.key_i.value, dut.value_i.value = 1, op, key, value
        dut.order_i.value = self.first_order + order & max(2**self.order_bits - 1, 0)
        takes = CYCLES[op] if op != PUT or any(entry[1] == value for entry in self.model.entries) else 1
        cycles = 0
        ready = False
        while not ready:
            await ReadOnly()
            ready, status = bool(int(dut.op_ready_o.value)), int(dut.status_o.value)
            await RisingEdge(dut.clk_i)
            cycles += 1
            await FallingEdge(dut.clk_i)
        expected = self.model.run(op, key, value, order)
        assert status == expected, f"{op=} {key=} {value=}: {status=}, not {expected}"
        assert cycles == (takes if expected == DONE else 1)
        self.seen[op, status] += 1
        self.cycles[op] = max(self.cycles[op], cycles)
        dut.op_valid_i.value = 0
        await self.peek()
        return status


@cocotb.test()
async def in_order_and_in_their_cycles(dut):
    """Descending, ascending and equal keys: the output is sorted, equal keys in order of insertion."""
    driver = Driver(dut)
    await driver.reset()
    count = min(driver.depth, driver.value_top + 1)
    for keys in (range(count, 0, -1), range(count), [5] * count):
        for value, key in enumerate(keys):
            assert await driver.do(INSERT, key & driver.key_top, value) == DONE
        for _ in range(count):
            assert await driver.do(POP) == DONE
        assert await driver.do(POP) == ABSENT


@cocotb.test()
async def extremes(dut):
    """The least and the greatest key, a full queue, a duplicate and an absent value."""
    driver = Driver(dut)
    await driver.reset()
    count = min(driver.depth, driver.value_top + 1)
    for value in range(count):
        await driver.do(INSERT, driver.key_top if value % 2 else 0, value)
    assert await driver.do(INSERT, 1, 0) == DUPLICATE
    if driver.value_top >= driver.depth:
        assert await driver.do(INSERT, 1, driver.value_top) == FULL
        assert await driver.do(REMOVE, 0, driver.value_top) == ABSENT
        assert await driver.do(UPDATE, 0, driver.value_top) == ABSENT
    for value in range(count):
        assert await driver.do(UPDATE, driver.key_top - value & driver.key_top, value) == DONE
    for value in reversed(range(count)):
        assert await driver.do(REMOVE, 0, value) == DONE


@cocotb.test()
async def random_commands(dut):
    """Three phases that fill, hold and empty the queue; few different keys, so that many are equal."""
    driver = Driver(dut)
    await driver.reset()
    keys = [random.getrandbits(driver.key_top.bit_length()) for _ in range(1 + driver.depth // 3)]
    values = min(driver.value_top, 4 * driver.depth)
    orders = 2**driver.order_bits // 2
    for weights in ((14, 1, 1, 2, 2), (4, 2, 2, 4, 4), (2, 4, 4, 2, 2), (8, 1, 1, 2, 2), (1, 5, 1, 1, 1)):
        for op in random.choices(range(5), weights, k=max(300, 4 * driver.depth)):
            value = driver.any_value(values)
            await driver.do(op, random.choice(keys), value, random.randrange(orders) if orders else 0)
            if random.random() < 0.1:
                await FallingEdge(dut.clk_i)
                driver.check_head()
    while driver.model.entries:
        await driver.do(POP)
    await driver.do(POP)
    wanted = {(INSERT, DONE), (INSERT, DUPLICATE), (POP, DONE), (POP, ABSENT), (REMOVE, DONE), (REMOVE, ABSENT)}
    wanted |= {(UPDATE, DONE), (UPDATE, ABSENT), (PUT, DONE)} | ({(INSERT, FULL)} if values >= driver.depth else set())
    dut._log.info("commands x outcomes: %s", dict(sorted(driver.seen.items())))
    for op, name in enumerate(("insert", "pop", "remove", "update", "put")):
        measured(f"fpga.sorter.{name}", driver.cycles[op])
    measured("fpga.sorter.peek", driver.cycles["peek"])
    assert wanted <= set(driver.seen), f"did not occur: {wanted - set(driver.seen)}"
