# SPDX-License-Identifier: Apache-2.0
"""AES from the definitions of FIPS 197, byte by byte, and its CBC mode (NIST SP 800-38A, section 6.2)."""

from functools import cache
from itertools import pairwise

BLOCK = 16
SIZES = (16, 24, 32)  # of keys


@cache
def multiply(a: int, b: int) -> int:
    """In GF(2^8), section 4.2."""
    product = 0
    for bit in range(8):
        if b >> bit & 1:
            product ^= a << bit
    for bit in range(14, 7, -1):
        if product >> bit & 1:
            product ^= 0x11B << bit - 8
    return product


def _substitute(value: int) -> int:
    """Section 5.1.1: the inverse, and an affine transformation."""
    inverse = next((x for x in range(256) if multiply(x, value) == 1), 0)
    bits = [
        inverse >> i ^ inverse >> (i + 4) % 8 ^ inverse >> (i + 5) % 8 ^ inverse >> (i + 6) % 8 ^ inverse >> (i + 7) % 8
        for i in range(8)
    ]
    return sum((bit & 1) << i for i, bit in enumerate(bits)) ^ 0x63


SBOX = [_substitute(value) for value in range(256)]
INVERSE = [SBOX.index(value) for value in range(256)]


def exclusive_or(a: bytes, b: bytes) -> bytes:
    return bytes(x ^ y for x, y in zip(a, b, strict=True))


def expand(key: bytes) -> list[bytes]:
    """The keys of the rounds, section 5.2."""
    words = [key[i : i + 4] for i in range(0, len(key), 4)]
    size, constant = len(words), 1
    for i in range(size, 4 * (size + 7)):
        word = words[-1]
        if i % size == 0:
            word = bytes(SBOX[byte] for byte in word[1:] + word[:1])
            word = bytes([word[0] ^ constant]) + word[1:]
            constant = multiply(constant, 2)
        elif size > 6 and i % size == 4:
            word = bytes(SBOX[byte] for byte in word)
        words.append(exclusive_or(words[i - size], word))
    return [b"".join(words[i : i + 4]) for i in range(0, len(words), 4)]


def _mix(block: bytes, row: tuple[int, ...]) -> bytes:
    """Multiplies each column by the circulant matrix with this first row."""
    mixed = bytearray(BLOCK)
    for place in range(BLOCK):
        column = 4 * (place // 4)
        for i in range(4):
            mixed[place] ^= multiply(row[(i - place) % 4], block[column + i])
    return bytes(mixed)


def encrypt_block(key: bytes, block: bytes) -> bytes:
    first, *others = expand(key)
    state = exclusive_or(block, first)
    for number, round_key in enumerate(others, 1):
        state = bytes(SBOX[state[(5 * place) % BLOCK]] for place in range(BLOCK))  # and ShiftRows
        state = exclusive_or(_mix(state, (2, 3, 1, 1)) if number < len(others) else state, round_key)
    return state


def decrypt_block(key: bytes, block: bytes) -> bytes:
    *others, last = expand(key)
    state = exclusive_or(block, last)
    for number, round_key in reversed(list(enumerate(others))):
        state = bytes(INVERSE[state[(13 * place) % BLOCK]] for place in range(BLOCK))
        state = exclusive_or(state, round_key)
        state = _mix(state, (14, 11, 13, 9)) if number else state
    return state


def _blocks(data: bytes) -> list[bytes]:
    return [data[i : i + BLOCK] for i in range(0, len(data), BLOCK)]


def encrypt_cbc(key: bytes, vector: bytes, data: bytes) -> bytes:
    found = [vector]
    for block in _blocks(data):
        found.append(encrypt_block(key, exclusive_or(found[-1], block)))
    return b"".join(found[1:])


def decrypt_cbc(key: bytes, vector: bytes, data: bytes) -> bytes:
    blocks = [vector, *_blocks(data)]
    return b"".join(exclusive_or(before, decrypt_block(key, block)) for before, block in pairwise(blocks))
