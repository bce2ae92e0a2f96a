# SPDX-License-Identifier: Apache-2.0
"""
HLV, HLVX and HSV in the hypervisors that check-warnings has built: by gcc, by clang, and with the remedies for CVA6's
errata (tessera.verify.hlv).
"""

from pathlib import Path

from check import repo
from check.repo import Finding
from tessera.bench.machine import BenchError
from tessera.verify.hlv import disassembly_of, faults

BUILT = Path("build") / "check"
BUILDS = {"hyp-gcc": False, "hyp-clang": False, "hyp-cva6": True}  # whether it works around the errata
SOURCES = "arch/riscv"
_FIX = "move an instruction in between, or use the macros of errata_hlv.h"


def check(root: Path) -> tuple[list[Finding], str]:
    """No access to memory directly after HLV, HLVX and HSV; with remedies for errata also their place and satp."""
    findings, total = [], 0
    for name, errata in BUILDS.items():
        elf = root / BUILT / name / "tessera.elf"
        try:
            wrong, accesses = faults(disassembly_of(elf), errata=errata)
        except BenchError as error:
            raise repo.CheckError(f"{error}; `make check-warnings` builds it") from error
        if accesses == 0:
            raise repo.CheckError(f"{BUILT / name}: no HLV found, so that nothing was checked")
        findings += [Finding(SOURCES, 0, f"{name}: {what}", _FIX) for what in wrong]
        total += accesses
    return findings, f"{total} accesses of {len(BUILDS)} builds"


if __name__ == "__main__":
    repo.main("hlv", check)
