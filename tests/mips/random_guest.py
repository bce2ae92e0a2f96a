# SPDX-License-Identifier: Apache-2.0
"""
Generates the image of a guest that executes random instructions, mostly those that exit to the
hypervisor.
"""

import random
import struct
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
WORDS = 0x2400  # from 0x80002000; more than the handler jumps to
CODE = 0x1000

REGISTERS = (2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 17, 0, 31, 29)
BASES = (4, 5, 6, 7, 12, 13, 14, 15, 0)
CP0_NUMBERS = (*range(19), 9, 9, 11, 12, 23, 25, 26, 28, 30, 31)
# TLBR, TLBWI, TLBINV, TLBINVF, TLBWR, TLBP, the TLB instructions of the root, ERET, DERET, WAIT,
# IRET, ERETNC.
CO_FUNCTIONS = (1, 2, 3, 4, 6, 8, 9, 10, 11, 12, 14, 16, 0x18, 0x1F, 0x20, 0x20, 0x38, 0x58)
LOADS_AND_STORES = (0x20, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x28, 0x29, 0x2A, 0x2B, 0x2E, 0x30, 0x33, 0x38)
OFFSETS = (0, 1, 2, 3, 4, 5, 6, 7, 8, 0x10, 0x100, 0x1000, 0x7FFC)
BRANCHES = (0x04, 0x05, 0x06, 0x07, 0x14, 0x15, 0x16, 0x17)
# SYSCALL, BREAK, SDBBP 0 and 1, an instruction of coprocessors 1 and 2.
EXCEPTIONS = (0x0C, 0x0D, 0x7000003F, 0x7000007F, 0x46000000, 0x48000000)


def cp0_move(rng: random.Random) -> int:
    """MFC0, MTC0, DI, EI, RDPGPR, WRPGPR; MFGC0 and the like, which only the root may execute."""
    rs, rt = rng.choice((0, 0, 4, 4, 2, 6, 3, 10, 14, 11)), rng.choice(REGISTERS)
    number, select = rng.choice(CP0_NUMBERS), rng.choice((0, 0, 0, 1, 2, 3, 4, 5, 6, 7))
    if rs == 11:
        return 0x41606000 | rt << 16 | rng.randrange(2) << 5
    if (number, select) == (31, 2):
        select = 3  # reserved for the handler
    kind = rng.randrange(4) << 9 if rs == 3 else 0
    return 0x40000000 | rs << 21 | rt << 16 | number << 11 | kind | select


def set_register(rng: random.Random) -> int:
    """LI of a hypercall's number or argument."""
    value = rng.choice((rng.randrange(80), rng.getrandbits(16), 0x4000 + 8 * rng.randrange(64)))
    return 0x24000000 | rng.choice((2, 2, 4, 5, 6, 7, 8, 9)) << 16 | value


def hypercall(rng: random.Random) -> int:
    """Mostly HYPCALL 0; never 1, which ends the VM."""
    code = rng.choice((0, 0, 0, 0, 2, 3, rng.randrange(2, 1024)))
    return 0x42000028 | code << 11


def memory(rng: random.Random) -> int:
    rt, base, offset = rng.choice(REGISTERS), rng.choice(BASES), rng.choice(OFFSETS)
    return rng.choice(LOADS_AND_STORES) << 26 | base << 21 | rt << 16 | offset


def cache(rng: random.Random) -> int:
    return 0xBC000000 | rng.choice(BASES) << 21 | rng.randrange(32) << 16 | rng.randrange(0x4000) * 4


def branch(rng: random.Random) -> int:
    opcode = rng.choice(BRANCHES)
    rt = rng.choice(REGISTERS) if opcode & 2 == 0 else 0
    return opcode << 26 | rng.choice((2, 3, 8, 9, 17, 0)) << 21 | rt << 16 | rng.randrange(1, 24)


def other(rng: random.Random) -> int:
    rt = rng.choice(REGISTERS)
    rdhwr = 0x7C00003B | rt << 16 | rng.choice((0, 1, 2, 3, 29)) << 11
    return rng.choice((rdhwr, 0x24000000 | rt << 16 | rng.getrandbits(16), rng.choice(EXCEPTIONS), rng.getrandbits(32)))


KINDS = (cp0_move, cp0_move, set_register, hypercall, memory, memory, cache, branch, branch, other, other)


def words(rng: random.Random) -> list[int]:
    """One random instruction, or a hypercall with its arguments."""
    if rng.randrange(12) == 0:
        return [0x42000000 | rng.choice(CO_FUNCTIONS)]
    if rng.randrange(12) == 0:
        return [*(set_register(rng) for _ in range(4)), hypercall(rng)]
    return [rng.choice(KINDS)(rng)]


def assemble(source: Path, image: Path) -> None:
    """Writes the raw image of a guest without the SDK, which is loaded at 0x80001000."""
    image.parent.mkdir(parents=True, exist_ok=True)
    target = ["--target=mipsel-none-elf", "-mips32r5", "-mvirt", "-mno-abicalls"]
    compiled = image.with_suffix(".o")
    subprocess.run(["clang", *target, "-c", source, "-o", compiled], check=True)
    link = ["ld.lld", "--oformat=binary", "-e", "_start", "-Ttext=0x80001000", compiled, "-o", image]
    subprocess.run(link, check=True)


def make(image: Path, seed: int) -> None:
    """Writes the image of a guest, as assemble()."""
    assemble(HERE / "random_guest.S", image)
    rng = random.Random(seed)
    start = image.read_bytes()[:CODE].ljust(CODE, b"\0")
    code = [word for _ in range(WORDS) for word in words(rng)]
    image.write_bytes(start + struct.pack(f"<{WORDS}I", *code[:WORDS]))
