# SPDX-License-Identifier: Apache-2.0
"""The demonstration `make -C fpga demo`: two VMs share three regions with real HW tasks; every cycle is recorded.

VM 0 (low priority) uses FFT512, FFT1024 and QAM16; VM 1 (high priority) uses QAM64 and starts later. The bench uses the
manager's registers, as a hypervisor will.
"""

import bench_fabric_real as real
import cocotb
from cocotb.triggers import ClockCycles
from fabric_helpers import BUSY, HOLD, IDLE, PREEMPT, PREEMPTING, RECONFIG, SWITCH
from recorder import Recorder
from rtl_tools import BUILD, build_and_run

JOBS = ((0, 2), (0, 3), (0, 0), (1, 1))  # VM and device, in order of their requests
TARGETS = {(0, 2): 0x8000, (0, 3): 0xE000, (0, 0): 0x18000, (1, 1): 0x10000}
SOURCES = {(0, 2): 0, (0, 3): 0x3000, (0, 0): 0x1F000, (1, 1): 0}


def taps(dut) -> dict:
    """The signals of the pictures by their labels."""

    def seen(p: int, low: int, width: int):
        return lambda: int(dut.seen_o.value) >> (46 * p + low) & ((1 << width) - 1)

    def event(p: int, bit: int):
        return lambda: int(dut.events_o.value) >> (15 * p + bit) & 1

    def bit(signal, p: int):
        return lambda: int(signal.value) >> p & 1

    found = {
        "request": lambda: int(dut.commands_o.value) & 1,
        "answered": lambda: int(dut.monitor_o.value) & 1,
        "answer": lambda: int(dut.monitor_o.value) >> 27 & 3 if int(dut.monitor_o.value) & 1 else None,
        "irq manager": lambda: int(dut.irq_manager_o.value),
        "irq VM 0": lambda: int(dut.irq_vm_o.value) & 1,
        "irq VM 1": lambda: int(dut.irq_vm_o.value) >> 1 & 1,
        "cfg word": lambda: int(dut.cfg_valid_o.value) & int(dut.cfg_ready_o.value),
        "waiting": lambda: int(dut.monitor_o.value) >> 29 & 511,
    }
    for p in range(3):
        found |= {
            f"{p} state": seen(p, 0, 3), f"{p} client": seen(p, 8, 8), f"{p} owned": seen(p, 3, 1),
            f"{p} task": seen(p, 29, 8), f"{p} connected": seen(p, 37, 1), f"{p} target": seen(p, 38, 8),
            f"{p} couple": bit(dut.coupled_o, p), f"{p} raw outputs": bit(dut.region_out_o, p),
            f"{p} gated outputs": bit(dut.gated_out_o, p), f"{p} quiet": bit(dut.quiet_o, p),
            f"{p} begin": event(p, 0), f"{p} stopped": event(p, 4), f"{p} saved": event(p, 5), f"{p} over": event(p, 3),
            f"{p} saving": bit(dut.ctx_saving_o, p), f"{p} restoring": bit(dut.ctx_restoring_o, p),
        }  # fmt: skip
    return found


async def job(made, vm: int, dev: int, data: bytes) -> None:
    made.ram.write(0x20000 * (vm + 1) + SOURCES[vm, dev], data)
    await made.job(vm, dev, 0x4000_0000 + SOURCES[vm, dev], 0x4000_0000 + TARGETS[vm, dev], len(data))


NAMES = ("QAM16", "QAM64", "FFT512", "FFT1024")
SIZES = (1200, 1200, 5 * 2048, 2 * 4096)  # bytes of input, by device


async def finish(made) -> None:
    """Serves the manager's interrupts until every job is over."""
    for _ in range(300):
        await real.serve(made)
        await made.put("IRQ_STATUS", 0x7E)
        if all([(await made.stat(vm, dev))["over"] for vm, dev in JOBS]):
            return
    raise AssertionError("not all jobs ended")


def check(made, recorder: Recorder, data: dict) -> None:
    """All results are correct, and the run contains every event that the picture explains."""
    for vm, dev in JOBS:
        wanted = real.expected(dev + 1, data[vm, dev])
        got = bytes(made.ram.read(0x20000 * (vm + 1) + TARGETS[vm, dev], len(wanted)))
        assert got == wanted, f"VM {vm}, device {dev}"
    states = {state for p in range(3) for state in recorder.samples[f"{p} state"]}
    assert states == {IDLE, BUSY, PREEMPT, SWITCH, RECONFIG, HOLD}
    assert any(any(recorder.samples[f"{p} restoring"]) for p in range(3)), "nothing was resumed"


@cocotb.test()
async def two_vms_share_three_regions(dut):
    """Three jobs of VM 0 have all regions; VM 1 preempts one, whose job resumes in the next idle region."""
    made = await real.fabric(dut)
    await made.put("IRQ_ENABLE", 0x7F)
    recorder = Recorder(dut, taps(dut))
    recorder.begin()
    data = {}
    for vm, dev in JOBS:
        data[vm, dev] = real.random.randbytes(SIZES[dev])
        await job(made, vm, dev, data[vm, dev])
        recorder.mark(f"VM {vm} asks for {NAMES[dev]}")
        found = await made.request(vm, dev, 9 if vm else 2)
        await real.serve(made)
        await real.serve(made)
        await ClockCycles(dut.clk_i, 100)
    assert found.method == PREEMPTING, found
    await finish(made)
    check(made, recorder, data)
    recorder.save(BUILD / "demo" / "run.json")


if __name__ == "__main__":
    build_and_run(real.BENCHES[0], "demo_fabric")
