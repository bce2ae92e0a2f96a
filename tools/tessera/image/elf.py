# SPDX-License-Identifier: Apache-2.0
"""Reads the load address and the symbols of an ELF file."""

import struct
from dataclasses import dataclass

from tessera.image.problems import BuildError

_PT_LOAD = 1
_PHYSICAL = 0x1FFFFFFF  # the physical address of an address in kseg0 or kseg1
_SHT_SYMTAB = 2
_ET_EXEC = 2
_EM_MIPS = 8


@dataclass(frozen=True)
class Elf:
    """A little-endian ELF file, of 32 or 64 bits."""

    data: bytes

    @property
    def _wide(self) -> bool:
        return self.data[4] == 2

    def load_address(self) -> int:
        """Returns the lowest physical address of the loaded segments."""
        offset, size, count = self._table(32, 54) if self._wide else self._table(28, 42)
        layout = "<I20xQQ" if self._wide else "<I8xII"
        headers = [struct.unpack_from(layout, self.data, offset + n * size) for n in range(count)]
        return min(address for kind, address, size in headers if kind == _PT_LOAD and size)

    def symbol(self, wanted: str) -> int | None:
        """Returns the value of the symbol, None if there is no such symbol."""
        offset, size, count = self._table(40, 58) if self._wide else self._table(32, 46)
        layout = "<IIQQQQIIQQ" if self._wide else "<IIIIIIIIII"
        sections = [struct.unpack_from(layout, self.data, offset + n * size) for n in range(count)]
        for _, kind, _, _, start, length, link, _, _, entry in sections:
            if kind == _SHT_SYMTAB:
                strings = sections[link][4]
                for at in range(start, start + length, entry):
                    name, value = struct.unpack_from("<I4xQ" if self._wide else "<II", self.data, at)
                    if self._string(strings + name) == wanted:
                        return value
        return None

    def _table(self, offset_at: int, size_at: int) -> tuple[int, int, int]:
        """Returns file offset, entry size and number of entries of the program or section
        headers."""
        (offset,) = struct.unpack_from("<Q" if self._wide else "<I", self.data, offset_at)
        size, count = struct.unpack_from("<HH", self.data, size_at)
        return offset, size, count

    def _string(self, at: int) -> str:
        return self.data[at : self.data.index(b"\0", at)].decode()


def check_hypervisor(binary: bytes, elf: bytes, name: str, load_address: int) -> None:
    """Raises BuildError for a raw binary that does not end where the hypervisor expects the system
    image, or that is linked for another address: either would boot without any output. `elf` is the
    file that the binary was made from.
    """
    try:
        file = Elf(elf)
        start, end = file.load_address(), file.symbol("__hyp_end")
    except (struct.error, ValueError, IndexError):
        raise BuildError(f"{name}: expected an ELF file") from None
    if end is not None and elf[4] == 1:  # linked for kseg0
        start, end = start & _PHYSICAL, end & _PHYSICAL
    if start != load_address:
        raise BuildError(
            f"{name}: expected to be linked for {load_address:#x}, the board's load-address, got {start:#x}"
        )
    if end != load_address + len(binary):
        got = "no such symbol" if end is None else f"{end:#x}"
        where = f"{load_address + len(binary):#x}, where the raw binary ends"
        raise BuildError(f"{name}: expected __hyp_end at {where}, got {got} (are all sections in the binary?)")


def wrap(data: bytes, address: int) -> bytes:
    """Returns a 32-bit MIPS ELF file that loads `data` at `address`."""
    head, entry = 52, 32
    ident = b"\x7fELF\x01\x01\x01".ljust(16, b"\0")
    header = struct.pack("<HHIIIIIHHHHHH", _ET_EXEC, _EM_MIPS, 1, address, head, 0, 0, head, entry, 1, 0, 0, 0)
    segment = struct.pack("<IIIIIIII", _PT_LOAD, head + entry, address, address, len(data), len(data), 5, 4)
    return ident + header + segment + data
