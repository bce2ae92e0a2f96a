# SPDX-License-Identifier: Apache-2.0
"""
The hypervisor's check of the system image with arbitrarily damaged images: every accepted image
must boot, all its VMs must start, and all invariants must hold. The sanitizers detect accesses
outside the image.
"""

import ctypes
import struct
import zlib

import pytest
from c_headers import ROOT, values
from core import TICKS_PER_US, examples, load
from fuzzseeds import Shrinker, image_of
from hypothesis import given, settings
from hypothesis import strategies as st

from tessera.image import layout

CORE = load()
CONFIG_SIZE = 16384
VCPUS = [1, 2, 1]
QUANTUM_US = 1000

# Offsets in the image of tests/unit/testbed.c; tests/image compares the layout with the header.
HEADER = layout.HEADER.size
VMS = HEADER
VM = layout.VM.size
REGIONS = VMS + 16 * VM
LOADS = REGIONS + 16 * layout.REGION.size
FIXUPS = LOADS + 16 * layout.LOAD.size
SECTIONS = FIXUPS + 16 * layout.FIXUP.size
TAG, NSECTIONS_MADE = values("testbed.h", "TESTBED_TAG TESTBED_SECTIONS")
END = SECTIONS + NSECTIONS_MADE * (layout.SECTION.size + 8)
NSECTIONS, SECTIONS_OFFSET = (layout.HEADER.offset(field) for field in ("nsections", "sections_offset"))
SECTION_AT, SECTION_SIZE = (SECTIONS + layout.SECTION.offset(field) for field in ("offset", "size"))
TOTAL_SIZE, NHARTS, NVMS, VMS_OFFSET, QUANTUM, TIMEBASE, RAM_BASE, NAME = (
    layout.HEADER.offset(field)
    for field in ("total_size", "nharts", "nvms", "vms_offset", "quantum_us", "timebase_hz", "ram_base", "name")
)
NVCPUS, RT_APPS, SEND_TO, IRQS_PER_MS, SEED, NREGIONS, REGIONS_OFFSET, LOADS_OFFSET, NFIXUPS = (
    layout.VM.offset(field)
    for field in (
        *("nvcpus", "rt_apps", "send_to", "irqs_per_ms", "seed"),
        *("nregions", "regions_offset", "loads_offset", "nfixups"),
    )
)
FIXED_LOAD, FIXED_AT, FIXED_SIZE = (FIXUPS + layout.FIXUP.offset(field) for field in ("load", "offset", "size"))

INTERESTING = (0, 1, 7, 8, 15, 16, 17, 31, 32, 255, 4095, 4096, CONFIG_SIZE - 8, CONFIG_SIZE, CONFIG_SIZE + 4096)
BIG = (0x7FFFFFFF, 0x80000000, 0xFFFFFFF8, 0xFFFFFFFF)
WORD = st.one_of(st.sampled_from(INTERESTING + BIG), st.integers(0, 2**32 - 1))
# The fields in use: the header after its checksum, three VMs and their first entries.
PLACES = st.one_of(
    st.integers(TOTAL_SIZE, RAM_BASE - 4),  # the board's RAM must be correct
    st.integers(NAME, HEADER - 4),
    st.integers(VMS, VMS + len(VCPUS) * VM - 4),
    st.integers(REGIONS, REGIONS + len(VCPUS) * 32 - 4),
    st.integers(LOADS, LOADS + len(VCPUS) * layout.LOAD.size - 4),
    st.integers(FIXUPS, FIXUPS + len(VCPUS) * 32 - 4),
    st.integers(SECTIONS, SECTIONS + NSECTIONS_MADE * layout.SECTION.size - 4),
).map(lambda at: at & ~3)


def make() -> int:
    return CORE.testbed_image_make(2, len(VCPUS), (ctypes.c_uint * len(VCPUS))(*VCPUS), QUANTUM_US)


def put(image: int, at: int, value: int) -> None:
    ctypes.memmove(image + at, struct.pack("<I", value), 4)


def put_wide(image: int, at: int, value: int) -> None:
    ctypes.memmove(image + at, struct.pack("<Q", value), 8)


def refused(image: int) -> str:
    CORE.testbed_image_seal(image)
    return (CORE.testbed_image_check(image) or b"").decode()


def section(image: int, tag: int) -> bytes | None:
    """The section that a component would find; None if there is none."""
    size = ctypes.c_uint32(0xFFFFFFFF)
    at = CORE.sysimage_section(image, tag, ctypes.byref(size))
    if at is None:
        assert size.value == 0xFFFFFFFF, "a size without a section"
        return None
    assert at % 8 == 0
    assert 0 < size.value <= CONFIG_SIZE - (at - image), "a section that ends outside the tables"
    return ctypes.string_at(at, size.value)


def assert_boots(image: int) -> None:
    nsections, offset = struct.unpack("<II", ctypes.string_at(image + NSECTIONS, 8))
    for index in range(nsections):
        (tag,) = struct.unpack("<I", ctypes.string_at(image + offset + index * layout.SECTION.size, 4))
        assert section(image, tag) is not None
    assert CORE.testbed_boot_image(image), "an accepted image does not boot"
    nvms = struct.unpack("<I", ctypes.string_at(image + NVMS, 4))[0]
    for vm in range(nvms):
        CORE.testbed_vm_start(0, vm)
    assert CORE.testbed_run_until_idle()
    assert CORE.testbed_violation() is None


def test_unchanged_image_is_valid() -> None:
    image = make()
    assert refused(image) == ""
    assert_boots(image)


@settings(max_examples=examples(400, 5000), deadline=None, derandomize=True)
@given(st.lists(st.tuples(PLACES, WORD), min_size=1, max_size=3))
def test_accepted_images_boot(changes: list[tuple[int, int]]) -> None:
    image = make()
    for at, value in changes:
        put(image, at, value)
    CORE.testbed_image_seal(image)
    # With up to three changed fields the system may still be valid and must then work. Many VCPUs
    # or harts take time.
    if CORE.testbed_image_check(image) is None:
        assert_boots(image)


@settings(max_examples=examples(300), deadline=None, derandomize=True)
@given(st.integers(NHARTS, END - 1), st.integers(1, 255))
def test_any_flipped_byte_breaks_the_checksum(at: int, flip: int) -> None:
    image = make()
    byte = ctypes.string_at(image + at, 1)[0]
    ctypes.memmove(image + at, bytes([byte ^ flip]), 1)
    assert CORE.testbed_image_check(image) == b"a wrong checksum"


def test_each_kind_of_error_is_reported() -> None:
    def after(*changes: tuple[int, int]) -> str:
        image = make()
        for at, value in changes:
            put(image, at, value)
        return refused(image)

    assert after((0, 0)) == "no system image after the hypervisor"
    assert after((8, 99)) == "a system image of another version"
    assert after((TOTAL_SIZE, 100)) == "inconsistent sizes"
    assert after((NHARTS, 0)) == "a wrong number of harts or VMs"
    assert after((NHARTS, 9)) == "a wrong number of harts or VMs"
    assert after((NVMS, 0)) == "a wrong number of harts or VMs"
    assert after((NVMS, 17)) == "a wrong number of harts or VMs"
    assert after((VMS_OFFSET, CONFIG_SIZE)) == "a wrong number of harts or VMs"
    assert after((QUANTUM, 0)) == "a wrong quantum, timebase or name"
    for hz in (0, 500000, 1500000, 10000001):
        assert after((TIMEBASE, hz)) == "a wrong quantum, timebase or name"
    assert after((VMS + 0, 0)) == "a VM without a name"
    assert after((VMS + NVCPUS, 0)) == "a VM with a wrong number of VCPUs"
    assert after((VMS + NVCPUS, 9)) == "a VM with a wrong number of VCPUs"
    assert after((VMS + RT_APPS, 65)) == "a VM with a wrong number of RT apps"
    assert after((VMS + SEND_TO, 1 << 16)) == "a VM that may send to a VM that does not exist"
    for line in ("uart_irq", "message_irq", "rtc_irq"):
        assert after((VMS + layout.VM.offset(line), 32)) == "a VM with a wrong interrupt number or rate", line
    assert after((VMS + IRQS_PER_MS, layout.MAX_IRQS_PER_MS)) == ""
    assert after((VMS + IRQS_PER_MS, layout.MAX_IRQS_PER_MS + 1)) == "a VM with a wrong interrupt number or rate"
    assert after((VMS + NREGIONS, 0)) == "a VM whose first memory region is not RAM"
    assert after((REGIONS + 24, 2)) == "a VM whose first memory region is not RAM"
    assert after((VMS + RT_APPS, 60), (VMS + VM + RT_APPS, 5)) == "too many VCPUs"
    assert after((VMS + REGIONS_OFFSET, CONFIG_SIZE)) == "a table outside the image"
    assert after((VMS + NREGIONS, 9)) == "a table outside the image"
    assert after((VMS + LOADS_OFFSET, LOADS + 4)) == "a table outside the image"  # not aligned
    assert after((REGIONS + 32 + 8, 0x80000000)) == "two VMs that share memory"
    assert after((REGIONS + 8, 0x84000000)) == "a memory region outside the board's RAM"
    assert after((VMS + SEED, 0x80000000 + 0x200000 - 32)) == ""
    assert after((VMS + SEED, 0x80000000 + 0x200000 - 31)) == "a seed outside the guest's memory"
    assert after((VMS + SEED, 0x80000000), (VMS + SEED + 4, 1)) == "a seed outside the guest's memory"
    assert after((LOADS, 0x80000004)) == "a guest image outside the guest's memory"
    assert after((LOADS, 0x801FFFF8), (LOADS + 16, 16)) == "a guest image outside the guest's memory"
    assert after((LOADS + 8, 16384 + 8)) == "a truncated guest image"
    assert after((LOADS + 16, 8192)) == "a truncated guest image"
    one_of_64_bytes = ((VMS + NFIXUPS, 1), (LOADS + 16, 64))
    assert after(*one_of_64_bytes, (FIXED_AT, 48), (FIXED_SIZE, 16)) == ""
    assert after(*one_of_64_bytes, (FIXED_LOAD, 1), (FIXED_SIZE, 8)) == "a fixup outside its load"
    for wrong in ((FIXED_SIZE, 17), (FIXED_AT, 65), (FIXED_AT, 49)):
        assert after(*one_of_64_bytes, (FIXED_SIZE, 16), wrong) == "a fixup outside its load"


def test_a_section_is_found_by_its_tag() -> None:
    image = make()
    assert refused(image) == ""
    for index in range(NSECTIONS_MADE):
        assert section(image, TAG + index) == struct.pack("<Q", TAG + index)
    assert section(image, TAG + NSECTIONS_MADE) is None
    put(image, NSECTIONS, 1)
    assert refused(image) == ""
    assert section(image, TAG + 1) is None
    put(image, NSECTIONS, 0)
    assert refused(image) == ""
    assert section(image, TAG) is None


def test_a_device_is_found_by_its_kind_and_its_vm() -> None:
    image = make()
    assert CORE.sysimage_device(image, 7, 0) is None  # an image without such devices
    devices = [(7, 0), (9, 1), (7, 1)]
    for index, (kind, vm) in enumerate(devices):
        record = layout.DEVICE.pack(kind=kind, vm=vm, gpa=0x1000 * index, irq=0, reserved=0)
        ctypes.memmove(image + FIXUPS + index * layout.DEVICE.size, record, layout.DEVICE.size)
    for field, value in (("tag", layout.DEVICES_TAG), ("offset", FIXUPS), ("size", 3 * layout.DEVICE.size)):
        put(image, SECTIONS + layout.SECTION.offset(field), value)
    for index, (kind, vm) in enumerate(devices):
        assert CORE.sysimage_device(image, kind, vm) == image + FIXUPS + index * layout.DEVICE.size
    for kind, vm in ((9, 0), (7, 2), (8, 1)):
        assert CORE.sysimage_device(image, kind, vm) is None


def test_sections_outside_the_tables() -> None:
    def after(*changes: tuple[int, int]) -> str:
        image = make()
        for at, value in changes:
            put(image, at, value)
        return refused(image)

    table, data = "a table of sections outside the image", "a section outside the image"
    last = CONFIG_SIZE - NSECTIONS_MADE * layout.SECTION.size
    assert after((NSECTIONS, layout.MAX_SECTIONS + 1)) == table
    assert after((SECTIONS_OFFSET, SECTIONS + 4)) == table
    for offset in (last + 8, CONFIG_SIZE, CONFIG_SIZE + 8, 0xFFFFFFF8):
        assert after((SECTIONS_OFFSET, offset)) == table
    assert after((SECTION_AT, CONFIG_SIZE - 8)) == ""
    for offset in (CONFIG_SIZE, CONFIG_SIZE + 8, 0xFFFFFFF8, SECTIONS + 4):
        assert after((SECTION_AT, offset)) == data
    assert after((SECTION_SIZE, 0)) == data
    assert after((SECTION_AT, 0), (SECTION_SIZE, CONFIG_SIZE)) == ""
    for size in (CONFIG_SIZE + 1, 0xFFFFFFFF):
        assert after((SECTION_AT, 0), (SECTION_SIZE, size)) == data
    second = SECTION_SIZE + layout.SECTION.size
    assert after((second, 0)) == data  # each section is checked, not only the first


def test_names_are_terminated() -> None:
    """Names of the system and of VMs: a name that fills its field has no terminator."""
    for at, size, wrong in (
        (NAME, 32, "a wrong quantum, timebase or name"),
        (VMS + VM + layout.VM.offset("name"), 16, "a VM without a name"),
    ):
        for length, said in ((size, wrong), (size - 1, "")):
            image = make()
            ctypes.memmove(image + at, b"x" * length + b"\0" * (size - length), size)
            assert refused(image) == said


def test_truncated_image() -> None:
    image = make()
    size = struct.unpack("<Q", ctypes.string_at(image + TOTAL_SIZE, 8))[0]
    for wrong in (size - 8, size - 4096, size - 4):
        put_wide(image, TOTAL_SIZE, wrong)
        assert refused(image) == "a wrong size: it is truncated"
    put_wide(image, TOTAL_SIZE, size)
    put(image, layout.HEADER.offset("trace_kib"), 2**16)
    assert refused(image) == "too much trace"


def share(image: int, vm: int, **changes: int) -> None:
    """Gives a VM a shared region, the same for each VM except for `changes`."""
    at = REGIONS + vm * layout.REGION.size
    values = {"gpa": 0x80000000, "hpa": 0x80600000, "size": 0x200000, "kind": 2, "detail": 3} | changes
    struct.pack_into("<QQQII", buffer := ctypes.create_string_buffer(32), 0, *values.values())
    ctypes.memmove(image + at, buffer, 32)


def test_shared_regions_must_match() -> None:
    """Two VMs may share a region only with equal address, size and id."""

    def together(**changes: int) -> str:
        image = make()
        for vm in range(2):
            # The first region of each VM is RAM; the shared region follows in the entries of the
            # third and fourth VM.
            put(image, VMS + vm * VM + NREGIONS, 2)
            put(image, VMS + vm * VM + REGIONS_OFFSET, REGIONS + (4 + 2 * vm) * layout.REGION.size)
            own = (0x80000000, 0x80000000 + vm * 0x200000, 0x200000, 0, 0)
            struct.pack_into("<QQQII", buffer := ctypes.create_string_buffer(32), 0, *own)
            ctypes.memmove(image + REGIONS + (4 + 2 * vm) * layout.REGION.size, buffer, 32)
            share(image, 5 + 2 * vm, gpa=0xC0000000, **(changes if vm == 1 else {}))
        return refused(image)

    assert together() == ""
    assert together(detail=4) == "two VMs that share memory"
    assert together(size=0x400000) == "two VMs that share memory"
    assert together(hpa=0x80400000, size=0x400000) == "two VMs that share memory"
    assert together(kind=0) == "two VMs that share memory"
    assert together(hpa=0x80800000, kind=0) == ""
    # With another address for CPUs it is the same memory.
    assert together(kind=3, detail=0x40000000) == "two VMs that share memory"
    assert together(hpa=0x80800000, kind=3, detail=0x40000000) == ""


def test_limit_of_vcpus() -> None:
    """The limit on the VCPUs of all VMs together."""
    for last, wrong in ((8, ""), (9, "a VM with a wrong number of VCPUs")):
        assert refused(CORE.testbed_image_make(2, 12, (ctypes.c_uint * 12)(*[8] * 11, last), QUANTUM_US)) == wrong
    assert_boots(CORE.testbed_image_make(2, 12, (ctypes.c_uint * 12)(*[8] * 12), QUANTUM_US))
    image = CORE.testbed_image_make(2, 13, (ctypes.c_uint * 13)(*[8] * 12, 1), QUANTUM_US)
    assert refused(image) == "too many VCPUs"


@pytest.mark.parametrize("system", ["systems/hello.dts", "tests/image/fabric.dts"])
def test_seeds_of_the_fuzzer_are_accepted(system: str) -> None:
    """A fuzzer whose seeds are refused hardly gets beyond the check."""
    image = bytearray(Shrinker(image_of(ROOT / system)).small())
    fields = layout.HEADER.unpack(bytes(image))
    config_size, total_size = fields["config_size"], fields["total_size"]
    assert isinstance(config_size, int) and isinstance(total_size, int) and total_size == len(image)
    # As seal() in tests/fuzz/fuzz_image.c.
    struct.pack_into("<QQ", image, RAM_BASE, *values("host.h", "HOST_RAM_BASE HOST_RAM_SIZE"))
    struct.pack_into("<Q", image, total_size - 8, layout.END)
    struct.pack_into("<I", image, layout.HEADER.offset("checksum"), zlib.crc32(image[16:config_size]))
    buffer = ctypes.create_string_buffer(len(image) + layout.PAGE)
    at = layout.align_up(ctypes.addressof(buffer), layout.PAGE)
    ctypes.memmove(at, bytes(image), len(image))
    assert CORE.sysimage_check(at, len(image)) is None


def test_ticks_follow_the_timebase() -> None:
    image = make()
    put_wide(image, TIMEBASE, 24_000_000)
    CORE.testbed_image_seal(image)
    assert CORE.testbed_boot_image(image)
    assert TICKS_PER_US == 10
    for vm in range(len(VCPUS)):
        assert CORE.testbed_vm_start(0, vm)
    assert CORE.testbed_run_until_idle()
    assert CORE.host_next_timer() == QUANTUM_US * 24
