# SPDX-License-Identifier: Apache-2.0
"""A passed-through device interrupts no more often than its VM's `interrupts-per-ms` says
(tests/guests/regression, storm.c)."""

import re
from pathlib import Path

import pytest
from helpers import HYPERVISOR_BIN, OUT, SOON_S, VIRTUAL, booted, make, mkimage, source_of

from tessera.image import layout
from tessera.run.machine import HYPERVISOR, Machine
from tessera.run.runner import BuiltSystem, load_system
from tessera.run.virtualtime import By, deadlines

# As helpers.TURNS, but switches between the two harts every 5 us, so that the guest can raise
# interrupts fast enough.
TURNS = deadlines(By.TURNS, 5)
STORM_MS = 50
PENDING = 1  # raised before the end, taken after it
DEFAULT = 20
OF_CONSOLE = 100  # interrupts of the console's UART


def system_of(per_ms: int | None, harts: int, role: str = "storm") -> BuiltSystem:
    """The system of storm.dts with that rate, or the default rate for None; `role` is a role of
    storm.c."""
    make("hyp", "build/guests/regression/regression.bin")
    folder = OUT / "systems" / f"{role}-{per_ms}-{harts}"
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "storm.dts"
    text = source_of("storm").read_text(encoding="utf-8").replace("harts = <2>;", f"harts = <{harts}>;")
    text = text.replace("role=storm", f"role={role}").replace(
        'sign-of-life = "regression: storm"', 'sign-of-life = "regression"'
    )
    limited = f'devices = "rtc"; interrupts-per-ms = <{per_ms}>;'
    text = text if per_ms is None else text.replace('devices = "rtc";', limited)
    if harts == 1:  # without the busy VM, so that the storm VM has the hart to itself
        text = re.sub(r"\t\tbusy \{.*?\};\n", "", text, flags=re.DOTALL)
    source.write_text(text, encoding="utf-8")
    return built_from(source, folder)


def built_from(source: Path, folder: Path) -> BuiltSystem:
    done = mkimage(source, "--guests", "build/guests", "--hypervisor", str(HYPERVISOR_BIN), "--out", str(folder))
    assert done.returncode == 0, done.stderr
    return load_system(folder.name, OUT)


def taken(machine: Machine) -> int:
    """The number of interrupts that the guest took in STORM_MS; asserts that none was lost."""
    machine.console.shared = True
    found = machine.expect("storm", rf"^regression: storm: (\d+) raised, (\d+) taken in {STORM_MS} ms$", SOON_S)
    assert found[1] == found[2], "an interrupt was lost"
    return int(found[2])


@pytest.mark.parametrize("per_ms", [1, None, 100])
def test_a_source_interrupts_at_its_rate(per_ms):
    rate = DEFAULT if per_ms is None else per_ms
    with booted(system_of(per_ms, harts=1), f"storm-{per_ms}", *VIRTUAL) as machine:
        assert rate * (STORM_MS - 1) <= taken(machine) <= rate * STORM_MS + layout.IRQ_BURST + PENDING


def test_without_a_limit_interrupts_are_unlimited():
    """Shows that the other tests measure the limit and not the source's own rate."""
    with booted(system_of(0, harts=1), "storm-0", *VIRTUAL) as machine:
        assert taken(machine) > 10 * DEFAULT * STORM_MS


def test_claimed_interrupt_is_completed_at_restart():
    """Of a claimed source: the guest gets the interrupt again after each restart."""
    with booted(system_of(None, harts=2, role="owe"), "owe") as machine:
        for _ in range(3):
            machine.expect("storm", r"^regression: owe: source 11 was claimed$", SOON_S)
            machine.expect(HYPERVISOR, r"^storm stopped by its own reset, starts again( in \d+ ms)?$", SOON_S)


def external_interrupts(per_ms: int | None) -> int:
    """External interrupts of the boot hart during a storm on two harts, from QEMU's log; includes
    the console's."""
    label = f"storm-two-{per_ms}"
    log = OUT / f"{label}.int"
    with booted(system_of(per_ms, harts=2), label, *VIRTUAL, *TURNS, "-d", "int", "-D", str(log)) as machine:
        taken(machine)
    return len(re.findall(r"hart:0,.* desc=s_external", log.read_text(encoding="utf-8")))


def test_limit_protects_the_boot_hart():
    """The boot hart takes all external interrupts, also while the storm guest runs on the other
    hart."""
    assert external_interrupts(0) > 10 * DEFAULT * STORM_MS
    assert external_interrupts(None) <= DEFAULT * STORM_MS + layout.IRQ_BURST + PENDING + OF_CONSOLE
