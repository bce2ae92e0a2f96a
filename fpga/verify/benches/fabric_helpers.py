# SPDX-License-Identifier: Apache-2.0
"""The fabric as software sees it: registers by name, bitstreams, windows, jobs; a model of the hypervisor's driver."""

import logging
import re
import struct
from dataclasses import dataclass

from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, ReadOnly, RisingEdge, Timer
from cocotbext.axi import AxiBus, AxiMaster, AxiRam
from rtl_tools import FPGA

from tessera.fabric import registers
from tessera.fabric.bitstream import simulated as simb

REGS = registers.read(FPGA / "hw" / "include" / "fabric_map.h")

IDLE, BUSY, PREEMPT, SWITCH, RECONFIG, HOLD = range(6)
STATES = ("Idle", "Busy", "Preempt", "Switch", "Reconfig", "Hold")
UNAVAILABLE, ASSIGN, PREEMPTING = range(3)
FAULT_NONE, FAULT_DMA, FAULT_BUS, FAULT_HUNG, FAULT_ROGUE, FAULT_CONTEXT = range(6)
PAGE = 4096
PERIOD = 10  # of the clock, ns
MASK = (1 << 64) - 1


def fields(register: str, value: int) -> dict[str, int]:
    """The fields of a register's value; `register` as in fabric_map.h."""
    found = {}
    for name, lsb in REGS.items():
        match = re.fullmatch(rf"{register}_(\w+)_LSB", name)
        if match and not any(name.startswith(f"{other}_") for other in REGS if other.startswith(f"{register}_")):
            width = REGS[f"{register}_{match[1]}_WIDTH"]
            found[match[1].lower()] = value >> lsb & ((1 << width) - 1)
    return found


@dataclass(frozen=True)
class Shape:
    """The parameters of a fabric, and the layout of its memory: an area for each VM, then the bitstreams."""

    vms: int = 4
    devs: int = 4
    prrs: int = 3
    sorter: int = 16

    @property
    def list_depth(self) -> int:
        return min(self.vms * self.devs, 32)

    @property
    def sizes(self) -> list[int]:
        """Size classes of the regions, as in fabric_top's default."""
        return [min(prr, 2) for prr in range(self.prrs)]

    @property
    def vm_bytes(self) -> int:
        """Bytes of memory of each VM, 16 KiB for every device."""
        return max(0x4000 * self.devs, 0x10000)

    def base(self, vm: int) -> int:
        return self.vm_bytes * (vm + 1)

    @property
    def bitstreams(self) -> int:
        return self.base(self.vms) + 0x30000

    @property
    def memory(self) -> int:
        return max(1 << (self.bitstreams + 0x10000).bit_length(), 1 << 20)


@dataclass(frozen=True)
class Solution:
    """The monitor's answer."""

    method: int
    reconfig: int
    listed: int
    prr: int
    evicted: tuple[int, int] | None
    client: tuple[int, int, int]
    valid: int

    @classmethod
    def read(cls, value: int) -> "Solution":
        got = fields("FABRIC_REGS_SOLUTION", value)
        evicted = (got["evicted_vm"], got["evicted_dev"]) if got["evicted"] else None
        return cls(got["method"], got["reconfig"], got["listed"], got["prr"], evicted,
                   (got["vm"], got["dev"], got["prio"]), got["valid"])  # fmt: skip


def probe(data: bytes, key: int = 0) -> bytes:
    """The output of hwtask_probe for this input."""
    total, out = 0, []
    wide = key << 32 | key
    for (beat,) in struct.iter_unpack("<Q", data):
        out.append(((beat + total) & MASK) ^ wide)
        total = (total + beat) & MASK
    return struct.pack(f"<{len(out)}Q", *out)


class Fabric:
    """A simulated fabric with its memory."""

    def __init__(self, dut, shape: Shape | None = None):
        self.dut = dut
        self.shape = shape or Shape()
        self.model = None  # the reference model, if the bench compares with it
        self.bus = AxiMaster(AxiBus.from_prefix(dut, "s_axi"), dut.clk_i, dut.rst_ni, reset_active_level=False)
        logging.getLogger(f"cocotb.{dut._name}.s_axi").setLevel(logging.WARNING)
        logging.getLogger(f"cocotb.{dut._name}.m_axi").setLevel(logging.WARNING)
        self.ram = AxiRam(
            AxiBus.from_prefix(dut, "m_axi"), dut.clk_i, dut.rst_ni, reset_active_level=False, size=self.shape.memory
        )

    async def start(self) -> None:
        self.dut.rst_ni.value = 0
        Clock(self.dut.clk_i, PERIOD, "ns").start()
        await self.release()
        await ClockCycles(self.dut.clk_i, 4)

    async def release(self, after: int = 3) -> None:
        """Releases the reset after four cycles, asynchronously: `after` ns after an edge of the clock."""
        await ClockCycles(self.dut.clk_i, 4)
        await Timer(after, "ns")
        self.dut.rst_ni.value = 1

    # ---- Registers ----
    async def read(self, address: int, size: int = 8) -> int:
        return int.from_bytes((await self.bus.read(address, size)).data, "little")

    async def write(self, address: int, value: int, size: int = 8) -> None:
        await self.bus.write(address, value.to_bytes(size, "little"))

    async def get(self, name: str, index: int = 0) -> dict[str, int]:
        register = f"FABRIC_REGS_{name}"
        value = await self.read(REGS[register] + 8 * index)
        return fields(register, value)

    async def put(self, name: str, value: int, index: int = 0) -> None:
        if self.model and name == "HOLD_TIME":
            self.model.hold_time = value
        await self.write(REGS[f"FABRIC_REGS_{name}"] + 8 * index, value)

    def page(self, vm: int, dev: int) -> int:
        return REGS["FABRIC_IFS"] + (16 * vm + dev) * REGS["FABRIC_IF_STRIDE"]

    async def if_put(self, vm: int, dev: int, name: str, value: int, index: int = 0) -> None:
        size = 8 if name in ("DATA_ADDR", "RESULT") else 4
        await self.write(self.page(vm, dev) + REGS[f"FABRIC_IF_{name}"] + size * index, value, size)

    async def if_get(self, vm: int, dev: int, name: str, index: int = 0) -> int:
        size = 8 if name in ("DATA_ADDR", "RESULT") else 4
        return await self.read(self.page(vm, dev) + REGS[f"FABRIC_IF_{name}"] + size * index, size)

    async def stat(self, vm: int, dev: int) -> dict[str, int]:
        return fields("FABRIC_IF_STAT", await self.if_get(vm, dev, "STAT"))

    # ---- Manager ----
    async def device(self, dev: int, task: int, size: int = 0, excluded: int = 0) -> None:
        if self.model:
            self.model.monitor.devices[dev] = task, size
            self.model.monitor.excluded[dev] = excluded
        await self.put("DEVICE", task | size << 8 | excluded << 16, dev)

    async def window(self, vm: int, number: int, guest: int, size: int, host: int, rights: int = 3) -> None:
        base = REGS["FABRIC_WINDOWS"] + vm * REGS["FABRIC_VM_WINDOWS_STRIDE"] + number * REGS["FABRIC_WINDOW_STRIDE"]
        await self.write(base + 8, size)
        await self.write(base + 16, host)
        await self.write(base, guest | rights)

    async def request(self, vm: int, dev: int, prio: int) -> Solution:
        await self.put("REQUEST", vm | dev << 4 | prio << 8)
        while not (answer := await self.solution()).valid:
            pass
        return answer

    async def solution(self) -> Solution:
        return Solution.read(await self.read(REGS["FABRIC_REGS_SOLUTION"]))

    async def new_solution(self) -> Solution | None:
        """Removes and returns the first solution from the search list."""
        found = Solution.read(await self.read(REGS["FABRIC_REGS_NEW_SOLUTION"]))
        if not found.valid:
            return None
        await self.put("NEW_SOLUTION_POP", 1)
        return found

    async def configure(self, prr: int, image: bytes, at: int = 0, verify: int = 0, length: int = 0) -> int:
        """Writes a bitstream to memory and configures a region; returns the error code."""
        at = at or self.shape.bitstreams
        self.ram.write(at, image)
        await self.put("ICAP_ADDR", at)
        await self.put("ICAP_LENGTH", length or len(image))
        await self.put("ICAP_START", prr | verify << 8)
        while (await self.get("ICAP_STATUS"))["busy"]:
            pass
        return (await self.get("ICAP_STATUS"))["error"]

    async def connect(self, prr: int, vm: int, dev: int, on: int = 1) -> None:
        await self.put("PRR_CONNECT", on | vm << 4 | dev << 8, prr)

    async def region(self, prr: int) -> dict[str, int]:
        return await self.get("PRR_STATUS", prr)

    async def wait_state(self, prr: int, *states: int, cycles: int = 20000) -> dict[str, int]:
        for _ in range(cycles // 4):
            now = await self.region(prr)
            if now["state"] in states:
                return now
        raise AssertionError(f"region {prr} is {STATES[now['state']]}, not {[STATES[s] for s in states]}")

    async def give(self, vm: int, dev: int, prio: int, task: int) -> int:
        """Requests, configures and connects a region for a client of an idle fabric; returns the region."""
        found = await self.request(vm, dev, prio)
        assert found.method == ASSIGN, found
        if found.reconfig:
            assert await self.configure(found.prr, simb(found.prr, task)) == 0
        await self.connect(found.prr, vm, dev)
        return found.prr

    # ---- Guest ----
    async def job(self, vm: int, dev: int, source: int, target: int, size: int, key: int = 0, every: int = 7,
                  cmd: int = 0, custom: bytes = b"") -> None:  # fmt: skip
        await self.if_put(vm, dev, "OVER", 1)
        await self.if_put(vm, dev, "CMD", cmd)
        await self.if_put(vm, dev, "DATA_ADDR", source)
        await self.if_put(vm, dev, "RESULT", target)
        await self.if_put(vm, dev, "DATA_SIZE", size)
        for port, value in enumerate(struct.unpack("<8I", custom) if custom else (key, every)):
            await self.if_put(vm, dev, "CUSTOM", value, port)
        await self.if_put(vm, dev, "INT_CTRL", 3)
        await self.if_put(vm, dev, "START", 1)

    async def finished(self, vm: int, dev: int, cycles: int = 50000) -> dict[str, int]:
        for _ in range(cycles // 4):
            now = await self.stat(vm, dev)
            if now["over"]:
                return now
        raise AssertionError(f"the job of VM {vm}, device {dev} did not end: {now}")


async def cycles_until(dut, signal, most: int = 1000) -> int:
    """Clock edges until a signal is nonzero; 0 if it is already."""
    for number in range(most):
        await ReadOnly()
        if int(signal.value):
            return number
        await RisingEdge(dut.clk_i)
    raise AssertionError(f"{signal._name} stays zero")
