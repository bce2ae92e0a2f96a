# SPDX-License-Identifier: Apache-2.0
"""Parses the output of guests/examples/rtm: the cost of releases, and the statistics of a run's apps."""

import re
from dataclasses import dataclass, fields

from tessera.bench.parse import ParseError

_SAMPLE = re.compile(r"^SAMPLE (\d+)$", re.MULTILINE)
_APP = re.compile(r"^RTAPP ((?:\d+ ?){13})$", re.MULTILINE)
_HISTOGRAM = re.compile(r"^RTHIST (\d+) (late|response) (\d+) (\d+)$", re.MULTILINE)
RESPONSE_SHARE = 64  # buckets that a period is divided into (guests/examples/rtm/apps.c)


@dataclass
class App:
    """One app of a run: microseconds, jobs, and times in ticks of the `time` CSR."""

    id: int
    period_us: int
    budget_us: int
    deadline_us: int
    releases: int
    completions: int
    misses: int
    overruns: int
    response_min: int
    response_max: int
    response_sum: int
    runtime: int
    late_max: int
    late: dict[int, int]  # ticks from the release to the job's start -> count
    response: dict[int, int]  # from the release to the job's end, in 1/64 of the period -> count


_FIELDS = [entry.name for entry in fields(App)][:13]


def apps(console: str) -> list[App]:
    """Returns the apps that the manager reports. Raises ParseError without any, or if the manager
    has not finished."""
    found = {}
    for match in _APP.finditer(console):
        numbers = dict(zip(_FIELDS, map(int, match[1].split()), strict=True))
        app = App(**numbers, late={}, response={})
        found[app.id] = app
    if not found or not re.search(r"^RTM done$", console, re.MULTILINE):
        raise ParseError(f"the real-time manager printed only: {console[-200:]!r}")
    for match in _HISTOGRAM.finditer(console):
        getattr(found[int(match[1])], match[2])[int(match[3])] = int(match[4])
    return [found[number] for number in sorted(found)]


def releases(watch: list[tuple[int, int]], rtm: str) -> list[int]:
    """
    Returns the instructions from the last one of a best-effort VM that reads instret (its gaps) to
    the first one of the app that preempts it. A job that starts while the best-effort VM does not
    run (it prints) is ignored.
    """
    samples = [int(match[1]) for match in _SAMPLE.finditer(rtm)]
    costs = []
    for sample in samples:
        inside = [sample - before for before, after in watch if before < sample < after]
        costs += inside[:1]
    if len(costs) < len(samples) // 4:
        raise ParseError(f"only {len(costs)} of {len(samples)} releases could be paired with {len(watch)} gaps")
    return costs
