# SPDX-License-Identifier: Apache-2.0
"""Parses the output of the benchmark guests and of the hypervisor."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

_BOOT = re.compile(r"boot: instret (\d+) to the first guest; copying and clearing took (\d+) of all CPUs")
_GAP = re.compile(r"^GAP (\d+) (\d+)$", re.MULTILINE)
_NUMBERS = ("min", "median", "avg", "max", "n")


class ParseError(Exception):
    """The output is incomplete or malformed; the text shows the line."""


@dataclass(frozen=True)
class Figure:
    """The statistics of many samples of one metric. `avg` is None if the guest does not print
    it."""

    metric: str
    unit: str
    min: float
    median: float
    max: float
    n: int
    avg: float | None = None

    def stat(self, name: str) -> float:
        """Returns the statistic `name`: min, median, max or value (of a single sample)."""
        return {"min": self.min, "value": self.min, "median": self.median, "max": self.max}[name]


def single(metric: str, unit: str, value: float) -> Figure:
    """Returns a figure of one sample."""
    return Figure(metric, unit, value, value, value, 1, value)


def summary(metric: str, unit: str, samples: Sequence[float]) -> Figure:
    """Returns a figure of many samples."""
    return Figure(metric, unit, min(samples), median(samples), max(samples), len(samples), sum(samples) / len(samples))


def _figure(text: str) -> Figure:
    try:
        record = json.loads(text)
        numbers = {name: record[name] for name in _NUMBERS}
        if not all(isinstance(number, int) for number in numbers.values()):
            raise ParseError(f"not numbers: {text}")
        return Figure(str(record["metric"]), str(record["unit"]), **numbers)
    except (ValueError, KeyError, TypeError) as error:
        raise ParseError(f"not a figure: {text!r} ({error})") from error


def figures(console: str) -> dict[str, Figure]:
    """
    Parses the `BENCH {json}` lines of one guest's output, by metric. Joins lines that the console
    has cut because another VM printed. Raises ParseError if a line cannot be parsed or the guest
    reports a failure. A line ends at LF: str.splitlines() would also end it within characters that a
    guest prints.
    """
    found: dict[str, Figure] = {}
    pending = ""
    for line in console.split("\n"):
        if line.startswith("BENCH failed"):
            raise ParseError(line)
        pending = line.removeprefix("BENCH ") if line.startswith("BENCH {") else pending + line if pending else ""
        if pending.endswith("}"):
            figure = _figure(pending)
            found[figure.metric] = figure
            pending = ""
    if pending:
        raise ParseError(f"a figure without end: {pending!r}")
    return found


def is_done(console: str) -> bool:
    """Returns whether the guest has reported the end of its work."""
    return "\nBENCH done" in "\n" + console or "BENCH failed" in console


def boot_cost(console: str) -> tuple[int, int]:
    """Returns the boot's instructions from the hypervisor's entry to the first guest, and those of
    them that fill memory."""
    match = _BOOT.search(console)
    if match is None:
        raise ParseError("the hypervisor has not printed the cost of its boot ('boot: instret <n> to the first guest')")
    whole, filling = int(match[1]), int(match[2])
    if filling > whole:
        raise ParseError(f"the boot took {whole}, but filling memory {filling}: not a run on one hart under -icount")
    return whole - filling, filling


def gaps(console: str) -> list[tuple[int, int]]:
    """Parses `GAP before after` lines: the last value of instret before the VM lost the hart, and
    the first one after."""
    return [(int(match[1]), int(match[2])) for match in _GAP.finditer(console)]


def switches(first: list[tuple[int, int]], second: list[tuple[int, int]]) -> list[int]:
    """
    Returns the costs of switches between two VMs that share one hart, from the gaps of each: one
    VM's last instruction before its gap is followed by the other's first one after its gap. Gaps
    that do not interlock (one VM had stopped or was printing) are ignored: the other VM's gap must
    contain the start of this one and end before its end.
    """
    costs = []
    for leaving, coming in ((first, second), (second, first)):
        arrivals = sorted((after, before) for before, after in coming)
        for left, back in leaving:
            arrived, away_since = next((gap for gap in arrivals if gap[0] > left), (back, left))
            if away_since < left and arrived < back:
                costs.append(arrived - left)
    return costs
