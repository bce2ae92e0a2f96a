# SPDX-License-Identifier: Apache-2.0
"""Every bench: built by Verilator once, all of its tests run by cocotb."""

import importlib

import pytest
from rtl_lab import FPGA, Bench, build_and_run


def benches():
    for path in sorted((FPGA / "tests").glob("bench_*.py")):
        for bench in importlib.import_module(path.stem).BENCHES:
            yield pytest.param(bench, path.stem, id=f"{path.stem.removeprefix('bench_')}-{bench.label}")


@pytest.mark.timeout(900)
@pytest.mark.parametrize(("bench", "module"), list(benches()))
def test_bench(bench: Bench, module: str):
    build_and_run(bench, module)
