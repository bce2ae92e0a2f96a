# SPDX-License-Identifier: Apache-2.0
"""VMs that use accelerators while they, or others, end, fail or run on several harts: the guest
`accel_faults` compares each result with software's."""

import re
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from helpers import BOOT_S, OUT, SOON_S, boot_command, built

from tessera.run.machine import HYPERVISOR, Machine

TICK_NS = 100
STOPPED_NS = 60_000  # after the end of a life: a configuration that has begun takes 40 us, and is not interrupted
STATES = {"idle", "busy", "preempt", "switch", "reconfig", "hold"}
MORTAL = ("0", "0")  # VM and device in the fabric


def trace_of(system: str) -> Path:
    """Where the model of the fabric writes the changes of the regions."""
    return OUT / f"{system}.regions"


def finished(system: str, *vms: str) -> Machine:
    """Runs a system until these VMs have ended without a wrong result, and the machine is off."""
    image = built(system)
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
