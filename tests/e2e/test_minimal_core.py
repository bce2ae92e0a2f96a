# SPDX-License-Identifier: Apache-2.0
"""
The least core there is to run on: without Sstc, without htinst, without anything that a core may leave out. As far as
QEMU can be made to look like it: by its own flags, and by features that the hypervisor is told to believe missing.
"""

import re

import pytest
from helpers import (
    BOOT_S,
    EVERY_FEATURE,
    GUESTS,
    SOON_S,
    assert_well,
    await_life,
    booted,
    built,
    run,
    seconds_up,
    tell,
)

from tessera.machine import HYPERVISOR

# What the hypervisor itself may have to do without. The others are for guests alone; all of them at once are enough
# but for `make soak`.
ITS_OWN = ("sstc", "htinst", "htimedelta", "envcfg")
FEATURES = [
    pytest.param(feature, marks=() if feature in ITS_OWN else pytest.mark.long) for feature in EVERY_FEATURE.split(",")
]
WELL_S = 20  # seconds that FreeRTOS, which checks itself, has to stay well


def assert_stays_well(machine):
    enough = machine.wait_until(lambda: max(seconds_up(machine), default=0) >= WELL_S, BOOT_S)
    assert enough, machine.console.text("freertos")[-1500:]
    assert_well(machine)
    assert "error:" not in machine.console.text(HYPERVISOR)


@pytest.mark.parametrize(
    ("label", "cpu", "without"),
    [
        pytest.param("no-sstc", "sstc=false", "", marks=pytest.mark.long),
        ("nothing-optional", None, EVERY_FEATURE),
    ],
)
def test_the_demo_on_the_least_core(label, cpu, without):
    """All three guests get to work, Linux is used, and FreeRTOS stays well meanwhile."""
    system = built("demo", without)
    with booted(system, f"least-{label}", cpu=cpu) as machine:
        first = machine.expect(HYPERVISOR, r"^Tessera on qemu-virt: .*\n", BOOT_S)
        assert "Sstc" not in first[0]
        await_life(machine, system)
        assert "tick 1000 Hz by SBI timer" in machine.console.text("freertos")
        machine.expect("linux", r"^linux:~# ", BOOT_S)
        machine.skip("linux")
        machine.send("sleep 2; grep -m1 ^isa /proc/cpuinfo; uname -m\r")
        isa = machine.expect("linux", r"^isa\s*: (\S+)\n", BOOT_S)
        machine.expect("linux", r"^riscv64$", BOOT_S)
        hidden = without.split(",") if without else ["sstc"]
        assert not {*isa[1].split("_")} & {*hidden}, isa[1]
        assert_stays_well(machine)


@pytest.mark.parametrize("feature", [*FEATURES, EVERY_FEATURE])
def test_small_guests_without(feature):
    """
    Each feature alone, then all. The guests are compiled with compressed instructions, which is what their accesses to
    the emulated UART are in part; with htinst hidden the hypervisor has to fetch those itself.
    """
    system = built("trio-one-hart", feature)
    with booted(system, f"without-{'all' if feature == EVERY_FEATURE else feature}") as machine:
        await_life(machine, system)
        tell(machine, "first", "id")
        machine.expect("first", r"^faulty: HCALL_INFO_GET_ID error 0 value 0, in assembly 0$", SOON_S)
        tell(machine, "first", "read")
        machine.expect("first", r"^faulty: caught exception 5 stval 0x1f000000 ", SOON_S)
        tell(machine, "second", "reset")
        machine.expect("second", r"^faulty: alive 1$", SOON_S)
        no_timer = {*feature.split(",")} & {"sstc", "envcfg"}  # a guest has Sstc by a bit of henvcfg
        assert ("by SBI timer" in machine.console.text("freertos")) == bool(no_timer)
        assert_well(machine)
        assert "error:" not in machine.console.text(HYPERVISOR)


@pytest.mark.parametrize("guest", ["faulty", "freertos"])
def test_the_small_guests_have_compressed_device_accesses(guest):
    """Lest the test above, where htinst is hidden, means less than it says."""
    objdump = ["riscv64-unknown-elf-objdump", "-d", "-M", "no-aliases", str(GUESTS / guest / f"{guest}.elf")]
    for function, instruction in (("plic_claim", "c.lw"), ("plic_complete", "c.sw")):
        assert re.search(rf"\b{instruction}\b", run([*objdump, f"--disassemble={function}"]).stdout), function
