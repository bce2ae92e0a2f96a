# SPDX-License-Identifier: Apache-2.0
"""
Memory for DMA through an alias (docs/virtual-platform.md#dma-memory): at the alias, QEMU has other memory, which shows
what the hypervisor accesses.
"""

import re
import subprocess
from functools import cache
from pathlib import Path

import pytest
from helpers import BOOT_S, HYPERVISOR_BIN, booted, built, make, wait_for_signs_of_life

from tessera.run.runner import ROOT

ALIAS = 0x20000000  # behind the board's RAM; QEMU gets twice as much
GPA = 0xA0000000
MARK = 0x1122334455667788
LEAF = 0xD7  # valid, read, write, user, accessed, dirty


@cache
def with_alias() -> Path:
    """The hypervisor for a board that is QEMU's virt with an alias."""
    folder = "build/check/hyp-alias"
    make("hyp", f"HYP_LIMITS=-DBOARD_DMA_ALIAS={ALIAS:#x}UL", f"HYP_BUILD={folder}")
    return ROOT / folder / "tessera.bin"


def physical(socket: Path, *commands: str) -> list[int]:
    """The values that GDB prints, with addresses that are physical ones."""
    words = ["gdb-multiarch", "-nx", "-batch", str(HYPERVISOR_BIN.with_suffix(".elf"))]
    for command in (f"target remote {socket}", "maintenance packet Qqemu.PhyMemMode:1", *commands):
        words += ["-ex", command]
    said = subprocess.run(words, capture_output=True, text=True, timeout=BOOT_S, check=True).stdout
    return [int(value, 16) for value in re.findall(r"^value ((?:0x)?[0-9a-f]+)$", said, re.MULTILINE)]


def value(expression: str) -> str:
    return f'printf "value %#lx\\n", 1 ? (unsigned long)({expression}) : 0'


def at(address: str) -> str:
    return f"*(unsigned long *)({address})"


@pytest.mark.parametrize("alias", [ALIAS, 0])
def test_harts_use_the_alias(alias, tmp_path):
    """The second stage leads to the alias, and the memory is cleared there at the VM's start."""
    system = built("dma-memory", hypervisor=with_alias() if alias else HYPERVISOR_BIN)
    host = next(vm["dma_memory"]["host"] for vm in system.data["vms"])
    socket = tmp_path / "gdb"
    marks = [f"loader,addr={place:#x},data={MARK:#x},data-len=8" for place in (host, host + ALIAS)]
    options = ["-m", "1G", "-device", marks[0], "-device", marks[1]]
    options += ["-chardev", f"socket,path={socket},server=on,wait=off,id=gdb", "-gdb", "chardev:gdb"]
    with booted(system, f"dma-memory-{alias}", *options) as machine:
        wait_for_signs_of_life(machine, system)
        root = at(f"((hyp.vms[0].arch.hgatp & 0xfffffffffff) << 12) + {GPA >> 30} * 8")
        entry = at(f"(({root}) >> 10 << 12) + {GPA >> 21 & 511} * 8")
        expected = [(host + alias) >> 12 << 10 | LEAF, MARK if alias else 0, 0 if alias else MARK]
        got = physical(socket, value(entry), value(at(hex(host))), value(at(hex(host + ALIAS))))
        assert [f"{number:#x}" for number in got] == [f"{number:#x}" for number in expected]


def test_accelerators_use_it():
    """One VM has its buffers there, one in its RAM: both get right symbols, as does one without the device."""
    system = built("dma-qam")
    with booted(system, "dma-qam") as machine:
        wait_for_signs_of_life(machine, system)
