# SPDX-License-Identifier: Apache-2.0
"""
The minimal core that the hypervisor supports: without Sstc, htinst and all other optional features.
QEMU emulates such a core only in part; further features are hidden from the hypervisor by the build
(WITHOUT=).
"""

import re

import pytest
from helpers import (
    BOOT_S,
    EVERY_FEATURE,
    GUESTS,
    SOON_S,
    assert_well,
    booted,
    built,
    run,
    seconds_up,
    tell,
    wait_for_signs_of_life,
)

from tessera.run.machine import HYPERVISOR

# Features that the hypervisor itself uses. The others only concern guests: hiding all of them at
# once is sufficient, and only `make soak` hides them one by one.
USED_BY_HYPERVISOR = ("sstc", "htinst", "htimedelta", "envcfg")
FEATURES = [
    pytest.param(feature, marks=() if feature in USED_BY_HYPERVISOR else pytest.mark.long)
    for feature in EVERY_FEATURE.split(",")
]
WELL_S = 4  # seconds for which FreeRTOS must pass its self-checks


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
def test_demo_on_the_minimal_core(label, cpu, without):
    """All three guests boot, Linux executes commands, and FreeRTOS passes its self-checks
    meanwhile."""
    system = built("demo", without)
    with booted(system, f"minimal-{label}", cpu=cpu) as machine:
        first = machine.expect(HYPERVISOR, r"^Tessera on qemu-virt: .*\n", BOOT_S)
        assert "Sstc" not in first[0]
        wait_for_signs_of_life(machine, system)
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
def test_small_guests_without_a_feature(feature):
    """
    Each feature alone, then all. The guests are compiled with compressed instructions and use some
    of them to access emulated devices; with htinst hidden the hypervisor must fetch these
    instructions.
    """
    system = built("trio-one-hart", feature)
    with booted(system, f"without-{'all' if feature == EVERY_FEATURE else feature}") as machine:
        wait_for_signs_of_life(machine, system)
        tell(machine, "first", "id")
        machine.expect("first", r"^misbehave: HCALL_INFO_GET_ID error 0 value 0, in assembly 0$", SOON_S)
        tell(machine, "first", "read")
        machine.expect("first", r"^misbehave: caught exception 5 stval 0x1f000000 ", SOON_S)
        tell(machine, "second", "reset")
        machine.expect("second", r"^misbehave: alive 1$", SOON_S)
        # A bit of henvcfg enables Sstc for the guest.
        no_timer = {*feature.split(",")} & {"sstc", "envcfg"}
        assert ("by SBI timer" in machine.console.text("freertos")) == bool(no_timer)
        assert_well(machine)
        assert "error:" not in machine.console.text(HYPERVISOR)


@pytest.mark.parametrize("guest", ["misbehave", "freertos"])
def test_the_small_guests_have_compressed_device_accesses(guest):
    """A precondition of test_small_guests_without_a_feature with htinst hidden."""
    objdump = ["riscv64-unknown-elf-objdump", "-d", "-M", "no-aliases", str(GUESTS / guest / f"{guest}.elf")]
    for function, instruction in (("plic_claim", "c.lw"), ("plic_complete", "c.sw")):
        assert re.search(rf"\b{instruction}\b", run([*objdump, f"--disassemble={function}"]).stdout), function
