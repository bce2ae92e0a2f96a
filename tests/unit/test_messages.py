# SPDX-License-Identifier: Apache-2.0
"""
Messages between VMs against a simple model (a list per receiver): with many senders in any order,
no message is lost, duplicated, truncated or reordered, and every invalid call returns its error and
changes nothing.
"""

import ctypes

import pytest
from c_headers import values
from core import CORE, OFF, VM_LOADING, VM_RUNNING, VM_STOPPING, examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

SETTINGS = settings(
    max_examples=examples(60),
    stateful_step_count=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)

GET_ID, SEND, RECV, RING, DOORBELLS, SEND_WAIT = values(
    "ipc_abi.h",
    """HCALL_INFO_GET_ID HCALL_IPC_SEND_MSG HCALL_IPC_RECV_MSG HCALL_IPC_RING HCALL_IPC_DOORBELLS
    HCALL_IPC_SEND_WAIT""",
)
NOT_NOW, NO_VCPU, DENIED, BAD_ADDRESS, NOT_RUNNING, BAD_SIZE = values(
    "ipc_abi.h",
    """IPC_ERR_NOT_NOW IPC_ERR_NO_VCPU HCALL_ERR_DENIED HCALL_ERR_INVALID_ADDRESS IPC_ERR_NOT_RUNNING
    IPC_ERR_SIZE""",
)
QUEUE, LARGEST, SOFTWARE_INTERRUPT = values("ipc_abi.h arch_types.h", "IPC_QUEUE IPC_MESSAGE_MAX ARCH_VIRQ_MESSAGE")
GPA, RAM_SIZE, SHARED_GPA, SHARED_SIZE = 0x80000000, 0x200000, 0xC0000000, 0x200000
BUFFER = 0x1000  # scratch memory in the RAM of each VM: 0x1000 .. 0x2000
FILL = b"\xee"

INDEX = st.integers(0, 1000)
VCPUS = st.sampled_from((0, 0, 0, 0, 1, 2, 96))
SIZES = st.one_of(st.integers(1, LARGEST), st.sampled_from((1, 4, 7, 8, 12, 100, LARGEST)))
BAD_SIZES = st.sampled_from((0, LARGEST + 1, 4096, 1 << 16, (1 << 64) - 1))
PLACES = st.one_of(st.integers(0, 64).map(lambda n: 8 * n), st.integers(0, 512))
BAD_PLACES = st.sampled_from((0, GPA - 8, GPA - 1, GPA + RAM_SIZE, 0x10000000, (1 << 64) - 8, SHARED_GPA + SHARED_SIZE))


def call(vm: int, number: int, *arguments: int) -> tuple[int, int]:
    value = ctypes.c_uint64(0)
    error = CORE.testbed_call(vm, number, *(list(arguments) + [0] * 3)[:3], ctypes.byref(value))
    assert error <= 0, f"VM {vm} does not run"
    return error, value.value


def poke(vm: int, at: int, data: bytes) -> None:
    ctypes.memmove(CORE.testbed_memory(vm, GPA + at), data, len(data))


def peek(vm: int, at: int, size: int) -> bytes:
    return ctypes.string_at(CORE.testbed_memory(vm, GPA + at), size)


def boot(rights: list[int], lines: list[int], sharers: int, vcpus: int = 2) -> None:
    count = len(rights)
    array = ctypes.c_uint32 * count
    assert CORE.testbed_ipc_boot(count, vcpus, array(*rights), array(*lines), sharers)


def sleep(vm: int) -> None:
    """VCPU 0 handles its interrupts and waits for another one."""
    CORE.testbed_raised(vm, 0)
    for cpu in range(8):
        if CORE.testbed_on_cpu(cpu) == 100 * vm:
            CORE.testbed_wait(cpu)
    assert CORE.testbed_run_until_idle()


class Messages(RuleBasedStateMachine):
    """Up to six VMs that send messages with and without permission."""

    @initialize(data=st.data(), count=st.integers(2, 6))
    def start(self, data: st.DataObject, count: int) -> None:
        everyone = (1 << count) - 1
        self.count = count
        self.rights = [data.draw(st.sampled_from((everyone, everyone, 0, 1, 2))) & ~(1 << i) for i in range(count)]
        self.lines = [data.draw(st.sampled_from((0, 0, 3, 31))) for _ in range(count)]
        self.sharers = data.draw(st.sampled_from((everyone, everyone & ~1, 3)))
        boot(self.rights, self.lines, self.sharers)
        self.waiting: list[list[tuple[int, bytes]]] = [[] for _ in range(count)]
        self.bells = [0] * count
        self.serial = 0

    def _message(self, size: int) -> bytes:
        self.serial += 1
        return (self.serial.to_bytes(4, "little") * 32)[:size]

    def _notified(self, vm: int, before: int) -> None:
        """The receiver's line is asserted, or its software interrupt was raised unless it was
        pending."""
        if not self.lines[vm]:
            assert before & SOFTWARE_INTERRUPT or CORE.testbed_raised(vm, 0) & SOFTWARE_INTERRUPT

    def _expected(self, source: int, receiver: int, vcpu: int) -> int:
        if receiver >= self.count:
            return NO_VCPU
        if not self.rights[source] >> receiver & 1:
            return DENIED
        if vcpu >= 2:
            return NO_VCPU
        if vcpu == 1 or CORE.testbed_vm_state(receiver) != VM_RUNNING:
            return NOT_RUNNING
        return NOT_NOW if len(self.waiting[receiver]) == QUEUE else 0

    @rule(source=INDEX, receiver=st.integers(0, 8), vcpu=VCPUS, size=SIZES, place=PLACES)
    def send(self, source: int, receiver: int, vcpu: int, size: int, place: int) -> None:
        source %= self.count
        message = self._message(size)
        poke(source, BUFFER + place, message)
        expected = self._expected(source, receiver, vcpu)
        before = CORE.testbed_raised(receiver, 0) if expected == 0 else 0
        assert call(source, SEND, receiver | vcpu << 16, GPA + BUFFER + place, size) == (expected, 0)
        if expected == 0:
            self.waiting[receiver].append((source, message))
            self._notified(receiver, before)

    @rule(source=INDEX, receiver=INDEX, count=st.integers(2, 12))
    def flood(self, source: int, receiver: int, count: int) -> None:
        for _ in range(count):
            self.send(source, receiver % self.count, 0, 16, 0)

    @rule(source=INDEX, receiver=INDEX, size=BAD_SIZES)
    def send_too_much(self, source: int, receiver: int, size: int) -> None:
        source, receiver = source % self.count, receiver % self.count
        allowed = self.rights[source] >> receiver & 1
        assert call(source, SEND, receiver, GPA + BUFFER, size)[0] == (BAD_SIZE if allowed else DENIED)

    @rule(source=INDEX, receiver=INDEX, size=SIZES, place=BAD_PLACES)
    def send_from_nowhere(self, source: int, receiver: int, size: int, place: int) -> None:
        source, receiver = source % self.count, receiver % self.count
        allowed = self.rights[source] >> receiver & 1
        assert call(source, SEND, receiver, place, size)[0] == (BAD_ADDRESS if allowed else DENIED)

    @rule(vm=INDEX, room=st.one_of(st.just(LARGEST), SIZES, st.just(1 << 40)), place=PLACES)
    def receive(self, vm: int, room: int, place: int) -> None:
        vm %= self.count
        poke(vm, BUFFER, FILL * 1024)
        error, value = call(vm, RECV, GPA + BUFFER + place, room)
        if not self.waiting[vm]:
            assert (error, value) == (NOT_NOW, 0)
            written = b""
        else:
            source, message = self.waiting[vm][0]
            assert value == len(message) | source << 16
            assert error == (0 if len(message) <= room else BAD_SIZE)
            written = message if error == 0 else b""
        if error == 0:
            self.waiting[vm].pop(0)
        assert peek(vm, BUFFER, 1024) == FILL * place + written + FILL * (1024 - place - len(written))

    @rule(vm=INDEX, place=BAD_PLACES)
    def receive_to_nowhere(self, vm: int, place: int) -> None:
        vm %= self.count
        assert call(vm, RECV, place, LARGEST)[0] == (BAD_ADDRESS if self.waiting[vm] else NOT_NOW)

    @rule(vm=INDEX)
    def receive_everything(self, vm: int) -> None:
        for _ in range(QUEUE + 1):
            self.receive(vm, LARGEST, 8)
        assert not self.waiting[vm % self.count]

    @rule(source=INDEX, receiver=st.integers(0, 8), region=st.sampled_from((0, 0, 0, 1, 31, 32, 64, 1 << 40)))
    def ring(self, source: int, receiver: int, region: int) -> None:
        source %= self.count
        both = region == 0 and self.sharers >> source & self.sharers >> receiver & 1
        expected = NO_VCPU if receiver >= self.count else 0 if both else DENIED
        before = CORE.testbed_raised(receiver, 0) if expected == 0 else 0
        assert call(source, RING, region, receiver) == (expected, 0)
        if expected == 0:
            self.bells[receiver] |= 1
            self._notified(receiver, before)

    @rule(vm=INDEX)
    def ask_doorbells(self, vm: int) -> None:
        vm %= self.count
        assert call(vm, DOORBELLS) == (0, self.bells[vm])
        self.bells[vm] = 0

    @rule(vm=INDEX, source=INDEX, asleep=st.booleans())
    def restart(self, vm: int, source: int, asleep: bool) -> None:
        """A message sent during the restart is refused, or is discarded with the run that ends."""
        vm, source = vm % self.count, source % self.count
        call(source, GET_ID)
        if asleep:
            sleep(vm)
        CORE.testbed_vm_stop(0, vm, True)
        self.waiting[vm], self.bells[vm] = [], 0
        if source != vm and self.rights[source] >> vm & 1:
            ends = CORE.testbed_vm_state(vm) == VM_STOPPING
            assert call(source, SEND, vm, GPA + BUFFER, 16)[0] in (
                (0, NOT_NOW, NOT_RUNNING) if ends else (NOT_RUNNING,)
            )
        assert CORE.testbed_run_until_idle()

    @precondition(lambda self: any(self.waiting))
    @rule(vm=INDEX)
    def sleeper_is_woken(self, vm: int) -> None:
        """A receiver that waits with an empty queue runs again after a send."""
        vm %= self.count
        senders = [source for source in range(self.count) if self.rights[source] >> vm & 1]
        self.receive_everything(vm)
        self.ask_doorbells(vm)
        if not senders or self.lines[vm]:
            return  # arch/host has no controller that delivers a line as an interrupt
        sleep(vm)
        self.send(senders[0], vm, 0, 20, 0)
        assert CORE.testbed_run_until_idle()
        assert any(CORE.testbed_on_cpu(cpu) == 100 * vm for cpu in range(self.count))

    @invariant()
    def lines_match_queues(self) -> None:
        for vm in range(getattr(self, "count", 0)):
            up = self.lines[vm] and (self.waiting[vm] or self.bells[vm])
            assert CORE.testbed_lines(vm) == (1 << self.lines[vm] if up else 0)
        assert CORE.testbed_violation() is None


def test_messages() -> None:
    run_state_machine_as_test(Messages, settings=SETTINGS)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 2)), max_size=200))
@settings(max_examples=examples(60), deadline=None, derandomize=True)
def test_many_senders_one_receiver(events: list[tuple[int, int]]) -> None:
    """Five senders number their messages; the receiver gets each sender's numbers in order,
    whatever it does between."""
    boot([0b100000] * 5 + [0], [0] * 6, 0)
    sent, seen = [0] * 5, [0] * 5

    def take() -> bool:
        error, value = call(5, RECV, GPA + BUFFER, 8)
        if error == 0:
            source = value >> 16
            assert int.from_bytes(peek(5, BUFFER, 8), "little") == seen[source]
            seen[source] += 1
        return error == 0

    for source, takes in events:
        poke(source, BUFFER, sent[source].to_bytes(8, "little"))
        error, _ = call(source, SEND, 5, GPA + BUFFER, 8)
        assert error in (0, NOT_NOW)
        sent[source] += error == 0
        for _ in range(takes):
            take()
    while take():
        pass
    assert seen == sent


def test_send_and_wait() -> None:
    """The sender waits after its message was sent, and only then."""
    boot([2, 1], [0, 0], 0)
    assert call(0, SEND_WAIT, 1, 0, 8)[0] == BAD_ADDRESS
    assert CORE.testbed_run_until_idle()
    assert CORE.testbed_on_cpu(0) == 0
    CORE.testbed_raised(0, 0)
    assert call(0, SEND_WAIT, 1, GPA + BUFFER, 8)[0] == 0
    assert CORE.testbed_run_until_idle()
    assert 0 not in (CORE.testbed_on_cpu(0), CORE.testbed_on_cpu(1))
    assert call(1, SEND, 0, GPA + BUFFER, 8)[0] == 0
    assert CORE.testbed_run_until_idle()
    assert 0 in (CORE.testbed_on_cpu(0), CORE.testbed_on_cpu(1))


def test_message_stays_until_the_buffer_is_large_enough() -> None:
    """A refused receipt describes the message: its size, the sender's VM and VCPU."""
    boot([2, 0], [0, 0], 0)
    poke(0, BUFFER, b"16 bytes long...")
    assert call(0, SEND, 1, GPA + BUFFER, 16)[0] == 0
    assert call(1, RECV, GPA + BUFFER, 8) == (BAD_SIZE, 16)
    assert call(1, RECV, GPA + BUFFER, 16) == (0, 16)
    assert peek(1, BUFFER, 16) == b"16 bytes long..."


def test_shared_memory_is_cleared_at_boot_only() -> None:
    boot([0, 0], [0, 0], 3)
    offset = 16 * RAM_SIZE  # from VM 0's RAM to the region after the RAM of 16 VMs
    assert peek(0, offset, SHARED_SIZE) == bytes(SHARED_SIZE)
    poke(0, offset, b"kept")
    CORE.testbed_vm_stop(0, 0, True)
    assert CORE.testbed_run_until_idle()
    assert peek(0, offset, 4) == b"kept"


@pytest.mark.parametrize("line", [0, 3])
def test_message_to_a_vm_being_loaded(line: int) -> None:
    """Refused while the interrupt would be lost; accepted from the VM's first instruction on."""
    boot([2, 0], [0, line], 0)
    sleep(1)
    CORE.testbed_vm_stop(0, 1, False)
    assert CORE.testbed_vm_state(1) == VM_STOPPING
    assert call(0, SEND, 1, GPA + BUFFER, 8)[0] == NOT_RUNNING
    assert CORE.testbed_run_until_idle()
    assert CORE.testbed_vm_start(0, 1)
    assert CORE.testbed_vm_state(1) == VM_LOADING
    assert call(0, SEND, 1, GPA + BUFFER, 8)[0] == NOT_RUNNING
    assert CORE.testbed_run_until_idle()
    assert CORE.testbed_vm_state(1) == VM_RUNNING
    assert call(0, SEND, 1, GPA + BUFFER, 8)[0] == 0
    assert CORE.testbed_lines(1) == 1 << line if line else CORE.testbed_raised(1, 0) & SOFTWARE_INTERRUPT
    assert call(1, RECV, GPA + BUFFER, LARGEST) == (0, 8)
    assert call(1, RECV, GPA + BUFFER, LARGEST)[0] == NOT_NOW


def test_line_raised_after_the_receivers_restart() -> None:
    """The message belonged to the previous run: the line is low in the next run, since the inbox is
    empty."""
    boot([2, 0], [0, 3], 0)
    assert call(0, SEND, 1, GPA + BUFFER, 8)[0] == 0
    assert CORE.testbed_lines(1) == 1 << 3
    CORE.testbed_late_sender(1)
    assert CORE.testbed_vm_stop(0, 1, True)
    assert CORE.testbed_run_until_idle()
    assert CORE.testbed_late_sender_came()
    assert (CORE.testbed_vm_state(1), CORE.testbed_vm_starts(1)) == (VM_RUNNING, 2)
    assert CORE.testbed_lines(1) == 0


def test_the_line_falls_with_the_last_message() -> None:
    boot([2, 0], [0, 3], 0)
    assert [call(0, SEND, 1, GPA + BUFFER, 8)[0] for _ in range(2)] == [0, 0]
    for left in (1, 0):
        assert CORE.testbed_lines(1) == 1 << 3
        assert call(1, RECV, GPA + BUFFER, LARGEST)[0] == 0
        assert CORE.testbed_lines(1) == left << 3


def test_the_line_of_a_vcpu_that_was_off() -> None:
    """VCPU 0 turns itself off with a message queued; after its restart the queue is empty and the
    line is low."""
    boot([2, 0], [0, 3], 0)
    assert call(0, SEND, 1, GPA + BUFFER, 8)[0] == 0
    assert CORE.testbed_vcpu_start(1, 1, 1)
    assert CORE.testbed_on_cpu(1) == 100
    CORE.testbed_off(1)
    assert CORE.testbed_run_until_idle()
    assert CORE.testbed_vcpu_state(1, 0) == OFF
    assert CORE.testbed_vcpu_start(1, 1, 0)
    CORE.testbed_wait(1)
    assert CORE.testbed_run_until_idle()
    assert call(1, RECV, GPA + BUFFER, LARGEST)[0] == NOT_NOW
    assert CORE.testbed_lines(1) == 0


@pytest.mark.parametrize("line", [0, 3])
def test_a_doorbell_of_a_vm_that_does_not_run(line: int) -> None:
    """The doorbell is not recorded, so the VM's next run starts without doorbells."""
    boot([0, 0], [0, line], 3)
    sleep(1)
    CORE.testbed_vm_stop(0, 1, False)
    assert CORE.testbed_vm_state(1) == VM_STOPPING
    assert call(0, RING, 0, 1)[0] == NOT_RUNNING
    assert CORE.testbed_run_until_idle()
    assert call(0, RING, 0, 1)[0] == NOT_RUNNING
    assert CORE.testbed_vm_start(0, 1)
    assert CORE.testbed_vm_state(1) == VM_LOADING
    assert call(0, RING, 0, 1)[0] == NOT_RUNNING
    assert CORE.testbed_run_until_idle()
    assert call(1, DOORBELLS) == (0, 0)
    assert call(0, RING, 0, 1)[0] == 0
    assert CORE.testbed_lines(1) == (1 << line if line else 0)
    assert call(1, DOORBELLS) == (0, 1)
    assert CORE.testbed_lines(1) == 0


def test_a_doorbell_needs_both_vms_to_share_the_region() -> None:
    boot([0, 0, 0], [0, 0, 0], 0b011)
    assert call(0, RING, 0, 1)[0] == 0
    assert call(0, RING, 0, 2)[0] == DENIED
    assert call(2, RING, 0, 1)[0] == DENIED


def test_a_message_to_a_vm_that_has_ended() -> None:
    """The queue is closed, although it is not full."""
    boot([2, 0], [0, 0], 0)
    sleep(1)
    CORE.testbed_vm_stop(0, 1, False)
    assert call(0, SEND, 1, GPA + BUFFER, 8)[0] == NOT_RUNNING


def test_every_size_and_alignment() -> None:
    boot([2, 0], [0, 0], 0)
    for size in range(1, LARGEST + 1):
        for source in (0, 1, 4):
            for destination in (0, 1, 4):
                message = bytes((size + n) & 0xFF for n in range(size))
                poke(0, BUFFER + source, message)
                poke(1, BUFFER, FILL * 256)
                assert call(0, SEND, 1, GPA + BUFFER + source, size)[0] == 0
                assert call(1, RECV, GPA + BUFFER + destination, size) == (0, size)
                assert peek(1, BUFFER, 256) == (FILL * destination + message).ljust(256, FILL)


def test_permissions_across_a_restart() -> None:
    boot([0b010, 0, 0b011], [0, 0, 0], 0b011)
    rights = [[call(source, SEND, to, GPA + BUFFER, 8)[0] for to in range(4)] for source in range(3)]
    assert rights == [[DENIED, 0, DENIED, NO_VCPU], [DENIED] * 3 + [NO_VCPU], [0, 0, DENIED, NO_VCPU]]
    assert call(0, RING, 0, 1)[0] == 0
    CORE.testbed_vm_stop(0, 1, True)
    assert CORE.testbed_run_until_idle()
    assert call(1, RECV, GPA + BUFFER, LARGEST)[0] == NOT_NOW
    assert call(1, DOORBELLS) == (0, 0)
    # Other senders' messages remain.
    assert call(0, RECV, GPA + BUFFER, LARGEST) == (0, 8 | 2 << 16)


def test_vm_ids_beyond_the_table() -> None:
    """An id beyond the table of VMs must not be used to compute an address; the sanitizer detects
    that."""
    boot([3, 3], [0, 0], 0)
    for vm in (2, 15, 16, 31, 32, 127, 0x7FFF, 0xFFFF):
        assert call(0, SEND, vm, GPA + BUFFER, 8)[0] == NO_VCPU
        assert call(0, SEND_WAIT, vm, GPA + BUFFER, 8)[0] == NO_VCPU
        assert call(0, RING, 0, vm)[0] == NO_VCPU


def test_a_message_names_the_senders_vm_and_vcpu() -> None:
    boot([0b100, 0b100, 0], [0, 0, 0], 0)
    assert CORE.testbed_vcpu_start(1, 1, 1)
    sleep(1)
    assert CORE.testbed_on_cpu(1) == 101
    for place in (0, 1):
        value = ctypes.c_uint64(0)
        assert CORE.testbed_hypercall(1, SEND, 2, GPA + BUFFER + place, 8, ctypes.byref(value)) == 0
        assert call(2, RECV, GPA + BUFFER, LARGEST) == (0, 8 | 1 << 16 | 1 << 24)


def test_a_message_to_another_vcpu_does_not_use_the_vms_line() -> None:
    """The line is VCPU 0's."""
    boot([2, 0], [0, 3], 0)
    assert CORE.testbed_vcpu_start(1, 1, 1)
    CORE.testbed_raised(1, 1)
    assert call(0, SEND, 1 | 1 << 16, GPA + BUFFER, 8)[0] == 0
    assert CORE.testbed_raised(1, 1) & SOFTWARE_INTERRUPT
    assert CORE.testbed_lines(1) == 0


def test_vcpu_ids_beyond_the_vms() -> None:
    boot([3, 3], [0, 0], 0)
    for vcpu in (2, 15, 16, 0xFFFF, 1 << 40):
        assert call(0, SEND, vcpu << 16 | 1, GPA + BUFFER, 8)[0] == NO_VCPU
        assert call(0, SEND_WAIT, vcpu << 16 | 1, GPA + BUFFER, 8)[0] == NO_VCPU
