# SPDX-License-Identifier: Apache-2.0
"""Measures how many cycles a byte takes when four VMs read single bytes of the flash: through the shared hardware, and
through drivers in software. The systems flash-bytes* must be built.

A cycle of the fabric lasts as long as an instruction, as in the published measurement, whose processors have the clock
of the devices, 100 MHz. Times of the hypervisor and of the guests are ten times as long as in the system file then.
"""

import os
import shutil
from pathlib import Path

from figures import measured
from rtl_tools import BUILD

from tessera.bench.machine import run_system, with_options
from tessera.bench.parse import figures
from tessera.run.runner import ROOT, Qemu, find_qemu, load_system

PERIOD_NS = 1  # of a cycle; an instruction takes 1 ns of virtual time
QUANTUM = 10  # cycles between two looks at the interrupt lines, the least
CYCLES = 1_000_000 // PERIOD_NS  # of the interval `start` to `end` in the system files
FLASH_BYTES = 1 << 24
SYSTEMS = {
    "shared": "flash-bytes",
    "shared_one": "flash-bytes-one",
    "face": "flash-bytes-spi",
    "driver": "flash-bytes-server",
    "driver_one": "flash-bytes-server-one",
    "rtos": "flash-bytes-rtos",
}


def content() -> bytes:
    """Bytes that depend on their address, as tests/guests/flash_bytes expects them."""
    return bytes((address * 167 + (address >> 8)) & 0xFF for address in range(FLASH_BYTES))


def cycles_of_a_byte(qemu: Qemu, name: str, flash: Path) -> float:
    system = load_system(name, ROOT / "build")
    options = (f"period={PERIOD_NS}", f"quantum={QUANTUM}", f"flash={flash}")
    consoles = run_system(qemu, system, change=lambda command: with_options(command, *options))
    read = sum(figures(text)["bytes"].min for text in consoles.guests.values())
    return CYCLES / read


def main() -> None:
    qemu = find_qemu(os.environ.get("QEMU") or "qemu-system-riscv64")
    folder = BUILD / "flash"
    folder.mkdir(parents=True, exist_ok=True)
    flash = folder / "flash.bin"
    flash.write_bytes(content())
    cycles = {what: cycles_of_a_byte(qemu, name, flash) for what, name in SYSTEMS.items()}
    shutil.rmtree(folder)
    for what, value in cycles.items():
        print(f"flash: {value:.1f} cycles a byte, {SYSTEMS[what]}: {value / cycles['shared']:.1f} times")
        measured(f"fpga.io.bytes.{what}", round(value, 2))
    measured("fpga.io.bytes.ratio", round(cycles["rtos"] / cycles["shared"], 1))


if __name__ == "__main__":
    main()
