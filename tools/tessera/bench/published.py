# SPDX-License-Identifier: Apache-2.0
"""
docs/figures.tsv: the results of the runs whose figures documents show. A figure is METRIC@MACHINE (of QEMU its
version, of the M5150 its board; /native: without the hypervisor) or, of the fabric, METRIC alone.
"""

import json
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tessera.bench.commit import current_commit

STATISTICS = ("value", "min", "median", "max", "n")
_COLUMNS = ("figure", "unit", *STATISTICS, "commit")
_HEAD = """# SPDX-License-Identifier: Apache-2.0
# The figures that documents show, of the last recorded runs: written by `make bench-record`, read by check.figures.
# The value is the statistic of tools/bench-metrics.tsv, which says what each metric is; those of the fabric are in
# fpga/figures.tsv. A commit with `+` had changes.
"""


@dataclass(frozen=True)
class Result:
    """The statistics of a figure by name, its unit, and the measured commit."""

    unit: str
    values: dict[str, float]
    commit: str


def figure_of(record: dict[str, Any]) -> str:
    """The name of the figure that a line of results.jsonl holds."""
    config = record["config"]
    machine = config.get("qemu", config.get("board"))
    native = "/native" if config["system"] == "native" else ""
    return record["metric"] if machine is None else f"{record['metric']}@{machine}{native}"


def record(metric: str, machine: str | None, unit: str, values: Sequence[float]) -> dict[str, Any]:
    """A line of results.jsonl. The value is the largest one."""
    commit, place = current_commit(), {} if machine is None else {"board": machine}
    return {
        "metric": metric, "unit": unit, "value": max(values), "min": min(values),
        "median": statistics.median(values), "max": max(values), "n": len(values),
        "config": {"system": "", **place}, "commit": commit.name, "dirty": commit.dirty,
    }  # fmt: skip


def write_results(file: Path, records: Iterable[dict[str, Any]]) -> None:
    """Writes results.jsonl, a JSON object for each line."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{json.dumps(one)}\n" for one in records), encoding="utf-8")


def read_results(file: Path) -> dict[str, Result]:
    """The figures of results.jsonl; a commit with changes is marked by `+`."""
    found = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        values = {name: float(record[name]) for name in STATISTICS if record[name] is not None}
        commit = record["commit"][:12] + ("+" if record["dirty"] else "")
        found[figure_of(record)] = Result(record["unit"], values, commit)
    return found


def read(file: Path) -> dict[str, Result]:
    """The recorded figures; ValueError names a wrong line."""
    found: dict[str, Result] = {}
    lines = file.read_text(encoding="utf-8").splitlines()
    rows = [(n, line.split("\t")) for n, line in enumerate(lines, 1) if not line.startswith("#")]
    if not rows or tuple(rows[0][1]) != _COLUMNS:
        raise ValueError(f"{file.name}: expected the header {' '.join(_COLUMNS)}")
    for number, cells in rows[1:]:
        if len(cells) != len(_COLUMNS) or cells[0] in found:
            raise ValueError(f"{file.name}:{number}: {len(cells)} columns, or a figure that is in the table twice")
        row = dict(zip(_COLUMNS, cells, strict=True))
        values = {name: float(row[name]) for name in STATISTICS if row[name] != "-"}
        found[row["figure"]] = Result(row["unit"], values, row["commit"])
    return found


def _cells(name: str, result: Result) -> Iterable[str]:
    yield name
    yield result.unit
    for statistic in STATISTICS:
        value = result.values.get(statistic)
        yield "-" if value is None else f"{value:.10g}"
    yield result.commit


def write(file: Path, results: dict[str, Result]) -> None:
    rows = [_COLUMNS, *(_cells(name, results[name]) for name in sorted(results))]
    file.write_text(_HEAD + "".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
