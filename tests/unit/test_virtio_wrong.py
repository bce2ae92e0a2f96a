# SPDX-License-Identifier: Apache-2.0
"""A hart uses a queue of a device, or finds that its driver is wrong, and another hart resets the device meanwhile: the
reset holds, and the next life of the device is not disturbed."""

from collections.abc import Callable
from itertools import count

import pytest
import test_virtio_console as console
import test_virtio_net as net
import test_virtio_server as server
import test_virtio_vsock as vsock
from virtio import ACTION, CORE, GPA, NEEDS_RESET, WRITE, Device, booted

OUTSIDE = 0x1000  # no RAM of a VM
PLACE = GPA + 0x140000
Case = tuple[Device, Callable[[], object], Callable[[], object]]


def network() -> tuple[Device, Device, Callable[[], object]]:
    booted(net.functions(), harts=2)
    sender, receiver = Device(0).start(), Device(1).start()
    sender.put(PLACE, bytes(net.HEADER) + net.frame_of(net.MACS[1], net.MACS[0], b"data"))

    def send() -> None:
        sender.queues[1].descriptor(0, PLACE, net.HEADER + net.FRAME_HEADER + 4)
        sender.queues[1].offer(0)
        sender.queues[1].notify()

    return sender, receiver, send


def offer(device: Device, address: int) -> None:
    queue = device.queues[0]
    queue.descriptor(0, address, 8192, WRITE)
    queue.offer(0)
    queue.notify()


def frame() -> Case:
    _, receiver, send = network()
    return receiver, lambda: offer(receiver, OUTSIDE), send


def sender_of_a_frame() -> Case:
    sender, _, send = network()

    def wrong() -> None:
        sender.queues[1].descriptor(0, OUTSIDE, 100)
        sender.queues[1].offer(0)

    def act() -> None:
        if sender.queues[1].avail == 1:  # the wrong one
            sender.queues[1].notify()
        else:
            send()

    return sender, wrong, act


def packet() -> Case:
    booted(vsock.functions(), harts=2)
    receiver, sender = vsock.Endpoint(1), vsock.Endpoint(0)
    sender.offer([100])  # for the answer to a packet without receiver
    return receiver.device, lambda: offer(receiver.device, OUTSIDE), lambda: sender.send(4, b"data")


def sender_of_a_packet() -> Case:
    booted(vsock.functions(), harts=2)
    receiver, sender = vsock.Endpoint(1), vsock.Endpoint(0)
    receiver.offer([100])

    def wrong() -> None:
        sender.device.queues[1].descriptor(0, OUTSIDE, 100)
        sender.device.queues[1].offer(0)

    def act() -> None:
        if sender.device.queues[1].avail == 1:  # the wrong one
            sender.device.queues[1].notify()
        else:
            sender.packet(receiver, vsock.REQUEST, 1, 2)

    return sender.device, wrong, act


def bytes_on_a_line() -> Case:
    booted(console.LINE, harts=2)
    sender, receiver = console.End(0), console.End(1)
    return receiver.device, lambda: offer(receiver.device, OUTSIDE), lambda: sender.send(b"data", 0)


def request() -> Case:
    booted(server.functions(), harts=2)
    disk, numbers = Device(0, size=64).start(), count(3, 3)
    disks = server.Server(buffers=0)
    return (
        disks.device,
        lambda: offer(disks.device, OUTSIDE),
        lambda: server.ask(disk, server.FLUSH, 0, b"", first=next(numbers)),
    )


CASES = [frame, sender_of_a_frame, packet, sender_of_a_packet, bytes_on_a_line, request]


def reset_at(device: Device, release: int, locks: int, act: Callable[[], object], then: Callable[[], object]) -> None:
    """Another hart resets the device at a release of one of so many locks in `act`, or after it, and does `then` once
    its status is 0."""
    resets, lives = [], []

    def live() -> None:
        if device.status == 0:
            lives.append(device.start(reset=False))
            then()

    def reset() -> None:
        resets.append(device.write(20, 0, 1))
        live()

    action = ACTION(reset)
    CORE.testbed_virtio_at_release(release, locks, action)
    act()
    CORE.testbed_virtio_at_release(0, 0, action)
    assert resets or release > 1
    if not resets:
        reset()
    elif not lives:
        live()
    assert lives, "the status is never 0"


@pytest.mark.parametrize("case", CASES)
def test_a_wrong_driver(case: Callable[[], Case]):
    device, wrong, act = case()
    wrong()
    act()
    assert device.status & NEEDS_RESET


# With two locks, the sender's queue stays locked, for which a reset of any device but a network's would wait.
at_each_release = pytest.mark.parametrize("release", range(1, 15))
with_locks = pytest.mark.parametrize(("case", "locks"), [*((case, 1) for case in CASES), (frame, 2)])


@at_each_release
@with_locks
@pytest.mark.parametrize("is_wrong", [False, True])
def test_no_interrupt_follows_a_reset(is_wrong: bool, case: Callable[[], Case], locks: int, release: int):
    """Section 2.1: the line stays low from the end of the reset on."""
    device, wrong, act = case()
    if is_wrong:
        wrong()
    else:
        offer(device, PLACE)
    action = ACTION(lambda: device.write(20, 0, 1))
    CORE.testbed_virtio_at_release(release, locks, action)
    act()
    CORE.testbed_virtio_at_release(0, 0, action)
    assert CORE.testbed_virtio_acted() or release > 1
    assert not (device.status == 0 and device.line)


@at_each_release
@with_locks
def test_reset_of_a_device_whose_driver_is_found_to_be_wrong(case: Callable[[], Case], locks: int, release: int):
    device, wrong, act = case()
    wrong()
    reset_at(device, release, locks, act, lambda: offer(device, PLACE))
    assert device.status & NEEDS_RESET == 0
    act()
    assert device.status & NEEDS_RESET == 0
    returned = [queue.returned() for queue in device.queues]
    assert any(returned), "its queues have stopped"
