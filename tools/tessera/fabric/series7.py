# SPDX-License-Identifier: Apache-2.0
"""
Partial bitstreams of Xilinx' 7-series devices: reads what Vivado writes, .bit or .bin, and checks it.

A .bit file has a header of tagged fields before the words of the bitstream, a .bin file has only the words. These have
32 bits, the first byte in the file is the highest. The words before the sync word do not matter to the device. After
it come packets (UG470, chapter 5): type 1 names a register and has up to 2047 words, type 2 has the words for the
register of the type 1 before it. A write to FAR sets a frame's address, FDRI takes frames from there on.

The checksum (CRC register) covers each word written to a register, together with the register's number. It is 0 after
the command RCRC and after each comparison.
"""

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cache

SYNC = 0xAA995566
NOP = 0x20000000
FRAME_WORDS = 101
WORD = 4  # bytes
# XC7K325T: the device of the Genesys2. The four highest bits are the revision of the silicon.
IDCODES = {"xc7k325t": 0x03651093}
_REVISION = 0x0FFF_FFFF

_TYPE_SHIFT, _OPERATION_SHIFT = 29, 27
_REGISTER_SHIFT, _REGISTER_MASK = 13, 0x1F
_COUNT_1, _COUNT_2 = 0x7FF, 0x7FF_FFFF
_WRITE = 2
_RESERVED = 0x07FC1800  # bits of a packet of type 1 that are 0
_DUMMY = 0xFFFFFFFF
_POLYNOMIAL = 0x82F63B78  # CRC-32C, the lowest bit first
_HEADER = b"\x00\x09\x0f\xf0\x0f\xf0\x0f\xf0\x0f\xf0\x00\x00\x01"
BIT_START = _HEADER[:2]  # of a .bit file
_BEFORE_SYNC = {0xFFFFFFFF, 0x000000BB, 0x11220044}  # dummy words, and the pattern that tells the bus width


class Series7Error(ValueError):
    """A file that is no partial bitstream for the device; the text names what was expected, and where."""


class Register(IntEnum):
    """The registers that a partial bitstream may write."""

    CRC = 0
    FAR = 1
    FDRI = 2
    CMD = 4
    CTL0 = 5
    MASK = 6
    COR0 = 9
    MFWR = 10
    IDCODE = 12
    COR1 = 14
    CTL1 = 24


# Only a bitstream of the whole device writes these: they control how it starts.
_WHOLE_DEVICE = {16: "WBSTAR", 17: "TIMER", 22: "BOOTSTS", 31: "BSPI"}


class Command(IntEnum):
    """The commands that a partial bitstream may have. Others stop the device or load it anew."""

    NULL = 0
    WCFG = 1
    LFRM = 3
    START = 5
    RCRC = 7
    GRESTORE = 10
    DESYNC = 13


_IPROG = 15


@dataclass(frozen=True)
class Frames:
    """Frames that a write to FDRI configures: the address of the first one, and their number, padding included."""

    first: int
    count: int


@dataclass(frozen=True)
class Write:
    """A write to a register: the position of its packet in words of the file's bitstream, and the data."""

    at: int
    register: int
    data: tuple[int, ...]


@dataclass
class Partial:
    """A checked partial bitstream."""

    words: tuple[int, ...]
    frames: list[Frames] = field(default_factory=list)


def words_of(data: bytes) -> tuple[int, ...]:
    """The words of a .bit or .bin file. Raises Series7Error."""
    body = _after_header(data) if data.startswith(BIT_START) else data
    if len(body) == 0 or len(body) % WORD:
        raise Series7Error(f"expected whole words of {WORD} bytes, got {len(body)} bytes")
    return struct.unpack(f">{len(body) // WORD}I", body)


def _after_header(data: bytes) -> bytes:
    """What follows the header of a .bit file: fields a to d, each a text with its length, and e, the bitstream."""
    if not data.startswith(_HEADER):
        raise Series7Error("the header of a .bit file is damaged: expected 00 09, nine bytes and 00 01")
    at = len(_HEADER)
    for key in b"abcd":
        if data[at : at + 1] != bytes([key]) or len(data) < at + 3:
            raise Series7Error(f"the header of a .bit file has no field {chr(key)!r} at byte {at}")
        at += 3 + int.from_bytes(data[at + 1 : at + 3])
    if data[at : at + 1] != b"e":
        raise Series7Error(f"the header of a .bit file has no field 'e' at byte {at}")
    length = int.from_bytes(data[at + 1 : at + 5])
    body = data[at + 5 :]
    if length != len(body):
        raise Series7Error(f"the header of a .bit file announces {length} bytes of bitstream, the file has {len(body)}")
    return body


def _sync_position(words: tuple[int, ...]) -> int:
    """The position of the first packet."""
    for position, word in enumerate(words):
        if word == SYNC:
            return position + 1
        if word not in _BEFORE_SYNC:
            break
    swapped = int(f"{SYNC:032b}"[::-1], 2).to_bytes(4, "little")
    hint = ""
    if int.from_bytes(swapped) in words or int.from_bytes(SYNC.to_bytes(4, "little")) in words:
        hint = "; the order of bits or bytes is another one: take Vivado's own .bit or .bin"
    raise Series7Error(f"expected the sync word {SYNC:#x} after words that do not matter{hint}")


def _read_head(at: int, head: int, before: int | None) -> tuple[int, int]:
    """The register and the number of words of a write."""
    kind, operation = head >> _TYPE_SHIFT, head >> _OPERATION_SHIFT & 3
    if kind in (1, 2) and operation != _WRITE:
        raise Series7Error(f"word {at}: expected a write or NOP, got {head:#010x}")
    if kind == 1 and not head & _RESERVED:
        return head >> _REGISTER_SHIFT & _REGISTER_MASK, head & _COUNT_1
    if kind == 2 and before is not None:
        return before, head & _COUNT_2
    raise Series7Error(f"word {at}: expected a packet of type 1, or 2 after one of type 1, got {head:#010x}")


def packets(words: tuple[int, ...], at: int) -> Iterator[Write]:
    """The writes of the packets from word `at` to DESYNC. Raises Series7Error for what is no packet."""
    before = None  # the register of a write without words, which a packet of type 2 continues
    while at < len(words):
        if words[at] == NOP:
            before, at = None, at + 1
            continue
        register, count = _read_head(at, words[at], before)
        data = words[at + 1 : at + 1 + count]
        if len(data) < count:
            raise Series7Error(f"word {at}: a packet of {count} words, but {len(data)} follow: the file is truncated")
        before = register if count == 0 else None
        if count:
            yield Write(at, register, data)
        at += 1 + count
        if (register, data) == (Register.CMD, (Command.DESYNC,)):
            _check_end(words, at)
            return


def _check_end(words: tuple[int, ...], at: int) -> None:
    """After DESYNC the device looks for the next sync word, not for packets."""
    for position, word in enumerate(words[at:], at):
        if word not in (NOP, _DUMMY):
            raise Series7Error(f"word {position}: {word:#010x} after DESYNC, which ends a bitstream")


@cache
def _table() -> list[int]:
    table = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = value >> 1 ^ (_POLYNOMIAL if value & 1 else 0)
        table.append(value)
    return table


def checksum(register: int, data: tuple[int, ...], value: int = 0) -> int:
    """The checksum after a write, of 37 bits for each word: the word, and the register's number."""
    table = _table()
    for word in data:
        value ^= word
        for _ in range(WORD):
            value = value >> 8 ^ table[value & 0xFF]
        value ^= register
        for _ in range(5):
            value = value >> 1 ^ (_POLYNOMIAL if value & 1 else 0)
    return value


class _Checker:
    """Follows the writes as the device does."""

    def __init__(self, idcode: int) -> None:
        self.idcode = idcode
        self.identified = self.desynced = False
        self.command = 0
        self.address: int | None = None
        self.value = self.compared = 0
        self.frames: list[Frames] = []

    def take(self, write: Write) -> None:
        where = f"word {write.at}"
        if write.register in _WHOLE_DEVICE:
            what = _WHOLE_DEVICE[write.register]
            raise Series7Error(f"{where}: writes {what}, as only a bitstream of the whole device does")
        if write.register not in list(Register):
            raise Series7Error(f"{where}: writes register {write.register}, which a partial bitstream does not need")
        if len(write.data) != 1 and write.register not in (Register.FDRI, Register.MFWR):
            raise Series7Error(f"{where}: writes {len(write.data)} words to register {write.register}, which takes one")
        if write.register == Register.CRC:
            self._compare(where, write.data[-1])
        else:
            self.value = checksum(write.register, write.data, self.value)
        action = {Register.IDCODE: self._identify, Register.CMD: self._run, Register.FDRI: self._configure}
        action |= {Register.FAR: self._seek, Register.MFWR: self._repeat}
        if write.register in action:
            action[Register(write.register)](where, write.data)

    def _compare(self, where: str, expected: int) -> None:
        if self.value != expected:
            raise Series7Error(f"{where}: the checksum is {expected:#010x}, that of the words is {self.value:#010x}")
        self.value = 0
        self.compared += 1

    def _identify(self, where: str, data: tuple[int, ...]) -> None:
        if (data[-1] ^ self.idcode) & _REVISION:
            raise Series7Error(f"{where}: is for the device {data[-1]:#010x}, expected {self.idcode:#010x}")
        self.identified = True

    def _run(self, where: str, data: tuple[int, ...]) -> None:
        self.command = data[-1]
        if self.command == _IPROG:
            raise Series7Error(f"{where}: the command IPROG would load the whole device anew")
        if self.command not in list(Command):
            raise Series7Error(f"{where}: has the command {self.command:#x}, which a partial bitstream does not need")
        if self.command == Command.RCRC:
            self.value = 0
        self.desynced = self.command == Command.DESYNC

    def _seek(self, where: str, data: tuple[int, ...]) -> None:
        self.address = data[-1]

    def _repeat(self, where: str, data: tuple[int, ...]) -> None:
        raise Series7Error(f"{where}: is compressed; write it with BITSTREAM.GENERAL.COMPRESS FALSE")

    def _configure(self, where: str, data: tuple[int, ...]) -> None:
        if not self.identified:
            raise Series7Error(f"{where}: writes frames before the device's IDCODE was compared")
        if self.command != Command.WCFG or self.address is None:
            raise Series7Error(f"{where}: writes frames without the command WCFG and a frame address before them")
        if len(data) % FRAME_WORDS:
            raise Series7Error(f"{where}: expected whole frames of {FRAME_WORDS} words, got {len(data)} words")
        self.frames.append(Frames(self.address, len(data) // FRAME_WORDS))
        self.address = None

    def finish(self) -> None:
        if not self.frames:
            raise Series7Error("it writes no frames")
        if not self.compared:
            raise Series7Error("it has no checksum; write it with BITSTREAM.GENERAL.CRC ENABLE")
        if not self.desynced:
            raise Series7Error("expected DESYNC as its last command: it is truncated")


def read(data: bytes, device: str = "xc7k325t") -> Partial:
    """Reads and checks a partial bitstream, a .bit or .bin file. Raises Series7Error."""
    words = words_of(data)
    return Partial(words, _frames(words, IDCODES[device]))


def _frames(words: tuple[int, ...], idcode: int) -> list[Frames]:
    """Checks the words of a partial bitstream; returns the frames that it writes."""
    checker = _Checker(idcode)
    for write in packets(words, _sync_position(words)):
        checker.take(write)
    checker.finish()
    return checker.frames


def check(words: tuple[int, ...], idcode: int, blocks: Iterable[Frames]) -> None:
    """
    Checks the words of a partial bitstream as the hypervisor does (devices/accel/series7.c), and their checksums. Each
    write of frames begins with one of `blocks` and is not longer. Raises Series7Error.
    """
    counts = {block.first: block.count for block in blocks}
    for frames in _frames(words, idcode):
        if frames.count > counts.get(frames.first, 0):
            expected = ", ".join(f"{count} from {first:#x}" for first, count in counts.items())
            raise Series7Error(f"expected frames of the region, {expected}, got {frames.count} from {frames.first:#x}")


def port_input(word: int) -> int:
    """What ICAPE2 expects for a word of the bitstream: the bits of each byte reversed (UG470, table 2-5)."""
    return int.from_bytes(int(f"{byte:08b}"[::-1], 2) for byte in word.to_bytes(WORD))
