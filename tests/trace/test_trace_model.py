# SPDX-License-Identifier: Apache-2.0
"""
The model of a trace: times, running VCPUs, jobs; and the Perfetto trace, which is parsed again.
"""

import re
from itertools import pairwise

import pytest
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent

from tessera.run.runner import ROOT
from tessera.trace.calls import abi_headers, call_name, extensions, hypercall_extension, hypercall_name, hypercalls
from tessera.trace.clock import nanoseconds
from tessera.trace.model import read_exit, timeline
from tessera.trace.names import Names
from tessera.trace.perfetto import perfetto_trace
from tessera.trace.plot import plot
from tessera.trace.ring import Event, Kind, Ring

HZ = 10_000_000
COMPONENTS = [path for folder in ("core", "devices", "ipc", "rt") for path in (ROOT / folder).rglob("component.c")]
TIMER = 1 << 63 | 5
UART = ("uart", 0x10000000, 0x100)
NAMES = Names("sys", ["linux", "rtm"], [1, 1], ["green", "magenta"], [[UART], []])
HCALL = 0x0A545353
END_JOB, UNKNOWN = 19, 63
LINUX, APP = (0, 0), (1, 1)


def call(extension, function):
    """The argument of an exit by a call."""
    return extension << 32 | function << 8 | 10


def event(ns, kind, who=LINUX, arg=0, offset=12345):
    """An event at a time in ns, with a tick of 100 ns and an instruction counter that counts ns."""
    return Event(ns // 100, (ns + offset) % (1 << 32), kind, *who, arg)


# A hart runs linux; a release switches to the app, whose job misses its deadline, and back.
EVENTS = [
    event(1000, Kind.SWITCH),
    event(1150, Kind.RETURN),
    event(5010, Kind.EXIT, arg=TIMER),
    event(5200, Kind.RELEASE, APP, arg=70),
    event(5230, Kind.SWITCH, APP),
    event(5333, Kind.RETURN, APP),
    event(8000, Kind.EXIT, APP, arg=call(HCALL, END_JOB)),
    event(8050, Kind.HYPERCALL, APP, arg=19),
    event(8100, Kind.MISS, APP, arg=70),
    event(8110, Kind.COMPLETION, APP, arg=70),
    event(8120, Kind.SWITCH),
    event(8200, Kind.RETURN),
    event(9000, Kind.EXIT, arg=0x10000005 << 8 | 21),
    event(9100, Kind.INJECT, arg=1 << 6),
    event(9150, Kind.RETURN),
]


def times_of(line):
    return [(turn.start, turn.end, turn.vcpu_id) for turn in line.harts[0].slices]


def test_the_instruction_counter_refines_the_clock():
    times = nanoseconds([Ring(0, EVENTS, 0)], HZ)[0]
    wanted = [1000, 1150, 5010, 5200, 5230, 5333, 8000, 8050, 8100, 8110, 8120, 8200, 9000, 9100, 9150]
    # All times have the same offset of less than a tick: the position of the first event in its
    # tick is unknown.
    assert {time - want for time, want in zip(times, wanted, strict=True)} == {times[0] - 1000}
    assert -100 < times[0] - 1000 <= 0


def test_a_counter_wraps_around():
    events = [event(ns, Kind.RETURN, offset=(1 << 32) - 2050) for ns in (1900, 2000, 2049, 2050, 2099, 7000)]
    times = nanoseconds([Ring(0, events, 0)], HZ)[0]
    assert [b - a for a, b in pairwise(times)] == [100, 49, 1, 49, 4901]


def test_an_unrelated_counter_is_ignored():
    events = [Event(10 + n, n * 7777, Kind.RETURN, 0, 0, 0) for n in range(5)]
    assert nanoseconds([Ring(0, events, 0)], HZ)[0] == [1000, 1100, 1200, 1300, 1400]


def test_running_vcpus():
    line = timeline([Ring(0, EVENTS, 0)], HZ)
    shift = line.start - 1000
    assert times_of(line) == [
        (1000 + shift, 5230 + shift, LINUX),
        (5230 + shift, 8120 + shift, APP),
        (8120 + shift, None, LINUX),
    ]
    assert line.runs(APP) == [(5230 + shift, 8120 + shift, 0)]
    exits = [(span.start - shift, span.end - shift, span.name) for span in line.harts[0].exits]
    assert exits == [
        (5010, 5230, "timer interrupt"),
        (5230, 5333, "switch"),
        (8000, 8120, "HCALL_RT_END_JOB"),
        (8120, 8200, "switch"),
        (9000, 9150, "load 0x10000005"),
    ]
    assert [mark.name for mark in line.marks[LINUX]] == ["timer interrupt"]
    assert [mark.name for mark in line.marks[APP]] == ["HCALL_RT_END_JOB"]


def test_calls_have_the_names_of_the_headers():
    """Those that the components list; no limit and no error code."""
    named = hypercalls()
    listed = [re.findall(r"{(HCALL_\w+),", path.read_text(encoding="utf-8")) for path in COMPONENTS]
    assert sorted(named.values()) == sorted(name for names in listed for name in names)
    assert (
        named[0] == "HCALL_INFO_GET_ID"
        and named[33] == "HCALL_IPC_RECV_MSG"
        and named[52] == "HCALL_ACCEL_OVERLAY_STATUS"
    )
    assert all(header.is_file() for header in abi_headers())
    assert hypercall_extension() == HCALL
    assert set(extensions().values()) == {"BASE", "TIME", "IPI", "RFENCE", "HSM", "SRST", "DBCN"}


@pytest.mark.parametrize(
    ("extension", "function", "name"),
    [
        (HCALL, 32, "HCALL_IPC_SEND_MSG"),
        (HCALL, UNKNOWN, "unknown hypercall 63"),
        (0x54494D45, 0, "SBI TIME set_timer"),
        (0x48534D, 2, "SBI HSM hart_get_status"),
        (0x10, 0, "SBI BASE get_spec_version"),
        (0x52464E43, 1, "SBI RFENCE remote_sfence_vma"),
        (0x4442434E, 2, "SBI DBCN console_write_byte"),
        (0x48534D, 9, "SBI HSM unknown function 9"),
        (1, 0, "SBI legacy console_putchar"),
        (8, 0, "SBI legacy shutdown"),
        (9, 7, "SBI unknown extension 0x9 function 7"),
        (0x7FFFFFFF, 0xFFFFFF, "SBI unknown extension 0x7fffffff function 16777215"),
    ],
)
def test_names_of_calls(extension, function, name):
    assert call_name(extension, function) == name
    assert read_exit(0, event(0, Kind.EXIT, arg=call(extension, function))).name == name


def test_marks_of_calls_and_messages():
    """A hypercall's mark has name and error, a message's its other end."""
    events = [
        event(1000, Kind.SWITCH),
        event(1100, Kind.HYPERCALL, arg=UNKNOWN | 0xFFFFFFFE << 32),
        event(1200, Kind.SEND, arg=1 | 2 << 16),
        event(1300, Kind.RECEIVE, arg=100 | 1 << 16 | 2 << 24),
    ]
    marks = timeline([Ring(0, events, 0)], HZ).marks[LINUX]
    assert [(mark.name, mark.args) for mark in marks] == [
        (hypercall_name(UNKNOWN), {"error": -2}),
        ("message sent", {"to_vm": 1, "to_vcpu": 2}),
        ("message received", {"bytes": 100, "from_vm": 1, "from_vcpu": 2}),
    ]


@pytest.mark.parametrize(
    ("cause", "vm", "name"),
    [
        (0x10000005 << 8 | 21, 0, "load 0x10000005 (uart)"),
        (0x100000FF << 8 | 23, 0, "store 0x100000ff (uart)"),
        (0x10000100 << 8 | 23, 0, "store 0x10000100 (no device)"),
        (0xFFFFFFF << 8 | 21, 0, "load 0xfffffff (no device)"),
        (0x1FF_FFFF_FFFF << 8 | 20, 0, "fetch 0x1ffffffffff (no device)"),
        (0x10000005 << 8 | 21, 1, "load 0x10000005 (no device)"),
        (0x10000005 << 8 | 21, 2, "load 0x10000005"),  # nothing is known of this VM's devices
        (22, 0, "virtual instruction"),
        (3 << 8 | 22, 0, "virtual instruction"),  # the details of other causes mean nothing
        (TIMER, 0, "timer interrupt"),
        (1 << 63 | 12, 0, "interrupt 12"),
        (3, 0, "exception 3"),
    ],
)
def test_names_of_exits(cause, vm, name):
    assert NAMES.exit(read_exit(0, event(0, Kind.EXIT, (vm, 0), cause))) == name


def test_an_idle_hart():
    events = [
        *EVENTS,
        event(9500, Kind.EXIT),
        event(9600, Kind.IDLE),
        event(9700, Kind.SWITCH),
        event(9800, Kind.RETURN),
    ]
    line = timeline([Ring(0, events, 0)], HZ)
    assert [turn.vcpu_id for turn in line.harts[0].slices] == [LINUX, APP, LINUX, None, LINUX]
    assert line.vcpus() == [LINUX, APP]


def test_jobs():
    events = [
        *EVENTS,
        event(10_000, Kind.RELEASE, APP, arg=120),
        event(10_500, Kind.OVERRUN, APP, arg=120),
        event(11_000, Kind.COMPLETION, APP, arg=120),
        event(20_000, Kind.RELEASE, APP, arg=220),
        event(21_000, Kind.LEAVE, APP),
        event(30_000, Kind.RELEASE, APP, arg=320),
    ]
    line = timeline([Ring(0, events, 0)], HZ)
    shift = line.start - 1000
    found = [
        (j.release - shift, j.deadline, j.end and j.end - shift, j.missed, len(j.overruns)) for j in line.jobs[APP]
    ]
    assert found == [
        (5200, 7000, 8110, True, 0),
        (10_000, 12_000, 11_000, False, 1),
        (20_000, 22_000, 21_000, False, 0),
        (30_000, 32_000, None, False, 0),
    ]


def test_overwritten_events():
    """The ring starts within an exit, a job and a slice."""
    line = timeline([Ring(0, EVENTS[8:], 100)], HZ)
    assert line.lost == 100
    assert line.jobs == {}
    assert [turn.vcpu_id for turn in line.harts[0].slices] == [LINUX]
    line = timeline([Ring(0, EVENTS[6:], 0)], HZ)
    assert [turn.vcpu_id for turn in line.harts[0].slices] == [APP, LINUX]


def test_no_events():
    line = timeline([Ring(0, [], 0)], HZ)
    assert perfetto_trace(line, NAMES)
    assert line.vcpus() == []


def read_back(line):
    """Tracks by name, with their events as (time, type, name)."""
    trace = Trace()
    trace.ParseFromString(perfetto_trace(line, NAMES))
    tracks = {p.track_descriptor.uuid: p.track_descriptor for p in trace.packet if p.HasField("track_descriptor")}
    events = {track.name: [] for track in tracks.values()}
    for packet in trace.packet:
        if packet.HasField("track_event"):
            what = packet.track_event
            events[tracks[what.track_uuid].name].append((packet.timestamp, what.type, what.name))
    return tracks, events


def test_perfetto_tracks():
    tracks, _ = read_back(timeline([Ring(0, EVENTS, 0)], HZ))
    parents = {t.name: tracks[t.parent_uuid].name if t.parent_uuid else None for t in tracks.values()}
    assert parents == {
        "sys: harts": None,
        "hart 0": "sys: harts",
        "hart 0 hypercalls": "sys: harts",
        "VM linux": None,
        "linux": "VM linux",
        "VM rtm": None,
        "rtm app 0": "VM rtm",
        "rtm app 0 jobs": "VM rtm",
        "rtm app 0 deadlines": "VM rtm",
    }


def test_perfetto_slices_nest():
    """
    Each end closes the last slice begun, and times are monotonic, as Perfetto requires of a track.
    """
    _, events = read_back(timeline([Ring(0, EVENTS, 0)], HZ))
    for name, own in events.items():
        depth, reached, deepest = 0, 0, 0
        for at, kind, _ in own:
            if kind == TrackEvent.TYPE_INSTANT:
                continue
            assert at >= reached, name
            reached = at
            depth += {TrackEvent.TYPE_SLICE_BEGIN: 1, TrackEvent.TYPE_SLICE_END: -1}.get(kind, 0)
            assert depth >= 0, name
            deepest = max(deepest, depth)
        assert depth == 0, name
        assert deepest == (2 if name == "hart 0" else deepest)


def test_perfetto_exits_name_calls_and_devices():
    _, events = read_back(timeline([Ring(0, EVENTS, 0)], HZ))
    names = [name for _, kind, name in events["hart 0"] if kind == TrackEvent.TYPE_SLICE_BEGIN]
    expected = ["linux", "timer interrupt", "rtm app 0", "switch", "HCALL_RT_END_JOB", "linux", "switch"]
    assert names == [*expected, "load 0x10000005 (uart)"]


def test_perfetto_jobs_and_deadlines():
    _, events = read_back(timeline([Ring(0, EVENTS, 0)], HZ))
    assert [name for _, kind, name in events["rtm app 0 jobs"] if kind == TrackEvent.TYPE_SLICE_BEGIN] == [
        "job 1 MISSED"
    ]
    assert events["rtm app 0 deadlines"] == [(7000, TrackEvent.TYPE_INSTANT, "deadline MISSED")]


def test_pictures(tmp_path):
    line = timeline([Ring(0, EVENTS, 0)], HZ)
    paths = [tmp_path / "t.png", tmp_path / "t.svg"]
    plot(line, NAMES, line.start, line.end, paths)
    assert paths[0].read_bytes().startswith(b"\x89PNG")
    first = paths[1].read_bytes()
    plot(line, NAMES, line.start, line.end, paths)
    assert paths[1].read_bytes() == first
    assert b"svg" in first
