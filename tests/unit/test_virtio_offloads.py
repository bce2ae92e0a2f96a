# SPDX-License-Identifier: Apache-2.0
"""virtio-net on a network with offloads: segments in receive buffers that are merged, and hostile headers."""

import struct
from dataclasses import dataclass, field
from itertools import pairwise

import pytest
from core import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from virtio import (
    ENTROPY,
    EVENT_IDX,
    GPA,
    NEEDS_RESET,
    NET,
    OFFLOADS,
    VERSION_1,
    WRITE,
    Device,
    boot,
    booted,
    counts,
    make,
)

CSUM, GUEST_CSUM, GUEST_TSO4, GUEST_TSO6, HOST_TSO4, HOST_TSO6, MERGED = (1 << bit for bit in (0, 1, 7, 8, 11, 12, 15))
RECEIVES = VERSION_1 | GUEST_CSUM | GUEST_TSO4 | GUEST_TSO6
ALL = RECEIVES | CSUM | HOST_TSO4 | HOST_TSO6 | MERGED
NEEDS_CSUM, DATA_VALID = 1, 2
TCPV4, UDP, TCPV6, ECN = 1, 3, 4, 0x80
MACS = [0x0200AABB0001, 0x0200AABB0002, 0x0200AABB0003]
SEND, RECEIVE = GPA + 0x80000, GPA + 0x100000
HEADER, ETHERNET, LONGEST, CHAINS = 12, 14, 65550, 48


def functions(**fields: int) -> list[dict]:
    return [{"vm": vm, "kind": NET, "mac": mac, "flags": OFFLOADS} | fields for vm, mac in enumerate(MACS)]


@dataclass(frozen=True)
class Header:
    """struct virtio_net_hdr, without the number of buffers."""

    flags: int = 0
    kind: int = 0
    header: int = 0
    size: int = 0
    start: int = 0
    offset: int = 0

    def packed(self, buffers: int = 0) -> bytes:
        return struct.pack("<BBHHHHH", self.flags, self.kind, self.header, self.size, self.start, self.offset, buffers)


CHECKSUM = Header(NEEDS_CSUM, start=34, offset=16)
SEGMENT = Header(NEEDS_CSUM, TCPV4, header=54, size=1448, start=34, offset=16)


def frame_of(length: int, receiver: int = 1, sender: int = 0) -> bytes:
    """A frame of `length` bytes, each of which can be told from its neighbours."""
    addresses = MACS[receiver].to_bytes(6, "big") + MACS[sender].to_bytes(6, "big")
    return (addresses + b"\x08\x00" + bytes(range(251)) * (length // 251 + 1))[:length]


@dataclass
class Receiver:
    """A driver with its buffers; each chain is one of them."""

    device: Device
    at: int = RECEIVE
    buffers: dict[int, tuple[int, int]] = field(default_factory=dict)

    def offer(self, size: int, odd: int = 0) -> None:
        index = self.device.queues[0].avail % self.device.size
        self.buffers[index] = (self.at + odd, size)
        self.device.queues[0].descriptor(index, self.at + odd, size, WRITE)
        self.device.queues[0].offer(index)
        self.at += (size + odd + 63) & ~63

    def frames(self) -> list[tuple[bytes, bytes]]:
        """The headers and frames, put together as their numbers of buffers say; empty chains are left out."""
        found, pieces, left = [], b"", 0
        for head, length in self.device.queues[0].returned():
            at, size = self.buffers[head]
            assert length <= size
            if length == 0:
                assert left == 0
                continue
            data = self.device.get(at, length)
            left = left or struct.unpack("<H", data[10:HEADER])[0]
            pieces, left = pieces + data, left - 1
            if left == 0:
                found.append((pieces[:10], pieces[HEADER:]))
                pieces = b""
        assert left == 0
        return found


def offered(**fields: int) -> int:
    """The features in ALL that the first port offers."""
    booted(functions(**fields))
    device = Device(0)
    assert device.accept(RECEIVES if fields.get("flags", OFFLOADS) else VERSION_1)
    return device.offered & ALL


def submit(device: Device, header: Header, frame: bytes, cuts: tuple[int, ...] = ()) -> None:
    """Offers a frame in pieces, without a notification."""
    data = header.packed() + frame
    places = sorted({0, len(data), *(cut % len(data) for cut in cuts)})
    device.put(SEND, data)
    pieces = [(SEND + start, end - start, False) for start, end in pairwise(places)]
    device.queues[1].chain(0, pieces)
    device.queues[1].offer(0)


def send(device: Device, header: Header, frame: bytes, cuts: tuple[int, ...] = ()) -> int:
    submit(device, header, frame, cuts)
    return device.queues[1].notify()


def pair(features: int = ALL, poll: int = 0) -> tuple[Device, Receiver]:
    booted(functions())
    return Device(0, poll=poll, size=64).start(ALL), Receiver(Device(1, size=64).start(features))


def test_features_of_a_network_with_offloads():
    assert offered() == ALL
    device = Device(0)
    for missing in (GUEST_CSUM, GUEST_TSO4, GUEST_TSO6):
        assert not device.accept(ALL & ~missing)
    assert device.accept(RECEIVES)
    assert device.read(24, 2) == 1024


def test_features_of_other_networks():
    assert offered(flags=0) == VERSION_1
    assert Device(0).read(24, 2) == 256


@pytest.mark.parametrize("limit", ["frames_per_ms", "multicast_per_ms"])
def test_a_port_with_a_limit_sends_no_segments(limit: str):
    assert offered(**{limit: 10}) == ALL & ~(HOST_TSO4 | HOST_TSO6)


def test_ports_of_a_network_have_the_same_offloads():
    made = functions()
    make([made[0] | {"flags": 0}, *made[1:]])
    assert boot() == "the image has a wrong NIC of a network"
    make([made[0] | {"flags": 0, "network": 1}, *made[1:]])
    assert boot() is None
    make([{"vm": 0, "kind": ENTROPY}, *made])
    assert boot() is None, "only NICs have a network"


@settings(max_examples=examples(60, 400), deadline=None, derandomize=True)
@given(
    st.lists(st.tuples(st.integers(14, 9000), st.booleans()), min_size=1, max_size=4),
    st.lists(st.tuples(st.integers(26, 3000), st.integers(0, 9)), min_size=1, max_size=50),
    st.tuples(st.integers(0, 9000), st.integers(0, 9000)),
    st.integers(0, 2),
    st.sampled_from([ALL, ALL | EVENT_IDX]),
)
def test_merged_buffers(frames: list, buffers: list, cuts: tuple[int, int], poll: int, features: int):
    """A frame is in as many chains as it needs, in order, with its header; or in none if they are too few."""
    sender, receiver = pair(features, poll)
    for size, odd in buffers:
        receiver.offer(size, odd)
    sizes, expected = [size for size, _ in buffers], []
    for length, is_segment in frames:
        is_segment = is_segment or length > 1518
        header = SEGMENT if is_segment else CHECKSUM
        length = max(length, 54)
        send(sender, header, frame_of(length), cuts)
        left = HEADER + length
        while left > 0 and sizes:
            left -= sizes.pop(0)
        if left <= 0:
            expected.append((header.packed()[:10], frame_of(length)))
    assert receiver.frames() == expected
    assert sender.status & NEEDS_RESET == receiver.device.status & NEEDS_RESET == 0


def test_the_longest_segment_in_one_buffer():
    """Without merged buffers, too; one byte more is not delivered."""
    sender, receiver = pair(RECEIVES)
    for _ in range(2):
        receiver.offer(HEADER + LONGEST + 1)
    send(sender, SEGMENT, frame_of(LONGEST + 1))
    assert receiver.frames() == []
    send(sender, SEGMENT, frame_of(LONGEST))
    assert receiver.frames() == [(SEGMENT.packed()[:10], frame_of(LONGEST))]
    assert counts(0)[5] == 1


def test_a_frame_in_too_many_chains_is_dropped():
    sender, receiver = pair()
    for _ in range(64):
        receiver.offer(100)
    send(sender, SEGMENT, frame_of(CHAINS * 100 - HEADER + 1))
    assert receiver.frames() == []
    assert counts(1)[4] == 1
    for _ in range(CHAINS):
        receiver.offer(100)
    send(sender, SEGMENT, frame_of(CHAINS * 100 - HEADER))
    assert len(receiver.frames()) == 1


def test_buffers_are_merged_only_for_a_driver_that_accepts_it():
    sender, receiver = pair(ALL & ~MERGED)
    receiver.offer(1000)
    receiver.offer(1000)
    send(sender, SEGMENT, frame_of(1500))
    assert receiver.device.queues[0].returned() == [(0, 0)]
    assert counts(1)[4] == 1


def test_long_frames_are_segments():
    sender, receiver = pair()
    receiver.offer(4000)
    receiver.offer(4000)
    send(sender, CHECKSUM, frame_of(1519))
    assert receiver.frames() == []
    send(sender, CHECKSUM, frame_of(1518))
    assert len(receiver.frames()) == 1


def test_two_senders_at_a_time():
    """The chains of a frame are returned one behind the other, although another sender takes some in between."""
    sender, receiver = pair()
    other = Device(2, size=64).start(ALL)
    for _ in range(20):
        receiver.offer(1000)
    submit(sender, SEGMENT, frame_of(6000))
    submit(other, SEGMENT, frame_of(7000, sender=2))
    busy = [sender.queues[1], other.queues[1]]
    while busy:
        busy = [queue for queue in busy if queue.notify_once(1)]
    assert sorted(len(frame) for _, frame in receiver.frames()) == [6000, 7000]


def test_reset_of_a_sender_during_a_segment():
    """The receiver gets all chains back, empty."""
    sender, receiver = pair()
    for _ in range(8):
        receiver.offer(1000)
    submit(sender, SEGMENT, frame_of(6000))
    for _ in range(4):
        assert sender.queues[1].notify_once(1)
    assert receiver.device.queues[0].returned() == []
    sender.write(20, 0, 1)
    returned = receiver.device.queues[0].returned()
    assert len(returned) > 1
    assert {length for _, length in returned} == {0}


def test_reset_of_a_receiver_during_a_segment():
    """Nothing is written behind the reset."""
    sender, receiver = pair()
    for _ in range(8):
        receiver.offer(1000)
    submit(sender, SEGMENT, frame_of(6000))
    for _ in range(3):
        assert sender.queues[1].notify_once(1)
    receiver.device.write(20, 0, 1)
    before = receiver.device.get(RECEIVE, 10000)
    assert sender.queues[1].notify() == 0
    assert receiver.device.get(RECEIVE, 10000) == before
    assert sender.queues[1].returned() == [(0, 0)]


@pytest.mark.parametrize(
    "header",
    [
        Header(NEEDS_CSUM, start=34, offset=65),  # the frame has 100 bytes
        Header(NEEDS_CSUM, start=0xFFFF, offset=0xFFFF),
        Header(0, TCPV4, header=54, size=1448),
        Header(NEEDS_CSUM, TCPV4, header=54, size=0, start=34, offset=16),
        Header(NEEDS_CSUM, TCPV4 | ECN, header=54, size=10, start=34, offset=16),
        Header(NEEDS_CSUM, UDP, header=54, size=10, start=34, offset=16),
    ],
)
def test_wrong_headers(header: Header):
    """The sender's device needs a reset; the receiver gets nothing, and its device works."""
    sender, receiver = pair()
    receiver.offer(2000)
    receiver.offer(2000)
    send(sender, header, frame_of(100))
    assert sender.status & NEEDS_RESET
    assert receiver.frames() == []
    sender = Device(0, size=64).start(ALL)
    send(sender, Header(NEEDS_CSUM, start=34, offset=64), frame_of(100))
    assert [frame for _, frame in receiver.frames()] == [frame_of(100)]
    assert receiver.device.status & NEEDS_RESET == 0


@pytest.mark.parametrize("length", [0, 54, 101, 0xFFFF])
def test_length_of_the_headers_is_a_hint(length: int):
    """Section 5.1.6.2.2: the device must not rely on it."""
    sender, receiver = pair()
    receiver.offer(2000)
    send(sender, Header(NEEDS_CSUM, TCPV4, header=length, size=10, start=34, offset=16), frame_of(100))
    assert [frame for _, frame in receiver.frames()] == [frame_of(100)]
    assert sender.status & NEEDS_RESET == 0


@pytest.mark.parametrize("size", [12, 25])
def test_buffers_that_are_too_small_for_the_headers(size: int):
    """They are returned without bytes, with a frame lost for each, so larger ones behind them are used."""
    sender, receiver = pair()
    receiver.offer(size)
    receiver.offer(2000)
    send(sender, Header(), frame_of(100))
    assert receiver.device.queues[0].returned() == [(0, 0)]
    send(sender, Header(), frame_of(100))
    assert [frame for _, frame in receiver.frames()] == [frame_of(100)]


@pytest.mark.parametrize(("accepted", "kind"), [(HOST_TSO4, TCPV6), (HOST_TSO6, TCPV4), (0, TCPV4)])
def test_segments_that_were_not_negotiated(accepted: int, kind: int):
    booted(functions())
    sender = Device(0, size=64).start(RECEIVES | CSUM | accepted)
    send(sender, Header(NEEDS_CSUM, kind, 54, 1448, 34, 16), frame_of(100))
    assert sender.status & NEEDS_RESET


@pytest.mark.parametrize(("accepted", "kind"), [(HOST_TSO4, TCPV4), (HOST_TSO6, TCPV6)])
def test_segments_that_were_negotiated(accepted: int, kind: int):
    booted(functions())
    sender = Device(0, size=64).start(RECEIVES | CSUM | accepted)
    send(sender, Header(NEEDS_CSUM, kind, 54, 1448, 34, 16), frame_of(100))
    assert sender.status & NEEDS_RESET == 0
    assert counts(0)[0] == 1


def test_headers_mean_nothing_without_negotiation():
    """A driver without CSUM may write anything; the receiver sees none of it."""
    booted(functions())
    sender, receiver = Device(0, size=64).start(RECEIVES), Receiver(Device(1, size=64).start(ALL))
    receiver.offer(2000)
    send(sender, Header(0xFF, 0xFF, 1, 2, 3, 4), frame_of(60))
    assert receiver.frames() == [(bytes(10), frame_of(60))]


def test_a_checksum_concerns_its_own_frame():
    sender, receiver = pair()
    receiver.offer(2000)
    receiver.offer(2000)
    send(sender, Header(NEEDS_CSUM, start=34, offset=64), frame_of(100))
    send(sender, Header(), frame_of(60))
    assert [frame for _, frame in receiver.frames()] == [frame_of(100), frame_of(60)]


def test_offloads_make_no_uplink():
    """A frame to an address of no NIC goes nowhere."""
    sender, receiver = pair()
    receiver.offer(2000)
    send(sender, Header(), bytes(5) + frame_of(60)[5:])
    assert receiver.frames() == []
    assert counts(2) == (0,) * 6


def test_fields_without_a_meaning_are_cleared():
    sender, receiver = pair()
    for _ in range(4):
        receiver.offer(2000)
    send(sender, Header(0x80 | DATA_VALID, 0, 1, 2, 3, 4), frame_of(60))
    send(sender, Header(0xFF, 0, 1, 2, 34, 16), frame_of(60))
    send(sender, Header(0, 0, 1, 2, 3, 4), frame_of(60))
    send(sender, Header(NEEDS_CSUM, 0, 1, 2, 34, 16), frame_of(60))
    assert [header for header, _ in receiver.frames()] == 2 * [bytes(10), CHECKSUM.packed()[:10]]


def test_the_header_of_merged_buffers_is_in_one():
    """The number of buffers is written once they are known, to a place that was checked."""
    sender, receiver = pair()
    queue = receiver.device.queues[0]
    queue.chain(0, [(RECEIVE, 11, True), (RECEIVE + 100, 2000, True)])
    queue.offer(0)
    send(sender, CHECKSUM, frame_of(60))
    assert receiver.device.status & NEEDS_RESET
    assert sender.status & NEEDS_RESET == 0
