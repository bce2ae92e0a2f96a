# SPDX-License-Identifier: Apache-2.0
"""
Time of events in nanoseconds. The board's counter may be coarse (QEMU's ticks are 100 ns, an exit takes less), but
where the finest counter of the harts runs with it, at one count a nanosecond, as instret does under QEMU's -icount
shift=0, it tells the rest.
"""

from collections.abc import Sequence

from tessera.trace.ring import Event, Ring

_WRAP = 1 << 32
_BETWEEN = 32  # counts from reading the one counter to reading the other, at most


def _drift(event: Event, tick: float) -> int:
    """By how much the finest counter is ahead, modulo its wrap."""
    return (event.executed - int(event.time * tick)) % _WRAP


def _fine(events: Sequence[Event], tick: float) -> int | None:
    """The least difference of the two counters, None if they do not run together."""
    if not events:
        return None
    first = _drift(events[0], tick)
    # Around the first one, so that differences on both sides of the wrap are near each other.
    spread = [(_drift(event, tick) - first + _WRAP // 2) % _WRAP - _WRAP // 2 for event in events]
    return (first + min(spread)) % _WRAP if max(spread) - min(spread) < tick + _BETWEEN else None


def nanoseconds(rings: Sequence[Ring], timebase_hz: int) -> list[list[int]]:
    """The time of every event of every ring, since the counter's zero; within a ring never backwards."""
    tick = 1e9 / timebase_hz
    base = _fine([event for ring in rings for event in ring.events], tick)
    times = []
    for ring in rings:
        reached = 0
        own = []
        for event in ring.events:
            rest = 0 if base is None else (_drift(event, tick) - base) % _WRAP
            reached = max(reached, int(event.time * tick) + rest)
            own.append(reached)
        times.append(own)
    return times
