# SPDX-License-Identifier: Apache-2.0
"""
Makes an SD card's image for the Genesys2: `sdimage.py --out FILE --firmware FILE --image FILE`. Write it to the card as
it is.

The card has one FAT32 partition. LiteX's boot program reads boot.json on it, copies each file that it names to its
address in DRAM, and starts the firmware with a0 and a1 (r1 and r2 there). A bitstream in the root folder configures the
FPGA when the board is switched on, if its jumper selects the SD card.
"""

import argparse
import json
import os
import struct
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tessera.fabric import series7

SECTOR = 512  # bytes
START = 2048  # first sector of the partition
FAT32 = 0x0C  # type of the partition
SIZE = 288 << 20  # of the partition
CLUSTER = 8  # sectors: 73,000 clusters; FAT32 has at least 65,525

FIRMWARE = 0x8000_0000
IMAGE = 0x8020_0000
TREE = 0xBFF0_0000  # soc_rom.sv
END = 0xC000_0000
JSON_SIZE = 1024  # LiteX's buffer for boot.json
NAME_SIZE = 31  # and for a name in it
# Members of boot.json with a meaning; LiteX compares the first letters of a name.
_WORDS = ("bootargs", "addr", "r1", "r2", "r3")


class CardError(ValueError):
    """A file that does not fit; the text names it and what was expected."""


@dataclass(frozen=True)
class Load:
    """A file that is copied into DRAM: its name on the card, its address, and where the next thing begins."""

    name: str
    path: Path
    address: int
    end: int


def loads(firmware: Path, image: Path, tree: Path | None) -> list[Load]:
    """The files for DRAM, firmware first."""
    found = [Load("firmware.bin", firmware, FIRMWARE, IMAGE), Load("tessera.bin", image, IMAGE, TREE)]
    return found if tree is None else [*found, Load("board.dtb", tree, TREE, END)]


def boot_json(files: list[Load], tree: bool) -> bytes:
    """
    boot.json. It ends with a byte 0: LiteX searches for the end of a text in a buffer that it has not cleared.
    """
    members = {file.name: f"{file.address:#x}" for file in files}
    members |= {"r1": "0x0", "r2": f"{TREE if tree else 0:#x}", "addr": f"{FIRMWARE:#x}"}
    data = json.dumps(members, indent=1).encode() + b"\n\0"
    if len(data) > JSON_SIZE:
        raise CardError(f"boot.json has {len(data)} bytes, LiteX reads {JSON_SIZE}")
    return data


def check(files: list[Load]) -> None:
    """Raises CardError for a file that is missing, empty, too large for its place, or has a name LiteX cannot read."""
    for file in files:
        if not file.path.is_file():
            raise CardError(f"{file.path}: no such file (for {file.name})")
        size, most = file.path.stat().st_size, file.end - file.address
        if not 0 < size <= most:
            raise CardError(
                f"{file.path}: {size} bytes, expected 1 to {most}: {file.name} is loaded to {file.address:#x}"
            )
        if len(file.name) > NAME_SIZE or file.name.startswith(_WORDS):
            raise CardError(f"{file.name}: LiteX cannot read this name in boot.json")


def check_bitstream(path: Path) -> None:
    """Raises CardError for what the board's own configuration from the card does not take: it wants a .bit file."""
    if not path.is_file():
        raise CardError(f"{path}: no such file")
    data = path.read_bytes()
    if not data.startswith(series7.BIT_START):
        raise CardError(f"{path}: expected a .bit file of Vivado, which begins with 00 09")
    try:
        series7.words_of(data)
    except series7.Series7Error as error:
        raise CardError(f"{path}: {error}") from error


def _mtools(command: str, *arguments: str, data: bytes | None = None) -> None:
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1767225600", "TZ": "UTC", "MTOOLS_SKIP_CHECK": "1"}
    done = subprocess.run([command, *arguments], env=environment, capture_output=True, input=data, check=False)
    if done.returncode:
        raise CardError(f"{command}: {done.stderr.decode(errors='replace').strip()}")


def partition_table(sectors: int) -> bytes:
    """The first sector: one partition, addressed by sectors."""
    entry = struct.pack("<B3sB3sII", 0, b"\xfe\xff\xff", FAT32, b"\xfe\xff\xff", START, sectors)
    return bytes(446) + entry + bytes(48) + b"\x55\xaa"


def write_card(out: Path, files: list[Load], others: list[Path], json_data: bytes) -> None:
    """Writes the image. `others` keep their names."""
    sectors = SIZE // SECTOR
    needed = sum(path.stat().st_size for path in [*(file.path for file in files), *others])
    if needed > SIZE * 9 // 10:
        raise CardError(f"the files have {needed} bytes, the card has {SIZE}")
    with open(out, "wb") as card:
        card.write(partition_table(sectors))
        card.truncate(START * SECTOR + SIZE)
    drive = f"{out}@@{START * SECTOR}"
    geometry = ["-h", "64", "-s", "32", "-c", str(CLUSTER)]
    _mtools("mformat", "-i", drive, "-F", "-T", str(sectors), *geometry, "-N", "54455353", "-v", "TESSERA", "::")
    for file in files:
        _mtools("mcopy", "-i", drive, str(file.path), f"::{file.name}")
    for path in others:
        _mtools("mcopy", "-i", drive, str(path), f"::{path.name}")
    _mtools("mcopy", "-i", drive, "-", "::boot.json", data=json_data)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--firmware", type=Path, required=True, help="runs at 0x80000000, in M-mode")
    parser.add_argument("--image", type=Path, required=True, help="the hypervisor with its system, for 0x80200000")
    parser.add_argument("--tree", type=Path, help="a device tree for the firmware")
    parser.add_argument("--bitstream", type=Path, help="configures the FPGA from the card")
    arguments = parser.parse_args()
    files = loads(arguments.firmware, arguments.image, arguments.tree)
    others = [arguments.bitstream] if arguments.bitstream else []
    try:
        check(files)
        for path in others:
            check_bitstream(path)
        write_card(arguments.out, files, others, boot_json(files, arguments.tree is not None))
    except CardError as error:
        print(f"sdimage.py: {error}", file=sys.stderr)
        return 1
    names = [*(file.name for file in files), *(path.name for path in others), "boot.json"]
    print(f"{arguments.out}: {', '.join(names)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
