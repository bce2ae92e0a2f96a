# SPDX-License-Identifier: Apache-2.0
"""`make mutate-faults` takes too long for every day: what it takes out has to be there all the same."""

import tomllib
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
PLAN = tomllib.loads((TOP / "tests" / "mutations" / "faults.toml").read_text(encoding="utf-8"))["mutation"]


@pytest.mark.parametrize("mutation", PLAN, ids=lambda mutation: mutation["name"])
def test_what_is_to_be_taken_out_is_there_once(mutation):
    assert (TOP / mutation["file"]).read_text(encoding="utf-8").count(mutation["old"]) == 1
