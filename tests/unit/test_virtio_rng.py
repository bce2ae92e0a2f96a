# SPDX-License-Identifier: Apache-2.0
"""virtio-rng against an independent ChaCha20 with fast key erasure, and its buffers."""

import struct

import pytest
from core import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from virtio import ENTROPY, GPA, NEEDS_RESET, VERSION_1, WRITE, Device, booted, restart

SEED = bytes.fromhex("5a5a5a5a12345678") + bytes(24)  # testbed_virtio.c
MASK = 0xFFFFFFFF


def rounds(state: list[int]) -> list[int]:
    """Ten double rounds of ChaCha (RFC 8439, section 2.3)."""
    x = list(state)
    columns = [(i, 4 + i, 8 + i, 12 + i) for i in range(4)]
    diagonals = [(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4) for i in range(4)]
    for _ in range(10):
        for a, b, c, d in columns + diagonals:
            for left, right, turned, bits in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
                x[left] = x[left] + x[right] & MASK
                mixed = x[turned] ^ x[left]
                x[turned] = (mixed << bits | mixed >> 32 - bits) & MASK
    return x


def state_of(key: bytes, words: list[int]) -> list[int]:
    return [*struct.unpack("<4I", b"expand 32-byte k"), *struct.unpack("<8I", key), *words]


class Generator:
    def __init__(self, number: int) -> None:
        output = rounds(state_of(SEED, [number, 0, 0, 1]))
        self.key = struct.pack("<8I", *output[:4], *output[12:])

    def block(self) -> bytes:
        first = state_of(self.key, [0] * 4)
        data = struct.pack("<16I", *(a + b & MASK for a, b in zip(first, rounds(first), strict=True)))
        self.key = data[:32]
        return data[32:]

    def fill(self, sizes: list[int]) -> bytes:
        """Each buffer begins with a new block."""
        found = b""
        for size in sizes:
            data = b"".join(self.block() for _ in range(-(-size // 32)))
            found += data[:size]
        return found


def draw(device: Device, sizes: list[int]) -> bytes:
    at, buffers = GPA + 0x80001, []
    for size in sizes:
        buffers.append((at, size, True))
        at += size
    queue = device.queues[0]
    queue.chain(0, buffers)
    queue.offer(0)
    queue.notify()
    assert queue.returned() == [(0, sum(sizes))]
    return device.get(GPA + 0x80001, sum(sizes))


@settings(max_examples=examples(30), deadline=None, derandomize=True)
@given(st.lists(st.lists(st.integers(1, 200), min_size=1, max_size=4), max_size=8), st.integers(0, 2))
def test_output(requests: list[list[int]], poll: int):
    booted([{"vm": 0, "kind": ENTROPY}, {"vm": 1, "kind": ENTROPY}])
    devices, models = [Device(vm, poll=poll).start() for vm in (0, 1)], [Generator(0), Generator(1)]
    for number, sizes in enumerate(requests):
        assert draw(devices[number % 2], sizes) == models[number % 2].fill(sizes)


def test_next_life_continues():
    """A restarted VM does not get the same numbers again."""
    booted([{"vm": 0, "kind": ENTROPY}])
    model = Generator(0)
    assert draw(Device(0).start(), [64]) == model.fill([64])
    restart(0)
    assert draw(Device(0).start(), [64]) == model.fill([64])


def test_restart_in_the_middle_of_a_request():
    """The next life's request begins anew, and the device writes no further byte of the old one."""
    booted([{"vm": 0, "kind": ENTROPY}])
    device, old = Device(0).start(), GPA + 0x90000
    device.queues[0].chain(0, [(old, 200, True)])
    device.queues[0].offer(0)
    assert device.queues[0].notify_once(3)
    restart(0)
    device = Device(0).start()
    assert draw(device, [64]) == Generator(0).fill([64])
    assert device.get(old, 200) == bytes(200)


@pytest.mark.parametrize(("address", "length", "flags"), [(GPA, 64, 0), (GPA, 0, WRITE), (0x1000, 64, WRITE)])
def test_wrong_buffers(address: int, length: int, flags: int):
    booted([{"vm": 0, "kind": ENTROPY}])
    device = Device(0).start(VERSION_1)
    device.queues[0].descriptor(0, address, length, flags)
    device.queues[0].offer(0)
    device.queues[0].notify()
    assert device.status & NEEDS_RESET
