#!/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Writes random blocks to the VM's part of the shared flash, reads them back, and copies what was read by the shared
copier; compares checksums after each step.

    python3 blocks.py [BLOCKS]

A block has 1,000 bytes; all are in the first sector of the VM's part, which is erased. Exit status 1 if a checksum is
wrong.
"""

import random
import sys
from binascii import crc32

from hardware_io import COPY, ERASE, FLASH, PROGRAM, READ, Channel, HardwareIo, Memory

SIZE = 1000
MOST = 65536 // SIZE  # that a sector holds


def main() -> int:
    """Writes, reads and copies the blocks, and prints what came out."""
    blocks = min(int(sys.argv[1]) if len(sys.argv) > 1 else 2, MOST)
    memory = Memory()
    written, read, copied = (memory.take(SIZE + 8) for _ in range(3))
    wrong = 0

    def checksum(at: int) -> int:
        return crc32(memory.bytes[at : at + SIZE])

    with HardwareIo(memory) as devices:
        flash, copier = Channel(devices, FLASH), Channel(devices, COPY)
        flash.run(ERASE, 0, 0)
        for number in range(blocks):
            memory.bytes[written : written + SIZE] = random.randbytes(SIZE)
            flash.run(PROGRAM, memory.address + written, SIZE, number * SIZE)
            flash.run(READ, memory.address + read, SIZE, number * SIZE)
            at = copied + number % 8  # any alignment
            copier.run(0, memory.address + at, SIZE, memory.address + read)
            sums = checksum(written), checksum(read), checksum(at)
            wrong += len(set(sums)) - 1
            print(f"blocks: {number}: written {sums[0]:08x}, read from the flash {sums[1]:08x}, copied {sums[2]:08x}")
        interrupts = devices.interrupts
    print(f"blocks: {'correct' if wrong == 0 else 'WRONG'}, slept until {interrupts} interrupts")
    return 0 if wrong == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
