# SPDX-License-Identifier: Apache-2.0
"""Overlays of the fabric over its RTL: what the VMs see of one that is applied, removed, and refused by the port."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers import BOOT_S, OUT, SOON_S, boot_command, built
from test_accelerators_faults import flip, with_edited_bitstream

from tessera.bench.collect import MEASUREMENTS, Bench
from tessera.bench.metrics import read_metrics
from tessera.run.machine import HYPERVISOR, Machine
from tessera.run.runner import BuiltSystem, Qemu

APPLIED, REMOVED, NONE = 2, 0, 255
LCFG = 3
STATUS = re.compile(r"^overlay: (apply|remove): state (\d+), failed (\d+), region (\d+), ticks ([\d ]+)$", re.MULTILINE)


def finished(label: str, image: BuiltSystem) -> tuple[Machine, list[tuple[str, int, int, int]]]:
    """Runs a system until its overlay has come and gone; returns what the controlling VM has read at the end of each
    transaction: what it was, state, failed phase, region."""
    with Machine(boot_command(image), image.names, OUT / f"{label}.log") as machine:
        machine.expect("control", r"^overlay: done$", BOOT_S)
        machine.expect("other", r"^accel: \d+ jobs, 0 wrong$", SOON_S)
        found = [
            (what, int(state), int(failed), int(region))
            for what, state, failed, region, _ in STATUS.findall(machine.console.text("control"))
        ]
        return machine, found


def test_a_device_comes_and_goes_with_its_overlay():
    """Its VM's first life begins without the device, the second with it; a third VM has the region in between."""
    machine, found = finished("overlay", built("overlay"))
    assert found == [("apply", APPLIED, NONE, NONE), ("remove", REMOVED, NONE, NONE)] * 4
    said = re.findall(r"^user: (.*)$", machine.console.text("user"), re.MULTILINE)
    comes, goes = "the device is there, 0 words wrong", "the device is gone"
    assert said[:9] == ["status disabled", comes, "status okay", *[comes, goes] * 3], said
    assert "error" not in machine.console.text(HYPERVISOR)
    jobs = [
        int(count) for count in re.findall(r"^accel: (\d+) jobs, 0 wrong$", machine.console.text("other"), re.MULTILINE)
    ]
    assert jobs[-1] > jobs[0] > 0


def test_a_bitstream_that_the_port_refuses():
    """Nobody but the controlling VM and the console sees the overlay; the VM that uses the region goes on."""
    image = with_edited_bitstream("overlay", "5-2.bin", "refused", flip(4000), signed=True)
    machine, found = finished("overlay-refused", image)
    assert found == [("apply", REMOVED, LCFG, 2)] * 4, found
    assert re.findall(r"^user: (.*)$", machine.console.text("user"), re.MULTILINE) == ["status disabled"]
    said = machine.console.text(HYPERVISOR)
    assert said.count("error: overlay cipher: LCFG failed for region 2") == 4
    assert machine.console.text("control").count("overlay: remove: error -10") == 4


@pytest.mark.long
def test_the_framework_takes_a_small_share_of_an_overlay(
    qemu: Qemu, build_system: Callable[..., BuiltSystem], tmp_path: Path
) -> None:
    """By the hypervisor's clock, of a bitstream as large as the paper's: goals of tools/bench-metrics.tsv."""
    for name in ("overlay-large", "overlay-small"):
        build_system(name)
    bench, metrics = Bench(qemu, tmp_path), read_metrics()
    MEASUREMENTS["overlays"](bench)
    found = {taken.figure.metric: taken.figure.median for taken in bench.taken}
    assert metrics["vdm.phase.share"].met(found["vdm.phase.share"])
    assert metrics["vdm.phase.total"].met(found["vdm.phase.total"])
    assert found["vdm.phase.small.total"] < 170 and found["vdm.phase.lcfg"] > 5_900_000 / 4 / 100
