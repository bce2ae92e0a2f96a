# SPDX-License-Identifier: Apache-2.0
"""The firmware of the board cva6-sim on the core, with a program in S-mode in the hypervisor's place."""

import subprocess
from pathlib import Path

import pytest
from program import BUILD, DRAM, MODEL
from rtl_tools import TOP

NEXT = DRAM + 0x20_0000
SRST = 0x53525354
CROSS = "riscv64-unknown-elf-"


@pytest.fixture(scope="module")
def firmware() -> Path:
    subprocess.run(["make", "-s", "firmware", "PLATFORM=cva6-sim"], cwd=TOP, check=True)
    return TOP / "build" / "firmware" / "cva6-sim" / "firmware.bin"


def assembled(folder: Path, text: str) -> Path:
    source, elf, binary = folder / "next.S", folder / "next.elf", folder / "next.bin"
    source.write_text(text, encoding="utf-8")
    options = ["-march=rv64imac_zicsr", "-mabi=lp64", "-nostdlib", "-Wl,-Ttext=0", "-Wl,-e0"]
    subprocess.run([f"{CROSS}gcc", *options, "-o", str(elf), str(source)], check=True)
    subprocess.run([f"{CROSS}objcopy", "-O", "binary", str(elf), str(binary)], check=True)
    return binary


def run(firmware: Path, program: Path) -> subprocess.CompletedProcess[str]:
    files = [f"{DRAM:#x}:{firmware}", f"{NEXT:#x}:{program}"]
    command = [str(BUILD / MODEL / "soc_sim"), "--cycles=400000", *files]
    return subprocess.run(command, capture_output=True, text=True, check=False)


# The UART sends with the divisor 1, 16 characters of its FIFO and one of the line.
PRINT = """
    li t0, 0x10000000
    li t1, 0x80
    sw t1, 12(t0)
    li t1, 1
    sw t1, 0(t0)
    sw zero, 4(t0)
    li t1, 3
    sw t1, 12(t0)
    li t1, 7
    sw t1, 8(t0)
    li t1, 'a'
    li t2, 'a' + 16
1:  sw t1, 0(t0)
    addi t1, t1, 1
    bltu t1, t2, 1b
"""


@pytest.mark.parametrize(("reason", "status"), [(0, 0), (1, 1)])
def test_shutdown_ends_the_simulation(firmware: Path, tmp_path: Path, reason: int, status: int) -> None:
    """By SBI SRST, with the status of the reason; what the UART has to send leaves before."""
    call = f"li a7, {SRST}\nli a6, 0\nli a0, 0\nli a1, {reason}\necall\n1: j 1b\n"
    done = run(firmware, assembled(tmp_path, PRINT + call))
    assert (done.returncode, done.stdout, done.stderr) == (status, "abcdefghijklmnop", "")


@pytest.mark.skipif(MODEL == "core-h", reason="with H the firmware passes the trap on")
def test_a_trap_of_the_firmware_ends_the_simulation(firmware: Path, tmp_path: Path) -> None:
    done = run(firmware, assembled(tmp_path, ".4byte 0\n"))
    assert done.returncode == 1
    assert "firmware: error: trap in M-mode: cause 0x0000000000000002" in done.stdout
