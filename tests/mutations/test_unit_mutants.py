# SPDX-License-Identifier: Apache-2.0
"""
Runs unit tests against a source of the hypervisor with one fault (unit_faults.toml): at least one of
them must fail. For code that no attack of a guest reaches. `make mutate-faults` writes the table to
build/mutants/unit_faults.md.
"""

import re
import tomllib
from pathlib import Path

import pytest
from helpers import alone_building, run
from replacement import replaced

from tessera.run.runner import ROOT

OUT = ROOT / "build" / "mutants"
MANAGER = "../manager/"  # tests that need the fabric's RTL
MODELS = ("build/cosim/libmodel.so", "build/cosim/libshared.so")
FAULTS = tomllib.loads((Path(__file__).parent / "unit_faults.toml").read_text(encoding="utf-8"))["fault"]


def failure(tests: str, mutant: str = "") -> str | None:
    """The name of the first test that fails, with the source `mutant` from build/mutants; None: all pass."""
    words = [
        "HOST_BUILD=build/mutants/host",
        f"HOST_MUTANT={mutant}",
        "KIND_TESTS=",
        f"KIND_PROPERTIES={tests}",
        "ONLY=",
    ]
    with alone_building():
        if tests.startswith(MANAGER):
            assert run(["make", "--no-print-directory", "-s", *MODELS]).returncode == 0
        (OUT / "host" / "libcore.so").unlink(missing_ok=True)  # make does not notice that a source is another one
        done = run(
            ["make", "--no-print-directory", "-s", *words, "test-unit-kind"],
            PYTEST_ADDOPTS="-x",
            TESSERA_FIRST_FAILURE="1",
            PYTHONPATH="tests/unit:tests/cosim",
        )
    found = re.search(r"^FAILED tests/(?:unit|manager)/\w+\.py::(\w+)", done.stdout, flags=re.MULTILINE)
    assert (done.returncode == 0) == (found is None), f"no test ran:\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
    return found[1] if found else None


@pytest.fixture(scope="module")
def table():
    """The rows of this run, written at its end."""
    rows: list[str] = ["| fault | found by |", "|---|---|"]
    yield rows
    OUT.mkdir(parents=True, exist_ok=True)
    (OUT / "unit_faults.md").write_text("\n".join(rows) + "\n", encoding="utf-8")


@pytest.mark.parametrize("tests", sorted({fault["tests"] for fault in FAULTS}))
def test_without_a_fault(tests: str):
    assert failure(tests) is None


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault["name"].replace(" ", "-"))
def test_fault_is_found(fault: dict[str, str], table: list[str]):
    text = (ROOT / fault["file"]).read_text(encoding="utf-8")
    mutant = OUT / fault["file"]
    mutant.parent.mkdir(parents=True, exist_ok=True)
    mutant.write_text(replaced(text, fault["old"], fault["new"]), encoding="utf-8")
    found = failure(fault["tests"], fault["file"])
    table.append(f"| {fault['name']} | {f'`{found}`' if found else '**nothing**'} |")
    assert found, f"{fault['tests']} passes with this fault"
