# SPDX-License-Identifier: Apache-2.0
"""
Figures in documents are those of docs/figures.tsv and fpga/synth.jsonl, which runs have written, of the tables of
goals, and of check.stated. A check of our own: no tool knows from which run a number is.

A comment binds numbers to figures (tessera.bench.published); `--fix` writes what the files have.

- `74<!-- figure: riscv.hypercall.null@7.2 -->` binds the number before it. FIGURE:max is another statistic than the
  metric's own.
- `<!-- figures: METRIC ... -->` before a table binds its rows, in order, `-` none. A row with several numbers in a cell
  has METRIC+METRIC. The headings in COLUMNS say what a column holds; others, and the first column, are not bound. A row
  with a figure (METRIC@MACHINE) has that in each column of measurements. `named` instead: the first word in backquotes
  of each row is the metric, after the prefix in the headings.
- A row of such a table with `*` in its figure, `riscv.rt.queue.take.*@7.2:median`, has a figure in each column: `*` is
  the heading.
- `<!-- figures: WORD ... 1=a.*@7.2 3=b.*.load@7.2 -->` gives columns (the first one is 0) a pattern each: `*` is the
  row's word. Other columns are not bound.

A number in a column of measurements (MEASURED) of a table without a comment is a fault.
"""

import argparse
import itertools
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from check import repo, stated
from check.repo import Finding
from tessera.bench import published
from tessera.bench.metrics import read_metrics
from tessera.bench.plot_shared import SIZES, whole_size
from tessera.bench.published import Result
from tessera.fabric import synthesis

RESULTS = "docs/figures.tsv"
METRICS = "tools/bench-metrics.tsv"
FABRIC = "fpga/figures.tsv"
SYNTHESIS = "fpga/synth.jsonl"
# The figures of a synthesized block, fpga.BLOCK.LUTs, and the members of its result.
SYNTHESIZED = {"LUTs": "luts", "registers": "registers", "BRAM36": "bram36", "DSP48": "dsp", "ns": "path_ns"}

# What the columns of a table hold, by heading: the machine of a figure, or a column of the tables of metrics.
COLUMNS = {
    "goal": "goal", "QEMU 7.2": "@7.2", "QEMU 10.0": "@10.0", "Tessera": "@m5150-generic", "measured": "@",
    "instructions": "@",
    "Bao": "bao", "KVM": "kvm", "hellfire": "hellfire", "M5150": "m5150", "M5150 paper": "m5150", "Ker-ONE": "kerone",
    "VCDC, published": "paper",
}  # fmt: skip

# Columns that only runs fill: a number there without a figure is a fault.
MEASURED = {heading for heading, column in COLUMNS.items() if column.startswith("@")} | {"cycles", "us", "bound"}

_DIGITS = r"-?\d+(?:,\d{3})*(?:\.\d+)?"
_NUMBER = re.compile(_DIGITS)
_INLINE = re.compile(f"({_DIGITS})<!-- figure: ([^\\s<>]+) -->")
_INLINE_ANY = re.compile(r"<!-- figure: ?(.*?)-->")
_TABLE = re.compile(r"^<!-- figures: ([^>]*?)-->\n((?:\|.*\n)+)", re.MULTILINE)
_ANY_TABLE = re.compile(r"(<!-- figures: [^>]*?-->\n)?((?:^\|.*\n)+)", re.MULTILINE)
_TABLE_ANY = re.compile(r"^<!-- figures: ", re.MULTILINE)
_SOURCES = "run `make bench` and `make bench-record`, `make fpga-synth`, or `check.figures --fix`"


# What names a figure that sources state, which no run measures, and who reads it.
STATED = {".py:": stated.constant, ".mk:": stated.sum_of_variables}


@dataclass(frozen=True)
class Known:
    """The recorded results, goals and published figures by metric, and the source tree."""

    results: dict[str, Result]
    goals: dict[str, dict[str, float]]
    root: Path

    def value(self, figure: str) -> float | None:
        """The recorded value of FIGURE or FIGURE:STATISTIC, or what the sources state."""
        for place, read in STATED.items():
            if place in figure:
                return read(self.root, figure)
        name, _, statistic = figure.partition(":")
        result = self.results.get(name)
        return result.values.get(statistic or "value") if result else None

    def of_column(self, metric: str, column: str) -> tuple[str, float | None]:
        """The name of a cell's figure, and its value."""
        if not column.startswith("@"):
            return f"{column} of {metric}", self.goals.get(metric.partition("@")[0], {}).get(column)
        name, colon, statistic = metric.partition(":")
        machine = "" if "@" in name or column == "@" else column
        figure = name + machine + colon + statistic
        return figure, self.value(figure)


def _fabric_goals(file: Path) -> dict[str, dict[str, float]]:
    lines = [line.split("\t") for line in file.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    rows = [dict(zip(lines[0], cells, strict=True)) for cells in lines[1:]]
    return {row["metric"]: {name: float(row[name]) for name in ("goal", "paper") if row[name] != "-"} for row in rows}


def synthesized(file: Path) -> dict[str, Result]:
    """Figures fpga.BLOCK.LUTs ... of fpga/synth.jsonl, and fpga.io.size.Nvm, the shared devices together."""
    found = synthesis.read(file)
    values = {f"fpga.{block}.{what}": one[what] for block, one in found.items() for what in SYNTHESIZED.values()}
    for vms, what in itertools.product(SIZES, ("luts", "registers")):
        whole = whole_size(values, vms, what)
        values |= {} if whole is None else {f"fpga.io.size.{vms}vm.{what}": whole}
    words = {what: word for word, what in SYNTHESIZED.items()}
    split = [(*name.rpartition("."), value) for name, value in values.items()]
    return {f"{block}.{words[what]}": Result("", {"value": float(value)}, "") for block, _, what, value in split}


def read_known(root: Path) -> Known:
    goals = {}
    for name, metric in read_metrics(root / METRICS).items():
        goal = {} if metric.goal is None else {"goal": metric.goal}
        goals[name] = goal | metric.peers
    costs = {name: Result("ns", {"value": value}, "") for name, value in stated.board_costs(root).items()}
    results = published.read(root / RESULTS) | synthesized(root / SYNTHESIS) | costs
    return Known(results, goals | _fabric_goals(root / FABRIC), root)


def shown(value: float, like: str) -> str:
    """The value as the number `like` is written: with its decimals, and with its commas."""
    decimals = len(like.partition(".")[2])
    plain = len(like.partition(".")[0].lstrip("-")) > 3 and "," not in like
    text = f"{value:.{decimals}f}" if plain else f"{value:,.{decimals}f}"
    return text.removeprefix("-") if float(text.replace(",", "")) == 0 else text


@dataclass(frozen=True)
class Use:
    """A number in a document: where it is, its figure, and the figure's value."""

    start: int
    end: int
    text: str
    figure: str
    value: float | None

    @property
    def right(self) -> str | None:
        return None if self.value is None else shown(self.value, self.text)


Fault = tuple[int, str]  # offset in the document, description


def _cells(line: str) -> list[tuple[int, str]]:
    """The cells of a table's line, each with its offset."""
    bars = [n for n, character in enumerate(line) if character == "|"]
    return [(start + 1, line[start + 1 : end]) for start, end in itertools.pairwise(bars)]


def _metrics_of_rows(words: list[str], heading: str, rows: list[str]) -> list[str]:
    if words != ["named"]:
        return words
    code = re.compile(r"`([^`]+)`")
    prefix = code.search(heading)
    found = [code.search(row) for row in rows]
    return [(prefix[1] if prefix else "") + one[1] if one else "-" for one in found]


def _bound(known: Known, metrics: str, column: str) -> list[tuple[str, float | None]]:
    """The figures of a cell: goals and published figures that exist, and those of runs, recorded or not."""
    found = [known.of_column(metric, column) for metric in metrics.split("+")]
    return [one for one in found if column.startswith("@") or one[1] is not None]


def _cell_uses(known: Known, at: int, cell: str, metrics: str, column: str) -> Iterator[Use | Fault]:
    """The numbers of a cell, one for each figure."""
    numbers, bound = list(_NUMBER.finditer(cell)), _bound(known, metrics, column)
    if not cell.strip() and all(value is None for _, value in bound):
        return
    if len(numbers) < len(bound) or (numbers and not bound):
        names = ", ".join(name for name, _ in bound) or "no figure"
        yield at, f"{len(numbers)} numbers in '{cell.strip()}' for {names}"
        return
    for number, (name, value) in zip(numbers, bound, strict=False):
        yield Use(at + number.start(), at + number.end(), number[0], name, value)


def _binding(metric: str, heading: str, number: int, patterns: dict[int, str]) -> tuple[str, str | None]:
    """The metrics and the column of the cell in the column with this heading and number; None: not bound."""
    if patterns:
        return patterns.get(number, "").replace("*", metric), "@" if number in patterns else None
    return metric.replace("*", heading), "@" if "*" in metric else COLUMNS.get(heading)


def _row_uses(known: Known, at: int, row: str, bindings: list[tuple[str, str | None]]) -> Iterator[Use | Fault]:
    for (offset, cell), (metrics, column) in list(zip(_cells(row), bindings, strict=False))[1:]:
        if column is not None and not _INLINE_ANY.search(cell):
            yield from _cell_uses(known, at + offset, cell, metrics, column)


def _patterns(words: list[str]) -> dict[int, str]:
    """The patterns of columns by number."""
    return {int(number): pattern for number, _, pattern in (word.partition("=") for word in words if "=" in word)}


def _table_uses(known: Known, table: re.Match[str]) -> Iterator[Use | Fault]:
    lines = table[2].splitlines(keepends=True)
    headings = [cell.strip() for _, cell in _cells(lines[0])]
    words, rows = table[1].split(), lines[2:]
    patterns = _patterns(words)
    metrics = _metrics_of_rows([word for word in words if "=" not in word], lines[0], rows)
    is_bound = "*" in table[1] or not COLUMNS.keys().isdisjoint(headings[1:])
    if len(metrics) != len(rows) or not is_bound:
        yield table.start(), f"{len(metrics)} metrics for {len(rows)} rows, or no bound column"
        return
    at = table.start(2) + len(lines[0]) + len(lines[1])
    for metric, row in zip(metrics, rows, strict=True):
        if metric != "-":
            bindings = [_binding(metric, heading, n, patterns) for n, heading in enumerate(headings)]
            yield from _row_uses(known, at, row, bindings)
        at += len(row)


def _unbound(table: re.Match[str]) -> Iterator[Fault]:
    """Numbers without a figure, in columns of measurements of a table without a comment."""
    lines = table[2].splitlines(keepends=True)
    headings = [cell.strip() for _, cell in _cells(lines[0])]
    at = table.start(2)
    for number, line in enumerate(lines):
        for (offset, cell), heading in zip(_cells(line), headings, strict=False):
            if number > 1 and heading in MEASURED and re.match(_DIGITS, _INLINE.sub("", cell).strip()):
                yield at + offset, f"'{cell.strip()}' in the column '{heading}' has no figure"
        at += len(line)


def _inline_uses(known: Known, text: str) -> Iterator[Use | Fault]:
    inline = list(_INLINE.finditer(text))
    for one in inline:
        yield Use(one.start(1), one.end(1), one[1], one[2], known.value(one[2]))
    for one in _INLINE_ANY.finditer(text):
        if one.end() not in {good.end() for good in inline}:
            yield one.start(), f"no number before the comment `figure: {one[1].strip()}`"


def _tables_uses(known: Known, text: str) -> Iterator[Use | Fault]:
    tables = list(_TABLE.finditer(text))
    for table in tables:
        yield from _table_uses(known, table)
    for one in _ANY_TABLE.finditer(text):
        yield from _unbound(one) if one[1] is None else ()
    for one in _TABLE_ANY.finditer(text):
        if one.start() not in {table.start() for table in tables}:
            yield one.start(), "no table follows the comment `figures:`"


def uses(known: Known, text: str) -> Iterator[Use | Fault]:
    """The bound numbers of a document, and faults of its comments."""
    yield from _inline_uses(known, text)
    yield from _tables_uses(known, text)


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _findings_of(name: str, text: str, found: list[Use | Fault]) -> Iterator[Finding]:
    for one in found:
        if not isinstance(one, Use):
            yield Finding(name, _line(text, one[0]), one[1], "correct the comment")
        elif one.right is None:
            yield Finding(name, _line(text, one.start), f"{one.text}: no run has {one.figure}", _SOURCES)
        elif one.text != one.right:
            what = f"{one.text} stands for {one.figure}, which is {one.right}"
            yield Finding(name, _line(text, one.start), what, _SOURCES)


def _each_document(root: Path, act: Callable[[str, str, list[Use | Fault]], None]) -> None:
    known = read_known(root)
    for name in repo.with_suffix(repo.tracked(root), ".md"):
        text = (root / name).read_text(encoding="utf-8")
        act(name, text, list(uses(known, text)))


def named(root: Path) -> set[str]:
    """The figures of runs that documents name, without their statistic."""
    found: set[str] = set()

    def collect(_name: str, _text: str, all_of: list[Use | Fault]) -> None:
        figures = [one.figure for one in all_of if isinstance(one, Use)]
        measured = [name for name in figures if not any(place in name for place in STATED)]
        found.update(name.partition(":")[0] for name in measured if not re.search(r" of |^board\.", name))

    _each_document(root, collect)
    return found


def fill(root: Path) -> list[str]:
    """Writes the recorded values into the documents; returns the changed ones."""
    changed: list[str] = []

    def write(name: str, text: str, found: list[Use | Fault]) -> None:
        wrong = [one for one in found if isinstance(one, Use) and one.right not in (None, one.text)]
        new = text
        for one in sorted(wrong, key=lambda use: use.start, reverse=True):
            new = new[: one.start] + str(one.right) + new[one.end :]
        if new != text:
            (root / name).write_text(new, encoding="utf-8")
            changed.append(name)

    _each_document(root, write)
    return changed


def check(root: Path) -> tuple[list[Finding], str]:
    """Every bound number equals its figure, and every recorded figure stands in a document."""
    findings: list[Finding] = []
    count = 0

    def judge(name: str, text: str, found: list[Use | Fault]) -> None:
        nonlocal count
        count += len(found)
        findings.extend(_findings_of(name, text, found))

    _each_document(root, judge)
    unused = sorted(set(published.read(root / RESULTS)) - named(root))
    findings += [Finding(RESULTS, 0, f"{name}: no document shows it", "run `make bench-record`") for name in unused]
    return findings, f"{count} figures in documents are those of runs"


def main() -> None:
    parser = argparse.ArgumentParser(prog="check.figures", description=check.__doc__)
    parser.add_argument(
        "--root", type=Path, default=repo.DEFAULT_ROOT, help="top of the source tree (default: this one)"
    )
    parser.add_argument("--fix", action="store_true", help="write the recorded values into the documents")
    arguments = parser.parse_args()
    if arguments.fix:
        print("".join(f"check-figures: {name} updated\n" for name in fill(arguments.root.resolve())), end="")
        sys.argv[1:] = ["--root", str(arguments.root)]
    repo.main("figures", check)


if __name__ == "__main__":
    main()
