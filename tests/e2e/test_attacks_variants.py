# SPDX-License-Identifier: Apache-2.0
"""
Attacks of the hostile guest where something else answers them than on the machine of test_attacks.py: the firmware's
timers, another hart at the same time, the host's time, a hart that does not tell the instruction which trapped.
"""

from collections.abc import Iterator

import pytest
from attack_helpers import MENU, UNTIMED, Arenas, Attack, arenas, check_worst, some

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


# Without htinst the hypervisor fetches the instruction, and tells an access from the page-table walk before it.
FETCHED = {
    "tables_elsewhere",
    "tables_in_devices",
    "tables_garbage",
    "device_operands",
    "device_atomics",
    "console_flood",
}


@pytest.fixture(scope="module")
def without_htinst() -> Iterator[Arenas]:
    yield from arenas("faults-no-htinst", without="htinst")


@pytest.fixture(scope="module")
def without_sstc() -> Iterator[Arenas]:
    yield from arenas("faults-no-sstc", cpu="sstc=false")


@pytest.fixture(scope="module")
def free_running() -> Iterator[Arenas]:
    yield from arenas("faults-untimed", counted=False)


@pytest.fixture(scope="module")
def two_harts() -> Iterator[Arenas]:
    yield from arenas("faults-two", name="faults-two", counted=False)


@pytest.mark.long
@some([attack for attack in MENU if attack.name in EMULATED])
def test_attack_without_sstc(without_sstc: Arenas, attack: Attack):
    without_sstc.run(attack)


@pytest.mark.long
def test_what_the_hypervisor_took_at_most_without_sstc(without_sstc: Arenas):
    check_worst(without_sstc)


@some([attack for attack in MENU if attack.name in FETCHED])
def test_attack_without_htinst(without_htinst: Arenas, attack: Attack):
    without_htinst.run(attack)


@some([attack for attack in MENU if attack.name in UNTIMED])
def test_attack_in_the_hosts_time(free_running: Arenas, attack: Attack):
    free_running.run(attack)


@some([attack for attack in MENU if attack.name in AT_A_TIME])
def test_attack_on_two_harts(two_harts: Arenas, attack: Attack):
    two_harts.run(attack)
