# SPDX-License-Identifier: Apache-2.0
"""
The format of a bitstream in memory, as fpga/hw/rtl/config/icap_ctrl.sv reads it, and bitstreams for
the ICAP of the simulation (fpga/verify/sim/icap.sv).

All words have 32 bits, little-endian: the magic number; region, task and 16 zero bits; number of
words of the body; CRC-32 of these three words; the body; CRC-32 of the body.

The body consists of packets: 0xC5, region, task, 8 zero bits; number of the words that follow; the
address of the packet's first frame; the data of this and the next frames.

In a system image, a bitstream is followed by its tag (tag()).
"""

import hashlib
import re
import struct
import zlib
from dataclasses import dataclass

MAGIC = 0x53494D42  # "SIMB", the first letter in the most significant byte
HEAD = struct.Struct("<3I")
SUM = struct.Struct("<I")
OVERHEAD = HEAD.size + 2 * SUM.size  # bytes besides the body
STEP = 8  # bytes; the fabric's DMA reads memory in beats of this size

TAG_SIZE = 32  # bytes
KEY_SIZE = 32
FRAME_WORDS = 101

_PORT_MARK = 0xC5
_PORT_WORDS = 2  # of a packet, before the words that it counts
_LEAST_PACKET = 4  # words: with the frame's address and a word of data
_FRAMES_APART = 0x100  # frame addresses between the first frames of two regions (platform/qemu-virt/board.dts)
# The length of a body follows from the region's size: region 1 is twice as large as region 0.
_SMALLEST = 4000
_LARGEST_REGION = 2
_FILE_NAME = re.compile(r"([1-9][0-9]{0,2})-([0-7])(?:x([1-9][0-9]?))?\.bin")


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


def tag(data: bytes, key: bytes) -> bytes:
    """Returns the tag of a bitstream: BLAKE2b (RFC 7693) of all its bytes with the board's key."""
    return hashlib.blake2b(data, key=key, digest_size=TAG_SIZE).digest()


def packet(region: int, task: int, words: int, frame: int, slow: bool = False) -> bytes:
    """
    Returns a packet for the simulated ICAP: two words, the address of its first frame, and data, together `words`
    words after the first two. With `slow` the ICAP takes a word every other cycle; the hypervisor refuses that.
    """
    data = [(0x9E3779B9 * (index + 1)) & 0xFFFFFFFF for index in range(words)]
    data[:1] = [frame] * min(words, 1)
    return struct.pack(f"<{2 + words}I", _PORT_MARK << 24 | region << 16 | task << 8 | slow, words, *data)


def simulated(region: int, task: int, words: int = 64, body_region: int | None = None, slow: bool = False) -> bytes:
    """
    Returns a bitstream for the simulated ICAP, with a body of one packet() with `words`. `body_region` is the region
    that the ICAP writes, if another one than the header's.
    """
    written = region if body_region is None else body_region
    return wrap(region, task, packet(written, task, words, first_frame(written), slow))


def first_frame(region: int) -> int:
    """Returns the address of a region's first frame in simulation."""
    return region * _FRAMES_APART


def words_of(region: int) -> int:
    """Returns the words of the body of a region's simulated bitstream, an odd number: with header and
    checksums the size is a multiple of STEP."""
    return (_SMALLEST << min(region, _LARGEST_REGION)) + 1


def of_file(name: str) -> bytes | None:
    """
    Returns the simulated bitstream of a file `<task>-<region>.bin`, None for any other name.
    `<task>-<region>x<times>.bin` writes the region's frames so many times, an odd number: a large one for measurements.
    """
    found = _FILE_NAME.fullmatch(name)
    times = int(found[3] or 1) if found else 0
    if found is None or int(found[1]) > 255 or times % 2 == 0:
        return None
    task, region = int(found[1]), int(found[2])
    return wrap(region, task, packet(region, task, words_of(region) - _PORT_WORDS, first_frame(region)) * times)


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


def body_words(data: bytes) -> tuple[int, ...]:
    """Returns the words of the body of a bitstream that read_header() accepts."""
    return struct.unpack(f"<{len(data) // 4}I", data)[HEAD.size // 4 + 1 : -1]


def check_body(data: bytes, header: Header, first: int, frames: int) -> None:
    """
    Checks the packets of a bitstream that read_header() accepts, as the hypervisor does
    (devices/accel/bitstreams.c). The region has `frames` frames from the address `first` on. Raises BitstreamError.
    """
    words = body_words(data)
    at = 0
    while at < len(words):
        at += _check_packet(words[at:], header, range(first, first + frames))


def _check_packet(words: tuple[int, ...], header: Header, frames: range) -> int:
    """Checks the first packet; returns its words."""
    mark = _PORT_MARK << 24 | header.region << 16 | header.task << 8
    if words[0] != mark:
        raise BitstreamError(f"expected {mark:#x} as the first word of a packet, got {words[0]:#x}")
    most = len(words) - _PORT_WORDS
    if len(words) < _LEAST_PACKET or not _LEAST_PACKET - _PORT_WORDS <= words[1] <= most:
        got = words[1] if len(words) > 1 else "none"
        raise BitstreamError(f"expected a packet of 2 to {max(most, 2)} words after its first two, got {got}")
    last = words[2] + -(-(words[1] - 1) // FRAME_WORDS) - 1
    if words[2] not in frames or last not in frames:
        expected = f"expected frames from {frames.start:#x} to {frames.stop - 1:#x}"
        raise BitstreamError(f"{expected}, got a packet for {words[2]:#x} to {last:#x}")
    return words[1] + _PORT_WORDS


def _check_sum(what: str, data: bytes, following: bytes) -> None:
    (got,) = SUM.unpack_from(following)
    right = zlib.crc32(data)
    if got != right:
        raise BitstreamError(f"expected the CRC-32 of {what}, {right:#010x}, got {got:#010x}")
