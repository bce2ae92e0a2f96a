# SPDX-License-Identifier: Apache-2.0
"""virtio-console: a line between two VMs carries bytes both ways, in order, and holds them without buffers."""

import pytest
from core import LONG
from hypothesis import given, settings
from hypothesis import strategies as st
from virtio import GPA, NEEDS_RESET, WRITE, Device, boot, booted, make, restart

CONSOLE = 3
SEND_AT, RECEIVE_AT = GPA + 0x80000, GPA + 0x100000
LINE = [{"vm": 0, "kind": CONSOLE, "other": 1}, {"vm": 1, "kind": CONSOLE, "other": 0}]


class End:
    def __init__(self, vm: int, poll: int = 0) -> None:
        self.device = Device(vm, poll=poll, size=64).start()
        self.offered: list[tuple[int, int]] = []
        self.sent = 0

    def offer(self, size: int) -> None:
        queue, at = self.device.queues[0], RECEIVE_AT + 0x1000 * queue_place(self)
        queue.descriptor(queue.avail % 64, at, size, WRITE)
        self.offered.append((at, queue.avail % 64))
        queue.offer(queue.avail % 64)
        queue.notify()

    def send(self, data: bytes, cut: int) -> None:
        at, first, queue = SEND_AT + 0x1000 * self.sent, 2 * self.sent, self.device.queues[1]
        self.device.put(at, data)
        cut = max(1, min(cut, len(data)))
        parts = [(at, cut, False), (at + cut, len(data) - cut, False)]
        queue.chain(first, [part for part in parts if part[1]])
        queue.offer(first)
        self.sent += 1
        queue.notify()

    def received(self) -> bytes:
        found = b""
        for head, length in self.device.queues[0].returned():
            at, expected = self.offered.pop(0)
            assert head == expected
            found += self.device.get(at, length)
        return found


def queue_place(end: End) -> int:
    return end.device.queues[0].avail % 32


EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("offer"), st.integers(0, 1), st.integers(1, 1500), st.just(0)),
        st.tuples(st.just("send"), st.integers(0, 1), st.integers(1, 2500), st.integers(0, 2500)),
    ),
    max_size=40,
)


class Line:
    def __init__(self, poll: int) -> None:
        booted(LINE)
        self.ends = [End(0, poll), End(1, poll)]
        self.sent, self.got = [b"", b""], [b"", b""]

    def offer(self, who: int, size: int, _cut: int) -> None:
        if len(self.ends[who].offered) < 20:
            self.ends[who].offer(size)

    def send(self, who: int, size: int, cut: int) -> None:
        if self.ends[who].sent < 20:
            data = bytes((128 * who + len(self.sent[who]) + i) & 0xFF for i in range(size))
            self.sent[who] += data
            self.ends[who].send(data, cut)

    def collect(self) -> None:
        for who in (0, 1):
            self.got[who] += self.ends[1 - who].received()
            assert self.sent[who].startswith(self.got[who])


@settings(max_examples=500 if LONG else 60, deadline=None, derandomize=True)
@given(EVENTS, st.integers(0, 2))
def test_line(events: list[tuple], poll: int):
    line = Line(poll)
    for name, *arguments in events:
        getattr(line, name)(*arguments)
        line.collect()
    for _ in range(200):
        for who in (0, 1):
            line.offer(who, 1500, 0)
        line.collect()
    assert line.got == line.sent
    for end in line.ends:
        assert end.device.status & NEEDS_RESET == 0
        assert len(end.device.queues[1].returned()) == end.sent


def test_nobody_at_the_other_end():
    """Bytes are lost, as on a serial line, and the buffers come back."""
    booted(LINE)
    end = End(0)
    end.send(b"lost", 1)
    assert len(end.device.queues[1].returned()) == 1
    other = End(1)
    other.offer(100)
    end.send(b"there", 1)
    assert other.received() == b"t"
    restart(1)
    end.send(b"lost again", 1)
    assert len(end.device.queues[1].returned()) == 2


@pytest.mark.parametrize(("address", "length", "flags"), [(GPA, 64, 0), (GPA, 0, WRITE), (0x1000, 64, WRITE)])
def test_wrong_buffers(address: int, length: int, flags: int):
    """Only the receiver's device needs a reset."""
    booted(LINE)
    sender, receiver = End(0), End(1)
    receiver.device.queues[0].descriptor(0, address, length, flags)
    receiver.device.queues[0].offer(0)
    sender.send(b"data", 4)
    assert receiver.device.status & NEEDS_RESET
    assert sender.device.status & NEEDS_RESET == 0


def test_wrong_sends():
    booted(LINE)
    sender = End(0)
    sender.device.queues[1].descriptor(0, GPA, 8, WRITE)
    sender.device.queues[1].offer(0)
    sender.device.queues[1].notify()
    assert sender.device.status & NEEDS_RESET


def test_refused_line():
    make([{"vm": 0, "kind": CONSOLE, "other": 7}])
    assert "a console without another end" in str(boot())


@pytest.mark.parametrize("other", [0, 1])
def test_line_with_a_wrong_end(other: int):
    """An image that only damage could make: bytes are lost, nothing else happens."""
    booted([{"vm": 0, "kind": CONSOLE, "other": other}, {"vm": 1, "kind": CONSOLE, "other": 1}])
    end = End(0)
    end.send(b"lost", 4)
    assert len(end.device.queues[1].returned()) == 1
