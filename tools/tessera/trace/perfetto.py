# SPDX-License-Identifier: Apache-2.0
"""A timeline as a Perfetto trace: a track for each hart, VM and RT app, for https://ui.perfetto.dev
or its tools."""

from itertools import count

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import TracePacket, TrackDescriptor, TrackEvent
from perfetto.trace_builder.proto_builder import TraceProtoBuilder

from tessera.trace.fabric import Regions
from tessera.trace.model import Hart, Job, Mark, Timeline, VcpuId
from tessera.trace.names import Names

_SEQUENCE = 1  # all packets have the same writer
_CLOCK = 6  # BUILTIN_CLOCK_BOOTTIME: nanoseconds since the machine was switched on


class _Writer:
    """Writes tracks and events as packets."""

    def __init__(self) -> None:
        self.builder = TraceProtoBuilder()
        self.uuids = count(1)

    def _packet(self, at: int | None = None) -> TracePacket:
        packet = self.builder.add_packet()
        packet.trusted_packet_sequence_id = _SEQUENCE
        if at is not None:
            packet.timestamp = at
            packet.timestamp_clock_id = _CLOCK
        return packet

    def track(self, name: str, parent: int | None = None, counter: bool = False) -> int:
        """Creates a track; children are shown in the order of their creation."""
        uuid = next(self.uuids)
        track = self._packet().track_descriptor
        track.uuid = uuid
        track.name = name
        track.sibling_order_rank = uuid
        track.child_ordering = TrackDescriptor.EXPLICIT
        if parent is not None:
            track.parent_uuid = parent
        if counter:
            track.counter.unit = track.counter.UNIT_COUNT
        return uuid

    def event(self, track: int, at: int, kind: int, name: str = "", **args: int) -> None:
        event = self._packet(at).track_event
        event.type = kind
        event.track_uuid = track
        if name:
            event.name = name
        for key, value in args.items():
            annotation = event.debug_annotations.add()
            annotation.name = key
            annotation.int_value = value

    def slice(self, track: int, start: int, end: int, name: str, **args: int) -> None:
        self.event(track, start, TrackEvent.TYPE_SLICE_BEGIN, name, **args)
        self.event(track, end, TrackEvent.TYPE_SLICE_END)

    def mark(self, track: int, mark: Mark) -> None:
        self.event(track, mark.at, TrackEvent.TYPE_INSTANT, mark.name, **mark.args)

    def counter(self, track: int, times: list[int]) -> None:
        for total, at in enumerate(times, 1):
            event = self._packet(at).track_event
            event.type = TrackEvent.TYPE_COUNTER
            event.track_uuid = track
            event.counter_value = total


def _write_hart(writer: _Writer, parent: int, hart: Hart, end: int, names: Names) -> None:
    track = writer.track(f"hart {hart.number}", parent)
    exits = iter([*hart.exits, None])
    exit_ = next(exits)
    for piece in hart.slices:
        last = end if piece.end is None else piece.end
        if piece.vcpu_id is not None:
            writer.event(track, piece.start, TrackEvent.TYPE_SLICE_BEGIN, names.of(piece.vcpu_id))
        while exit_ is not None and exit_.end is not None and exit_.end <= last:
            if piece.vcpu_id is not None:
                writer.slice(track, exit_.start, exit_.end, names.exit(exit_))
            exit_ = next(exits)
        if piece.vcpu_id is not None:
            writer.event(track, last, TrackEvent.TYPE_SLICE_END)
    if hart.hypercalls:
        writer.counter(writer.track(f"hart {hart.number} hypercalls", parent, counter=True), hart.hypercalls)


def _job_name(job: Job) -> str:
    return f"job {job.number}" + (" MISSED" if job.missed else "")


def _write_jobs(writer: _Writer, parent: int, jobs: list[Job], end: int, name: str) -> None:
    track = writer.track(f"{name} jobs", parent)
    for job in jobs:
        args = {"deadline": job.deadline, "overruns": len(job.overruns)}
        writer.slice(track, job.release, end if job.end is None else job.end, _job_name(job), **args)
        for at in job.overruns:
            writer.mark(track, Mark(at, "budget used up"))
    deadlines = writer.track(f"{name} deadlines", parent)
    for job in jobs:
        writer.mark(deadlines, Mark(job.deadline, "deadline MISSED" if job.missed else "deadline", {"job": job.number}))


def _write_vcpu(writer: _Writer, parent: int, line: Timeline, vcpu_id: VcpuId, names: Names) -> None:
    name = names.of(vcpu_id)
    track = writer.track(name, parent)
    for start, end, hart in line.runs(vcpu_id):
        writer.slice(track, start, end, f"on hart {hart}")
    for mark in line.marks.get(vcpu_id, []):
        writer.mark(track, mark)
    if jobs := line.jobs.get(vcpu_id):
        _write_jobs(writer, parent, jobs, line.end, name)


def _write_regions(writer: _Writer, regions: Regions, end: int) -> None:
    group = writer.track("fabric: regions")
    for number, spans in regions.items():
        track = writer.track(f"region {number}", group)
        for span in spans:
            if not span.idle and span.start < end:
                writer.slice(track, span.start, end if span.end is None else min(span.end, end), span.name)


def perfetto_trace(line: Timeline, names: Names, regions: Regions | None = None) -> bytes:
    """Returns the contents of a .perfetto-trace file, with a track for each of the fabric's
    regions."""
    writer = _Writer()
    harts = writer.track(f"{names.system}: harts")
    for hart in line.harts:
        _write_hart(writer, harts, hart, line.end, names)
    vcpus = line.vcpus()
    for vm in sorted({vm for vm, _ in vcpus}):
        group = writer.track(f"VM {names.vm(vm)}")
        for vcpu_id in vcpus:
            if vcpu_id[0] == vm:
                _write_vcpu(writer, group, line, vcpu_id, names)
    if regions:
        _write_regions(writer, regions, line.end)
    return writer.builder.serialize()
