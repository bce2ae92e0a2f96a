# SPDX-License-Identifier: Apache-2.0
"""virtio-blk: random requests in random buffers against a model of the disk, errors, and hostile drivers."""

import ctypes
import struct
from itertools import pairwise

import pytest
from core import CORE, examples
from hypothesis import given, settings
from hypothesis import strategies as st
from virtio import (
    BLOCK,
    EVENT_IDX,
    GPA,
    INDIRECT,
    NEEDS_RESET,
    RAM_SIZE,
    TABLE,
    VERSION_1,
    WRITE,
    Device,
    booted,
    make,
    restart,
)

SECTORS = 64
READ, WRITE_DATA, FLUSH, GET_ID = 0, 1, 4, 8
OK, IOERR, UNSUPPORTED = 0, 1, 2
PAYLOAD = 16384  # offset in the image
HEADER, DATA, STATUS = GPA + 0x80000, GPA + 0x90000, GPA + 0x81000
READ_ONLY = 1


def disk(**fields: int) -> list[dict]:
    make([])  # for the place of the disk
    return [{"vm": 0, "kind": BLOCK, "disk": CORE.testbed_virtio_disk(), "disk_size": SECTORS * 512, **fields}]


def started(features: int = VERSION_1, poll: int = 0, **fields: int) -> Device:
    booted(disk(**fields))
    return Device(0, poll=poll, size=64).start(features)


def content() -> ctypes.Array:
    return (ctypes.c_char * (SECTORS * 512)).from_address(CORE.testbed_virtio_content(CORE.testbed_virtio_disk()))


def split(size: int, cuts: list[int]) -> list[int]:
    places = sorted({0, size, *(cut % size for cut in cuts)}) if size else [0]
    return [end - start for start, end in pairwise(places)]


def request(
    device: Device, kind: int, sector: int, data: bytes, cuts: list[int], header_cuts: list[int]
) -> tuple[int, int]:
    """Does a request with `data` in buffers of any size; returns its status and its used length."""
    head = struct.pack("<IIQ", kind, 0, sector)
    device.put(HEADER, head)
    device.put(DATA, data)
    device.put(STATUS, b"\xff")
    buffers, at = [], HEADER
    for size in split(len(head), header_cuts):
        buffers.append((at, size, False))
        at += size
    at = DATA
    for size in split(len(data), cuts):
        buffers.append((at, size, kind != WRITE_DATA))
        at += size
    queue = device.queues[0]
    queue.chain(3, [*buffers, (STATUS, 1, True)])
    queue.offer(3)
    queue.notify()
    ((head_of, length),) = queue.returned()
    assert head_of == 3
    return device.get(STATUS, 1)[0], length


REQUESTS = st.tuples(
    st.sampled_from([READ, WRITE_DATA, FLUSH]),
    st.one_of(st.integers(0, SECTORS + 1), st.integers(0, 2**64 - 1)),
    st.one_of(st.integers(0, 8).map(lambda sectors: 512 * sectors), st.integers(0, 3000)),
    st.lists(st.integers(0, 4000), max_size=4),
    st.lists(st.integers(0, 15), max_size=2),
    st.integers(0, 255),
)


class Model:
    """What the disk should hold, and how its requests should end."""

    def __init__(self) -> None:
        self.data = bytearray(SECTORS * 512)

    def status(self, kind: int, sector: int, size: int) -> int:
        return OK if kind == FLUSH or (size % 512 == 0 and sector * 512 + size <= len(self.data)) else IOERR

    def check_write(self, status: int, sector: int, data: bytes) -> None:
        """A failed write may have changed its part inside of the disk."""
        start = min(sector * 512, len(self.data))
        written = bytes(content())[start : start + len(data)]
        assert status != OK or written == data
        self.data[start : start + len(written)] = written

    def check_read(self, sector: int, data: bytes, length: int) -> None:
        assert data == self.data[sector * 512 : sector * 512 + len(data)]
        assert length == len(data) + 1


@settings(max_examples=examples(100, 1000), deadline=None, derandomize=True)
@given(st.lists(REQUESTS, max_size=20), st.sampled_from([VERSION_1, VERSION_1 | EVENT_IDX]), st.integers(0, 3))
def test_disk(requests: list[tuple], features: int, poll: int):
    """Reads return what was written. A request that leaves the disk fails; what it writes is inside of the disk."""
    device, model = started(features, poll), Model()
    for kind, sector, size, cuts, header_cuts, fill in requests:
        data = bytes((fill + i) & 0xFF for i in range(size)) if kind == WRITE_DATA else bytes(size)
        status, length = request(device, kind, sector, data, cuts, header_cuts)
        assert status == model.status(kind, sector, size), (kind, sector, size)
        if kind == WRITE_DATA:
            model.check_write(status, sector, data)
        elif kind == READ and status == OK:
            model.check_read(sector, device.get(DATA, size), length)
    assert bytes(content()) == bytes(model.data)
    assert device.status & NEEDS_RESET == 0


def test_configuration():
    device = started()
    assert [device.read(0x2000 + at) for at in (0, 4, 8, 12)] == [SECTORS, 0, 0, 254]
    assert device.offered & 0x3FF == 1 << 2 | 1 << 9


def test_read_only():
    device = started(flags=READ_ONLY)
    assert device.offered & 1 << 5
    assert request(device, WRITE_DATA, 0, bytes([1]) * 512, [], [])[0] == IOERR
    assert bytes(content()) == bytes(SECTORS * 512)
    assert request(device, READ, 0, bytes(512), [], []) == (OK, 513)


def test_nothing_is_written_behind_the_disk():
    """By a buffer that begins in its last sector and ends outside."""
    device = started()
    behind = (ctypes.c_char * 512).from_address(ctypes.addressof(content()) + SECTORS * 512)
    before = bytes(behind)
    assert request(device, WRITE_DATA, SECTORS - 1, bytes([1]) * 1024, [300], [])[0] == IOERR
    assert bytes(content())[-512:] == bytes([1]) * 512
    assert bytes(behind) == before


@pytest.mark.parametrize("kind", [READ, WRITE_DATA])
def test_nothing_at_the_end_of_the_disk(kind: int):
    assert request(started(), kind, SECTORS, b"", [], []) == (OK, 1)


def test_a_buffer_that_the_device_may_not_write_to_is_no_data_of_a_read():
    device = started()
    device.put(HEADER, struct.pack("<IIQ", READ, 0, 0))
    device.put(DATA, b"a" * 512)
    device.queues[0].chain(0, [(HEADER, 16, False), (DATA, 512, False), (STATUS, 1, True)])
    device.queues[0].offer(0)
    device.queues[0].notify()
    assert device.queues[0].returned() == [(0, 1)]
    assert bytes(content()) == bytes(SECTORS * 512)


def test_name_and_unknown_requests():
    device = started()
    status, length = request(device, GET_ID, 0, bytes(20), [7], [])
    assert (status, length) == (OK, 21)
    assert device.get(DATA, 20).rstrip(b"\0") == b"vm-a"
    assert request(device, 77, 0, bytes(16), [], [])[0] == UNSUPPORTED


def test_content_outlives_the_vm():
    """And is the image's before the first write."""
    device = started(content=PAYLOAD - 992, content_size=993)
    first = bytes(content())
    assert first[992] != 0, "in the last, incomplete word"
    assert not any(first[1000:])
    assert request(device, WRITE_DATA, 9, b"kept" * 128, [], [])[0] == OK
    restart(0)
    device = Device(0, size=64).start()
    assert request(device, READ, 9, bytes(512), [], []) == (OK, 513)
    assert device.get(DATA, 512) == b"kept" * 128


def chain_of(device: Device, descriptors: list[tuple]) -> None:
    for index, descriptor in enumerate(descriptors):
        device.queues[0].descriptor(index, *descriptor)


WRONG = {
    "no status": [(HEADER, 16, 0)],
    "short header": [(HEADER, 15, 1, 1), (STATUS, 1, WRITE)],
    "readable at the end": [(HEADER, 16, 1, 1), (DATA, 512, 0)],
    "a loop": [(HEADER, 16, 1, 1), (DATA, 512, 1, 1)],
    "next is outside of the table": [(HEADER, 16, 1, 64)],
    "not memory": [(HEADER, 16, 1, 1), (0x1000, 512, WRITE | 1, 2), (STATUS, 1, WRITE)],
    "beyond the memory": [(HEADER, 16, 1, 1), (GPA + RAM_SIZE - 8, 512, WRITE | 1, 2), (STATUS, 1, WRITE)],
    "address and length wrap": [(HEADER, 16, 1, 1), (2**64 - 8, 16, WRITE | 1, 2), (STATUS, 1, WRITE)],
    "empty": [(HEADER, 16, 1, 1), (DATA, 0, WRITE | 1, 2), (STATUS, 1, WRITE)],
}


@pytest.mark.parametrize("descriptors", WRONG.values(), ids=WRONG)
def test_wrong_chains(descriptors: list[tuple]):
    """The device needs a reset, works after it, and the disk is as before."""
    device = started()
    device.put(HEADER, struct.pack("<IIQ", READ, 0, 0))
    chain_of(device, descriptors)
    device.queues[0].offer(0)
    device.queues[0].notify()
    assert device.status & NEEDS_RESET
    assert device.queues[0].returned() == []
    device.queues[0].notify()
    device = Device(0, size=64).start()
    assert request(device, WRITE_DATA, 1, b"a" * 512, [], [])[0] == OK
    assert bytes(content())[512:1024] == b"a" * 512


def read_chain(device: Device) -> None:
    """A whole request, to read a sector, from descriptor 0 on."""
    device.put(HEADER, struct.pack("<IIQ", READ, 0, 0))
    chain_of(device, [(HEADER, 16, 1, 1), (DATA, 512, WRITE | 1, 2), (STATUS, 1, WRITE)])


@pytest.mark.parametrize(("index", "head"), [(65, 0), (0x8000, 0), (1, 64), (1, 0xFFFF)])
def test_wrong_index_and_head(index: int, head: int):
    """The chain at descriptor 0 is right, and is not used."""
    device = started()
    read_chain(device)
    device.put(device.queues[0].places[1], struct.pack("<HHH", 0, index, head))
    device.queues[0].notify()
    assert device.status & NEEDS_RESET
    assert device.queues[0].returned() == []


def test_end_of_an_indirect_table():
    """A descriptor behind the table's end is not read, although it is right."""
    device = started(VERSION_1 | INDIRECT)
    read_chain(device)
    device.put(GPA + 0x70000, device.get(device.queues[0].base, 48))
    for size in (48, 32):
        device.queues[0].descriptor(0, GPA + 0x70000, size, TABLE)
        device.queues[0].offer(0)
        device.queues[0].notify()
    assert device.queues[0].returned() == [(0, 513)]
    assert device.status & NEEDS_RESET


def read_fragmented(device: Device, segments: int, size: int = 512) -> None:
    """Reads into buffers of `size` bytes through an indirect table."""
    table = GPA + 0x70000
    device.put(HEADER, struct.pack("<IIQ", READ, 0, 0))
    parts = [(HEADER, 16, 1), *((DATA + size * n, size, WRITE | 1) for n in range(segments)), (STATUS, 1, WRITE)]
    for n, part in enumerate(parts):
        device.put(table + 16 * n, struct.pack("<QIHH", *part, n + 1))
    device.queues[0].descriptor(0, table, 16 * len(parts), TABLE)
    device.queues[0].offer(0)
    device.queues[0].notify()


def test_a_table_that_was_not_negotiated():
    """The same request is done with the feature."""
    for features in (VERSION_1, VERSION_1 | INDIRECT):
        device = started(features)
        read_fragmented(device, 1)
        assert bool(device.status & NEEDS_RESET) == (features == VERSION_1)
        assert len(device.queues[0].returned()) == int(features != VERSION_1)


def test_longest_indirect_chain():
    """It has as many descriptors as the queue; that of the table does not count."""
    device = started(VERSION_1 | INDIRECT)
    read_fragmented(device, 62)
    assert device.queues[0].returned() == [(0, 62 * 512 + 1)]
    assert not device.status & NEEDS_RESET
    read_fragmented(device, 63)
    assert device.queues[0].returned() == []
    assert device.status & NEEDS_RESET


def test_most_segments_that_the_device_announces():
    """Beside the request's header and its status."""
    booted(disk())
    device = Device(0, size=256).start(VERSION_1 | INDIRECT)
    segments = device.read(0x2000 + 12)  # seg_max
    assert segments == 254
    read_fragmented(device, segments, 128)
    assert [head for head, _ in device.queues[0].returned()] == [0]
    assert not device.status & NEEDS_RESET


@pytest.mark.parametrize("depth", [1, 2])
def test_table_in_a_table(depth: int):
    """It refers to itself, or to another one with the request."""
    device = started(VERSION_1 | INDIRECT)
    read_chain(device)
    device.put(GPA + 0x72000, device.get(device.queues[0].base, 48))
    inner = (GPA + 0x70000, 16) if depth == 1 else (GPA + 0x72000, 48)
    device.put(GPA + 0x70000, struct.pack("<QIHH", *inner, TABLE, 0))
    device.queues[0].descriptor(0, GPA + 0x70000, 16, TABLE)
    device.queues[0].offer(0)
    device.queues[0].notify()
    assert device.status & NEEDS_RESET
    assert device.queues[0].returned() == []


def test_table_behind_a_buffer_of_a_table():
    device = started(VERSION_1 | INDIRECT)
    read_chain(device)
    inner, outer = GPA + 0x72000, GPA + 0x70000
    device.put(inner, struct.pack("<QIHHQIHH", DATA, 512, WRITE | 1, 1, STATUS, 1, WRITE, 0))
    device.put(outer, struct.pack("<QIHHQIHH", HEADER, 16, 1, 1, inner, 32, TABLE, 0))
    device.queues[0].descriptor(0, outer, 32, TABLE)
    device.queues[0].offer(0)
    device.queues[0].notify()
    assert device.status & NEEDS_RESET
    assert device.queues[0].returned() == []


def test_reset_during_a_request():
    """What the driver had begun is forgotten: the next life begins with its own first request."""
    device = started()
    device.put(HEADER, struct.pack("<IIQ", READ, 0, 0))
    chain_of(device, [(HEADER, 16, 1, 1), (DATA, 8192, WRITE | 1, 2), (STATUS, 1, WRITE)])
    device.queues[0].offer(0)
    device.poll = 1
    assert device.queues[0].notify() > 8
    device.poll = 0
    device.start()
    assert device.queues[0].returned() == []
    assert request(device, READ, 0, bytes(512), [], []) == (OK, 513)
