# SPDX-License-Identifier: Apache-2.0
"""virtio-console: a line between two VMs carries bytes both ways, in order, and holds them without buffers. Port 0, on
which Linux prints with interrupts disabled until the device has returned the bytes, drops them instead."""

import struct

import pytest
from core import CORE, examples, operator
from hypothesis import given, settings
from hypothesis import strategies as st
from virtio import (
    ENTROPY,
    EVENT_IDX,
    GPA,
    NEEDS_RESET,
    VERSION_1,
    WRITE,
    Device,
    boot,
    booted,
    line_counts,
    make,
    restart,
)

CONSOLE = 3
SEND_AT, RECEIVE_AT = GPA + 0x80000, GPA + 0x100000
MESSAGES, BYTES, ARRIVED = GPA + 0xC0000, GPA + 0xD0000, GPA + 0xE0000  # of consoles with several ports
MULTIPORT = 1 << 1
DEVICE_READY, PORT_ADD, PORT_READY, CONSOLE_PORT, PORT_OPEN, PORT_NAME = 0, 1, 3, 4, 6, 7
CONFIG_PORTS = 0x2004
TO_DRIVER, TO_DEVICE = 2, 3  # control queues


def console(vm: int, *ends: tuple[int, int], names: tuple[str, ...] = ()) -> dict:
    """A console whose ports have these other ends: numbers of a function and of its port."""
    return {
        "vm": vm,
        "kind": CONSOLE,
        "ports": len(ends),
        "other_functions": [function for function, _ in ends],
        "other_ports": [port for _, port in ends],
        "names": b"".join(name.encode().ljust(32, b"\0") for name in names),
    }


LINE = [console(0, (1, 0)), console(1, (0, 0))]
TWO = [console(0, (1, 0), (1, 1)), console(1, (0, 0), (0, 1))]


class End:
    """Port 0 of a console with one port, or port 1 of one with several."""

    def __init__(self, vm: int, poll: int = 0, port: int = 0) -> None:
        self.device = Device(vm, poll=poll, size=64).start(VERSION_1 | (MULTIPORT if port else 0))
        self.receive, self.transmit = self.device.queues[4 * port], self.device.queues[4 * port + 1]
        self.offered: list[tuple[int, int]] = []
        self.sent = 0

    def offer(self, size: int) -> None:
        queue, at = self.receive, RECEIVE_AT + 0x1000 * queue_place(self)
        queue.descriptor(queue.avail % 64, at, size, WRITE)
        self.offered.append((at, queue.avail % 64))
        queue.offer(queue.avail % 64)
        queue.notify()

    def send(self, data: bytes, cut: int) -> None:
        at, first, queue = SEND_AT + 0x1000 * self.sent, 2 * self.sent, self.transmit
        self.device.put(at, data)
        cut = max(1, min(cut, len(data)))
        parts = [(at, cut, False), (at + cut, len(data) - cut, False)]
        queue.chain(first, [part for part in parts if part[1]])
        queue.offer(first)
        self.sent += 1
        queue.notify()

    def received(self) -> bytes:
        found = b""
        for head, length in self.receive.returned():
            at, expected = self.offered.pop(0)
            assert head == expected
            found += self.device.get(at, length)
        return found


def queue_place(end: End) -> int:
    return end.receive.avail % 32


EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("offer"), st.integers(0, 1), st.integers(1, 1500), st.just(0)),
        st.tuples(st.just("send"), st.integers(0, 1), st.integers(1, 2500), st.integers(0, 2500)),
    ),
    max_size=40,
)


class Line:
    def __init__(self, poll: int) -> None:
        booted(TWO)
        self.ends = [End(0, poll, port=1), End(1, poll, port=1)]
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


@settings(max_examples=examples(60, 500), deadline=None, derandomize=True)
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
        assert len(end.transmit.returned()) == end.sent


@pytest.mark.parametrize("poll", [0, 1, 2])
def test_console_port_returns_bytes_at_once(poll: int):
    """The other end decides only which bytes arrive: those for which it has buffers. The others are counted."""
    booted(LINE)
    sender, receiver = End(0, poll), End(1, poll)
    for size in (4, 100):
        receiver.offer(size)
    sender.send(bytes(range(100)), 50)
    assert len(sender.transmit.returned()) == 1
    assert receiver.received() == bytes([*range(4), *range(4, 50)])
    sender.send(b"lost", 4)
    assert len(sender.transmit.returned()) == 1
    receiver.offer(100)
    assert receiver.received() == b""
    sender.send(b"kept", 4)
    assert receiver.received() == b"kept"
    assert (line_counts(0), line_counts(1)) == ((54, 54), (0, 0))
    restart(1)
    sender.send(b"gone", 4)
    assert line_counts(0) == (54, 58)
    booted(LINE)
    assert line_counts(0) == (0, 0), "after another boot"


def test_operator_sees_what_was_dropped():
    booted(LINE)
    sender, receiver = End(0), End(1)
    receiver.offer(3)
    sender.send(b"bytes", 5)
    nics, heading, *consoles = operator("p")
    assert (nics.split()[0], heading.split()) == ("NIC", ["console", "bytes", "sent", "dropped"])
    assert [line.split() for line in consoles] == [["vm-a", "0", "3", "2"], ["vm-b", "0", "0", "0"]]


def test_other_ports_wait_for_the_other_end():
    booted(TWO)
    sender, receiver = End(0, port=1), End(1, port=1)
    sender.send(b"waits", 5)
    assert sender.transmit.returned() == []
    receiver.offer(100)
    assert len(sender.transmit.returned()) == 1
    assert receiver.received() == b"waits"
    assert line_counts(0) == (5, 0)


def test_bytes_wait_for_a_port_with_another_number():
    booted([console(0, (1, 0), (1, 2), (1, 1)), console(1, (0, 0), (0, 2), (0, 1))])
    sender, receiver = Device(0).start(VERSION_1 | MULTIPORT), Device(1).start(VERSION_1 | MULTIPORT)
    sender.put(SEND_AT, b"waits")
    sender.queues[5].chain(0, [(SEND_AT, 5, False)])
    sender.queues[5].offer(0)
    sender.queues[5].notify()
    receiver.queues[6].chain(0, [(RECEIVE_AT, 8, True)])
    receiver.queues[6].offer(0)
    receiver.queues[6].notify()
    assert (sender.queues[5].returned(), receiver.queues[6].returned()) == ([(0, 0)], [(0, 5)])


def test_bytes_that_wait_are_forgotten_at_a_reset():
    booted(TWO)
    sender, receiver = End(0, port=1), End(1, port=1)
    sender.send(b"waits", 5)
    sender = End(0, port=1)
    sender.send(b"new", 3)
    receiver.offer(100)
    assert receiver.received() == b"new"


def test_bytes_that_wait_for_a_broken_device_are_dropped_when_more_follow():
    booted(TWO)
    sender, receiver = End(0, port=1), End(1, port=1)
    sender.send(b"waits", 5)
    receiver.device.store(receiver.device.config + 4, 2, 2)  # no bus master any more
    assert sender.transmit.returned() == []
    sender.send(b"more", 4)
    assert len(sender.transmit.returned()) == 2
    assert line_counts(0) == (0, 9)


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
    assert (end.device.line, other.device.line) == (True, True)
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


@pytest.mark.parametrize(("address", "flags"), [(GPA, WRITE), (0x1000, 0)])
def test_wrong_sends(address: int, flags: int):
    booted(LINE)
    sender, other = End(0), End(1)
    other.offer(100)
    sender.device.queues[1].descriptor(0, address, 8, flags)
    sender.device.queues[1].offer(0)
    sender.device.queues[1].notify()
    assert sender.device.status & NEEDS_RESET
    assert other.received() == b""


def test_index_beyond_the_queue():
    booted(LINE)
    sender = End(0)
    sender.device.put(sender.transmit.places[1] + 2, struct.pack("<H", 100))
    sender.transmit.notify()
    assert sender.device.status & NEEDS_RESET


def test_refused_line():
    make([console(0, (1, 0))])
    assert "a console without another end" in str(boot())
    make([console(0, (1, 4)), console(1, (0, 0))])
    assert "a console without another end" in str(boot())
    make([console(0)])
    assert "a console with a wrong number of ports" in str(boot())
    make([{**console(0, (1, 0)), "ports": 5}, console(1, (0, 0))])
    assert "a console with a wrong number of ports" in str(boot())


@pytest.mark.parametrize(
    ("end", "other"),
    [
        ((0, 0), console(1, (1, 0))),
        ((1, 0), console(1, (1, 0))),
        ((1, 0), console(1, (0, 1))),
        ((1, 1), console(1, (1, 0))),
        ((1, 3), console(1, (1, 0))),
        ((1, 0), {"vm": 1, "kind": ENTROPY, "ports": 1}),
    ],
)
def test_line_with_a_wrong_end(end: tuple[int, int], other: dict):
    """An image that only damage could make: bytes are lost, nothing else happens."""
    booted([console(0, end), other])
    end = End(0)
    end.offer(100)
    end.send(b"lost", 4)
    assert len(end.device.queues[1].returned()) == 1
    assert end.received() == b""
    assert line_counts(0) == (0, 0)


class Ports:
    """A console with several ports, and its driver."""

    def __init__(self, vm: int, ports: int, poll: int = 0) -> None:
        self.device = Device(vm, poll=poll, size=64).start(VERSION_1 | MULTIPORT)
        assert len(self.device.queues) == 2 * ports + 2
        self.messages = 0
        self.buffers: list[int] = []

    def say(self, port: int, event: int, value: int = 1) -> None:
        at, queue = MESSAGES + 64 * self.messages, self.device.queues[TO_DEVICE]
        self.device.put(at, struct.pack("<IHH", port, event, value))
        queue.chain(self.messages, [(at, 8, False)])
        queue.offer(self.messages)
        self.messages += 1
        queue.notify()

    def offer(self, count: int, size: int = 64) -> None:
        queue = self.device.queues[TO_DRIVER]
        for _ in range(count):
            head = queue.avail % 64
            queue.descriptor(head, RECEIVE_AT + 64 * head, size, WRITE)
            queue.offer(head)
        queue.notify()

    def heard(self) -> list[tuple]:
        found = []
        for head, length in self.device.queues[TO_DRIVER].returned():
            data = self.device.get(RECEIVE_AT + 64 * head, length)
            found.append((*struct.unpack_from("<IHH", data), data[8:]))
        return found

    def send(self, port: int, data: bytes) -> None:
        queue, at = self.device.queues[2 * port + 3 if port else 1], BYTES + 0x1000 * port
        self.device.put(at, data)
        queue.chain(0, [(at, len(data), False)])
        queue.offer(0)
        queue.notify()
        assert queue.returned() == [(0, 0)]

    def receive(self, port: int) -> bytes:
        """What arrives in one buffer, which was offered by offer_to()."""
        queue = self.device.queues[2 * port + 2 if port else 0]
        return b"".join(self.device.get(ARRIVED + 0x1000 * port, length) for _, length in queue.returned())

    def offer_to(self, port: int) -> None:
        queue = self.device.queues[2 * port + 2 if port else 0]
        queue.descriptor(0, ARRIVED + 0x1000 * port, 256, WRITE)
        queue.offer(0)
        queue.notify()


def test_a_sender_is_asked_to_notify_of_further_buffers():
    """Those that wait for the other end are not all sent by its stores."""
    booted(TWO)
    sender, receiver = (Device(vm).start(VERSION_1 | MULTIPORT | EVENT_IDX) for vm in (0, 1))
    receiver.queues[4].chain(0, [(RECEIVE_AT, 4, True)])
    receiver.queues[4].offer(0)
    for number in range(2):
        sender.queues[5].chain(number, [(SEND_AT, 4, False)])
        sender.queues[5].offer(number)
    sender.queues[5].notify()
    assert sender.queues[5].avail_event == 2
    assert receiver.queues[4].avail_event == 1, "behind the one that it has used"


NAMES = ("serial", "a" * 32, "x" * 31)
THREE = [console(0, (1, 1), (2, 0), (1, 0), names=NAMES), console(1, (0, 2), (0, 0)), console(2, (0, 1))]


@pytest.mark.parametrize("poll", [0, 1, 2])
def test_driver_learns_of_ports(poll: int):
    """In messages, as far as it offers buffers; names have no end mark."""
    booted(THREE)
    one = Ports(0, 3, poll)
    assert one.device.read(CONFIG_PORTS) == 3
    one.offer(2)
    assert one.heard() == []
    one.say(0xFFFFFFFF, DEVICE_READY)
    assert one.heard() == [(0, PORT_ADD, 1, b""), (1, PORT_ADD, 1, b"")]
    one.offer(30)
    assert one.heard() == [(2, PORT_ADD, 1, b"")]
    for port in (2, 0, 1):
        one.say(port, PORT_READY)
    assert one.heard() == [
        (2, PORT_OPEN, 1, b""),
        (2, PORT_NAME, 1, b"x" * 31),
        (0, CONSOLE_PORT, 1, b""),
        (0, PORT_OPEN, 1, b""),
        (0, PORT_NAME, 1, b"serial"),
        (1, PORT_OPEN, 1, b""),
        (1, PORT_NAME, 1, b"a" * 32),
    ]
    refused = ((1, PORT_READY, 0), (1, PORT_OPEN, 1), (0, DEVICE_READY, 0), (1, 99, 1))
    for message in ((3, PORT_READY, 1), (2**32 - 1, PORT_READY, 1), *refused):
        one.say(*message)
    assert one.heard() == []
    assert one.device.queues[TO_DEVICE].returned() == [(number, 0) for number in range(one.messages)]
    assert one.device.status & NEEDS_RESET == 0


def test_messages_without_a_queue_for_answers():
    """All that the driver has offered are taken."""
    booted(TWO)
    device = Device(0)
    assert device.accept(VERSION_1 | MULTIPORT)
    queue = device.enable(TO_DEVICE, GPA + 0x10000)
    device.write(20, 15, 1)
    device.put(MESSAGES, struct.pack("<IHH", 0, DEVICE_READY, 1))
    for number in range(2):
        queue.chain(number, [(MESSAGES, 8, False)])
        queue.offer(number)
    queue.notify()
    assert queue.returned() == [(0, 0), (1, 0)]


def test_messages_are_forgotten_at_a_reset():
    booted(THREE)
    one = Ports(0, 3)
    one.say(0, DEVICE_READY)
    one = Ports(0, 3)
    one.offer(10)
    assert one.heard() == []
    queue = one.device.queues[TO_DEVICE]
    queue.chain(0, [(MESSAGES, 8, False)])  # the same message
    queue.offer(0)
    assert queue.notify_once(1), "it is read, and not returned"
    one = Ports(0, 3)
    one.offer(10)
    one.say(0, DEVICE_READY)
    assert [port for port, *_ in one.heard()] == [0, 1, 2]


def test_messages_about_a_port_behind_the_last_one():
    """They change nothing of the next console, whose bytes do not wait."""
    booted([console(0, (1, 0), (0, 1), (0, 2), (0, 3)), console(1, (0, 0))])
    four, sender = Ports(0, 4), End(1)
    four.say(0, DEVICE_READY)
    four.say(4, PORT_READY)
    sender.send(b"lost", 4)
    assert len(sender.transmit.returned()) == 1


@pytest.mark.parametrize("poll", [0, 1, 2])
def test_bytes_of_each_port(poll: int):
    """A port's bytes arrive at the other end of its line only."""
    booted(THREE)
    one, two, three = Ports(0, 3, poll), Ports(1, 2, poll), End(2, poll)
    ends = {(0, 0): (two, 1), (0, 2): (two, 0), (1, 0): (one, 2), (1, 1): (one, 0)}
    for (vm, port), (other, far) in ends.items():
        for device, ports in ((one, 3), (two, 2)):
            for number in range(ports):
                device.receive(number)
        other.offer_to(far)
        (one, two)[vm].send(port, b"from %d %d" % (vm, port))
        assert other.receive(far) == b"from %d %d" % (vm, port)
    three.offer(100)
    one.send(1, b"to the third")
    assert three.received() == b"to the third"


@pytest.mark.parametrize("look", range(1, 5))
@pytest.mark.parametrize("poll", range(1, 7))
@pytest.mark.parametrize("ports", [(1, 2), (2, 1)])
def test_two_vcpus_that_offer_buffers_to_two_ports_at_once(ports: tuple[int, int], look: int, poll: int):
    """Interrupts divide both notifications, and one begins in the middle of the other."""
    booted([console(0, (1, 0), (1, 1), (1, 2)), console(2, (0, 0), (0, 1), (0, 2))])
    to, by = (Device(vm, size=64).start(VERSION_1 | MULTIPORT) for vm in (0, 2))
    receive, send = (0, 4, 6), (1, 5, 7)
    for port in ports:
        by.put(SEND_AT + 64 * port, b"port%d" % port)
        by.queues[send[port]].chain(0, [(SEND_AT + 64 * port, 5, False)])
        by.queues[send[port]].offer(0)
        by.queues[send[port]].notify()
    for port in ports:
        to.queues[receive[port]].chain(0, [(RECEIVE_AT + 64 * port, 64, True)])
        to.queues[receive[port]].offer(0)
    one, other = (to.queues[receive[port]] for port in ports)
    to.poll = 1
    other.notify_during(look, poll)
    one.notify()
    assert CORE.testbed_virtio_acted()
    to.poll = 0
    other.notify()
    for port in ports:
        assert to.queues[receive[port]].returned() == [(0, 5)]
        assert by.queues[send[port]].returned() == [(0, 0)]
        assert to.get(RECEIVE_AT + 64 * port, 5) == b"port%d" % port


def test_one_port_has_no_control_queues():
    booted(LINE)
    device = Device(0).start()
    assert device.offered & MULTIPORT == 0
    assert device.read(CONFIG_PORTS) == 1


@pytest.mark.parametrize(("size", "flags"), [(4, WRITE), (64, 0)])
def test_wrong_buffers_for_messages(size: int, flags: int):
    booted(THREE)
    one = Ports(0, 3)
    queue = one.device.queues[TO_DRIVER]
    queue.descriptor(0, RECEIVE_AT, size, flags)
    queue.offer(0)
    queue.notify()
    one.say(0, DEVICE_READY)
    assert one.device.status & NEEDS_RESET


@pytest.mark.parametrize(("size", "flags"), [(7, 0), (8, WRITE)])
def test_wrong_messages(size: int, flags: int):
    booted(THREE)
    one = Ports(0, 3)
    queue = one.device.queues[TO_DEVICE]
    queue.descriptor(0, SEND_AT, size, flags)
    queue.offer(0)
    queue.notify()
    assert one.device.status & NEEDS_RESET
