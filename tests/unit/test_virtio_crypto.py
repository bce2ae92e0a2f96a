# SPDX-License-Identifier: Apache-2.0
"""virtio-crypto: requests in any buffers against a model of AES-CBC, sessions, errors, and hostile drivers."""

import struct
from dataclasses import dataclass
from itertools import pairwise

import aes_model
import pytest
from aes_model import BLOCK
from c_headers import values
from core import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from virtio import CRYPTO, EVENT_IDX, GPA, NEEDS_RESET, NEXT, VERSION_1, WRITE, Device, booted, restart

DATA_QUEUE, CONTROL_QUEUE = 0, 1
ENCRYPT, DECRYPT, CREATE, DESTROY = 0, 1, 2, 3
CBC, CIPHER, CHAINING = 3, 1, 2
OK, ERROR, UNSUPPORTED, NO_SESSION, NO_SPACE = 0, 1, 3, 4, 5
SESSIONS = 32
UNTOUCHED = 0xEE
(PARTS,) = values("virtio.h", "VIRTIO_PARTS")  # most buffers of an answer
HEAD, SOURCE, RESULT, STATUS = GPA + 0x80001, GPA + 0x90003, GPA + 0xA0005, GPA + 0xB0007
CONTROL, ANSWER = GPA + 0xC0001, GPA + 0xD0003


def split(size: int, cuts: list[int]) -> list[int]:
    places = sorted({0, size, *(cut % size for cut in cuts)}) if size else [0]
    return [end - start for start, end in pairwise(places)]


def buffers(at: int, size: int, cuts: list[int], writable: bool) -> list[tuple[int, int, bool]]:
    found = []
    for part in split(size, cuts):
        found.append((at, part, writable))
        at += part
    return found


@dataclass
class Engine:
    """The driver of a device. Offers chains from descriptor 3 on."""

    device: Device

    def offer(self, queue: int, chain: list[tuple[int, int, bool]]) -> int:
        """Returns the used length."""
        queue = self.device.queues[queue]
        queue.chain(3, chain)
        queue.offer(3)
        queue.notify()
        ((head, length),) = queue.returned()
        assert head == 3
        return length

    def control(self, request: bytes, answer: int, cuts: list[int] = ()) -> bytes:
        self.device.put(CONTROL, request)
        self.device.put(ANSWER, bytes([UNTOUCHED]) * (answer + 1))
        chain = buffers(CONTROL, len(request), list(cuts), False)
        chain += buffers(ANSWER, answer, list(cuts)[: PARTS - 1], True)
        assert self.offer(CONTROL_QUEUE, chain) == answer
        assert self.device.get(ANSWER + answer, 1)[0] == UNTOUCHED
        return self.device.get(ANSWER, answer)

    def create(
        self,
        key: bytes,
        direction: int = ENCRYPT,
        cuts: list[int] = (),
        size: int | None = None,
        opcode: int = CREATE,
        algorithm: int = CBC,
        operation: int = CIPHER,
    ) -> tuple[int, int]:
        """Returns the status and the session."""
        request = struct.pack("<4I", opcode, algorithm, 0, 0)
        request += struct.pack(
            "<4I32x2I", algorithm, len(key) if size is None else size, 1 + direction, 0, operation, 0
        )
        assert len(request) == 72
        session, status, padding = struct.unpack("<QII", self.control(request + key, 16, cuts))
        assert padding == 0
        assert (session != 0) == (status == OK)
        return status, session

    def session(self, key: bytes, direction: int = ENCRYPT) -> int:
        status, session = self.create(key, direction)
        assert status == OK
        return session

    def destroy(self, session: int) -> int:
        return self.control(struct.pack("<4IQ48x", DESTROY, 0, 0, 0, session), 1)[0]

    def crypt(
        self,
        session: int,
        opcode: int,
        vector: bytes,
        data: bytes,
        cuts: tuple[list[int], list[int], list[int]] = ([], [], []),
        more: tuple[int, int] = (0, 0),
        **fields: int,
    ) -> tuple[int, bytes, int]:
        """Encrypts or decrypts. The buffers of source and result have `more` bytes than the request says. Returns the
        status, the result, and the used length."""
        sizes = {"vector_size": len(vector), "size": len(data), "result_size": len(data), "operation": CIPHER, **fields}
        head = struct.pack("<IIQII", opcode, 0, session, 0, 0)
        head += struct.pack(
            "<4I24x2I", sizes["vector_size"], sizes["size"], sizes["result_size"], 0, sizes["operation"], 0
        )
        assert len(head) == 72
        result = len(data) + more[1]
        self.device.put(HEAD, head + vector)
        self.device.put(SOURCE, data + bytes(more[0]))
        self.device.put(RESULT, bytes([UNTOUCHED]) * (result + 1))
        self.device.put(STATUS, bytes([UNTOUCHED]))
        chain = buffers(HEAD, len(head + vector), cuts[0], False)
        chain += buffers(SOURCE, len(data) + more[0], cuts[1], False)
        chain += buffers(RESULT, result, cuts[2], True)
        length = self.offer(DATA_QUEUE, [*chain, (STATUS, 1, True)])
        assert self.device.get(RESULT + len(data), more[1] + 1) == bytes([UNTOUCHED]) * (more[1] + 1)
        return self.device.get(STATUS, 1)[0], self.device.get(RESULT, len(data)), length


def started(features: int = VERSION_1, poll: int = 0) -> Engine:
    booted([{"vm": 0, "kind": CRYPTO}])
    return Engine(Device(0, poll=poll, size=64).start(features))


def test_configuration():
    """struct virtio_crypto_config."""
    device = started().device
    words = [device.read(0x2000 + 4 * i) for i in range(15)]
    assert words == [1, 1, 1, 1 << CBC, 0, 0, 0, 0, 0, 32, 0, 0, 0xFFFFFFFF, 0, 0]
    assert device.offered & 0xFFFFFF == 0
    assert device.read(18, 2) == 2


# NIST SP 800-38A, appendix F.2: the same plaintext and initialization vector for the three sizes of keys.
PLAIN = bytes.fromhex(
    "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
    "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710"
)
CBC_EXAMPLES = {
    "2b7e151628aed2a6abf7158809cf4f3c": (
        "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2"
        "73bed6b8e3c1743b7116e69e222295163ff1caa1681fac09120eca307586e1a7"
    ),
    "8e73b0f7da0e6452c810f32b809079e562f8ead2522c6b7b": (
        "4f021db243bc633d7178183a9fa071e8b4d9ada9ad7dedf4e5e738763f69145a"
        "571b242012fb7ae07fa9baac3df102e008b0e27988598881d920a9e64f5615cd"
    ),
    "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4": (
        "f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d"
        "39f23369a9d9bacfa530e26304231461b2eb05e2c39be9fcda6c19078c6a9d1b"
    ),
}


@pytest.mark.parametrize(("key", "cipher"), CBC_EXAMPLES.items())
def test_examples(key: str, cipher: str):
    engine, vector, encrypted = started(), bytes(range(16)), bytes.fromhex(cipher)
    assert aes_model.encrypt_cbc(bytes.fromhex(key), vector, PLAIN) == encrypted
    there, back = (engine.session(bytes.fromhex(key), direction) for direction in (ENCRYPT, DECRYPT))
    assert engine.crypt(there, ENCRYPT, vector, PLAIN) == (OK, encrypted, 65)
    assert engine.crypt(back, DECRYPT, vector, encrypted) == (OK, PLAIN, 65)


CUTS = st.lists(st.integers(0, 400), max_size=5)
REQUESTS = st.tuples(
    st.integers(0, 5),  # session
    st.integers(0, 6).flatmap(lambda blocks: st.binary(min_size=16 * blocks, max_size=16 * blocks)),
    st.binary(min_size=16, max_size=16),
    st.tuples(CUTS, CUTS, CUTS),
    st.tuples(st.integers(0, 40), st.integers(0, 40)),
)
KEYS = st.sampled_from(aes_model.SIZES).flatmap(lambda size: st.binary(min_size=size, max_size=size))


@settings(max_examples=examples(50, 500), deadline=None, derandomize=True)
@given(
    st.lists(KEYS, min_size=3, max_size=3),
    st.lists(REQUESTS, max_size=8),
    st.sampled_from([VERSION_1, VERSION_1 | EVENT_IDX]),
    st.integers(0, 3),
)
def test_requests(keys: list[bytes], requests: list[tuple], features: int, poll: int):
    """Of several sessions in turn, in buffers of any size, which may be longer than source and result."""
    engine = started(features, poll)
    sessions = [(key, opcode, engine.session(key, opcode)) for key in keys for opcode in (ENCRYPT, DECRYPT)]
    for place, data, vector, cuts, more in requests:
        key, opcode, session = sessions[place]
        expected = [aes_model.encrypt_cbc, aes_model.decrypt_cbc][opcode](key, vector, data)
        assert engine.crypt(session, opcode, vector, data, cuts, more) == (OK, expected, len(data) + 1)
    assert engine.device.status & NEEDS_RESET == 0


def test_in_place():
    """Source and result are the same memory, as Linux often has it."""
    engine, key, vector = started(), bytes(range(16)), bytes(16)
    for opcode, data, expected in (
        (ENCRYPT, PLAIN, aes_model.encrypt_cbc(key, vector, PLAIN)),
        (DECRYPT, PLAIN, aes_model.decrypt_cbc(key, vector, PLAIN)),
    ):
        head = struct.pack("<IIQII4I24x2I", opcode, 0, engine.session(key, opcode), 0, 0, 16, 64, 64, 0, CIPHER, 0)
        engine.device.put(HEAD, head + vector)
        engine.device.put(SOURCE, data)
        chain = [(HEAD, 88, False), (SOURCE, 64, False), (SOURCE, 64, True), (STATUS, 1, True)]
        assert engine.offer(DATA_QUEUE, chain) == 65
        assert engine.device.get(SOURCE, 64) == expected


def test_head_and_source_in_one_buffer():
    """The head begins in the buffer before."""
    engine = started()
    session = engine.session(bytes(16))
    head = struct.pack("<IIQII4I24x2I", ENCRYPT, 0, session, 0, 0, 16, 64, 64, 0, CIPHER, 0)
    engine.device.put(HEAD, head + bytes(16) + PLAIN)
    chain = [(HEAD, 40, False), (HEAD + 40, 48 + 64, False), (RESULT, 64, True), (STATUS, 1, True)]
    assert engine.offer(DATA_QUEUE, chain) == 65
    assert engine.device.get(RESULT, 64) == aes_model.encrypt_cbc(bytes(16), bytes(16), PLAIN)


# --- sessions ---


@settings(max_examples=examples(50), deadline=None, derandomize=True)
@given(KEYS, st.lists(st.integers(0, 200), max_size=10), st.integers(0, 2))
def test_creation_in_any_buffers(key: bytes, cuts: list[int], poll: int):
    engine = started(poll=poll)
    status, session = engine.create(key, ENCRYPT, cuts)
    assert status == OK
    assert engine.crypt(session, ENCRYPT, bytes(16), PLAIN)[1] == aes_model.encrypt_cbc(key, bytes(16), PLAIN)


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"opcode": 0x102}, UNSUPPORTED),
        ({"opcode": 0}, UNSUPPORTED),
        ({"algorithm": 2}, UNSUPPORTED),
        ({"operation": CHAINING}, UNSUPPORTED),
        ({"operation": 0}, UNSUPPORTED),
        ({"direction": 2}, ERROR),
        ({"direction": -1}, ERROR),
        ({"size": 0}, ERROR),
        ({"size": 17}, ERROR),
        ({"size": 24}, ERROR),
        ({"size": 2**32 - 16}, ERROR),
    ],
)
def test_wrong_creation(fields: dict[str, int], status: int):
    engine = started()
    assert engine.create(bytes(16), **fields) == (status, 0)
    assert engine.create(bytes(16))[0] == OK


def test_all_sessions():
    """Each has its own key; one more is refused until one is destroyed, whose number does not return."""
    engine = started()
    keys = [bytes([i]) * 16 for i in range(SESSIONS)]
    sessions = [engine.session(key) for key in keys]
    assert len(set(sessions)) == SESSIONS
    assert engine.create(bytes(16)) == (NO_SPACE, 0)
    assert engine.create(bytes(17)) == (ERROR, 0)
    for key, session in zip(keys, sessions, strict=True):
        assert engine.crypt(session, ENCRYPT, bytes(16), PLAIN)[1] == aes_model.encrypt_cbc(key, bytes(16), PLAIN)
    assert engine.destroy(sessions[5]) == OK
    assert engine.destroy(sessions[5]) == NO_SESSION
    assert engine.session(bytes(16)) not in sessions
    assert engine.crypt(sessions[5], ENCRYPT, bytes(16), PLAIN)[0] == NO_SESSION
    assert engine.create(bytes(16)) == (NO_SPACE, 0)


@pytest.mark.parametrize("session", [0, 1, 31, 32, 2**64 - 1])
def test_unknown_session(session: int):
    engine = started()
    assert engine.destroy(session) == NO_SESSION
    own = engine.session(bytes(16))
    assert own not in (0, 1, 31, 2**64 - 1)
    if session != own:
        assert engine.crypt(session, ENCRYPT, bytes(16), PLAIN) == (NO_SESSION, bytes([UNTOUCHED]) * 64, 1)
        assert engine.destroy(session) == NO_SESSION


def test_key_of_a_destroyed_session():
    """The key is gone, also where it was expanded: the next session has its own."""
    engine = started()
    first = engine.session(b"a" * 16)
    assert engine.crypt(first, ENCRYPT, bytes(16), PLAIN)[0] == OK
    assert engine.destroy(first) == OK
    assert engine.crypt(first, ENCRYPT, bytes(16), PLAIN)[0] == NO_SESSION
    second = engine.session(b"b" * 16)
    assert engine.crypt(second, ENCRYPT, bytes(16), PLAIN)[1] == aes_model.encrypt_cbc(b"b" * 16, bytes(16), PLAIN)


def test_sessions_end_with_a_reset_and_with_the_vm():
    engine = started()
    session = engine.session(bytes(16))
    engine.device.start()
    assert engine.crypt(session, ENCRYPT, bytes(16), PLAIN)[0] == NO_SESSION
    session = engine.session(bytes(16))
    restart(0)
    engine = Engine(Device(0, size=64).start())
    assert engine.crypt(session, ENCRYPT, bytes(16), PLAIN)[0] == NO_SESSION


def test_sessions_are_the_devices_own():
    """Also of two devices of one VM."""
    booted([{"vm": 0, "kind": CRYPTO}, {"vm": 0, "kind": CRYPTO}, {"vm": 1, "kind": CRYPTO}])
    engines = [Engine(Device(vm, slot, size=64).start()) for vm, slot in ((0, 0), (0, 1), (1, 0))]
    session = engines[0].session(bytes(16))
    for engine in engines[1:]:
        assert engine.crypt(session, ENCRYPT, bytes(16), PLAIN)[0] == NO_SESSION
        assert engine.destroy(session) == NO_SESSION
    assert engines[0].destroy(session) == OK


# --- wrong requests ---


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"opcode": DECRYPT}, ERROR),  # the session's is the other one
        ({"opcode": 0x100}, UNSUPPORTED),
        ({"operation": CHAINING}, UNSUPPORTED),
        ({"vector_size": 0}, ERROR),
        ({"vector_size": 12}, ERROR),
        ({"size": 63}, ERROR),
        ({"size": 80}, ERROR),  # longer than the buffers
        ({"size": 2**32 - 16, "result_size": 2**32 - 16}, ERROR),
        ({"result_size": 48}, ERROR),
    ],
)
def test_wrong_requests(fields: dict[str, int], status: int):
    """The device answers, and works on."""
    engine = started()
    session = engine.session(bytes(16))
    found, _, length = engine.crypt(session, **{"opcode": ENCRYPT, "vector": bytes(16), "data": PLAIN, **fields})
    assert found == status
    assert length == 1 or fields["size"] > 64
    assert length <= 65
    assert engine.device.status & NEEDS_RESET == 0
    assert engine.crypt(session, ENCRYPT, bytes(16), PLAIN)[0] == OK


def test_source_or_result_too_short():
    """What is longer than its buffers fails, and what is written is inside of them."""
    engine = started()
    session = engine.session(bytes(16))
    for source, result in ((63, 64), (16, 64), (64, 63), (64, 16), (0, 64)):
        head = struct.pack("<IIQII4I24x2I", ENCRYPT, 0, session, 0, 0, 16, 64, 64, 0, CIPHER, 0)
        engine.device.put(HEAD, head + bytes(16))
        engine.device.put(RESULT, bytes([UNTOUCHED]) * 80)
        readable = [(SOURCE, source, False)] if source else []
        engine.offer(DATA_QUEUE, [(HEAD, 88, False), *readable, (RESULT, result, True), (STATUS, 1, True)])
        assert engine.device.get(STATUS, 1)[0] == ERROR
        assert engine.device.get(RESULT + result, 80 - result) == bytes([UNTOUCHED]) * (80 - result)


def test_short_head():
    engine = started()
    engine.device.put(STATUS, bytes([UNTOUCHED]))
    assert engine.offer(DATA_QUEUE, [(HEAD, 87, False), (STATUS, 1, True)]) == 1
    assert engine.device.get(STATUS, 1)[0] == ERROR


@pytest.mark.parametrize("looks", range(1, 32))
def test_destruction_during_a_request(looks: int):
    """The request fails: its key is gone. The handler of an interrupt destroys the session."""
    engine = started()
    session = engine.session(bytes(16))
    queue = engine.device.queues[DATA_QUEUE]
    head = struct.pack("<IIQII4I24x2I", ENCRYPT, 0, session, 0, 0, 16, 64, 64, 0, CIPHER, 0)
    engine.device.put(HEAD, head + bytes(16))
    engine.device.put(SOURCE, PLAIN)
    engine.device.put(RESULT, bytes([UNTOUCHED]) * 64)
    queue.chain(3, [(HEAD, 88, False), (SOURCE, 64, False), (RESULT, 64, True), (STATUS, 1, True)])
    queue.offer(3)
    assert queue.notify_once(looks)
    assert queue.returned() == []
    assert engine.destroy(session) == OK
    assert engine.session(b"other key" + bytes(7)) != session
    queue.notify()
    ((head_of, length),) = queue.returned()
    assert head_of == 3
    assert length % BLOCK == 1
    assert engine.device.get(STATUS, 1)[0] == NO_SESSION
    expected = aes_model.encrypt_cbc(bytes(16), bytes(16), PLAIN)[: length - 1]
    assert engine.device.get(RESULT, 64) == expected + bytes([UNTOUCHED]) * (64 - len(expected))


WRONG_DATA = {
    "no status": [(HEAD, 88, 0)],
    "nothing to write to": [(HEAD, 88, NEXT, 1), (SOURCE, 64, 0)],
    "a loop": [(HEAD, 88, NEXT, 1), (SOURCE, 64, NEXT, 1)],
    "readable behind writable": [
        (HEAD, 88, NEXT, 1),
        (SOURCE, 64, NEXT, 2),
        (RESULT, 32, NEXT | WRITE, 3),
        (SOURCE, 8, 0),
    ],
    "result is not memory": [
        (HEAD, 88, NEXT, 1),
        (SOURCE, 64, NEXT, 2),
        (0x1000, 64, NEXT | WRITE, 3),
        (STATUS, 1, WRITE),
    ],
    "source is not memory": [
        (HEAD, 88, NEXT, 1),
        (0x1000, 64, NEXT, 2),
        (RESULT, 64, NEXT | WRITE, 3),
        (STATUS, 1, WRITE),
    ],
    "empty": [(HEAD, 88, NEXT, 1), (SOURCE, 0, NEXT, 2), (RESULT, 64, NEXT | WRITE, 3), (STATUS, 1, WRITE)],
}
WRONG_CONTROL = {
    "no answer": [(HEAD, 88, 0)],
    "short": [(HEAD, 71, NEXT, 1), (STATUS, 16, WRITE)],
    "short answer": [(HEAD, 88, NEXT, 1), (STATUS, 15, WRITE)],
    "readable in the answer": [(HEAD, 88, NEXT, 1), (STATUS, 8, NEXT | WRITE, 2), (STATUS + 8, 8, 0)],
    "a loop": [(HEAD, 72, NEXT, 1), (SOURCE, 8, NEXT, 1)],
    "not memory": [(0x1000, 88, NEXT, 1), (STATUS, 16, WRITE)],
}
WRONG = [(DATA_QUEUE, name) for name in WRONG_DATA] + [(CONTROL_QUEUE, name) for name in WRONG_CONTROL]


@pytest.mark.parametrize(
    ("number", "name"), WRONG, ids=[f"{('data', 'control')[queue]}: {name}" for queue, name in WRONG]
)
def test_wrong_chains(number: int, name: str):
    """The device needs a reset, has no sessions then, and works after it."""
    engine = started()
    session = engine.session(bytes(16))
    queue = engine.device.queues[number]
    head = struct.pack("<IIQII4I24x2I", ENCRYPT, 0, session, 0, 0, 16, 64, 64, 0, CIPHER, 0)
    create = struct.pack("<8I32x2I", CREATE, CBC, 0, 0, CBC, 16, 1, 0, CIPHER, 0)
    engine.device.put(HEAD, (create if number == CONTROL_QUEUE else head) + bytes(16))
    for index, descriptor in enumerate((WRONG_CONTROL if number == CONTROL_QUEUE else WRONG_DATA)[name]):
        queue.descriptor(index, *descriptor)
    queue.offer(0)
    queue.notify()
    assert engine.device.status & NEEDS_RESET
    assert queue.returned() == []
    engine = Engine(Device(0, size=64).start())
    assert engine.crypt(session, ENCRYPT, bytes(16), PLAIN)[0] == NO_SESSION
    session = engine.session(bytes(16))
    assert engine.crypt(session, ENCRYPT, bytes(16), PLAIN)[1] == aes_model.encrypt_cbc(bytes(16), bytes(16), PLAIN)


@pytest.mark.parametrize("looks", range(1, 32, 3))
def test_reset_during_a_request(looks: int):
    engine = started()
    session = engine.session(bytes(16))
    queue = engine.device.queues[DATA_QUEUE]
    head = struct.pack("<IIQII4I24x2I", ENCRYPT, 0, session, 0, 0, 16, 64, 64, 0, CIPHER, 0)
    engine.device.put(HEAD, head + bytes(16))
    queue.chain(3, [(HEAD, 88, False), (SOURCE, 64, False), (RESULT, 64, True), (STATUS, 1, True)])
    queue.offer(3)
    assert queue.notify_once(looks)
    engine.device.start()
    assert engine.device.queues[DATA_QUEUE].returned() == []
    session = engine.session(b"new key " * 2)
    assert engine.crypt(session, ENCRYPT, bytes(16), PLAIN)[1] == aes_model.encrypt_cbc(
        b"new key " * 2, bytes(16), PLAIN
    )


def test_reset_during_a_request_for_a_session():
    engine = started()
    queue = engine.device.queues[CONTROL_QUEUE]
    queue.chain(40, [(SOURCE, 88, False), (RESULT, 16, True)])
    queue.offer(40)
    assert queue.notify_once(1)
    engine.device.start()
    assert engine.create(bytes(16))[0] == OK


def test_source_moves_away():
    """Its descriptors change while the request is done: the device needs a reset."""
    engine = started()
    session = engine.session(bytes(16))
    queue = engine.device.queues[DATA_QUEUE]
    head = struct.pack("<IIQII4I24x2I", ENCRYPT, 0, session, 0, 0, 16, 64, 64, 0, CIPHER, 0)
    engine.device.put(HEAD, head + bytes(16))
    queue.chain(3, [(HEAD, 88, False), (SOURCE, 32, False), (SOURCE, 32, False), (RESULT, 64, True), (STATUS, 1, True)])
    queue.offer(3)
    while engine.device.get(RESULT, 16) == bytes(16):
        assert queue.notify_once(1)
    queue.descriptor(5, 0x1000, 32, NEXT, 6)
    queue.notify()
    assert engine.device.status & NEEDS_RESET
    assert queue.returned() == []


def steps_of(key: bytes, blocks: int) -> int:
    """The steps of a request, between which the device looks for interrupts."""
    engine = started()
    session = engine.session(key)
    queue = engine.device.queues[DATA_QUEUE]
    size = BLOCK * blocks
    head = struct.pack("<IIQII4I24x2I", ENCRYPT, 0, session, 0, 0, 16, size, size, 0, CIPHER, 0)
    engine.device.put(HEAD, head + bytes(16))
    queue.chain(3, [(HEAD, 88, False), (SOURCE, size, False), (RESULT, size, True), (STATUS, 1, True)])
    queue.offer(3)
    steps = 1
    while queue.notify_once(1):
        steps += 1
    assert queue.returned() == [(3, size + 1)]
    return steps


@pytest.mark.parametrize(("size", "steps"), [(16, 5), (24, 6), (32, 6)])
def test_buffers_are_not_used_in_a_step_with_rounds(size: int, steps: int):
    """A step has a block's buffers, or at most three of its rounds: with misaligned buffers, or a wrong one, a step
    with both is longer than the bound of tests/e2e/test_attacks_storage.py."""
    assert steps_of(bytes(size), 3) - steps_of(bytes(size), 2) == steps
