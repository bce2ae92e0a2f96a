# SPDX-License-Identifier: Apache-2.0
"""virtio-vsock: packets of random sizes arrive whole and in order, however slowly the receiver offers buffers."""

import struct
from unittest.mock import patch

import pytest
from core import CORE, examples
from hypothesis import given, settings
from hypothesis import strategies as st
from virtio import (
    ACTION,
    ENTROPY,
    EVENT_IDX,
    GPA,
    ISR_CONFIG,
    ISR_QUEUE,
    NEEDS_RESET,
    SOCKET,
    VERSION_1,
    WRITE,
    Device,
    booted,
    pause,
    restart,
)

CIDS = [3, 4, 5]
REQUEST, RESPONSE, RESET, DATA = 1, 2, 3, 5
HEADER = struct.Struct("<QQIIIHHIII")
SEND_AT, RECEIVE_AT = GPA + 0x80000, GPA + 0x100000


def header(source: int, destination: int, length: int, op: int = DATA, kind: int = 1) -> bytes:
    return HEADER.pack(source, destination, 1000, 2000, length, kind, op, 0, 65536, 7)


class Endpoint:
    def __init__(self, vm: int, poll: int = 0) -> None:
        self.device = Device(vm, poll=poll, size=64).start()
        self.places: list[tuple[int, list[tuple[int, int, bool]]]] = []
        self.descriptor, self.at, self.sent = 0, RECEIVE_AT, 0

    def offer(self, sizes: list[int], notify: bool = True) -> None:
        buffers = []
        for size in sizes:
            buffers.append((self.at, size, True))
            self.at += (size + 7) & ~7
        head, queue = self.descriptor, self.device.queues[0]
        self.descriptor = queue.chain(head, buffers)
        queue.offer(head)
        self.places.append((head, buffers))
        if notify:
            queue.notify()

    def send(
        self, destination: int, data: bytes, op: int = DATA, cut: int = 0, source: int = -1, kind: int = 1
    ) -> None:
        packet = header(self.device.vm + 3 if source < 0 else source, destination, len(data), op, kind) + data
        at = SEND_AT + 0x2000 * self.sent
        self.device.put(at, packet)
        cut = max(1, min(cut, len(packet) - 1))
        queue, first = self.device.queues[1], 2 * self.sent
        queue.chain(first, [(at, cut, False), (at + cut, len(packet) - cut, False)])
        queue.offer(first)
        self.sent += 1
        queue.notify()

    def packet(self, to: "Endpoint", op: int, port: int, peer_port: int) -> None:
        """Sends a packet without data from a place that is used again."""
        queue, cids = self.device.queues[1], (self.device.vm + 3, to.device.vm + 3)
        self.device.put(SEND_AT, HEADER.pack(*cids, port, peer_port, 0, 1, op, 0, 65536, 7))
        queue.descriptor(60, SEND_AT, HEADER.size)
        queue.offer(60)
        queue.notify()

    def received(self) -> list[tuple[tuple, bytes]]:
        found = []
        for head, length in self.device.queues[0].returned():
            expected, buffers = self.places.pop(0)
            assert head == expected
            data = b"".join(self.device.get(at, size) for at, size, _ in buffers)[:length]
            fields = HEADER.unpack(data[:44])
            assert fields[4] == length - 44
            found.append((fields, data[44:]))
        return found


def functions(peers: int = 0b111) -> list[dict]:
    return [{"vm": vm, "kind": SOCKET, "cid": cid, "peers": peers & ~(1 << vm)} for vm, cid in enumerate(CIDS)]


EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("offer"), st.lists(st.integers(45, 3000), min_size=1, max_size=2)),
        st.tuples(st.just("send"), st.integers(0, 1), st.integers(1, 4000), st.integers(0, 4100)),
    ),
    max_size=40,
)


class Streams:
    """Two senders and a receiver, and what has been sent and received."""

    def __init__(self, poll: int) -> None:
        booted(functions())
        self.senders, self.receiver = [Endpoint(0, poll), Endpoint(1, poll)], Endpoint(2, poll)
        self.sent, self.got = [b"", b""], [b"", b""]

    def offer(self, sizes: list[int]) -> None:
        if len(self.receiver.places) < 20:
            self.receiver.offer(sizes)

    def send(self, who: int, size: int, cut: int) -> None:
        if self.senders[who].sent < 20:
            data = bytes((who * 128 + len(self.sent[who]) + i) & 0xFF for i in range(size))
            self.sent[who] += data
            self.senders[who].send(5, data, cut=cut)

    def collect(self) -> int:
        """Takes what has arrived; returns its bytes."""
        before = sum(map(len, self.got))
        for fields, data in self.receiver.received():
            assert fields[1:4] + fields[5:] == (5, 1000, 2000, 1, DATA, 0, 65536, 7)
            self.got[CIDS.index(fields[0])] += data
        for mine, theirs in zip(self.got, self.sent, strict=True):
            assert theirs.startswith(mine)
        return sum(map(len, self.got)) - before


@settings(max_examples=examples(100, 1000), deadline=None, derandomize=True)
@given(EVENTS, st.integers(0, 2))
def test_streams(events: list[tuple], poll: int):
    """Packets of random sizes: each stream arrives in order, and all of it once there are buffers."""
    streams = Streams(poll)
    for name, *arguments in events:
        getattr(streams, name)(*arguments)
        streams.collect()
    while streams.got != streams.sent:
        streams.receiver.at = RECEIVE_AT
        streams.offer([2000])
        assert streams.collect() > 0, "stuck"
    for endpoint in (*streams.senders, streams.receiver):
        assert endpoint.device.status & NEEDS_RESET == 0
    assert [len(sender.device.queues[1].returned()) for sender in streams.senders] == [s.sent for s in streams.senders]


@pytest.mark.parametrize(
    ("destination", "peers", "kind"), [(9, 0b111, 1), (2, 0b111, 1), (4, 0, 1), (4, 0b111, 2), (3, 0b111, 2)]
)
def test_packets_without_a_receiver(destination: int, peers: int, kind: int):
    """They are answered by a reset; a reset is not."""
    booted(functions(peers))
    sender, other = Endpoint(0), Endpoint(1)
    sender.offer([4096])
    sender.offer([4096])
    other.offer([4096])
    sender.send(destination, b"", op=RESET, kind=kind)
    sender.send(destination, b"", op=REQUEST, kind=kind)
    assert sender.received() == [((destination, 3, 2000, 1000, 0, kind, RESET, 0, 0, 0), b"")]
    assert other.received() == []


@pytest.mark.parametrize("peers", [(0b110, 0b100), (0b100, 0b001), (0b010, 0b001)])
def test_both_are_to_be_peers(peers: tuple[int, int]):
    """The field of a function that is no socket means nothing."""
    booted(
        [
            {"vm": 0, "kind": SOCKET, "cid": 3, "peers": peers[0]},
            {"vm": 2, "kind": ENTROPY, "cid": 4, "peers": 0b111},
            {"vm": 1, "kind": SOCKET, "cid": 4, "peers": peers[1]},
        ]
    )
    sender, other = Endpoint(0), Endpoint(1)
    sender.offer([100])
    other.offer([100])
    sender.send(4, b"", op=REQUEST)
    assert (len(sender.received()), len(other.received())) == ((0, 1) if peers == (0b010, 0b001) else (1, 0))


def test_a_vm_sends_to_itself():
    """The end of its life resets no stream with itself."""
    booted(functions())
    one = Endpoint(0)
    for _ in range(2):
        one.offer([100])
    one.send(3, b"", op=REQUEST)
    one.send(3, b"hello")
    assert [(fields[6], data) for fields, data in one.received()] == [(REQUEST, b""), (DATA, b"hello")]
    restart(0)
    one = Endpoint(0)
    one.offer([100])
    pause()
    assert one.received() == []


def test_a_header_in_a_buffer_of_its_own():
    booted(functions())
    sender, receiver = Endpoint(0), Endpoint(1)
    receiver.offer([HEADER.size, 100])
    sender.send(4, b"x")
    assert [data for _, data in receiver.received()] == [b"x"]


def test_a_receiver_is_interrupted():
    booted(functions())
    sender, receiver = Endpoint(0), Endpoint(1)
    receiver.offer([100])
    sender.send(4, b"x")
    assert receiver.device.line
    assert receiver.device.isr == ISR_QUEUE


def test_an_answer_without_space():
    """The sender has given a buffer that is too small for it."""
    booted(functions())
    sender = Endpoint(0)
    sender.offer([HEADER.size - 1])
    sender.send(9, b"", op=REQUEST)
    assert sender.device.status & NEEDS_RESET


def test_a_store_behind_the_addresses_of_a_queue_changes_nothing():
    """The field behind them says for whom the device continues to work when it has new buffers."""
    booted(functions())
    sender, receiver = Endpoint(0), Device(1, size=64)
    assert receiver.accept(VERSION_1)
    for offset in (56, 60):
        receiver.write(offset, 0xFFFFFFFF)
    with patch.object(receiver, "accept", return_value=True):
        receiver.start()
    sender.send(4, b"x")
    receiver.queues[0].chain(0, [(RECEIVE_AT, 100, True)])
    receiver.queues[0].offer(0)
    receiver.queues[0].notify()
    assert receiver.queues[0].returned() == [(0, HEADER.size + 1)]


@pytest.mark.parametrize(("destination", "kind"), [(9, 1), (4, 2), (3, 2)])
def test_an_answer_waits_for_a_buffer(destination: int, kind: int):
    booted(functions())
    sender = Endpoint(0)
    sender.send(destination, b"", op=REQUEST, kind=kind)
    assert sender.received() == []
    sender.offer([4096])
    assert sender.received() == [((destination, 3, 2000, 1000, 0, kind, RESET, 0, 0, 0), b"")]


def test_a_vm_that_stops():
    """What waits for it is answered by a reset, and does not hold the packets for others."""
    booted(functions())
    sender, receiver, other = Endpoint(0), Endpoint(1), Endpoint(2)
    for _ in range(3):
        sender.offer([100])
    other.offer([100])
    sender.send(4, b"waits")
    sender.send(5, b"behind it")
    assert sender.device.queues[1].returned() == []
    assert receiver.device.status & NEEDS_RESET == 0
    restart(1)
    assert [(fields[6], data) for fields, data in sender.received()] == [(RESET, b"")]
    assert [data for _, data in other.received()] == [b"behind it"]
    sender.send(4, b"comes too late")
    assert [fields[6] for fields, _ in sender.received()] == [RESET]


# --- streams whose other end goes away ---

STREAMS_OF_PAIR = 64  # MOST_OF_PAIR of devices/virtio/vsock_streams.c


def connect(one: Endpoint, other: Endpoint, port: int = 1000) -> None:
    """A stream from `one`, of which each end then has some free buffers."""
    one.packet(other, REQUEST, port, 2000)
    other.packet(one, RESPONSE, 2000, port)


def ops(endpoint: Endpoint) -> list[tuple[int, int, int, int]]:
    """Source, both ports and operation of the packets that have arrived."""
    return [(fields[0], fields[2], fields[3], fields[6]) for fields, _ in endpoint.received()]


def listening(count: int = 3, buffers: int = 8, harts: int = 1) -> list[Endpoint]:
    booted(functions(), harts=harts)
    endpoints = [Endpoint(vm) for vm in range(count)]
    for endpoint in endpoints:
        for _ in range(buffers):
            endpoint.offer([100])
    return endpoints


def stop_vm(endpoint: Endpoint) -> None:
    restart(endpoint.device.vm)


def reset_device(endpoint: Endpoint) -> None:
    endpoint.device.write(20, 0, 1)
    pause()


def break_device(endpoint: Endpoint) -> None:
    """A packet of another source: the device needs a reset, which its driver never does."""
    endpoint.send(4, b"x", source=99)
    assert endpoint.device.status & NEEDS_RESET
    pause()


def lose_bus_master(endpoint: Endpoint) -> None:
    endpoint.device.store(endpoint.device.config + 4, 2, 2)
    pause()


@pytest.mark.parametrize("goes", [break_device, lose_bus_master])
def test_a_packet_that_waits_for_a_broken_device_is_answered_at_the_next_one(goes):
    """The device does not resume its peers; a peer that sends does."""
    booted(functions())
    sender, receiver = Endpoint(0), Endpoint(1)
    sender.offer([100])
    sender.offer([100])
    sender.send(4, b"waits")
    goes(receiver)
    assert not sender.device.queues[1].returned()
    sender.send(4, b"comes later")
    assert len(sender.device.queues[1].returned()) == 2
    assert [fields[6] for fields, _ in sender.received()] == [RESET, RESET]


def send_less_than_announced(endpoint: Endpoint) -> None:
    queue = endpoint.device.queues[1]
    endpoint.device.put(SEND_AT, HEADER.pack(endpoint.device.vm + 3, 3, 1000, 2000, 100, 1, DATA, 0, 65536, 7))
    queue.descriptor(60, SEND_AT, HEADER.size)
    queue.offer(60)
    queue.notify()
    assert endpoint.device.status & NEEDS_RESET
    pause()


@pytest.mark.parametrize("goes", [stop_vm, reset_device, break_device, lose_bus_master, send_less_than_announced])
def test_a_reader_learns_that_its_peer_has_gone(goes):
    """It gets a reset of each stream with that peer, and keeps those with others."""
    reader, peer, other = listening()
    connect(peer, reader, 1000)
    connect(reader, peer, 1001)
    connect(other, reader, 1000)
    before = ops(reader)
    assert (RESET not in {op for *_, op in before}) and ops(other)
    assert reader.device.line
    assert reader.device.isr == ISR_QUEUE
    goes(peer)
    assert reader.device.line
    assert ops(reader) == [(4, 1000, 2000, RESET), (4, 2000, 1001, RESET)]
    assert ops(other) == []
    goes(other)
    assert ops(reader) == [(5, 1000, 2000, RESET)]
    assert reader.device.status & NEEDS_RESET == 0


@pytest.mark.parametrize(("goes", "stays"), [(0, 2), (1, 2), (2, 1)])
def test_each_end_learns_of_the_other(goes: int, stays: int):
    """Of each stream, also of two that differ in one port only."""
    ends = listening()
    connect(ends[goes], ends[stays])
    ends[goes].packet(ends[stays], REQUEST, 1000, 2001)
    ops(ends[stays])
    restart(goes)
    assert ops(ends[stays]) == [(goes + 3, 1000, port, RESET) for port in (2000, 2001)]


def test_data_opens_no_stream():
    reader, peer = listening(2)
    peer.send(3, b"data")
    assert [op for *_, op in ops(reader)] == [DATA]
    stop_vm(peer)
    assert ops(reader) == []


def test_a_request_that_breaks_its_receiver_opens_no_stream():
    """Its sender gets one reset, as the answer."""
    booted(functions())
    sender, receiver = Endpoint(0), Endpoint(1)
    for _ in range(3):
        sender.offer([100])
    receiver.offer([HEADER.size - 1])
    sender.packet(receiver, REQUEST, 1000, 2000)
    assert receiver.device.status & NEEDS_RESET
    stop_vm(receiver)
    assert ops(sender) == [(4, 2000, 1000, RESET)]


@pytest.mark.parametrize("closes", [0, 1])
def test_closed_streams_are_not_reset(closes: int):
    ends = listening(2)
    connect(ends[1], ends[0])
    ports = (2000, 1000) if closes == 0 else (1000, 2000)
    for _ in range(2):
        ends[closes].packet(ends[1 - closes], RESET, *ports)
        assert ops(ends[1 - closes])[-1][3] == RESET
    ops(ends[closes])
    restart(1)
    assert ops(ends[0]) == []


@pytest.mark.parametrize("poll", [0, 1, 2])
def test_resets_wait_for_buffers(poll: int):
    """They come before what the peer sends in its next life, with the same ports."""
    reader, peer = listening(2, buffers=2)
    reader.device.poll = poll
    connect(peer, reader)
    connect(peer, reader, 1001)
    ops(reader)
    restart(1)
    assert ops(reader) == []
    peer = Endpoint(1)
    peer.offer([100])
    peer.packet(reader, REQUEST, 1000, 2000)
    assert peer.device.queues[1].returned() == []
    reader.offer([100])
    assert ops(reader) == [(4, 1000, 2000, RESET)]
    for _ in range(2):
        reader.offer([100])
    assert ops(reader) == [(4, 1001, 2000, RESET), (4, 1000, 2000, REQUEST)]
    assert len(peer.device.queues[1].returned()) == 1
    restart(1)
    reader.offer([100])
    assert ops(reader) == [(4, 1000, 2000, RESET)]


@pytest.mark.parametrize("opens", [0, 1])
def test_a_new_life_opens_a_stream_before_the_earlier_ones_have_ended(opens: int):
    """On another hart, which does both before its timer, and before it notifies the device of buffers: only the earlier
    ones are reset, whichever end opens the new one."""
    *ends, other = listening(harts=2)
    connect(ends[1], ends[0])
    ops(ends[0])

    def live_again() -> None:
        ends[1].device.write(20, 0, 1)
        ends[1] = Endpoint(1)
        ends[1].offer([100], notify=False)
        ends[opens].packet(ends[1 - opens], REQUEST, 1001, 2000)

    action = ACTION(live_again)
    CORE.testbed_virtio_at_release(1, 1, action)
    other.send(99, b"nobody")
    CORE.testbed_virtio_at_release(0, 0, action)
    assert CORE.testbed_virtio_acted()
    pause()
    resets, requests = [(4, 1000, 2000, RESET)], [(opens + 3, 1001, 2000, REQUEST)]
    assert ops(ends[0]) == (resets + requests if opens == 1 else resets)
    assert ops(ends[1]) == ([] if opens == 1 else requests)
    stop_vm(ends[1])
    assert ops(ends[0]) == [(4, 1001, 2000, RESET) if opens == 1 else (4, 2000, 1001, RESET)]


def test_resets_are_forgotten_with_their_receiver():
    reader, peer = listening(2, buffers=1)
    connect(peer, reader)
    restart(1)
    restart(0)
    reader, peer = Endpoint(0), Endpoint(1)
    for endpoint in (reader, peer):
        for _ in range(3):
            endpoint.offer([100])
    pause()
    assert ops(reader) == ops(peer) == []


@pytest.mark.parametrize("vm", [0, 1])
def test_ports_that_are_used_again(vm: int):
    """The end to which a reset is owed has closed the stream itself if it opens another one with its ports."""
    ends = listening(2, buffers=1)
    reader, peer, other = ends[vm], ends[1 - vm], 1 - vm
    connect(reader, peer)
    ops(peer)
    restart(other)
    reader.offer([100])
    assert ops(reader) == [(other + 3, 2000, 1000, RESPONSE), (other + 3, 2000, 1000, RESET)]
    peer = Endpoint(other)
    for endpoint in (reader, peer):
        endpoint.offer([100])
    connect(reader, peer)
    assert ops(reader) == [(other + 3, 2000, 1000, RESPONSE)]
    restart(other)
    peer = Endpoint(other)
    for _ in range(2):
        peer.offer([100])
    reader.packet(peer, REQUEST, 1000, 2000)
    reader.offer([100])
    assert ops(reader) == []
    restart(other)
    assert ops(reader) == [(other + 3, 2000, 1000, RESET)]


def test_limit_of_streams_of_a_pair():
    """A request for a further stream is answered by a reset; other pairs have streams of their own."""
    reader, peer, other = listening(3, buffers=0)
    for port in range(STREAMS_OF_PAIR):
        reader.offer([100])
        peer.packet(reader, REQUEST, port, 2000)
    assert len(ops(reader)) == STREAMS_OF_PAIR
    peer.offer([100])
    reader.offer([100])
    peer.packet(reader, REQUEST, 64, 2000)
    assert (ops(reader), ops(peer)) == ([], [(3, 2000, 64, RESET)])
    other.packet(reader, REQUEST, 64, 2000)
    assert ops(reader) == [(5, 64, 2000, REQUEST)]
    peer.offer([100])
    for op, port in ((RESET, 9), (REQUEST, 64)):
        reader.offer([100])
        peer.packet(reader, op, port, 2000)
        assert ops(reader) == [(4, port, 2000, op)]
    for _ in range(STREAMS_OF_PAIR):
        reader.offer([100])
    restart(1)
    for _ in range(3):
        pause()
    assert sorted(port for _, port, _, _ in ops(reader)) == [*range(9), *range(10, STREAMS_OF_PAIR + 1)]


@pytest.mark.parametrize(("sockets", "streams"), [(2, 64), (6, 64), (8, 36)])
def test_streams_in_systems_with_many_vms(sockets: int, streams: int):
    everybody = (1 << sockets) - 1
    booted(
        [{"vm": vm, "kind": SOCKET, "cid": vm + 3, "peers": everybody & ~(1 << vm)} for vm in range(sockets)],
        vms=sockets,
    )
    reader, peer = Endpoint(0), Endpoint(sockets - 1)
    peer.offer([100])
    for port in range(streams + 1):
        reader.offer([100])
        peer.packet(reader, REQUEST, port, 2000)
    assert [port for _, port, _, _ in ops(reader)] == list(range(streams))
    assert ops(peer) == [(3, 2000, streams, RESET)]


@pytest.mark.parametrize(("length", "flags"), [(20, WRITE), (4096, 0)])
def test_wrong_buffers_for_a_reset(length: int, flags: int):
    reader, peer = listening(2, buffers=1)
    connect(peer, reader)
    restart(1)
    reader.device.queues[0].descriptor(40, RECEIVE_AT, length, flags)
    reader.device.queues[0].offer(40)
    reader.device.queues[0].notify()
    assert reader.device.status & NEEDS_RESET
    assert reader.device.isr & ISR_CONFIG
    assert Endpoint(0).device.status & NEEDS_RESET == 0


def test_a_driver_that_stops():
    """As a VM that stops."""
    booted(functions())
    sender, receiver = Endpoint(0), Endpoint(1)
    sender.offer([100])
    sender.send(4, b"waits")
    receiver.device.write(20, 0, 1)
    assert [fields[6] for fields, _ in sender.received()] == [RESET]


def test_a_sender_without_end():
    """Its packets to nobody do not keep the receiver of an earlier one."""
    booted(functions())
    receiver, sender = Endpoint(1), Endpoint(0)
    sender.send(4, b"waits")
    queue = sender.device.queues[1]
    sender.device.put(SEND_AT + 0x8000, header(3, 99, 0, op=RESET))
    queue.descriptor(10, SEND_AT + 0x8000, 44)
    driver = queue.places[1]
    for place in range(1, queue.size):
        sender.device.put(driver + 4 + 2 * place, struct.pack("<H", 10))
    CORE.testbed_virtio_endless(0, driver + 2)
    receiver.offer([100])
    CORE.testbed_virtio_endless(0, 0)
    assert struct.unpack("<H", sender.device.get(driver + 2, 2))[0] > 2, "it offers meanwhile"
    assert [data for _, data in receiver.received()] == [b"waits"]


def test_wrong_packets():
    """A source that is not the VM's, a chain shorter than the packet: the sender's device needs a reset."""
    booted(functions())
    receiver, sender = Endpoint(1), Endpoint(0)
    receiver.offer([4096])
    receiver.offer([4096])
    sender.send(4, b"x", source=5)
    assert sender.device.status & NEEDS_RESET
    sender = Endpoint(0)
    sender.device.put(SEND_AT, header(3, 4, 100))
    sender.device.queues[1].descriptor(0, SEND_AT, 50)
    sender.device.queues[1].offer(0)
    sender.device.queues[1].notify()
    assert sender.device.status & NEEDS_RESET
    assert receiver.device.status & NEEDS_RESET == 0
    sender = Endpoint(0)
    sender.send(4, b"right")
    assert sender.device.status & NEEDS_RESET == 0
    assert receiver.received()[-1][1] == b"right"


def test_data_in_a_buffer_that_the_device_may_write_to():
    booted(functions())
    receiver, sender = Endpoint(1), Endpoint(0)
    receiver.offer([100])
    sender.device.put(SEND_AT, header(3, 4, 1) + b"x")
    sender.device.queues[1].chain(0, [(SEND_AT, 44, False), (SEND_AT + 44, 1, True)])
    sender.device.queues[1].offer(0)
    sender.device.queues[1].notify()
    assert sender.device.status & NEEDS_RESET
    assert receiver.received() == []


def test_a_driver_is_asked_to_notify_of_the_next_buffer():
    """One has space for a header only."""
    booted(functions())
    receiver, sender = Device(1).start(VERSION_1 | EVENT_IDX), Endpoint(0)
    receiver.queues[0].chain(0, [(RECEIVE_AT, 44, True)])
    receiver.queues[0].offer(0)
    for _ in range(2):
        sender.send(4, b"", op=REQUEST)
    assert receiver.queues[0].returned() == [(0, 44)]
    assert receiver.queues[0].avail_event == 1


def test_a_packet_that_waits_is_forgotten_at_a_reset():
    booted(functions())
    receiver, sender = Endpoint(1), Endpoint(0)
    sender.send(4, b"waits")
    sender = Endpoint(0)
    sender.send(4, b"new")
    receiver.offer([100])
    assert [data for _, data in receiver.received()] == [b"new"]


def test_wrong_buffers_for_an_answer():
    """Not the device of the VM that does not listen yet, but the sender's, needs a reset."""
    booted(functions())
    sender, other = Endpoint(0), Device(1)
    assert other.accept(VERSION_1)
    sender.device.queues[0].descriptor(0, RECEIVE_AT, 4096)
    sender.device.queues[0].offer(0)
    sender.send(4, b"data")
    assert sender.device.status & NEEDS_RESET
    assert other.status & NEEDS_RESET == 0


@pytest.mark.parametrize(("length", "flags"), [(44, WRITE), (20, WRITE), (4096, 0)])
def test_wrong_buffers(length: int, flags: int):
    """The receiver's device needs a reset; the sender gets a reset of its connection."""
    booted(functions())
    receiver, sender = Endpoint(1), Endpoint(0)
    receiver.device.queues[0].descriptor(0, RECEIVE_AT, length, flags)
    receiver.device.queues[0].offer(0)
    sender.offer([100])
    sender.send(4, b"data")
    assert receiver.device.status & NEEDS_RESET
    assert sender.device.status & NEEDS_RESET == 0
    assert [fields[6] for fields, _ in sender.received()] == [RESET]


# --- stores that an interrupt divides ---


def waiting(senders: int) -> tuple[Endpoint, list[Endpoint]]:
    """A receiver without buffers in VM 0, and senders whose packets wait for it."""
    everybody = (1 << senders + 1) - 1
    booted(
        [{"vm": vm, "kind": SOCKET, "cid": vm + 3, "peers": everybody & ~(1 << vm)} for vm in range(senders + 1)],
        vms=senders + 1,
    )
    receiver, others = Endpoint(0), [Endpoint(vm) for vm in range(1, senders + 1)]
    for sender in others:
        sender.offer([100])
        sender.send(3, b"waits")
    return receiver, others


def test_look_for_interrupts_after_each_sender():
    """Also if all go on waiting: the receiver notifies without a buffer. It could be a sender itself."""
    receiver, senders = waiting(6)
    looks = 0
    while receiver.device.queues[0].notify_once(1):
        looks += 1
    assert looks == len(senders) + 1


def test_stop_in_a_divided_notification():
    """A sender whose packets had arrived before the interrupt sends another one, which waits: the stop answers it."""
    receiver, (first, second) = waiting(2)
    receiver.device.queues[0].chain(0, [(RECEIVE_AT, 100, True)])
    receiver.device.queues[0].offer(0)
    while first.device.queues[1].returned() == []:
        assert receiver.device.queues[0].notify_once(1)
    assert receiver.device.queues[0].notify_once(1), "the first sender is done"
    first.send(3, b"another one")
    restart(0)
    for sender in (first, second):
        assert [fields[6] for fields, _ in sender.received()] == [RESET]


@pytest.mark.parametrize("times", [1, 2, 3])
def test_reset_that_the_driver_does_not_finish(times: int):
    """It begins a new life instead: the stop of its VM answers what waits then."""
    receiver, senders = waiting(2)
    assert [receiver.device.begin(20, 0, 1) for _ in range(times)] == [1] * times
    receiver.device.start(reset=False)
    answered = [len(sender.received()) for sender in senders]
    for sender in senders:
        sender.offer([100])
        sender.offer([100])
        sender.send(3, b"waits for the new life")
        assert sender.received() == []
    restart(0)
    for sender, before in zip(senders, answered, strict=True):
        assert [fields[6] for fields, _ in sender.received()] == [RESET] * (2 - before)


@pytest.mark.parametrize("during", [False, True])
def test_a_peer_goes_while_no_reset_is_found(during: bool):
    """Another hart resets the peer's device after, or while the reader's hart looks for resets and finds none."""
    reader, peer, _ = listening(3, buffers=0, harts=2)
    peer.offer([100])
    reader.offer([100])
    peer.packet(reader, REQUEST, 1000, 2000)
    assert ops(reader)[-1][3] == REQUEST
    restart(1)
    reader.offer([100])
    pause()
    assert ops(reader) == [(4, 1000, 2000, RESET)], "with the last buffer, so there may be more"
    peer = Endpoint(1)
    peer.offer([100, 100, 100])
    reader.packet(peer, REQUEST, 3000, 4000)  # a stream with the new life
    assert ops(peer)[-1] == (3, 3000, 4000, REQUEST)

    def again() -> None:
        peer.device.write(20, 0, 1)
        Endpoint(1).offer([100])  # ends the streams of the earlier life

    action = ACTION(again)
    CORE.testbed_virtio_at_release(1 if during else 0, 2, action)
    reader.offer([100])
    CORE.testbed_virtio_at_release(0, 0, action)
    assert CORE.testbed_virtio_acted() or not during
    if not during:
        again()
    pause()
    reader.offer([100])
    pause()
    assert ops(reader) == [(4, 4000, 3000, RESET)]
