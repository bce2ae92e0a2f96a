# SPDX-License-Identifier: Apache-2.0
"""Writes partial bitstreams with the packets of a 7-series device, as Vivado's are (UG470, chapter 5), for tests."""

import struct
from dataclasses import dataclass, field

DUMMY, SYNC, NOP = 0xFFFFFFFF, 0xAA995566, 0x20000000
CRC, FAR, FDRI, CMD, CTL0, MASK, COR1, IDCODE = 0, 1, 2, 4, 5, 6, 14, 12
NULL, WCFG, LFRM, START, RCRC, GRESTORE, DESYNC = 0, 1, 3, 5, 7, 10, 13
DEVICE = 0x33651093  # XC7K325T, revision 3 of the silicon
FRAME = 101


def write1(register: int, *data: int) -> list[int]:
    return [1 << 29 | 2 << 27 | register << 13 | len(data), *data]


def write2(register: int, data: list[int]) -> list[int]:
    return [1 << 29 | 2 << 27 | register << 13, 2 << 29 | 2 << 27 | len(data), *data]


def crc(register: int, word: int, value: int) -> int:
    """A bit at a time, as the device's shift register."""
    both = register << 32 | word
    for bit in range(37):
        odd = (both >> bit ^ value) & 1
        value = value >> 1 ^ (0x82F63B78 if odd else 0)
    return value


def checksum(words: list[int]) -> int:
    """Of all writes of a list of packets since the last RCRC or CRC."""
    value, at, register = 0, 0, 0
    while at < len(words):
        head = words[at]
        count = head & (0x7FFFFFF if head >> 29 == 2 else 0x7FF)
        register = register if head >> 29 == 2 else head >> 13 & 0x1F
        for word in words[at + 1 : at + 1 + count]:
            value = 0 if register == CRC else crc(register, word, value)
            value = 0 if (register, word) == (CMD, RCRC) else value
        at += 1 + count
    return value


@dataclass
class Writer:
    """The parts of a partial bitstream; a test changes one."""

    idcode: int = DEVICE
    blocks: list[tuple[int, int]] = field(default_factory=lambda: [(0x0042_0580, 6), (0x00C2_0100, 129)])
    before: list[int] = field(default_factory=lambda: [DUMMY] * 8 + [0x000000BB, 0x11220044, DUMMY, DUMMY])
    extra: list[int] = field(default_factory=list)  # before the frames
    with_crc: bool = True
    end: list[int] = field(default_factory=lambda: write1(CMD, DESYNC))

    def frames(self) -> list[int]:
        found: list[int] = []
        for address, count in self.blocks:
            data = [(0x9E3779B9 * (address + i + 1)) & 0xFFFFFFFF for i in range(count * FRAME)]
            found += [*write1(FAR, address), *write1(CMD, WCFG), NOP, *write2(FDRI, data)]
        return found

    def words(self) -> list[int]:
        packets = [NOP, *write1(CMD, RCRC), NOP, NOP, *write1(IDCODE, self.idcode), *write1(CMD, NULL)]
        packets += [*write1(MASK, 0x100), *write1(CTL0, 0x100), *write1(COR1, 0), *self.extra, *self.frames()]
        if self.with_crc:
            packets += write1(CRC, checksum(packets))
        tail = [*write1(CMD, LFRM), NOP, NOP, *write1(CMD, GRESTORE), *write1(CMD, START), *write1(MASK, 0x100)]
        packets += tail
        if self.with_crc:
            packets += write1(CRC, checksum(packets))
        return [*self.before, SYNC, *packets, *self.end, NOP, NOP]

    def bin(self) -> bytes:
        words = self.words()
        return struct.pack(f">{len(words)}I", *words)

    def bit(self) -> bytes:
        return bit_file(self.bin())


def bit_file(body: bytes) -> bytes:
    """A .bit file: its header, and the words."""
    fields = {"a": "genesys2;UserID=0XFFFFFFFF;PARTIAL=TRUE;Version=2024.1", "b": "7k325tffg900"}
    fields |= {"c": "2026/11/26", "d": "12:00:00"}
    header = b"\x00\x09\x0f\xf0\x0f\xf0\x0f\xf0\x0f\xf0\x00\x00\x01"
    for key, text in fields.items():
        value = text.encode() + b"\0"
        header += key.encode() + len(value).to_bytes(2) + value
    return header + b"e" + len(body).to_bytes(4) + body
