# SPDX-License-Identifier: Apache-2.0
"""
The manager of accelerators over the fabric's RTL, without QEMU: core and the manager are built for this
machine, the fabric is the model of `make cosim`. VMs use their devices at random; interrupts of the fabric and of
other CPUs are handled late, VCPUs stop running at any moment, VMs stop and restart. After each event the invariants
of testbed_accel.c hold; at the end every job has ended.
"""

import ctypes
import random
from collections.abc import Callable, Iterable
from ctypes import CFUNCTYPE, c_bool, c_char_p, c_long, c_uint, c_uint32, c_uint64, c_ulong, c_void_p

import pytest
from c_headers import ROOT, values
from core import CORE, LONG, READY, RUNNING, SUSPENDED, VM_RUNNING, assert_no_violation, lines

SEEDS = 2000 if LONG else 30
STEPS = 250
DEVICES = values("testbed_accel.h", "TESTBED_ACCEL_DEVICES")[0]
DONE, WAITS, REFUSED = values("testbed_accel.h", "TESTBED_STORE_DONE TESTBED_STORE_WAITS TESTBED_STORE_REFUSED")
STAT, START, OVER, CMD, DATA_ADDR, DATA_SIZE, RESULT, INT_CTRL, DONE_SIZE = values(
    "fabric_map.h",
    "FABRIC_IF_STAT FABRIC_IF_START FABRIC_IF_OVER FABRIC_IF_CMD FABRIC_IF_DATA_ADDR FABRIC_IF_DATA_SIZE "
    "FABRIC_IF_RESULT FABRIC_IF_INT_CTRL FABRIC_IF_DONE_SIZE",
)
WINDOWS, WINDOW_STRIDE, VM_STRIDE, WINDOW_SIZE = values(
    "fabric_map.h", "FABRIC_WINDOWS FABRIC_WINDOW_STRIDE FABRIC_VM_WINDOWS_STRIDE FABRIC_WINDOW_SIZE"
)
IS_OVER, FAULT = values("fabric_map.h", "FABRIC_IF_STAT_OVER_LSB FABRIC_IF_STAT_FAULT_LSB")
NEW_SOLUTION = values("fabric_map.h", "FABRIC_REGS_NEW_SOLUTION")[0]
IDLE, WAITING, CONNECTED, FAILED = values("accel.h", "ACCEL_IDLE ACCEL_WAITING ACCEL_CONNECTED ACCEL_FAILED")
SAVED, BUSY = values("fabric_map.h", "FABRIC_IF_STAT_SAVED_LSB FABRIC_IF_STAT_BUSY_LSB")
IFS, IF_STRIDE = values("fabric_map.h", "FABRIC_IFS FABRIC_IF_STRIDE")
LOSSES = 5  # testbed_accel_count()
REQUEST, RELEASE, STATUS = values("accel_abi.h", "HCALL_ACCEL_REQUEST HCALL_ACCEL_RELEASE HCALL_ACCEL_STATUS")
INVALID_STATE = values("hypercall_abi.h", "HCALL_ERR_INVALID_STATE")[0]
AT_ONCE, VCPUS_OF_VM = values("accel.h sysimage.h", "ACCEL_RESUMED_AT_ONCE SYSIMAGE_MAX_VCPUS_PER_VM")
NO_CALLER = values("testbed.h", "TESTBED_NO_CALLER")[0]
RAM = values("testbed.h", "TESTBED_GPA")[0]
RAM_END = RAM + 0x200000
OUTSIDE = 0x1000  # an address outside of it
HOLD = values("testbed_accel.h", "TESTBED_ACCEL_HOLD")[0]  # cycles
UNITS = (1, 1, 4, 4, 16, 2)  # bytes that a task's input is a multiple of

FABRIC = ctypes.CDLL(str(ROOT / "build" / "cosim" / "libmodel.so"))
FABRIC.fabric_reset.argtypes, FABRIC.fabric_step.argtypes = [c_void_p], [c_uint]
FABRIC.fabric_read.argtypes, FABRIC.fabric_read.restype = [c_uint64, c_uint], c_uint64
READ = CFUNCTYPE(c_uint64, c_uint64, c_uint)

_SIGNATURES = {
    "testbed_accel_boot": (c_bool, [c_uint, c_uint, c_uint64, c_uint, c_void_p, c_void_p]),
    "testbed_accel_store": (c_uint, [c_uint, c_uint, c_uint, c_uint32]),
    "testbed_accel_store_wide": (c_uint, [c_uint, c_uint, c_uint, c_uint, c_uint64]),
    "testbed_accel_call": (c_long, [c_uint, c_ulong, c_ulong]),
    "testbed_accel_load": (c_uint32, [c_uint, c_uint, c_uint]),
    "testbed_accel_vcpus": (None, [c_uint]),
    "testbed_accel_damage": (None, [c_uint, c_uint, c_uint]),
    "testbed_accel_sleep": (c_bool, [c_uint]),
    "testbed_accel_yield": (c_bool, [c_uint]),
    "testbed_accel_wake": (None, [c_uint]),
    "testbed_accel_interrupt": (None, []),
    "testbed_accel_violation": (c_char_p, [c_bool]),
    "testbed_accel_state": (c_uint, [c_uint, c_uint]),
    "testbed_accel_rechecks": (c_bool, [c_uint, c_uint]),
    "testbed_accel_count": (c_uint64, [c_uint]),
}
for _name, (_result, _arguments) in _SIGNATURES.items():
    getattr(CORE, _name).restype = _result
    getattr(CORE, _name).argtypes = _arguments


def address_of(function) -> int:
    return ctypes.cast(function, c_void_p).value


class Machine:
    """VMs, the manager and the fabric."""

    def __init__(
        self, cpus: int, priorities: list[int], guest_models: int = 0, after_read: Callable[[int], None] | None = None
    ):
        """`after_read` is called with the offset of each register that the manager has read."""
        FABRIC.fabric_reset(address_of(CORE.testbed_accel_memory))
        packed = sum(priority << 4 * n for n, priority in enumerate(priorities))
        self.read = READ(self.observed(after_read)) if after_read else FABRIC.fabric_read
        read, write = address_of(self.read), address_of(FABRIC.fabric_write)
        assert CORE.testbed_accel_boot(cpus, len(priorities), packed, guest_models, read, write)
        self.cpus, self.vms = cpus, len(priorities)
        self.console: list[str] = []

    @staticmethod
    def observed(after_read: Callable[[int], None]) -> Callable[[int, int], int]:
        def read(offset: int, size: int) -> int:
            value = FABRIC.fabric_read(offset, size)
            after_read(offset)
            return value

        return read

    def pass_time(self, cycles: int) -> None:
        FABRIC.fabric_step(cycles)

    def interrupt(self) -> bool:
        """Handles the fabric's interrupt, if it has one."""
        if FABRIC.fabric_interrupts() & 1 == 0:
            return False
        CORE.testbed_accel_interrupt()
        return True

    def run(self) -> None:
        """Every CPU handles what is pending, interrupts of other CPUs too."""
        assert CORE.testbed_run_until_idle()
        self.console.extend(lines())

    def settle(self) -> None:
        """Until nothing is pending. The check reads registers, and meanwhile the fabric goes on."""
        for _ in range(1000):
            self.run()
            wrong = CORE.testbed_accel_violation(True)
            if not self.interrupt():
                assert_no_violation(wrong)
                return
        raise AssertionError("the fabric's interrupt stays pending")

    def check(self) -> None:
        assert_no_violation(CORE.testbed_accel_violation(False))


class Guest:
    """A VM's program: jobs on random devices, one after another."""

    def __init__(self, machine: Machine, vm: int, chance: random.Random):
        self.machine, self.vm, self.chance = machine, vm, chance
        self.device = 0
        self.stores: list[tuple[int, int]] = []  # of the job, not yet done
        self.started = False
        self.fails = False  # the job's output is outside of the VM's memory
        self.jobs = 0

    def restart(self) -> None:
        self.stores, self.started = [], False

    def begin(self) -> None:
        self.device = self.chance.choice((*range(DEVICES), 4, 5, 4, 5))  # 4 and 5 fit one region only
        self.fails = self.chance.random() < 0.1
        size = self.chance.choice((1, 40, 400, 1500)) * UNITS[self.device]
        self.prepare(size, result=OUTSIDE if self.fails else RAM + 0x8000)

    def prepare(self, size: int, address: int = RAM + 0x1000, result: int = RAM + 0x8000) -> None:
        """The stores of a job with `size` bytes of input at a guest-physical address, and output at another one."""
        self.stores = [
            (OVER, 1),
            (CMD, 0),
            (DATA_ADDR, address),
            (DATA_ADDR + 4, 0),
            (DATA_SIZE, size),
            (RESULT, result),
            (RESULT + 4, 0),
            (INT_CTRL, 0),
            (START, 1),
        ]

    def stat(self) -> int:
        return CORE.testbed_accel_load(self.vm, self.device, STAT)

    def is_over(self) -> bool:
        return self.stat() >> IS_OVER & 1 == 1

    def step(self) -> None:
        """One store, or a look at STAT."""
        if self.started:
            self.look()
            return
        if not self.stores:
            self.begin()
        answer = CORE.testbed_accel_store(self.vm, self.device, *self.stores[0])
        if answer == REFUSED:
            self.refused()
        elif answer == DONE:
            self.started = self.stores.pop(0)[0] == START

    def refused(self) -> None:
        reports = self.machine.console + lines()
        raise AssertionError(f"VM {self.vm}: the store to device {self.device} is refused: {reports}")

    def look(self) -> None:
        if self.is_over():
            assert self.fails or self.stat() >> FAULT & 7 == 0
            self.jobs += 1
            self.started = False

    def words(self) -> str:
        state = CORE.testbed_accel_state(self.vm, self.device)
        return f"VM {self.vm}: device {self.device}, STAT 0x{self.stat():x}, state {state}"

    def has_work(self) -> bool:
        return self.started or bool(self.stores)


class Load:
    """Random events for the machine."""

    def __init__(self, seed: int, most_vms: int = 4, guest: type[Guest] = Guest):
        self.chance = random.Random(seed)
        cpus = self.chance.choice((1, 2, 3))
        vms = min(self.chance.choice((2, 4, 4)), most_vms)
        priorities = [self.chance.randrange(16) for _ in range(vms)]
        self.machine = Machine(cpus, priorities, self.chance.randrange(1 << vms))
        self.guests = [guest(self.machine, vm, self.chance) for vm in range(vms)]
        self.lives = [CORE.testbed_vm_starts(vm) for vm in range(vms)]
        self.events = (
            (60, self.guest),
            (10, lambda: self.machine.pass_time(self.chance.choice((1, 5, 40, 300)))),
            (1, lambda: self.machine.pass_time(2 * HOLD)),
            (2, self.request),
            (1, self.release),
            (10, self.machine.interrupt),
            (8, self.machine.run),
            (4, lambda: CORE.testbed_accel_yield(self.vm())),
            (3, lambda: CORE.testbed_accel_sleep(self.vm())),
            (4, lambda: CORE.testbed_accel_wake(self.vm())),
            (1, lambda: CORE.testbed_vm_stop(0, self.vm(), True)),
            (2, lambda: CORE.testbed_advance(10_000)),
        )

    def vm(self) -> int:
        return self.chance.randrange(self.machine.vms)

    def guest(self) -> None:
        """A guest makes some steps in a row, as it would until its CPU is interrupted."""
        vm = self.vm()
        for _ in range(self.chance.choice((1, 3, 12))):
            if self.runs(vm):
                self.guests[vm].step()

    def request(self) -> None:
        """A guest requests a device that it may never use."""
        self.call(REQUEST, self.vm(), self.chance.randrange(DEVICES))

    def release(self) -> None:
        """A guest gives up a device, but not one with a job: this would wait until the device is requested again."""
        vm, device = self.vm(), self.chance.randrange(DEVICES)
        if not (self.guests[vm].started and self.guests[vm].device == device):
            self.call(RELEASE, vm, device)

    def call(self, number: int, vm: int, device: int) -> None:
        if self.runs(vm):
            assert CORE.testbed_accel_call(vm, number, device) in (0, INVALID_STATE, NO_CALLER)

    def runs(self, vm: int) -> bool:
        """Whether the VM runs. A guest that has restarted begins anew."""
        if CORE.testbed_vm_starts(vm) != self.lives[vm]:
            self.lives[vm] = CORE.testbed_vm_starts(vm)
            self.guests[vm].restart()
        return CORE.testbed_vm_state(vm) == VM_RUNNING

    def run(self, steps: int) -> None:
        weights = [weight for weight, _ in self.events]
        for _ in range(steps):
            self.chance.choices(self.events, weights)[0][1]()
            self.machine.check()

    def end(self) -> None:
        """No new jobs: every started one must end, and every VCPU that waits must get its device."""
        for _ in range(3000):
            self.machine.settle()
            for vm in range(self.machine.vms):
                CORE.testbed_accel_wake(vm)
                self.machine.run()
                if self.runs(vm) and self.guests[vm].has_work():
                    self.guests[vm].step()
            CORE.testbed_advance(10_000)
            self.machine.pass_time(100)
            if not any(guest.has_work() for guest in self.guests):
                return
        left = [
            (g.vm, g.device, hex(g.stat()), CORE.testbed_accel_state(g.vm, g.device))
            for g in self.guests
            if g.has_work()
        ]
        raise AssertionError(f"jobs do not end: VM, device, STAT, state: {left}")


def few(values: Iterable[int]) -> list:
    """The values of a parameter; all but the first six are slow (pyproject.toml)."""
    return [value if n < 6 else pytest.param(value, marks=pytest.mark.slow) for n, value in enumerate(values)]


STALE = 310  # a client has its region again when the manager takes the solution by which it was to lose it


@pytest.mark.parametrize("seed", few(sorted({*range(SEEDS), STALE})))
def test_every_job_ends(seed: int) -> None:
    load = Load(seed)
    load.run(STEPS)
    load.end()


@pytest.mark.slow
def test_the_load_reaches_every_path() -> None:
    """Jobs, requests answered by each of the four paths, requests that wait, losses, interrupts of other CPUs."""
    counts, syncs, jobs = [0] * 6, CORE.testbed_syncs(), 0
    for seed in range(60):
        load = Load(seed)
        load.run(STEPS)
        jobs += sum(guest.jobs for guest in load.guests)
        counts = [count + CORE.testbed_accel_count(which) for which, count in enumerate(counts)]
    assert min(counts) > 5, counts
    assert CORE.testbed_syncs() - syncs > 20
    assert jobs > 30


def answers(machine: Machine, vm: int, device: int, stores: list[tuple[int, int]]) -> list[int]:
    return [CORE.testbed_accel_store(vm, device, *store) for store in stores]


@pytest.mark.parametrize(
    "leaves", [None, CORE.testbed_accel_sleep, CORE.testbed_accel_yield], ids=["no", "sleep", "yield"]
)
def test_start_is_written_just_before_another_cpu_forbids_it(leaves) -> None:
    """CPU 0 takes the region of VM 1, whose VCPU writes START on CPU 1 before the interrupt arrives there, and then
    possibly stops running. The fabric has no connected region for this START: the manager requests one."""
    machine = Machine(2, [1, 1])
    guest = Guest(machine, 1, random.Random(0))
    guest.begin()
    *first, start = guest.stores
    while any(answer == WAITS for answer in answers(machine, 1, guest.device, first)):
        machine.pass_time(500)
        machine.settle()
    machine.pass_time(4000)  # longer than the region is held
    machine.interrupt()
    assert CORE.testbed_accel_state(1, guest.device) == IDLE
    assert answers(machine, 1, guest.device, [start]) == [DONE]
    assert CORE.testbed_kicks(1) == 1
    if leaves:
        assert leaves(1)
    for _ in range(1000):
        machine.settle()
        machine.pass_time(100)
    assert not CORE.testbed_accel_rechecks(1, 1)
    assert guest.is_over()


def test_start_is_written_after_the_region_has_expired() -> None:
    """And before the manager handles the interrupt: it requests a region for the job."""
    machine = Machine(1, [1])
    guest = Guest(machine, 0, random.Random(0))
    guest.prepare(400)
    while any(answer == WAITS for answer in answers(machine, 0, 0, guest.stores[:-1])):
        machine.pass_time(500)
        machine.settle()
    machine.pass_time(4000)
    assert answers(machine, 0, 0, guest.stores[-1:]) == [DONE]
    for _ in range(100):
        machine.settle()
        machine.pass_time(100)
    assert guest.is_over()


def test_start_of_two_devices_is_written_before_another_cpu_forbids_it() -> None:
    """The manager requests a region for each of them."""
    machine = Machine(2, [1, 1])
    guests = [Guest(machine, 1, random.Random(0)) for _ in range(2)]
    for guest, device in zip(guests, (0, 4), strict=True):
        guest.device = device
        guest.prepare(400)
        while any(answer == WAITS for answer in answers(machine, 1, device, guest.stores[:-1])):
            machine.pass_time(100)
            machine.settle()
    machine.pass_time(8000)  # longer than the regions are held
    machine.interrupt()
    assert [answers(machine, 1, guest.device, guest.stores[-1:]) for guest in guests] == [[DONE]] * 2
    for _ in range(100):
        machine.settle()
        machine.pass_time(100)
    assert all(guest.is_over() for guest in guests)


def started(machine: Machine, vm: int, device: int, size: int, address: int = RAM + 0x1000) -> Guest:
    """A VM whose job of this size has been started."""
    guest = Guest(machine, vm, random.Random(0))
    guest.device = device
    guest.prepare(size, address)
    for _ in range(100):
        CORE.testbed_accel_wake(vm)
        machine.settle()
        while guest.stores:
            if CORE.testbed_accel_store(vm, device, *guest.stores[0]) != DONE:
                break
            guest.stores.pop(0)
        if not guest.stores:
            return guest
        machine.pass_time(50)
    raise AssertionError(f"{guest.words()}: the job does not start")


def test_other_cpus_are_told_before_the_page_is_forbidden() -> None:
    """A CPU that handles the IPI of the forbidden page at once finds the note, also while the manager still works."""
    noted: list[bool] = []
    armed = False

    def look(offset: int) -> None:
        if offset == IFS + 16 * IF_STRIDE + STAT and armed:
            noted.append(CORE.testbed_accel_rechecks(1, 1))

    machine = Machine(2, [1, 1], after_read=look)
    guest = Guest(machine, 1, random.Random(0))
    guest.prepare(40)
    while any(answer == WAITS for answer in answers(machine, 1, 0, guest.stores[:-1])):
        machine.pass_time(500)
        machine.settle()
    machine.pass_time(4000)  # longer than the region is held
    armed = True
    machine.interrupt()
    assert CORE.testbed_accel_state(1, 0) == IDLE
    assert noted and all(noted)


@pytest.mark.slow
def test_a_promised_region_expires_and_is_taken_by_a_third_client() -> None:
    """VM 0's job ends just when it has to stop for VM 1, whose interrupt is handled late: the region expires, and VM 2
    gets it first. VM 1 must not wait for this promise any more."""
    size, device = 400, 4
    taken = 0
    for cycles in range(380, 420):
        machine = Machine(3, [1, 5, 9])
        first = started(machine, 0, device, size)
        machine.pass_time(cycles)
        if not first.stat() >> BUSY & 1:
            break
        assert CORE.testbed_accel_store(1, device, CMD, 0) == WAITS
        machine.pass_time(6000)
        if first.stat() >> SAVED & 1:
            continue
        taken += 1
        third = Guest(machine, 2, random.Random(0))
        third.device = device
        third.prepare(size)
        assert answers(machine, 2, device, third.stores) == [DONE] * len(third.stores)
        for _ in range(100):
            machine.settle()
            machine.pass_time(500)
            CORE.testbed_advance(10_000)
        assert third.is_over()
        assert CORE.testbed_accel_store(1, device, CMD, 0) == DONE, first.words()
    assert taken > 0


def test_release_of_a_promised_region() -> None:
    """The fabric cannot withdraw it: the job that stops for the client is stopping already."""
    value = c_uint64()
    machine = Machine(2, [1, 5])
    guest = started(machine, 0, 4, 6000)
    machine.pass_time(50)
    assert CORE.testbed_hypercall(1, REQUEST, 4, 0, 0, ctypes.byref(value)) == 0
    assert CORE.testbed_accel_state(1, 4) == WAITING
    assert CORE.testbed_hypercall(1, RELEASE, 4, 0, 0, ctypes.byref(value)) == INVALID_STATE
    for _ in range(40):
        machine.pass_time(50)
        machine.settle()
    assert CORE.testbed_accel_state(1, 4) == CONNECTED
    assert CORE.testbed_hypercall(1, RELEASE, 4, 0, 0, ctypes.byref(value)) == 0
    for _ in range(200):
        machine.pass_time(100)
        machine.settle()
    assert guest.is_over()


@pytest.mark.parametrize(("holder", "rival", "preempts"), [(1, 0, False), (1, 1, False), (1, 2, True)])
def test_only_a_higher_priority_preempts(holder: int, rival: int, preempts: bool) -> None:
    """The device fits one region: a request of an equal or lower priority waits for the end of the job."""
    machine = Machine(2, [holder, rival])
    job = started(machine, 0, 4, 1600)
    assert CORE.testbed_accel_store(1, 4, CMD, 0) == WAITS
    while not job.is_over() and CORE.testbed_accel_state(1, 4) != CONNECTED:
        machine.pass_time(10)
        machine.settle()
    assert job.is_over() != preempts
    served = preempts
    for _ in range(1000):
        machine.pass_time(100)
        machine.settle()
        served = served or CORE.testbed_accel_state(1, 4) == CONNECTED
    assert served and job.is_over()


@pytest.mark.parametrize("device", range(DEVICES))
def test_status_predicts_the_time_of_a_configuration(device: int) -> None:
    """Bitstreams of devices with odd numbers are verified first."""
    machine = Machine(1, [1])
    value, took = c_uint64(), 0
    assert CORE.testbed_accel_store(0, device, CMD, 0) == WAITS  # ICAP_START is the manager's last access
    while FABRIC.fabric_interrupts() & 1 == 0 and took < 1000:
        machine.pass_time(1)
        took += 1
    machine.settle()
    assert CORE.testbed_accel_state(0, device) == CONNECTED
    assert CORE.testbed_hypercall(0, STATUS, device, 0, 0, ctypes.byref(value)) == 0
    predicted = value.value >> 32
    assert took <= predicted < took + 16


def test_a_vcpu_sleeps_until_its_device_is_connected() -> None:
    machine = Machine(1, [1])
    assert answers(machine, 0, 0, [(CMD, 5)]) == [WAITS]
    machine.run()
    assert CORE.testbed_vcpu_state(0, 0) == SUSPENDED
    machine.pass_time(500)
    machine.settle()
    assert CORE.testbed_vcpu_state(0, 0) == RUNNING
    assert answers(machine, 0, 0, [(CMD, 5)]) == [DONE]


def test_all_vcpus_that_wait_for_a_device_are_resumed() -> None:
    """More than a section resumes."""
    vcpus = VCPUS_OF_VM
    assert vcpus > 1 + AT_ONCE
    CORE.testbed_accel_vcpus(vcpus)
    machine = Machine(1, [1])
    CORE.testbed_accel_vcpus(1)
    assert all(CORE.testbed_vcpu_start(0, 0, vcpu) for vcpu in range(1, vcpus))
    machine.run()
    for _ in range(vcpus):
        assert answers(machine, 0, 0, [(CMD, 5)]) == [WAITS]
        machine.run()
    states = [CORE.testbed_vcpu_state(0, vcpu) for vcpu in range(vcpus)]
    assert states == [SUSPENDED] * vcpus
    machine.pass_time(500)
    machine.settle()
    states = [CORE.testbed_vcpu_state(0, vcpu) for vcpu in range(vcpus)]
    assert sorted(states) == sorted([RUNNING] + [READY] * (vcpus - 1))
    assert answers(machine, 0, 0, [(CMD, 5)]) == [DONE]


def test_a_wide_store_to_over_reaches_cmd() -> None:
    """A store of 64 bits to OVER writes CMD, too, for which the device needs a region."""
    machine = Machine(1, [1])
    assert answers(machine, 0, 0, [(OVER, 1), (INT_CTRL, 1)]) == [DONE] * 2
    assert CORE.testbed_accel_load(0, 0, INT_CTRL) == 1
    assert CORE.testbed_accel_state(0, 0) == IDLE
    while CORE.testbed_accel_store_wide(0, 0, OVER, 8, 5 << 32 | 1) == WAITS:
        machine.pass_time(500)
        machine.settle()
    assert CORE.testbed_accel_state(0, 0) == CONNECTED
    assert CORE.testbed_accel_load(0, 0, CMD) == 5


def fail(machine: Machine) -> None:
    """A job of VM 0 whose input is outside of the VM's memory."""
    guest = started(machine, 0, 0, 64, address=0)
    machine.pass_time(HOLD)
    assert guest.is_over() and guest.stat() >> FAULT & 7 != 0
    machine.settle()


@pytest.mark.parametrize(
    ("source", "target"), [(RAM + 0x1000, OUTSIDE), (RAM_END - 0x400, RAM + 0x8000)], ids=["output", "input"]
)
def test_a_job_that_failed_leaves_its_region_after_the_interrupt(source: int, target: int) -> None:
    """The fabric notifies a fault while bursts are still outstanding; the region leaves the client when they have
    ended. The manager must see this, too: otherwise the client's next START waits for ever."""
    machine = Machine(1, [1])
    guest = started(machine, 0, 0, 4)
    machine.pass_time(HOLD // 2)
    machine.settle()
    guest.prepare(4000, source, target)
    assert answers(machine, 0, 0, guest.stores) == [DONE] * len(guest.stores)
    for _ in range(10_000):
        if machine.interrupt():
            break
        machine.pass_time(1)
    assert guest.stat() >> BUSY & 1, "the interrupt comes after the job has left: this tests nothing"
    machine.pass_time(1000)
    machine.settle()
    assert guest.is_over() and guest.stat() >> FAULT & 7 != 0
    assert CORE.testbed_accel_state(0, 0) == IDLE
    again = started(machine, 0, 0, 40)
    machine.pass_time(HOLD // 2)
    assert again.is_over() and again.stat() >> FAULT & 7 == 0


def test_a_solution_that_comes_while_the_manager_looks_for_one() -> None:
    """The manager is interrupted without a solution, and one comes after it has read that there is none."""
    armed = False

    def look(offset: int) -> None:
        nonlocal armed
        while armed and offset == NEW_SOLUTION and FABRIC.fabric_interrupts() & 1 == 0:
            machine.pass_time(1)
        armed = armed and offset != NEW_SOLUTION

    machine = Machine(2, [1, 1], after_read=look)
    first = started(machine, 0, 4, 400)
    assert CORE.testbed_accel_store(1, 4, CMD, 0) == WAITS
    armed = True
    CORE.testbed_accel_interrupt()
    assert not armed
    machine.settle()
    assert first.is_over()
    assert CORE.testbed_accel_state(1, 4) == CONNECTED


def faults_reported(machine: Machine) -> int:
    return sum("accessed memory outside" in line for line in machine.console)


def test_reports_of_faults_are_limited() -> None:
    """After a report, faults are not reported for 100 ms, also when another event of the fabric interrupts."""
    machine = Machine(1, [1])
    for _ in range(4):
        fail(machine)
        machine.pass_time(2 * HOLD)  # the region expires: an interrupt
        machine.settle()
    assert faults_reported(machine) == 1
    CORE.testbed_advance(1_000_000)
    machine.settle()
    fail(machine)
    assert faults_reported(machine) == 2


def test_a_life_does_not_see_the_registers_of_the_last_one() -> None:
    machine = Machine(1, [1])
    guest = started(machine, 0, 0, 64)
    machine.pass_time(HOLD)
    assert guest.is_over()
    assert CORE.testbed_accel_load(0, 0, DONE_SIZE) != 0
    assert CORE.testbed_vm_stop(0, 0, True)
    machine.settle()
    assert CORE.testbed_vm_starts(0) == 2
    assert not any(CORE.testbed_accel_load(0, 0, offset) for offset in range(0, 0x80, 4))


def test_a_vm_that_stops_has_no_window() -> None:
    """VM 0 begins its next life, and VM 1 does not."""
    machine = Machine(2, [1, 1])

    def sizes(vm: int) -> list[int]:
        first = WINDOWS + vm * VM_STRIDE + WINDOW_SIZE
        return [FABRIC.fabric_read(first + at, 8) for at in range(0, VM_STRIDE, WINDOW_STRIDE)]

    before = [sizes(vm) for vm in range(2)]
    assert [sum(each) for each in before] == [RAM_END - RAM] * 2
    assert CORE.testbed_vm_stop(0, 0, True)
    assert CORE.testbed_vm_stop(1, 1, False)
    machine.settle()
    assert [sizes(vm) for vm in range(2)] == [before[0], [0] * len(before[1])]


def test_a_request_of_a_vm_that_stops_is_withdrawn() -> None:
    """VM 1 waits for the end of VM 0's job, and stops: its next life gets no region that it has not requested."""
    machine = Machine(2, [1, 1])
    job = started(machine, 0, 4, 400)
    assert CORE.testbed_accel_store(1, 4, CMD, 0) == WAITS
    assert CORE.testbed_vm_stop(1, 1, True)
    machine.run()
    assert CORE.testbed_vm_starts(1) == 2
    for _ in range(20):
        machine.pass_time(100)
        machine.settle()
        assert CORE.testbed_accel_state(1, 4) == IDLE
    assert job.is_over()


def test_a_promised_region_of_a_vm_that_stops_is_withdrawn() -> None:
    """VM 0's job stops for VM 1, which stops, too: its next life begins when the fabric has withdrawn the region."""
    machine = Machine(2, [1, 5])
    job = started(machine, 0, 4, 6000)
    machine.pass_time(50)
    assert CORE.testbed_accel_call(1, REQUEST, 4) == 0
    assert CORE.testbed_vm_stop(1, 1, True)
    for _ in range(200):
        machine.settle()
        assert CORE.testbed_accel_state(1, 4) in (WAITING, IDLE)
        machine.pass_time(100)
    assert CORE.testbed_vm_starts(1) == 2
    assert CORE.testbed_accel_state(1, 4) == IDLE
    assert job.is_over()


def test_a_stop_ends_when_both_jobs_have_left_their_regions() -> None:
    """The tasks stop at different times. The VM's next life sees no loss of a region, and no job had a fault."""
    for cycles in range(0, 40, 4):
        machine = Machine(1, [1])
        jobs = [started(machine, 0, device, 1_600_000) for device in (0, 3)]
        machine.pass_time(cycles)
        assert all(job.stat() >> BUSY & 1 for job in jobs)
        assert CORE.testbed_vm_stop(0, 0, True)
        machine.settle()
        machine.pass_time(1000)
        machine.settle()
        assert CORE.testbed_vm_starts(0) == 2
        assert [CORE.testbed_accel_state(0, device) for device in (0, 3)] == [IDLE, IDLE]
        assert CORE.testbed_accel_count(LOSSES) == 0
        assert not any("error" in line for line in machine.console)


class IcapQueue:
    """Four VMs that request devices of the first size class, and the order in which these are connected."""

    def __init__(self, priorities: list[int]):
        self.machine = Machine(3, priorities)
        self.connected: list[int] = []

    def request(self, *vms: int) -> None:
        for vm in vms:
            assert CORE.testbed_accel_call(vm, REQUEST, 0) == 0
            self.machine.check()

    def pass_time(self, cycles: int) -> None:
        for _ in range(cycles):
            self.machine.pass_time(1)
            self.machine.interrupt()
            self.machine.check()
            for vm in range(self.machine.vms):
                if CORE.testbed_accel_state(vm, 0) == CONNECTED and vm not in self.connected:
                    self.connected.append(vm)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
def test_regions_wait_for_the_port_in_the_order_of_their_requests(order: tuple[int, ...]) -> None:
    """The priorities, with which the fabric has chosen the regions, decide nothing here."""
    icap = IcapQueue([1, 9, 5])
    icap.request(*order)
    icap.pass_time(600)
    assert icap.connected == list(order)


def test_a_region_waits_for_the_port_behind_one_of_a_higher_number() -> None:
    machine = Machine(3, [1, 1, 1])
    requests = ((0, 0), (1, 4), (2, 0))  # regions 0, 2, 1
    for vm, device in requests:
        assert CORE.testbed_accel_call(vm, REQUEST, device) == 0
    for _ in requests:
        machine.pass_time(200)
        machine.settle()
    assert [CORE.testbed_accel_state(vm, device) for vm, device in requests] == [CONNECTED] * 3


def test_a_region_that_was_given_up_is_not_configured() -> None:
    """The second of three clients releases its region while it waits: the third one's is configured next, and the
    second one's new request is the last."""
    icap = IcapQueue([1, 1, 1])
    icap.request(0, 1, 2)
    assert CORE.testbed_accel_call(1, RELEASE, 0) == 0
    icap.pass_time(100)
    assert icap.connected == [0]
    icap.pass_time(100)
    assert icap.connected == [0, 2]
    assert CORE.testbed_accel_state(1, 0) == IDLE
    icap.request(1)
    icap.pass_time(200)
    assert icap.connected == [0, 2, 1]


@pytest.mark.parametrize("guest_model", [False, True])
def test_a_client_whose_bitstream_the_port_refuses(guest_model: bool) -> None:
    """It has failed until its VM restarts, and another client gets the region."""
    machine = Machine(2, [1, 1], int(guest_model))
    CORE.testbed_accel_damage(4, 2, 100)
    assert CORE.testbed_accel_store(0, 4, CMD, 0) == (DONE if guest_model else WAITS)
    machine.pass_time(200)
    machine.settle()
    assert CORE.testbed_accel_state(0, 4) == FAILED
    assert sum("vm-a: the bitstream of e for region 2 is refused: error" in line for line in machine.console) == 1
    assert CORE.testbed_vcpu_state(0, 0) == RUNNING
    assert CORE.testbed_accel_store(0, 4, CMD, 0) == REFUSED
    assert CORE.testbed_accel_store(1, 5, CMD, 0) == WAITS
    machine.pass_time(200)
    machine.settle()
    assert CORE.testbed_accel_store(1, 5, CMD, 0) == DONE


def test_a_region_with_another_client_keeps_its_place() -> None:
    """A region waits for the ICAP, and its client gives it up to another one: it is in the queue once, and configured
    for the new client."""
    machine = Machine(3, [1, 1, 1])
    assert CORE.testbed_accel_call(0, REQUEST, 0) == 0
    assert CORE.testbed_accel_call(1, REQUEST, 5) == 0
    assert CORE.testbed_accel_call(1, RELEASE, 5) == 0
    assert CORE.testbed_accel_call(2, REQUEST, 4) == 0  # the same region: devices 4 and 5 fit no other one
    machine.check()
    assert CORE.testbed_accel_state(2, 4) == WAITING
    machine.pass_time(100)
    machine.settle()
    machine.pass_time(100)
    machine.settle()
    assert [CORE.testbed_accel_state(vm, device) for vm, device in ((0, 0), (1, 5), (2, 4))] == [
        CONNECTED,
        IDLE,
        CONNECTED,
    ]
