# SPDX-License-Identifier: Apache-2.0
"""The emulated UART, PLIC and RTC read as QEMU's after the same random accesses (tests/guests/registers), but for the
differences that docs/virtual-platform.md lists, which the guest avoids."""

import re
from itertools import zip_longest

import pytest
from helpers import BOOT_S, VIRTUAL, booted, built_with_harts

from tessera.run.machine import Machine
from tessera.run.runner import find_qemu, native_command

GUEST = "registers"
ACCESSES, LONG_ACCESSES = 2_000, 10_000
SEED, LONG_SEEDS = 1, range(2, 10)
SHOWN = 30  # accesses before the first difference
CLOCK = ("-rtc", "clock=vm")  # the RTC follows the machine's virtual time
ENTRY = re.compile(r"^\d+\.\d+ [rw] [0-9a-f]+ [0-9a-f]+$", re.MULTILINE)


def log_of(machine: Machine) -> list[str]:
    machine.expect(GUEST, r"^registers: end$", BOOT_S)
    return ENTRY.findall(machine.console.text(GUEST))


def difference(native: list[str], virtual: list[str]) -> str:
    """The first access that reads another value, and those before it; empty if there is none."""
    for n, (one, other) in enumerate(zip_longest(native, virtual)):
        if one != other:
            before = "\n".join(native[max(0, n - SHOWN) : n])
            return f"{before}\nnatively {one}, in the VM {other}"
    return ""


@pytest.mark.parametrize(
    ("seed", "count"),
    [(SEED, ACCESSES), *(pytest.param(seed, LONG_ACCESSES, marks=pytest.mark.long) for seed in LONG_SEEDS)],
)
def test_devices_read_as_natively(seed: int, count: int):
    system = built_with_harts(GUEST, 1, f'vms {{ {GUEST} {{ bootargs = "seed={seed} count={count}"; }}; }};')
    with booted(system, f"registers-{seed}", *VIRTUAL) as machine:
        machine.console.shared = True  # lines have the VM's name
        virtual = log_of(machine)
    with Machine([*native_command(find_qemu(), system, GUEST), *VIRTUAL, *CLOCK], [GUEST]) as machine:
        native = log_of(machine)
    assert len(native) > count
    found = difference(native, virtual)
    if found:
        pytest.fail(found, pytrace=False)
