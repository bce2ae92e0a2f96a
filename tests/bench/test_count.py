# SPDX-License-Identifier: Apache-2.0
"""The instruction-counting plugin, tested with a known program."""

import subprocess
from pathlib import Path

import pytest

from tessera.bench.count import Count, CountError, Interval, make_counter, read_count
from tessera.run.runner import find_qemu
from tessera.run.virtualtime import By, virtual_time

LOOPS = 1000
# Runs from the reset address without firmware; powers the machine off by its test device.
PROGRAM = f"""
    .globl _start
_start:
    li   t0, {LOOPS}        # 1 instruction: fits 12 bits
1:  addi t0, t0, -1
    bnez t0, 1b
    .globl last
last:
    nop
    nop
    .globl skipped
skipped:
    nop
    nop
    nop
    .globl passed
passed:
    li   t1, 0x100000       # lui
    li   t2, 0x5555         # lui, addi
    sw   t2, 0(t1)
2:  j    2b
"""
SETUP = 1
LOOP = 2 * LOOPS
NOPS = 5


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("count")
    (folder / "p.S").write_text(PROGRAM, encoding="utf-8")
    flags = ["-march=rv64imac", "-mabi=lp64", "-nostdlib", "-Ttext=0x80000000", "-Wl,--build-id=none"]
    command = ["riscv64-unknown-elf-gcc", *flags, "-o", str(folder / "p.elf"), str(folder / "p.S")]
    subprocess.run(command, check=True)
    return folder / "p.elf"


def address_of(program: Path, symbol: str) -> int:
    symbols = subprocess.run(
        ["riscv64-unknown-elf-nm", str(program)], check=True, text=True, capture_output=True
    ).stdout
    return next(int(line.split()[0], 16) for line in symbols.splitlines() if line.endswith(f" {symbol}"))


def count(program: Path, tmp_path: Path, interval: Interval | None = None) -> Count:
    qemu = find_qemu()
    counter = make_counter(qemu, tmp_path)
    out = tmp_path / "count.json"
    command = [qemu.program, "-M", "virt", "-bios", str(program), "-display", "none"]
    icount = [*virtual_time(By.COMMAND), "-monitor", "none", "-serial", "none"]
    words = counter.arguments(address_of(program, "passed"), out, interval)
    subprocess.run([*command, *icount, *words], check=True, timeout=60)
    return read_count(out)


def test_every_instruction_is_counted_once(program: Path, tmp_path: Path) -> None:
    counted = count(program, tmp_path)
    reset_code = counted.passed[0] - SETUP - LOOP - NOPS
    assert 0 < reset_code < 20  # instructions of QEMU's boot ROM that jump to the program
    assert len(counted.passed) == 1
    # lui, lui, addi, sw; and the jump until QEMU ends
    assert counted.instructions - counted.passed[0] >= 4
    assert counted.since == []


def test_an_interval_starts_after_its_address_and_excludes_ranges(program: Path, tmp_path: Path) -> None:
    last, skipped, passed = (address_of(program, symbol) for symbol in ("last", "skipped", "passed"))
    assert count(program, tmp_path, Interval(last)).since == [NOPS - 1]
    assert count(program, tmp_path, Interval(last, skipped, (passed, passed + 4))).since == [NOPS - 1 - 3]
    assert count(program, tmp_path, Interval(last, skipped, (skipped + 4, passed))).since == [NOPS - 1 - 2]


def test_without_a_count_there_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(CountError, match="without a count"):
        read_count(tmp_path / "none.json")


def test_a_missing_compiler_is_named(tmp_path: Path) -> None:
    with pytest.raises(CountError, match="no-such-cc"):
        make_counter(find_qemu(), tmp_path, "no-such-cc")
