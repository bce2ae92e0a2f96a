# SPDX-License-Identifier: Apache-2.0
"""
The hypervisor for a board with one hart (BOARD_HARTS, docs/porting.md): it takes no lock and executes no atomic access
and no FENCE beyond those listed here, each of which CVA6 with its write-back cache executes in more than 500 cycles.
"""

import re
from functools import cache
from pathlib import Path

import pytest
from helpers import BOOT_S, SOON_S, booted, built, built_with_harts, make, run, wait_for_signs_of_life

from tessera.run.runner import ROOT

# By function: at boot and in a panic; on the way to another VCPU, SC ends the last one's reservation; SBI v0.1's hart
# mask, which the guest may just have stored; FENCE.I for code that was written.
LEFT = {
    ("__text_start", "amoswap"),
    ("late", "fence"),
    ("trap_from_hypervisor", "amoswap"),
    ("trap_run", "sc"),
    ("guest_load", "fence"),
    ("fence_local", "fence.i"),
    ("hostmap_enable", "fence.i"),
    ("boot_patch", "fence.i"),
}
ATOMIC = re.compile(r"\t(amo[a-z]+|lr|sc|fence\.i|fence)(?:\.[a-z.]+)?(?:\t|$)")


@cache
def one_hart() -> Path:
    """The hypervisor for a board that is QEMU's virt with one hart."""
    folder = "build/check/hyp-one-hart"
    make("hyp", "HYP_LIMITS=-DBOARD_HARTS=1U", f"HYP_BUILD={folder}")
    return ROOT / folder / "tessera.bin"


def atomic_accesses(elf: Path) -> set[tuple[str, str]]:
    """The functions and names of all atomic accesses and fences."""
    found, function = set(), ""
    for line in run(["riscv64-unknown-elf-objdump", "-d", str(elf)]).stdout.splitlines():
        if label := re.match(r"[0-9a-f]+ <(.+)>:$", line):
            function = label[1]
        elif access := ATOMIC.search(line):
            found.add((function, access[1]))
    return found


@pytest.mark.parametrize("board", ["cva6-sim", pytest.param("genesys2", marks=pytest.mark.long)])
def test_no_atomic_access(board: str) -> None:
    make("hyp", f"BOARD={board}")
    assert atomic_accesses(ROOT / "build/hyp" / board / "tessera.elf") == LEFT


def test_several_harts_have_more() -> None:
    make("hyp")
    assert len(atomic_accesses(ROOT / "build/hyp/qemu-virt/tessera.elf")) > len(LEFT)


@pytest.mark.parametrize(
    "name",
    ["ipc-one-hart", *(pytest.param(name, marks=pytest.mark.long) for name in ("trio-one-hart", "rt-load", "rt"))],
)
def test_systems(name: str) -> None:
    system = built(name, hypervisor=one_hart())
    with booted(system, f"{name}-one-hart-board") as machine:
        wait_for_signs_of_life(machine, system)


def test_an_image_for_two_harts_is_refused() -> None:
    system = built_with_harts("switch", 2, hypervisor=one_hart())
    with booted(system, "two-harts-on-one") as machine:
        machine.expect("tessera", r"^error: the system image cannot be used: a wrong number of harts or VMs", BOOT_S)
        assert machine.status(SOON_S) != 0
