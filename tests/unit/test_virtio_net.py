# SPDX-License-Identifier: Apache-2.0
"""virtio-net and its switch: frames in random buffers against a model of the switch, limits, and hostile drivers."""

import struct
from dataclasses import dataclass, field
from itertools import pairwise

import pytest
from core import CORE, TICKS_PER_US, examples
from hypothesis import given, settings
from hypothesis import strategies as st
from virtio import (
    EVENT_IDX,
    GPA,
    INDIRECT,
    ISR_CONFIG,
    NEEDS_RESET,
    NET,
    TABLE,
    UPLINK,
    VERSION_1,
    WRITE,
    Device,
    booted,
    counts,
    restart,
)

MACS = [0x020000000001, 0x021122334402, 0x020000000003, 0x020000000004]
PORTS = [  # VM, network, VLAN
    (0, 0, 0),
    (1, 0, 0),
    (2, 0, 0),
    (2, 1, 0),
]
PLACES = ((0, 0), (1, 0), (2, 0), (2, 1))  # VM, slot
BROADCAST, GROUP = (1 << 48) - 1, 0x01005E000001
OUTSIDE = 0x020000000009  # the address of no port
HEADER, FRAME_HEADER = 12, 14
RECEIVED = struct.pack("<10xH", 1)
MS = 1000 * TICKS_PER_US
SEND_BUFFERS, RECEIVE_BUFFERS, TABLE_AT = GPA + 0x80000, GPA + 0x100000, GPA + 0x70000


def frame_of(destination: int, source: int, payload: bytes, kind: int = 0x88B5) -> bytes:
    return destination.to_bytes(6, "big") + source.to_bytes(6, "big") + kind.to_bytes(2, "big") + payload


def functions(uplink: int | None = None, **fields: int) -> list[dict]:
    """The ports; the one with number `uplink` is the uplink of its network."""
    return [
        {"vm": vm, "kind": NET, "mac": MACS[n], "network": network, "vlan": vlan, "flags": UPLINK * (n == uplink)}
        | fields
        for n, (vm, network, vlan) in enumerate(PORTS)
    ]


@dataclass
class Port:
    """A device and the model of what its driver has and must receive."""

    device: Device
    sizes: list[list[int]] = field(default_factory=list)  # of the buffers of each chain that is offered
    expected: list[bytes] = field(default_factory=list)
    next_buffer: int = 0
    next_descriptor: int = 0
    heads: list[tuple[int, list[tuple[int, int, bool]]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.next_buffer = RECEIVE_BUFFERS + 0x40000 * self.device.slot

    def offer(self, sizes: list[int], odd: int) -> None:
        """Offers a chain of buffers of these sizes, at addresses of any alignment."""
        buffers = []
        for size in sizes:
            buffers.append((self.next_buffer + odd, size, True))
            self.next_buffer += (size + odd + 63) & ~63
        queue = self.device.queues[0]
        head, self.next_descriptor = self.next_descriptor, queue.chain(self.next_descriptor, buffers)
        queue.offer(head)
        self.heads.append((head, buffers))
        self.sizes.append(sizes)

    def deliver(self, frame: bytes) -> None:
        """What the switch does with a frame for this port. A chain that is too short is returned empty."""
        if self.sizes:
            self.expected.append(frame if sum(self.sizes.pop(0)) >= HEADER + len(frame) else b"")

    def received(self) -> list[bytes]:
        found = []
        for head, length in self.device.queues[0].returned():
            expected, buffers = self.heads.pop(0)
            assert head == expected
            data = b"".join(self.device.get(at, size) for at, size, _ in buffers)[:length]
            assert data[:HEADER] == RECEIVED[:length]
            found.append(data[HEADER:])
        return found


def pieces(data: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({0, len(data), *(cut % len(data) for cut in cuts)})
    return [data[start:end] for start, end in pairwise(places)]


def send(device: Device, frame: bytes, cuts: list[int], odd: int = 0, indirect: bool = False) -> int:
    """Sends a frame in pieces; returns how often the store was executed again."""
    queue, at, buffers = device.queues[1], SEND_BUFFERS, []
    for piece in pieces(bytes(HEADER) + frame, cuts):
        device.put(at + odd, piece)
        buffers.append((at + odd, len(piece), False))
        at += (len(piece) + odd + 63) & ~63
    if indirect:
        for place, (address, length, _) in enumerate(buffers):
            more = 1 if place + 1 < len(buffers) else 0
            device.put(TABLE_AT + 16 * place, struct.pack("<QIHH", address, length, more, place + 1))
        queue.descriptor(0, TABLE_AT, 16 * len(buffers), TABLE)
    else:
        queue.chain(0, buffers)
    queue.offer(0)
    again = queue.notify()
    assert queue.returned() == [(0, 0)]
    return again


def others_of(sender: int) -> list[int]:
    """The other ports of its network and VLAN."""
    return [n for n, (_, *segment) in enumerate(PORTS) if n != sender and segment == list(PORTS[sender][1:])]


def may_send(uplink: int | None, sender: int, source: int) -> bool:
    outside = sender == uplink and not source >> 40 & 1 and source not in [MACS[n] for n in others_of(sender)]
    return source == MACS[sender] or outside


def receivers(uplink: int | None, sender: int, destination: int) -> list[int]:
    """The model of the switch."""
    others = others_of(sender)
    if destination >> 40 & 1:
        return others
    return [n for n in others if MACS[n] == destination] or [n for n in others if n == uplink]


FRAMES = st.tuples(
    st.integers(0, 3),
    st.sampled_from([*MACS, BROADCAST, GROUP, OUTSIDE]),
    st.sampled_from([None, None, None, *MACS, BROADCAST, OUTSIDE]),  # source: the sender's, or another one
    st.binary(max_size=64).flatmap(lambda data: st.integers(1, 23).map(lambda n: (data * n)[:1500])),
    st.lists(st.integers(0, 1500), max_size=4),
    st.integers(0, 9),
    st.booleans(),
)
# Of any size, and often too small for the headers.
BUFFERS = st.one_of(st.integers(1, 1600), st.integers(1, HEADER + FRAME_HEADER))
OFFERS = st.tuples(st.integers(0, 3), st.lists(BUFFERS, min_size=1, max_size=3), st.integers(0, 9))


@settings(max_examples=examples(100, 1000), deadline=None, derandomize=True)
@given(
    st.lists(st.one_of(FRAMES, OFFERS), max_size=30),
    st.sampled_from([VERSION_1, VERSION_1 | EVENT_IDX | INDIRECT]),
    st.integers(0, 2),
    st.sampled_from([None, 0, 2, 3]),
)
def test_switch(events: list[tuple], features: int, poll: int, uplink: int | None):
    """Each frame reaches the ports that the model says, whole, in order, and nobody else."""
    booted(functions(uplink))
    ports = [Port(Device(vm, slot, poll=poll, size=64).start(features)) for vm, slot in PLACES]
    for event in events:
        if len(event) == 3:
            number, sizes, odd = event
            ports[number].offer(sizes, odd)
            continue
        number, destination, other, payload, cuts, odd, indirect = event
        source = MACS[number] if other is None else other
        frame = frame_of(destination, source, payload)
        send(ports[number].device, frame, cuts, odd, indirect and bool(features & INDIRECT))
        if may_send(uplink, number, source):
            for receiver in receivers(uplink, number, destination):
                ports[receiver].deliver(frame)
    for port in ports:
        expected, port.expected = port.expected, []
        assert port.received() == expected
        assert port.device.status & NEEDS_RESET == 0


def pair(**fields: int) -> tuple[Device, Port]:
    booted(functions(**fields))
    return Device(0).start(), Port(Device(1, size=64).start())


def test_interrupts_and_their_suppression():
    """The receiver's line rises, unless its driver has said not to, or waits for a later frame (event idx)."""
    sender, port = pair()
    frame = frame_of(MACS[1], MACS[0], b"x" * 50)
    port.offer([2000], 0)
    send(sender, frame, [])
    assert port.device.line
    assert port.device.isr == 1
    port.device.put(port.device.queues[0].places[1], b"\1\0")
    port.offer([2000], 0)
    send(sender, frame, [])
    assert not port.device.line
    port.device.put(port.device.queues[0].places[1], b"\2\0")  # a flag without a meaning
    port.offer([2000], 0)
    send(sender, frame, [])
    assert port.device.line
    booted(functions())
    sender = Device(0).start()
    for _ in range(2):  # lives of the receiver's driver
        port = Port(Device(1, size=64).start(VERSION_1 | EVENT_IDX))
        port.device.queues[0].used_event(2)
        lines = []
        for _ in range(5):
            port.offer([2000], 0)
            send(sender, frame, [])
            lines.append(port.device.line)
            assert port.device.isr == lines[-1]
        assert lines == [False, False, True, False, False]


def test_more_frames_than_the_ring_has_places():
    sender, receiver = pair()
    for number in range(70):
        receiver.offer([1600], 0)
        frame = frame_of(MACS[1], MACS[0], bytes([number]) * 50)
        send(sender, frame, [])
        assert receiver.received() == [frame]


def test_limits_in_each_millisecond():
    sender, port = pair(frames_per_ms=3, multicast_per_ms=1)
    one, all_ = (frame_of(destination, MACS[0], b"") for destination in (MACS[1], BROADCAST))
    for _ in range(20):
        port.offer([100], 0)
    for _ in range(5):
        send(sender, one, [])
    assert port.received() == [one] * 3
    CORE.testbed_advance(MS)
    for frame in (all_, all_, one, one):
        send(sender, frame, [])
    assert port.received() == [all_, one]
    assert counts(0)[3] == 4


def test_counters():
    """Each frame counts once; they outlive a restart."""
    sender, port = pair(frames_per_ms=6)
    one = frame_of(MACS[1], MACS[0], b"hello")
    for size in (100, 20, 2000):
        port.offer([size], 0)
    send(sender, one, [])
    send(sender, frame_of(MACS[1], MACS[0], bytes(100)), [])  # does not fit, nor does any other into that buffer
    send(sender, frame_of(MACS[1], MACS[2], b""), [])
    restart(1)
    port = Port(Device(1, size=64).start())
    send(sender, one, [])
    port.offer([2000], 0)
    send(sender, frame_of(MACS[1], MACS[0], bytes(1600)), [])
    send(sender, frame_of(MACS[3], MACS[0], b""), [])
    send(sender, one, [])
    send(sender, one, [])
    queue = sender.queues[1]
    queue.descriptor(0, SEND_BUFFERS, 25)
    queue.offer(0)
    queue.notify()
    assert counts(0) == (7, 0, 1, 0, 0, 2)
    assert counts(1) == (0, 1, 0, 0, 4, 0)


@pytest.mark.parametrize("tag", [0x8100, 0x88A8])
def test_vlans(tag: int):
    """Ports of different VLANs do not meet, and a port with a VLAN sends no tags."""
    first, second, third = (
        {"vm": vm, "kind": NET, "mac": MACS[vm], "vlan": vlan} for vm, vlan in ((0, 7), (1, 7), (2, 8))
    )
    booted([first, second, third])
    sender, *ports = Device(0).start(), Port(Device(1, size=64).start()), Port(Device(2, size=64).start())
    for port in ports:
        port.offer([2000], 0)
        port.offer([2000], 0)
    frame = frame_of(BROADCAST, MACS[0], b"hello")
    send(sender, frame, [])
    send(sender, frame_of(BROADCAST, MACS[0], b"\0\10tagged", tag), [])
    assert [port.received() for port in ports] == [[frame], []]


def test_long_frames():
    """1518 bytes, with a tag, pass; a longer frame is dropped."""
    sender, port = pair()
    port.offer([2000], 0)
    port.offer([2000], 0)
    longest = frame_of(MACS[1], MACS[0], bytes(1500), 0x8100) + b"last"
    send(sender, longest + b"!", [700])
    send(sender, longest, [700])
    assert port.received() == [b"", longest]


@pytest.mark.parametrize(("address", "wrong"), [(RECEIVE_BUFFERS + 100, False), (0x1000, True)])
def test_a_later_buffer_that_the_device_may_not_write_to(address: int, wrong: bool):
    booted(functions())
    sender, receiver = Device(0).start(), Device(1).start()
    queue = receiver.queues[0]
    queue.chain(0, [(RECEIVE_BUFFERS, HEADER + FRAME_HEADER, True), (address, 2000, False)])
    queue.offer(0)
    send(sender, frame_of(MACS[1], MACS[0], b"data"), [])
    assert bool(receiver.status & NEEDS_RESET) == wrong
    assert wrong or queue.returned() == [(0, 0)]
    assert receiver.get(RECEIVE_BUFFERS + 100, 4) == bytes(4)


@pytest.mark.parametrize(
    ("buffers", "wrong"),
    [
        ([(RECEIVE_BUFFERS + 8 * part, 4, True) for part in range(5)], False),  # too short
        ([(RECEIVE_BUFFERS + 8 * part, 4, True) for part in range(7)], True),  # too many
        ([(RECEIVE_BUFFERS, 10, True), (0x1000, 100, False)], True),
    ],
)
def test_headers_in_several_buffers(buffers: list[tuple[int, int, bool]], wrong: bool):
    booted(functions())
    sender, receiver = Device(0).start(), Device(1).start()
    receiver.queues[0].chain(0, buffers)
    receiver.queues[0].offer(0)
    send(sender, frame_of(MACS[1], MACS[0], b"data"), [])
    assert bool(receiver.status & NEEDS_RESET) == wrong
    assert receiver.queues[0].returned() == ([] if wrong else [(0, 0)])


def test_a_header_in_three_buffers():
    sender, port = pair()
    port.offer([10, 15, 2000], 0)
    frame = frame_of(MACS[1], MACS[0], b"data")
    send(sender, frame, [])
    assert port.received() == [frame]


def test_a_frame_that_continues_outside_of_the_table():
    sender, port = pair()
    port.offer([2000], 0)
    sender.put(SEND_BUFFERS, bytes(HEADER) + frame_of(MACS[1], MACS[0], b"data"))
    sender.queues[1].descriptor(0, SEND_BUFFERS, 30, 1, 200)
    sender.queues[1].offer(0)
    sender.queues[1].notify()
    assert sender.status & NEEDS_RESET


def test_a_later_buffer_of_a_frame_that_the_device_may_write_to():
    sender, port = pair()
    port.offer([2000], 0)
    sender.put(SEND_BUFFERS, bytes(HEADER) + frame_of(MACS[1], MACS[0], b"data"))
    sender.queues[1].chain(0, [(SEND_BUFFERS, 26, False), (SEND_BUFFERS + 26, 4, True)])
    sender.queues[1].offer(0)
    sender.queues[1].notify()
    assert sender.status & NEEDS_RESET
    assert port.received() == [b""]
    assert (counts(0)[5], sender.queues[1].returned()) == (1, [])


def test_a_stopped_receiver():
    """Its memory is not written, and it receives again after its restart."""
    sender, port = pair()
    port.offer([2000], 0)
    restart(1)
    before = port.device.get(RECEIVE_BUFFERS, 2000)
    send(sender, frame_of(MACS[1], MACS[0], b"lost"), [])
    assert port.device.get(RECEIVE_BUFFERS, 2000) == before
    port = Port(Device(1, size=64).start())
    port.offer([2000], 0)
    send(sender, frame_of(MACS[1], MACS[0], b"there"), [])
    assert port.received() == [frame_of(MACS[1], MACS[0], b"there")]


def test_broadcast_is_interrupted():
    """The hypervisor polls interrupts between two receivers, and each gets the frame once."""
    booted(functions())
    ports = [Port(Device(vm, size=64).start()) for vm in (1, 2)]
    for port in ports:
        port.offer([2000], 0)
        port.offer([2000], 0)
    frame = frame_of(BROADCAST, MACS[0], b"all")
    assert send(Device(0, poll=1).start(), frame, []) > 1
    assert [port.received() for port in ports] == [[frame], [frame]]


def test_reset_of_a_sender_during_a_frame():
    """The receiver gets its buffer back, and the interrupt that it waits for: later ones would not come without it."""
    booted(functions())
    port = Port(Device(1, size=64).start(VERSION_1 | EVENT_IDX))
    port.offer([2000], 0)
    sender = Device(0).start()
    sender.put(SEND_BUFFERS, bytes(HEADER) + frame_of(MACS[1], MACS[0], bytes(1000)))
    sender.queues[1].chain(0, [(SEND_BUFFERS, 1026, False)])
    sender.queues[1].offer(0)
    assert [sender.begin(0x3000, 1, 2), sender.begin(0x3000, 1, 2)] == [1, 1], "an interrupt in the frame"
    assert port.device.queues[0].returned() == []
    sender.write(20, 0, 1)
    assert port.device.queues[0].returned() == [(0, 0)]
    assert port.device.line


def test_runt():
    """A chain without a whole header: the device needs a reset, and works again after it."""
    sender, port = pair()
    queue = sender.queues[1]
    queue.descriptor(0, SEND_BUFFERS, 25)
    queue.offer(0)
    queue.notify()
    assert sender.status & NEEDS_RESET
    assert sender.isr & ISR_CONFIG
    port.offer([2000], 0)
    send(Device(0).start(), frame_of(MACS[1], MACS[0], b"again"), [])
    assert len(port.received()) == 1


def test_addresses_that_an_uplink_may_send_from():
    """Its own, and those of no port."""
    booted(functions(uplink=2))
    uplink, port = Device(2).start(), Port(Device(1, size=64).start())
    for _ in range(5):
        port.offer([2000], 0)
    for source in (MACS[2], OUTSIDE, MACS[0], MACS[1], GROUP):
        send(uplink, frame_of(MACS[1], source, b"data"), [])
    assert port.received() == [frame_of(MACS[1], source, b"data") for source in (MACS[2], OUTSIDE)]
    assert counts(2)[2] == 3


def test_frames_that_an_uplink_gets():
    """Those to a group, and those to no port."""
    booted(functions(uplink=1))
    sender, uplink, port = Device(0).start(), Port(Device(1, size=64).start()), Port(Device(2, size=64).start())
    frames = {to: frame_of(to, MACS[0], b"data") for to in (MACS[2], OUTSIDE, BROADCAST)}
    for frame in frames.values():
        uplink.offer([2000], 0)
        port.offer([2000], 0)
        send(sender, frame, [])
    assert uplink.received() == [frames[OUTSIDE], frames[BROADCAST]]
    assert port.received() == [frames[MACS[2]], frames[BROADCAST]]


def test_an_uplink_behind_the_receiver_gets_no_copy():
    """Whether the receiver has a buffer or not."""
    booted(functions(uplink=2))
    sender, port, uplink = Device(0).start(), Port(Device(1, size=64).start()), Port(Device(2, size=64).start())
    frame = frame_of(MACS[1], MACS[0], b"data")
    uplink.offer([2000], 0)
    send(sender, frame, [])
    port.offer([2000], 0)
    send(sender, frame, [])
    assert (port.received(), uplink.received()) == ([frame], [])


@pytest.mark.parametrize("wrong", [False, True])
def test_nothing_is_received_without_a_driver(wrong: bool):
    """After a reset, or after the driver was wrong, even if its buffers are right again."""
    booted(functions())
    sender, receiver = Device(0).start(), Device(1, size=64).start()
    frame, queue = frame_of(MACS[1], MACS[0], b"data"), receiver.queues[0]
    queue.descriptor(0, 0x1000 if wrong else RECEIVE_BUFFERS, 2000, WRITE)
    queue.offer(0)
    if wrong:
        send(sender, frame, [])
        queue.descriptor(0, RECEIVE_BUFFERS, 2000, WRITE)
    else:
        receiver.write(20, 0, 1)
    before = receiver.get(RECEIVE_BUFFERS, 2000)
    send(sender, frame, [])
    assert queue.returned() == []
    assert receiver.get(RECEIVE_BUFFERS, 2000) == before


def wrong_receive_buffers(device: Device, kind: int) -> None:
    queue = device.queues[0]
    queue.descriptor(0, *((GPA + 0x1000, 2000, 0), (0x1000, 2000, WRITE), (GPA + 0x1000, 0, WRITE))[kind])
    queue.offer(0)


@settings(max_examples=examples(20), deadline=None, derandomize=True)
@given(st.integers(0, 2), st.booleans())
def test_wrong_buffers_of_a_receiver(kind: int, group: bool):
    """Only the receiver's device needs a reset, or gets nothing; the sender and others do not notice."""
    booted(functions())
    sender, bad, port = Device(0).start(), Device(1).start(), Port(Device(2, size=64).start())
    wrong_receive_buffers(bad, kind)
    port.offer([2000], 0)
    frame = frame_of(BROADCAST if group else MACS[1], MACS[0], b"data")
    send(sender, frame, [])
    assert bool(bad.status & NEEDS_RESET) == (kind != 0)
    assert sender.status & NEEDS_RESET == 0
    assert port.received() == [frame] * group
