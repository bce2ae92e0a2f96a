# SPDX-License-Identifier: Apache-2.0
"""
Proves the checks of guest addresses for all addresses, sizes and memory maps: the compiled code of
core/memmap.c is executed symbolically (tessera.verify.symbolic), and a solver searches for a
counterexample.
"""

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
import z3

from tessera.image import layout
from tessera.run.runner import ROOT
from tessera.verify.symbolic import Machine, SymbolicError, disassemble

GCC = "riscv64-unknown-elf-gcc"
CFLAGS = ["-march=rv64i", "-mabi=lp64", "-mcmodel=medany", "-O1", "-std=gnu11", "-ffreestanding"]
FOLDERS = (
    "core/include", "core", "arch/include", "arch/riscv/include", "arch/riscv", "arch/riscv/errata/none",
    "platform", "platform/qemu-virt",
)  # fmt: skip
ALIAS = 0x40000000  # of memory for DMA
INCLUDE = [*(f"-I{ROOT / name}" for name in FOLDERS), "-DCOMPONENTS=1U", f"-DBOARD_DMA_ALIAS={ALIAS:#x}UL"]
MAP, REGIONS, HPA = 0x10000, 0x20000, 0x30000  # addresses of map, regions, result
GPA_LIMIT = 1 << 41
HPA_LIMIT = 1 << 56
LARGE, PAGE = 0x200000, 0x1000
WIDE = 72  # bits; sums of addresses do not wrap
FIELDS = {"gpa": 8, "hpa": 8, "size": 8, "kind": 4, "detail": 4}
HERE = Path("core/memmap.c")


def compiled(folder: Path, source: str, entry: str) -> tuple[Machine, int]:
    """The compiled code, and the address of the function."""
    text, elf = folder / "memmap.c", folder / "memmap.elf"
    text.write_text(source)
    link = ["-nostdlib", "-static", "-Wl,-Ttext=0x1000", "-Wl,-e,0", "-Wl,--no-relax"]
    subprocess.run([GCC, *CFLAGS, *INCLUDE, *link, "-o", str(elf), str(text)], check=True)
    symbols = subprocess.run(["riscv64-unknown-elf-nm", str(elf)], check=True, capture_output=True, text=True).stdout
    found = re.search(rf"^([0-9a-f]+) T {entry}$", symbols, re.MULTILINE)
    assert found, symbols
    return Machine(disassemble(elf)), int(found[1], 16)


class Region:
    """A region with symbolic values."""

    def __init__(self, index: int) -> None:
        self.at = REGIONS + index * layout.REGION.size
        self.values = {name: z3.BitVec(f"{name}{index}", 8 * size) for name, size in FIELDS.items()}

    def host(self) -> z3.BitVecRef:
        """Where CPUs access the region."""
        hpa = self.values["hpa"]
        return z3.If(self.values["kind"] == layout.REGION_DMA, hpa + ALIAS, hpa)

    def memory(self) -> dict[tuple[int, int], z3.BitVecRef]:
        return {(self.at + layout.REGION.offset(name), FIELDS[name]): value for name, value in self.values.items()}

    def wide(self, name: str) -> z3.BitVecRef:
        return z3.ZeroExt(WIDE - 64, self.values[name])

    def has(self, gpa: z3.BitVecRef, size: z3.BitVecRef) -> z3.BoolRef:
        """The region is memory and contains [gpa, gpa + size); computed without wrap-around."""
        start, end = self.wide("gpa"), self.wide("gpa") + self.wide("size")
        gpa, size = z3.ZeroExt(WIDE - 64, gpa), z3.ZeroExt(WIDE - 64, size)
        memory = self.values["kind"] != layout.REGION_MMIO
        return z3.And(memory, size != 0, z3.ULE(start, gpa), z3.ULE(gpa + size, end))

    def has_fast(self, gpa: z3.BitVecRef, size: z3.BitVecRef) -> z3.BoolRef:
        """
        Equal to has() for a region that does not wrap, which the first test proves; faster to
        solve.
        """
        offset, length = gpa - self.values["gpa"], self.values["size"]
        memory = self.values["kind"] != layout.REGION_MMIO
        return z3.And(memory, size != 0, z3.ULT(offset, length), z3.ULE(size, length - offset))

    def is_sane(self) -> z3.BoolRef:
        """The region does not wrap, which sysimage_check() ensures."""
        return z3.ULE(self.wide("gpa") + self.wide("size"), GPA_LIMIT)

    def is_valid(self, ram_base: z3.BitVecRef, ram_size: z3.BitVecRef) -> z3.BoolRef:
        """The properties that memmap_check() ensures."""
        mmio = self.values["kind"] == layout.REGION_MMIO
        align = z3.If(mmio, z3.BitVecVal(PAGE - 1, 64), z3.BitVecVal(LARGE - 1, 64))
        bits = self.values["gpa"] | self.values["hpa"] | self.values["size"]
        hpa, end = self.wide("hpa"), self.wide("hpa") + self.wide("size")
        inside = z3.And(z3.ULE(ram_base, hpa), z3.ULE(end, ram_base + ram_size))
        apart = z3.Or(z3.ULE(end, ram_base), z3.ULE(ram_base + ram_size, hpa))
        return z3.And(
            z3.ULE(self.values["kind"], layout.REGION_DMA),
            self.values["size"] != 0,
            z3.ULE(self.wide("gpa") + self.wide("size"), GPA_LIMIT),
            bits & align == 0,
            z3.ULE(end, HPA_LIMIT),
            z3.If(mmio, apart, inside),
        )

    def covers(self, base: z3.BitVecRef, size: z3.BitVecRef) -> z3.BoolRef:
        """The region overlaps host memory [base, base + size); computed without wrap-around."""
        hpa, end = self.wide("hpa"), self.wide("hpa") + self.wide("size")
        return z3.And(z3.ULT(hpa, base + size), z3.ULT(base, end))

    def is_apart(self, other: "Region") -> z3.BoolRef:
        return z3.Or(
            z3.ULE(self.wide("gpa") + self.wide("size"), other.wide("gpa")),
            z3.ULE(other.wide("gpa") + other.wide("size"), self.wide("gpa")),
        )


def memory_of(regions: list[Region]) -> dict[tuple[int, int], z3.BitVecRef]:
    memory = {(MAP, 8): z3.BitVecVal(REGIONS, 64), (MAP + 8, 4): z3.BitVecVal(len(regions), 32)}
    for region in regions:
        memory |= region.memory()
    return memory


def counterexample(claim: z3.BoolRef) -> str | None:
    """Values that contradict the claim; None if there are none."""
    solver = z3.Solver()
    solver.add(z3.Not(claim))
    return str(solver.model()) if solver.check() == z3.sat else None


def unsound_range(folder: Path, source: str, count: int) -> str | None:
    """
    A map of `count` regions, an address and a size for which memmap_ram() is wrong: true although
    no memory region contains the range, true with another host address than that of the first region
    that does, or false although a region contains the range. The machine checks every memory access of the function.
    """
    machine, entry = compiled(folder, source, "memmap_ram")
    regions = [Region(index) for index in range(count)]
    gpa, size, before = z3.BitVecs("gpa size before", 64)
    end = machine.call(entry, [MAP, gpa, size, HPA], memory_of(regions) | {(HPA, 8): before})
    found, place = end.registers[10] & 0xFF, end.memory[HPA, 8]
    # One claim for each region that may be the first with the range: Z3 needs minutes for all in one.
    earlier, claims = [], []
    for region in regions:
        first = z3.And(region.has_fast(gpa, size), *earlier)
        right = z3.And(found == 1, place == region.host() + (gpa - region.values["gpa"]))
        claims.append(z3.Implies(first, right))
        earlier.append(z3.Not(region.has_fast(gpa, size)))
    claims.append(z3.Implies(z3.And(earlier), z3.And(found == 0, place == before)))
    return next(filter(None, map(counterexample, claims)), None)


def unsound_check(folder: Path, source: str, count: int) -> str | None:
    """
    A map that memmap_check() accepts although a region is invalid or two overlap, for any board's
    RAM.
    """
    machine, entry = compiled(folder, source, "memmap_check")
    regions = [Region(index) for index in range(count)]
    ram_base, ram_size = z3.BitVecs("ram_base ram_size", 64)
    stack = {(0x70000000 - 8 * slot, 8): z3.BitVec(f"stack{slot}", 64) for slot in range(1, 33)}
    end = machine.call(entry, [MAP, ram_base, ram_size], memory_of(regions) | stack)
    wide = [z3.ZeroExt(WIDE - 64, value) for value in (ram_base, ram_size)]
    fine = [region.is_valid(*wide) for region in regions]
    fine += [a.is_apart(b) for index, a in enumerate(regions) for b in regions[:index]]
    return counterexample(z3.Implies(end.registers[10] == 0, z3.And(fine)))


def unsound_cover(folder: Path, source: str, count: int) -> str | None:
    """Regions in the host's address space, and host memory, for which memmap_covers() is wrong."""
    machine, entry = compiled(folder, source, "memmap_covers")
    regions = [Region(index) for index in range(count)]
    base, size = z3.BitVecs("base size", 64)
    end = machine.call(entry, [MAP, base, size], memory_of(regions))
    wide = [z3.ZeroExt(WIDE - 64, value) for value in (base, size)]
    sane = [z3.ULE(region.wide("hpa") + region.wide("size"), HPA_LIMIT) for region in regions]
    sane += [region.values["size"] != 0 for region in regions]
    sane += [size != 0, z3.ULE(wide[0] + wide[1], 1 << 64)]
    covered = z3.Or([region.covers(*wide) for region in regions])
    return counterexample(z3.Implies(z3.And(sane), (end.registers[10] & 0xFF == 1) == covered))


def test_the_fast_form_equals_the_exact_form():
    region = Region(0)
    gpa, size = z3.BitVecs("gpa size", 64)
    same = region.has(gpa, size) == region.has_fast(gpa, size)
    assert counterexample(z3.Implies(region.is_sane(), same)) is None
    assert counterexample(same)  # not equal for a region that wraps


FEW = (0, 1, 2)  # numbers of regions that `make test` proves; the others in soak


def each_count(most: int, usual: Sequence[int]) -> pytest.MarkDecorator:
    marked = [pytest.param(count, marks=() if count in usual else pytest.mark.long) for count in range(most + 1)]
    return pytest.mark.parametrize("count", marked)


@each_count(layout.MAX_REGIONS, FEW)
def test_accepted_ranges_lie_in_one_region(tmp_path, count):
    assert unsound_range(tmp_path, (ROOT / HERE).read_text(), count) is None


@pytest.mark.parametrize("count", [0, 1, *(pytest.param(count, marks=pytest.mark.long) for count in (2, 3))])
def test_accepted_maps_are_valid(tmp_path, count):
    """
    Up to three regions: the check of a region does not depend on their number, and overlaps concern
    two.
    """
    assert unsound_check(tmp_path, (ROOT / HERE).read_text(), count) is None


@each_count(2, FEW[:2])
def test_regions_over_the_hypervisor_are_found(tmp_path, count):
    """Up to two regions: each is checked alone, and Z3 needs minutes for three."""
    assert unsound_cover(tmp_path, (ROOT / HERE).read_text(), count) is None


HAS = "return offset < (gpa_t)r->size && size <= (gpa_t)r->size - offset;"
RANGES = {
    "no-end": (HAS, "return offset < r->size;"),
    "one-more": (HAS, "return offset < r->size && size <= r->size - offset + 1;"),
    "sum-that-wraps": (HAS, "return gpa >= r->gpa && gpa + size <= r->gpa + r->size;"),
    "no-start": (HAS, "return (offset < r->size || gpa < r->gpa) && size <= r->size - offset;"),
    "too-strict": (HAS, "return offset < r->size && size < r->size - offset;"),
    "empty": ("size != 0 && ", ""),
    "devices": ("r->kind != SYSIMAGE_REGION_MMIO && size", "size"),
    "elsewhere": ("*hpa = memmap_cpu_base(r) + (gpa - (gpa_t)r->gpa);", "*hpa = memmap_cpu_base(r);"),
    "of-devices": ("*hpa = memmap_cpu_base(r)", "*hpa = (hpa_t)r->hpa"),
}
CHECKS = {
    "sum-that-wraps": (
        "start >= outer && start - outer <= outer_size && size <= outer_size - (start - outer)",
        "start >= outer && start + size <= outer + outer_size",
    ),
    "touching": ("b->gpa < a->gpa + a->size;", "b->gpa + 1 < a->gpa;"),
    "first-two-only": ("j < i && wrong == NULL", "j < i && j < 1 && wrong == NULL"),
    "alignment": ("(r->gpa | r->hpa | r->size)", "(r->gpa | r->size)"),
    "devices-that-wrap": ("if (!inside(r->hpa, r->size, 0, ARCH_HPA_LIMIT)) {", "if (r->hpa >= ARCH_HPA_LIMIT) {"),
    "devices-in-ram": ("return memmap_overlap(r->hpa, r->size, ram_base, ram_size) ?", "return r->kind == 77U ?"),
}
OVERLAP = "return a - b < b_size || b - a < a_size;"
COVERS = {
    "sums-that-wrap": (OVERLAP, "return a < b + b_size && b < a + a_size;"),
    "from-inside-only": (OVERLAP, "return a - b < b_size;"),
    "touching": (OVERLAP, "return a - b <= b_size || b - a < a_size;"),
    "not-of-devices": (
        "if (memmap_overlap(map->regions[i].hpa",
        "if (map->regions[i].kind != SYSIMAGE_REGION_MMIO && memmap_overlap(map->regions[i].hpa",
    ),
}


def broken(change: tuple[str, str]) -> str:
    """core/memmap.c with its header inserted and an injected fault."""
    text = (ROOT / HERE).read_text().replace('#include "memmap.h"', (ROOT / "core/include/memmap.h").read_text())
    assert text.count(change[0]) == 1, change
    return text.replace(*change)


@pytest.mark.long
@pytest.mark.parametrize("change", RANGES.values(), ids=RANGES)
def test_a_broken_range_check_is_found(tmp_path, change):
    assert unsound_range(tmp_path, broken(change), 2)


@pytest.mark.long
@pytest.mark.parametrize("change", CHECKS.values(), ids=CHECKS)
def test_a_broken_check_of_maps_is_found(tmp_path, change):
    assert unsound_check(tmp_path, broken(change), 3)


@pytest.mark.long
@pytest.mark.parametrize("change", COVERS.values(), ids=COVERS)
def test_a_broken_check_of_the_hypervisors_memory_is_found(tmp_path, change):
    assert unsound_cover(tmp_path, broken(change), 2)


@pytest.mark.long
def test_an_access_after_the_last_region_is_found(tmp_path):
    change = ("for (unsigned i = 0; i < map->count; i++) {\n        const struct sysimage_region", None)
    text = (ROOT / HERE).read_text()
    assert text.count(change[0]) == 1
    with pytest.raises(SymbolicError, match="where there is nothing"):
        unsound_range(tmp_path, text.replace("i < map->count", "i <= map->count", 1), 2)
