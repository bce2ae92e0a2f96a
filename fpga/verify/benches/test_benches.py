# SPDX-License-Identifier: Apache-2.0
"""Builds every bench with Verilator and runs its tests with cocotb."""

import importlib

import pytest
from rtl_tools import FPGA, LONG, Bench, build_and_run


def benches():
    """The longest first, because workers (pytest-xdist) take them one by one."""
    found = [
        (bench, path.stem)
        for path in sorted((FPGA / "verify" / "benches").glob("bench_*.py"))
        for bench in importlib.import_module(path.stem).BENCHES
    ]
    for bench, module in sorted(found, key=lambda one: -one[0].weight):
        marks = [pytest.mark.long] if bench.long else []
        variant = "-long" if LONG in bench.environment else ""
        yield pytest.param(bench, module, id=f"{module.removeprefix('bench_')}-{bench.label}{variant}", marks=marks)


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("bench", "module"), list(benches()))
def test_bench(bench: Bench, module: str):
    build_and_run(bench, module)
