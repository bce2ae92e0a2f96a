# SPDX-License-Identifier: Apache-2.0
"""devices/accel/blake2b.c against RFC 7693 and Python's hashlib."""

import ctypes
import hashlib
from ctypes import c_char_p, c_size_t, c_void_p

from core import CORE
from hypothesis import given
from hypothesis import strategies as st

BLOCK = 128
CORE.blake2b.restype = None
CORE.blake2b.argtypes = [c_void_p, c_size_t, c_char_p, c_size_t, c_char_p, c_size_t]

# RFC 7693, appendix A: BLAKE2b-512 of "abc".
ABC = bytes.fromhex(
    "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
    "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923"
)
# Appendix E: the hash of the hashes of these lengths, unkeyed and keyed, of sequences of seq().
SELF_TEST = bytes.fromhex("c23a7800d98123bd10f506c61e29da5603d763b8bbad2e737f5e765a7bccd475")


def blake2b(data: bytes, key: bytes = b"", size: int = 64) -> bytes:
    out = ctypes.create_string_buffer(size + 8)
    CORE.blake2b(out, size, key, len(key), data, len(data))
    assert out.raw[size:] == bytes(8), "bytes after the hash are written"
    return out.raw[:size]


def seq(length: int, seed: int) -> bytes:
    """RFC 7693, appendix E: selftest_seq()."""
    a, b = 0xDEAD4BAD * seed % 2**32, 1
    out = bytearray()
    for _ in range(length):
        a, b = b, (a + b) % 2**32
        out.append(b >> 24)
    return bytes(out)


def test_vector_of_the_rfc() -> None:
    assert blake2b(b"abc") == ABC


def test_self_test_of_the_rfc() -> None:
    hashes = b""
    for size in (20, 32, 48, 64):
        for length in (0, 3, 128, 129, 255, 1024):
            data = seq(length, length)
            hashes += blake2b(data, size=size) + blake2b(data, seq(size, size), size)
    assert blake2b(hashes, size=32) == SELF_TEST


def test_every_size_around_blocks() -> None:
    key = bytes(range(32))
    for size in [*range(4), *(block * BLOCK + by for block in range(1, 5) for by in (-1, 0, 1))]:
        data = seq(size, 7)
        assert blake2b(data, key, 32) == hashlib.blake2b(data, key=key, digest_size=32).digest()


@given(st.binary(max_size=5 * BLOCK), st.binary(max_size=64), st.integers(1, 64))
def test_hashes_are_those_of_hashlib(data: bytes, key: bytes, size: int) -> None:
    assert blake2b(data, key, size) == hashlib.blake2b(data, key=key, digest_size=size).digest()
