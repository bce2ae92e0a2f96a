# SPDX-License-Identifier: Apache-2.0
"""
Runs the generated mutants (tools/tessera/verify/mutants.py) of some folders with the unit tests: each is found, or
accepted in survivors/ for a reason: "<file> <function>: <operator>: <code> -> <new code>". An accepted one whose code
has changed is to be removed. With ACCEPTED=1 those run, too, each with every test that reaches it, and one that a test
finds is to be removed. build/mutants/host/found.json has the test that found each.
"""

import json
import os
import re
import tomllib
from pathlib import Path

import pytest
from helpers import alone_building, run

from tessera.run.runner import ROOT

BUILD = ROOT / "build" / "mutants" / "host"
FOUND, MUTANTS, SKIPPED = BUILD / "found.json", BUILD / "mutants.json", BUILD / "skipped"
LISTS = sorted((Path(__file__).parent / "survivors").glob("*.toml"))
GROUPS = [group for file in LISTS for group in tomllib.loads(file.read_text(encoding="utf-8"))["accepted"]]
ACCEPTED = [key for group in GROUPS for key in group["mutants"]]
RUNS_ACCEPTED = bool(os.environ.get("ACCEPTED"))


@pytest.fixture(scope="module")
def found() -> dict[str, str]:
    """The test that finds each mutant that tests reach; empty for a survivor."""
    FOUND.unlink(missing_ok=True)
    BUILD.mkdir(parents=True, exist_ok=True)
    SKIPPED.write_text("" if RUNS_ACCEPTED else "\n".join(ACCEPTED), encoding="utf-8")
    with alone_building():
        command = ["make", "--no-print-directory", "-s", "-j2", "mutant-run", f"TESSERA_SKIPPED={SKIPPED}"]
        done = run(command, timeout=7200)
    assert FOUND.is_file(), f"{done.stdout[-2000:]}{done.stderr[-2000:]}"
    return json.loads(FOUND.read_text(encoding="utf-8"))


def test_accepted_once():
    assert len(ACCEPTED) == len(set(ACCEPTED))


def test_no_other_mutant_survives(found: dict[str, str]):
    survivors = [key for key, test in found.items() if not test and key not in ACCEPTED]
    assert not survivors, "no unit test fails with:\n" + "\n".join(survivors)


def test_accepted_mutants_survive(found: dict[str, str]):
    mutants = set(json.loads(MUTANTS.read_text(encoding="utf-8")))
    ran = [key for key in ACCEPTED if RUNS_ACCEPTED and re.search(os.environ.get("MUTANT", ""), key)]
    stale = [f"{key}: no such mutant" for key in ACCEPTED if key not in mutants]
    stale += [f"{key}: {found.get(key, 'no test reaches it')}" for key in ran if found.get(key) != ""]
    assert not stale, "not survivors:\n" + "\n".join(stale)
