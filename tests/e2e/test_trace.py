# SPDX-License-Identifier: Apache-2.0
"""The trace of real systems: its consistency, its content, and the cost of an event."""

from itertools import pairwise
from statistics import median

import pytest
from helpers import built, run
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace

from tessera.bench.machine import run_system
from tessera.bench.parse import figures, gaps, switches
from tessera.run.runner import ROOT, BuiltSystem, Qemu
from tessera.trace.model import Timeline, timeline
from tessera.trace.names import names_of
from tessera.trace.ring import Kind, Ring, TraceError
from tessera.trace.take import COUNTED, take

EVENT = 25  # maximum instructions per event
# Maximum instructions of the longer code paths in a traced system.
LONG_SWITCH = 75
LONG_CALL = 150
PATIENCE_S = 120
# The apps of rt-load in launch order: period, budget and deadline in microseconds.
LOAD = (
    (200, 20, 200), (300, 30, 250), (400, 50, 400), (500, 50, 350),
    (800, 90, 700), (1000, 140, 1000), (1500, 150, 1400), (2000, 345, 2000),
)  # fmt: skip
SWITCH_NS = 1500  # the hypervisor's share of a slice


def assert_consistent(ring: Ring, vms: int) -> None:
    """Time stamps never decrease; exits and returns alternate; events belong to the VCPU that
    runs."""
    for before, after in pairwise(ring.events):
        assert before.time <= after.time
    turns = [event.kind for event in ring.events if event.kind in (Kind.EXIT, Kind.RETURN)]
    assert all(before is not after for before, after in pairwise(turns))
    who: tuple[int, int] | None = None
    for event in ring.events:
        assert event.vm < vms
        if event.kind in (Kind.SWITCH, Kind.IDLE):
            who = (event.vm, event.vcpu) if event.kind is Kind.SWITCH else None
        elif event.kind in (Kind.EXIT, Kind.RETURN, Kind.HYPERCALL) and who is not None:
            assert (event.vm, event.vcpu) == who


def arguments(ring: Ring, kind: Kind, vm: int) -> list[int]:
    """The arguments of all events of one kind and VM."""
    return [event.arg for event in ring.events if event.kind is kind and event.vm == vm]


def seen(rings: list[Ring]) -> set[int]:
    return {event.vm for ring in rings for event in ring.events if event.kind is Kind.SWITCH}


@pytest.fixture(scope="module")
def load(qemu: Qemu) -> tuple[list[Ring], Timeline]:
    system = built("rt-load-traced")
    rings = take(qemu, system, 0.1, None, PATIENCE_S, *COUNTED)
    return rings, timeline(rings, system.data["timebase_hz"])


def test_one_hart(load: tuple[list[Ring], Timeline]) -> None:
    rings, line = load
    assert [ring.lost for ring in rings] == [0]
    assert_consistent(rings[0], 3)
    assert seen(rings) == {0, 1, 2}
    # Consecutive slices belong to different VCPUs, or one of them is idle.
    assert all(before.vcpu_id != after.vcpu_id for before, after in pairwise(line.harts[0].slices))
    assert all(before.end == after.start for before, after in pairwise(line.harts[0].slices))


def test_exits_name_calls_and_devices(load: tuple[list[Ring], Timeline]) -> None:
    """Every call of these guests is known; their accesses are to the emulated devices."""
    _, line = load
    names = names_of(built("rt-load-traced"))
    found = {names.exit(exit_) for exit_ in line.harts[0].exits}
    expected = {"HCALL_RT_CREATE_APP", "HCALL_RT_LAUNCH_APP", "HCALL_RT_END_JOB", "timer interrupt", "switch"}
    assert expected <= found
    assert "store 0x10000000 (uart)" in found
    assert "load 0x10000005 (uart)" in found
    assert not [name for name in found if "unknown" in name or "no device" in name or name == "load 0x0"]


def test_two_harts(qemu: Qemu) -> None:
    system = built("trio-traced")
    rings = take(qemu, system, None, None, PATIENCE_S)
    assert [ring.hart for ring in rings] == [0, 1]
    for ring in rings:
        assert len(ring.events) > 100
        assert_consistent(ring, 3)
    assert seen(rings) == {0, 1, 2}
    line = timeline(rings, system.data["timebase_hz"])
    for who in line.vcpus():
        for (_, end, _), (start, _, _) in pairwise(line.runs(who)):
            assert end <= start, f"{who} runs on two harts at once"


def test_every_job_is_seen(load: tuple[list[Ring], Timeline]) -> None:
    """Releases are one period apart; jobs end before their deadlines and within their budgets."""
    _, line = load
    assert len(line.jobs) == len(LOAD)
    for who, (period, budget, deadline) in zip(sorted(line.jobs), LOAD, strict=True):
        jobs = line.jobs[who]
        assert len(jobs) >= (line.end - jobs[0].release) // (period * 1000)
        for before, after in pairwise(jobs):
            assert after.deadline - before.deadline == period * 1000
        for job in jobs[:-1]:
            assert not job.missed
            assert not job.overruns
            assert job.end is not None
            assert job.end <= job.deadline
            assert 0 < job.deadline - job.release <= deadline * 1000
            # Each slice includes the hypervisor's share.
            turns = [(a, b) for a, b, _ in line.runs(who) if job.release <= a and b <= job.end + SWITCH_NS]
            assert turns
            assert sum(b - a for a, b in turns) <= budget * 1000 + SWITCH_NS * len(turns)


def test_earliest_deadline_first(load: tuple[list[Ring], Timeline]) -> None:
    """The app that gets the hart has the earliest deadline of all apps with a pending job."""
    _, line = load
    turns = [turn for turn in line.harts[0].slices if turn.vcpu_id in line.jobs]
    assert len(turns) > 500
    for turn in turns:
        waiting = {
            who: job.deadline
            for who, jobs in line.jobs.items()
            for job in jobs
            if job.release <= turn.start and (job.end is None or job.end > turn.start)
        }
        assert waiting[turn.vcpu_id] == min(waiting.values())


def test_every_message_is_seen(qemu: Qemu) -> None:
    """Sends and receives match, except for a message in transit at the ring's start or end."""
    (ring,) = take(qemu, built("pingpong-traced"), 0.05, None, PATIENCE_S, *COUNTED)
    sent, got = ([arguments(ring, kind, vm) for vm in (0, 1)] for kind in (Kind.SEND, Kind.RECEIVE))
    for vm, other in ((0, 1), (1, 0)):
        assert len(sent[vm]) > 100
        assert abs(len(sent[vm]) - len(got[other])) <= 1
        assert set(sent[vm]) == {other}
        # Bits: size, sender's VM << 16, sender's VCPU << 24.
        assert {word >> 16 for word in got[vm]} == {other}


def test_a_system_without_trace(qemu: Qemu) -> None:
    with pytest.raises(TraceError, match="'trio' has no trace memory"):
        take(qemu, built("trio"), 0.1, None, PATIENCE_S)


def test_a_system_that_ends_before_the_time(qemu: Qemu) -> None:
    with pytest.raises(TraceError, match=r"'bench-traced' did not get that far before QEMU ended: .*tessera"):
        take(qemu, built("bench-traced"), 1000, None, PATIENCE_S, *COUNTED)


def test_make_trace() -> None:
    done = run(["make", "--no-print-directory", "trace", "SYSTEM=switch", "TRACE_FLAGS=--seconds 0.05"])
    assert done.returncode == 0, done.stderr
    folder = ROOT / "build" / "trace"
    trace = Trace()
    trace.ParseFromString((folder / "switch.perfetto-trace").read_bytes())
    tracks = {packet.track_descriptor.name for packet in trace.packet if packet.HasField("track_descriptor")}
    assert {"hart 0", "bench-a", "bench-b"} <= tracks
    assert (folder / "switch.png").read_bytes().startswith(b"\x89PNG")
    assert (folder / "switch.svg").stat().st_size > 1000


# --- what it costs ---


def median_switch(qemu: Qemu, system: BuiltSystem) -> float:
    consoles = run_system(qemu, system)
    return median(switches(*(gaps(consoles.guests[name]) for name in system.names[:2])))


def test_an_event_costs_at_most_25_instructions(qemu: Qemu) -> None:
    off, on = (figures(run_system(qemu, built(name)).guests["bench"]) for name in ("bench", "bench-traced"))
    more = {name: on[name].min - off[name].min for name in off}
    for name in ("riscv.sbi.base", "riscv.mmio.uart_load", "riscv.plic.claim", "riscv.wfi.pending"):
        assert 0 < more[name] <= 2 * EVENT, name  # an exit and a return
    assert 0 < more["riscv.plic.complete"] <= 3 * EVENT  # and an injection
    assert 0 < more["riscv.hypercall.null"] <= 3 * EVENT + LONG_CALL  # and a hypercall


@pytest.mark.long
def test_switch_costs_three_events_and_the_class_lookup(qemu: Qemu) -> None:
    off, on = (median_switch(qemu, built(name)) for name in ("switch", "switch-traced"))
    assert 0 < on - off <= 3 * EVENT + LONG_SWITCH
