# SPDX-License-Identifier: Apache-2.0
"""EDK2 in a VM, to its shell: `make run SYSTEM=edk2`. Its variables are in the machine's second flash."""

from collections.abc import Iterator

import pytest
from helpers import BOOT_S, SOON_S, VIRTUAL, booted, built, command, wait_for_signs_of_life

from tessera.run.machine import HYPERVISOR, Machine

pytestmark = pytest.mark.long  # half a minute; test_disk.py boots U-Boot
PROMPT = r"^Shell> "
GUID = "6f1d3c5e-0b52-4c8a-9a37-2d5a3e7c1b04"  # a namespace of the test


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    system = built("edk2")
    with booted(system, "edk2", *VIRTUAL) as machine:
        machine.console.shared = True  # its lines have a name, although there is one VM only
        machine.expect("efi", r"RISC-V EDK2 firmware version 2025\.02", BOOT_S)
        wait_for_signs_of_life(machine, system)
        wait_for_shell(machine)
        yield machine


def wait_for_shell(machine: Machine) -> None:
    machine.expect("efi", r"to skip startup\.nsh or any other key to continue\.", BOOT_S)
    machine.send("\r")
    machine.expect("efi", PROMPT, BOOT_S)


def ask(machine: Machine, line: str, answer: str) -> None:
    machine.skip("efi")
    machine.send(f"{line}\r")
    machine.expect("efi", answer, SOON_S)
    machine.expect("efi", PROMPT, SOON_S)


def test_shell(machine):
    ask(machine, "ver", r"^UEFI v2\.70 \(Debian distribution of EDK II")
    ask(machine, "memmap", r"Total Memory: +\d+ MB")


@pytest.mark.long
def test_variables_outlive_a_restart(machine):
    """In the flash, which EDK2 erases and programs."""
    ask(machine, f"setvar fruit -guid {GUID} -nv -bs =0xbeef", r"")
    assert "Unable" not in machine.console.text("efi")
    command(machine, "r")
    machine.expect(HYPERVISOR, r"^efi stopped by the console, starts again$", SOON_S)
    machine.expect("efi", r"UEFI Interactive Shell", BOOT_S)
    wait_for_shell(machine)
    ask(machine, f"setvar fruit -guid {GUID}", r"\bEF BE\b")


def test_reset_of_the_firmware(machine):
    """By the SBI."""
    machine.send("reset\r")
    machine.expect(HYPERVISOR, r"^efi stopped by its own reset, starts again$", SOON_S)
    machine.expect("efi", r"RISC-V EDK2 firmware version", BOOT_S)
