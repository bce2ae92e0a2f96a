# SPDX-License-Identifier: Apache-2.0
"""
Runs the generated mutants (tools/tessera/verify/mutants.py) of some folders with the unit tests: each is found, or
accepted in survivors/ for a reason: "<file> <function>: <operator>: <code> -> <new code>". One that a test finds, or
whose code has changed, is to be removed. build/mutants/host/found.json has the test that found each.
"""

import json
import os
import re
import tomllib
from pathlib import Path

import pytest
from helpers import alone_building, run

from tessera.run.runner import ROOT

FOUND = ROOT / "build" / "mutants" / "host" / "found.json"
LISTS = sorted((Path(__file__).parent / "survivors").glob("*.toml"))
GROUPS = [group for file in LISTS for group in tomllib.loads(file.read_text(encoding="utf-8"))["accepted"]]
ACCEPTED = [key for group in GROUPS for key in group["mutants"]]


@pytest.fixture(scope="module")
def found() -> dict[str, str]:
    """The test that finds each mutant that tests reach; empty for a survivor."""
    FOUND.unlink(missing_ok=True)
    with alone_building():
        done = run(["make", "--no-print-directory", "-s", "-j2", "mutant-run"], timeout=7200)
    assert FOUND.is_file(), f"{done.stdout[-2000:]}{done.stderr[-2000:]}"
    return json.loads(FOUND.read_text(encoding="utf-8"))


def test_accepted_once():
    assert len(ACCEPTED) == len(set(ACCEPTED))


def test_no_other_mutant_survives(found: dict[str, str]):
    survivors = [key for key, test in found.items() if not test and key not in ACCEPTED]
    assert not survivors, "no unit test fails with:\n" + "\n".join(survivors)


def test_accepted_mutants_survive(found: dict[str, str]):
    selected = [key for key in ACCEPTED if re.search(os.environ.get("MUTANT", ""), key)]
    stale = [
        f"{key}: {found.get(key, 'no such mutant, or no test reaches it')}" for key in selected if found.get(key) != ""
    ]
    assert not stale, "found, or without a mutant:\n" + "\n".join(stale)
