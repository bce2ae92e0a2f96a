# SPDX-License-Identifier: Apache-2.0
"""The memory map against a model of every page: which guest ranges are memory, and their host
addresses."""

import ctypes

import pytest
from core import DMA, MMIO, RAM, SHARED, Memmap, Region, examples, load, memmap
from hypothesis import example, given, settings
from hypothesis import strategies as st

CORE = load()
LARGE = 0x200000
PAGE = 0x1000
LIMIT = 1 << 41
HOST_LIMIT = 1 << 56
TOP = 1 << 64
RAM_BASE, RAM_SIZE = 0x80000000, 64 * LARGE
ALIAS = 0x40000000  # from memory for DMA to where CPUs access it, ARCH_DMA_ALIAS of arch/host

Regions = list[tuple[int, int, int, int]]


def in_ram(regions: Regions, gpa: int, size: int) -> int | None:
    """The host address if one memory region contains the whole range, computed with unbounded
    integers."""
    for start, hpa, length, kind in regions:
        if kind != MMIO and size > 0 and start <= gpa and gpa + size <= start + length:
            return hpa + gpa - start + (ALIAS if kind == DMA else 0)
    return None


def is_valid_in_host(start: int, end: int, kind: int) -> bool:
    """Devices must be outside the board's RAM, all other regions inside."""
    if kind == MMIO:
        return end <= HOST_LIMIT and (end <= RAM_BASE or start >= RAM_BASE + RAM_SIZE)
    return start >= RAM_BASE and end <= RAM_BASE + RAM_SIZE


def is_valid_region(gpa: int, hpa: int, size: int, kind: int) -> bool:
    if kind not in (RAM, MMIO, SHARED, DMA) or size == 0 or gpa + size > LIMIT:
        return False
    align = PAGE if kind == MMIO else LARGE
    return not any(number % align for number in (gpa, hpa, size)) and is_valid_in_host(hpa, hpa + size, kind)


def is_valid(regions: Regions) -> bool:
    """The conditions of memmap_check(), computed with unbounded integers."""
    if not all(is_valid_region(*region) for region in regions):
        return False
    spans = sorted((gpa, gpa + size) for gpa, _, size, _ in regions)
    return all(spans[i][1] <= spans[i + 1][0] for i in range(len(spans) - 1))


LARGE_PAGES = st.integers(0, 70).map(lambda n: n * LARGE)
ANYTHING = st.one_of(st.integers(0, TOP - 1), st.integers(0, 2 * LARGE), st.integers(TOP - 2 * LARGE, TOP - 1))
KINDS = st.sampled_from((RAM, MMIO, SHARED, DMA))
SANE = st.tuples(LARGE_PAGES, LARGE_PAGES.map(lambda n: n + RAM_BASE), LARGE_PAGES, KINDS)
WILD = st.tuples(ANYTHING, ANYTHING, ANYTHING, st.integers(0, 4))
NEAR = st.tuples(
    st.sampled_from((0, LARGE, LIMIT - LARGE, LIMIT, TOP - LARGE)),
    st.sampled_from((RAM_BASE - LARGE, RAM_BASE, RAM_BASE + RAM_SIZE - LARGE, RAM_BASE + RAM_SIZE, TOP - LARGE)),
    st.sampled_from((PAGE, LARGE, 2 * LARGE, LARGE - PAGE, TOP - LARGE)),
    KINDS,
)
REGIONS = st.lists(st.one_of(SANE, NEAR, WILD), max_size=5)


def check(regions: Regions) -> bytes | None:
    return CORE.memmap_check(ctypes.byref(memmap(regions)), RAM_BASE, RAM_SIZE)


@settings(max_examples=examples(400, 10000), deadline=None, derandomize=True)
@given(REGIONS)
@example([(0, RAM_BASE, LARGE, RAM), (LARGE, RAM_BASE + LARGE, LARGE, RAM)])
@example([(0, RAM_BASE, LARGE, RAM), (LARGE - PAGE, 0x10001000, PAGE, MMIO)])
@example([(LIMIT - LARGE, RAM_BASE, LARGE, RAM)])
@example([(0, TOP - PAGE, LARGE, MMIO)])  # wraps around 2^64
@example([(0, RAM_BASE - PAGE, 2 * PAGE, MMIO)])
@example([(0, HOST_LIMIT - PAGE, PAGE, MMIO)])
@example([(0, HOST_LIMIT - PAGE, 2 * PAGE, MMIO)])
def test_check_accepts_exactly_the_valid_maps(regions: Regions) -> None:
    assert (check(regions) is None) == is_valid(regions), check(regions)


UNKNOWN = b"a memory region of unknown kind"
BEYOND = b"a memory region that is empty or beyond the guest's address space"
ODD = b"a memory region that is not aligned"
OUTSIDE = b"a memory region outside the board's RAM"
OVERLAP = b"memory regions that overlap"
FINE = (4 * LARGE, RAM_BASE, 2 * LARGE, RAM)


@pytest.mark.parametrize(
    ("region", "wrong"),
    [
        ((0, RAM_BASE, LARGE, 4), UNKNOWN),
        ((0, RAM_BASE, 0, RAM), BEYOND),
        ((LIMIT - LARGE, RAM_BASE, 2 * LARGE, RAM), BEYOND),
        ((LIMIT + LARGE, RAM_BASE, LARGE, RAM), BEYOND),
        ((TOP - LARGE, RAM_BASE, 2 * LARGE, MMIO), BEYOND),
        ((PAGE, RAM_BASE, LARGE, RAM), ODD),
        ((0, RAM_BASE + PAGE, LARGE, SHARED), ODD),
        ((0, RAM_BASE, LARGE + PAGE, RAM), ODD),
        ((0, 0x10000000, PAGE // 2, MMIO), ODD),
        ((0, RAM_BASE - LARGE, LARGE, RAM), OUTSIDE),
        ((0, RAM_BASE + RAM_SIZE - LARGE, 2 * LARGE, RAM), OUTSIDE),
        ((0, RAM_BASE + RAM_SIZE, LARGE, SHARED), OUTSIDE),
        ((0, RAM_BASE + RAM_SIZE + LARGE, LARGE, RAM), OUTSIDE),
        ((3 * LARGE, RAM_BASE + 8 * LARGE, 2 * LARGE, RAM), OVERLAP),
        ((5 * LARGE, RAM_BASE + 8 * LARGE, 4 * LARGE, SHARED), OVERLAP),
        ((5 * LARGE - PAGE, 0x10000000, PAGE, MMIO), OVERLAP),
        ((2 * LARGE, RAM_BASE + 8 * LARGE, 2 * LARGE, RAM), None),
        ((6 * LARGE, RAM_BASE + RAM_SIZE - LARGE, LARGE, RAM), None),
        ((LIMIT - PAGE, 0x10000000, PAGE, MMIO), None),
    ],
)
def test_each_error_is_reported(region: tuple[int, int, int, int], wrong: bytes | None) -> None:
    assert check([FINE, region]) == wrong
    assert check([region, FINE]) == wrong


def test_alias_of_memory() -> None:
    """Memory for DMA is in the board's RAM, where devices access it; CPUs use the alias."""
    hpa = RAM_BASE + 2 * LARGE
    map_ = memmap([(0, hpa, LARGE, DMA), FINE])
    assert CORE.memmap_check(ctypes.byref(map_), RAM_BASE, RAM_SIZE) is None
    found = ctypes.c_uint64(0)
    assert CORE.memmap_ram(ctypes.byref(map_), PAGE, 8, ctypes.byref(found))
    assert found.value == hpa + ALIAS + PAGE
    assert CORE.memmap_covers(ctypes.byref(map_), hpa, LARGE)
    assert not CORE.memmap_covers(ctypes.byref(map_), hpa + ALIAS, LARGE)


@pytest.mark.parametrize(
    ("gpa", "size", "found"),
    [
        (4 * LARGE, 2 * LARGE, RAM_BASE),
        (6 * LARGE - 1, 1, RAM_BASE + 2 * LARGE - 1),
        (4 * LARGE, 0, None),
        (4 * LARGE - 1, 2, None),
        (6 * LARGE - 1, 2, None),
        (6 * LARGE, 1, None),
        (5 * LARGE, TOP - 1, None),
        (TOP - 1, 2, None),
        (8 * LARGE, PAGE, None),  # a device
        (9 * LARGE, LARGE, RAM_BASE + 8 * LARGE),
    ],
)
def test_memory_at_the_edges(gpa: int, size: int, found: int | None) -> None:
    regions = [FINE, (8 * LARGE, 0x10000000, PAGE, MMIO), (9 * LARGE, RAM_BASE + 8 * LARGE, LARGE, SHARED)]
    assert check(regions) is None
    hpa = ctypes.c_uint64(0)
    assert CORE.memmap_ram(ctypes.byref(memmap(regions)), gpa, size, ctypes.byref(hpa)) == (found is not None)
    assert found is None or hpa.value == found


@pytest.mark.parametrize(
    ("kind", "size", "detail", "fits"),
    [
        (MMIO, PAGE, PAGE - 4, True),
        (MMIO, PAGE, PAGE, False),
        (MMIO, PAGE, 2**32 - 4, False),
        *((MMIO, PAGE, odd, False) for odd in (1, 2, 3)),
        (SHARED, LARGE, 31, True),
        (SHARED, LARGE, 32, False),
        (SHARED, LARGE, 2**32 - 1, False),
        (RAM, LARGE, 2**32 - 1, True),  # ignored for RAM
    ],
)
def test_validity_of_the_detail_field(kind: int, size: int, detail: int, fits: bool) -> None:
    """A device's reset register must be in the device; a shared region must have a valid id."""
    # Devices are outside RAM.
    region = Region(0, RAM_BASE + (RAM_SIZE if kind == MMIO else 0), size, kind, detail)
    wrong = b"a reset register outside its device, or a shared region's id out of range"
    found = CORE.memmap_check(ctypes.byref(Memmap(ctypes.pointer(region), 1)), RAM_BASE, RAM_SIZE)
    assert found == (None if fits else wrong)


@pytest.mark.parametrize("hpa", [HOST_LIMIT - PAGE, HOST_LIMIT, TOP - 2 * PAGE])
def test_a_device_beyond_the_machines_addresses(hpa: int) -> None:
    """Also a device whose end wraps around to 0."""
    assert check([(0, hpa, 2 * PAGE, MMIO)]) == b"a memory region beyond the machine's address space"


SPANS = st.tuples(ANYTHING, ANYTHING).filter(lambda span: span[1] > 0 and sum(span) <= TOP)


@given(st.lists(SPANS, max_size=4), SPANS)
@example([(RAM_BASE, LARGE), (TOP - PAGE, PAGE)], (TOP - 1, 1))
@example([(RAM_BASE, LARGE)], (RAM_BASE - PAGE, PAGE))
@settings(max_examples=examples(200, 2000), deadline=None, derandomize=True)
def test_host_ranges_covered_by_a_map(spans: list[tuple[int, int]], asked: tuple[int, int]) -> None:
    """As the hypervisor checks its own memory, compared with unbounded integers, also up to the
    last address."""
    base, size = asked
    expected = any(hpa < base + size and base < hpa + length for hpa, length in spans)
    regions = memmap([(0, hpa, length, MMIO) for hpa, length in spans])
    assert CORE.memmap_covers(ctypes.byref(regions), base, size) == expected


def place(pieces: list[tuple[int, int, int]]) -> Regions:
    """A valid map of (gap before, size, kind), in large pages; adjacent regions are not adjacent in
    host memory."""
    regions = []
    gpa = 0
    for number, (gap, pages, kind) in enumerate(pieces):
        gpa += gap * LARGE
        base = RAM_BASE + RAM_SIZE if kind == MMIO else RAM_BASE
        regions.append((gpa, base + number * 8 * LARGE, pages * LARGE, kind))
        gpa += pages * LARGE
    return regions


VALID = st.lists(
    st.tuples(st.integers(0, 2), st.integers(1, 3), st.sampled_from((RAM, SHARED, MMIO))), min_size=1, max_size=5
).map(place)


def edges(regions: Regions) -> st.SearchStrategy[int]:
    """Interesting addresses: the boundaries of regions and their neighbours."""
    found = {edge for gpa, _, size, _ in regions for edge in (gpa, gpa + size)}
    return st.sampled_from(sorted({(edge + delta) % TOP for edge in found for delta in (-8, -1, 0, 1, 8)}))


@settings(max_examples=examples(400, 10000), deadline=None, derandomize=True)
@given(st.data(), VALID)
def test_ram_finds_exactly_what_lies_in_one_ram_region(data: st.DataObject, regions: Regions) -> None:
    assert check(regions) is None
    gpa = data.draw(st.one_of(edges(regions), edges(regions), ANYTHING))
    end = data.draw(edges(regions))
    size = data.draw(st.one_of(st.just((end - gpa) % TOP), st.just((end - gpa) % TOP), ANYTHING))
    hpa = ctypes.c_uint64(0)
    found = CORE.memmap_ram(ctypes.byref(memmap(regions)), gpa, size, ctypes.byref(hpa))
    expected = in_ram(regions, gpa, size)
    assert found == (expected is not None)
    if expected is not None:
        assert hpa.value == expected
