# SPDX-License-Identifier: Apache-2.0
"""The hypercalls about devices, and of a monitor (devices/accel/calls.c, monitor.c), over the fabric's RTL."""

import ctypes
from collections.abc import Iterator
from ctypes import Structure, c_bool, c_uint, c_uint32, c_uint64, c_void_p

import pytest
from c_headers import structures, values
from core import CORE
from rt import boot
from test_manager import (
    CMD,
    DEVICES,
    DONE,
    FABRIC,
    HOLD,
    INVALID_STATE,
    OUTSIDE,
    RAM,
    RELEASE,
    REQUEST,
    STATUS,
    WAITS,
    Machine,
    started,
)

ENUMERATE, GET_STATS, EVENTS, SET_PRIORITY, SET_MODEL, GET_REGION, GET_CLIENT = values(
    "accel_abi.h",
    "HCALL_ACCEL_ENUMERATE HCALL_ACCEL_GET_STATS HCALL_ACCEL_EVENTS HCALL_ACCEL_SET_PRIORITY HCALL_ACCEL_SET_MODEL "
    "HCALL_ACCEL_GET_REGION HCALL_ACCEL_GET_CLIENT",
)
APPLY, REMOVE, QUERY = values(
    "accel_abi.h", "HCALL_ACCEL_APPLY_OVERLAY HCALL_ACCEL_REMOVE_OVERLAY HCALL_ACCEL_OVERLAY_STATUS"
)
OK, DENIED, PARAM, ADDRESS = values(
    "hypercall_abi.h", "HCALL_OK HCALL_ERR_DENIED HCALL_ERR_INVALID_PARAM HCALL_ERR_INVALID_ADDRESS"
)
READY, WAIT, PREEMPT, PAGES = values(
    "accel_abi.h", "ACCEL_EVENT_READY ACCEL_EVENT_WAIT ACCEL_EVENT_PREEMPT ACCEL_PAGES"
)
IS_CONNECTED, IS_WAITING = values("accel_abi.h", "ACCEL_STATUS_CONNECTED ACCEL_STATUS_WAITING")
STATE_IDLE, STATE_HOLD, REGIONS = values(
    "accel_abi.h testbed_accel.h", "ACCEL_REGION_IDLE ACCEL_REGION_HOLD TESTBED_ACCEL_REGIONS"
)
HOLD_TIME, STOP_TIME = values("fabric_map.h", "FABRIC_REGS_HOLD_TIME FABRIC_REGS_STOP_TIME")
Info, Stats, Region, Client = structures("accel_abi.h", "accel_info accel_stats accel_region accel_client")
(Header,) = structures("accel_image.h", "accel_image")
NO_TOP = (1 << 32) - 1
MEMORY = RAM + 0x200  # where calls write
SMALL = 4  # a device that fits the last region only
CYCLES = (64 + 17, 2 * 64 + 17)  # of a configuration, by the device's number modulo 2: odd ones are verified first
GUEST = 1  # model
EVENT_IRQ = 11  # testbed_accel.c

CORE.testbed_accel_declare.restype, CORE.testbed_accel_declare.argtypes = None, [c_bool, c_uint, c_uint]
CORE.testbed_virtio_lines.restype, CORE.testbed_virtio_lines.argtypes = c_uint32, [c_uint]
CORE.testbed_accel_overlays.restype, CORE.testbed_accel_overlays.argtypes = None, [c_bool]


def call(vm: int, number: int, a0: int = 0, a1: int = 0, a2: int = 0) -> tuple[int, int]:
    value = c_uint64()
    return CORE.testbed_hypercall(vm, number, a0, a1, a2, ctypes.byref(value)), value.value


def clear(vm: int = 0) -> None:
    ctypes.memset(CORE.testbed_memory(vm, MEMORY), 0, 256)


def written(kind: type[Structure], vm: int = 0):
    return kind.from_buffer_copy(ctypes.string_at(CORE.testbed_memory(vm, MEMORY), ctypes.sizeof(kind)))


def check_table(number: int, kind: type[Structure], count: int) -> None:
    """A call of an index, which writes an element: wrong sizes and addresses, and indices behind the last."""
    size = ctypes.sizeof(kind)
    clear()
    for index in (0, count - 1, count):
        assert [call(0, number, index, MEMORY, wrong) for wrong in (0, size - 8, size + 8)] == [(PARAM, 0)] * 3
    assert [call(0, number, index, OUTSIDE, size) for index in (0, count - 1)] == [(ADDRESS, 0)] * 2
    assert [call(0, number, index, OUTSIDE, size) for index in (count, count + 1, 255)] == [(OK, count)] * 3
    assert call(0, number, count, MEMORY, size) == (OK, count)
    assert bytes(written(kind)) == bytes(size)


def connect(machine: Machine, vm: int, device: int) -> None:
    while CORE.testbed_accel_store(vm, device, CMD, 0) != DONE:
        machine.pass_time(100)
        machine.settle()


def test_enumerate() -> None:
    Machine(1, [1])
    check_table(ENUMERATE, Info, DEVICES)
    for device in range(DEVICES):
        assert call(0, ENUMERATE, device, MEMORY, ctypes.sizeof(Info)) == (OK, DEVICES)
        info = written(Info)
        assert (info.name, info.device) == (b"abcdef"[device : device + 1], device)
        assert (info.task, info.page) == (device + 1, PAGES + device * 0x1000)


def test_devices_that_a_vm_does_not_have() -> None:
    """No such number, or a device that an overlay provides, which is not applied."""
    CORE.testbed_accel_overlays(True)
    Machine(2, [1, 1])
    CORE.testbed_accel_overlays(False)
    for device in (1, 3, DEVICES, 15, 16, 255):
        calls = [(number, device, 0, 0) for number in (REQUEST, RELEASE, STATUS, SET_PRIORITY, SET_MODEL)]
        for one in (*calls, (GET_STATS, device, MEMORY, ctypes.sizeof(Stats))):
            assert call(1, *one) == (PARAM, 0), one
    assert call(1, REQUEST, 0)[0] == OK
    for index, device in enumerate((0, 2, 4, 5)):
        assert call(1, ENUMERATE, index, MEMORY, ctypes.sizeof(Info)) == (OK, 4)
        assert written(Info, 1).device == device


@pytest.mark.parametrize("device", [0, 1, SMALL])
def test_status(device: int) -> None:
    machine = Machine(1, [9], GUEST)
    idle = 9 << 16 | GUEST << 24 | CYCLES[device % 2] << 32
    assert call(0, STATUS, device) == (OK, idle)
    assert call(0, REQUEST, device) == (OK, idle | IS_WAITING)
    assert call(0, STATUS, device) == (OK, idle | IS_WAITING)
    machine.pass_time(200)
    machine.settle()
    connected = idle | IS_CONNECTED | (2 << 8 if device == SMALL else 0)
    assert call(0, STATUS, device) == (OK, connected)
    assert call(0, EVENTS) == (OK, READY << device)
    assert call(0, REQUEST, device) == (OK, connected)
    assert call(0, GET_STATS, device, MEMORY, ctypes.sizeof(Stats)) == (OK, 0)
    assert written(Stats).requests == 1
    assert call(0, RELEASE, device) == (OK, 0)
    assert call(0, STATUS, device)[1] & 0xFF == 0


def test_release_of_a_request_that_waits() -> None:
    machine = Machine(2, [2, 1])
    job = started(machine, 0, SMALL, 400)
    assert call(1, REQUEST, SMALL)[1] & 0xFF == IS_WAITING
    assert call(1, RELEASE, SMALL) == (OK, 0)
    assert call(1, STATUS, SMALL)[1] & 0xFF == 0
    for _ in range(20):
        machine.pass_time(100)
        machine.settle()
    assert job.is_over()
    assert [call(vm, STATUS, SMALL)[1] & 0xFF for vm in range(2)] == [IS_CONNECTED, 0]


def test_release_during_the_configuration() -> None:
    machine = Machine(1, [1])
    assert call(0, REQUEST, SMALL)[0] == OK
    assert call(0, RELEASE, SMALL) == (INVALID_STATE, 0)
    machine.pass_time(200)
    machine.settle()
    assert call(0, STATUS, SMALL)[1] & 0xFF == IS_CONNECTED


def test_release_of_a_device_whose_job_runs() -> None:
    machine = Machine(1, [1])
    job = started(machine, 0, SMALL, 1600)
    assert call(0, RELEASE, SMALL) == (INVALID_STATE, 0)
    assert not job.is_over()


@pytest.fixture
def fixed_priorities() -> Iterator[None]:
    CORE.testbed_accel_declare(False, NO_TOP, 0)
    yield
    CORE.testbed_accel_declare(True, NO_TOP, 0)


@pytest.mark.usefixtures("fixed_priorities")
def test_priority_without_the_right() -> None:
    Machine(1, [3])
    assert call(0, SET_PRIORITY, 0, 4) == (DENIED, 0)
    assert call(0, STATUS, 0)[1] >> 16 & 0xFF == 3


def test_priority_and_model_last_until_the_restart() -> None:
    machine = Machine(1, [3])
    assert [call(0, SET_PRIORITY, 0, wrong) for wrong in (16, 255, 1 << 32)] == [(PARAM, 0)] * 3
    assert [call(0, SET_MODEL, 0, wrong) for wrong in (2, 255, 1 << 32)] == [(PARAM, 0)] * 3
    for priority, model in ((15, GUEST), (0, 0), (7, GUEST)):
        assert call(0, SET_PRIORITY, 0, priority) == (OK, 0)
        assert call(0, SET_MODEL, 0, model) == (OK, 0)
        assert call(0, STATUS, 0)[1] >> 16 & 0xFFFF == model << 8 | priority
    assert CORE.testbed_accel_store(0, 0, CMD, 0) == DONE  # an event
    assert CORE.testbed_vm_stop(0, 0, True)
    machine.settle()
    assert call(0, STATUS, 0)[1] >> 16 & 0xFFFF == 3
    assert call(0, EVENTS) == (OK, 0)


def test_status_of_the_next_life() -> None:
    """Not the region that the last one had."""
    machine = Machine(1, [9])
    before = call(0, STATUS, SMALL)
    connect(machine, 0, SMALL)
    assert call(0, STATUS, SMALL)[1] >> 8 & 0xFF == 2
    assert CORE.testbed_vm_stop(0, 0, True)
    machine.settle()
    assert call(0, STATUS, SMALL) == before


def test_a_priority_is_that_of_the_next_request() -> None:
    machine = Machine(2, [1, 1])
    started(machine, 0, SMALL, 1600)
    assert call(1, SET_PRIORITY, SMALL, 2) == (OK, 0)
    assert call(1, REQUEST, SMALL)[1] & 0xFF == IS_WAITING
    for _ in range(40):
        machine.pass_time(10)
        machine.settle()
    assert [call(vm, STATUS, SMALL)[1] & 0xFF for vm in range(2)] == [IS_WAITING, IS_CONNECTED], "the job is saved"


def test_statistics() -> None:
    """VM 1's request waits for VM 0's job, which then loses its region."""
    machine = Machine(2, [1, 1])
    size = ctypes.sizeof(Stats)
    assert [call(0, GET_STATS, 0, MEMORY, wrong) for wrong in (0, size - 8, size + 8)] == [(PARAM, 0)] * 3
    assert call(0, GET_STATS, 0, OUTSIDE, size) == (ADDRESS, 0)
    started(machine, 0, SMALL, 400)
    assert CORE.testbed_accel_store(1, SMALL, CMD, 0) == WAITS
    for _ in range(50):
        machine.pass_time(100)
        machine.settle()
    assert [call(vm, GET_STATS, SMALL, MEMORY, size) for vm in range(2)] == [(OK, 0)] * 2
    first, second = written(Stats), written(Stats, 1)
    assert (first.requests, list(first.paths), first.waits, first.losses, first.faults) == (1, [0, 1, 0, 0], 0, 1, 0)
    assert (second.requests, list(second.paths), second.waits, second.faults) == (1, [1, 0, 0, 0], 1, 0)


def test_a_region_that_expires_is_no_fault() -> None:
    machine = Machine(1, [1])
    connect(machine, 0, 0)
    machine.pass_time(2 * HOLD)
    machine.settle()
    assert call(0, GET_STATS, 0, MEMORY, ctypes.sizeof(Stats)) == (OK, 0)
    assert (written(Stats).losses, written(Stats).faults, machine.console) == (1, 0, [])


def test_times_of_the_fabric() -> None:
    """Those of the image, testbed_accel.c."""
    Machine(1, [1])
    assert [FABRIC.fabric_read(offset, 8) for offset in (HOLD_TIME, STOP_TIME)] == [HOLD, 50000]


def test_faults_are_counted() -> None:
    machine = Machine(1, [1])
    started(machine, 0, 1, 64, address=0)
    machine.pass_time(HOLD)
    machine.settle()
    assert [call(0, GET_STATS, device, MEMORY, ctypes.sizeof(Stats)) for device in (0, 1)] == [(OK, 0)] * 2
    assert written(Stats).faults == 1


def lines_of(vm: int) -> int:
    return CORE.testbed_virtio_lines(vm)


def test_events() -> None:
    """Of the guest model only, each once."""
    machine = Machine(2, [1, 9], 0b01)
    assert call(0, EVENTS) == (OK, 0)
    assert CORE.testbed_accel_store(0, SMALL, CMD, 0) == DONE  # at once, into a page without a region
    assert CORE.testbed_accel_store(1, 0, CMD, 0) == WAITS
    machine.run()
    assert lines_of(0) == 1 << EVENT_IRQ
    assert call(0, EVENTS) == (OK, WAIT << SMALL)
    assert lines_of(0) == 0
    assert call(0, EVENTS) == (OK, 0)
    machine.pass_time(500)
    machine.settle()
    machine.pass_time(500)
    machine.settle()
    assert call(0, EVENTS) == (OK, READY << SMALL)
    assert call(1, EVENTS) == (OK, 0)
    connect(machine, 1, SMALL)
    assert call(0, EVENTS) == (OK, PREEMPT << SMALL)


def test_an_event_interrupts_its_vm_once() -> None:
    """And no other VM."""
    machine = Machine(2, [1, 1], 0b11)
    for vm in (1, 0):
        assert CORE.testbed_accel_store(vm, SMALL, CMD, 0) == DONE
        machine.run()
        assert [lines_of(each) for each in range(2)] == [(each == vm) << EVENT_IRQ for each in range(2)]
        assert call(vm, EVENTS) == (OK, WAIT << SMALL)


def test_only_a_monitor_sees_all() -> None:
    Machine(2, [1, 1])
    header().monitors = 2
    for number, kind in ((GET_REGION, Region), (GET_CLIENT, Client)):
        assert [call(0, number, 0, MEMORY, ctypes.sizeof(kind) + more) for more in (0, 8)] == [(DENIED, 0)] * 2
        assert call(1, number, 0, MEMORY, ctypes.sizeof(kind))[0] == OK


def test_a_system_without_a_fabric() -> None:
    c_void_p.in_dll(CORE, "accels").value = None  # of the last boot
    boot(1, [1], [0])
    for number in (REQUEST, RELEASE, STATUS, GET_STATS, SET_PRIORITY, SET_MODEL, APPLY, REMOVE, QUERY):
        assert call(0, number) == (PARAM, 0), number
    for number in (EVENTS, GET_REGION, GET_CLIENT):
        assert call(0, number) == (DENIED, 0), number
    assert call(0, ENUMERATE, 0, MEMORY, ctypes.sizeof(Info)) == (OK, 0)


def header() -> Structure:
    return Header.from_address(c_void_p.in_dll(CORE, "accels").value)  # its first member is `image`


def test_regions_for_a_monitor() -> None:
    machine = Machine(2, [1, 1])
    header().monitors = 1
    check_table(GET_REGION, Region, REGIONS)
    assert call(0, GET_REGION, 2, MEMORY, ctypes.sizeof(Region)) == (OK, REGIONS)
    region = written(Region)
    assert (region.vm, region.device, region.state, region.task, region.cycles) == (b"", b"", STATE_IDLE, 0, 0)
    connect(machine, 1, SMALL)
    assert call(0, GET_REGION, 2, MEMORY, ctypes.sizeof(Region)) == (OK, REGIONS)
    region = written(Region)
    assert (region.vm, region.device, region.state, region.task) == (b"vm-b", b"e", STATE_HOLD, SMALL + 1)
    assert 0 < region.cycles < CYCLES[0]


def test_clients_for_a_monitor() -> None:
    machine = Machine(2, [1, 9], 0b10)
    header().monitors = 1
    check_table(GET_CLIENT, Client, 2 * DEVICES)
    connect(machine, 1, SMALL)
    for index, expected in ((0, (b"vm-a", b"a", 0)), (DEVICES + SMALL, (b"vm-b", b"e", 1))):
        vm, device = divmod(index, DEVICES)
        assert call(0, GET_CLIENT, index, MEMORY, ctypes.sizeof(Client)) == (OK, 2 * DEVICES)
        client = written(Client)
        assert (client.vm, client.device, client.stats.requests) == expected
        assert client.status == call(vm, STATUS, device)[1]
