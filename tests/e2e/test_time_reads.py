# SPDX-License-Identifier: Apache-2.0
"""
How often a VM switch at the end of a quantum calls the firmware, on a hart without Sstc and time CSR, as CVA6's (the
firmware hides the CSR): on a board that says so (BOARD_MTIME), time is read once, by a load if the firmware allows it.
"""

from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from helpers import (
    BOOT_S,
    HYPERVISOR_BIN,
    OUT,
    SOON_S,
    VIRTUAL,
    assert_well,
    booted,
    built,
    built_with_harts,
    make,
    wait_for_signs_of_life,
)
from test_firmware import NO_SSTC, SHORT, firmware

from tessera.bench import passes
from tessera.image.elf import Elf
from tessera.run.machine import HYPERVISOR
from tessera.run.runner import ROOT, find_qemu

# Calls of the firmware in a switch; docs/porting.md shows them.
READS = {"time-csr": 2, "emulated": 1, "loaded": 0}
SETTINGS = {"time-csr": 1, "emulated": 1, "loaded": 1}


@cache
def with_mtime() -> Path:
    """The hypervisor for a board that is QEMU's virt without the time CSR."""
    folder = "build/check/hyp-mtime"
    make("hyp", "HYP_LIMITS=-DBOARD_MTIME=0x0200bff8UL", f"HYP_BUILD={folder}")
    return ROOT / folder / "tessera.bin"


def reads_and_settings(label: str, hide: str, hypervisor: Path) -> Counter[tuple[int, int]]:
    """The numbers of reads of time and of set_timer in the firmware for each switch after a timer's interrupt."""
    system, image = built_with_harts("switch", 1, SHORT, hypervisor), firmware(hide)
    symbols, ours = Elf(image.with_suffix(".elf").read_bytes()), Elf(hypervisor.with_suffix(".elf").read_bytes())
    names = {symbols.symbol(f"trap_{place}"): place for place in ("rdtime", "set_timer", "timer")}
    names |= {ours.symbol("reschedule"): "reschedule", ours.symbol("loaded"): "loaded"}
    out, no_device = OUT / f"time-reads-{label}.txt", passes.Device(0, 0)
    plugin = passes.arguments(find_qemu(cpu_flags=NO_SSTC), OUT, symbols.symbol("_start"), names, no_device, out)
    with booted(system, f"time-reads-{label}", "-bios", str(image), *VIRTUAL, *plugin, cpu=NO_SSTC) as machine:
        wait_for_signs_of_life(machine, system)
    seen: list[str] = []
    switches: Counter[tuple[int, int]] = Counter()
    for event in passes.read_passes(out, names, no_device):
        seen = [] if event.what == "timer" else [*seen, event.what]
        # The other VM is loaded at once: neither sleep nor work in between.
        if event.what == "loaded" and seen.count("reschedule") == 1 and "timer" not in seen:
            switches[seen.count("rdtime"), seen.count("set_timer")] += 1
    return switches


@pytest.mark.parametrize(
    ("label", "hide", "hypervisor"),
    [
        ("time-csr", "time", None),
        pytest.param("emulated", "time mtime", with_mtime, marks=pytest.mark.long),
        pytest.param("loaded", "time", with_mtime, marks=pytest.mark.long),
    ],
)
def test_reads_of_a_switch(label: str, hide: str, hypervisor) -> None:
    switches = reads_and_settings(label, hide, hypervisor() if hypervisor else HYPERVISOR_BIN)
    print(label, switches)
    # In few of them the guests also read time or set their own timer between two measurements.
    ((usual, number),) = switches.most_common(1)
    assert usual == (READS[label], SETTINGS[label])
    assert number > 0.9 * switches.total() > 100


@pytest.mark.long
@pytest.mark.parametrize("hide", ["time", "time mtime"])
def test_guests_run(hide: str) -> None:
    system = built("hello", hypervisor=with_mtime())
    with booted(system, f"time-{hide.replace(' ', '-')}", "-bios", str(firmware(hide)), cpu=NO_SSTC) as machine:
        machine.expect(HYPERVISOR, r"^Tessera on qemu-virt: ", BOOT_S)
        wait_for_signs_of_life(machine, system, SOON_S)
        assert_well(machine)
