# SPDX-License-Identifier: Apache-2.0
"""The bound on the time that a job on a device takes (devices/accel/delay.c)."""

import ctypes
from collections.abc import Iterator
from ctypes import POINTER, c_bool, c_uint, c_uint64, c_void_p

import pytest
from c_headers import structures, values
from core import CORE, TICKS_PER_US, lines
from test_manager import FABRIC, HOLD, READ, Machine, address_of
from test_streams import SIZE, Streams, SysimageHeader, edited

UNKNOWN, BOUNDED, FAILED, BLOCKS, SHARED, CPUS = values(
    "resource.h",
    "RESOURCE_UNKNOWN RESOURCE_BOUNDED RESOURCE_FAILED RESOURCE_BLOCKS RESOURCE_SHARED RESOURCE_CPUS",
)
Header, Overlay = structures("accel_image.h", "accel_image accel_image_overlay")
DEVICES, REGIONS = values("testbed_accel.h", "TESTBED_ACCEL_DEVICES TESTBED_ACCEL_REGIONS")
MAX_VCPUS = values("sysimage.h", "SYSIMAGE_MAX_VCPUS")[0]
CORE.testbed_accel_declare.restype, CORE.testbed_accel_declare.argtypes = None, [c_bool, c_uint, c_uint]
CORE.testbed_delay_bound.restype = c_uint
CORE.testbed_delay_bound.argtypes = [c_uint, c_uint, c_uint64, *[POINTER(c_uint64)] * 2]

PARAMS, LIST_DEPTH = values("fabric_map.h", "FABRIC_REGS_PARAMS FABRIC_REGS_PARAMS_LIST_DEPTH_LSB")

NO_TOP = (1 << 32) - 1
GUEST = 0b1111  # all VMs have the guest model
WORDS, STOP, LIMIT = 64, 1000, 50000
CYCLE_NS, LOOK, SECTION_NS, SOURCES = 10, 100, 1600, 1  # testbed_accel.c


@pytest.fixture(autouse=True)
def declared() -> Iterator[None]:
    """VMs keep their priorities, VM 0's device 0 has the highest, and tasks have a declared time to stop."""
    CORE.testbed_accel_declare(False, 15, STOP)
    yield
    CORE.testbed_accel_declare(True, NO_TOP, 0)


def bound(vm: int, device: int, job: int = 0) -> tuple[int, int]:
    longest, kept = c_uint64(), c_uint64()
    answer = CORE.testbed_delay_bound(vm, device, job, ctypes.byref(longest), ctypes.byref(kept))
    assert answer != BOUNDED or kept.value == HOLD * CYCLE_NS * TICKS_PER_US // 1000
    return answer, longest.value


def expected(vms: int, stop: int, blocked: int = 0) -> int:
    """The bound by docs/real-time.md, in ticks; the longest bitstreams are verified ones. `stop`: of a task, with the
    restoring of its job; `blocked`: the nanoseconds between two polling points of a CPU."""
    turn = REGIONS * (WORDS * 2 * REGIONS // 2 + 17)
    events = 2 * REGIONS + 4
    cycles = 2 * turn + 160 * (REGIONS + 1) + stop + events * (16 + LOOK)
    later = vms + 3 + REGIONS + MAX_VCPUS // 4 + (REGIONS + 1) * vms * DEVICES + vms
    sections = later + events * (3 + REGIONS + 8 + SOURCES)
    return -(-(cycles * CYCLE_NS + sections * SECTION_NS + events * blocked) * TICKS_PER_US // 1000)


def test_the_bound_is_that_of_the_document() -> None:
    """With a declared time to stop, and with the fabric's limit."""
    Machine(1, [9, 1, 1], GUEST)
    assert bound(0, 0) == (BOUNDED, expected(3, 2 * STOP * (REGIONS + 1)))
    CORE.testbed_accel_declare(False, 10, 0)
    Machine(1, [9], GUEST)
    assert bound(0, 0) == (BOUNDED, expected(1, 3 * LIMIT))


def test_a_bound_has_the_job_and_the_polling_points() -> None:
    def block(streams: Streams) -> None:
        image = ctypes.addressof(streams.memory) - streams.rows[0].offset
        SysimageHeader.from_address(image).rt_blocked_ns = 700

    with edited(block):
        Machine(1, [9, 1, 1], GUEST)
    assert bound(0, 0, 300) == (BOUNDED, expected(3, 2 * STOP * (REGIONS + 1), 700) + 300)


def test_what_has_no_bound() -> None:
    """The native model, and devices that the VM does not have."""
    Machine(1, [9, 1], 0b10)
    assert [bound(0, device)[0] for device in (0, DEVICES, 16, 255)] == [BLOCKS, UNKNOWN, UNKNOWN, UNKNOWN]


@pytest.mark.parametrize(("top", "raises", "answer"), [(9, False, SHARED), (10, False, BOUNDED), (15, True, SHARED)])
def test_the_priority_must_be_the_highest(top: int, raises: bool, answer: int) -> None:
    """Equal to another VM's; above it; above one that the other VM may raise."""
    CORE.testbed_accel_declare(raises, top, STOP)
    Machine(1, [3, 9], GUEST)
    lines()
    assert bound(0, 0)[0] == answer
    printed = "vm-a: a refused for an app: vm-b has, or may get, at least its priority in the same regions"
    assert any(line.endswith(printed) for line in lines()) == (answer == SHARED and not raises)
    assert bound(1, 0)[0] == SHARED, "its VM's other devices have the same priority"


def test_a_failed_device() -> None:
    """No bitstream has passed the check at boot."""
    with edited(lambda streams: [streams.put(bytes(SIZE), number) for number in range(REGIONS)]):
        Machine(1, [3], GUEST)
    assert bound(0, 0)[0] == FAILED


def test_overlays() -> None:
    """A device that is absent has no bound, and one beside overlays has it only if its own VM controls them."""
    CORE.testbed_accel_overlays(True)
    Machine(1, [9, 9], GUEST)
    CORE.testbed_accel_overlays(False)
    assert bound(1, 1)[0] == UNKNOWN
    assert bound(0, 0)[0] == BOUNDED
    lines()
    assert bound(1, 0)[0] == SHARED
    assert any(line.endswith("vm-b: a refused for an app: another VM may apply overlay two") for line in lines())
    image = c_void_p.in_dll(CORE, "accels").value  # its first member
    Overlay.from_address(image + Header.from_address(image).overlays_offset).controllers = 3
    assert bound(0, 0)[0] == SHARED


def test_several_harts() -> None:
    Machine(2, [9, 1], GUEST)
    assert bound(0, 0)[0] == CPUS


def test_a_search_list_without_an_entry_for_each_device() -> None:
    """The boot is refused: a client that is in no list would wait for ever."""
    depth, small = FABRIC.fabric_read(PARAMS, 8) >> LIST_DEPTH & 0xFFFF, 2 * DEVICES - 1
    assert depth > small

    def read(offset: int, size: int) -> int:
        value = FABRIC.fabric_read(offset, size)
        return value - (depth - small << LIST_DEPTH) if offset == PARAMS else value

    hooked = READ(read)
    FABRIC.fabric_reset(address_of(CORE.testbed_accel_memory))
    arguments = (GUEST, address_of(hooked), address_of(FABRIC.fabric_write))
    assert not CORE.testbed_accel_boot(1, 2, 0x11, *arguments)
    assert CORE.testbed_accel_boot(1, 1, 0x1, *arguments)
