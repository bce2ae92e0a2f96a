# SPDX-License-Identifier: Apache-2.0
"""Writes figures as results.jsonl, and as tables for a terminal and for Markdown."""

import subprocess
from collections.abc import Iterable
from functools import cache
from typing import Any

from tessera.bench.collect import Taken
from tessera.bench.commit import Commit
from tessera.bench.metrics import PEERS, Metric
from tessera.bench.mips import Taken as MipsTaken
from tessera.run.runner import Qemu
from tessera.run.virtualtime import ICOUNT

NATIVE = "native"
IASIM = "iasim"


@cache
def qemu_release(program: str) -> str:
    """Returns the emulator's full version; "unknown" if it does not run."""
    try:
        done = subprocess.run([program, "--version"], text=True, capture_output=True, check=False)
    except OSError:
        return "unknown"
    return done.stdout.partition("\n")[0].rpartition("version ")[2] or "unknown"


def _plain(number: float | None) -> float | int | None:
    """Returns whole numbers as integers, others rounded to significant digits."""
    if number is None:
        return None
    return int(number) if number == int(number) else round(number, 6)


def record(taken: Taken, metric: Metric | None, qemu: Qemu, commit: Commit) -> dict[str, Any]:
    """Returns one line of results.jsonl."""
    figure = taken.figure
    judged = metric if taken.system != NATIVE else None
    value = figure.stat(metric.stat if metric else "median")
    return {
        "metric": figure.metric,
        "unit": figure.unit,
        "value": _plain(value),
        "min": _plain(figure.min),
        "median": _plain(figure.median),
        "max": _plain(figure.max),
        "n": figure.n,
        "goal": _plain(judged.goal) if judged else None,
        "met": judged.met(value) if judged else None,
        "config": _config(taken, qemu),
        "commit": commit.name,
        "dirty": commit.dirty,
        **_anchors(judged),
        **({"curve": [_plain(point) for point in taken.curve]} if taken.curve else {}),
    }


def record_mips(taken: MipsTaken, metric: Metric | None, commit: Commit) -> dict[str, Any]:
    """Returns one line of results.jsonl for a figure of the M5150."""
    value = taken.figure.stat(metric.stat if metric else "median")
    return {
        "metric": taken.figure.metric,
        "unit": taken.figure.unit,
        "value": _plain(value),
        "min": _plain(taken.figure.min),
        "median": _plain(taken.figure.median),
        "max": _plain(taken.figure.max),
        "n": taken.figure.n,
        "goal": _plain(metric.goal) if metric else None,
        "met": metric.met(value) if metric else None,
        "config": {"system": taken.system, "simulator": IASIM, "board": taken.board, "model": taken.model, "harts": 1},
        "commit": commit.name,
        "dirty": commit.dirty,
        **_anchors(metric),
        **({"curve": [_plain(point) for point in taken.curve]} if taken.curve else {}),
    }


def of_machine(metrics: dict[str, Metric], mips: bool) -> dict[str, Metric]:
    """Returns the metrics of the M5150, or those of RISC-V."""
    return {name: metric for name, metric in metrics.items() if name.startswith("mips.") == mips}


def _config(taken: Taken, qemu: Qemu) -> dict[str, Any]:
    return {
        "system": taken.system,
        "qemu": ".".join(map(str, qemu.version)),
        "qemu_release": qemu_release(qemu.program),
        "cpu": qemu.cpu,
        "icount": taken.conditions.icount,
        "harts": taken.conditions.harts,
        **({"model": taken.model} if taken.model else {}),
    }


def _anchors(metric: Metric | None) -> dict[str, Any]:
    peers = metric.peers if metric else {}
    return {
        "anchors": {peer: _plain(number) for peer, number in peers.items()},
        "anchor_source": metric.source if metric and peers else None,
    }


def _shown(number: float | int | None) -> str:
    if number is None:
        return ""
    return f"{number:,}" if isinstance(number, int) else f"{number:.4f}"


def verdict(met: bool | None) -> str:
    """Returns the word for the table's last column."""
    return {True: "met", False: "NOT MET", None: ""}[met]


def _versions(records: list[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(map(_emulator, records)))


def _emulator_text(version: str) -> str:
    return version if version == IASIM else f"QEMU {version}"


def _emulator(line: dict[str, Any]) -> str:
    """Returns QEMU's version, or the simulator's name."""
    config = line["config"]
    return str(config["qemu"] if "qemu" in config else config["simulator"])


def rows(metrics: dict[str, Metric], records: list[dict[str, Any]]) -> list[list[str]]:
    """Returns the table's cells, header first: metrics with goals or peers, then all other measured
    metrics."""
    versions = _versions(records)
    ours = _by_name(records, native=False)
    natively = _by_name(records, native=True)
    others = [name for name, _ in ours if name not in metrics and not name.endswith(".ticks")]
    header = ["metric", "unit", "goal", *map(_emulator_text, versions), "", "native", *map(str, PEERS)]
    table = [header]
    for name in dict.fromkeys([*metrics, *others]):
        lines = [ours.get((name, version)) for version in versions]
        table.append(_row(name, metrics.get(name), lines, natively.get((name, *versions[:1]))))
    return table


def _by_name(records: Iterable[dict[str, Any]], native: bool) -> dict[tuple[str, ...], dict[str, Any]]:
    """Returns the native records, or those of VMs, by metric and QEMU's version."""
    wanted = [line for line in records if (line["config"]["system"] == NATIVE) == native]
    return {(line["metric"], _emulator(line)): line for line in wanted}


def _row(
    name: str, metric: Metric | None, lines: list[dict[str, Any] | None], natively: dict[str, Any] | None
) -> list[str]:
    verdicts = [line["met"] for line in lines if line is not None]
    met = None if not verdicts or None in verdicts else all(verdicts)
    absent = "not measured" if metric else ""
    return [
        *_promised(name, metric, lines),
        *(_shown(line["value"]) if line else absent for line in lines),
        verdict(met),
        _shown(natively["value"]) if natively else "",
        *_peers(metric),
    ]


def _promised(name: str, metric: Metric | None, lines: list[dict[str, Any] | None]) -> list[str]:
    """Returns the first cells of a row: name, unit, goal."""
    if metric is None:
        return [name, next((line["unit"] for line in lines if line), ""), ""]
    return [name, metric.unit, _shown(_plain(metric.goal)) if metric.goal is not None else ""]


def _peers(metric: Metric | None) -> list[str]:
    figures = metric.peers if metric else {}
    return [_shown(_plain(figures[peer])) if peer in figures else "" for peer in PEERS]


def text_table(table: list[list[str]]) -> str:
    """Formats the table for a terminal: the first two columns left-aligned, numbers
    right-aligned."""
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    lines = []
    for row in table:
        cells = [
            cell.ljust(width) if column < 2 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    lines.insert(1, "-" * max(map(len, lines)))
    return "\n".join(lines)


def _markdown_table(table: list[list[str]]) -> list[str]:
    lines = ["| " + " | ".join(row) + " |" for row in table]
    return [lines[0], "|---|---|" + "---:|" * (len(table[0]) - 2), *lines[1:], ""]


def markdown(tables: list[list[list[str]]], metrics: dict[str, Metric], commit: Commit, failed: list[str]) -> str:
    """Returns a page with the tables, the meaning of each metric, and the failed measurements."""
    state = f"{commit.name[:12]}{' with changes' if commit.dirty else ''}"
    lines = [
        # REUSE-IgnoreStart
        "<!-- SPDX-License-Identifier: Apache-2.0 -->",
        # REUSE-IgnoreEnd
        "# Benchmark",
        "",
        f"Commit {state}. Instructions executed under QEMU, `-icount {ICOUNT}`, one hart: a virtual machine of 1 GIPS. "
        "`config` in results.jsonl tells what ran otherwise.",
        "",
        *(line for table in tables for line in _markdown_table(table)),
        *(
            f"- **{metric.name}** ({metric.stat}): {metric.what}. Peers: {metric.source}."
            for metric in metrics.values()
        ),
    ]
    if failed:
        lines += ["", "Not measured:", "", *(f"- {why}" for why in failed)]
    return "\n".join(lines) + "\n"
