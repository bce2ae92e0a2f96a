# SPDX-License-Identifier: Apache-2.0
"""The whole system hardware-io: Linux on its window of the flash and an RT app that toggles a pin, beside a flood."""

import re
from pathlib import Path

import pytest
from helpers import BOOT_S, LINUX_PROMPT, SOON_S, ask, keyboard
from test_hardware_io import Files, assert_exact, files_in, leave, recording

from tessera.run.machine import HYPERVISOR, Machine
from tessera.run.recorded import Trains, edges, frames

pytestmark = pytest.mark.long
FLOOD_MAC, PULSE_PIN, FLOOD_PIN = bytes([2, 0, 0, 0, 0, 4]), 0, 16
CYCLES_US = 100
FLOOD_REPORTS = r"(?:trains of pulses, 0 failed\n[^\0]*?){7}"  # one every 200 ms of the virtual time


@pytest.fixture(scope="module")
def booted_beside(tmp_path_factory) -> tuple[Machine, Files]:
    """Linux has mounted its file system and keeps a file there; the flood has had over ten bursts, one each 102 ms."""
    files = files_in(Path(tmp_path_factory.mktemp("whole")))
    with recording("hardware-io", vars(files)) as machine:
        machine.expect("linux", r"flash: life 1\n", BOOT_S)
        machine.expect("linux", LINUX_PROMPT, BOOT_S)
        keyboard(machine, "linux")
        ask(machine, "echo kept >/mnt/file; sync; cat /mnt/file", r"\nkept\n")
        machine.expect("wave", r"draw: frame \d+, 0 incomplete lines", SOON_S)
        machine.expect("flood", FLOOD_REPORTS, BOOT_S)
        leave(machine)
        return machine, files


def test_edges_beside_linux_and_the_flood(booted_beside):
    """Each one is in its cycle, a microsecond from the one before, in every train since the boot."""
    machine, files = booted_beside
    asked = Trains.asked(machine.console.text("pulse"))
    assert asked is not None
    assert asked.half == CYCLES_US
    assert assert_exact(machine, files) > 10_000


def test_trains_beside_requests_of_the_flood(booted_beside):
    """The flood's pin and its frames move during trains, so the devices are busy."""
    machine, files = booted_beside
    asked = Trains.asked(machine.console.text("pulse"))
    length = 2 * asked.pulses * asked.half
    levels = edges(files.pins)
    sent = [frame.ns // 10 for frame in frames(files.pcap) if frame.source == FLOOD_MAC]
    for moves in ([time for time, _ in levels[FLOOD_PIN]], sent):
        busy = {
            (time - asked.first) // asked.distance for time in moves if (time - asked.first) % asked.distance < length
        }
        assert len(busy) > 10


def test_the_app_is_a_real_time_app(booted_beside):
    """It is released each millisecond, and meets its deadlines."""
    text = booted_beside[0].console.text("pulse")
    said = re.findall(r"pulse: (\d+) pulses, 0 late, 0 other results; (\d+) releases, 0 misses", text)
    assert len(said) == text.count(" late, ")
    assert int(said[-1][1]) >= 1000


def test_others_beside_linux(booted_beside):
    machine, _ = booted_beside
    texts = {name: machine.console.text(name) for name in machine.console.names}
    assert not any(
        re.search(r"FAILED|no answer|[1-9]\d* (failed|late|incomplete|misses)", text) for text in texts.values()
    )
    assert "ping: 10: " in texts["freertos"]
    assert re.search(r"flood: [1-9]\d+ flash requests, [1-9]\d\d+ frames, [1-9]\d\d+ trains", texts["flood"])
    assert "error:" not in machine.console.text(HYPERVISOR)
