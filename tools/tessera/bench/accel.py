# SPDX-License-Identifier: Apache-2.0
"""
The costs of the four ways in which a VM gets a region of the fabric (docs/accelerators.md), and
their terms as the paper on Ker-ONE names them, from the hypervisor's passes and its accesses to the
fabric.

A path begins with the guest's store to a page that is read-only, and ends when the hypervisor
returns to this guest. What the hart executes from a request that preempts, or from the start of a
configuration, to the fabric's interrupt lies inside the time that the fabric needs: it is no part
of the path's cost beyond preemption and reconfiguration.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tessera.bench.parse import ParseError
from tessera.bench.passes import Event
from tessera.fabric.registers import register

# Functions of the hypervisor that mark a path.
FAULT, INTERRUPT, DEVICE, TRAP = "accel_write_fault", "accel_interrupt", "plic_handle", "trap_entry"
FUNCTIONS = (FAULT, INTERRUPT, DEVICE, TRAP)
SLEEP, RETURN = "wfi", "sret"
PATHS = ("assign", "configure", "preempt", "preempt_configure")
OVERLAPPED = "solution_preempt"  # while the job stops
_ENDS = (SLEEP, RETURN)
_BEGINS = (SLEEP, TRAP)  # of the hypervisor's instructions


def _is(event: Event, what: str, name: str) -> bool:
    return event.what == what and event.offset == register(name)


@dataclass
class Path:
    """
    A request and what followed it. `whole`: the hypervisor's instructions, those of unrelated exits
    of other VMs included. `terms`: those of each term, `solution_preempt` inside the time in which
    the job stops, all others outside.
    """

    configures: bool = False
    preempts: bool = False
    whole: int = 0
    terms: dict[str, list[int]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return PATHS[2 * self.preempts + self.configures]

    @property
    def beyond(self) -> int:
        """The instructions outside of the times in which the fabric stops a job or configures."""
        return sum(sum(costs) for term, costs in self.terms.items() if term != OVERLAPPED)

    def add(self, term: str, cost: int) -> None:
        self.terms.setdefault(term, []).append(cost)


def _trap_of(events: Sequence[Event], request: int) -> int | None:
    """Returns the number of the trap that led to a request; None if a guest's store did not."""
    faulted = False
    for number in range(request, -1, -1):
        what = events[number].what
        if what == TRAP:
            return number if faulted else None
        faulted = faulted or what == FAULT
    return None


def _end_of(events: Sequence[Event], request: int) -> int:
    """Returns the number of the return after the connection; that of the last event if the record
    ends before."""
    connected = False
    for number in range(request, len(events)):
        connected = connected or _is(events[number], "store", "FABRIC_REGS_PRR_CONNECT")
        if connected and events[number].what == RETURN:
            return number
    return len(events) - 1


def _slices(events: Sequence[Event]) -> Iterator[Sequence[Event]]:
    """Yields the events of each path, from the trap to the return after the connection."""
    end = 0
    for request, event in enumerate(events):
        if request < end or not _is(event, "store", "FABRIC_REGS_REQUEST"):
            continue
        trap = _trap_of(events, request)
        if trap is not None:
            end = _end_of(events, request)
            yield events[trap : end + 1]


def _listed(events: Sequence[Event]) -> bool:
    """Whether the request waited in the search list."""
    return any(_is(event, "load", "FABRIC_REGS_NEW_SOLUTION") for event in events)


def _solve(path: Path, events: Sequence[Event], begin: int) -> int:
    """The terms from the guest's store to what the answer allows at once; returns where they
    end."""
    request = next(event for event in events if _is(event, "store", "FABRIC_REGS_REQUEST"))
    answer = [event for event in events if _is(event, "load", "FABRIC_REGS_SOLUTION")][-1].executed + 1
    done = next(event for event in events if event.executed >= answer and (event.what in _ENDS or _works(event)))
    path.add("trap", request.executed - begin)
    path.add("search", answer - request.executed)
    path.configures = _is(done, "store", "FABRIC_REGS_ICAP_START")
    path.preempts = done.what in _ENDS
    path.add(OVERLAPPED if path.preempts else f"solution_{path.name}", done.executed + 1 - answer)
    return done.executed + 1


def _woken(events: Sequence[Event], before: int, otherwise: int) -> int:
    """Returns when the hart entered the hypervisor, by a trap or out of its sleep, last before
    `before`."""
    return max(
        (event.executed + 1 for event in events if event.what in _BEGINS and event.executed < before), default=otherwise
    )


def _interrupt(path: Path, events: Sequence[Event], end: int) -> int:
    """The terms of the manager's first interrupt after `end` that connects or configures; returns
    where they end."""
    later = [event for event in events if event.executed >= end]
    done = next(event for event in later if _works(event))
    before = later[: later.index(done)]
    status = [event.executed for event in before if _is(event, "load", "FABRIC_REGS_IRQ_STATUS")][-1]
    path.add("pl_irq", status - _woken(before, status, end))
    path.add("irq_pcap" if path.configures else "irq_stop", done.executed + 1 - status)
    path.configures = path.configures or _is(done, "store", "FABRIC_REGS_ICAP_START")
    return done.executed + 1


def _works(event: Event) -> bool:
    """The manager connects an IF, or starts a configuration."""
    return _is(event, "store", "FABRIC_REGS_PRR_CONNECT") or _is(event, "store", "FABRIC_REGS_ICAP_START")


def _inside(events: Sequence[Event]) -> int:
    """The instructions of the hypervisor, and the guest's store."""
    guests = 0
    left = None
    for event in events:
        if event.what == RETURN:
            left = event.executed + 1
        elif event.what == TRAP and left is not None:
            guests += event.executed - left
    return events[-1].executed + 2 - events[0].executed - guests


def _path(events: Sequence[Event]) -> Path:
    path = Path()
    begin = events[0].executed - 1  # the guest's store
    connected = [event for event in events if _is(event, "store", "FABRIC_REGS_PRR_CONNECT")][-1].executed + 1
    end = _solve(path, events, begin)
    while end < connected:
        end = _interrupt(path, events, end)
    path.add("resume", events[-1].executed + 1 - end)
    path.whole = _inside(events)
    return path


def paths(events: Sequence[Event]) -> list[Path]:
    """
    Returns the paths of a record in which no other VM requests a region inside a path. Those whose
    request entered the search list are left out.
    """
    found = []
    for events_of_path in _slices(events):
        try:
            if not _listed(events_of_path):
                found.append(_path(events_of_path))
        except (StopIteration, IndexError) as error:
            raise ParseError(f"a path without a request, an answer or an interrupt: {events_of_path[:8]}") from error
    return found


def device_interrupts(events: Sequence[Event]) -> list[int]:
    """Returns, for each interrupt of a VM's device that wakes the hart: the instructions from its
    sleep to the guest's next instruction."""
    costs = []
    woken: int | None = None
    handled = False
    for event in events:
        if event.what == SLEEP:
            woken, handled = event.executed + 1, False
        elif event.what in (INTERRUPT, TRAP):
            woken = None
        elif event.what == DEVICE:
            handled = True
        elif event.what == RETURN and woken is not None and handled:
            costs.append(event.executed + 1 - woken)
            woken = None
    return costs


def summaries(found: Sequence[Path]) -> dict[str, list[int]]:
    """Returns the metrics, without prefix: costs beyond the fabric's times and whole costs of each
    path, and terms."""
    metrics: dict[str, list[int]] = {}
    for path in found:
        metrics.setdefault(f"path.{path.name}", []).append(path.beyond)
        metrics.setdefault(f"path.{path.name}.whole", []).append(path.whole)
        for term, costs in path.terms.items():
            metrics.setdefault(f"term.{term}", []).extend(costs)
    return {name: metrics[name] for name in sorted(metrics)}
