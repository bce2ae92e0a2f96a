# SPDX-License-Identifier: Apache-2.0
"""The code that `make mutate-faults` removes must exist; the mutations themselves run too long for
`make check`."""

import tomllib
from pathlib import Path

import pytest
from replacement import replaced

TOP = Path(__file__).resolve().parents[2]


def plan(name: str) -> dict:
    return tomllib.loads((TOP / "tests" / "mutations" / name).read_text(encoding="utf-8"))


PLAN = plan("faults.toml")["mutation"] + plan("unit_faults.toml")["fault"]


@pytest.mark.parametrize("mutation", PLAN, ids=lambda mutation: mutation["name"])
def test_mutated_code_occurs_once(mutation):
    text = (TOP / mutation["file"]).read_text(encoding="utf-8")
    assert replaced(text, mutation["old"], mutation["new"]) != text
