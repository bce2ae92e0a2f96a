# SPDX-License-Identifier: Apache-2.0
"""
Boards that are not run here (docs/porting.md): their images and firmware are built; `make run PLATFORM=spike` starts
the program that SPIKE= names, or says how to get one.
"""

import json
import re
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import (
    BOOT_S,
    ERROR_S,
    OUT,
    booted,
    built,
    make,
    run,
    source_of,
    wait_for_signs_of_life,
    whole_source,
)

from tessera.run.machine import FIRMWARE, HYPERVISOR, Machine
from tessera.run.runner import ROOT, find_qemu, load_system, soc_command

BOARDS = ("spike", "cva6-sim", "genesys2")


def make_run(**environment: str) -> subprocess.CompletedProcess[str]:
    return run(["make", "--no-print-directory", "-s", "run", "PLATFORM=spike"], **environment)


@pytest.mark.parametrize("board", BOARDS)
def test_image_and_firmware(board: str) -> None:
    make("image", f"PLATFORM={board}")
    make("firmware", f"PLATFORM={board}")
    image = (ROOT / "build/systems" / board / "tessera.bin").read_bytes()
    firmware = (ROOT / "build/firmware" / board / "firmware.bin").read_bytes()
    assert b"Tessera on %s" in image and board.encode() + b"\0" in image
    assert len(firmware) <= 0x10000


@pytest.mark.parametrize(
    ("board", "wide"), [("spike", False), ("cva6-sim", True), pytest.param("genesys2", True, marks=pytest.mark.long)]
)
def test_width_of_uart_accesses(board: str, wide: bool) -> None:
    """The status at register 5 and the data at register 0: words at stride 4, or bytes at stride 1."""
    make("image", f"PLATFORM={board}")
    # Not load_system(): no emulator has the Genesys2.
    facts = json.loads((ROOT / "build/systems" / board / "system.json").read_text(encoding="utf-8"))
    elf = str((ROOT / facts["hypervisor"]["path"]).with_suffix(".elf"))
    code = run(["riscv64-unknown-elf-objdump", "-d", "--disassemble=platform_uart_put", elf]).stdout
    loads = {tuple(found) for found in re.findall(r"\t(l[wb]u?)\t\w+,(5|20)\(", code)}
    assert loads == ({("lw", "20")} if wide else {("lbu", "5")}), code
    assert ("\tsb\t" in code) != wide, code


def test_spike_is_missing() -> None:
    done = make_run(SPIKE="no-such-spike")
    assert done.returncode != 0
    assert "there is no program 'no-such-spike'" in done.stderr
    assert "riscv-isa-sim" in done.stderr and "SPIKE=path" in done.stderr


def test_command_of_spike(tmp_path: Path) -> None:
    program = tmp_path / "spike"
    program.write_text('#!/bin/sh\necho "spike: $@"\n')
    program.chmod(0o755)
    done = make_run(SPIKE=str(program))
    assert done.returncode == 0, done.stderr
    words = re.search(r"spike: (.*)", done.stdout)
    assert words is not None, done.stdout
    *options, kernel, firmware = words[1].split()
    isa = next(word for word in options if word.startswith("--isa=rv64gch_"))
    assert {*options} == {"-m512", "-p1", isa}  # others, such as --misaligned, are not Spike's
    assert "zicclsm" in isa.split("_")  # misaligned accesses do not trap
    assert kernel == f"--kernel={ROOT}/build/systems/spike/tessera.bin"
    assert firmware == f"{ROOT}/build/firmware/spike/firmware.elf"
    assert Path(firmware).read_bytes().startswith(b"\x7fELF")


@pytest.mark.parametrize("name", ["messages", "rt"])
def test_system_of_another_board_for_spike(name: str) -> None:
    """Virtual PCI functions, and RT apps, whose costs the board's file has."""
    copy = OUT / "ported" / f"{name}-on-spike.dts"
    copy.parent.mkdir(parents=True, exist_ok=True)
    text = whole_source(source_of(name)).replace('board = "qemu-virt"', 'board = "spike"')
    copy.write_text(re.sub(r"\n\s*virtual-time;", "", text), encoding="utf-8")
    make("image", f"SYSTEM=../{copy.relative_to(ROOT).with_suffix('')}", "PLATFORM=spike")


def instruction(opcode: int, register: int, immediate: int, source: int = 0) -> bytes:
    return struct.pack("<I", immediate << 20 | source << 15 | register << 7 | opcode)


def shutdown(reason: int) -> bytes:
    """A kernel that calls SRST's system_reset(shutdown, reason) and nothing else."""
    a0, a1, a6, a7, lui, addi, ecall = 10, 11, 16, 17, 0x37, 0x13, 0x73
    extension = struct.pack("<I", 0x53525 << 12 | a7 << 7 | lui) + instruction(addi, a7, 0x354, a7)
    zeros = instruction(addi, a6, 0) + instruction(addi, a0, 0)
    return extension + zeros + instruction(addi, a1, reason) + instruction(ecall, 0, 0)


@pytest.mark.parametrize(("reason", "status"), [(0, 0), (1, 1)])
def test_spike_ends(reason: int, status: int, tmp_path: Path) -> None:
    """The firmware ends the machine by HTIF, on QEMU's `spike`, which has it as Spike has."""
    make("firmware", "PLATFORM=spike")
    kernel, qemu = tmp_path / "kernel.bin", find_qemu()
    kernel.write_bytes(shutdown(reason))
    machine = [qemu.program, "-M", "spike", "-cpu", qemu.cpu, "-m", "64", "-display", "none", "-monitor", "none"]
    bios = str(ROOT / "build/firmware/spike/firmware.elf")
    done = run([*machine, "-serial", "null", "-bios", bios, "-kernel", str(kernel)], timeout=ERROR_S)
    assert done.returncode == status, done.stderr


def test_no_emulator() -> None:
    done = run(["make", "--no-print-directory", "-s", "run", "PLATFORM=genesys2"])
    assert done.returncode != 0
    assert "the board 'genesys2', which no emulator supports; docs/porting.md#boards" in done.stderr


def test_core_of_the_soc_is_missing() -> None:
    done = run(["make", "--no-print-directory", "-s", "run", "PLATFORM=cva6-sim"], CVA6_DIR="")
    assert done.returncode != 0
    assert "CVA6_DIR=path names a checkout of CVA6 (docs/fabric.md#the-core)" in done.stderr


MAKE_RUN = ("make", "--no-print-directory", "-s", "run", "PLATFORM=cva6-sim")
# As by `make genesys2`, which installs and prepares tools first.
MAKE_GENESYS2 = (sys.executable, "fpga/target/genesys2/design.py", "build/e2e/genesys2", "--software")


@pytest.mark.parametrize("words", [MAKE_RUN, MAKE_GENESYS2], ids=["run", "genesys2"])
def test_a_folder_that_is_no_checkout(words: tuple[str, ...], tmp_path: Path) -> None:
    done = run([*words], CVA6_DIR=str(tmp_path), PYTHONPATH="fpga/verify/benches:tools")
    assert done.returncode != 0
    assert f": CVA6_DIR={tmp_path}: no core/Flist.cva6 there; expected a checkout of CVA6" in done.stderr
    assert "Traceback" not in done.stderr


def test_command_of_the_soc(monkeypatch: pytest.MonkeyPatch) -> None:
    make("image", "PLATFORM=cva6-sim")
    make("firmware", "PLATFORM=cva6-sim")
    program = ROOT / "build/soc/core-h/soc_sim"
    if not program.is_file():
        monkeypatch.setattr(Path, "is_file", lambda path: path == program or path.exists())
    monkeypatch.setenv("CVA6_DIR", "/a/checkout")
    command = soc_command(load_system("cva6-sim"))
    assert command == [
        str(program),
        f"0x80000000:{ROOT}/build/firmware/cva6-sim/firmware.bin",
        f"0x80200000:{ROOT}/build/systems/cva6-sim/tessera.bin",
    ]


CONTRADICTS = "the firmware's device tree contradicts the board"


def on_qemu(board: str, label: str) -> Machine:
    """The board's system on QEMU's virt: the wrong board file for this machine."""
    make("image", f"PLATFORM={board}")
    qemu, image = find_qemu(), ROOT / "build/systems" / board / "tessera.bin"
    words = ["-M", "virt", "-cpu", qemu.cpu, "-m", "1024", "-display", "none", "-monitor", "none", "-serial", "stdio"]
    return Machine([qemu.program, *words, "-kernel", str(image)], ["hello", HYPERVISOR], OUT / f"{label}.log")


def test_wrong_interrupt() -> None:
    """Without the check the hypervisor stops after 16 characters: the UART's interrupt never comes."""
    with on_qemu("spike", "boards-interrupt") as machine:
        machine.expect(HYPERVISOR, rf"^error: {CONTRADICTS} spike: the UART's interrupt: 10, expected 1$", BOOT_S)
        machine.wait_until(lambda: False, 1)
        assert "Tessera on" not in machine.console.text(HYPERVISOR)


def test_wrong_registers() -> None:
    """The UART cannot print that it is the wrong one: the firmware does."""
    with on_qemu("cva6-sim", "boards-stride") as machine:
        line = rf"^error: {CONTRADICTS} cva6-sim: bytes between the UART's registers: 1, expected 4$"
        machine.expect(FIRMWARE, line, BOOT_S)


@pytest.mark.parametrize(
    ("label", "arguments", "difference"),
    [
        ("ram", ("-m", "256"), "the end of the RAM: 0x90000000, expected 0xa0000000"),
        ("harts", ("-smp", "1"), "the number of harts: 1, expected 2"),
    ],
)
def test_smaller_machine(label: str, arguments: tuple[str, str], difference: str) -> None:
    with booted(built("trio"), f"boards-{label}", *arguments) as machine:
        machine.expect(HYPERVISOR, rf"^error: {CONTRADICTS} qemu-virt: {difference}$", BOOT_S)
        assert machine.status() == 1


def test_other_timebase_is_a_warning(tmp_path: Path) -> None:
    """Times are wrong, but everything runs."""
    tree, system = tmp_path / "virt.dtb", built("hello")
    with booted(system, "boards-tree", "-machine", f"dumpdtb={tree}") as machine:
        assert machine.status() == 0
    done = run(["fdtput", "-t", "u", str(tree), "/cpus", "timebase-frequency", "25000000"])
    assert done.returncode == 0, done.stderr
    with booted(system, "boards-timebase", "-dtb", str(tree)) as machine:
        line = rf"^warning: {CONTRADICTS} qemu-virt: the timebase in Hz: 25000000, expected 10000000$"
        machine.expect(HYPERVISOR, line, BOOT_S)
        wait_for_signs_of_life(machine, system)


SORTER_KINDS = ("HYP_RT_QUEUE=sorter", "HYP_TIMERS=sorter")


def commands_of(board: str, *kinds: str) -> subprocess.CompletedProcess[str]:
    return run(["make", "--no-print-directory", "-n", "-B", "hyp", f"PLATFORM={board}", *kinds])


@pytest.mark.parametrize("kinds", [SORTER_KINDS, SORTER_KINDS[:1], SORTER_KINDS[1:]])
@pytest.mark.parametrize("board", ["cva6-sim", "genesys2"])
def test_queues_in_the_sorters_of_the_soc(board: str, kinds: tuple[str, ...]) -> None:
    """The fabric's address is a file of the folder that both boards share."""
    done = commands_of(board, *kinds)
    assert done.returncode == 0, done.stderr
    assert "platform/cva6-soc/fabric.c" in done.stdout and "core/sorter.c" in done.stdout
    assert "platform/cva6-soc/fabric.c" not in commands_of(board).stdout


def test_a_board_without_a_fabric_has_no_sorters() -> None:
    done = commands_of("spike", "HYP_TIMERS=sorter")
    assert done.returncode != 0
    assert (
        "board spike has no fabric (no fabric.c in platform/spike platform/drivers); use HYP_TIMERS=heap" in done.stderr
    )


def test_the_soc_has_the_sorters_of_its_hart() -> None:
    """Two for each hart's apps, and one for its timers."""
    wanted = re.search(r"-DSORTERS_A_CPU=(\d+)U", commands_of("cva6-sim", *SORTER_KINDS).stdout)
    top = (ROOT / "fpga/target/soc/rtl/soc_top.sv").read_text(encoding="utf-8")
    board = (ROOT / "fpga/target/genesys2/soc_genesys2.sv").read_text(encoding="utf-8")
    simulated, on_board = re.search(r"NumSorters = (\d+)", top), re.search(r"\.NumSorters\((\d+)\)", board)
    assert wanted and simulated and on_board
    assert int(simulated[1]) >= int(wanted[1]) and int(on_board[1]) >= int(wanted[1])
