# SPDX-License-Identifier: Apache-2.0
"""A short run of random calls next to a witness VM (docs/fuzzing.md); `make fuzz` runs for
MINUTES=."""

import dataclasses
import re

import pytest
from helpers import HYPERVISOR_BIN, OUT, make
from mutants import Mutant, asked_for, hypervisor_of

from tessera.bench.metrics import read_metrics
from tessera.bench.worst import USABLE_STACK, Inspection
from tessera.run.machine import HYPERVISOR, Console
from tessera.run.runner import find_qemu
from tessera.verify.fuzz import (
    ATTACKER,
    CLIENT,
    KINDS,
    WITNESS,
    FuzzError,
    Log,
    Options,
    Slot,
    attack,
    console_error,
    report,
)

SEED, MORE_SEEDS = 1, (2, 3)
CALLS = 30_000
ACCEL_CALLS = 500
ACCEL_SEEDS = 8
MUTANT_S = 100  # for each seed, until the missing check shows
GUESTS = [f"build/guests/{name}/{name}.bin" for name in ("fuzz", "leak", "freertos")]


@pytest.fixture(scope="module", autouse=True)
def _parts():
    make("hyp", *GUESTS)


@pytest.mark.parametrize(
    ("seed", "virtual"),
    [
        (SEED, True),
        *(pytest.param(seed, True, marks=pytest.mark.long) for seed in MORE_SEEDS),
        pytest.param(SEED, False, marks=pytest.mark.long),
    ],
)
def test_random_calls_disturb_no_other_vm(seed, virtual):
    """The last parameter runs on two harts in host time, which takes longer and is not
    repeatable."""
    options = Options(seed, CALLS if virtual else CALLS // 2, virtual)
    log = attack(options, find_qemu())
    print(report(options, log, 0))
    assert log.calls >= options.calls
    assert log.lives > 1 or not virtual
    assert log.spins > 0
    # For each kind of call some succeed and some are refused; otherwise the calls would test
    # little.
    assert all(log.made(kind) > log.accepted(kind) > 0 for kind in range(len(KINDS)))


@pytest.mark.parametrize("calls", [ACCEL_CALLS, pytest.param(24 * ACCEL_CALLS, marks=pytest.mark.long)])
def test_random_calls_with_accelerators(calls):
    """Beside a VM whose jobs share the region of the attacker's devices at a higher priority. A seed
    ends early when a job overwrites the attacker's log."""
    make("fuzz-fabric")
    made, saw = 0, []
    for seed in range(SEED, SEED + ACCEL_SEEDS):
        options = Options(seed, calls - made, accelerators=True)
        log = attack(options, find_qemu(), lambda machine: saw.append(machine.console.text(CLIENT)))
        print(report(options, log, 0))
        made += log.calls
        if made >= calls:
            break
    assert made >= calls
    jobs = [int(count) for count in re.findall(r"^accel: (\d+) jobs, 0 wrong$", "".join(saw), re.MULTILINE)]
    assert len(jobs) > 2 and max(jobs) > jobs[0]


@pytest.mark.parametrize("calls", [CALLS // 3, pytest.param(2 * CALLS, marks=pytest.mark.long)])
def test_random_calls_meet_the_latency_bound_of_attacks(calls):
    """Also checks that the stack gets no deeper than under attack."""
    qemu = find_qemu()
    inspection = Inspection(qemu, HYPERVISOR_BIN.with_suffix(".elf"), OUT / "fuzz-worst")
    worst = []
    options = Options(4, calls, arguments=tuple(inspection.arguments))
    log = attack(options, qemu, lambda machine: worst.append(inspection.end(machine)))
    assert log.calls >= options.calls
    assert len(worst[0].sections) > 20
    assert worst[0].sections[0].most <= read_metrics()["riscv.irqoff.max"].goal, worst[0].sections[0]
    assert 256 < worst[0].stack <= USABLE_STACK // 2


def _log(next_call=5, made=5, accepted=2):
    slot = Slot(next_call, (made,) * len(KINDS), (accepted,) * len(KINDS), 0, 0, (0,) * 8)
    return Log((slot, *(Slot(0, (0,) * len(KINDS), (0,) * len(KINDS), 0, 0, (0,) * 8),) * 5), 1, 1, 0)


@pytest.mark.parametrize("field", ["next_call", "made", "accepted"])
@pytest.mark.parametrize("value", [0, 1 << 62])
def test_overwritten_log_does_not_follow(field, value):
    assert not _log(**{field: value}).follows(_log())


def test_log_with_further_calls_follows():
    assert _log(next_call=9, made=8, accepted=7).follows(_log())
    assert _log().follows(_log())


def _shown(text):
    """Returns what the console said of errors after each character of the text."""
    console = Console([ATTACKER, WITNESS, CLIENT, "freertos"])
    said = []
    for character in text:
        console.feed(character)
        said.append(console_error(console))
    return said


def test_beginning_of_a_line_about_the_attacker_is_no_error():
    assert not any(_shown(f"{HYPERVISOR} | error: attacker: the job of probe in region 0 has failed\n"))


@pytest.mark.parametrize(
    "line",
    [
        f"{HYPERVISOR} | error: client: the job of qam16 in region 0 has failed",
        f"{HYPERVISOR} | witness stopped by its watchdog",
        f"{CLIENT} | accel: 3 jobs, 1 wrong",
        "freertos | self-check FAILED",
    ],
)
def test_finished_line_about_another_vm_is_an_error(line):
    assert _shown(f"{line}\n")[-1]


_NO_DEVICE = "return dev != NULL && (dev->widths >> width_log2 & 1U) != 0 ? dev : NULL;"
_NO_HART = """    if (hart >= vm->nvcpus) {
        return SBI_RET(HCALL_ERR_INVALID_PARAM);
    }
    if (!memmap"""
HOLES = [
    Mutant("range-end", "core/include/memmap.h", "&& size <= (gpa_t)r->size - offset;", "&& size != 1;"),
    Mutant("range-start", "core/include/memmap.h", "return offset < (gpa_t)r->size && ", "return "),
    Mutant("message-size", "ipc/messages.c", "if (size - 1U >= IPC_MESSAGE_MAX) {", "if (size == 0) {"),
    Mutant("app-id", "rt/apps.c", "return id < vm->total - vm->nvcpus ?", "return id != RT_SELF ?"),
    Mutant("no-device", "arch/riscv/exit.c", _NO_DEVICE, "return dev;"),
    Mutant("no-hart", "arch/riscv/sbi_hsm.c", _NO_HART, "    if (!memmap"),
]


@asked_for
@pytest.mark.parametrize("mutant", HOLES, ids=lambda mutant: mutant.name)
def test_mutant_without_a_check_is_detected(mutant):
    options = Options(1, 400_000, hypervisor=hypervisor_of(mutant), seconds=MUTANT_S)
    with pytest.raises(FuzzError) as failure:
        for seed in range(1, 5):
            attack(dataclasses.replace(options, seed=seed), find_qemu())
    said = str(failure.value)
    print(mutant.name, said)
    assert re.search(r"^seed \d+: ", said)
    assert "call " in said
    assert "again: make fuzz SEED=" in said
