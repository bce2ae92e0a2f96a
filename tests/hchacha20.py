# SPDX-License-Identifier: Apache-2.0
"""HChaCha20 (draft-irtf-cfrg-xchacha-03, section 2.2), the reference for the hypervisor's
implementation."""

import struct


def _rotated(value: int, bits: int) -> int:
    return (value << bits | value >> 32 - bits) & 0xFFFFFFFF


def _quarter(s: list[int], a: int, b: int, c: int, d: int) -> None:
    for x, y, z, bits in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
        s[x] = (s[x] + s[y]) & 0xFFFFFFFF
        s[z] = _rotated(s[z] ^ s[x], bits)


def hchacha20(key: bytes, data: bytes) -> bytes:
    s = list(struct.unpack("<16I", b"expand 32-byte k" + key + data))
    for _ in range(10):
        for i in range(4):
            _quarter(s, i, 4 + i, 8 + i, 12 + i)
        for i in range(4):
            _quarter(s, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
    return struct.pack("<8I", *s[:4], *s[12:])
