# SPDX-License-Identifier: Apache-2.0
"""
Decoding of trace memory: the layout compared with the C header, rings before and after wrapping,
corruption.
"""

import re
from pathlib import Path

import pytest
from c_headers import evaluate
from hypothesis import given
from hypothesis import strategies as st

from tessera.trace.ring import EVENT, MAGIC, RECORDS, RING, VERSION, Kind, TraceError, decode, decode_ring

ROOT = Path(__file__).resolve().parents[2]
KINDS = ROOT / "core" / "include" / "trace_layout.h"
BASE = 0x9F000000
PLACES = 20
SIZE = RING.size + PLACES * EVENT.size + 16  # and a remainder smaller than an event


def ring(count, hart=0, base=BASE, size=SIZE, **head):
    """A ring with `count` events written as the hypervisor does."""
    data = bytearray(b"\xa5" * size)
    places = (size - RING.size) // EVENT.size
    for n in range(count):
        at = RING.size + n % places * EVENT.size
        data[at : at + EVENT.size] = EVENT.pack(time=1000 + n, executed=n, what=Kind.SEND | 3 << 8 | 65 << 16, arg=n)
    fields = {
        "magic": MAGIC,
        "version": VERSION,
        "cpu": hart,
        "next": base + RING.size + count % places * EVENT.size,
        "end": base + size - EVENT.size,
        "laps": count // places,
    }
    data[: RING.size] = RING.pack(**(fields | head))
    return bytes(data)


@given(st.integers(0, 5 * PLACES))
def test_the_last_events_in_order(count):
    found = decode_ring(ring(count), BASE)
    kept = range(max(0, count - PLACES), count)
    assert [event.arg for event in found.events] == [*kept]
    assert [event.time for event in found.events] == [1000 + n for n in kept]
    assert found.lost == max(0, count - PLACES)
    assert all((event.kind, event.vm, event.vcpu) == (Kind.SEND, 3, 65) for event in found.events)


def test_all_harts():
    data = ring(5, 0) + ring(50, 1, BASE + SIZE) + ring(0, 2, BASE + 2 * SIZE)
    found = decode(data, BASE, 3)
    assert [(one.hart, len(one.events), one.lost) for one in found] == [(0, 5, 0), (1, PLACES, 30), (2, 0, 0)]


@pytest.mark.parametrize(
    ("head", "words"),
    [
        ({"magic": 0}, "no trace at 0x9f000000"),
        ({"version": 99}, "version 99"),
        ({"next": BASE + RING.size + 1}, "outside of the ring"),
        ({"next": BASE}, "outside of the ring"),
        ({"next": BASE + RING.size + PLACES * EVENT.size}, "outside of the ring"),
    ],
)
def test_corruption_is_reported(head, words):
    with pytest.raises(TraceError, match=words):
        decode_ring(ring(3, **head), BASE)


def test_unknown_kinds_are_reported():
    data = bytearray(ring(3))
    data[RING.size + EVENT.offset("what")] = 200
    with pytest.raises(TraceError, match="unknown kind 200"):
        decode_ring(bytes(data), BASE)
    with pytest.raises(TraceError, match="too few"):
        decode_ring(b"", BASE)


def test_layout_is_that_of_the_header():
    expected = {"TRACE_MAGIC": MAGIC, "TRACE_VERSION": VERSION}
    for record in RECORDS:
        expected[f"sizeof(struct {record.name})"] = record.size
        for field, _ in record.fields:
            expected[f"offsetof(struct {record.name}, {field})"] = record.offset(field)
    assert evaluate(["trace.h"], expected) == expected


def test_kinds_are_those_of_the_header():
    found = dict(re.findall(r"^#define TRACE_([A-Z]+) (\d+)\b", KINDS.read_text(), flags=re.MULTILINE))
    assert {name: int(number) for name, number in found.items()} == {kind.name: kind.value for kind in Kind}
