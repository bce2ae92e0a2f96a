# SPDX-License-Identifier: Apache-2.0
"""Builds hypervisors with one broken line, to show that a test detects it. Slow; only with
TESSERA_MUTANTS=1."""

import os
import shutil
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from helpers import OUT, make, run
from replacement import replaced

from tessera.run.runner import ROOT

SOURCES = (
    "Makefile",
    "tools",
    "abi",
    "core",
    "arch",
    "platform",
    "rt",
    "ipc",
    "services",
    "devices",
    "fpga/hw/include",
)
ASKED = os.environ.get("TESSERA_MUTANTS") == "1"
asked_for = pytest.mark.mutant


@dataclass(frozen=True)
class Mutant:
    """Replaces `old`, which must occur once in `file`, by `new`."""

    name: str
    file: str
    old: str
    new: str

    def __post_init__(self) -> None:
        replaced((ROOT / self.file).read_text(encoding="utf-8"), self.old, self.new)


@cache
def hypervisor_of(mutant: Mutant) -> Path:
    """Builds the hypervisor from the mutated sources."""
    folder = OUT / "mutants" / mutant.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in SOURCES:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, folder / name)
    (folder / "cache").symlink_to(ROOT / "cache")
    source = folder / mutant.file
    text = source.read_text(encoding="utf-8")
    source.write_text(replaced(text, mutant.old, mutant.new), encoding="utf-8")
    make("hyp")  # also fetches the tools for the build below
    made = folder.with_name(f"{mutant.name}-hyp")  # helpers.built() names its folder after this one
    shutil.rmtree(made, ignore_errors=True)
    done = run(["make", "--no-print-directory", "-s", "-C", str(folder), "hyp", f"HYP_BUILD={made}"])
    assert done.returncode == 0, done.stderr[-3000:]
    return made / "tessera.bin"
