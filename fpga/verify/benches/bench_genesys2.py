# SPDX-License-Identifier: Apache-2.0
"""The bridges between the SoC and LiteX's side of the Genesys2: other widths, other clock."""

import itertools
import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge, Timer
from cocotbext.axi import AxiBus, AxiMaster, AxiRam
from rtl_tools import CELLS, FPGA, Bench

BOARD = FPGA / "target" / "genesys2"
BENCHES = [
    Bench(
        top="genesys2_bridges",
        sources=(
            BOARD / "genesys2_pkg.sv",
            BOARD / "memory_bridge.sv",
            BOARD / "device_bridge.sv",
            CELLS / "src" / "cdc_fifo_gray.sv",
        ),
        depth=1,
    )
]
SIZE = 1 << 14  # bytes
UNIT = "ns"


class Bridges:
    """Both bridges between a manager and a memory each; the bus's clock is `phase` ns after the SoC's (10: none)."""

    def __init__(self, dut, phase: int = 3) -> None:
        self.dut = dut
        cocotb.start_soon(Clock(dut.clk_i, 20, UNIT).start())
        cocotb.start_soon(self._bus_clock(phase))
        soc, bus = (dut.clk_i, dut.rst_ni), (dut.bus_clk_i, dut.bus_rst_ni)
        self.managers, self.memories = {}, {}
        for name in ("memory", "devices"):
            port = AxiBus.from_prefix(dut, f"m_{name}")
            self.managers[name] = AxiMaster(port, *soc, reset_active_level=False)
            port = AxiBus.from_prefix(dut, f"s_{name}")
            self.memories[name] = AxiRam(port, *bus, reset_active_level=False, size=SIZE)

    async def _bus_clock(self, phase: int) -> None:
        await Timer(phase, UNIT)
        await Clock(self.dut.bus_clk_i, 10, UNIT).start()

    async def reset(self) -> None:
        self.dut.rst_ni.value = self.dut.bus_rst_ni.value = 0
        await Timer(95, UNIT)
        self.dut.rst_ni.value = self.dut.bus_rst_ni.value = 1
        await RisingEdge(self.dut.clk_i)

    def stall(self, seed: int) -> None:
        """Memories that make the bridges wait, at random."""
        chance = random.Random(seed)
        for memory in self.memories.values():
            for channel in (memory.write_if.aw_channel, memory.write_if.w_channel, memory.write_if.b_channel,
                            memory.read_if.ar_channel, memory.read_if.r_channel):  # fmt: skip
                channel.set_pause_generator(chance.random() < 0.4 for _ in itertools.count())


async def random_accesses(bridges: Bridges, name: str, number: int, seed: int, longest: int) -> None:
    """Writes and reads back at random, with all sizes, and compares the whole memory at the end."""
    chance = random.Random(seed)
    manager, memory = bridges.managers[name], bridges.memories[name]
    model = bytearray(chance.randbytes(SIZE))
    memory.write(0, bytes(model))
    for _ in range(number):
        length = chance.choice((1, 2, 4, 8, chance.randint(1, longest)))
        address = chance.randrange(0, SIZE - length)
        size = chance.randrange(4)
        kind = {"size": size, "cache": chance.choice((0b0000, 0b0010, 0b1111))}
        if chance.random() < 0.5:
            data = chance.randbytes(length)
            model[address : address + length] = data
            await manager.write(address, data, **kind)
        else:
            found = await manager.read(address, length, **kind)
            assert found.data == model[address : address + length], f"{name}: read of {length} bytes at {address:#x}"
    assert memory.read(0, SIZE) == bytes(model), name


@cocotb.test()
async def memory_keeps_what_is_written(dut):
    bridges = Bridges(dut)
    await bridges.reset()
    await random_accesses(bridges, "memory", 400, seed=1, longest=200)


@cocotb.test()
async def devices_keep_what_is_written(dut):
    bridges = Bridges(dut)
    await bridges.reset()
    await random_accesses(bridges, "devices", 300, seed=2, longest=40)


@cocotb.test()
@cocotb.parametrize(phase=[1, 5, 9, 10])
async def memories_may_stall_at_any_phase_of_the_clocks(dut, phase):
    bridges = Bridges(dut, phase)
    await bridges.reset()
    bridges.stall(seed=phase)
    memory = cocotb.start_soon(random_accesses(bridges, "memory", 100, seed=3 + phase, longest=120))
    await random_accesses(bridges, "devices", 60, seed=13 + phase, longest=24)
    await memory


@cocotb.test()
async def each_word_of_64_bits_goes_to_its_lane(dut):
    """LiteX's converter would write each of them to lane 0."""
    bridges = Bridges(dut)
    await bridges.reset()
    for lane in range(8):
        await bridges.managers["memory"].write(8 * lane, bytes([0x10 + lane] * 8))
    assert bridges.memories["memory"].read(0, 64) == bytes(0x10 + at // 8 for at in range(64))


@cocotb.test()
async def an_access_of_a_device_touches_nothing_else(dut):
    """A register beside the one that is read may have a side effect."""
    bridges = Bridges(dut)
    await bridges.reset()
    seen = []

    async def watch() -> None:
        while True:
            await RisingEdge(dut.bus_clk_i)
            for channel in ("ar", "aw"):
                valid, ready = (getattr(dut, f"s_devices_{channel}{what}").value for what in ("valid", "ready"))
                if valid and ready:
                    fields = [int(getattr(dut, f"s_devices_{channel}{what}").value) for what in ("addr", "len", "size")]
                    seen.append((channel, *fields))

    cocotb.start_soon(watch())
    manager = bridges.managers["devices"]
    expected = []
    for address in (0x100, 0x104, 0x10C):
        await manager.read(address, 4, size=2)
        await manager.write(address, b"abcd", size=2)
        expected += [("ar", address, 0, 2), ("aw", address, 0, 2)]
    await manager.read(0x203, 1, size=0)
    assert seen == [*expected, ("ar", 0x203, 0, 0)]
