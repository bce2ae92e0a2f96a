# SPDX-License-Identifier: Apache-2.0
"""virtio_copy(): every distance of both addresses from a multiple of 8, sizes around those that it treats apart."""

import ctypes

from core import CORE

SIZES = [*range(49), *range(63, 74), *range(126, 146), *range(262, 281)]
PLACE = 8  # of the copy


def test_copy():
    """The bytes around the copy stay."""
    source = bytes((13 + 167 * i) & 0xFF for i in range(320))
    words = (ctypes.c_uint64 * 40)()
    target = (ctypes.c_uint64 * 40)()
    ctypes.memmove(words, source, len(source))
    for to in range(PLACE, PLACE + 8):
        for at in range(8):
            for size in SIZES:
                ctypes.memset(target, 0xEE, 320)
                CORE.virtio_copy(
                    ctypes.c_void_p(ctypes.addressof(target) + to),
                    ctypes.c_void_p(ctypes.addressof(words) + at),
                    ctypes.c_size_t(size),
                )
                copied = source[at : at + size]
                assert bytes(target) == (b"\xee" * to + copied).ljust(320, b"\xee"), (to, at, size)
