# SPDX-License-Identifier: Apache-2.0
"""
The check of bitstreams at boot (devices/accel/bitstreams.c), over the fabric's RTL: a bitstream that was changed, or
that is authentic and malformed, is reported, its region is excluded for its device, and no word reaches the ICAP.
"""

import ctypes
import re
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import CFUNCTYPE, POINTER, c_char, c_uint, c_uint8, c_void_p

import pytest
from c_headers import structures, values
from core import CORE
from test_manager import CMD, CONNECTED, FABRIC, REFUSED, WAITS, Machine

from tessera.fabric.bitstream import KEY_SIZE, TAG_SIZE, packet, tag, wrap

DEVICES, REGIONS = values("testbed_accel.h", "TESTBED_ACCEL_DEVICES TESTBED_ACCEL_REGIONS")
SIZE, FRAMES = 256, 256  # bytes of a bitstream; frames of a region, from this address times its number on
WHOLE = SIZE + TAG_SIZE
SPARE = DEVICES * REGIONS  # behind the bitstreams, for one that is larger
ALL = (1 << REGIONS) - 1
ICAP_START = values("fabric_map.h", "FABRIC_REGS_ICAP_START")[0]
FAILED = values("accel.h", "ACCEL_FAILED")[0]
(Row,) = structures("accel_image.h", "accel_image_bitstream")
(SysimageHeader,) = structures("sysimage.h", "sysimage_header")
EDIT = CFUNCTYPE(None, c_void_p, POINTER(Row))
KEY = bytes((c_uint8 * KEY_SIZE).in_dll(CORE, "platform_bitstream_key"))
CORE.testbed_accel_usable.restype, CORE.testbed_accel_usable.argtypes = c_uint, [c_uint]
CORE.testbed_accel_edit.restype, CORE.testbed_accel_edit.argtypes = None, [c_void_p]

DEVICE, REGION = 2, 1  # of the bitstream that most tests change: task 3
NUMBER = DEVICE * REGIONS + REGION


class Streams:
    """The bitstreams of an image before its boot; `rows` is their table."""

    def __init__(self, start: int, rows: "ctypes._Pointer[Row]") -> None:
        self.memory = (c_char * ((SPARE + 4) * WHOLE)).from_address(start)
        self.rows = rows

    def get(self, number: int = NUMBER) -> bytes:
        return self.memory[number * WHOLE : (number + 1) * WHOLE]

    def put(self, data: bytes, number: int = NUMBER) -> None:
        assert len(data) <= WHOLE * (1 + 3 * (number == SPARE))
        self.memory[number * WHOLE : number * WHOLE + len(data)] = data

    def sign(self, data: bytes, number: int = NUMBER, key: bytes = KEY) -> None:
        self.rows[number].size = len(data)
        place = number if len(data) <= SIZE else SPARE
        self.rows[number].offset += (place - number) * WHOLE
        self.put(data + tag(data, key), place)


@contextmanager
def edited(change: Callable[[Streams], None]) -> Iterator[Machine]:
    edit = EDIT(lambda start, rows: change(Streams(start, rows)))
    CORE.testbed_accel_edit(ctypes.cast(edit, c_void_p))
    try:
        machine = Machine(1, [1])
        machine.run()
        yield machine
    finally:
        CORE.testbed_accel_edit(None)


def refusals(machine: Machine) -> list[str]:
    return [line for line in machine.console if "is refused" in line]


def check_refused(change: Callable[[Streams], None], why: str, at: int, size: int = SIZE) -> None:
    """The bitstream is reported, and its region excluded for its device, and for no other."""
    with edited(change) as machine:
        found = refusals(machine)
        expected = f"the bitstream of {chr(ord('a') + DEVICE)} for region {REGION} is refused at boot: "
        assert len(found) == 1, found
        assert found[0].endswith(f"{expected}{why}, at byte {at} of {size}")
        usable = [CORE.testbed_accel_usable(device) for device in range(DEVICES)]
        assert usable == [ALL & ~(1 << REGION) if device == DEVICE else ALL for device in range(DEVICES)]


WRONG_TAG = "its tag is not that of its bytes with the board's key"


def test_no_change() -> None:
    with edited(lambda streams: None) as machine:
        assert not refusals(machine)
        assert [CORE.testbed_accel_usable(device) for device in range(DEVICES)] == [ALL] * DEVICES


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
def test_every_flipped_bit_is_refused(part: int) -> None:
    """Of a bitstream and its tag."""
    for bit in range(part, 8 * WHOLE, 8):

        def flip(streams: Streams, bit: int = bit) -> None:
            data = bytearray(streams.get())
            data[bit // 8] ^= 1 << bit % 8
            streams.put(bytes(data))

        check_refused(flip, WRONG_TAG, SIZE)


def test_another_key() -> None:
    check_refused(lambda streams: streams.sign(streams.get()[:SIZE], key=bytes(32)), WRONG_TAG, SIZE)


def test_truncated() -> None:
    for size in range(40, SIZE, 8):

        def cut(streams: Streams, size: int = size) -> None:
            streams.rows[NUMBER].size = size

        check_refused(cut, WRONG_TAG, size, size)


@pytest.mark.parametrize("size", [0, 8, 32, 41, 44])
def test_sizes_without_a_bitstream(size: int) -> None:
    def resize(streams: Streams) -> None:
        streams.rows[NUMBER].size = size

    check_refused(resize, "its offset or size is wrong", 0, size)


@pytest.mark.parametrize(
    ("offset", "why"),
    [
        (4, "its offset or size is wrong"),
        (1 << 20, "it is outside of the image"),
        (2**64 - SIZE, "it is outside of the image"),
        (2**64 - WHOLE, "it is outside of the image"),
        (2**64 - 8, "it is outside of the image"),
    ],
)
def test_offsets_outside_of_the_image(offset: int, why: str) -> None:
    def move(streams: Streams) -> None:
        streams.rows[NUMBER].offset = offset

    check_refused(move, why, 0)


@pytest.mark.parametrize("behind", [0, 8, TAG_SIZE, WHOLE])
def test_the_end_of_the_image(behind: int) -> None:
    """A bitstream whose tag ends there, with the image's last word in it, and those that end behind it."""

    def move(streams: Streams) -> None:
        image = ctypes.addressof(streams.memory) - streams.rows[0].offset
        streams.rows[NUMBER].offset = SysimageHeader.from_address(image).total_size - WHOLE + behind

    check_refused(move, "it is outside of the image" if behind else WRONG_TAG, 0 if behind else SIZE)


def test_largest_size() -> None:
    def grow(streams: Streams) -> None:
        streams.rows[NUMBER].size = 2**32 - 8

    check_refused(grow, "it is outside of the image", 0, 2**32 - 8)


def test_authentic_bitstream_for_another_region() -> None:
    check_refused(lambda streams: streams.put(streams.get(NUMBER + 1)), "its header names another region", 4)


def test_authentic_bitstream_of_another_task() -> None:
    def swap(streams: Streams) -> None:
        streams.put(streams.get(NUMBER + REGIONS))

    check_refused(swap, "its header names another task, or has bits that have to be 0", 4)


def test_swapped_bitstreams_are_both_refused() -> None:
    def swap(streams: Streams) -> None:
        one, other = streams.get(0), streams.get(1)
        streams.put(other, 0)
        streams.put(one, 1)

    with edited(swap) as machine:
        assert len(refusals(machine)) == 2
        assert CORE.testbed_accel_usable(0) == ALL & ~3


def header(
    region: int = REGION, task: int = DEVICE + 1, low: int = 0, words: int = 4, magic: int = 0x53494D42
) -> bytes:
    """An authentic bitstream whose body is right, with another header."""
    good = wrap(REGION, DEVICE + 1, packet(REGION, DEVICE + 1, 3, REGION * FRAMES) + bytes(0))
    head = struct.pack("<3I", magic, region << 24 | task << 16 | low, words)
    return head + struct.pack("<I", zlib.crc32(head)) + good[16:]


def body(*packets: bytes) -> bytes:
    return wrap(REGION, DEVICE + 1, b"".join(packets))


def one(words: int, frame: int, region: int = REGION, task: int = DEVICE + 1, slow: bool = False) -> bytes:
    return packet(region, task, words, frame, slow)


FIRST, LAST = REGION * FRAMES, (REGION + 1) * FRAMES - 1
MARK = "a packet has another mark, region or task, or bits that have to be 0"
OUTSIDE = "a packet writes frames outside of the region"
LENGTH = "a packet has a wrong length"
NEXT = one(4, LAST)  # 6 words before another packet
CASES = {
    "magic": (header(words=5, magic=0x53494D43), "its header does not begin with SIMB", 0),
    "header region": (header(0, words=5), "its header names another region", 4),
    "header task": (header(task=4, words=5), "its header names another task, or has bits that have to be 0", 4),
    "header low": (header(low=0x8000, words=5), "its header names another task, or has bits that have to be 0", 4),
    "header longer": (header(words=6), "its header gives another length", 8),
    "header shorter": (header(words=4), "its header gives another length", 8),
    "header huge": (header(words=2**32 - 1), "its header gives another length", 8),
    "slow": (body(one(3, FIRST, slow=True)), MARK, 16),
    "packet region": (body(one(3, FIRST, region=2)), MARK, 16),
    "packet task": (body(one(3, FIRST, task=2)), MARK, 16),
    "second packet region": (body(NEXT, one(3, FIRST, region=2)), MARK, 40),
    "second packet slow": (body(NEXT, one(3, FIRST, slow=True)), MARK, 40),
    "frame below": (body(one(3, FIRST - 1)), OUTSIDE, 24),
    "frame behind": (body(one(3, LAST + 1)), OUTSIDE, 24),
    "frame far": (body(one(3, 2**32 - 1)), OUTSIDE, 24),
    "last frame": (body(one(1 + 102, LAST)), OUTSIDE, 24),
    "second frame behind": (body(NEXT, one(3, LAST + 1)), OUTSIDE, 48),
    "no words": (body(one(0, FIRST), b"\0" * 12), LENGTH, 20),
    "no data": (body(one(1, FIRST), b"\0" * 8), LENGTH, 20),
    "too long": (body(one(4, FIRST)[:-4]), LENGTH, 20),
    "huge": (body(struct.pack("<2I", 0xC5010300, 2**32 - 1), bytes(12)), LENGTH, 20),
    "rest": (body(NEXT, one(3, FIRST)[:4]), LENGTH, 44),
}


@pytest.mark.parametrize("name", CASES)
def test_authentic_and_malformed(name: str) -> None:
    data, why, at = CASES[name]
    check_refused(lambda streams: streams.sign(data), why, at, len(data))


def test_packets_at_the_ends_of_the_range() -> None:
    for data in (
        body(one(3, FIRST)),
        body(one(3, LAST)),
        body(one(1 + 2 * 101, LAST - 1)),
        body(NEXT, one(3, FIRST)),
        body(one(3, FIRST), one(2, LAST)),
        header(words=5),
    ):
        with edited(lambda streams, data=data: streams.sign(data)) as machine:
            assert not refusals(machine)


def test_table_with_a_region_that_does_not_exist() -> None:
    def broken(field: str, value: int) -> Callable[[Streams], None]:
        return lambda streams: setattr(streams.rows[NUMBER], field, value)

    for field, value in (("region", REGIONS), ("device", DEVICES), ("device", 2**32 - 1)):
        with pytest.raises(AssertionError), edited(broken(field, value)):
            pass


def test_device_without_a_bitstream_fails() -> None:
    """Its requests are refused, in each life of the VM, and the ICAP never starts; other devices work."""

    def damage(streams: Streams) -> None:
        for region in range(REGIONS):
            streams.put(b"\1", DEVICE * REGIONS + region)

    with edited(damage) as machine:
        assert len(refusals(machine)) == REGIONS
        assert CORE.testbed_accel_usable(DEVICE) == 0
        for _ in range(2):
            assert CORE.testbed_accel_state(0, DEVICE) == FAILED
            assert CORE.testbed_accel_store(0, DEVICE, CMD, 0) == REFUSED
            machine.pass_time(100)
            assert FABRIC.fabric_interrupts() & 1 == 0
            assert CORE.testbed_vm_stop(0, 0, True)
            machine.settle()
        connect(machine, DEVICE + 1)


def connect(machine: Machine, device: int) -> None:
    for _ in range(100):
        if CORE.testbed_accel_store(0, device, CMD, 0) != WAITS:
            break
        machine.pass_time(500)
        machine.settle()
    assert CORE.testbed_accel_state(0, device) == CONNECTED


def test_other_regions_serve_the_device() -> None:
    def damage(streams: Streams) -> None:
        for region in (1, 2):
            streams.put(b"\1", region)

    with edited(damage) as machine:
        assert CORE.testbed_accel_usable(0) == 1
        connect(machine, 0)
        text = "\n".join(refusals(machine))
        assert re.findall(r"bitstream of a for region (\d)", text) == ["1", "2"]
