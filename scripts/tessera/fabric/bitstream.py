# SPDX-License-Identifier: Apache-2.0
"""
The format of a bitstream in memory, as fpga/rtl/config/icap_ctrl.sv reads it, and bitstreams for
the configuration port of the simulation (fpga/sim/cfg_port.sv).

All words have 32 bits, little-endian: the magic number; region, task and 16 zero bits; number of
words of the body; CRC-32 of these three words; the body; CRC-32 of the body.
"""

import re
import struct
import zlib
from dataclasses import dataclass

MAGIC = 0x53494D42  # "SIMB", the first letter in the most significant byte
HEAD = struct.Struct("<3I")
SUM = struct.Struct("<I")
OVERHEAD = HEAD.size + 2 * SUM.size  # bytes besides the body
STEP = 8  # bytes; the fabric's DMA reads memory in beats of this size

_PORT_MARK = 0xC5
_PORT_WORDS = 2  # of the body, before the words that only set its length
# The length of a body follows from the region's size: region 1 is twice as large as region 0.
_SMALLEST = 4000
_LARGEST_REGION = 2
_FILE_NAME = re.compile(r"([1-9][0-9]{0,2})-([0-7])\.bin")


class BitstreamError(ValueError):
    """Data that is no bitstream; the text names what was expected and what was found."""


@dataclass(frozen=True)
class Header:
    """The region and the task of a bitstream, and the number of words of its body."""

    region: int
    task: int
    words: int


def wrap(region: int, task: int, body: bytes) -> bytes:
    """Returns the bitstream with this body, a multiple of 4 bytes."""
    head = HEAD.pack(MAGIC, region << 24 | task << 16, len(body) // 4)
    return head + SUM.pack(zlib.crc32(head)) + body + SUM.pack(zlib.crc32(body))


def simulated(region: int, task: int, words: int = 64, body_region: int | None = None, slow: bool = False) -> bytes:
    """
    Returns a bitstream for the simulated port, with a body of `words` words after the two that the
    port reads. `body_region` is the region that the port writes, if another one than the header's;
    with `slow` the port takes a word every other cycle.
    """
    written = region if body_region is None else body_region
    filler = [(0x9E3779B9 * (index + 1)) & 0xFFFFFFFF for index in range(words)]
    body = [_PORT_MARK << 24 | written << 16 | task << 8 | slow, words, *filler]
    return wrap(region, task, struct.pack(f"<{len(body)}I", *body))


def words_of(region: int) -> int:
    """Returns the words of the body of a region's simulated bitstream, an odd number: with header and
    checksums the size is a multiple of STEP."""
    return (_SMALLEST << min(region, _LARGEST_REGION)) + 1


def of_file(name: str) -> bytes | None:
    """Returns the simulated bitstream of a file `<task>-<region>.bin`, None for any other name."""
    found = _FILE_NAME.fullmatch(name)
    if found is None or int(found[1]) > 255:
        return None
    task, region = int(found[1]), int(found[2])
    return simulated(region, task, words_of(region) - _PORT_WORDS)


def read_header(data: bytes) -> Header:
    """Returns the header of a whole bitstream, after the checks of the fabric. Raises
    BitstreamError."""
    least = OVERHEAD + SUM.size
    if len(data) < least or len(data) % STEP:
        raise BitstreamError(f"expected {least} bytes or more, a multiple of {STEP}, got {len(data)}")
    magic, place, words = HEAD.unpack_from(data)
    if magic != MAGIC:
        raise BitstreamError(f"expected {MAGIC:#x} (SIMB) as the first word, got {magic:#x}")
    _check_sum("the header", data[: HEAD.size], data[HEAD.size :])
    if words * 4 + OVERHEAD != len(data):
        raise BitstreamError(f"expected {words * 4 + OVERHEAD} bytes, as its header says, got {len(data)}")
    if place & 0xFFFF:
        raise BitstreamError(f"expected 16 zero bits after region and task, got {place & 0xFFFF:#x}")
    _check_sum("the body", data[HEAD.size + SUM.size : -SUM.size], data[-SUM.size :])
    return Header(place >> 24, place >> 16 & 0xFF, words)


def _check_sum(what: str, data: bytes, following: bytes) -> None:
    (got,) = SUM.unpack_from(following)
    right = zlib.crc32(data)
    if got != right:
        raise BitstreamError(f"expected the CRC-32 of {what}, {right:#010x}, got {got:#010x}")
