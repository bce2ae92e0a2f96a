# SPDX-License-Identifier: Apache-2.0
"""VMs that use accelerators while they, or others, end, fail or run on several harts: the guest
`accel_faults` compares each result with software's."""

import re
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import pytest
from helpers import BOOT_S, OUT, SOON_S, boot_command, built

from tessera.run.machine import HYPERVISOR, Machine
from tessera.run.runner import ROOT, BuiltSystem

TICK_NS = 100
STOPPED_NS = 60_000  # after the end of a life: a configuration that has begun takes 40 us, and is not interrupted
STATES = {"idle", "busy", "preempt", "switch", "reconfig", "hold"}
MORTAL = ("0", "0")  # VM and device in the fabric


def trace_of(system: str) -> Path:
    """Where the model of the fabric writes the changes of the regions."""
    return OUT / f"{system}.regions"


def finished(system: str, *vms: str, image: BuiltSystem | None = None) -> Machine:
    """Runs a system until these VMs have ended without a wrong result, and the machine is off.
    `image` replaces the system's."""
    image = image or built(system)
    words = boot_command(image)
    words[words.index("-plugin") + 1] += f",trace={trace_of(system)}"
    with Machine(words, image.names, OUT / f"{system}.log") as machine:
        for name in vms:
            machine.expect(name, r"^accel: done, \d+ jobs, 0 wrong$", BOOT_S)
        assert machine.wait_until(lambda: not machine.running, SOON_S), "the machine does not shut down"
        return machine


def test_regions_change_hands_between_harts():
    """Each VM loses its region to VMs on the other hart, while it writes its registers: a START that
    is written before the fence arrives is found, and every job ends."""
    machine = finished("accel-harts", "pair", "same", "urgent")
    assert "accel: done, 1000 jobs" in machine.console.text("pair")  # on two VCPUs


@dataclass(frozen=True)
class Region:
    """What region 0 did, from the trace of the fabric."""

    times: list[int]  # ns
    rows: list[tuple[str, tuple[str, str]]]  # state; VM and device of the client

    @classmethod
    def read(cls, trace: Path) -> Self:
        lines = [line.split() for line in trace.read_text(encoding="utf-8").splitlines()[1:]]
        rows = [words for words in lines if words[1] == "0"]
        return cls([int(words[0]) for words in rows], [(words[2], (words[3], words[4])) for words in rows])

    def at(self, ns: int) -> tuple[str, tuple[str, str]]:
        return self.rows[bisect_right(self.times, ns) - 1]


def test_a_vm_ends_in_each_state_of_its_region():
    """Its task hangs in some lives, gives no context in others. The region leaves the VM at its end,
    the VMs that share the region get right results, and the next life finds its device as after
    power-on."""
    machine = finished("accel-mortal", "mortal", "high", "low")
    said = machine.console.text("mortal")
    ended = [TICK_NS * int(tick) for tick in re.findall(r"^accel: life \d+ ended at (\d+)$", said, re.MULTILINE)]
    region = Region.read(trace_of("accel-mortal"))
    found = Counter(state for state, client in map(region.at, ended) if client == MORTAL or state == "idle")
    assert set(found) == STATES, found
    assert [ns for ns in ended if region.at(ns + STOPPED_NS)[1] == MORTAL] == []
    said = machine.console.text(HYPERVISOR)
    assert said.count("mortal stopped by its own reset, starts again") == len(ended)
    assert "error: mortal: the task of probe in region 0 did not stop in time" in said


def with_mutated_bitstream(system: str, name: str, at: int) -> BuiltSystem:
    """The system, with one byte of a bitstream changed in its image."""
    image = built(system)
    data = bytearray(image.image.read_bytes())
    bitstream = (ROOT / "build" / "fpga" / "simb" / name).read_bytes()
    assert data.count(bitstream) == 1
    data[data.index(bitstream) + at] ^= 1
    changed = OUT / f"{system}-{at}.bin"
    changed.write_bytes(data)
    return replace(image, image=changed)


# Offsets in a bitstream: its magic number, region, task, length, body.
@pytest.mark.parametrize(("at", "error"), [(0, 1), (6, 1), (9, 1), (4000, 5)])
def test_bitstream_that_was_changed(at, error):
    """The device fails, the console says why, and the region serves other tasks, of this VM and of
    others."""
    machine = finished("accel-refused", "both", "beside", image=with_mutated_bitstream("accel-refused", "1-0.bin", at))
    assert "accel: the first device has failed" in machine.console.text("both")
    said = machine.console.text(HYPERVISOR)
    assert f"error: both: the bitstream of qam16 for region 0 is refused: error {error}" in said


def test_bitstream_that_was_not_changed():
    machine = finished("accel-refused", "both", "beside")
    assert "accel: the first device works" in machine.console.text("both")
    assert "error" not in machine.console.text(HYPERVISOR)
