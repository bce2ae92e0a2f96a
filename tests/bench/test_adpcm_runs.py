# SPDX-License-Identifier: Apache-2.0
"""Overheads from the output of the ADPCM guests; and runs that must not be compared."""

from dataclasses import replace
from pathlib import Path

import pytest

from tessera.bench.adpcm import Run, overheads, parse_run, tick_cost, tick_share
from tessera.bench.collect import ADPCM, ADPCM_MODEL, ADPCM_SYSTEMS, Taken
from tessera.bench.commit import Commit
from tessera.bench.metrics import read_metrics
from tessera.bench.parse import ParseError, single
from tessera.bench.plot_adpcm import plot_adpcm
from tessera.bench.report import record
from tessera.image import variants
from tessera.image.source import Source
from tessera.run.runner import ROOT, Qemu

MARKS = "".join(f"ADPCM mark {part} {5000 + 1000 * part}\n" for part in range(11))
CONSOLE = f"adpcm: hello\nADPCM frames 20 codes 0x0a samples 0x0b ticks 7\n{MARKS}ADPCM reported 99000\nBENCH done\n"
NATIVE = Run(("20", "0x0a", "0x0b"), 7, tuple(range(5000, 15001, 1000)), 99000)


def shifted(start: int, each: int) -> Run:
    """The same work started at `start`, with `each` instructions of the hart per tenth."""
    return replace(NATIVE, marks=tuple(start + each * part for part in range(11)))


def test_a_run() -> None:
    assert parse_run(CONSOLE) == NATIVE
    assert NATIVE.instructions == 10000


@pytest.mark.parametrize(
    "console",
    [
        CONSOLE.replace("ADPCM mark 4 ", "ADPCM mark 5 "),
        CONSOLE.replace("reported", "report"),
        CONSOLE.replace("codes 0x", "codes "),
        "BENCH failed: begin=: that time is past\n",
        "",
    ],
)
def test_invalid_output_is_refused(console: str) -> None:
    with pytest.raises(ParseError):
        parse_run(console)


def test_overhead_of_one_and_of_two() -> None:
    assert overheads([NATIVE], NATIVE) == [0.0] * 10
    assert overheads([shifted(0, 1010)], NATIVE) == pytest.approx([1.0] * 10)
    # Measured from the first start, 200, to the last end, 400 + 20200.
    assert overheads([shifted(200, 2010), shifted(400, 2020)], NATIVE)[-1] == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("other", "why"),
    [
        (replace(NATIVE, work=("20", "0x0a", "0x0c")), "not the same work"),
        (shifted(90000, 1), "did not start together"),
        (replace(NATIVE, printed=14999), "was printing"),
    ],
)
def test_runs_that_cannot_be_compared(other: Run, why: str) -> None:
    with pytest.raises(ParseError, match=why):
        overheads([NATIVE, other], NATIVE)


def test_ticks() -> None:
    bare = replace(NATIVE, ticks=0, marks=(0, *NATIVE.marks[1:-1], NATIVE.instructions - 70))
    assert tick_cost(NATIVE, bare) == 10
    with pytest.raises(ParseError, match="no tick"):
        tick_cost(bare, NATIVE)
    # Two guests with 14 ticks each instead of 7: 14 * 10 of 20000 instructions.
    assert tick_share([replace(NATIVE, ticks=14)] * 2, NATIVE, 10) == pytest.approx(0.7)


def test_each_system_matches_its_name() -> None:
    folder = ROOT / "systems" / "bench"
    names = {*(path.stem for path in folder.glob("*.dts")), *variants.names(folder)}
    assert set(ADPCM_SYSTEMS) == {name for name in names if name.startswith("adpcm-")}
    for name in ADPCM_SYSTEMS:
        root = Source(str(folder / f"{name}.dts")).root
        vms, quantum = name.split("-")[1], next((part for part in name.split("-") if part.startswith("q")), "q1ms")
        scale = 1000 if name.endswith("1gips") else 100
        assert len(root.nodes["vms"].nodes) == int(vms.removesuffix("vm"))
        assert root.props["quantum-us"].to_num() == int(quantum[1:-2]) * scale


def test_the_pictures(tmp_path: Path) -> None:
    metrics = read_metrics()
    qemu = Qemu("no-such-qemu", (7, 2), "rv64,h=true")
    taken = [
        Taken(single(f"riscv.adpcm.{name}", "percent", 0.3), "adpcm", ADPCM_MODEL, tuple(0.3 for _ in range(10)))
        for name in ADPCM
    ]
    records = [record(one, metrics[one.figure.metric], qemu, Commit("0" * 40, False)) for one in taken]
    assert records[0]["curve"] == [0.3] * 10
    assert "100 MIPS" in records[0]["config"]["model"]
    assert plot_adpcm(metrics, [], tmp_path) == []
    paths = plot_adpcm(metrics, records, tmp_path)
    assert [path.name for path in paths] == ["adpcm-convergence.png", "adpcm-vms.png"]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in paths)
