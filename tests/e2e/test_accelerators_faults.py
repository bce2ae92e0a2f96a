# SPDX-License-Identifier: Apache-2.0
"""VMs that use accelerators while they, or others, end, fail or run on several harts: the guest
`accel_faults` compares each result with software's."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import pytest
from helpers import BOOT_S, OUT, SOON_S, boot_command, built, few_of

from tessera.fabric.bitstream import TAG_SIZE, tag
from tessera.image.board import read_key
from tessera.run.machine import HYPERVISOR, Machine, clean
from tessera.run.runner import ROOT, BuiltSystem

TICK_NS = 100
STOPPED_NS = 60_000  # after the end of a life: a configuration that has begun takes 40 us, and is not interrupted
STATES = {"idle", "busy", "preempt", "switch", "reconfig", "hold"}
MORTAL = ("0", "0")  # VM and device in the fabric


def trace_of(label: str) -> Path:
    """Where the model of the fabric writes the changes of the regions."""
    return OUT / f"{label}.regions"


def finished(system: str, *vms: str, image: BuiltSystem | None = None) -> Machine:
    """Runs a system until these VMs have ended without a wrong result, and the machine is off.
    `image` replaces the system's."""
    label = image.image.stem if image else system
    image = image or built(system)
    words = boot_command(image)
    words[words.index("-plugin") + 1] += f",trace={trace_of(label)}"
    with Machine(words, image.names, OUT / f"{label}.log") as machine:
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


Edit = Callable[[bytearray], None]


def stream(name: str) -> bytes:
    return (ROOT / "build" / "fpga" / "simb" / name).read_bytes()


def with_edited_bitstream(system: str, name: str, label: str, edit: Edit, signed: bool = False) -> BuiltSystem:
    """The system, with a bitstream and its tag changed in its image; `signed`: with a new tag."""
    image = built(system)
    data = bytearray(image.image.read_bytes())
    bitstream = stream(name)
    assert data.count(bitstream) == 1
    at = data.index(bitstream)
    changed = data[at : at + len(bitstream) + TAG_SIZE]
    edit(changed)
    if signed:
        changed[-TAG_SIZE:] = tag(bytes(changed[:-TAG_SIZE]), read_key(ROOT / "platform" / "qemu-virt"))
    data[at : at + len(bitstream) + TAG_SIZE] = changed
    file = OUT / f"{system}-{label}.bin"
    file.write_bytes(data)
    return replace(image, image=file)


def flip(at: int) -> Edit:
    def edit(data: bytearray) -> None:
        data[at] ^= 1

    return edit


def put(at: int, words: bytes) -> Edit:
    def edit(data: bytearray) -> None:
        data[at : at + len(words)] = words

    return edit


def refused_at_boot(image: BuiltSystem) -> str:
    """Runs the system; returns why and where the bitstream of the first device is refused. The device fails, no word of
    the bitstream reaches the port, and the region serves other tasks, of this VM and of others."""
    machine = finished("accel-refused", "both", "beside", image=image)
    assert "accel: the first device has failed" in machine.console.text("both")
    region = Region.read(trace_of(image.image.stem))
    clients = {client for _, client in region.rows}
    assert ("0", "0") not in clients, "the region was given to the device"
    assert {("0", "1"), ("1", "1")} <= clients
    # From the log: on QEMU 10.0, the hypervisor's first line follows an unfinished one of OpenSBI.
    errors = re.findall(r"error: .*", clean((OUT / f"{image.image.stem}.log").read_text(encoding="utf-8")))
    found = re.fullmatch(r"error: the bitstream of qam16 for region 0 is refused at boot: (.*)", errors[0])
    assert len(errors) == 1 and found is not None, errors
    return found[1]


SIZE = 16024  # bytes of the bitstream
TAG = f"its tag is not that of its bytes with the board's key, at byte {SIZE} of {SIZE}"


# Offsets: magic number, region, task, length, header's CRC, packet, frame, body, CRC, tag.
PLACES = (0, 7, 6, 9, 12, 16, 25, 4000, SIZE - 1, SIZE, SIZE + 31)


@pytest.mark.parametrize("at", few_of(PLACES, (0, 4000, SIZE + 31)))
def test_bitstream_that_was_changed(at):
    assert refused_at_boot(with_edited_bitstream("accel-refused", "1-0.bin", str(at), flip(at))) == TAG


def test_bitstream_of_another_device():
    """It is authentic, but not that of the device."""
    whole = stream("5-0.bin") + tag(stream("5-0.bin"), read_key(ROOT / "platform" / "qemu-virt"))
    image = with_edited_bitstream("accel-refused", "1-0.bin", "swap", put(0, whole))
    why = f"its header names another task, or has bits that have to be 0, at byte 4 of {SIZE}"
    assert refused_at_boot(image) == why


@pytest.mark.parametrize(
    ("label", "edit", "why"),
    [
        pytest.param(
            *("slow", flip(16), "a packet has another mark, region or task, or bits that have to be 0, at byte 16"),
            marks=pytest.mark.long,
        ),
        ("frame", put(24, (1).to_bytes(4, "little")), "a packet writes frames outside of the region, at byte 24"),
        pytest.param(
            *("length", put(20, (4000).to_bytes(4, "little")), "a packet has a wrong length, at byte 20"),
            marks=pytest.mark.long,
        ),
    ],
)
def test_authentic_bitstream_that_is_malformed(label, edit, why):
    image = with_edited_bitstream("accel-refused", "1-0.bin", label, edit, signed=True)
    assert refused_at_boot(image) == f"{why} of {SIZE}"


LONG = pytest.mark.long


# Bytes of the header's and of the body's CRC-32, and of the body: only the ICAP verifies checksums.
@pytest.mark.parametrize(
    ("at", "error"), [pytest.param(12, 1, marks=LONG), (4000, 5), pytest.param(SIZE - 1, 5, marks=LONG)]
)
def test_authentic_bitstream_with_a_wrong_checksum(at, error):
    """The device fails, the console says why, and the region serves other tasks, of this VM and of others."""
    image = with_edited_bitstream("accel-refused", "1-0.bin", f"signed-{at}", flip(at), signed=True)
    machine = finished("accel-refused", "both", "beside", image=image)
    assert "accel: the first device has failed" in machine.console.text("both")
    said = machine.console.text(HYPERVISOR)
    assert f"error: both: the bitstream of qam16 for region 0 is refused: error {error}" in said


def test_bitstream_that_was_not_changed():
    machine = finished("accel-refused", "both", "beside")
    assert "accel: the first device works" in machine.console.text("both")
    assert "error" not in machine.console.text(HYPERVISOR)
