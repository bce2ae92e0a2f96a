# SPDX-License-Identifier: Apache-2.0
"""A model of the chip that the SPI face shows to a VM."""

from spi_driver import (
    CLSR,
    E_ERR,
    FAST,
    P_ERR,
    PAGE,
    PP,
    RDCR,
    RDID,
    RDSR,
    READ,
    S25FL128S1,
    SE,
    SECTOR,
    WEL,
    WIP,
    WRDI,
    WREN,
)


class Chip:
    """A model of an S25FL128S with a window of the flash behind it."""

    SIZE = 1 << 24

    def __init__(self, data: bytes):
        self.data = bytearray(data)
        self.enabled = False
        self.errors = 0
        self.command = b""

    def _at(self, address: int) -> int:
        return self.data[address] if address < len(self.data) else 0xFF

    def _status(self) -> int:
        return self.errors | (WEL if self.enabled else 0) | (WIP if self.errors else 0)

    def _answer(self, number: int) -> int:
        """What comes back during byte `number` of the command."""
        code = self.command[0]
        first = {READ: 4, FAST: 5}.get(code)
        if code == RDSR:
            return self._status()
        if self.errors:
            return 0xFF
        if code == RDID:
            return S25FL128S1[number - 1] if number <= 6 else 0xFF
        if first is not None and number >= first:
            return self._at((int.from_bytes(self.command[1:4], "big") + number - first) % self.SIZE)
        return 0 if code == RDCR else 0xFF

    def exchange(self, byte: int) -> int:
        self.command += bytes([byte])
        if len(self.command) > 1:
            return self._answer(len(self.command) - 1)
        self._simple(byte)
        return 0xFF

    def _simple(self, code: int) -> None:
        if code == CLSR:
            self.errors = 0
        elif not self.errors and code in (WREN, WRDI):
            self.enabled = code == WREN

    def deselect(self) -> bool:
        """Returns whether an operation has begun that changes the flash."""
        command, self.command = self.command, b""
        if len(command) < 4 or not self.enabled or self.errors:
            return False
        address = int.from_bytes(command[1:4], "big")
        if command[0] == PP and len(command) > 4:
            self._end(P_ERR, address, self._program, command[4:])
        elif command[0] == SE and len(command) == 4:
            self._end(E_ERR, address, self._erase, b"")
        else:
            return False
        return True

    def _end(self, error: int, address: int, action, data: bytes) -> None:
        if address >= len(self.data):
            self.errors = error
            return
        action(address, data)
        self.enabled = False

    def _program(self, address: int, data: bytes) -> None:
        page = bytearray(b"\xff" * PAGE)
        for number, byte in enumerate(data):
            page[(address + number) % PAGE] = byte
        base = address - address % PAGE
        for number, byte in enumerate(page):
            self.data[base + number] &= byte

    def _erase(self, address: int, _: bytes) -> None:
        base = address - address % SECTOR
        self.data[base : base + SECTOR] = b"\xff" * SECTOR
