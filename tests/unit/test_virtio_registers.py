# SPDX-License-Identifier: Apache-2.0
"""Registers of PCI functions that drivers seldom read, and devices whose driver or peer goes away in the middle."""

import struct

import pytest
from core import CORE, operator
from virtio import (
    ACTION,
    BLOCK,
    CRYPTO,
    ENTROPY,
    EVENT_IDX,
    GPA,
    INDIRECT,
    IVSHMEM,
    NEEDS_RESET,
    NET,
    NEXT,
    SHARED_ID,
    SOCKET,
    VERSION_1,
    WRITE,
    Device,
    Pci,
    booted,
    counts,
    make,
    restart,
)

CONSOLE, MULTIPORT = 3, 1 << 1
MAC, OTHER = 0x020000000001, 0x020000000002
ONES = 0xFFFFFFFF
SEND, RECEIVE = GPA + 0x80000, GPA + 0x100000

FUNCTIONS = [
    {"vm": 0, "kind": NET, "mac": MAC},
    {"vm": 0, "kind": SOCKET, "cid": 9},
    {"vm": 0, "kind": IVSHMEM, "shared": SHARED_ID},
    {"vm": 0, "kind": ENTROPY},
    {"vm": 1, "kind": NET, "mac": OTHER},
    {"vm": 1, "kind": SOCKET, "cid": 10},
]


@pytest.fixture
def bus() -> None:
    booted(FUNCTIONS)


@pytest.mark.usefixtures("bus")
def test_device_configuration():
    """Sections 5.1.4 and 5.10.4 of virtio 1.2, at each width; what is behind the structure reads as 0."""
    net, vsock, rng = Device(0, 0).start(), Device(0, 1).start(), Device(0, 3).start()
    address = MAC.to_bytes(6, "big")
    assert bytes(net.read(0x2000 + i, 1) for i in range(6)) == address
    assert [net.read(0x2000), net.read(0x2004, 2), net.read(0x2008)] == [*struct.unpack("<IH", address), 0]
    assert net.read(0x3000) == 0, "the page of notifications"
    assert [vsock.read(0x2000), vsock.read(0x2004)] == [9, 0]
    assert rng.read(0x2000) == 0, "an entropy device has no configuration"


@pytest.mark.usefixtures("bus")
def test_common_configuration_reads_back():
    device = Device(0)
    assert device.accept(VERSION_1)
    device.write(0, 1)
    device.write(8, 1)
    assert [device.read(0), device.read(8), device.read(12)] == [1, 1, VERSION_1 >> 32]
    device.write(8, 0)
    assert device.read(12) == 0
    for select in (2, ONES):
        device.write(0, select)
        device.write(8, select)
        assert [device.read(4), device.read(12)] == [0, 0], "features end with bit 63"
    device.write(12, ONES)
    device.write(8, 1)
    assert device.read(12) == VERSION_1 >> 32, "and are final after FEATURES_OK"
    device.write(22, 1, 2)
    assert [device.read(26, 2), device.read(30, 2)] == [0xFFFF, 0], "no MSI-X vector; one place for notifications"
    addresses = [0x1000 * number for number in range(1, 7)]
    for at, address in zip(range(32, 56, 4), addresses, strict=True):
        device.write(at, address)
    assert [device.read(at) for at in range(32, 64, 4)] == [*addresses, 0, 0]
    device.write(22, 2, 2)
    assert [device.read(at) for at in range(24, 64, 4)] == [0] * 10, "a NIC has two queues"


@pytest.mark.usefixtures("bus")
def test_configuration_space_of_nobody():
    """Subsystem ids, the end of the capabilities, and stores to functions and registers that do not exist."""
    function = Pci(0)
    assert function.load(function.config + 0x2C) == 0x11001AF4
    assert [function.load(function.config + at) for at in (0x90, 0xA4, 0x100, 0xFFC)] == [0] * 4
    for at in (0x1000, 0x20000, 0xF8000):
        assert function.store(function.config + at, 7) == 0
        assert function.load(function.config + at) == ONES
    for at in (0x00, 0x08, 0x2C, 0x34, 0x3E, 0x40, 0xFFC):
        before = function.load(function.config + at)
        function.store(function.config + at, ~before & ONES)
        assert function.load(function.config + at) == before
    assert function.load(function.config + 0x3C) == 0x100
    function.store(function.config + 4, ONES)
    assert function.load(function.config + 4) == 0x00100406, "no I/O space; the status is read-only"
    function.store(function.config + 4, 2, 2)
    function.store(function.config + 4, 0x406, 1)
    assert function.load(function.config + 4) == 0x00100006, "a store of a byte of a longer value"
    function.store(function.config + 0x3C, ONES)
    assert function.load(function.config + 0x3C) == 0x1FF, (
        "the interrupt line is the driver's note; the pin is read-only"
    )
    restart(0)
    assert function.load(function.config + 0x3C) == 0x100


@pytest.mark.usefixtures("bus")
def test_registers_of_ivshmem():
    shared = Pci(0, 2)
    shared.store(shared.config + 4, 2, 2)
    shared.write(0, 0x5A)
    assert [shared.read(at) for at in (0, 4, 8, 12, 16, 0x1000, 0x3000)] == [0x5A, 0, 0, 0, 0, 0, 0]
    shared.write(16, ONES)
    shared.write(0x3000, 3, 2)
    assert not shared.line


@pytest.mark.usefixtures("bus")
def test_notification_of_no_queue():
    device = Device(0).start()
    for number in (2, 3, 0xFFFF):
        assert device.write(0x3000, number, 2) == 0
    assert not device.status & NEEDS_RESET


@pytest.mark.usefixtures("bus")
def test_the_operators_list_of_nics():
    heading, *nics = operator("p")
    assert heading.split() == ["NIC", "sent", "received", "spoofed", "limited", "no", "buffer", "malformed"]
    assert [nic.split() for nic in nics] == [["vm-a", "0", *"000000"], ["vm-b", "0", *"000000"]]
    booted([{"vm": 0, "kind": NET, "mac": MAC}])
    assert len(operator("p")) == 2, "the last function is a NIC"


def frame(length: int = 1000) -> bytes:
    return bytes(12) + OTHER.to_bytes(6, "big") + MAC.to_bytes(6, "big") + b"\x88\xb5" + bytes(length)


def begun() -> tuple[Device, Device]:
    """A sender whose frame is interrupted in the middle, and its receiver."""
    receiver, sender = Device(1).start(), Device(0).start()
    receiver.queues[0].chain(0, [(RECEIVE, 2000, True)])
    receiver.queues[0].offer(0)
    sender.put(SEND, frame())
    sender.queues[1].chain(0, [(SEND, len(frame()), False)])
    sender.queues[1].offer(0)
    assert [sender.begin(0x3000, 1, 2), sender.begin(0x3000, 1, 2)] == [1, 1], "an interrupt in the frame"
    return sender, receiver


@pytest.mark.usefixtures("bus")
def test_reset_of_a_receiver_during_a_frame():
    """The rest of the frame is not written; the sender goes on."""
    sender, receiver = begun()
    receiver.write(20, 0, 1)
    before = receiver.get(RECEIVE, 2000)
    sender.queues[1].notify()
    assert sender.queues[1].returned() == [(0, 0)]
    assert receiver.get(RECEIVE, 2000) == before
    assert receiver.start().queues[0].returned() == []
    assert counts(4)[1] == 0


@pytest.mark.usefixtures("bus")
def test_wrong_later_buffer_of_a_receiver():
    """Its first buffer holds the header, the next one is outside of its RAM."""
    receiver, sender = Device(1).start(), Device(0).start()
    receiver.queues[0].chain(0, [(RECEIVE, 40, True), (0x1000, 2000, True)])
    receiver.queues[0].offer(0)
    sender.put(SEND, frame())
    sender.queues[1].chain(0, [(SEND, len(frame()), False)])
    sender.queues[1].offer(0)
    sender.queues[1].notify()
    assert sender.queues[1].returned() == [(0, 0)]
    assert receiver.status & NEEDS_RESET
    assert not sender.status & NEEDS_RESET


def test_header_in_too_many_buffers():
    """Five are served, six are not."""
    make([])  # for the place of the disk
    booted([{"vm": 0, "kind": BLOCK, "disk": CORE.testbed_virtio_disk(), "disk_size": 4096}])
    for parts, wrong in ((5, False), (6, True)):
        device = Device(0).start()
        device.put(SEND, struct.pack("<IIQ", 0, 0, 0))
        head = [(SEND + 2 * i, 2, False) for i in range(parts - 1)]
        head.append((SEND + 2 * parts - 2, 18 - 2 * parts, False))
        device.queues[0].chain(0, [*head, (RECEIVE, 512, True), (RECEIVE + 512, 1, True)])
        device.queues[0].offer(0)
        device.queues[0].notify()
        assert bool(device.status & NEEDS_RESET) == wrong


@pytest.mark.parametrize("kind", [NET, SOCKET, CRYPTO, BLOCK, ENTROPY])
def test_tables_in_tables(kind: int):
    """An indirect table that contains another one, or that is not the end of its chain, breaks the device."""
    make([])  # for the place of the disk
    fields = {"vm": 0, "kind": kind, "disk": CORE.testbed_virtio_disk(), "disk_size": 4096, "cid": 3, "mac": MAC}
    booted([fields])
    for more in (4, 5):
        device = Device(0).start(VERSION_1 | 1 << 28)
        queue = device.queues[-1 if kind == NET else 0]
        device.put(SEND, struct.pack("<QIHH", SEND + 0x100, 32, more, 0))
        queue.descriptor(0, SEND, 16, 4 | WRITE * 0)
        queue.offer(0)
        queue.notify()
        if kind != SOCKET:  # whose queue 0 receives, and has nothing to receive
            assert device.status & NEEDS_RESET


@pytest.mark.parametrize(
    ("place", "size", "flags", "features"),
    [
        (SEND + 4, 16, 4, INDIRECT),
        (SEND, 24, 4, INDIRECT),
        (SEND, 0, 4, INDIRECT),
        (0x1000, 16, 4, INDIRECT),
        (SEND, 16, 4 | NEXT, INDIRECT),
        (SEND, 16, 4, 0),
    ],
)
def test_wrong_tables(place: int, size: int, flags: int, features: int):
    """Their place, their length, where there is none, flags beside theirs, and without the feature."""
    booted([{"vm": 0, "kind": ENTROPY}])
    device = Device(0).start(VERSION_1 | features)
    device.put(SEND, struct.pack("<QIHHQIHH", RECEIVE, 16, WRITE, 0, RECEIVE, 16, WRITE, 0))
    device.queues[0].descriptor(0, place, size, flags, 1)
    device.queues[0].descriptor(1, RECEIVE, 16, WRITE)
    device.queues[0].offer(0)
    device.queues[0].notify()
    assert device.status & NEEDS_RESET


@pytest.mark.parametrize(("place", "flags"), [(SEND, 4), (SEND + 8, 4), (SEND, 4 | WRITE), (SEND, 4 | 0xFFF8)])
def test_right_tables(place: int, flags: int):
    """At any multiple of 8; the flags for buffers are ignored, as reserved ones are (section 2.7.5.3)."""
    booted([{"vm": 0, "kind": ENTROPY}])
    device = Device(0).start(VERSION_1 | INDIRECT)
    device.put(place, struct.pack("<QIHH", RECEIVE, 16, WRITE, 0))
    device.queues[0].descriptor(3, place, 16, flags, 1)
    device.queues[0].offer(3)
    device.queues[0].notify()
    assert device.queues[0].returned() == [(3, 16)]


@pytest.mark.parametrize(
    ("kind", "wrong", "other"),
    [(SOCKET, 0, 1), (SOCKET, 1, 0), (CONSOLE, 1, 4), (CONSOLE, 2, 3), (CONSOLE, 3, 2)],
)
def test_buffers_that_are_not_memory(kind: int, wrong: int, other: int):
    """In both directions of a VM that sends to its own context, in a line to itself, and in control queues."""
    line = {"ports": 2, "other_functions": [0, 0], "other_ports": [1, 0]} if kind == CONSOLE else {}
    booted([{"vm": 0, "kind": kind, "cid": 9, "peers": 1, **line}])
    device = Device(0).start(VERSION_1 | (MULTIPORT if kind == CONSOLE else 0))
    packet = struct.pack("<IHH", 0, 0, 1)
    if kind == SOCKET:
        packet = struct.pack("<QQIIIHHIIII", 9, 9, 1, 2, 0, 1, 1, 0, 0, 0, 0)
    device.put(SEND, packet)
    for number, place in ((wrong, 0x1000), (other, SEND)):
        device.queues[number].chain(0, [(place, len(packet), number % 2 == 0)])
        device.queues[number].offer(0)
        device.queues[number].notify()
    assert device.status & NEEDS_RESET


# Of the status, of each queue, and of the status again; at the last one the first reset is over.
@pytest.mark.parametrize("release", range(1, 4))
def test_resets_of_two_vcpus_at_once(release: int):
    """Another VCPU resets and starts the receiver at a release of a lock in the first one's reset. No queue works until
    the last reset has ended, which ends what the other VCPU has begun."""
    booted(FUNCTIONS, harts=2)
    sender, receiver = Device(0).start(), Device(1).start()
    begun = []

    def other() -> None:
        Device(1).accept(VERSION_1)
        second = Device(1)
        second.enable(0, GPA + 0x10000)
        second.write(20, 0xF, 1)
        begun.append(second)

    action = ACTION(other)
    CORE.testbed_virtio_at_release(release, 1, action)
    receiver.write(20, 0, 1)
    CORE.testbed_virtio_at_release(0, 0, action)
    assert begun
    assert receiver.status == 0
    receiver.queues[0].chain(0, [(RECEIVE, 2000, True)])
    receiver.queues[0].offer(0)
    sender.put(SEND, frame())
    sender.queues[1].chain(0, [(SEND, len(frame()), False)])
    for _ in range(2):
        sender.queues[1].offer(0)
        sender.queues[1].notify()
        used = struct.unpack("<H", receiver.get(receiver.queues[0].places[2] + 2, 2))[0]
        assert used == 0
    receiver.start()
    receiver.queues[0].chain(0, [(RECEIVE, 2000, True)])
    receiver.queues[0].offer(0)
    sender.queues[1].offer(0)
    sender.queues[1].notify()
    assert receiver.queues[0].returned() == [(0, len(frame()))]


@pytest.mark.parametrize("begun", [0, 3])
@pytest.mark.parametrize("consoles", [2, 5])
def test_look_for_interrupts_after_each_device_that_does_not_wait(consoles: int, begun: int):
    """In a reset, for each queue: to find that a device does not wait takes time, too. Also if the reset before it was
    begun and not ended, as by a driver that does not come back from an interrupt, but starts the device."""
    console = {"kind": CONSOLE, "ports": 1, "other_ports": [0]}
    booted([console | {"vm": 0, "other_functions": [number]} for number in range(consoles)])
    device, looks = Device(0).start(), 0
    assert all(device.begin(20, 0, 1) for _ in range(begun))
    device.start(reset=begun == 0)
    while device.begin(20, 0, 1):
        looks += 1
    assert looks == (consoles + 1) * len(device.queues), "and one after the reset, and between two queues"


def test_a_driver_is_asked_to_notify_of_the_next_chain():
    booted([{"vm": 0, "kind": ENTROPY}])
    device = Device(0).start(VERSION_1 | EVENT_IDX)
    for number in range(3):
        device.queues[0].chain(0, [(RECEIVE, 64, True)])
        device.queues[0].offer(0)
        device.queues[0].notify()
        assert device.queues[0].avail_event == number + 1


def test_a_full_queue():
    """Twice, so that its rings begin again; one chain more is wrong."""
    booted([{"vm": 0, "kind": ENTROPY}])
    device = Device(0).start()
    queue = device.queues[0]
    for _ in range(2):
        for number in range(queue.size):
            queue.chain(number, [(RECEIVE + 64 * number, 64, True)])
            queue.offer(number)
        queue.notify()
        assert queue.returned() == [(number, 64) for number in range(queue.size)]
    for _ in range(queue.size + 1):
        queue.offer(0)
    queue.notify()
    assert device.status & NEEDS_RESET


def test_start_of_many_queues():
    """An interrupt is looked for after each; then the device works."""
    booted([{"vm": 0, "kind": CONSOLE, "ports": 4, "other_functions": [0] * 4, "other_ports": [1, 0, 3, 2]}])
    device = Device(0)
    assert device.accept(VERSION_1 | MULTIPORT)
    device.queues = [device.enable(number, GPA + 0x10000 * (1 + number)) for number in range(device.read(18, 2))]
    device.write(22, 10, 2)
    device.write(28, 1, 2)
    device.write(0x3000, 10, 2)
    assert [device.read(24, 2), device.read(28, 2)] == [0, 0], "there is no queue 10"
    starts = 0
    while device.begin(20, 0xF, 1):
        starts += 1
    assert starts == len(device.queues) == 10
    device.put(SEND, struct.pack("<IHHIHH", 0, 0, 1, 4, 3, 1))  # port 4, which does not exist, is ready, too
    device.queues[2].chain(0, [(RECEIVE, 64, True)])
    device.queues[2].offer(0)
    for number in range(2):
        device.queues[3].chain(number, [(SEND + 8 * number, 8, False)])
        device.queues[3].offer(number)
    device.queues[3].notify()
    assert device.queues[3].returned() == [(0, 0), (1, 0)]
    assert device.queues[2].returned() == [(0, 8)]
