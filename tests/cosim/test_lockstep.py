# SPDX-License-Identifier: Apache-2.0
"""The model that consists of several Verilated classes equals the RTL in one class, in every
cycle."""

import json
import subprocess

import pytest

from tessera.run.cosim import BUILD

CYCLES = 150_000


def work(program: str, seed: int) -> dict[str, object]:
    """Runs random work on a model; returns what the program prints, without the speed."""
    command = [str(BUILD / program), str(CYCLES), str(seed), "hash"]
    found = json.loads(subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout)
    del found["cycles_per_s"]
    return found


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2])
def test_split_model_equals_the_rtl_in_every_cycle(seed):
    """A hash over the memory port, answers to accesses, interrupts and regions. An even seed also runs the probe,
    which misbehaves."""
    split, whole = (work(program, seed) for program in ("lockstep", "lockstep-whole"))
    assert split == whole
    assert split["jobs"] > 50
    assert split["configurations"] > 20
    assert split["complaints"] == 0


def test_the_hash_depends_on_the_work():
    assert work("lockstep", 1)["hash"] != work("lockstep", 3)["hash"]
