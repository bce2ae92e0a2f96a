# SPDX-License-Identifier: Apache-2.0
"""The check of the image's section at boot (devices/accel/boot.c, overlay.c): a boot with a wrong one is refused."""

import ctypes
from collections.abc import Callable, Iterator
from ctypes import Structure, c_void_p

import pytest
from c_headers import structures, values
from core import CORE, lines
from test_calls import OK, PAGES, PARAM, call
from test_manager import DEVICES, FABRIC, READ, REQUEST, address_of
from test_streams import EDIT, REGIONS, Streams

(Header, Client, Device, Bitstream, Accel, Frames, Overlay, Fragment, Provided) = structures(
    "accel_image.h",
    "accel_image accel_image_client accel_image_device accel_image_bitstream accel_image_accel accel_image_frames "
    "accel_image_overlay accel_image_fragment accel_image_provided",
)
SysimageHeader, Entry = structures("sysimage.h", "sysimage_header sysimage_section")
ID, PARAMS = values("fabric_map.h", "FABRIC_REGS_ID FABRIC_REGS_PARAMS")
VMS, DEVS, PRRS, LIST_DEPTH = values(
    "fabric_map.h",
    "FABRIC_REGS_PARAMS_VMS_LSB FABRIC_REGS_PARAMS_DEVS_LSB FABRIC_REGS_PARAMS_PRRS_LSB "
    "FABRIC_REGS_PARAMS_LIST_DEPTH_LSB",
)
TABLES = {
    "clients": Client,
    "frames": Frames,
    "devices": Device,
    "bitstreams": Bitstream,
    "accels": Accel,
    "overlays": Overlay,
    "fragments": Fragment,
    "provided": Provided,
}
CLIENTS = 2
MAX_OVERLAYS, MAX_REGIONS = values("accel_image.h", "ACCEL_MAX_OVERLAYS ACCEL_MAX_REGIONS")


class Section:
    """That of the fabric, in an image before its boot."""

    def __init__(self, streams: Streams) -> None:
        image = ctypes.addressof(streams.memory) - streams.rows[0].offset
        self.entry = Entry.from_address(image + SysimageHeader.from_address(image).sections_offset)
        self.start = image + self.entry.offset
        self.header = Header.from_address(self.start)

    def row(self, table: str, index: int) -> Structure:
        kind = TABLES[table]
        start = self.start + getattr(self.header, f"{table}_offset")
        return kind.from_address(start + index * ctypes.sizeof(kind))

    def move(self, table: str, offset: int) -> None:
        setattr(self.header, f"{table}_offset", offset)


@pytest.fixture(autouse=True)
def overlays() -> Iterator[None]:
    CORE.testbed_accel_overlays(True)
    yield
    CORE.testbed_accel_overlays(False)


def boots(
    change: Callable[[Section], object] = lambda section: None, read: Callable = FABRIC.fabric_read, cpus: int = 1
) -> bool:
    edit = EDIT(lambda start, rows: change(Section(Streams(start, rows))) and None)
    hooked = READ(read)
    CORE.testbed_accel_edit(ctypes.cast(edit, c_void_p))
    try:
        FABRIC.fabric_reset(address_of(CORE.testbed_accel_memory))
        return CORE.testbed_accel_boot(cpus, CLIENTS, 0x11, 0, address_of(hooked), address_of(FABRIC.fabric_write))
    finally:
        CORE.testbed_accel_edit(None)
        lines()  # the next test does not see what this boot reports


def test_the_section_of_the_testbed() -> None:
    assert boots()


@pytest.mark.parametrize("table", TABLES)
def test_a_table_that_does_not_lie_in_the_section(table: str) -> None:
    """Not aligned; behind the end, also with its end beyond the numbers; across the end; longer than the most."""
    element = ctypes.sizeof(TABLES[table])

    def behind(section: Section, rows: int = 0) -> None:
        section.move(table, (section.entry.size + 8 - rows * element) & ~7)

    assert not boots(lambda section: section.move(table, getattr(section.header, f"{table}_offset") + 4))
    assert not boots(behind)
    assert not boots(lambda section: behind(section, 1))
    assert not boots(lambda section: section.move(table, (1 << 32) - 8))
    assert not boots(lambda section: setattr(section.header, f"n{table}", 1 << 31))


def test_an_empty_table_behind_the_others() -> None:
    def empty(section: Section) -> None:
        section.move("frames", section.entry.size)
        section.header.nframes = 0

    assert boots(empty)


def test_the_most_rows_of_a_table() -> None:
    """Rows behind those of the overlays, of which no overlay has one."""

    def lengthen(section: Section, count: int) -> None:
        section.entry.size += 4096
        section.header.nfragments = count

    most = MAX_OVERLAYS * MAX_REGIONS
    assert boots(lambda section: lengthen(section, most))
    assert not boots(lambda section: lengthen(section, most + 1))


def test_a_section_without_tables() -> None:
    """It has a header, in full."""

    def shorten(section: Section, size: int) -> None:
        section.entry.size = size
        for table in TABLES:
            section.move(table, 0)
            setattr(section.header, f"n{table}", 0)

    assert boots(lambda section: shorten(section, ctypes.sizeof(Header)))
    assert not boots(lambda section: shorten(section, ctypes.sizeof(Header) - 8))


@pytest.mark.parametrize(
    ("table", "index", "field", "value"),
    [
        ("clients", 0, "vm", CLIENTS),
        ("clients", 1, "vm", CLIENTS),
        ("clients", 1, "vm", (1 << 32) - 1),
        ("accels", 0, "gpa", 0x18101000),
        ("accels", 2 * DEVICES - 1, "client", CLIENTS),
        ("accels", 2 * DEVICES - 1, "device", DEVICES),
        ("accels", 2 * DEVICES - 1, "gpa", 0x18100000),
        ("overlays", 0, "first_fragment", 2),
        ("overlays", 1, "first_fragment", 3),
        ("overlays", 1, "first_fragment", 4),
        ("overlays", 1, "first_fragment", (1 << 32) - 1),
        ("overlays", 1, "nfragments", 0),
        ("overlays", 0, "nfragments", 4),
        ("overlays", 1, "nfragments", (1 << 32) - 1),
        ("overlays", 0, "first_provided", 1),
        ("overlays", 1, "first_provided", 3),
        ("overlays", 0, "nprovided", 3),
        ("overlays", 0, "nprovided", (1 << 32) - 1),
        ("fragments", 1, "region", REGIONS),
        ("fragments", 1, "device", DEVICES),
        ("fragments", 2, "region", REGIONS),
        ("provided", 0, "client", CLIENTS),
        ("provided", 0, "client", (1 << 32) - 1),
        ("provided", 1, "device", DEVICES),
        ("provided", 1, "device", 16),
    ],
)
def test_a_row_that_names_what_does_not_exist(table: str, index: int, field: str, value: int) -> None:
    assert not boots(lambda section: setattr(section.row(table, index), field, value))


def test_a_device_behind_the_last_of_the_fabric() -> None:
    def name(section: Section, device: int) -> None:
        row = section.row("accels", 2 * DEVICES - 1)
        row.device, row.gpa = device, PAGES + device * 0x1000

    assert boots(lambda section: name(section, DEVICES - 1))
    assert not boots(lambda section: name(section, DEVICES))


def test_a_vm_that_is_no_client() -> None:
    def leave_out(section: Section) -> None:
        header = section.header
        header.nclients, header.naccels, header.noverlays, header.nprovided = 1, DEVICES, 0, 0

    assert boots(leave_out, cpus=CLIENTS)
    assert [call(vm, REQUEST, 0)[0] for vm in range(CLIENTS)] == [OK, PARAM]


@pytest.mark.parametrize(("rows", "most", "field"), [("fragments", 8, "nfragments"), ("provided", 32, "nprovided")])
def test_the_most_rows_of_an_overlay(rows: str, most: int, field: str) -> None:
    """In a table behind the others, which is zero: region 0 and device 0."""

    def lengthen(section: Section, count: int) -> None:
        start = section.entry.size
        section.move(rows, start)
        section.entry.size = start + 1024
        setattr(section.header, field, count)
        setattr(section.row("overlays", 0), field, count)

    assert boots(lambda section: lengthen(section, most))
    assert not boots(lambda section: lengthen(section, most + 1))


def test_the_last_rows_of_the_tables() -> None:
    def last(section: Section) -> None:
        first = section.row("overlays", 0)
        first.first_fragment, first.nfragments, first.first_provided, first.nprovided = 0, 3, 2, 0

    assert boots(last)


def params(field: int, width: int, value: int) -> Callable[[int, int], int]:
    """The fabric with another value of PARAMS, or of ID."""
    mask = (1 << width) - 1

    def read(offset: int, size: int) -> int:
        found = FABRIC.fabric_read(offset, size)
        return found & ~(mask << field) | value << field if offset == PARAMS else found

    return read


def test_the_fabric_is_large_enough() -> None:
    """With overlays, the manager is one more VM, and has one more entry of the search list."""
    widths = values(
        "fabric_map.h",
        "FABRIC_REGS_PARAMS_VMS_WIDTH FABRIC_REGS_PARAMS_DEVS_WIDTH FABRIC_REGS_PARAMS_PRRS_WIDTH "
        "FABRIC_REGS_PARAMS_LIST_DEPTH_WIDTH",
    )
    for field, width, least in zip(
        (VMS, DEVS, PRRS, LIST_DEPTH), widths, (CLIENTS + 1, DEVICES, REGIONS, CLIENTS * DEVICES + 1), strict=True
    ):
        assert boots(read=params(field, width, least))
        assert not boots(read=params(field, width, least - 1))
        assert boots(read=params(field, width, least + 1)) == (field != PRRS)
        if field in (VMS, LIST_DEPTH):
            assert boots(lambda section: setattr(section.header, "noverlays", 0), params(field, width, least - 1))


def test_another_device_at_the_address() -> None:
    assert not boots(read=lambda offset, size: 0 if offset == ID else FABRIC.fabric_read(offset, size))


@pytest.mark.parametrize("regions", [0, REGIONS - 1, REGIONS + 1, 8, 9, (1 << 32) - 1])
def test_another_number_of_regions(regions: int) -> None:
    assert not boots(lambda section: setattr(section.header, "regions", regions))


def test_more_regions_than_the_tables_have() -> None:
    for regions, sound in ((MAX_REGIONS, True), (MAX_REGIONS + 1, False)):
        read = params(PRRS, values("fabric_map.h", "FABRIC_REGS_PARAMS_PRRS_WIDTH")[0], regions)
        assert boots(lambda section, count=regions: setattr(section.header, "regions", count), read) == sound
