# SPDX-License-Identifier: Apache-2.0
"""
The layout of the hypervisor's trace memory: core/include/trace.h and trace_layout.h in Python.
tests/trace compares headers and module.
"""

from dataclasses import dataclass
from enum import IntEnum

from tessera.cheader import Record

MAGIC = 0x4543415254535354
VERSION = 2

RING = Record(
    "trace_ring",
    (("magic", "Q"), ("version", "I"), ("cpu", "I"), ("next", "Q"), ("end", "Q"), ("laps", "Q")),
)
EVENT = Record("trace_event", (("time", "Q"), ("executed", "I"), ("what", "I"), ("arg", "Q")))
RECORDS = (RING, EVENT)


class Kind(IntEnum):
    IDLE = 1
    SWITCH = 2
    EXIT = 3
    RETURN = 4
    INJECT = 5
    HYPERCALL = 6
    RELEASE = 7
    COMPLETION = 8
    MISS = 9
    OVERRUN = 10
    LEAVE = 11
    SEND = 12
    RECEIVE = 13


class TraceError(Exception):
    """The trace is damaged or missing; the text names the cause."""


@dataclass(frozen=True)
class Event:
    """One event. `time` is in ticks of the board's counter; `executed` is the low half of the
    hart's finest counter."""

    time: int
    executed: int
    kind: Kind
    vm: int
    vcpu: int
    arg: int


@dataclass(frozen=True)
class Ring:
    """A hart's events, oldest first; `lost` older events were overwritten."""

    hart: int
    events: list[Event]
    lost: int


def _event(data: bytes, offset: int) -> Event:
    fields = EVENT.unpack(data, offset)
    time, executed, what, arg = (int(fields[name]) for name, _ in EVENT.fields)
    try:
        kind = Kind(what & 0xFF)
    except ValueError:
        raise TraceError(f"an event of unknown kind {what & 0xFF}") from None
    return Event(time, executed, kind, what >> 8 & 0xFF, what >> 16 & 0xFF, arg)


def decode_ring(data: bytes, base: int) -> Ring:
    """Decodes one hart's part of the memory, at the physical address `base`. Raises TraceError
    without a trace."""
    if len(data) < RING.size + EVENT.size:
        raise TraceError(f"{len(data)} bytes are too few for a ring")
    head = {name: int(value) for name, value in RING.unpack(data).items()}
    if head["magic"] != MAGIC:
        raise TraceError(f"no trace at {base:#x}: the hypervisor has not started its trace, or has no trace memory")
    if head["version"] != VERSION:
        raise TraceError(f"a trace of version {head['version']}; this tool reads version {VERSION}")
    places = (len(data) - RING.size) // EVENT.size
    used, odd = divmod(head["next"] - base - RING.size, EVENT.size)
    if odd or not 0 <= used < places:
        raise TraceError(f"hart {head['cpu']}: next event at {head['next']:#x}, outside of the ring")
    order = [*range(used, places), *range(used)] if head["laps"] else [*range(used)]
    events = [_event(data, RING.size + place * EVENT.size) for place in order]
    return Ring(head["cpu"], events, (head["laps"] - 1) * places + used if head["laps"] else 0)


def decode(data: bytes, base: int, harts: int) -> list[Ring]:
    """Decodes the rings of all harts, whose parts of the memory are contiguous and of equal
    size."""
    size = len(data) // harts
    return [decode_ring(data[hart * size : (hart + 1) * size], base + hart * size) for hart in range(harts)]
