# SPDX-License-Identifier: Apache-2.0
"""What launching and deleting apps on a hart costs another VM's app that runs there (guests/launches)."""

import re

from lab import SOON_S, VIRTUAL, booted, built

from tessera.machine import Machine

# Instructions of an interrupt by another hart: the firmware's way to it and ours, with the pick of the same app again.
KICK = 900
_JOBS = re.compile(r"^launches: \d+ jobs, (\d+) to (\d+) instructions$", re.MULTILINE)


def jobs_after(machine: Machine, *said: str) -> tuple[int, int]:
    """The least and the most instructions of a job, of all so far, once the attacker has said this."""
    for line in said:
        machine.expect("attacker", line, SOON_S)
    machine.skip("victim")
    machine.expect("victim", _JOBS.pattern, SOON_S)
    found = [(int(low), int(high)) for low, high in _JOBS.findall(machine.console.text("victim"))]
    return min(low for low, _ in found), max(high for _, high in found)


def test_launches_on_the_same_hart_take_nothing_of_anothers_budget() -> None:
    """From another hart: tests/unit/test_rt_cases.py counts the interrupts."""
    system = "launches-one-hart"
    with booted(built(system), system, *VIRTUAL) as machine:
        least, most = jobs_after(machine, r"^launches: rested$")
        assert least == most
        _, most = jobs_after(machine, r"^launches: far: \d{3,} launched$")
        assert most == least
        _, most = jobs_after(machine, r"^launches: soon: \d{3,} launched$")
        assert most <= least + KICK
