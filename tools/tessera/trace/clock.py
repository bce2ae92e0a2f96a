# SPDX-License-Identifier: Apache-2.0
"""
Times of events in nanoseconds. The board's counter may be coarse: a tick of QEMU's takes 100 ns,
longer than an exit. If the harts' finest counter runs at one count per nanosecond in step with it,
as instret does under QEMU's -icount shift=0, this counter gives the digits below a tick.
"""

from collections.abc import Sequence

from tessera.trace.ring import Event, Ring

_WRAP = 1 << 32
_BETWEEN = 32  # most counts between reading the two counters


def _drift(event: Event, tick: float) -> int:
    """Returns the difference of the finest counter to the board's counter, modulo its wrap."""
    return (event.executed - int(event.time * tick)) % _WRAP


def _fine(events: Sequence[Event], tick: float) -> int | None:
    """Returns the smallest difference of the two counters, None if they do not run in step."""
    if not events:
        return None
    first = _drift(events[0], tick)
    # Relative to the first difference, so that values on both sides of the wrap are close to each
    # other.
    spread = [(_drift(event, tick) - first + _WRAP // 2) % _WRAP - _WRAP // 2 for event in events]
    return (first + min(spread)) % _WRAP if max(spread) - min(spread) < tick + _BETWEEN else None


def nanoseconds(rings: Sequence[Ring], timebase_hz: int) -> list[list[int]]:
    """Returns the time of every event of every ring since the counter's zero; within a ring, times
    do not decrease."""
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
