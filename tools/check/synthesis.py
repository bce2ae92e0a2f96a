# SPDX-License-Identifier: Apache-2.0
"""
The recorded figures of the RTL's synthesis, fpga/synth.jsonl, belong to the RTL as it is. A check of our own: the file
is ours.
"""

from pathlib import Path

from check import repo
from check.repo import Finding
from tessera.fabric import synthesis


def check(root: Path) -> tuple[list[Finding], str]:
    """Blocks whose sources have changed since their synthesis."""
    found = [
        Finding("fpga/synth.jsonl", 0, f"the figures of {name} are of other sources", "run `make fpga-synth`")
        for name in synthesis.stale(root)
    ]
    return found, f"{len(synthesis.read(root / 'fpga' / 'synth.jsonl'))} blocks of the RTL as it is"


if __name__ == "__main__":
    repo.main("synthesis", check)
