# SPDX-License-Identifier: Apache-2.0
"""The metrics, their goals, and the figures of other hypervisors: tools/bench-metrics.tsv."""

from dataclasses import dataclass
from pathlib import Path

DEFAULT_FILE = Path(__file__).resolve().parents[2] / "bench-metrics.tsv"
PEERS = ("bao", "kvm", "hellfire", "m5150", "kerone")
_COLUMNS = ("metric", "unit", "better", "goal", "stat", *PEERS, "what", "source")


class MetricsError(Exception):
    """The file of metrics has an error; the text names the place."""


@dataclass(frozen=True)
class Metric:
    """One line of the file. `stat` is the statistic that `goal` refers to; without a goal, the
    metric is only reported."""

    name: str
    unit: str
    better: str
    goal: float | None
    stat: str
    peers: dict[str, float]
    what: str
    source: str

    def met(self, value: float) -> bool | None:
        """Returns whether `value` reaches the goal, None without a goal."""
        if self.goal is None:
            return None
        return value <= self.goal if self.better == "lower" else value >= self.goal


def _number(text: str, where: str) -> float | None:
    if text == "-":
        return None
    try:
        return float(text)
    except ValueError as error:
        raise MetricsError(f"{where}: expected a number or '-', got '{text}'") from error


def _metric(cells: dict[str, str], where: str) -> Metric:
    if cells["better"] not in ("lower", "higher"):
        raise MetricsError(f"{where}: better: expected 'lower' or 'higher', got '{cells['better']}'")
    if cells["stat"] not in ("min", "median", "max", "value"):
        raise MetricsError(f"{where}: stat: expected min, median, max or value, got '{cells['stat']}'")
    figures = {peer: _number(cells[peer], f"{where}: {peer}") for peer in PEERS}
    return Metric(
        name=cells["metric"],
        unit=cells["unit"],
        better=cells["better"],
        goal=_number(cells["goal"], f"{where}: goal"),
        stat=cells["stat"],
        peers={peer: figure for peer, figure in figures.items() if figure is not None},
        what=cells["what"],
        source=cells["source"],
    )


def read_metrics(file: Path = DEFAULT_FILE) -> dict[str, Metric]:
    """Returns the metrics by name, in the order of the file. Raises MetricsError with the number of
    a wrong line."""
    metrics: dict[str, Metric] = {}
    header = False
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        where = f"{file.name}:{number}"
        cells = line.split("\t")
        if not line or line.startswith("#"):
            continue
        if len(cells) != len(_COLUMNS):
            raise MetricsError(f"{where}: expected {len(_COLUMNS)} columns, got {len(cells)}")
        if not header:
            if tuple(cells) != _COLUMNS:
                raise MetricsError(f"{where}: expected the header {' '.join(_COLUMNS)}")
            header = True
            continue
        metric = _metric(dict(zip(_COLUMNS, cells, strict=True)), where)
        if metric.name in metrics:
            raise MetricsError(f"{where}: {metric.name} is defined twice")
        metrics[metric.name] = metric
    return metrics
