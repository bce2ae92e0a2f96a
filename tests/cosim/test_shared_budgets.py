# SPDX-License-Identifier: Apache-2.0
"""Budgets, policies, rights and flushes of the shared devices: from the manager's write to the order and the times of
completions, and to events."""

import pytest
from shared_devices import (
    COPY,
    DISPLAY,
    DONE,
    FLASH,
    RAM,
    READ,
    RECEIVE,
    SEND,
    SPI,
    VIOLATION,
    Client,
    Devices,
    field,
)  # fmt: skip

DEVICES = {"flash": FLASH, "send": SEND, "copy": COPY}  # those with an arbiter: a frame received has its VM
ROUND_ROBIN, PRIORITY, EDF = range(3)
PERIOD = 40_000  # cycles
SERVED = 10_000  # more cycles than any request here takes
LATER, EARLY, LATE = 20_000, 10_000, 30_000  # deadlines, from some time on
TO_NOBODY = bytes([2, 0, 0, 0, 1, 0])

devices_with_arbiter = pytest.mark.parametrize("device", DEVICES.values(), ids=DEVICES)


@pytest.fixture
def devices():
    made = Devices()
    yield made
    assert made.library.shared_complaints() == 0, "AXI"


def ready(vm: Client, device: int) -> Client:
    """With a ring, and a frame in its memory."""
    vm.set_ring(device)
    vm.store(0, (TO_NOBODY + vm.mac + b"\x88\xb5").ljust(1000, b"x"))
    return vm


def submit(vm: Client, device: int) -> None:
    """A request of one chunk, which takes at least 1,000 cycles."""
    if device == FLASH:
        vm.submit(FLASH, READ, RAM + 0x1000, 256)
    elif device == SEND:
        vm.submit(SEND, 0, RAM, 1000)
    else:
        vm.submit(COPY, 0, RAM + 0x1000, 1000, RAM)


def set_budget(devices: Devices, vm: int, device: int, cycles: int) -> None:
    vm_and_device = field("SHARED_BUDGET_VM", vm) | field("SHARED_BUDGET_DEVICE", device)
    devices.set("BUDGET", vm_and_device | field("SHARED_BUDGET_CYCLES", cycles))


def set_period(devices: Devices, device: int, cycles: int) -> None:
    devices.set("PERIOD", cycles, index=device - FLASH)


def set_policy(devices: Devices, device: int, policy: int) -> None:
    value = field("SHARED_ARBITER_POLICY", policy) | field("SHARED_ARBITER_SIZE", 11)  # no request here is cut
    devices.set("ARBITER", value, index=device - FLASH)


def completions(vms: list[Client], device: int, cycles: int) -> list[tuple[int, int]]:
    """VM and time of each completion within these cycles, in their order."""
    devices, found = vms[0].devices, []
    end = devices.time + cycles
    while devices.time < end:
        for vm in vms:
            completion = vm.completion(device)
            if completion:
                assert completion.status == DONE
                found.append((vm.number, devices.time))
        devices.step(50)
    return found


def order(vms: list[Client], device: int) -> list[int]:
    """The VMs in the order in which their requests were completed, within the time of four."""
    return [number for number, _ in completions(vms, device, 4 * SERVED)]


@devices_with_arbiter
def test_a_budget_stops_its_vm_until_the_replenishment(devices, device):
    """A VM whose budget ends with its first request is served once in each period, the VM beside it all the time."""
    limited, other = (ready(vm, device) for vm in devices.vms[:2])
    set_policy(devices, device, ROUND_ROBIN)
    set_budget(devices, limited.number, device, 500)
    set_period(devices, device, PERIOD)
    start = devices.time
    for _ in range(3):
        submit(limited, device)
    served = []
    for _ in range(6):
        submit(other, device)
        served += completions([limited, other], device, PERIOD // 2)
    times = [time - start for number, time in served if number == limited.number]
    assert [time // PERIOD for time in times] == [0, 1, 2]
    assert all(time % PERIOD < SERVED for time in times), times
    assert sum(number == other.number for number, _ in served) == 6


@devices_with_arbiter
def test_a_budget_belongs_to_its_vm_and_ends_with_it(devices, device):
    """The other VMs have no limit; nor has this one after the manager has set 0, or no period."""
    first, second = (ready(vm, device) for vm in devices.vms[:2])
    set_policy(devices, device, ROUND_ROBIN)
    set_budget(devices, first.number, device, 500)
    set_period(devices, device, 100 * PERIOD)
    for vm in (first, second):
        for _ in range(2):
            submit(vm, device)
    assert sorted(order([first, second], device)) == [0, 1, 1]
    set_period(devices, device, 0)
    assert order([first], device) == [0]
    set_budget(devices, first.number, device, 0)
    set_period(devices, device, 100 * PERIOD)
    for _ in range(2):
        submit(first, device)
    assert order([first], device) == [0, 0]


@devices_with_arbiter
@pytest.mark.parametrize("base", [0, 2**32 - LATER], ids=["in a row", "around 2^32"])
def test_the_earliest_deadline_first(devices, device, base):
    vms = [ready(vm, device) for vm in devices.vms[:4]]
    set_policy(devices, device, EDF)
    for vm, deadline in zip(vms, (0, LATE, EARLY, LATER), strict=True):
        vm.write(device, "CHANNEL_DEADLINE", (base + deadline) % 2**32)
        submit(vm, device)
    assert order(vms, device) == [0, 2, 3, 1], "the first one has found the device idle"


@devices_with_arbiter
def test_a_policy_for_requests_that_wait(devices, device):
    """It counts from the next chunk on, although the VM that round robin serves next is chosen already."""
    vms = [ready(vm, device) for vm in devices.vms[:3]]
    set_policy(devices, device, ROUND_ROBIN)
    for vm, deadline in zip(vms, (0, LATE, EARLY), strict=True):
        vm.write(device, "CHANNEL_DEADLINE", deadline)
        submit(vm, device)
    devices.step(100)
    set_policy(devices, device, EDF)
    assert order(vms, device) == [0, 2, 1]


@devices_with_arbiter
def test_a_priority_for_requests_that_wait(devices, device):
    vms = [ready(vm, device) for vm in devices.vms[:3]]
    set_policy(devices, device, PRIORITY)
    for vm in vms:
        submit(vm, device)
    devices.step(100)
    devices.allow(2, device, prio=5)
    assert order(vms, device) == [0, 2, 1]


@devices_with_arbiter
def test_a_right_for_requests_that_wait(devices, device):
    """Without it the VM is not served, although it is chosen already; its request waits until the right is back."""
    vms = [ready(vm, device) for vm in devices.vms[:3]]
    devices.allow(1, SPI, allowed=False)  # a right to the flash, too
    set_policy(devices, device, ROUND_ROBIN)
    for vm in vms:
        submit(vm, device)
    devices.step(100)
    devices.allow(1, device, allowed=False)
    assert order(vms, device) == [0, 2]
    devices.allow(1, device)
    assert order(vms, device) == [1]


def test_budgets_are_replenished_while_cycles_are_skipped(devices):
    """Nobody is served and no request waits: the period passes all the same, and the cycles behind it are skipped."""
    period = 1_000_000
    vm = ready(devices.vms[0], FLASH)
    set_policy(devices, FLASH, ROUND_ROBIN)
    set_budget(devices, vm.number, FLASH, 500)
    set_period(devices, FLASH, period)
    times = []
    for _ in range(2):
        before = devices.time, devices.simulated
        submit(vm, FLASH)
        vm.wait(FLASH, 2 * period)
        times.append(devices.time - before[0])
        devices.step(10 * period)
        assert devices.simulated - before[1] < period + SERVED
    assert times[1] <= times[0] + 50, "cycles"


def test_a_flush_by_the_manager_removes_events(devices):
    """Also a refusal and the deadline; those of other VMs remain."""
    flushed, other = (ready(vm, FLASH) for vm in devices.vms[:2])
    for vm in (flushed, other):
        vm.write(FLASH, "CHANNEL_DEADLINE", 77)
        vm.write(FLASH, "CHANNEL_INT", 1)
        for _ in range(6):
            submit(vm, FLASH)
    devices.wait_for(lambda: all(vm.completion(FLASH) for vm in (flushed, other)))
    assert [vm.read(FLASH, "CHANNEL_INT") for vm in (flushed, other)] == [0b111, 0b111]
    devices.set("FLUSH", flushed.number)
    devices.step(SERVED)
    assert [vm.read(FLASH, "CHANNEL_INT") for vm in (flushed, other)] == [0, 0b111]
    assert [vm.read(FLASH, "CHANNEL_DEADLINE") for vm in (flushed, other)] == [0, 77]
    flushed.write(FLASH, "CHANNEL_DEADLINE", 78)
    assert flushed.read(FLASH, "CHANNEL_DEADLINE") == 78


def test_a_reset_removes_deadlines_and_refusals(devices):
    """Of all channels, also when the first write after the reset is to the page of another one."""
    vm = ready(devices.vms[0], FLASH)
    vm.write(FLASH, "CHANNEL_DEADLINE", 77)
    for _ in range(6):
        submit(vm, FLASH)
    assert vm.read(FLASH, "CHANNEL_INT") & 0b100
    devices.library.shared_reset()
    assert (vm.read(FLASH, "CHANNEL_DEADLINE"), vm.read(FLASH, "CHANNEL_INT")) == (0, 0)
    vm.write(COPY, "CHANNEL_DEADLINE", 78)
    assert [vm.read(device, "CHANNEL_DEADLINE") for device in (FLASH, COPY)] == [0, 78]
    assert [vm.read(device, "CHANNEL_INT") for device in (FLASH, COPY)] == [0, 0]


@pytest.mark.parametrize("ends", ["flush", "reset"])
def test_the_next_life_finds_no_addresses(devices, ends):
    """After a flush or a reset ADDR of each channel, BASE and FORMAT are 0. A write of one leaves the others 0, and a
    flush those of other VMs unchanged."""
    channels = (FLASH, SEND, RECEIVE, COPY)
    written = [(device, "CHANNEL_ADDR", RAM + 0x40 * device) for device in channels]
    written += [(DISPLAY, "SCREEN_BASE", RAM + 0x800), (DISPLAY, "SCREEN_FORMAT", 0x140 | 1 << 32)]
    vm, other = devices.vms[:2]

    def values(of: Client) -> list[int]:
        return [of.read(device, register) for device, register, _ in written]

    for changed in range(len(written)):
        for one in (vm, other):
            for device, register, value in written:
                one.write(device, register, value)
        assert values(vm) == [value for _, _, value in written]
        if ends == "flush":
            devices.set("FLUSH", vm.number)
            assert values(other) == [value for _, _, value in written]
        else:
            devices.library.shared_reset()
        assert values(vm) == [0] * len(written)
        device, register, value = written[changed]
        vm.write(device, register, value)
        assert values(vm) == [value if n == changed else 0 for n in range(len(written))]


def test_the_next_life_uses_no_addresses(devices):
    """After a flush a request without a write of ADDR is about address 0, as its fault tells."""
    vm = devices.vms[0]
    vm.write(COPY, "CHANNEL_ADDR", RAM)
    devices.set("FLUSH", vm.number)
    vm.set_ring(COPY)
    vm.write(COPY, "CHANNEL_SUBMIT", 8 << 16 | RAM << 32)
    assert vm.wait(COPY).status == VIOLATION
    assert devices.get("FAULT_ADDR") == 0


def test_a_completion_under_way_at_a_flush_sets_no_event(devices):
    """Wherever the flush meets it. With slow memory it is written after some of these flushes."""
    vm = devices.vms[0]
    devices.library.shared_latency(100)
    written_before = 0
    for delay in range(0, 400, 10):
        vm.set_ring(FLASH)
        vm.submit(FLASH, READ, RAM, 1)
        devices.step(delay)
        written_before += vm.read(FLASH, "CHANNEL_INT") >> 1
        devices.set("FLUSH", vm.number)
        devices.wait_for(lambda: not devices.get("BUSY"))
        devices.step(SERVED)
        assert vm.read(FLASH, "CHANNEL_INT") == 0, delay
    assert 0 < written_before < 40
