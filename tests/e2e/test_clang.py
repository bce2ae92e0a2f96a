# SPDX-License-Identifier: Apache-2.0
"""The hypervisor compiled by clang runs the guests."""

import pytest
from helpers import (
    SOON_S,
    assert_undisturbed,
    booted,
    built,
    command,
    hypervisor_by,
    make,
    states,
    tell,
    wait_for_signs_of_life,
)

from tessera.run.machine import HYPERVISOR
from tessera.run.runner import ROOT

pytestmark = pytest.mark.long  # builds; `make check` compiles with clang, too


def test_small_guests_on_a_hypervisor_built_by_clang():
    system = built("trio", hypervisor=hypervisor_by("clang"))
    with booted(system, "clang") as machine:
        wait_for_signs_of_life(machine, system)
        tell(machine, "first", "fatal")
        machine.expect(HYPERVISOR, r"^first stopped by a fatal trap, starts again$", SOON_S)
        machine.expect("first", r"^misbehave: alive 0$", SOON_S)
        tell(machine, "second", "reset")
        machine.expect("second", r"^misbehave: alive 0$", SOON_S)
        assert [row["starts"] for row in states(machine).values()] == ["2", "2", "1"]
        assert_undisturbed(machine)
        command(machine, "q")
        assert machine.status(SOON_S) == 0


def test_changed_flags_or_compiler_rebuild():
    folder = ROOT / "build" / "check" / "hyp-flags"

    def made(*words):
        make("hyp", f"HYP_BUILD={folder.relative_to(ROOT)}", *words)
        return (folder / "tessera.bin").read_bytes()

    usual = made()
    others = [made("HYP_OPT=-O1"), made("HYP_CC=clang")]
    assert len({usual, *others}) == 3
    assert made() == usual
