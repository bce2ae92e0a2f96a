# SPDX-License-Identifier: Apache-2.0
"""
What launching and deleting apps on a hart costs another VM's app that runs there (tests/guests/launches),
in virtual time: on one hart in instructions, from another hart in interrupts.
"""

import re

from helpers import GUESTS, NEWER_QEMU, OUT, SOON_S, TURNS, VIRTUAL, booted, built_with_harts, run

from tessera.run.machine import Machine

ROUNDS = 4
JOBS = 30  # minimum number of the victim's jobs in ROUNDS
LINE = 10  # jobs per line that the victim prints
_JOBS = re.compile(r"^launches: (\d+) jobs, (\d+) to (\d+) instructions$", re.MULTILINE)
# M-mode software interrupt.
_BY_ANOTHER_HART = re.compile(r"hart:0, async:1, cause:0*3, epc:0x([0-9a-f]+)")


def jobs_after(machine: Machine, *said: str) -> tuple[int, int]:
    """The minimum and maximum instructions of a job so far, after the attacker has printed the
    lines `said`."""
    for line in said:
        machine.expect("attacker", line, SOON_S)
    machine.skip("victim")
    machine.expect("victim", _JOBS.pattern, SOON_S)
    found = [(int(low), int(high)) for _, low, high in _JOBS.findall(machine.console.text("victim"))]
    return min(low for low, _ in found), max(high for _, high in found)


def test_launches_on_the_same_hart_do_not_use_another_apps_budget() -> None:
    with booted(built_with_harts("launches", 1), "launches", *VIRTUAL) as machine:
        least, most = jobs_after(machine, r"^launches: rested$")
        assert least == most
        _, most = jobs_after(machine, r"^launches: far: \d{3,} launched$")
        assert most == least
        _, most = jobs_after(machine, r"^launches: soon: \d{3,} launched$")
        assert most == least


def code_of_job() -> range:
    """The address range of the function that the victim's app executes in each job."""
    lines = run(["riscv64-unknown-elf-nm", "-S", str(GUESTS / "launches" / "launches.elf")]).stdout.splitlines()
    address, size = next(line.split()[:2] for line in lines if line.endswith(" job"))
    return range(int(address, 16), int(address, 16) + int(size, 16))


def interrupts_and_jobs(manner: str) -> tuple[int, int]:
    """
    How often the attacker on the other hart interrupted a job of the victim, and the number of
    jobs. Uses QEMU 10: under 7.2's -icount the other hart makes no progress while the victim's hart
    is busy.
    """
    log = OUT / f"launches-{manner}.int"
    changes = f'vms {{ attacker {{ bootargs = "role=attacker only={manner}"; }}; }};'
    traps = ("-d", "int", "-D", str(log))
    system = built_with_harts("launches", 2, changes)
    with booted(system, f"launches-{manner}", *VIRTUAL, *TURNS, *traps, qemu=NEWER_QEMU) as machine:
        for _ in range(ROUNDS):
            machine.expect("attacker", rf"^launches: {manner}: \d{{3,}} launched$", SOON_S)
        jobs = sum(int(number) for number, _, _ in _JOBS.findall(machine.console.text("victim")))
    job = code_of_job()
    found = _BY_ANOTHER_HART.findall(log.read_text(encoding="latin-1"))
    return sum(int(address, 16) in job for address in found), jobs


def test_launches_from_another_hart_for_later_interrupt_no_job() -> None:
    interrupts, jobs = interrupts_and_jobs("far")
    assert jobs >= JOBS
    assert interrupts == 0


def test_launches_from_another_hart_for_soon_interrupt_a_job_once() -> None:
    """Only one launch per VM may interrupt the hart until no app is ready there."""
    interrupts, jobs = interrupts_and_jobs("soon")
    assert JOBS / 2 <= interrupts <= jobs + LINE
