# SPDX-License-Identifier: Apache-2.0
"""virtio-crypto whose blocks a unit of the fabric computes, played by the test: drivers see the same as without one."""

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import CFUNCTYPE, POINTER, c_bool, c_uint, c_uint32, c_void_p, cast
from dataclasses import dataclass, field
from itertools import pairwise

import aes_model
import pytest
from c_headers import structures, values
from core import CORE, examples
from hypothesis import given, settings
from hypothesis import strategies as st
from test_virtio_crypto import CIPHER, CONTROL_QUEUE, DATA_QUEUE, DECRYPT, ENCRYPT, ERROR, NO_SESSION, OK, Engine
from virtio import CRYPTO, GPA, NEEDS_RESET, NEXT, VERSION_1, WRITE, Device, booted, memory, restart

(Job,) = structures("cipher_unit.h", "cipher_job")
RUNS, DONE, FAILED = values("cipher_unit.h", "CIPHER_RUNS CIPHER_DONE CIPHER_FAILED")
BEGIN = CFUNCTYPE(c_bool, c_uint32, POINTER(Job))
RESULT, STOP = CFUNCTYPE(c_uint, c_uint32), CFUNCTYPE(c_bool, c_uint32)
CORE.testbed_played_units.argtypes = [c_void_p, c_void_p, c_void_p]
CORE.testbed_played_units.restype = None
UNIT = 7
KEY, VECTOR = bytes(range(16)), bytes(range(100, 116))
FROM, INTO, HEAD, STATUS = GPA + 0x90000, GPA + 0xA0000, GPA + 0x80001, GPA + 0xB0007
SHORTEST, LONGEST = 64, 4096  # bytes of a job
FUNCTION = {"vm": 0, "kind": CRYPTO, "unit": UNIT + 1}


@dataclass
class Unit:
    """`waits` looks find each job running. A job is computed at its end, so what it reads must not change."""

    number: int = UNIT
    there: bool = True
    waits: int = 0
    fails: bool = False
    stops: int = 1  # steps of a stop
    job: tuple | None = None  # key, vector, source, result, size, decrypts
    jobs: list[int] = field(default_factory=list)  # their sizes
    looks: int = 0
    stopped: int = 0
    wrong: list[str] = field(default_factory=list)

    def check(self, right: bool, what: str) -> None:
        if not right:
            self.wrong.append(what)

    def begin(self, unit: int, job: "POINTER(Job)") -> bool:
        j = job.contents
        self.check(unit == self.number, "the unit")
        self.check(self.job is None, "one job at a time")
        self.check(SHORTEST <= j.size <= LONGEST and j.size % 16 == 0, "the size")
        self.check(j.source % 8 == 0 and j.result % 8 == 0, "the alignment")
        self.check(j.source == j.result or abs(j.source - j.result) >= j.size, "the overlap")
        if self.there:
            self.job = (bytes(j.key), bytes(j.vector), j.source, j.result, j.size, j.decrypts)
            self.jobs.append(j.size)
            self.looks = 0
        return self.there

    def result(self, unit: int) -> int:
        self.check(unit == self.number and self.job is not None, "the result of no job")
        self.looks += 1
        if self.job is None or self.looks <= self.waits:
            return RUNS
        key, vector, source, result, size, decrypts = self.job
        data = memory(0)[source - GPA : source - GPA + size]
        done = (aes_model.decrypt_cbc if decrypts else aes_model.encrypt_cbc)(key, vector, data)
        if not self.fails:
            memory(0)[result - GPA : result - GPA + size] = done
        self.job = None
        return FAILED if self.fails else DONE

    def stop(self, unit: int) -> bool:
        self.check(unit == self.number, "the unit that stops")
        self.stopped += 1
        self.job = None
        return self.stopped % self.stops == 0


@contextmanager
def played(unit: Unit) -> Iterator[None]:
    """Afterwards there is no unit."""
    functions = (BEGIN(unit.begin), RESULT(unit.result), STOP(unit.stop))
    CORE.testbed_played_units(*(cast(function, c_void_p) for function in functions))
    yield
    CORE.testbed_played_units(None, None, None)
    assert unit.wrong == []


@pytest.fixture
def playing() -> Iterator[Unit]:
    unit = Unit()
    with played(unit):
        yield unit


def started(poll: int = 0) -> Engine:
    booted([FUNCTION])
    return Engine(Device(0, poll=poll, size=64).start(VERSION_1))


def head_of(session: int, opcode: int, size: int) -> bytes:
    head = struct.pack("<IIQII4I24x2I", opcode, 0, session, 0, 0, 16, size, size, 0, CIPHER, 0)
    return head + VECTOR


def offer(engine: Engine, session: int, opcode: int, data: bytes, source: list, result: list) -> None:
    """Makes a request available. Source and result are lists of (address, bytes)."""
    engine.device.put(HEAD, head_of(session, opcode, len(data)))
    for address, size in source:
        engine.device.put(address, data[:size])
        data = data[size:]
    queue = engine.device.queues[DATA_QUEUE]
    chain = [(HEAD, 88, False), *((*one, False) for one in source), *((*one, True) for one in result)]
    queue.chain(3, [*chain, (STATUS, 1, True)])
    queue.offer(3)


def finish(engine: Engine, result: list) -> tuple[int, bytes]:
    engine.device.queues[DATA_QUEUE].notify()
    ((head, length),) = engine.device.queues[DATA_QUEUE].returned()
    status = engine.device.get(STATUS, 1)[0]
    assert head == 3
    assert status != OK or length == sum(size for _, size in result) + 1
    return status, b"".join(engine.device.get(*one) for one in result)


def parts(at: int, sizes: list[int], offset: int) -> list[tuple[int, int]]:
    """Buffers of the sizes, each in a KiB of its own or more, `offset` behind a multiple of 8."""
    found = []
    for size in sizes:
        found.append((at + offset, size))
        at += (size + 2048) & ~1023
    return found


def bytes_of(size: int) -> bytes:
    return bytes((i * i + i // 7) & 0xFF for i in range(size))


def cut(total: int, cuts: list[int]) -> list[int]:
    places = sorted({0, total, *(16 * (one % (total // 16 + 1)) for one in cuts)})
    return [end - start for start, end in pairwise(places)]


@settings(max_examples=examples(30, 300), deadline=None, derandomize=True)
@given(
    st.one_of(st.integers(1, 20), st.integers(1, 300)),
    st.tuples(*2 * [st.lists(st.integers(0, 300), max_size=2)]),
    st.tuples(*2 * [st.sampled_from([0, 0, 0, 8, 1])]),
    st.sampled_from([ENCRYPT, DECRYPT]),
    st.integers(0, 3),
    st.booleans(),
    st.integers(0, 2),
)
def test_requests(blocks, cuts, offsets, opcode, waits, there, poll):
    """Of any size, in buffers of whole blocks: the result is AES-CBC's, whoever computes a block."""
    unit = Unit(there=there, waits=waits)
    with played(unit):
        run_request(unit, blocks, cuts, offsets, opcode, poll)


def run_request(unit, blocks, cuts, offsets, opcode, poll) -> None:
    engine, data = started(poll), bytes_of(16 * blocks)
    session = engine.session(KEY, opcode)
    source, result = parts(FROM, cut(len(data), cuts[0]), offsets[0]), parts(INTO, cut(len(data), cuts[1]), offsets[1])
    offer(engine, session, opcode, data, source, result)
    expected = (aes_model.encrypt_cbc, aes_model.decrypt_cbc)[opcode](KEY, VECTOR, data)
    assert finish(engine, result) == (OK, expected)
    longest = min(max(size for _, size in source), max(size for _, size in result))
    if not unit.there or 1 in offsets or longest < SHORTEST:
        assert unit.jobs == []
    elif len(source) == len(result) == 1 and len(data) % LONGEST in (0, *range(SHORTEST, LONGEST)):
        assert sum(unit.jobs) == len(data), "the unit computes all of it"


def test_in_place(playing: Unit):
    """Decryption overwrites the block that is the next job's vector."""
    engine, data = started(), bytes_of(3 * LONGEST)
    for opcode, model in ((ENCRYPT, aes_model.encrypt_cbc), (DECRYPT, aes_model.decrypt_cbc)):
        place = [(FROM, len(data))]
        offer(engine, engine.session(KEY, opcode), opcode, data, place, place)
        assert finish(engine, place) == (OK, model(KEY, VECTOR, data))
    assert playing.jobs == 6 * [LONGEST]


def test_the_first_unit(playing: Unit):
    playing.number = 0
    booted([FUNCTION | {"unit": 1}])
    engine = Engine(Device(0, size=64).start())
    offer(engine, engine.session(KEY), ENCRYPT, bytes_of(256), [(FROM, 256)], [(INTO, 256)])
    assert finish(engine, [(INTO, 256)])[0] == OK
    assert playing.jobs == [256]


def test_jobs_of_whole_blocks(playing: Unit):
    """What a buffer has beside them is computed in software."""
    engine, data = started(), bytes_of(160)
    session, expected = engine.session(KEY), aes_model.encrypt_cbc(KEY, VECTOR, data)
    offer(engine, session, ENCRYPT, data, [(FROM, 100), (FROM + 0x1000, 60)], [(INTO, 160)])
    assert finish(engine, [(INTO, 160)]) == (OK, expected)
    offer(engine, session, ENCRYPT, data[:SHORTEST], [(FROM, SHORTEST)], [(INTO, SHORTEST)])
    assert finish(engine, [(INTO, SHORTEST)]) == (OK, expected[:SHORTEST])
    assert playing.jobs == [96, SHORTEST]


def test_no_job_without_a_source(playing: Unit):
    engine = started()
    offer(engine, engine.session(KEY), ENCRYPT, bytes_of(256), [], [(INTO, 256)])
    assert finish(engine, [])[0] == ERROR
    assert playing.jobs == []


@pytest.mark.parametrize(("distance", "jobs"), [(16, []), (48, []), (-16, []), (2048, [2048]), (-4080, [4080])])
def test_overlap(playing: Unit, distance: int, jobs: list[int]):
    """The unit reads ahead, so blocks are computed in software until the rest does not overlap."""
    engine = started()
    source, result = [(FROM, LONGEST)], [(FROM + distance, LONGEST)]
    offer(engine, engine.session(KEY), ENCRYPT, bytes_of(LONGEST), source, result)
    assert finish(engine, result)[0] == OK
    assert playing.jobs == jobs


def test_other_keys(playing: Unit):
    """The unit has keys of 128 bits."""
    engine, data, key = started(), bytes_of(256), bytes(range(32))
    offer(engine, engine.session(key), ENCRYPT, data, [(FROM, 256)], [(INTO, 256)])
    assert finish(engine, [(INTO, 256)]) == (OK, aes_model.encrypt_cbc(key, VECTOR, data))
    assert playing.jobs == []


def test_failure(playing: Unit):
    """The request ends with an error, and the next one is computed."""
    engine, data = started(), bytes_of(256)
    session = engine.session(KEY)
    for playing.fails, status in ((True, ERROR), (False, OK)):
        offer(engine, session, ENCRYPT, data, [(FROM, 256)], [(INTO, 256)])
        assert finish(engine, [(INTO, 256)])[0] == status
    assert engine.device.get(INTO, 256) == aes_model.encrypt_cbc(KEY, VECTOR, data)
    assert playing.jobs == [256, 256]


def running(playing: Unit, engine: Engine) -> int:
    """Begins a request of two jobs, of which the first one runs; returns the session."""
    playing.waits = 1 << 30
    session = engine.session(KEY)
    offer(engine, session, ENCRYPT, bytes_of(2 * LONGEST), [(FROM, 2 * LONGEST)], [(INTO, 2 * LONGEST)])
    assert engine.device.queues[DATA_QUEUE].notify_once(0)
    assert playing.job is not None
    return session


def test_destruction_of_the_session_during_a_job(playing: Unit):
    """The request ends after the job."""
    engine = started()
    session = running(playing, engine)
    assert engine.destroy(session) == OK
    assert playing.job is not None
    playing.waits = 0
    assert finish(engine, [])[0] == NO_SESSION
    assert playing.jobs == [LONGEST]


@pytest.mark.parametrize("stops", [1, 3])
def test_reset_during_a_job(playing: Unit, stops: int):
    """The driver's store is over when the unit accesses no memory, and the next life's requests are computed."""
    engine = started()
    running(playing, engine)
    playing.stops, playing.stopped = stops, 0
    engine.device.write(20, 0, 1)
    assert playing.job is None
    assert playing.stopped == stops
    playing.waits, playing.stops = 0, 1
    engine.device.start()
    offer(engine, engine.session(KEY), ENCRYPT, bytes_of(256), [(FROM, 256)], [(INTO, 256)])
    assert finish(engine, [(INTO, 256)]) == (OK, aes_model.encrypt_cbc(KEY, VECTOR, bytes_of(256)))


def test_rubbish_during_a_job(playing: Unit):
    """In the other queue. The device needs a reset, which stops the job."""
    engine = started()
    running(playing, engine)
    queue = engine.device.queues[CONTROL_QUEUE]
    queue.descriptor(0, 0x1000, 88)
    queue.offer(0)
    queue.notify()
    assert engine.device.status & NEEDS_RESET
    engine.device.queues[DATA_QUEUE].notify()
    assert playing.jobs == [LONGEST], "nothing is begun"
    engine.device.write(20, 0, 1)
    assert playing.job is None


def test_restart_of_the_vm_during_a_job(playing: Unit):
    engine = started()
    running(playing, engine)
    playing.stops, playing.stopped = 3, 0
    restart(0)
    assert playing.job is None
    assert playing.stopped % 3 == 0


@pytest.mark.parametrize("first", [0, 256])
def test_result_that_is_not_memory(playing: Unit, first: int):
    """All of it, or its second buffer: the driver's device needs a reset, and the unit gets no job with it."""
    engine = started()
    result = [(INTO, first)] * (first != 0) + [(0x1000, 512 - first)]
    offer(engine, engine.session(KEY), ENCRYPT, bytes_of(512), [(FROM, 512)], result)
    engine.device.queues[DATA_QUEUE].notify()
    assert engine.device.status & NEEDS_RESET
    assert sum(playing.jobs) == first


@pytest.mark.parametrize("steps", range(16))
def test_result_moves_away(playing: Unit, steps: int):
    """Its descriptor changes while the request is done, at any step: the unit gets what was checked, or no job."""
    engine = started()
    offer(engine, engine.session(KEY), ENCRYPT, bytes_of(256), [(FROM, 256)], [(INTO, 256)])
    queue = engine.device.queues[DATA_QUEUE]
    for _ in range(steps):
        queue.notify_once(1)
    queue.descriptor(5, 0x1000, 256, NEXT | WRITE, 6)
    queue.notify()
    assert bool(engine.device.status & NEEDS_RESET) == (playing.jobs == [])
    assert all(job == 256 for job in playing.jobs)
