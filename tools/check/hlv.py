# SPDX-License-Identifier: Apache-2.0
"""
HLV, HLVX and HSV (tessera.verify.hlv) in the hypervisors that check-warnings has built: by gcc, by clang, and with the
remedies for CVA6's errata, there also the reads of the time (tessera.verify.mtime). A check of our own: the order of
instructions that one core's errata require.
"""

from pathlib import Path

from check import repo
from check.repo import Finding
from tessera.bench.machine import BenchError
from tessera.verify.hlv import disassembly_of, faults
from tessera.verify.mtime import time_faults

BUILT = Path("build") / "check"
BUILDS = {"hyp-gcc": False, "hyp-clang": False, "hyp-cva6": True}  # whether it works around the errata
SOURCES = "arch/riscv"
_FIX = "move an instruction in between, or use the macros of errata_hlv.h"


def _check_build(name: str, errata: bool, root: Path) -> tuple[list[str], int, int]:
    """What is wrong with a build, the accesses of its kind, and the loads of mtime, which only errata need."""
    elf = root / BUILT / name / "tessera.elf"
    try:
        disassembly = disassembly_of(elf)
    except BenchError as error:
        raise repo.CheckError(f"{error}; `make check-warnings` builds it") from error
    wrong, accesses = faults(disassembly, errata=errata)
    wrong_times, times = time_faults(disassembly) if errata else ([], 0)
    if accesses == 0 or (errata and times == 0):
        raise repo.CheckError(f"{BUILT / name}: no HLV, or no load of mtime found, so that nothing was checked")
    return wrong + wrong_times, accesses, times


def check(root: Path) -> tuple[list[Finding], str]:
    """
    No access to memory directly after HLV, HLVX and HSV; with remedies for errata also their place and satp, and loads
    of mtime.
    """
    findings, total, loads = [], 0, 0
    for name, errata in BUILDS.items():
        wrong, accesses, times = _check_build(name, errata, root)
        findings += [Finding(SOURCES, 0, f"{name}: {what}", _FIX) for what in wrong]
        total, loads = total + accesses, loads + times
    return findings, f"{total} accesses of {len(BUILDS)} builds, {loads} loads of mtime"


if __name__ == "__main__":
    repo.main("hlv", check)
