# SPDX-License-Identifier: Apache-2.0
"""The regions of the fabric over time, from the file that the co-simulation writes
(docs/fabric.md)."""

from dataclasses import dataclass
from pathlib import Path

from tessera.trace.ring import TraceError

HEADER = "ns region state vm device task configuring"
STATES = ("idle", "busy", "preempt", "switch", "reconfig", "hold")
TASKS = ("no task", "QAM16", "QAM64", "FFT512", "FFT1024", "AES-128", "G.722")


@dataclass(frozen=True)
class Span:
    """A region between two changes; times in ns, None: up to the end of the trace. `client`: VM and
    device."""

    start: int
    end: int | None
    state: str
    client: tuple[int, int] | None
    task: int
    configuring: bool

    @property
    def idle(self) -> bool:
        return self.state == "idle"

    @property
    def task_name(self) -> str:
        return TASKS[self.task] if self.task < len(TASKS) else f"task {self.task}"

    @property
    def name(self) -> str:
        """State, task and client: `busy QAM16, VM 0 device 0`."""
        what = "reconfig, ICAP busy" if self.configuring else self.state
        words = f"{what} {self.task_name}" if self.task else what
        return words + (f", VM {self.client[0]} device {self.client[1]}" if self.client else "")


Regions = dict[int, list[Span]]


def read_regions(path: Path) -> Regions:
    """Returns the spans of each region in the order of time. Raises TraceError for a file that is
    missing or is no trace of regions."""
    try:
        head, *lines = path.read_text(encoding="ascii").splitlines() or [""]
    except (OSError, UnicodeDecodeError) as error:
        raise TraceError(f"{path}: {error}") from None
    if head != HEADER:
        raise TraceError(f"{path}:1: no trace of regions: expected '{HEADER}'")
    found: Regions = {}
    for number, line in enumerate(lines, 2):
        region, span = _read(path, number, line)
        spans = found.setdefault(region, [])
        if spans:
            spans[-1] = _ended(spans[-1], span.start)
        spans.append(span)
    return dict(sorted(found.items()))


def _ended(span: Span, end: int) -> Span:
    return Span(span.start, end, span.state, span.client, span.task, span.configuring)


def _read(path: Path, number: int, line: str) -> tuple[int, Span]:
    words = line.split()
    try:
        at, region, state, vm, device, task, configuring = words
        client = None if vm == "-" else (int(vm), int(device))
        if state not in STATES:
            raise ValueError
        return int(region), Span(int(at), None, state, client, int(task), configuring == "1")
    except ValueError:
        raise TraceError(f"{path}:{number}: '{line}': expected '{HEADER}'") from None
