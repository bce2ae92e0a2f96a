# SPDX-License-Identifier: Apache-2.0
"""A model of gpio_processor: from what a VM submitted and when, the cycles of all its pins' changes and results.

It computes with the times of commands, not cycle by cycle. A command that is taken in cycle c takes effect in cycle
c + 2 at the earliest; otherwise exactly at its time.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

WAIT, UNTIL, SET, WRITE, DRIVE, SAMPLE, CAPTURE, LOOP, REPEAT, PAUSE, END = range(1, 12)
TIMED = {WAIT, UNTIL, SET, WRITE, DRIVE, SAMPLE, CAPTURE, PAUSE, END}
LONG = {WAIT, UNTIL, CAPTURE}
RISING, FALLING = 1, 2
NEVER = 1 << 70
TIME_BITS = 48


@dataclass(frozen=True)
class Command:
    op: int
    delay: int = 0  # or a time, or a count
    bank: int = 0
    mask: int = 0
    value: int = 0
    pin: int = 0
    edges: int = 0
    now: bool = False

    def encode(self) -> int:
        word = self.now << 63 | self.op << 59 | self.edges << 57
        if self.op in LONG:
            return word | self.pin << 48 | self.delay % (1 << TIME_BITS)
        if self.op == WRITE:
            return word | self.value << 24 | self.delay
        return word | self.bank << 56 | self.mask << 40 | self.value << 24 | self.delay

    def pins(self, own: int) -> tuple[int, int]:
        """The pins that it names, and their values."""
        if self.op == WRITE:
            return own, self.value
        return self.mask << 16 * self.bank, self.value << 16 * self.bank


@dataclass(frozen=True)
class Result:
    op: int
    stamp: int
    pins: int
    by: int = 0
    late: bool = False
    forbidden: bool = False
    timeout: bool = False
    bad: bool = False

    @classmethod
    def decode(cls, word: int) -> "Result":
        flags, by = word >> 112 & 15, word >> 96 & 0xFFFF
        return cls(word >> 116, word & (1 << 64) - 1, word >> 64 & 0xFFFFFFFF, by, bool(flags & 1), bool(flags & 2),
                   bool(flags & 4), bool(flags & 8))  # fmt: skip


@dataclass
class Log:
    """What was done to a VM: cycles, in order."""

    pushes: list[tuple[int, Command, bool]] = field(default_factory=list)  # and whether it was accepted
    starts: list[int] = field(default_factory=list)
    stops: list[int] = field(default_factory=list)
    flushes: list[int] = field(default_factory=list)
    pops: list[int] = field(default_factory=list)


class Pads:
    """The levels of the pads in every cycle, and their edges by the time that results have."""

    def __init__(self, first: int, levels: list[int], pins: int):
        self.first, self.levels = first, levels
        self.edges: list[dict[int, list[int]]] = [{RISING: [], FALLING: []} for _ in range(pins)]
        before = 0
        for cycle, level in enumerate(levels, first):
            changed = level ^ before
            while changed:
                pin = changed.bit_length() - 1
                changed ^= 1 << pin
                self.edges[pin][RISING if level >> pin & 1 else FALLING].append(cycle + 2)
            before = level

    def at(self, stamp: int) -> int:
        at = stamp - 2 - self.first
        return self.levels[at] if at >= 0 else 0

    def edge(self, command: Command, first: int, last: int) -> int | None:
        """The first edge within these times."""
        found = []
        for edge in (RISING, FALLING):
            times = self.edges[command.pin][edge]
            at = bisect_left(times, first)
            if command.edges & edge and at < len(times) and times[at] <= last:
                found.append(times[at])
        return min(found, default=None)


class Model:
    """One VM. `changes` are (cycle, drive, pins, values), `results` are all, also those that are dropped."""

    def __init__(self, log: Log, own: int, pads: Pads, end: int, depth: int):
        self.log, self.own, self.pads, self.end, self.depth = log, own, pads, end, depth
        self.changes: list[tuple[int, bool, int, int]] = []
        self.results: list[Result] = []
        begin = 0
        for stop in [*sorted({*log.stops, *log.flushes}), end]:
            self._segment(begin, stop)
            begin = stop + 1

    def _segment(self, begin: int, stop: int) -> None:
        """From a stop to the next one, exclusive."""
        pushes = self.log.pushes
        pushes = pushes[bisect_left(pushes, begin, key=first) : bisect_left(pushes, stop, key=first)]
        starts = self.log.starts
        starts = starts[bisect_left(starts, begin) : bisect_left(starts, stop)]
        segment = Segment(self, [(cycle, command) for cycle, command, kept in pushes if kept], starts, stop)
        segment.run()
        self._check_space(pushes, segment.freed)

    def _check_space(self, pushes: list[tuple[int, Command, bool]], freed: list[tuple[int, int]]) -> None:
        kept = 0
        for cycle, _, accepted in pushes:
            oldest = freed[bisect_right(freed, cycle, key=first) - 1][1]
            assert accepted == (kept - oldest < self.depth), f"cycle {cycle}: accepted {accepted}, {kept - oldest} kept"
            kept += accepted


def first(item: tuple) -> int:
    return item[0]


class Segment:
    """The execution of commands between two stops."""

    def __init__(self, model: Model, commands: list[tuple[int, Command]], starts: list[int], stop: int):
        self.model, self.commands, self.starts, self.stop = model, commands, starts, stop
        self.freed = [(0, 0)]  # cycles, and the first command that the memory still holds then
        self.at, self.body, self.count, self.looping = 0, 0, 0, False
        self.ready = self._after_start(0)  # the first cycle in which the next command may be taken
        self.due, self.fresh, self.fired = 0, True, -1

    def _after_start(self, cycle: int) -> int:
        at = bisect_left(self.starts, cycle)
        return self.starts[at] + 1 if at < len(self.starts) else NEVER

    def run(self) -> None:
        while self.at < len(self.commands):
            pushed, command = self.commands[self.at]
            take = max(self.ready, pushed + 1)
            if take >= self.stop:
                return
            self.ready = take + 1
            misplaced = command.op == (LOOP if self.looping else REPEAT)
            self.at += 1
            if command.op in (LOOP, REPEAT) and not misplaced:
                self._loop(command, take)
            elif command.op in TIMED:
                self._timed(command, take)
            else:
                self._act(command, take, take + 1, bad=True)
            self._free(take)

    def _free(self, take: int) -> None:
        if self.looping and self.at - self.body == self.model.depth:
            self.looping = False
            self.freed.append((take + 2, self.at))
        elif not self.looping:
            self.freed.append((take + 1, self.at))

    def _loop(self, command: Command, take: int) -> None:
        if command.op == LOOP:
            self.looping, self.body, self.count = True, self.at, command.delay & 0xFFFF
            self.freed.append((take + 1, self.at))
        elif self.count == 1:
            self.looping = False
        else:
            self.at = self.body
            self.count -= self.count != 0

    def _timed(self, command: Command, take: int) -> None:
        if command.op == UNTIL:
            half = 1 << TIME_BITS - 1
            self.due = take + (command.delay - take + half) % (2 * half) - half
        else:
            self.due = (take if command.now or self.fresh else self.due) + command.delay
        self.fresh = False
        if command.op == CAPTURE:
            self._capture(command, take)
        elif command.op not in (WAIT, UNTIL):
            self._act(command, take, max(take + 1, self.due - 1))

    def _capture(self, command: Command, take: int) -> None:
        if not self.model.own >> command.pin & 1:
            self._act(command, take, take + 1, forbidden=True)
            return
        start = take + 1 + (self.fired == take)
        edge = self.model.pads.edge(command, start, self.due - 1)
        if edge is None:
            self._act(command, take, max(take + 1, self.due - 1), timeout=True)
            return
        self.ready, self.due = edge, edge
        if edge < self.stop:
            self._report(Result(CAPTURE, edge, self._levels(edge)))

    def _act(self, command: Command, take: int, fire: int, **flags: bool) -> None:
        """What happens in the cycle `fire` takes effect in the next."""
        self.ready = self.fired = fire
        if fire >= self.stop:
            return
        stamp = fire + 1
        late = 0 if "bad" in flags or "forbidden" in flags else max(0, stamp - self.due)
        if command.op in (SET, WRITE, DRIVE):
            pins, values = command.pins(self.model.own)
            self.model.changes.append((stamp, command.op == DRIVE, pins & self.model.own, values))
            if pins & ~self.model.own:
                flags["forbidden"] = True
        if late or flags or command.op == SAMPLE:
            by = min(late, 0xFFFF)
            self._report(Result(command.op, stamp, self._levels(stamp), by, late > 0, **flags))
        if command.op == END:
            self.ready, self.fresh = self._after_start(fire), True

    def _report(self, result: Result) -> None:
        self.model.results.append(result)

    def _levels(self, stamp: int) -> int:
        return self.model.pads.at(stamp) & self.model.own if stamp <= self.model.end else 0


def stored(results: list[Result], pops: list[int], flushes: list[int], depth: int) -> tuple[list[Result], list[Result]]:
    """The results of a VM that are popped, or kept at the end; and those dropped since the last flush."""
    kept, dropped, held = [], [], []
    pops, flushes = list(pops), list(flushes)
    for result in [*results, None]:
        stamp = result.stamp if result else NEVER
        while flushes and flushes[0] <= stamp:
            _take_out(kept, held, pops, flushes[0] + 1)
            held, dropped = [], []
            if flushes.pop(0) == stamp:
                result = None
        _take_out(kept, held, pops, stamp)
        if result:
            (dropped if len(held) == depth else held).append(result)
    return [*kept, *held], dropped


def _take_out(kept: list[Result], held: list[Result], pops: list[int], before: int) -> None:
    """The results that were popped before a cycle."""
    while pops and pops[0] < before:
        pops.pop(0)
        kept.append(held.pop(0))


def waveform(models: list[Model], pins: int) -> list[tuple[int, int]]:
    """The cycles in which the pins' registers have new values, and the values: output enables above levels."""
    events: list[tuple[int, int, Callable[[int], int]]] = []
    for model in models:
        own = model.own | model.own << pins
        for cycle, drive, mask, values in model.changes:
            shift = pins if drive else 0
            mask, values = mask << shift, values << shift
            events.append((cycle, 0, lambda now, mask=mask, values=values: now & ~mask | values & mask))
        events += [(cycle + 1, 1, lambda now, own=own: now & ~own) for cycle in model.log.flushes]
    events.sort(key=lambda event: event[:2])
    wave, now = [(0, 0)], 0
    for cycle, _, change in events:
        now = change(now)
        if wave[-1][0] == cycle:
            wave[-1] = (cycle, now)
        elif now != wave[-1][1]:
            wave.append((cycle, now))
    # A flush may undo a change of the same cycle.
    return [wave[0]] + [one for before, one in pairwise(wave) if before[1] != one[1]]
