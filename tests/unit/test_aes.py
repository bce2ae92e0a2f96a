# SPDX-License-Identifier: Apache-2.0
"""devices/virtio/aes.c against the examples of FIPS 197 and a model of its definitions, with any division of the
work."""

import ctypes
from ctypes import c_bool, c_char_p, c_uint, c_void_p
from itertools import cycle

import aes_model
import pytest
from c_headers import evaluate
from core import CORE, examples
from hypothesis import example, given, settings
from hypothesis import strategies as st

KEY_SIZE, STATE_SIZE = evaluate(["aes.h"], ["sizeof(struct aes_key)", "sizeof(struct aes_state)"]).values()

_SIGNATURES = {
    "aes_set_key": (None, [c_void_p, c_char_p, c_uint]),
    "aes_expand": (None, [c_void_p]),
    "aes_begin": (None, [c_void_p, c_void_p]),
    "aes_encrypt": (c_bool, [c_void_p, c_void_p, c_uint]),
    "aes_decrypt": (c_bool, [c_void_p, c_void_p, c_uint]),
    "aes_end": (None, [c_void_p, c_void_p]),
}
for _name, (_result, _arguments) in _SIGNATURES.items():
    getattr(CORE, _name).restype = _result
    getattr(CORE, _name).argtypes = _arguments


def expanded(key: bytes) -> ctypes.Array:
    """After the last step, a further one changes nothing."""
    found = ctypes.create_string_buffer(KEY_SIZE)
    CORE.aes_set_key(found, key, len(key))
    for _ in range(len(key) // 4 + 9):
        CORE.aes_expand(found)
    last = found.raw
    CORE.aes_expand(found)
    assert found.raw == last
    return found


def crypt(function: str, key: ctypes.Array, block: bytes, counts: list[int]) -> bytes:
    """Does `counts` rounds at a time."""
    state, data = ctypes.create_string_buffer(STATE_SIZE), (ctypes.c_uint64 * 2).from_buffer_copy(block)
    CORE.aes_begin(state, data)
    for count in cycle(counts):
        if getattr(CORE, function)(state, key, count):
            break
    CORE.aes_end(state, data)
    return bytes(data)


@pytest.mark.parametrize("function", ["aes_encrypt", "aes_decrypt"])
def test_a_call_does_so_many_rounds(function: str):
    key, state = expanded(bytes(16)), ctypes.create_string_buffer(STATE_SIZE)
    CORE.aes_begin(state, bytes(16))
    assert [getattr(CORE, function)(state, key, count) for count in (0, 3, 6, 1)] == [False, False, False, True]


# FIPS 197, appendix C: the key is 00 01 02 ..., the block 00 11 22 ...
BLOCK = bytes(0x11 * i for i in range(16))
EXAMPLES = {
    16: "69c4e0d86a7b0430d8cdb78070b4c55a",
    24: "dda97ca4864cdfe06eaf70a0ec0d7191",
    32: "8ea2b7ca516745bfeafc49904b496089",
}


@pytest.mark.parametrize(("size", "cipher"), EXAMPLES.items())
def test_examples(size: int, cipher: str):
    key, encrypted = bytes(range(size)), bytes.fromhex(cipher)
    assert aes_model.encrypt_block(key, BLOCK) == encrypted
    assert aes_model.decrypt_block(key, encrypted) == BLOCK
    assert crypt("aes_encrypt", expanded(key), BLOCK, [14]) == encrypted
    assert crypt("aes_decrypt", expanded(key), encrypted, [14]) == BLOCK


KEYS = st.sampled_from(aes_model.SIZES).flatmap(lambda size: st.binary(min_size=size, max_size=size))
COUNTS = st.lists(st.integers(1, 15), min_size=1, max_size=4)


@settings(max_examples=examples(100, 2000), deadline=None, derandomize=True)
@given(KEYS, st.binary(min_size=16, max_size=16), COUNTS)
@example(bytes(16), bytes(16), [1])
@example(b"\xff" * 32, b"\xff" * 16, [3])
def test_blocks(key: bytes, block: bytes, counts: list[int]):
    there, back = aes_model.encrypt_block(key, block), aes_model.decrypt_block(key, block)
    assert crypt("aes_encrypt", expanded(key), block, counts) == there
    assert crypt("aes_decrypt", expanded(key), block, counts) == back


def test_all_bytes():
    """Each byte value at each place: all inputs of SubBytes in each bit of the planes."""
    key = expanded(bytes(16))
    for value in range(256):
        block = bytes((value + 17 * i) & 0xFF for i in range(16))
        assert crypt("aes_encrypt", key, block, [10]) == aes_model.encrypt_block(bytes(16), block)
        assert crypt("aes_decrypt", key, block, [10]) == aes_model.decrypt_block(bytes(16), block)
