# SPDX-License-Identifier: Apache-2.0
"""
The hostile guest's attacks (guests/faults), each beside a guest that computes and one that takes interrupts;
docs/isolation.md says what is shown by that. The table that they leave in build/e2e/faults is printed at the end.
"""

from collections.abc import Iterator

import pytest
from faultlab import LATE_TICKS, PRINTED_TICKS, Arenas, Attack, Lateness, menu
from lab import SOON_S

from tessera.bench_metrics import read_metrics
from tessera.bench_worst import ROOM

MENU = menu()
UNTIMED = {"vector_unmapped"}  # the hart goes round without an instruction: counted time would stand still
# Where the machine has no Sstc, timers are the hypervisor's; and what else depends on what the machine has.
EMULATED = {
    "csr_reads", "csr_writes", "csr_reads_user", "csr_writes_user", "timer_storm", "call_flood", "state_left",
    "sbi_random", "wfi_storm", "sleep_forever", "loop_on_every_hart", "hart_storm", "reset_forever",
}  # fmt: skip


# What the attacker's two harts do to each other and to the hypervisor while both run.
AT_A_TIME = {
    "tables_changing", "code_gone_user", "remote_fences", "hart_storm", "fence_storm", "ipi_storm", "ipc_flood",
    "loop_on_every_hart", "hcall_random", "sbi_random", "plic_storm", "reset_forever",
}  # fmt: skip


def arenas(label: str, **how: object) -> Iterator[Arenas]:
    machines = Arenas(label, patience=SOON_S, **how)
    yield machines
    machines.close()


@pytest.fixture(scope="module")
def counted() -> Iterator[Arenas]:
    yield from arenas("faults")


@pytest.fixture(scope="module")
def without_sstc() -> Iterator[Arenas]:
    yield from arenas("faults-no-sstc", cpu="sstc=false")


@pytest.fixture(scope="module")
def free_running() -> Iterator[Arenas]:
    yield from arenas("faults-untimed", counted=False)


@pytest.fixture(scope="module")
def two_harts() -> Iterator[Arenas]:
    yield from arenas("faults-two", name="faults-two", counted=False)


def some(attacks: list[Attack]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("attack", attacks, ids=lambda attack: attack.name)


def test_there_are_enough():
    assert len(MENU) >= 60
    assert len({attack.name for attack in MENU}) == len(MENU)


def told(*late: int, ever: int) -> str:
    """The ticker's lines."""
    head, tail = "ticker: 10 interrupts, late 9", f"ever {ever}, missed 0; 0 messages, 0 wrong"
    return "".join(f"{head}; 4 releases, late {ticks}, {tail}\n" for ticks in late)


def test_each_attack_is_judged_by_its_own_lateness():
    """One that may be later than others, for it makes the firmware print, covers up nothing that comes after it."""
    text = told(3, LATE_TICKS, 4, ever=LATE_TICKS)
    lateness = Lateness(LATE_TICKS)
    assert lateness.judge("hypercalls", text) == (LATE_TICKS, 9)
    text += told(3, PRINTED_TICKS, 2, ever=PRINTED_TICKS)
    assert lateness.judge("csr_reads", text) == (PRINTED_TICKS, 9)
    text += told(1, 5, ever=PRINTED_TICKS)
    assert lateness.judge("hypercalls", text) == (5, 9)
    text += told(2, LATE_TICKS + 1, 2, ever=PRINTED_TICKS)
    with pytest.raises(AssertionError, match=rf"late by {LATE_TICKS + 1} ticks"):
        lateness.judge("hypercalls", text)
    text += told(2, ever=PRINTED_TICKS + 1)  # in a line that was broken
    with pytest.raises(AssertionError, match=rf"late by {PRINTED_TICKS + 1} ticks"):
        lateness.judge("csr_reads", text)


@some([attack for attack in MENU if attack.name not in UNTIMED])
def test_attack(counted: Arenas, attack: Attack):
    counted.run(attack)


@some([attack for attack in MENU if attack.name in EMULATED])
def test_attack_without_sstc(without_sstc: Arenas, attack: Attack):
    without_sstc.run(attack)


@pytest.mark.parametrize("machines", ["counted", "without_sstc"])
def test_what_the_hypervisor_took_at_most(request: pytest.FixtureRequest, machines: str):
    """After all attacks: the longest time for which it did not look at interrupts, and its deepest stack."""
    worst = request.getfixturevalue(machines).worst()
    assert len(worst.stretches) > 20
    assert worst.stretches[0].most <= read_metrics()["riscv.irqoff.max"].goal, worst.stretches[0]
    assert 256 < worst.stack <= ROOM // 2


@some([attack for attack in MENU if attack.name in UNTIMED])
def test_attack_in_the_hosts_time(free_running: Arenas, attack: Attack):
    free_running.run(attack)


@some([attack for attack in MENU if attack.name in AT_A_TIME])
def test_attack_on_two_harts(two_harts: Arenas, attack: Attack):
    two_harts.run(attack)
