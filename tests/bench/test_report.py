# SPDX-License-Identifier: Apache-2.0
"""Goals, verdicts, the table, the results file, and the metrics file."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tessera.bench.collect import Conditions, Taken
from tessera.bench.commit import Commit, current_commit
from tessera.bench.metrics import DEFAULT_FILE, MetricsError, read_metrics
from tessera.bench.parse import Figure, single
from tessera.bench.plot import plot
from tessera.bench.published import write_results
from tessera.bench.report import markdown, record, rows, text_table
from tessera.run.runner import ROOT, Qemu

QEMU = Qemu("no-such-qemu", (7, 2), "rv64,h=true")
COMMIT = Commit("0123456789abcdef", True)


def taken(metric: str, least: float, system: str = "bench") -> Taken:
    return Taken(Figure(metric, "instructions", least, least + 1, least + 9, 100), system)


def line(metric: str, least: float, system: str = "bench") -> dict:
    return record(taken(metric, least, system), read_metrics().get(metric), QEMU, COMMIT)


def test_the_file_of_metrics_is_sound() -> None:
    metrics = read_metrics()
    assert metrics["riscv.hypercall.null"].goal == 85
    assert metrics["riscv.hypercall.null"].peers == {"bao": 236, "kvm": 928, "hellfire": 140}
    assert all(metric.source for metric in metrics.values() if metric.peers)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("\t85\t", "\teighty\t", "goal: expected a number"),
        ("\tlower\t85", "\tsmaller\t85", "expected 'lower' or 'higher'"),
        ("\t85\tmin", "\t85\tmean", "expected min, median, max or value"),
        ("\t85\tmin", "\t85", "expected 12 columns, got 11"),
        ("riscv.sbi.base", "riscv.hypercall.null", "is defined twice"),
        ("metric\tunit", "name\tunit", "expected the header"),
    ],
)
def test_a_broken_file_of_metrics_is_refused(tmp_path: Path, old: str, new: str, words: str) -> None:
    text = DEFAULT_FILE.read_text(encoding="utf-8")
    assert old in text
    broken = tmp_path / "metrics.tsv"
    broken.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(MetricsError, match=words) as error:
        read_metrics(broken)
    assert str(error.value).startswith("metrics.tsv:")


def test_a_record_tells_the_harts_and_the_time() -> None:
    usual = line("riscv.hypercall.null", 79)["config"]
    assert (usual["harts"], usual["icount"]) == (1, "shift=0,sleep=off")
    timed = Taken(single("virtio.iperf.ratio", "ratio", 1.0), "bench-network", conditions=Conditions(2, None))
    config = record(timed, None, QEMU, COMMIT)["config"]
    assert (config["harts"], config["icount"]) == (2, None)


@pytest.mark.parametrize(("least", "met"), [(84, True), (85, True), (86, False)])
def test_a_goal_is_met_up_to_its_value(least: int, met: bool) -> None:
    assert line("riscv.hypercall.null", least)["met"] is met


def test_native_figures_and_figures_without_a_goal_have_no_verdict() -> None:
    assert line("riscv.sbi.base", 246, "native")["met"] is None
    assert line("riscv.plic.claim", 9999)["met"] is None


def test_a_record_contains_configuration_commit_and_peers() -> None:
    result = line("riscv.hypercall.null", 22)
    assert result["config"] == {
        "system": "bench",
        "qemu": "7.2",
        "qemu_release": "unknown",  # the program does not exist
        "cpu": "rv64,h=true",
        "icount": "shift=0,sleep=off",
        "harts": 1,
    }
    assert (result["commit"], result["dirty"]) == ("0123456789abcdef", True)
    assert (result["value"], result["min"], result["median"], result["max"], result["n"]) == (22, 22, 23, 31, 100)
    assert result["anchors"] == {"bao": 236, "kvm": 928, "hellfire": 140}
    assert result["anchor_source"]


def table_of(*records: dict) -> list[str]:
    return text_table(rows(read_metrics(), list(records))).splitlines()


def test_the_table_shows_the_verdict_the_native_figure_and_the_peers() -> None:
    lines = table_of(
        line("riscv.hypercall.null", 22), line("riscv.sbi.base", 101), line("riscv.sbi.base", 246, "native")
    )
    null_call = next(text for text in lines if text.startswith("riscv.hypercall.null "))
    base = next(text for text in lines if text.startswith("riscv.sbi.base "))
    uart = next(text for text in lines if text.startswith("riscv.mmio.uart_load "))
    assert null_call.split()[1:] == ["instructions", "85", "22", "met", "236", "928", "140"]
    assert base.split()[1:] == ["instructions", "100", "101", "NOT", "MET", "246", "236", "928"]
    assert "not measured" in uart


def test_one_emulator_that_misses_a_goal_is_enough() -> None:
    newer = Qemu("no-such-qemu", (10, 0), "rv64,h=true")
    metric = read_metrics()["riscv.sbi.base"]
    records = [record(taken("riscv.sbi.base", cost), metric, qemu, COMMIT) for cost, qemu in ((87, QEMU), (187, newer))]
    assert any("NOT MET" in text for text in table_of(*records) if text.startswith("riscv.sbi.base "))


def test_results_are_json_lines(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "results.jsonl"
    write_results(path, [line("riscv.sbi.base", 87), line("riscv.plic.claim", 224)])
    read = [json.loads(text) for text in path.read_text(encoding="utf-8").splitlines()]
    assert [entry["metric"] for entry in read] == ["riscv.sbi.base", "riscv.plic.claim"]


def test_markdown_names_what_was_not_measured() -> None:
    page = markdown([rows(read_metrics(), [])], read_metrics(), COMMIT, ["QEMU 7.2: linux: no kernel"])
    assert "- QEMU 7.2: linux: no kernel" in page
    assert "0123456789ab with changes" in page


def test_the_plot_requires_a_goal(tmp_path: Path) -> None:
    assert plot(read_metrics(), [], tmp_path) == []
    paths = plot(read_metrics(), [line("riscv.hypercall.null", 22)], tmp_path)
    assert [path.name for path in paths] == ["overview.png", "overview.svg"]
    assert paths[0].read_bytes().startswith(b"\x89PNG")


def test_a_single_measurement_is_its_value() -> None:
    assert single("riscv.size.text", "bytes", 30000).stat("value") == 30000


def test_the_commit_is_known_here_and_unknown_elsewhere(tmp_path: Path) -> None:
    assert len(current_commit().name) == 40
    assert current_commit(tmp_path) == Commit("unknown", False)


def test_a_missing_emulator_is_reported_in_one_line(tmp_path: Path) -> None:
    program = str(ROOT / "tools" / "bench.py")
    command = [sys.executable, program, "--qemu", "/no/such/qemu", "--out", str(tmp_path / "out")]
    done = subprocess.run(command, text=True, capture_output=True)
    assert done.returncode == 1
    assert done.stderr.startswith("bench: error: ")
    assert "/no/such/qemu" in done.stderr
    assert len(done.stderr.splitlines()) == 1
