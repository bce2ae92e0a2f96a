# SPDX-License-Identifier: Apache-2.0
"""The timeline of a trace: the slices of VCPUs on harts, exits, and jobs of RT apps. Times are
nanoseconds."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from tessera.trace.calls import call_name, hypercall_name
from tessera.trace.clock import nanoseconds
from tessera.trace.ring import Event, Kind, Ring

VcpuId = tuple[int, int]  # VM, VCPU

# The argument of an exit: core/include/trace_layout.h.
_INTERRUPT = 1 << 63
_CAUSE = _INTERRUPT | 0xFF
_DETAIL_SHIFT = 8
_FUNCTION_BITS = 24
_ECALL = 10
_ACCESSES = {20: "fetch", 21: "load", 23: "store"}  # guest-page faults
_CAUSES = {
    22: "virtual instruction",
    _INTERRUPT | 1: "interrupt from another hart",
    _INTERRUPT | 5: "timer interrupt",
    _INTERRUPT | 9: "device interrupt",
}
_LINES = {2: "software", 6: "timer", 10: "external"}  # bits of hvip


@dataclass
class Span:
    """A named interval. `end` None: the interval continues after the end of the trace."""

    start: int
    end: int | None
    name: str


@dataclass
class Exit(Span):
    """The time from a trap into the hypervisor to the return, or to a switch of VCPUs. `vm` and
    `address` if a guest-page fault is the cause: the VM and the guest-physical address."""

    vm: int | None = None
    address: int | None = None


@dataclass
class Slice:
    """An interval in which one VCPU runs on a hart, or in which the hart is idle (`vcpu_id`
    None)."""

    start: int
    end: int | None
    vcpu_id: VcpuId | None


@dataclass
class Mark:
    """An event without duration."""

    at: int
    name: str
    args: dict[str, int] = field(default_factory=dict)


@dataclass
class Job:
    """A job of an RT app. `end` None: not complete at the end of the trace. A job that misses its
    deadline continues in the next period."""

    number: int
    release: int
    deadline: int
    end: int | None = None
    missed: bool = False
    overruns: list[int] = field(default_factory=list)


@dataclass
class Hart:
    """The intervals of a hart. `exits` lie inside `slices`: an exit that ends in a context switch
    is split in two."""

    number: int
    slices: list[Slice] = field(default_factory=list)
    exits: list[Exit] = field(default_factory=list)
    hypercalls: list[int] = field(default_factory=list)


@dataclass
class Timeline:
    start: int
    end: int
    harts: list[Hart]
    marks: dict[VcpuId, list[Mark]] = field(default_factory=dict)
    jobs: dict[VcpuId, list[Job]] = field(default_factory=dict)
    lost: int = 0

    def runs(self, vcpu_id: VcpuId | None) -> list[tuple[int, int, int]]:
        """Returns the slices of a VCPU, or with None the idle times, on all harts: start, end,
        hart."""
        found = [
            (piece.start, self.end if piece.end is None else piece.end, hart.number)
            for hart in self.harts
            for piece in hart.slices
            if piece.vcpu_id == vcpu_id
        ]
        return sorted(found)

    def vcpus(self) -> list[VcpuId]:
        """Returns all VCPUs with slices, marks or jobs."""
        ran = {piece.vcpu_id for hart in self.harts for piece in hart.slices if piece.vcpu_id is not None}
        return sorted(ran | self.marks.keys() | self.jobs.keys())


def read_exit(at: int, event: Event) -> Exit:
    """Returns the exit that an event begins, named after its cause."""
    cause, detail = event.arg & _CAUSE, (event.arg & ~_INTERRUPT) >> _DETAIL_SHIFT
    if cause in _ACCESSES:
        return Exit(at, None, f"{_ACCESSES[cause]} {detail:#x}", event.vm, detail)
    if cause == _ECALL:
        extension, function = divmod(detail, 1 << _FUNCTION_BITS)
        return Exit(at, None, call_name(extension, function))
    unknown = f"{'interrupt' if cause & _INTERRUPT else 'exception'} {cause & ~_INTERRUPT}"
    return Exit(at, None, _CAUSES.get(cause, unknown))


def _signed(value: int) -> int:
    return value - (1 << 32) if value >= 1 << 31 else value


class _HartReader:
    """Derives slices and exits from a hart's events, which are passed in order."""

    def __init__(self, hart: Hart, start: int) -> None:
        self.hart = hart
        self.exit: Exit | None = None
        self.start = start

    def switch(self, at: int, vcpu_id: VcpuId | None) -> None:
        slices = self.hart.slices
        if slices and slices[-1].vcpu_id == vcpu_id:
            return  # the scheduler picked the running VCPU again
        if slices:
            slices[-1].end = at
        if self.exit is not None:
            self.leave(at)
            self.exit = Exit(at, None, "switch")
        slices.append(Slice(at, None, vcpu_id))

    def enter(self, at: int, event: Event) -> None:
        if not self.hart.slices:  # older events of the hart were overwritten
            self.hart.slices.append(Slice(self.start, None, (event.vm, event.vcpu)))
        self.exit = read_exit(at, event)

    def leave(self, at: int) -> None:
        if self.exit is not None:
            self.exit.end = at
            self.hart.exits.append(self.exit)
            self.exit = None


def _read_hart(ring: Ring, times: list[int]) -> Hart:
    hart = Hart(ring.hart)
    reader = _HartReader(hart, times[0] if times else 0)
    for at, event in zip(times, ring.events, strict=True):
        if event.kind in (Kind.SWITCH, Kind.IDLE):
            reader.switch(at, (event.vm, event.vcpu) if event.kind is Kind.SWITCH else None)
        elif event.kind is Kind.EXIT:
            reader.enter(at, event)
        elif event.kind is Kind.RETURN:
            reader.leave(at)
        elif event.kind is Kind.HYPERCALL:
            hart.hypercalls.append(at)
    return hart


def _mark(at: int, event: Event) -> Mark | None:
    if event.kind is Kind.INJECT:
        lines = [name for bit, name in _LINES.items() if event.arg >> bit & 1]
        return Mark(at, f"{' and '.join(lines) or 'no'} interrupt", {"bits": event.arg})
    if event.kind is Kind.HYPERCALL:
        return Mark(at, hypercall_name(event.arg & 0xFFFFFFFF), {"error": _signed(event.arg >> 32)})
    if event.kind is Kind.SEND:
        return Mark(at, "message sent", {"to_vm": event.arg & 0xFFFF, "to_vcpu": event.arg >> 16})
    if event.kind is Kind.RECEIVE:
        sender = {"from_vm": event.arg >> 16 & 0xFF, "from_vcpu": event.arg >> 24}
        return Mark(at, "message received", {"bytes": event.arg & 0xFFFF} | sender)
    return None


class _AppReader:
    """Derives jobs from the events of one RT app, which are passed in order."""

    def __init__(self, tick: float) -> None:
        self.tick = tick
        self.jobs: list[Job] = []

    @property
    def open(self) -> Job | None:
        return self.jobs[-1] if self.jobs and self.jobs[-1].end is None else None

    def take(self, at: int, event: Event) -> None:
        if event.kind is Kind.RELEASE:
            self.jobs.append(Job(len(self.jobs) + 1, at, int(event.arg * self.tick)))
            return
        job = self.open
        if job is None:
            return  # the job's release was overwritten
        if event.kind in (Kind.COMPLETION, Kind.LEAVE):
            job.end = at
        elif event.kind is Kind.MISS:
            job.missed = True
        elif event.kind is Kind.OVERRUN:
            job.overruns.append(at)


_OF_APPS = (Kind.RELEASE, Kind.COMPLETION, Kind.MISS, Kind.OVERRUN, Kind.LEAVE)


def _in_order(rings: Sequence[Ring], times: Sequence[Sequence[int]]) -> list[tuple[int, int, int, Event]]:
    """Returns the events of all harts, sorted by time, hart, and place in their ring."""
    return sorted(
        (at, ring.hart, place, event)
        for ring, own in zip(rings, times, strict=True)
        for place, (at, event) in enumerate(zip(own, ring.events, strict=True))
    )  # fmt: skip


def timeline(rings: Sequence[Ring], timebase_hz: int) -> Timeline:
    """Derives the timeline from the rings of all harts."""
    tick = 1e9 / timebase_hz
    times = nanoseconds(rings, timebase_hz)
    together = _in_order(rings, times)
    harts = [_read_hart(ring, own) for ring, own in zip(rings, times, strict=True)]
    span = (together[0][0], together[-1][0]) if together else (0, 0)
    result = Timeline(*span, harts, lost=sum(ring.lost for ring in rings))
    apps: dict[VcpuId, _AppReader] = {}
    for at, _, _, event in together:
        vcpu_id = (event.vm, event.vcpu)
        if event.kind in _OF_APPS:
            apps.setdefault(vcpu_id, _AppReader(tick)).take(at, event)
        elif mark := _mark(at, event):
            result.marks.setdefault(vcpu_id, []).append(mark)
    result.jobs = {vcpu_id: reader.jobs for vcpu_id, reader in apps.items() if reader.jobs}
    return result
