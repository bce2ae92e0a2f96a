# SPDX-License-Identifier: Apache-2.0
"""The fabric's RTL as a device of QEMU's machine (docs/fabric.md), seen by a guest without a
hypervisor."""

import re
import zlib
from itertools import pairwise

import model_qam
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from fabric_helpers import REGS, fields

LONG_BYTES = 16384  # the guest's longer jobs
QAM_BYTES = 2350
KEY, PLAIN = bytes(range(16)), bytes.fromhex("00112233445566778899aabbccddeeff")
NS_PER_TICK = 100


def guest_input() -> bytes:
    """What the guest's fill_input() computes."""
    state, out = 1, bytearray()
    for _ in range(LONG_BYTES):
        state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
        out.append(state >> 24)
    return bytes(out)


def aes(data: bytes) -> bytes:
    side = Cipher(algorithms.AES(KEY), modes.ECB()).encryptor()
    return side.update(data) + side.finalize()


def over(data: bytes) -> str:
    """The guest's report of a job that is over without a fault, and has written these bytes."""
    return f": STAT 5, {len(data)} bytes, crc {zlib.crc32(data):x}"


def test_identification_and_parameters(run):
    found = re.fullmatch(r" (\w+), PARAMS (\w+)", run.said("ID"))
    assert found
    assert fields("FABRIC_REGS_ID", int(found[1], 16))["magic"] == 0x54534642
    params = fields("FABRIC_REGS_PARAMS", int(found[2], 16))
    assert (params["vms"], params["devs"], params["prrs"], params["sorter_depth"]) == (4, 6, 3, 64)


def test_a_bitstream_in_memory_configures_a_region(run):
    """Header and checksums do not reach the port; it takes a word each cycle."""
    assert run.said("region 0 has task 1") == ": error 0, 4002 words in 4002 cycles"
    assert run.said("request of VM 0, device 0: method 1, region 0, reconfigure 1") == ""


def test_qam16_equals_its_model(run):
    assert run.said("QAM16:") == over(model_qam.run(guest_input()[:QAM_BYTES], 4))[1:]


def test_the_interrupt_comes_in_the_time_of_the_job(run):
    """The bus alone needs a cycle for each beat of output; an interrupt is late by a quantum of 1 us at most."""
    ns = int(run.said("QAM16 took ").split()[0]) * NS_PER_TICK
    assert QAM_BYTES * 10 <= ns <= QAM_BYTES * 10 + 3000


def test_aes_equals_the_standard(run):
    assert run.said("AES-128: ") == "69c4e0d86a7b0430d8cdb78070b4c55a"


def test_a_line_that_stays_high_interrupts_again(run):
    """QEMU's PLIC alone would forget it at the completion."""
    assert int(run.said("completed early: ").split()[0]) >= 2


def test_dma_outside_the_windows_is_a_fault(run):
    """STAT: over, fault 1. Events: PRR stopped, violation, task fault."""
    assert run.said("outside: ") == "STAT 104, fault at 40004000, events 1c"


@pytest.mark.parametrize("what", ["nothing", "the PLIC"])
def test_dma_reaches_ram_only(run, what):
    """A window over an address of a device or without memory: the bus answers with an error, STAT has fault 2."""
    assert run.said(f"DMA from {what}: ") == "STAT 204"


def test_a_preempted_job_ends_with_the_right_output(run):
    """STAT of the preempted IF: saved. Its job goes on in the region that the search list gives it."""
    data = guest_input()
    assert run.said("preempted: ") == "STAT 10"
    assert re.fullmatch(r"had region (\d); from the list: VM 1, region \1", run.said("VM 2 "))
    assert run.said("beside") == over(model_qam.run(data, 4))
    assert run.said("resumed") == over(aes(PLAIN + data[16:]))


def test_a_finite_hold_time_is_not_skipped(run):
    """5000 cycles of Hold in which nothing else happens; then the manager's interrupt."""
    ns = int(run.said("hold expired after ").split()[0]) * NS_PER_TICK
    assert 45000 <= ns <= 52000


def test_an_access_without_meaning_is_an_access_fault(run):
    """Cause 5 is a load access fault, 7 one of a store; the addresses are those of the guest's accesses."""
    assert [line for line in run.lines if "access fault " in line] == [
        "fabric: access fault 5 at 18002000",
        "fabric: access fault 7 at 18030000",
        f"fabric: access fault 5 at {0x18000080 + REGS['FABRIC_IFS']:x}",
    ]


def test_two_runs_are_identical(run, run_again):
    """Output with instret and times, cycles simulated and skipped, accesses, changes of the regions."""
    assert run_again() == run


def test_the_fabric_obeys_axi(run):
    assert run.stats["axi_complaints"] == 0
    assert run.stats["access_errors"] == 3
    assert run.stats["period_ns"] == 10


def test_idle_time_is_skipped(run):
    """The guest computes for milliseconds; the fabric works for 0.3 ms of them."""
    assert run.stats["cycles_simulated"] < 60000
    assert run.stats["cycles_skipped"] > 1000000


def test_a_short_quantum_gives_the_time_of_the_interrupt(run, run_again):
    """With a quantum of 10 cycles the interrupt is late by 100 ns at most, instead of 1 us."""
    exact = run_again(quantum=10)
    took = [int(one.said("QAM16 took ").split()[0]) * NS_PER_TICK for one in (exact, run)]
    assert took[0] <= took[1]
    over_at = next(time for time, state in states(exact, 0, "busy") if state == "idle")
    busy_at = next(time for time, state in states(exact, 0, "hold") if state == "busy")
    assert over_at - busy_at <= took[0] <= over_at - busy_at + 1200, "START's and the handler's instructions included"
    assert exact.stats["timer_calls"] > 5 * run.stats["timer_calls"]


def states(run, region: int, before: str) -> list[tuple[int, str]]:
    """Time (ns) and new state of each change of a region from a state."""
    changes = [line.split() for line in run.trace.splitlines()[1:]]
    found = [(int(ns), state) for ns, number, state, *_ in changes if int(number) == region]
    return [later for earlier, later in pairwise(found) if earlier[1] == before]


def test_the_trace_has_every_state_of_the_preemption(run):
    """Region 2 with VM 1's job: preempted, given to VM 2, given back, restored, over."""
    changes = [line.split() for line in run.trace.splitlines()[1:]]
    region = [(state, vm) for _, number, state, vm, *_ in changes if number == "2"]
    begin = region.index(("preempt", "1"))
    expected = [("preempt", "1"), ("switch", "1"), ("hold", "2"), ("idle", "-"), ("hold", "1"), ("switch", "1"),
                ("busy", "1"), ("idle", "1")]  # fmt: skip
    assert region[begin:] == expected
    times = [int(line[0]) for line in changes]
    assert times == sorted(times)


def test_without_virtual_time_the_fabric_is_slower_and_right(run, run_again):
    """Virtual time is the host's: a cycle takes 10 us."""
    hosts = run_again(machine=())
    assert hosts.stats["period_ns"] == 10000
    assert hosts.said("QAM16:") == run.said("QAM16:")
    assert hosts.said("AES-128: ") == run.said("AES-128: ")
