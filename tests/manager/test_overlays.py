# SPDX-License-Identifier: Apache-2.0
"""
Overlays (devices/accel/overlay*.c) over the fabric's RTL, without QEMU: a transaction is complete, or what VMs see is
as before, whatever fails and whatever VMs do meanwhile, at each of its steps.
"""

import ctypes
import random
from collections.abc import Callable
from ctypes import POINTER, c_bool, c_uint, c_uint64, c_void_p

import pytest
from c_headers import structures, values
from core import CORE, LONG, TICKS_PER_US, VM_RUNNING
from test_manager import (
    BUSY,
    CMD,
    CONNECTED,
    DEVICES,
    DONE,
    FABRIC,
    HOLD,
    IDLE,
    INT_CTRL,
    NEW_SOLUTION,
    OUTSIDE,
    OVER,
    RAM,
    RELEASE,
    REQUEST,
    WAITING,
    WAITS,
    Guest,
    Load,
    Machine,
    few,
    started,
)
from test_streams import EDIT

(Status,) = structures("accel_abi.h", "accel_overlay")
Header, Overlay = structures("accel_image.h", "accel_image accel_image_overlay")
NODES, NODE = values("testbed_accel.h", "TESTBED_ACCEL_NODES TESTBED_ACCEL_NODE")
MEMORY = RAM + 0x200  # where calls write
REMOVED, APPLYING, APPLIED, REMOVING = values(
    "accel_abi.h", "ACCEL_OVERLAY_REMOVED ACCEL_OVERLAY_APPLYING ACCEL_OVERLAY_APPLIED ACCEL_OVERLAY_REMOVING"
)
LDTO, LFW, DCPL, LCFG, CPL, NONE = values(
    "accel_abi.h",
    "ACCEL_PHASE_LDTO ACCEL_PHASE_LFW ACCEL_PHASE_DCPL ACCEL_PHASE_LCFG ACCEL_PHASE_CPL ACCEL_OVERLAY_NONE",
)
APPLY, REMOVE, QUERY, ENUMERATE = values(
    "accel_abi.h",
    "HCALL_ACCEL_APPLY_OVERLAY HCALL_ACCEL_REMOVE_OVERLAY HCALL_ACCEL_OVERLAY_STATUS HCALL_ACCEL_ENUMERATE",
)
DENIED, PARAM, STATE, ADDRESS, OK = values(
    "hypercall_abi.h",
    "HCALL_ERR_DENIED HCALL_ERR_INVALID_PARAM HCALL_ERR_INVALID_STATE HCALL_ERR_INVALID_ADDRESS HCALL_OK",
)
EVENT = values("accel_abi.h", "ACCEL_EVENT_OVERLAY")[0]
ABSENT, REFUSED = values("accel.h", "ACCEL_ABSENT")[0], values("testbed_accel.h", "TESTBED_STORE_REFUSED")[0]
PRR_STATUS, STRIDE, COUPLED, STATE_LSB = values(
    "fabric_map.h",
    "FABRIC_REGS_PRR_STATUS FABRIC_REGS_PRR_STATUS_STRIDE FABRIC_REGS_PRR_STATUS_COUPLED_LSB "
    "FABRIC_REGS_PRR_STATUS_STATE_LSB",
)
IS_PENDING = 1 << values("fabric_map.h", "FABRIC_IF_STAT_PENDING_LSB")[0]
TWO, ONE = 0, 1  # overlays of testbed_accel.c
SLOTS = {TWO: {0: 1, 1: 3}, ONE: {1: 2}}  # device of each region
LIMIT = 10_000_000 * TICKS_PER_US  # overlay.c
MOST_STEPS = 400  # of a transaction, at 20 cycles of the fabric each

for _name, (_result, _arguments) in {
    "testbed_accel_overlays": (None, [c_bool]),
    "testbed_accel_step": (c_bool, []),
    "testbed_accel_overlay": (None, [c_uint, POINTER(Status)]),
    "testbed_accel_idle": (c_bool, []),
    "testbed_accel_snapshot": (c_uint, [POINTER(c_uint64)]),
    "testbed_accel_region_task": (c_uint, [c_uint]),
    "testbed_accel_events": (c_uint64, [c_uint]),
    "testbed_accel_usable": (c_uint, [c_uint]),
}.items():
    getattr(CORE, _name).restype = _result
    getattr(CORE, _name).argtypes = _arguments


@pytest.fixture(autouse=True)
def overlays():
    CORE.testbed_accel_overlays(True)
    yield
    CORE.testbed_accel_overlays(False)


def status(number: int):
    found = Status()
    CORE.testbed_accel_overlay(number, ctypes.byref(found))
    return found


def snapshot() -> list[int]:
    found = (c_uint64 * 2048)()
    return list(found[: CORE.testbed_accel_snapshot(found)])


def call(vm: int, number: int, *arguments: int) -> int:
    padded = [*arguments, 0, 0, 0][:3]
    return CORE.testbed_hypercall(vm, number, *padded, None)


class Fabric(Machine):
    """VM n runs on CPU n."""

    def __init__(self, priorities: list[int] | None = None, guest_models: int = 0):
        super().__init__(3, priorities or [1, 1, 1], guest_models, self.hook())

    def hook(self) -> Callable[[int], None] | None:
        return None

    def step(self, cycles: int = 20) -> None:
        """The fabric goes on, then a section of the manager."""
        self.pass_time(cycles)
        self.interrupt()
        if not CORE.testbed_accel_step():
            self.run()
        CORE.testbed_advance(1000)
        self.check()

    def finish(self, number: int, each: Callable[[], None] = lambda: None) -> int:
        """Until the transaction is over; returns the number of steps."""
        for count in range(MOST_STEPS):
            if status(number).state not in (APPLYING, REMOVING):
                self.settle()
                return count
            self.step()
            each()
        raise AssertionError(f"the transaction does not end: {status(number).state}")

    def apply(self, number: int = TWO) -> int:
        assert call(0, APPLY, number) == OK
        return self.finish(number)

    def remove(self, number: int = TWO) -> int:
        assert call(0, REMOVE, number) == OK
        return self.finish(number)

    def work(self, cycles: int = 20_000) -> None:
        for _ in range(cycles // 100):
            self.pass_time(100)
            self.settle()
            CORE.testbed_advance(1000)


class Lying(Fabric):
    """Registers of the fabric can be read wrongly."""

    lie: Callable[[int, int], int] | None = None

    def hook(self) -> Callable[[int], None]:
        return lambda offset: None

    def observed(self, after_read):
        def read(offset: int, size: int) -> int:
            value = FABRIC.fabric_read(offset, size)
            return self.lie(offset, value) if self.lie else value

        return read


def devices_of(vm: int) -> int:
    value = c_uint64()
    assert CORE.testbed_hypercall(vm, ENUMERATE, 99, 0x80000000, 32, ctypes.byref(value)) == OK
    return value.value


def assert_applied(number: int = TWO) -> None:
    found = status(number)
    assert (found.state, found.failed, found.region) == (APPLIED, NONE, NONE)
    for region, device in SLOTS[number].items():
        assert CORE.testbed_accel_region_task(region) == device + 1
        for other in range(DEVICES):
            assert CORE.testbed_accel_usable(other) >> region & 1 == (other == device)


def assert_done(number: int, before: list[int]) -> None:
    assert status(number).state == REMOVED
    assert CORE.testbed_accel_idle()
    assert snapshot() == before


def run_job(machine: Machine, vm: int, device: int, size: int = 40) -> None:
    guest = started(machine, vm, device, size)
    machine.work(6000)
    assert guest.is_over(), guest.words()


# --- what a transaction does ---


def test_an_overlay_is_applied_and_removed() -> None:
    machine = Fabric()
    before = snapshot()
    assert devices_of(1) == DEVICES - 2
    assert [CORE.testbed_accel_store(1, 1, offset, 1) for offset in (CMD, OVER, INT_CTRL)] == [REFUSED] * 3
    machine.apply()
    assert_applied()
    assert devices_of(1) == DEVICES
    assert [CORE.testbed_accel_events(vm) for vm in range(3)] == [EVENT, EVENT, 0]
    paths = CORE.testbed_accel_count(0)
    run_job(machine, 1, 1)
    run_job(machine, 1, 3)
    assert CORE.testbed_accel_count(0) == paths + 2, "the regions hold the tasks already"
    run_job(machine, 2, 0)  # elsewhere
    assert CORE.testbed_accel_region_task(2) == 1
    machine.remove()
    assert devices_of(1) == DEVICES - 2
    assert CORE.testbed_accel_store(1, 1, CMD, 5) == REFUSED
    assert CORE.testbed_accel_events(1) & EVENT
    assert CORE.testbed_accel_load(1, 1, CMD) == 0
    machine.work(2 * HOLD)
    changed = [number for number, pair in enumerate(zip(snapshot(), before, strict=True)) if pair[0] != pair[1]]
    assert len(changed) < 12, "registers of the device that VM 2 has used"
    assert status(TWO).transactions == 2


def test_nothing_is_left_of_an_overlay() -> None:
    machine = Fabric()
    assert (status(TWO).state, status(TWO).failed, status(TWO).region) == (REMOVED, NONE, NONE)
    before = snapshot()
    for _ in range(3):
        machine.apply()
        machine.remove()
        assert_done(TWO, before)


def test_a_device_that_comes_again_is_as_after_power_on() -> None:
    machine = Fabric()
    machine.apply()
    run_job(machine, 1, 1)
    machine.remove()
    machine.apply()
    assert not any(CORE.testbed_accel_load(1, 1, offset) for offset in range(0, 0x80, 4))
    assert CORE.testbed_accel_state(1, 1) == IDLE
    run_job(machine, 1, 1)


def test_only_its_controller_may_use_an_overlay() -> None:
    machine = Fabric()
    before = snapshot()
    for number in (APPLY, REMOVE, QUERY):
        assert [call(1, number, overlay, 0x80001000, ctypes.sizeof(Status)) for overlay in (ONE, TWO)] == [DENIED] * 2
        for wrong in (2, 16, 1 << 32, (1 << 64) - 1):
            assert call(0, number, wrong, 0x80001000, ctypes.sizeof(Status)) == PARAM
    assert call(0, QUERY, TWO, 0x80001000, 8) == PARAM
    assert call(0, QUERY, TWO, 0x80001000, ctypes.sizeof(Status)) == OK
    assert call(0, REMOVE, TWO) == STATE
    machine.settle()
    assert_done(TWO, before)


def test_one_transaction_at_a_time() -> None:
    machine = Fabric()
    assert call(0, APPLY, TWO) == OK
    for number in (APPLY, REMOVE):
        assert [call(0, number, overlay) for overlay in (TWO, ONE)] == [STATE] * 2
    machine.finish(TWO)
    assert_applied()
    assert call(0, APPLY, TWO) == STATE


def test_what_its_controller_is_told() -> None:
    machine = Fabric()
    size, place = ctypes.sizeof(Status), CORE.testbed_memory(0, MEMORY)
    steps = machine.apply(ONE)
    ctypes.memset(place, 0, size)
    assert call(0, QUERY, ONE, OUTSIDE, size) == ADDRESS
    assert call(1, QUERY, ONE, MEMORY, 8) == DENIED
    assert call(0, QUERY, ONE, MEMORY, size) == OK
    found = Status.from_buffer_copy(ctypes.string_at(place, size))
    assert (found.name, found.state, found.transactions) == (b"one", APPLIED, 1)
    assert found.ticks[LCFG] > 0 and sum(found.ticks) <= 1000 * steps
    assert bytes(found) == bytes(status(ONE))


def test_one_of_several_controllers() -> None:
    """VMs 0 and 2 may use the overlay, and VM 1 may not."""
    Fabric()
    image = c_void_p.in_dll(CORE, "accels").value  # its first member
    Overlay.from_address(image + Header.from_address(image).overlays_offset).controllers = 5
    found = [call(vm, QUERY, TWO, MEMORY, ctypes.sizeof(Status)) for vm in range(3)]
    assert found == [OK, DENIED, OK]


def nodes_after_restart(machine: Fabric, vm: int) -> list[bytes]:
    """What is at the places of the two properties, in memory that is zero when the VM begins."""
    assert CORE.testbed_vm_stop(0, vm, True)
    machine.settle()
    memory = ctypes.string_at(CORE.testbed_memory(vm, NODES - 4), 2 * NODE)
    return [memory[:NODE], memory[NODE:]]


def test_the_device_tree_shows_devices_that_are_there() -> None:
    """The builder's properties are "disabled"; those of devices that are there become "okay"."""
    unchanged = [bytes(NODE)] * 2
    okay = bytes([0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0]) + b"okay" + bytes([0, 0, 0, 0, 0, 0, 0, 4] + [0] * 8)
    machine = Fabric()
    assert nodes_after_restart(machine, 1) == unchanged
    machine.apply()
    assert nodes_after_restart(machine, 1) == [okay, okay]
    assert [nodes_after_restart(machine, vm) for vm in (0, 2)] == [unchanged] * 2
    machine.remove()
    assert nodes_after_restart(machine, 1) == unchanged


def test_a_vm_without_the_calls_of_overlays() -> None:
    CORE.testbed_accel_overlays(False)
    machine = Fabric()
    assert [call(0, number, 0) for number in (APPLY, REMOVE, QUERY)] == [PARAM] * 3
    machine.settle()


# --- failures ---


def lie_about(region: int, change: Callable[[int], int]) -> Callable[[int, int], int]:
    return lambda offset, value: change(value) if offset == PRR_STATUS + region * STRIDE else value


def is_busy(value: int) -> int:
    return value & ~(7 << STATE_LSB) | 1 << STATE_LSB


def fails(machine: Fabric, phase: int, region: int, before: list[int]) -> None:
    assert call(0, APPLY, TWO) == OK
    machine.finish(TWO, lambda: CORE.testbed_advance(1_000_000))
    if isinstance(machine, Lying):
        machine.lie = None
    machine.run()
    found = status(TWO)
    assert (found.state, found.failed, found.region) == (REMOVED, phase, region)
    assert sum("error: overlay two: " in line for line in machine.console) == 1
    assert CORE.testbed_accel_events(0) == EVENT
    assert CORE.testbed_accel_events(1) == 0
    assert_done(TWO, before)


@pytest.mark.parametrize(
    ("device", "region", "byte"), [(1, 0, 1), (1, 0, 100), (3, 1, 60)], ids=["header", "body", "second"]
)
def test_a_bitstream_that_the_port_refuses(device: int, region: int, byte: int) -> None:
    machine = Fabric()
    before = snapshot()
    CORE.testbed_accel_damage(device, region, byte)
    fails(machine, LCFG, region, before)
    CORE.testbed_accel_damage(device, region, byte)
    machine.apply()
    assert_applied()


def test_a_bitstream_that_was_refused_at_boot() -> None:
    def edit(streams, rows) -> None:
        ctypes.cast(streams, POINTER(ctypes.c_ubyte))[(3 * 3 + 1) * 288 + 100] ^= 1

    edited = EDIT(edit)
    CORE.testbed_accel_edit(ctypes.cast(edited, ctypes.c_void_p))
    try:
        machine = Fabric()
    finally:
        CORE.testbed_accel_edit(None)
    fails(machine, LFW, 1, snapshot())


def test_a_region_that_another_overlay_has() -> None:
    machine = Fabric()
    machine.apply(ONE)
    CORE.testbed_accel_events(0)
    fails(machine, LDTO, 1, snapshot())
    machine.remove(ONE)
    machine.apply()
    assert_applied()


@pytest.mark.parametrize("region", [0, 1])
def test_a_region_that_does_not_get_quiet(region: int) -> None:
    machine = Lying()
    before = snapshot()
    machine.lie = lie_about(region, is_busy)
    fails(machine, DCPL, region, before)
    assert status(TWO).ticks[DCPL] > LIMIT
    machine.apply()
    assert_applied()


@pytest.mark.parametrize("region", [0, 1])
def test_a_region_that_is_not_coupled_again(region: int) -> None:
    machine = Lying()
    before = snapshot()
    machine.lie = lie_about(region, lambda value: value & ~(1 << COUPLED))
    fails(machine, CPL, region, before)
    machine.apply()
    assert_applied()


def test_the_limit_is_of_a_phase_that_waits() -> None:
    """It counts from the phase's begin, and not for a job that an overlay's removal waits for."""
    machine = with_jobs()
    CORE.testbed_advance(2 * LIMIT)
    machine.apply()
    assert_applied()
    job = started(machine, 1, 3, 1_600_000)
    assert call(0, REMOVE, TWO) == OK
    machine.finish(TWO, lambda: CORE.testbed_advance(2 * LIMIT))
    assert (status(TWO).state, status(TWO).failed) == (REMOVED, NONE), job.words()
    assert not any(CORE.testbed_accel_load(1, 3, offset) for offset in range(0, 0x80, 4)), "the job has not ended"


def test_a_transaction_goes_on_with_the_events_of_the_fabric() -> None:
    """Without time, no timer of the manager expires: the events tell that the regions' jobs have stopped."""
    machine = Fabric([1, 3, 2])
    jobs = [started(machine, vm, device, 6000) for vm, device in ((0, 0), (2, 2))]
    assert all(job.stat() >> BUSY & 1 for job in jobs)
    assert call(0, APPLY, TWO) == OK
    for _ in range(MOST_STEPS):
        machine.settle()
        machine.pass_time(20)
    assert_applied()


def test_a_failure_leaves_jobs_of_others() -> None:
    """Each region has one."""
    machine = Fabric(guest_models=7)
    guests = [started(machine, vm, device, 6000) for vm, device in ((0, 0), (1, 2), (2, 4))]
    CORE.testbed_accel_damage(3, 1, 60)
    assert call(0, APPLY, TWO) == OK
    machine.finish(TWO)
    assert status(TWO).failed == LCFG
    machine.work(60_000)
    assert all(guest.is_over() for guest in guests), [guest.words() for guest in guests]


# --- what VMs do meanwhile ---


@pytest.mark.parametrize("priority", [0, 15])
def test_jobs_in_its_regions_are_stopped_and_resumed(priority: int) -> None:
    """One resumes in the third region, one waits for the end of the overlay."""
    machine = Fabric([priority, priority, priority], guest_models=7)
    first, second = started(machine, 0, 0, 20_000), started(machine, 2, 0, 20_000)
    assert not first.is_over() and not second.is_over()
    assert call(0, APPLY, TWO) == OK
    machine.finish(TWO)
    assert_applied()
    assert not first.is_over() or not second.is_over()
    machine.work(200_000)
    assert first.is_over() and second.is_over()


def test_a_job_that_fits_no_other_region_continues_after_the_overlay() -> None:
    machine = Fabric([1, 1, 1], guest_models=7)
    other = started(machine, 2, 4, 40_000)  # keeps the third region
    job = started(machine, 0, 0, 20_000)
    machine.apply()
    machine.work(1000)
    assert not job.is_over()
    assert not other.is_over()
    machine.remove()
    machine.work(60_000)
    assert job.is_over()


def count_steps(setting: Callable[[], Fabric], number: int) -> int:
    machine = setting()
    assert call(0, number, TWO) == OK
    return machine.finish(TWO)


def with_jobs() -> Fabric:
    machine = Fabric([1, 3, 2], guest_models=5)
    started(machine, 0, 0, 4000)
    started(machine, 2, 2, 4000)
    return machine


def with_overlay_and_jobs() -> Fabric:
    machine = Fabric([1, 3, 2], guest_models=5)
    machine.apply()
    started(machine, 1, 1, 4000)
    started(machine, 1, 3, 4000)
    return machine


@pytest.mark.slow
@pytest.mark.parametrize("vm", [0, 1, 2])
@pytest.mark.parametrize(("setting", "number"), [(with_jobs, APPLY), (with_overlay_and_jobs, REMOVE)])
def test_a_vm_stops_at_each_step(vm: int, setting: Callable[[], Fabric], number: int) -> None:
    """The transaction ends as if the VM had gone on; the VM's next life has its devices. In `make test` each step is
    that of one VM."""
    begin, stride = (0, 1) if LONG else (vm, 3)
    for stop_at in range(begin, count_steps(setting, number) + 1, stride):
        machine = setting()
        assert call(0, number, TWO) == OK
        for _ in range(stop_at):
            machine.step()
        assert CORE.testbed_vm_stop(0, vm, True)
        for _ in range(200):
            machine.settle()
            machine.pass_time(100)
            CORE.testbed_advance(10_000)
        machine.work(10_000)
        assert CORE.testbed_vm_starts(vm) == 2, stop_at
        assert CORE.testbed_vm_state(vm) == VM_RUNNING
        assert status(TWO).state == (APPLIED if number == APPLY else REMOVED), stop_at
        run_job(machine, 2, 0)
        if number == APPLY:
            assert_applied()
            run_job(machine, 1, 1)
            run_job(machine, 1, 3)
        else:
            assert CORE.testbed_accel_state(1, 1) == ABSENT


@pytest.mark.parametrize("number", [APPLY, REMOVE])
def test_guests_that_start_jobs_without_end_delay_nothing(number: int) -> None:
    machine = Fabric([15, 15, 15], guest_models=7)
    chance = random.Random(1)
    if number == REMOVE:
        machine.apply()
    guests = [Guest(machine, vm, chance) for vm in range(3)]

    def flood() -> None:
        for guest in guests:
            CORE.testbed_accel_call(guest.vm, REQUEST, chance.randrange(DEVICES))
            device = chance.randrange(DEVICES)
            guest.device = device
            guest.prepare(chance.choice((4, 400)) * 16)
            for store in guest.stores:
                if CORE.testbed_accel_store(guest.vm, device, *store) not in (DONE, WAITS, REFUSED):
                    break
            CORE.testbed_accel_call(guest.vm, RELEASE, chance.randrange(DEVICES))

    for _ in range(20):
        flood()
        machine.step()
    assert call(0, number, TWO) == OK
    machine.finish(TWO, flood)
    assert status(TWO).state == (APPLIED if number == APPLY else REMOVED)


def test_the_overlay_comes_before_regions_that_wait_for_the_port() -> None:
    """It waits for the configuration under way only, and for each of its own."""
    machine = Fabric(guest_models=7)
    assert CORE.testbed_accel_call(0, REQUEST, 4) == 0  # the third region, which no overlay has
    assert call(0, APPLY, TWO) == OK
    order: list[str] = []

    def look() -> None:
        CORE.testbed_accel_call(2, REQUEST, 5)
        for name, seen in (
            ("client", CORE.testbed_accel_state(0, 4) == CONNECTED),
            ("overlay", status(TWO).state == APPLIED),
        ):
            if seen and name not in order:
                order.append(name)

    machine.finish(TWO, look)
    assert order == ["client", "overlay"]
    machine.work(10_000)
    assert CORE.testbed_accel_idle()


def test_a_client_gets_no_port_between_two_configurations_of_an_overlay() -> None:
    machine = Fabric(guest_models=7)
    assert call(0, APPLY, TWO) == OK
    while CORE.testbed_accel_region_task(0) != 2:
        machine.step(10)
    assert CORE.testbed_accel_call(2, REQUEST, 4) == 0
    machine.pass_time(10)
    assert CORE.testbed_accel_state(2, 4) == WAITING
    tasks = []
    while status(TWO).state == APPLYING:
        machine.step(5)
        tasks.append((CORE.testbed_accel_region_task(1), CORE.testbed_accel_region_task(2)))
    assert (4, 0) in tasks and (0, 5) not in tasks
    machine.work(5000)
    assert CORE.testbed_accel_state(2, 4) in (CONNECTED, IDLE)
    assert CORE.testbed_accel_region_task(2) == 5


@pytest.mark.slow
@pytest.mark.parametrize("stops", [False, True])
def test_a_region_that_is_promised_when_the_overlay_begins(stops: bool) -> None:
    """Its promised client, which may stop, and the one whose job stops for it, go on elsewhere or later."""
    for wait in range(0, 60, 3):
        machine = Fabric([1, 9, 3], guest_models=7)
        jobs = [started(machine, 0, 0, 20_000), started(machine, 0, 2, 20_000), started(machine, 2, 4, 200_000)]
        assert CORE.testbed_accel_call(1, REQUEST, 0) == 0
        machine.pass_time(wait)
        assert call(0, APPLY, TWO) == OK
        if stops:
            assert CORE.testbed_vm_stop(1, 1, True)
        machine.finish(TWO, machine.run if stops else lambda: None)
        assert_applied()
        machine.remove()
        machine.work(100_000)
        assert jobs[0].is_over() and jobs[1].is_over(), [job.words() for job in jobs]
        assert CORE.testbed_accel_idle()


class OverlayGuest(Guest):
    """A VM whose devices may be gone, with the jobs that it has started."""

    def is_gone(self) -> bool:
        return CORE.testbed_accel_state(self.vm, self.device) == ABSENT or self.stat() == 0

    def refused(self) -> None:
        assert (self.vm, self.device) in ((1, 1), (1, 3)), self.words()
        self.restart()

    def look(self) -> None:
        super().look()
        if self.started and (self.vm, self.device) in ((1, 1), (1, 3)) and self.is_gone():
            self.restart()


class OverlayLoad(Load):
    """The random events of test_manager.py, and overlays that come and go."""

    def __init__(self, seed: int):
        super().__init__(seed, 3, OverlayGuest)
        self.events = (*self.events, (2, self.change))

    def call(self, number: int, vm: int, device: int) -> None:
        if (vm, device) in ((1, 1), (1, 3)):
            CORE.testbed_accel_call(vm, number, device)  # it may be gone
        else:
            super().call(number, vm, device)

    def change(self) -> None:
        if self.runs(0):
            number = self.chance.choice((TWO, ONE))
            what = self.chance.choice((APPLY, REMOVE))
            assert CORE.testbed_accel_call(0, what, number) in (OK, STATE, 1000)


def remove_all(load: OverlayLoad) -> None:
    """The controller removes the overlays; one that waits for a region that an overlay keeps is restarted."""
    for count in range(600):
        load.machine.settle()
        load.machine.pass_time(100)
        CORE.testbed_advance(10_000)
        left = [number for number in (TWO, ONE) if status(number).state != REMOVED]
        if not left:
            return
        CORE.testbed_accel_wake(0)
        if load.runs(0):
            CORE.testbed_accel_call(0, REMOVE, left[0])
        if count == 300:
            CORE.testbed_vm_stop(0, 0, True)
    raise AssertionError([status(number).state for number in (TWO, ONE)])


SEEDS = 600 if LONG else 30


@pytest.mark.parametrize("seed", few(range(SEEDS)))
def test_every_job_ends_beside_overlays(seed: int) -> None:
    load = OverlayLoad(seed)
    load.run(900 if LONG else 250)
    remove_all(load)
    load.end()
    load.machine.settle()


def test_a_promise_of_a_region_that_the_overlay_takes() -> None:
    """
    VM 1's job leaves region 2 for VM 2, and gets region 1 by a solution of the search list. Region 1 expires before the
    manager looks, and VM 0, which had it, has it again when the manager takes the solution and asks again. The overlay
    takes the region then.
    """
    machine = Fabric([1, 9, 15], guest_models=7)
    jobs = [started(machine, 0, 2, 20_000), started(machine, 1, 2, 20_000)]  # in regions 1 and 2
    machine.work(1000)
    assert CORE.testbed_accel_call(2, REQUEST, 4) == 0
    machine.pass_time(4 * HOLD)
    machine.interrupt()
    machine.run()
    assert CORE.testbed_accel_state(0, 2) == CONNECTED
    machine.pass_time(50)
    machine.settle()
    assert call(1, RELEASE, 2) == STATE, "no promise: this tests nothing"
    machine.apply(ONE)
    machine.remove(ONE)
    machine.work(100_000)
    assert all(job.is_over() for job in jobs), [job.words() for job in jobs]


def test_a_late_store_does_not_outlive_the_overlay() -> None:
    """Until another CPU knows that the page of a device that goes is read-only, its VM can store to it: also after the
    device was reset."""
    machine = Fabric()
    machine.apply()
    started(machine, 1, 1, 40)
    machine.pass_time(1000)
    machine.settle()
    assert call(0, REMOVE, TWO) == OK
    while status(TWO).state == REMOVING:
        machine.pass_time(20)
        machine.interrupt()
        if CORE.testbed_accel_store(1, 1, CMD, 5) == DONE:
            late = CORE.testbed_accel_load(1, 1, CMD)
        if not CORE.testbed_accel_step():
            CORE.testbed_advance(1000)
    machine.settle()
    assert late == 5
    machine.apply()
    assert CORE.testbed_accel_load(1, 1, CMD) == 0


def region_state(region: int) -> int:
    return FABRIC.fabric_read(PRR_STATUS + region * STRIDE, 8) >> STATE_LSB & 7


def test_a_solution_for_a_device_that_goes() -> None:
    """VM 1's job leaves region 0 for VM 2, and the search list has a solution for it: region 2, whose job has to stop.
    Then the overlay is removed. Nobody wants the region any more, and it must not stay in Reconfig."""
    machine = Fabric([1, 9, 15], guest_models=7)
    machine.apply()
    jobs = [started(machine, 1, 1, 20_000), started(machine, 0, 2, 20_000)]  # in regions 0 and 2
    machine.work(1000)
    assert CORE.testbed_accel_call(2, REQUEST, 1) == 0
    while FABRIC.fabric_read(NEW_SOLUTION, 8) == 0:
        machine.pass_time(1)
    assert call(0, REMOVE, TWO) == OK
    assert CORE.testbed_accel_step()
    assert CORE.testbed_accel_state(1, 1) == ABSENT
    machine.finish(TWO)
    assert not jobs[1].is_over()
    assert region_state(2) == 0
    machine.work(100_000)
    assert jobs[1].is_over(), jobs[1].words()


def test_a_refused_bitstream_of_a_device_that_goes() -> None:
    """The ICAP has refused it when the overlay is removed, and the manager looks only then."""
    machine = Fabric([1, 9, 15], guest_models=7)
    machine.apply()
    started(machine, 2, 1, 20_000)  # in region 0
    machine.work(1000)
    CORE.testbed_accel_damage(1, 2, 100)
    assert CORE.testbed_accel_call(1, REQUEST, 1) == 0
    machine.pass_time(400)
    assert call(0, REMOVE, TWO) == OK
    assert CORE.testbed_accel_step()
    machine.interrupt()
    states = {CORE.testbed_accel_state(1, 1)}
    machine.finish(TWO, lambda: states.add(CORE.testbed_accel_state(1, 1)))
    CORE.testbed_accel_damage(1, 2, 100)
    assert any("bitstream of b for region 2 is refused" in line for line in machine.console)
    assert states == {ABSENT}


def job_of_vm_2(machine: Fabric, size: int) -> Guest:
    """On device 3, with a priority above all others."""
    job = Guest(machine, 2, random.Random(0))
    job.device = 3
    job.prepare(size)
    assert [CORE.testbed_accel_store(2, 3, *store) for store in job.stores] == [DONE] * len(job.stores)
    return job


@pytest.mark.slow
def test_a_client_that_has_the_region_of_a_device_that_goes() -> None:
    """VM 2 has taken the region, and the manager has not seen it when the overlay is removed: its job goes on."""
    machine = Fabric([1, 9, 15], guest_models=7)
    machine.apply()
    started(machine, 2, 4, 4_000_000)  # keeps region 2
    machine.work(500)
    started(machine, 1, 3, 400_000)
    machine.work(3000)
    job_of_vm_2(machine, 16)
    machine.work(20_000 + 4 * HOLD)  # no event of all regions is left
    job = job_of_vm_2(machine, 65_536)
    while FABRIC.fabric_interrupts() & 1 == 0:
        machine.pass_time(1)
    assert call(0, REMOVE, TWO) == OK
    while job.stat() & IS_PENDING:
        assert CORE.testbed_accel_step()
    machine.interrupt()
    machine.work(300_000)
    assert job.is_over(), job.words()


@pytest.mark.parametrize("shift", few(range(0, 30, 3)))
def test_an_idle_client_keeps_its_region_or_is_told(shift: int) -> None:
    """At the end of an overlay the manager has a request in the search list. VM 2's job ends meanwhile: the fabric then
    gives the manager the region of VM 0, which is connected and idle."""
    for wait in range(3300 + shift, 3500, 30):
        machine = Fabric([1, 9, 15], guest_models=7)
        idle = started(machine, 0, 0, 40)
        machine.work(500)
        assert idle.is_over() and CORE.testbed_accel_state(0, 0) == CONNECTED
        machine.apply(ONE)
        machine.work(300)
        started(machine, 2, 4, 4000)
        machine.work(600)
        machine.pass_time(wait)
        assert call(0, REMOVE, ONE) == OK
        while status(ONE).state == REMOVING:
            machine.interrupt()
            CORE.testbed_accel_step()
            CORE.testbed_advance(1000)
        machine.work(2500)
        idle.prepare(40)
        assert [CORE.testbed_accel_store(0, 0, *store) for store in idle.stores] == [DONE] * len(idle.stores)
        machine.work(5000)
        assert idle.is_over(), (wait, idle.words())
