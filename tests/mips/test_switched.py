# SPDX-License-Identifier: Apache-2.0
"""
State that a switch between VCPUs could lose, or show to another VM (tests/guests/switched): the same
tests natively and beside a VM that changes that state without end.
"""

import re

import pytest
from conftest import TARGETS, make, run
from random_guest import HERE, assemble

from tessera.run import hosttime
from tessera.run.runner import ROOT, iasim

LINE = re.compile(r"^switched: (\w+): (\d+) tried, (\d+) wrong, first (0x[0-9a-f]+)$", re.MULTILINE)
TESTS = re.findall(
    r'^    \{"(\w+)", ', (ROOT / "tests/guests/switched/switched.c").read_text(encoding="utf-8"), re.MULTILINE
)
VM_ONLY = "absent_registers_hold_nothing"


def check(printed: str, native: bool) -> None:
    found = {name: (int(tried), int(wrong), first) for name, tried, wrong, first in LINE.findall(printed)}
    assert list(found) == TESTS, printed
    for name, (tried, wrong, first) in found.items():
        assert tried > 0 or (native and name == VM_ONLY), name
        assert wrong == 0, f"{name}: {wrong} of {tried} wrong, the first: {first}"


@pytest.mark.parametrize("board", TARGETS)
def test_state_across_switches(board: str) -> None:
    done = run("switched", board, limit="150M")
    check(done.text("switched"), native=False)
    assert "other stopped" not in done.printed


def test_the_same_tests_pass_natively() -> None:
    make("guests-mips")
    image = ROOT / "build" / "guests-mips" / "switched" / "switched.elf"
    done = hosttime.run([iasim(), "run", "--board", "generic", "--limit", "100M", str(image)], 60)
    check(done.stdout.decode().replace("\r", ""), native=True)


@pytest.mark.parametrize("board", TARGETS)
def test_a_reset_starts_a_stopped_count(board: str) -> None:
    assemble(HERE / "reset_guest.S", ROOT / "build" / "guests-mips" / "reset" / "reset.bin")
    printed = run("reset", board, limit="10M").text("reset").split()
    assert len(printed) > 10 and set(printed) == {"R"}, printed


@pytest.mark.long
@pytest.mark.parametrize("board", TARGETS)
def test_a_stopped_count_never_meets_compare(board: str) -> None:
    """The hardware's Count takes more than 2^32 steps, one an instruction, without a switch between VCPUs."""
    assemble(HERE / "stopped_guest.S", ROOT / "build" / "guests-mips" / "stopped" / "stopped.bin")
    done = run("stopped", board, "--model", "count-divider=1", limit="4600M")
    assert done.text("stopped").split() == ["S"]
    assert done.executed("guest 1") > 1 << 32 and done.entered("guest 1") < 100, done.remarks
