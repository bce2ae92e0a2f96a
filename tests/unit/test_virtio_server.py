# SPDX-License-Identifier: Apache-2.0
"""Disks that a VM serves: random requests against a model, errors, resets and restarts of both sides in flight, and
hostile servers."""

import struct
from collections.abc import Callable
from itertools import pairwise
from unittest.mock import patch

import pytest
from c_headers import values
from core import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from virtio import (
    BLOCK,
    DISK_SERVER,
    EVENT_IDX,
    GPA,
    INDIRECT,
    NEEDS_RESET,
    NEXT,
    TABLE,
    VERSION_1,
    WRITE,
    Device,
    Queue,
    boot,
    booted,
    make,
    memory,
    restart,
)

(SERVED,) = values("virtio_image.h", "VIRTIO_IMAGE_SERVED")
(PIECE,) = values("disk_abi.h", "DISK_PIECE")
READ, WRITE_DATA, FLUSH = 0, 1, 4
OK, IOERR, UNSUPPORTED = 0, 1, 2
FLUSHES = VERSION_1 | 1 << 9  # features of a driver that flushes
SECTORS = 200  # of each disk: 100 KiB
PLACES = (4096, 4096 + SECTORS * 512)  # of the disks of VM 0 and 1 in the server's
HEADER, STATUS, DATA = GPA + 0x80000, GPA + 0x81000, GPA + 0x90000
BUFFERS, ROOM = GPA + 0x100000, 0x9000  # of the server
REQUEST, ANSWER = struct.Struct("<IIIIQQ"), struct.Struct("<IIII")


def functions(places: tuple[int, ...] = PLACES) -> list[dict]:
    part = {"kind": BLOCK, "flags": SERVED, "disk_size": SECTORS * 512, "server": len(places)}
    return [*({"vm": vm, "disk": place, **part} for vm, place in enumerate(places)), {"vm": 2, "kind": DISK_SERVER}]


class Server:
    """A server with a disk in this process, by its function in VM 2."""

    def __init__(self, buffers: int = 4, poll: int = 0, features: int = VERSION_1) -> None:
        self.content = bytearray(4096 + 3 * SECTORS * 512)
        self.flushed = 0
        self.done: list[tuple] = []
        self.open(buffers, poll, features)

    def open(self, buffers: int = 4, poll: int = 0, features: int = VERSION_1) -> None:
        self.device = Device(2, poll=poll).start(features)
        for number in range(buffers):
            self.offer(number)
        self.device.queues[0].notify()

    def offer(self, number: int, size: int = REQUEST.size + PIECE, writable: bool = True) -> None:
        self.device.queues[0].chain(number, [(BUFFERS + number * ROOM, size, writable)])
        self.device.queues[0].offer(number)

    def requests(self) -> list[tuple[int, tuple, bytes]]:
        """The new ones: the number of the buffer, the fields, the data."""
        found = []
        for number, length in self.device.queues[0].returned():
            got = self.device.get(BUFFERS + number * ROOM, length)
            found.append((number, REQUEST.unpack(got[: REQUEST.size]), got[REQUEST.size :]))
        return found

    def answer(self, fields: tuple, data: bytes = b"", cuts: tuple[int, ...] = ()) -> None:
        place = GPA + 0x90000
        self.device.put(place, ANSWER.pack(*fields, 0) + data)
        ends = sorted({0, ANSWER.size + len(data), *(cut for cut in cuts if cut < ANSWER.size + len(data))})
        self.device.queues[1].chain(0, [(place + start, end - start, False) for start, end in pairwise(ends)])
        self.device.queues[1].offer(0)
        self.device.queues[1].notify()

    def serve(self, number: int, request: tuple, data: bytes, status: int = OK) -> None:
        disk, count, kind, size, sector, unused = request
        assert unused == 0
        assert kind in (READ, WRITE_DATA, FLUSH)
        assert (size == 0) == (kind == FLUSH)
        assert size % 512 == 0
        assert size <= PIECE
        assert len(data) == (size if kind == WRITE_DATA else 0)
        if kind != FLUSH:
            start = PLACES[disk] if disk < len(PLACES) else 0
            assert start <= sector * 512 <= start + SECTORS * 512 - size, "outside of the disk's part"
        self.done.append((disk, kind, sector, size))
        self.flushed += kind == FLUSH
        if kind == WRITE_DATA and status == OK:
            self.content[sector * 512 : sector * 512 + size] = data
        got = bytes(self.content[sector * 512 : sector * 512 + size]) if kind == READ and status == OK else b""
        self.offer(number)
        self.device.queues[0].notify()
        self.answer((disk, count, status), got, cuts=(7, 300, 5000))

    def work(self, status: int = OK) -> int:
        """Serves until there is nothing to do; returns how many pieces that were."""
        count, found = 0, self.requests()
        while found:
            for one in found:
                self.serve(*one, status)
            count += len(found)
            found = self.requests()
        self.device.queues[1].returned()
        return count


def split(size: int, cuts: list[int]) -> list[int]:
    places = sorted({0, size, *(cut % size for cut in cuts)}) if size else [0]
    return [end - start for start, end in pairwise(places)]


def ask(device: Device, kind: int, sector: int, data: bytes, cuts: list[int] | None = None, first: int = 3) -> None:
    """Gives the device a request with `data` in buffers of any size."""
    place = (first - 3) * 0x2000  # of several requests
    device.put(HEADER + first * 32, struct.pack("<IIQ", kind, 0, sector))
    device.put(DATA + place, data)
    device.put(STATUS + first, b"\xff")
    buffers, at = [(HEADER + first * 32, 16, False)], DATA + place
    for size in split(len(data), cuts or []):
        buffers.append((at, size, kind != WRITE_DATA))
        at += size
    queue = device.queues[0]
    queue.chain(first, [*buffers, (STATUS + first, 1, True)])
    queue.offer(first)
    queue.notify()


def ended(device: Device, first: int = 3) -> tuple[int, int]:
    """The status and the used length of the only request that has ended."""
    ((head, length),) = device.queues[0].returned()
    assert head == first
    return device.get(STATUS + first, 1)[0], length


@pytest.fixture
def disks() -> tuple[Device, Device]:
    booted(functions())
    return Device(0, size=64).start(FLUSHES), Device(1, size=64).start(FLUSHES)


def pattern(size: int, fill: int = 1) -> bytes:
    return bytes((fill + 7 * i + (i >> 8)) & 0xFF for i in range(size))


REQUESTS = st.tuples(
    st.sampled_from([READ, WRITE_DATA, FLUSH]),
    st.integers(0, 1),
    st.one_of(st.integers(0, SECTORS + 1), st.integers(0, 2**64 - 1)),
    st.one_of(st.integers(0, 140).map(lambda sectors: 512 * sectors), st.integers(0, 3000)),
    st.lists(st.integers(0, 70000), max_size=20),
    st.integers(0, 255),
)


def do_and_check(device: Device, server: Server, request: tuple) -> None:
    kind, vm, sector, size, cuts, fill = request
    data = pattern(size, fill) if kind == WRITE_DATA else bytes(size)
    before, flushed, start = bytes(server.content), server.flushed, PLACES[vm] + sector * 512
    ask(device, kind, sector, data, cuts)
    server.work()
    status, length = ended(device)
    inside = size % 512 == 0 and sector * 512 + size <= SECTORS * 512
    assert status == (OK if kind == FLUSH or inside else IOERR), (kind, sector, size)
    assert server.flushed == flushed + (kind == FLUSH)
    assert kind == WRITE_DATA or server.content == before
    if kind == READ and status == OK:
        assert (device.get(DATA, size), length) == (before[start : start + size], size + 1)
    elif kind == WRITE_DATA and status == OK:
        assert server.content[start : start + size] == data


@settings(max_examples=examples(60, 500), deadline=None, derandomize=True)
@given(st.lists(REQUESTS, max_size=12), st.sampled_from([VERSION_1, VERSION_1 | EVENT_IDX]), st.integers(0, 3))
def test_requests(requests: list[tuple], features: int, poll: int):
    """Reads return what was written to the same disk; a request that leaves it fails. Each request reaches the server's
    disk in its part, before it is done."""
    booted(functions())
    devices = [Device(vm, poll=poll, size=64).start(features | FLUSHES) for vm in (0, 1)]
    server = Server(poll=poll, features=features)
    for request in requests:
        do_and_check(devices[request[1]], server, request)
    assert not devices[0].status & NEEDS_RESET
    assert not server.device.status & NEEDS_RESET


def test_configuration(disks: tuple[Device, Device]):
    server = Server()
    assert server.device.read(0x2000) == PIECE
    assert server.device.read(18, 2) == 2
    assert disks[0].read(0x2000) == SECTORS
    assert disks[0].offered & 0x3FF == 1 << 2 | 1 << 9


def test_a_request_is_done_when_its_server_says_so(disks: tuple[Device, Device]):
    """Not before, and it is not sent before there is a buffer. No interrupt is lost."""
    ask(disks[0], WRITE_DATA, 5, pattern(512))
    assert disks[0].queues[0].returned() == []
    server = Server(buffers=0)
    assert server.requests() == []
    server.offer(0)
    server.device.queues[0].notify()
    assert server.device.line
    (one,) = server.requests()
    assert disks[0].queues[0].returned() == []
    assert not disks[0].line
    server.serve(*one)
    assert disks[0].line
    assert ended(disks[0]) == (OK, 1)
    assert server.content[PLACES[0] + 5 * 512 :][:512] == pattern(512)


@pytest.mark.parametrize("kind", [READ, WRITE_DATA, FLUSH])
def test_an_error_is_passed_on(disks: tuple[Device, Device], kind: int):
    server = Server()
    ask(disks[0], kind, 0, b"" if kind == FLUSH else pattern(2 * PIECE))
    assert server.work(IOERR) == 1, "no further piece"
    assert ended(disks[0])[0] == IOERR
    ask(disks[0], kind, 0, b"" if kind == FLUSH else pattern(512))
    server.work()
    assert ended(disks[0])[0] == OK


def test_requests_stay_in_order(disks: tuple[Device, Device]):
    server = Server()
    for first in range(3, 40, 4):
        ask(
            disks[0],
            WRITE_DATA if first % 8 == 3 else FLUSH,
            1,
            pattern(512, first) if first % 8 == 3 else b"",
            first=first,
        )
    server.work()
    assert [kind for _, kind, _, _ in server.done] == [WRITE_DATA, FLUSH] * 5
    assert [head for head, _ in disks[0].queues[0].returned()] == list(range(3, 40, 4))
    assert server.content[PLACES[0] + 512 :][:512] == pattern(512, 35)


def test_both_disks_at_once(disks: tuple[Device, Device]):
    """Also with one buffer."""
    server = Server(buffers=1)
    for vm in (0, 1):
        ask(disks[vm], WRITE_DATA, 0, pattern(2 * PIECE + 512, vm))
    assert len(server.device.queues[0].returned()) == 1
    server.device.queues[0].used -= 1
    server.work()
    for vm in (0, 1):
        assert ended(disks[vm]) == (OK, 1)
        assert server.content[PLACES[vm] :][: 2 * PIECE + 512] == pattern(2 * PIECE + 512, vm)


def test_read_only(disks: tuple[Device, Device]):
    booted([{**one, "flags": one.get("flags", 0) | 1} if one["vm"] == 0 else one for one in functions()])
    device, server = Device(0, size=64).start(FLUSHES), Server()
    ask(device, WRITE_DATA, 0, pattern(512))
    assert server.work() == 0
    assert ended(device)[0] == IOERR


def test_name_and_unknown_requests(disks: tuple[Device, Device]):
    """They need no server."""
    ask(disks[0], 8, 0, bytes(20))
    assert ended(disks[0]) == (OK, 21)
    ask(disks[0], 77, 0, bytes(16))
    assert ended(disks[0])[0] == UNSUPPORTED


@pytest.mark.parametrize("size", [0, 512, 3 * PIECE // 2])
def test_a_write_is_stable_if_the_driver_does_not_flush(size: int):
    """Section 5.2.6.2: it ends with a flush; a read has none."""
    booted(functions())
    disk, server = Device(0, size=64).start(), Server()
    ask(disk, WRITE_DATA, 1, bytes(range(256)) * (size // 256))
    server.work()
    assert [kind for _, kind, *_ in server.done] == [WRITE_DATA] * -(-size // PIECE) + [FLUSH]
    assert server.done[-1] == (0, FLUSH, PLACES[0] // 512, 0)
    assert ended(disk) == (OK, 1)
    ask(disk, READ, 1, bytes(512))
    server.work()
    assert server.flushed == 1


def test_a_write_that_cannot_be_flushed_fails():
    booted(functions())
    disk, server = Device(0, size=64).start(), Server()
    ask(disk, WRITE_DATA, 1, bytes(512))
    (write,) = server.requests()
    server.serve(*write)
    (flush,) = server.requests()
    assert flush[1][2] == FLUSH
    assert disk.queues[0].returned() == []
    server.serve(*flush, IOERR)
    assert ended(disk) == (IOERR, 1)


# --- stops and resets in flight ---

LOSSES = {
    "reset": lambda server: server.device.write(20, 0, 1),
    "restart": lambda server: restart(2),
    "break": lambda server: server.answer((99, 0, OK)),
}


@pytest.mark.parametrize("lose", LOSSES.values(), ids=LOSSES)
@pytest.mark.parametrize("kind", [READ, WRITE_DATA])
@pytest.mark.parametrize("pieces", [0, 1, 2])
def test_a_request_is_done_again_after_its_server_is_lost(lose, kind: int, pieces: int):
    booted(functions())
    device, server = Device(0, size=64).start(FLUSHES), Server()
    expected = pattern(3 * PIECE)
    if kind == READ:
        server.content[PLACES[0] : PLACES[0] + len(expected)] = expected
    ask(device, kind, 0, expected if kind == WRITE_DATA else bytes(len(expected)))
    for _ in range(pieces):
        server.serve(*server.requests()[0])
    lose(server)
    server.device.write(20, 0, 1)
    assert device.queues[0].returned() == []
    server.open()
    server.work()
    assert ended(device)[0] == OK
    if kind == READ:
        assert device.get(DATA, len(expected)) == expected
    assert server.content[PLACES[0] : PLACES[0] + len(expected)] == expected


def test_a_stale_answer_after_a_reset_of_the_server_is_no_answer(disks: tuple[Device, Device]):
    server = Server()
    ask(disks[0], WRITE_DATA, 0, pattern(512))
    ((_, request, _),) = server.requests()
    server.open()
    server.answer((request[0], request[1], OK))
    assert disks[0].queues[0].returned() == []
    server.work()
    assert ended(disks[0]) == (OK, 1)
    assert server.content[PLACES[0] :][:512] == pattern(512)


def test_no_answer_counts_before_its_request_is_sent(disks: tuple[Device, Device]):
    """While the data of the request is copied, the server guesses its number."""
    server, device = Server(), disks[0]
    device.put(HEADER, struct.pack("<IIQ", WRITE_DATA, 0, 0))
    device.put(DATA, pattern(PIECE))
    device.queues[0].chain(3, [(HEADER, 16, False), (DATA, PIECE, False), (STATUS + 3, 1, True)])
    device.queues[0].offer(3)
    for _ in range(6):
        assert device.begin(0x3000, 0, 2)
    server.answer((0, 1, OK))
    assert device.queues[0].returned() == []
    device.queues[0].notify()
    assert server.work() == 1
    assert ended(device) == (OK, 1)
    assert server.content[PLACES[0] :][:PIECE] == pattern(PIECE)


def test_no_answer_reaches_the_buffers_of_a_later_request(disks: tuple[Device, Device]):
    """The driver has reset its disk, and reads again to the same place."""
    server = Server()
    ask(disks[0], READ, 0, bytes(2 * PIECE))
    ((number, request, data),) = server.requests()
    device = Device(0, size=64).start(FLUSHES)
    ask(device, READ, 0, pattern(2 * PIECE, 99))
    server.serve(number, request, data)
    assert device.get(DATA, 2 * PIECE) == pattern(2 * PIECE, 99)
    assert server.work() == 2
    assert ended(device) == (OK, 2 * PIECE + 1)
    assert device.get(DATA, 2 * PIECE) == bytes(2 * PIECE)


@pytest.mark.parametrize("how", ["reset", "restart"])
@pytest.mark.parametrize("kind", [READ, WRITE_DATA])
def test_no_request_overtakes_one_that_its_driver_has_forgotten(disks: tuple[Device, Device], kind: int, how: str):
    """Its answer changes nothing in the driver's memory."""
    server = Server()
    ask(disks[0], kind, 0, pattern(2 * PIECE))
    ((number, request, data),) = server.requests()
    if how == "restart":
        restart(0)
    device = Device(0, size=64).start(FLUSHES)
    device.put(DATA, pattern(2 * PIECE, 99))
    ask(device, WRITE_DATA, 0, pattern(512, 77))
    assert server.requests() == []
    before = bytes(memory(0))[0x90000:]
    server.serve(number, request, data)
    assert bytes(memory(0))[0x90000:] == before
    assert server.work() == 1
    assert ended(device) == (OK, 1)
    assert server.content[PLACES[0] :][:512] == pattern(512, 77)


def test_a_buffer_survives_a_reset_of_the_disk(disks: tuple[Device, Device]):
    """The driver resets the disk while its data is copied."""
    server = Server(buffers=1)
    device = disks[0]
    device.poll = 1
    buffers = [(HEADER, 16, False), (DATA, PIECE, False), (STATUS, 1, True)]
    device.put(HEADER, struct.pack("<IIQ", WRITE_DATA, 0, 0))
    device.queues[0].chain(3, buffers)
    device.queues[0].offer(3)
    for _ in range(10):
        assert device.begin(0x3000, 0, 2)
    device = Device(0, size=64).start(FLUSHES)
    ask(device, WRITE_DATA, 2, pattern(1024))
    assert server.work() == 1
    assert ended(device) == (OK, 1)
    assert server.content[PLACES[0] + 1024 :][:1024] == pattern(1024)
    assert server.content[PLACES[0] :][:1024] == bytes(1024)


# --- hostile servers ---


def outside(vm: int, size: int) -> bytes:
    """The VM's memory, but for `size` bytes of data, headers, statuses and the rings."""
    whole = bytes(memory(vm))
    return whole[:0x10000] + whole[0x20000:0x80000] + whole[0x82000:0x90000] + whole[0x90000 + size :]


ANSWERS = {
    "too little data": ((0, 1, OK), 511),
    "no data": ((0, 1, OK), 0),
    "an unknown status": ((0, 1, 0xFFFFFFFF), 512),
}


@pytest.mark.parametrize(("fields", "size"), ANSWERS.values(), ids=ANSWERS)
def test_answers_that_are_errors(disks: tuple[Device, Device], fields: tuple, size: int):
    server = Server()
    ask(disks[0], READ, 0, bytes(512))
    server.requests()
    before = outside(0, 512)
    server.answer(fields, b"x" * size)
    assert ended(disks[0])[0] == IOERR
    assert outside(0, 512) == before
    assert not disks[0].status & NEEDS_RESET


def test_too_much_data_is_ignored(disks: tuple[Device, Device]):
    server = Server()
    ask(disks[0], READ, 0, bytes(512))
    server.requests()
    before = outside(0, 512)
    server.answer((0, 1, OK), b"x" * 60000)
    assert ended(disks[0]) == (OK, 513)
    assert disks[0].get(DATA, 512) == b"x" * 512
    assert outside(0, 512) == before


@pytest.mark.parametrize("fields", [(0, 2, OK), (0, 0, OK), (1, 0, OK), (1, 1, OK)])
def test_answers_to_no_request(disks: tuple[Device, Device], fields: tuple):
    server = Server()
    ask(disks[0], WRITE_DATA, 0, pattern(512))
    (one,) = server.requests()
    server.answer(fields)
    assert disks[0].queues[0].returned() == []
    assert disks[1].queues[0].returned() == []
    server.serve(*one)
    assert ended(disks[0]) == (OK, 1)
    server.answer((0, 1, IOERR))
    assert disks[0].queues[0].returned() == []


@pytest.mark.parametrize("disk", [2, 3, 32, 0xFFFFFFFF])
def test_answers_for_no_disk(disks: tuple[Device, Device], disk: int):
    server = Server()
    server.answer((disk, 0, OK))
    assert server.device.status & NEEDS_RESET


def test_answer_for_the_disk_of_another_server():
    part = {"kind": BLOCK, "flags": SERVED, "disk_size": 512}
    booted([{"vm": 0, "server": 1, **part}, {"vm": 1, "kind": DISK_SERVER}, {"vm": 2, "kind": DISK_SERVER}])
    server = Server()
    server.answer((0, 0, OK))
    assert server.device.status & NEEDS_RESET


@pytest.mark.parametrize(("size", "writable"), [(8, True), (31, True), (32 + 511, True), (32 + PIECE, False)])
def test_buffers_that_are_too_short(disks: tuple[Device, Device], size: int, writable: bool):
    """The server needs a reset, and the request is done then."""
    server = Server(buffers=0)
    server.offer(0, size, writable)
    ask(disks[0], WRITE_DATA, 0, pattern(512))
    assert server.device.status & NEEDS_RESET
    assert not disks[0].status & NEEDS_RESET
    assert disks[0].queues[0].returned() == []
    server.open()
    server.work()
    assert ended(disks[0]) == (OK, 1)


def test_a_buffer_whose_end_is_not_writable(disks: tuple[Device, Device]):
    """It is not written."""
    server, end = Server(buffers=0), BUFFERS + REQUEST.size
    server.device.put(end, bytes(512))
    server.device.queues[0].chain(0, [(BUFFERS, REQUEST.size, True), (end, PIECE, False)])
    server.device.queues[0].offer(0)
    ask(disks[0], WRITE_DATA, 0, pattern(512))
    assert server.device.status & NEEDS_RESET
    assert server.device.get(end, 512) == bytes(512)


def test_data_behind_data_of_the_other_direction(disks: tuple[Device, Device]):
    """No such request has data for the server, and a served disk has none in RAM."""
    server, device = Server(), disks[0]
    device.put(HEADER, struct.pack("<IIQ", READ, 0, 1))
    buffers = [(HEADER, 16, False), (DATA, 512, False), (DATA + 512, 512, True), (STATUS + 3, 1, True)]
    device.queues[0].chain(3, buffers)
    device.queues[0].offer(3)
    device.queues[0].notify()
    assert server.work() == 0
    assert ended(device)[0] == IOERR


@pytest.mark.parametrize("features", [VERSION_1, FLUSHES])
def test_data_behind_a_buffer_to_write_is_an_error(features: int):
    booted(functions())
    disk, server = Device(0, size=64).start(features), Server()
    disk.put(HEADER, struct.pack("<IIQ", WRITE_DATA, 0, 1))
    disk.queues[0].chain(3, [(HEADER, 16, False), (DATA, 512, True), (DATA, 512, False), (STATUS + 3, 1, True)])
    disk.queues[0].offer(3)
    disk.queues[0].notify()
    server.work()
    assert ended(disk)[0] == IOERR


ACTIONS = st.lists(
    st.one_of(
        st.tuples(st.just("answer"), st.integers(0, 3), st.integers(0, 40), st.integers(0, 2), st.integers(0, 70000)),
        st.tuples(st.just("right"), st.integers(0, 1), st.just(0), st.just(0), st.just(0)),
        st.tuples(st.just("offer"), st.integers(0, 7), st.integers(1, 33000), st.integers(0, 1), st.just(0)),
        st.tuples(st.just("open"), st.integers(0, 4), st.just(0), st.just(0), st.just(0)),
        st.tuples(st.just("driver"), st.integers(0, 1), st.just(0), st.just(0), st.just(0)),
        st.tuples(st.just("ask"), st.integers(0, 1), st.integers(0, 2), st.integers(0, 60), st.just(0)),
    ),
    max_size=25,
)


class Chaos:
    """A server that does anything, and drivers that reset their disks at any time."""

    def __init__(self, poll: int) -> None:
        self.poll = poll
        self.devices = [self.open(vm) for vm in (0, 1)]
        self.server = Server(poll=poll)

    def open(self, vm: int) -> Device:
        return Device(vm, poll=self.poll, size=64).start(FLUSHES)

    def answer(self, disk: int, number: int, status: int, size: int) -> None:
        self.server.answer((disk, number, status), b"z" * size)

    def right(self, at_once: int, *_: int) -> None:
        for one in self.server.requests()[: 1 + at_once]:
            self.server.serve(*one)

    def offer(self, number: int, size: int, writable: int, _: int) -> None:
        self.server.offer(number, size, bool(writable))
        self.server.device.queues[0].notify()

    def driver(self, vm: int, *_: int) -> None:
        self.devices[vm] = self.open(vm)

    def ask(self, vm: int, kind: int, sectors: int, _: int) -> None:
        kind = (READ, WRITE_DATA, FLUSH)[kind]
        ask(self.devices[vm], kind, 0, bytes(0 if kind == FLUSH else 512 * sectors), [4000, 9000], first=3)

    def reopen(self, buffers: int, *_: int) -> None:
        self.server.open(buffers, self.poll)

    def act(self, action: tuple) -> None:
        name, *arguments = action
        {
            "answer": self.answer, "right": self.right, "offer": self.offer, "open": self.reopen, "driver": self.driver,
            "ask": self.ask,
        }[name](*arguments)  # fmt: skip


@settings(max_examples=examples(75, 1500), deadline=None, derandomize=True)
@given(ACTIONS, st.integers(0, 3))
def test_a_hostile_server_changes_only_the_buffers_of_requests(actions: list[tuple], poll: int):
    """And after it has been replaced, a driver's next request is done."""
    booted(functions())
    chaos = Chaos(poll)
    before = [outside(vm, 60 * 512) for vm in (0, 1)]
    for action in actions:
        chaos.act(action)
    assert [outside(vm, 60 * 512) for vm in (0, 1)] == before
    chaos.devices = [chaos.open(vm) for vm in (0, 1)]
    chaos.server.open(8, poll)
    for vm, device in enumerate(chaos.devices):
        ask(device, WRITE_DATA, 3, pattern(5 * 512, vm))
        chaos.server.work()
        assert ended(device) == (OK, 1)
        assert chaos.server.content[PLACES[vm] + 3 * 512 :][: 5 * 512] == pattern(5 * 512, vm)


@pytest.mark.parametrize("kind", [READ, WRITE_DATA])
def test_the_last_sector(disks: tuple[Device, Device], kind: int):
    """Its last byte has a buffer of its own."""
    do_and_check(disks[0], Server(), (kind, 0, SECTORS - 1, 512, [511], 3))


def test_a_server_is_asked_to_notify_of_the_next_buffer(disks: tuple[Device, Device]):
    server = Server(buffers=1, features=VERSION_1 | EVENT_IDX)
    for disk in disks:
        ask(disk, WRITE_DATA, 0, pattern(512))
    assert server.device.queues[0].avail_event == 1


def test_index_of_buffers_beyond_the_queue(disks: tuple[Device, Device]):
    """The server's device needs a reset; the buffer that the disk has had before is not used again."""
    server = Server(buffers=1)
    do_and_check(disks[0], server, (WRITE_DATA, 0, 0, 512, [], 3))
    queue = server.device.queues[0]
    server.device.put(queue.places[1] + 2, struct.pack("<H", queue.avail + 100))
    ask(disks[0], WRITE_DATA, 0, pattern(512))
    assert server.device.status & NEEDS_RESET
    assert queue.returned() == []


def test_a_request_for_the_name_does_not_reach_the_server(disks: tuple[Device, Device]):
    """Whatever the driver gives with it."""
    server, device = Server(), disks[0]
    device.put(HEADER, struct.pack("<IIQ", 8, 0, 0))
    device.queues[0].chain(3, [(HEADER, 16, False), (DATA, 512, False), (DATA + 512, 20, True), (STATUS + 3, 1, True)])
    device.queues[0].offer(3)
    device.queues[0].notify()
    assert server.requests() == []
    assert ended(device) == (OK, 21)
    assert device.get(DATA + 512, 4) == b"vm-a"


def test_answers_in_one_notification(disks: tuple[Device, Device]):
    server = Server()
    for disk in disks:
        ask(disk, WRITE_DATA, 0, pattern(512))
    queue = server.device.queues[1]
    for place, (_, request, _) in enumerate(server.requests()):
        server.device.put(DATA + 64 * place, ANSWER.pack(request[0], request[1], OK, 0))
        queue.chain(place, [(DATA + 64 * place, ANSWER.size, False)])
        queue.offer(place)
    queue.notify()
    assert [ended(disk) for disk in disks] == [(OK, 1)] * 2


def test_an_answer_whose_data_is_in_a_buffer_to_write_to(disks: tuple[Device, Device]):
    server, place = Server(), GPA + 0x90000
    ask(disks[0], READ, 0, bytes(512))
    ((_, request, _),) = server.requests()
    server.device.put(place, ANSWER.pack(request[0], request[1], OK, 0))
    server.device.queues[1].chain(0, [(place, ANSWER.size, False), (place + 64, 512, True)])
    server.device.queues[1].offer(0)
    server.device.queues[1].notify()
    assert ended(disks[0]) == (IOERR, 1)
    assert not server.device.status & NEEDS_RESET


def test_a_reset_of_the_server_in_the_middle_of_an_answer(disks: tuple[Device, Device]):
    server = Server()
    ask(disks[0], READ, 0, bytes(512))
    ((_, request, _),) = server.requests()
    with patch.object(server.device.queues[1], "notify"):
        server.answer((request[0], request[1], OK), pattern(512))
    assert server.device.queues[1].notify_once(1)
    server.open()
    server.work()
    assert ended(disks[0]) == (OK, 513)


def test_a_driver_is_asked_to_notify_after_a_request_that_needs_no_server():
    """It has followed one that has waited for the server."""
    booted(functions())
    disk, server = Device(0, size=64).start(FLUSHES | EVENT_IDX), Server()
    ask(disk, FLUSH, 0, b"", first=3)
    ((number, request, _),) = server.requests()
    server.offer(number)  # after the answer, it would ask the disk's driver, too
    server.device.queues[0].notify()
    with patch.object(disk.queues[0], "notify"):
        ask(disk, 99, 0, bytes(16), first=9)
    server.answer((request[0], request[1], OK))
    assert len(disk.queues[0].returned()) == 2
    assert disk.queues[0].avail_event == 2


# --- images ---

REFUSED = {
    "no such function": {"server": 2},
    "server is no server": {"server": 0},
    "offset is no sector": {"disk": 100},
    "size is no sector": {"disk_size": 1000},
    "no size": {"disk_size": 0},
    "offset wraps": {"disk": 1 << 63},
    "size wraps": {"disk_size": 1 << 63},
}


@pytest.mark.parametrize("wrong", REFUSED.values(), ids=REFUSED)
def test_refused_images(wrong: dict[str, int]):
    good = {"vm": 0, "kind": BLOCK, "flags": SERVED, "disk_size": 512, "server": 1}
    make([good, {"vm": 1, "kind": DISK_SERVER}])
    assert boot() is None
    section = make([{**good, **wrong}, {"vm": 1, "kind": DISK_SERVER}])
    section.functions[2].kind = DISK_SERVER  # behind the last one
    assert boot() == "the image has a wrong server of a disk"


# --- descriptors that change under way ---


def test_source_of_a_write_moves_away(disks: tuple[Device, Device]):
    """After it was measured: its driver's device needs a reset, the server's and the other driver's do not."""
    server = Server()
    device = disks[0]
    device.put(HEADER, struct.pack("<IIQ", WRITE_DATA, 0, 0))
    queue = device.queues[0]
    queue.chain(3, [(HEADER, 16, False), (DATA, 4096, False), (DATA + 4096, 4096, False), (STATUS, 1, True)])
    queue.offer(3)
    for steps in range(4):
        assert queue.notify_once(1), steps
    queue.descriptor(5, 0x1000, 4096, 1, 6)
    queue.notify()
    server.work()
    assert device.status & NEEDS_RESET
    assert not server.device.status & NEEDS_RESET
    do_and_check(disks[1], server, (WRITE_DATA, 1, 0, 512, [], 3))


def test_destination_of_a_read_moves_away(disks: tuple[Device, Device]):
    server = Server()
    ask(disks[0], READ, 0, bytes(8192), [4096])
    disks[0].queues[0].descriptor(5, 0x1000, 4096, 3, 6)
    server.work()
    assert disks[0].status & NEEDS_RESET
    assert not server.device.status & NEEDS_RESET
    do_and_check(disks[1], server, (READ, 1, 0, 512, [], 0))


def test_destination_of_a_read_becomes_a_buffer_to_read_from(disks: tuple[Device, Device]):
    server = Server()
    server.content[PLACES[0] : PLACES[0] + 512] = pattern(512)
    ask(disks[0], READ, 0, bytes(512))
    disks[0].queues[0].descriptor(4, DATA, 512, NEXT, 5)
    server.work()
    assert ended(disks[0]) == (IOERR, 1)
    assert disks[0].get(DATA, 512) == bytes(512)


def test_a_disk_works_again_after_the_destination_of_a_read_moved_away(disks: tuple[Device, Device]):
    """The answer was the server's last one to that request: the disk does not wait for another one."""
    server = Server()
    ask(disks[0], READ, 0, bytes(8192), [4096])
    disks[0].queues[0].descriptor(5, 0x1000, 4096, 3, 6)
    server.work()
    assert disks[0].status & NEEDS_RESET
    device = Device(0, size=64).start(FLUSHES)
    do_and_check(device, server, (WRITE_DATA, 0, 0, 512, [], 3))
    do_and_check(device, server, (READ, 0, 0, 512, [], 0))


@pytest.mark.parametrize("features", [VERSION_1, VERSION_1 | EVENT_IDX])
def test_a_long_request_that_fails(features: int):
    """It ends with its server's answer, however much of it is left: nobody else would go on with it."""
    booted(
        [{"vm": 0, "kind": BLOCK, "flags": SERVED, "disk_size": 16 << 20, "server": 1}, {"vm": 2, "kind": DISK_SERVER}]
    )
    disk, server = Device(0, size=64).start(features | FLUSHES), Server(features=features)
    disk.put(HEADER + 96, struct.pack("<IIQ", READ, 0, 0))
    many = [(GPA + 0x100000, 0x10000, True)] * 40  # 2.5 MiB
    disk.queues[0].chain(3, [(HEADER + 96, 16, False), *many, (STATUS + 3, 1, True)])
    disk.queues[0].offer(3)
    disk.queues[0].notify()
    ((_, request, _),) = server.requests()
    server.answer((request[0], request[1], IOERR))
    assert ended(disk)[0] == IOERR


@pytest.mark.parametrize("buffers", [0, 4])
def test_a_driver_is_asked_to_notify_of_further_requests(buffers: int):
    """Those that wait for the server, or for its buffers, are not all done by the server's stores."""
    booted(functions())
    disk, server = Device(0, size=64).start(FLUSHES | EVENT_IDX), Server(buffers, features=VERSION_1 | EVENT_IDX)
    for number in (1, 2):
        ask(disk, FLUSH, 0, b"", first=3 * number)
        assert disk.queues[0].avail_event == number
    with patch.object(disk.queues[0], "notify"):
        ask(disk, FLUSH, 0, b"", first=9)
    for _, request, _ in server.requests():
        server.answer((request[0], request[1], OK))
        assert disk.queues[0].avail_event == 3


def test_a_server_does_a_bounded_part_of_a_clients_requests():
    """In the store of an answer; the client's next store does the rest."""
    booted(functions())
    disk, server = Device(0, size=64).start(FLUSHES | INDIRECT), Server()
    ask(disk, FLUSH, 0, b"", first=3)
    table = GPA + 0xC0000
    buffers = [(HEADER, 16, 0), *[(DATA, 512, WRITE)] * 40, (STATUS, 1, WRITE)]
    for place, (address, length, flags) in enumerate(buffers):
        more = NEXT if place + 1 < len(buffers) else 0
        disk.put(table + 16 * place, struct.pack("<QIHH", address, length, flags | more, place + 1))
    disk.put(HEADER, struct.pack("<IIQ", 99, 0, 0))  # no request that there is: done without the server
    many = 50
    for place in range(many):
        disk.queues[0].descriptor(10 + place, table, 16 * len(buffers), TABLE)
        disk.queues[0].offer(10 + place)
    disk.queues[0].notify()
    assert disk.queues[0].returned() == []
    server.work()
    done = len(disk.queues[0].returned())
    assert 1024 // (len(buffers) + 3) <= done - 1 <= 1024 // (len(buffers) - 1)
    disk.queues[0].notify()
    assert done + len(disk.queues[0].returned()) == 1 + many


def most_in_a_step(queue: Queue, where: Callable[[], bytes]) -> int:
    """Notifies the queue until nothing is left to do; returns how many bytes have changed at most between two looks for
    interrupts."""
    most, before, left = 0, where(), True
    while left:
        left = queue.notify_once(1)
        after = where()
        most = max(most, sum(old != new for old, new in zip(before, after, strict=True)))
        before = after
    return most


@pytest.mark.parametrize("cuts", [[], [700]])
def test_a_step_copies_at_most_512_bytes(disks: tuple[Device, Device], cuts: list[int]):
    """With more, a step that also enters a buffer of each chain is longer than 1,500 instructions."""
    server, disk, data = Server(), disks[0], bytes(1 + i % 255 for i in range(4096))
    answers = server.device.queues[1]
    with patch.object(disk.queues[0], "notify"):
        ask(disk, WRITE_DATA, 0, data, cuts)
    assert most_in_a_step(disk.queues[0], lambda: server.device.get(BUFFERS + REQUEST.size, 4096)) == 512
    server.work()
    assert ended(disk)[0] == OK
    ask(disk, READ, 0, bytes(4096), cuts)
    with patch.object(answers, "notify"):
        server.work()
    assert most_in_a_step(answers, lambda: disk.get(DATA, 4096)) == 512
    assert disk.get(DATA, 4096) == data


@pytest.mark.parametrize("size", [1, ANSWER.size - 1])
def test_answer_without_its_fields(disks: tuple[Device, Device], size: int):
    server = Server()
    ask(disks[0], READ, 0, bytes(512))
    server.device.queues[1].chain(0, [(GPA + 0x90000, size, False)])
    server.device.queues[1].offer(0)
    server.device.queues[1].notify()
    assert server.device.status & NEEDS_RESET
    assert not disks[0].status & NEEDS_RESET
