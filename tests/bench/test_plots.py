# SPDX-License-Identifier: Apache-2.0
"""The benchmark's pictures: words instead of identifiers, zero on every axis, other hypervisors'
figures with their source, and drawing again from results.jsonl."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import matplotlib
import pytest

matplotlib.use("Agg")
from matplotlib import pyplot

from tessera.bench.labels import LABELS, PEER_COLOURS, PEER_MARKERS, PEERS, UNITS, metric_label
from tessera.bench.metrics import PEERS as KNOWN_PEERS
from tessera.bench.metrics import read_metrics
from tessera.bench.plot import Row, _position, _spreads, machine, overview_rows, plot, set_scale
from tessera.bench.plot_banks import plot_banks
from tessera.bench.plot_rt import _draw_late, plot_rt
from tessera.bench.plot_rt_queue import plot_rt_queue, together
from tessera.colours import on_white
from tessera.run.runner import ROOT

METRICS = read_metrics()
# Of these, figures of 20 to 80 bytes are in a picture of their own.
CURVES = tuple(f".ipc.{what}.{size}" for what in ("send", "recv", "delivery") for size in (20, 40, 60, 80))


def line(metric: str, value: float, **more: Any) -> dict[str, Any]:
    """A record of the first emulator, as far as pictures need it."""
    config = (
        {"system": "bench", "simulator": "iasim"} if metric.startswith("mips.") else {"system": "bench", "qemu": "7.2"}
    )
    return {"metric": metric, "value": value, "median": value, "max": value, "config": config} | more


def words(path: Path) -> str:
    """The contents of an SVG file drawn with texts as words."""
    return path.read_text(encoding="utf-8")


@pytest.fixture
def axes() -> Any:
    figure, found = pyplot.subplots()
    yield found
    pyplot.close(figure)


def test_every_metric_in_an_overview_has_words() -> None:
    shown = [metric for metric in METRICS.values() if metric.goal is not None or metric.peers]
    missing = [
        metric.name for metric in shown if metric_label(metric.name) is None and not metric.name.endswith(CURVES)
    ]
    assert missing == []
    assert all(metric.unit in UNITS for metric in shown)
    names = set(METRICS) | {name.partition(".")[2] for name in METRICS}
    assert set(LABELS) <= names


@pytest.mark.parametrize("architecture", ["riscv", "mips"])
def test_words_are_unique(architecture: str) -> None:
    labels = [metric_label(name) for name in METRICS if name.startswith(architecture)]
    labels = [label for label in labels if label is not None]
    assert len(labels) == len(set(labels))
    assert all(len(label) < 70 for label in labels)


def test_peers_have_a_colour_a_mark_and_their_source() -> None:
    assert set(PEERS) == set(PEER_COLOURS) == set(PEER_MARKERS) == set(KNOWN_PEERS)
    assert PEERS["m5150"].label == "M5150 hypervisor (published: PUCRS)"
    assert PEERS["bao"].label == "Bao (measured by us)"


def test_zero_is_on_a_logarithmic_axis(axes: Any) -> None:
    set_scale(axes, [0, 74, 40848])
    assert axes.get_xscale() == "symlog"
    low, high = axes.get_xlim()
    assert low < 0 < 40848 < high
    assert 0 in axes.get_xticks()
    places = axes.transData.transform([(0, 0), (74, 0), (40848, 0)])[:, 0]
    assert places[0] < places[1] < places[2]
    assert places[1] - places[0] > 10  # pixels: the two marks are apart


def test_a_zero_among_small_figures_is_visible(axes: Any) -> None:
    set_scale(axes, [0, 0.02, 1.74])
    places = axes.transData.transform([(0, 0), (0.02, 0)])[:, 0]
    assert places[1] - places[0] > 10
    assert axes.xaxis.get_major_formatter()(0.1) == "0.1"


def test_axes_without_zero_or_with_similar_figures(axes: Any) -> None:
    set_scale(axes, [74, 40848])
    assert axes.get_xscale() == "log"
    assert axes.xaxis.get_major_formatter()(40000.0) == "40,000"


@pytest.mark.parametrize("values", [[7000, 9000], [0, 0], [0], [5]])
def test_similar_figures_have_a_linear_axis_from_zero(axes: Any, values: list[float]) -> None:
    set_scale(axes, values)
    assert axes.get_xscale() == "linear"
    low, high = axes.get_xlim()
    assert low < 0 and max(values) < high


def test_equal_figures_do_not_cover_each_other() -> None:
    row = Row("x", "instructions", 0, 0, {"bao": 0, "kvm": 0, "hellfire": 5, "m5150": 0})
    places = _spreads(row, lambda value: _position(value, row.values()))
    assert len({places[peer] for peer in ("bao", "kvm", "m5150")} | {0}) == 4  # Tessera's mark is at 0
    assert places["hellfire"] == 0


@pytest.mark.parametrize(
    ("others", "spread"),
    [
        ({"bao": 36106}, True),
        ({"bao": 30000}, False),
        ({"bao": 36106, "kvm": 1}, True),
        ({"bao": 72000, "kvm": 1}, False),
    ],
)
def test_figures_that_are_close_on_the_axis_do_not_cover_each_other(others: dict[str, float], spread: bool) -> None:
    row = Row("x", "bytes", 35872, 36106, others)
    places = _spreads(row, lambda value: _position(value, row.values()))
    assert (places["bao"] != 0) == spread


@pytest.mark.parametrize("values", [[74, 236, 928], [0, 74, 40848], [0.9995, 1.01, 1.075], [0, 0]])
def test_positions_are_those_of_the_axis(axes: Any, values: list[float]) -> None:
    axes.scatter(values, values)
    set_scale(axes, values, min(values) != 0.9995)
    low, high = (axes.transData.transform((end, 0))[0] for end in axes.get_xlim())
    for value in values:
        place = (axes.transData.transform((value, 0))[0] - low) / (high - low)
        assert abs(place - _position(value, values, min(values) != 0.9995)) < 0.2


def test_rows_are_of_both_emulators_and_of_vms() -> None:
    newer = line("riscv.sbi.base", 99)
    newer["config"] = newer["config"] | {"qemu": "10.0"}
    native = line("riscv.sbi.base", 246)
    native["config"] = native["config"] | {"system": "native"}
    rows = overview_rows(METRICS, [line("riscv.sbi.base", 83), native, newer, line("riscv.ipc.send.20", 184)])
    assert [(row.label, row.ours, row.goal, row.second) for row in rows] == [("SBI call: version", 83, 100, 99)]


def test_the_overview_uses_words_and_names_sources(tmp_path: Path) -> None:
    records = [line("riscv.hypercall.null", 74), line("riscv.timer.added", 0), line("riscv.adpcm.1vm.q1ms", 0)]
    records.append(line("riscv.rt.release.max", 449))
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        paths = plot(METRICS, records, tmp_path)
    assert [path.name for path in paths] == ["overview.png", "overview.svg", "goals.png", "goals.svg"]
    overview, goals = words(paths[1]), words(paths[3])
    for text in (overview, goals):
        assert "riscv." not in text
        assert "executed instructions" in text
        assert "QEMU 7.2" in text
    assert "hypercall that does nothing" in overview
    assert "M5150 hypervisor (published: PUCRS)" in overview
    assert "Linux KVM (measured by us in QEMU 10.0)" in overview
    assert "where the figure differs" not in overview
    assert "release of one of 8 real-time apps" in goals
    assert "published" not in goals


def test_the_overview_names_both_emulators(tmp_path: Path) -> None:
    newer = line("riscv.mmio.uart_load", 144)
    newer["config"] = newer["config"] | {"qemu": "10.0"}
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        overview = words(plot(METRICS, [line("riscv.mmio.uart_load", 165), newer], tmp_path)[1])
    assert "(RISC-V in QEMU 7.2 and 10.0)" in overview
    assert "Tessera in QEMU 10.0, where the figure differs" in overview


def test_the_machine_is_named() -> None:
    assert machine([line("riscv.sbi.base", 83)]) == "RISC-V in QEMU 7.2"
    assert machine([line("mips.tick.same", 52)]) == "MIPS M5150 in iasim"


APP = {
    "period_us": 200,
    "budget_us": 20,
    "deadline_us": 150,
    "releases": 8,
    "late": {"5": 7, "9": 1},
    "response": {"6": 8},
}
QUEUE = [line(f"riscv.rt.queue.{what}.{size}", 20 * size) for what in ("insert", "take") for size in (1, 2, 4)]


def test_the_queue_in_both_places_has_a_picture_of_its_own(tmp_path: Path) -> None:
    sorter = [line(entry["metric"].replace("queue.", "queue.sorter."), 43) for entry in QUEUE]
    assert together(QUEUE + sorter, "") == {1: 40, 2: 80, 4: 160}
    assert together(QUEUE + sorter, "sorter.") == {1: 86, 2: 86, 4: 86}
    assert plot_rt_queue(QUEUE, tmp_path) == [] == plot_rt_queue(sorter, tmp_path)
    assert [path.name for path in plot_rt_queue(QUEUE + sorter, tmp_path)] == ["rt-queue.png"]


def test_one_late_job_is_visible(axes: Any) -> None:
    _draw_late(axes, APP | {"colour": "blue"})
    heights = axes.transData.transform([(0, 0), (0, 1), (0, 7)])[:, 1]
    assert heights[1] - heights[0] > 10  # pixels
    assert heights[2] > heights[1]
    assert {matplotlib.colors.to_hex(bar.get_facecolor()) for bar in axes.patches} == {on_white("blue")}


def test_pictures_of_real_time_and_of_shadow_sets(tmp_path: Path) -> None:
    assert plot_rt(QUEUE, tmp_path) == []  # no rt-stress.json
    (tmp_path / "rt-stress.json").write_text(json.dumps([APP, APP | {"colour": "cyan"}]), encoding="utf-8")
    assert [path.name for path in plot_rt(QUEUE, tmp_path)] == ["rt.png"]
    curves = [line(f"mips.switch.vcpus.sets{sets}", 495, curve=[232] * 20) for sets in (15, 7, 1)]
    assert plot_banks([], tmp_path) == []
    assert [path.name for path in plot_banks(curves, tmp_path)] == ["mips-banks.png"]


def draw_again(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "tools" / "bench.py"), "--draw", *arguments]
    return subprocess.run(command, text=True, capture_output=True, check=False)


def test_drawing_again_updates_the_pictures_of_the_documents(tmp_path: Path) -> None:
    """Pictures that the documents do not have are not added."""
    out, images = tmp_path / "out", tmp_path / "images"
    out.mkdir()
    images.mkdir()
    records = [line("riscv.hypercall.null", 74), line("mips.tick.same", 52)]
    (out / "results.jsonl").write_text("".join(json.dumps(one) + "\n" for one in records), encoding="utf-8")
    for name in ("bench.png", "ipc.png"):
        (images / name).write_bytes(b"old")
    done = draw_again("--out", str(out), "--pictures", str(images))
    assert done.returncode == 0, done.stderr
    assert (images / "bench.png").read_bytes() == (out / "overview.png").read_bytes()
    assert (images / "ipc.png").read_bytes() == b"old"  # messages were not measured
    assert (out / "mips-overview.svg").is_file()
    assert sorted(path.name for path in images.iterdir()) == ["bench.png", "ipc.png"]


def test_drawing_again_requires_results(tmp_path: Path) -> None:
    done = draw_again("--out", str(tmp_path))
    assert done.returncode == 1
    assert "make bench" in done.stderr
    assert len(done.stderr.splitlines()) == 1
