# SPDX-License-Identifier: Apache-2.0
"""The hypervisor's RT queues and timers, as a heap and in a sorter of the fabric's RTL: the guest `rtqueue`,
without a hypervisor."""

import re

import pytest
from conftest import COUNTED, guest_text

from tessera.bench.parse import figures
from tessera.run.cosim import FabricOptions

OPERATIONS = 20000
LENGTHS = (1, 2, 4, 8, 16, 32, 64)
# Instructions, of a queue of any length.
MOST = {"rt.queue.sorter.insert": 47, "rt.queue.sorter.take": 33, "timers.sorter.arm": 43, "timers.sorter.expire": 29}


@pytest.fixture(scope="module")
def text(qemu) -> str:
    return guest_text(qemu, "rtqueue", COUNTED, FabricOptions())


def test_random_operations_give_the_same_first_node(text):
    assert "rtqueue: step" not in text, text
    assert int(re.search(r"rtqueue: (\d+) operations", text)[1]) >= OPERATIONS


@pytest.mark.parametrize("what", MOST)
def test_the_sorter_costs_the_same_at_any_length(text, what):
    found = figures(text)
    costs = [found[f"riscv.{what}.{length}"] for length in LENGTHS]
    assert max(cost.max for cost in costs) <= MOST[what], costs
