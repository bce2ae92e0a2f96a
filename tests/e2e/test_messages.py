# SPDX-License-Identifier: Apache-2.0
"""
Messages, shared memory and doorbells between scripted guests. `first` and `third` receive by the
software interrupt, `second` by a line of its interrupt controller.
"""

import pytest
from helpers import (
    AGAIN,
    RISCV,
    SOON_S,
    booted,
    built_on,
    caught,
    on_every_board,
    returned,
    tell,
    wait_for_signs_of_life,
)

from tessera.run.machine import HYPERVISOR

SIZES = (1, 2, 3, 4, 7, 8, 9, 12, 100, 127, 128)


@pytest.fixture(scope="module", params=on_every_board("ipc", "ipc-one-hart"))
def name(request):
    return request.param


@pytest.fixture(scope="module")
def machine(name):
    system = built_on(name)
    with booted(system, name) as machine:
        wait_for_signs_of_life(machine, system)
        yield machine


def test_every_size_arrives_whole(machine):
    machine.skip("second")
    for size in SIZES:
        assert returned(machine, "first", f"tell {size:x}") == [0]
        words = int.from_bytes(bytes(range(8)), "little")
        line = rf"^misbehave: message from 0\.0: {size} bytes, sum {sum(range(size))}, first (\d+)\.$"
        first = int(machine.expect("second", line, SOON_S)[1])
        mask = (1 << 8 * min(size, 8)) - 1
        assert first & mask == words & mask


@pytest.mark.parametrize(
    ("sender", "receiver", "to"), [("first", "second", 1), ("second", "first", 0), ("first", "third", 2)]
)
def test_a_full_queue_refuses_and_loses_nothing(machine, sender, receiver, to):
    tell(machine, receiver, "ignore 1")
    machine.expect(receiver, "^misbehave: ignores messages$", SOON_S)
    assert returned(machine, sender, f"burst {to:x}") == [0] * 8 + [-1] * 2
    tell(machine, receiver, "ignore 0")
    lines = [
        machine.expect(receiver, r"^misbehave: message from \d\.0: 8 bytes, sum \d+, first (\d+)\.$", SOON_S)
        for _ in range(8)
    ]
    numbers = [int(line[1]) for line in lines]
    assert numbers == list(range(numbers[0], numbers[0] + 8))


def test_every_error(machine, board):
    size, address, no_vm, denied, not_now = -11, -5, -3, -4, -1
    off = -10 if board is RISCV else no_vm  # VCPU 1; MIPS guests have one VCPU
    expected = [size, size, size, address, address, denied, no_vm, no_vm, off, not_now, no_vm, denied, denied]
    assert returned(machine, "first", "messages", "bad messages") == expected


@pytest.mark.parametrize("to", [0, 1])
def test_sender_without_permission_is_refused(machine, to):
    assert returned(machine, "third", f"burst {to}") == [-4] * 10


def test_a_restart_empties_the_queue(machine):
    tell(machine, "third", "ignore 1")
    machine.expect("third", "^misbehave: ignores messages$", SOON_S)
    assert returned(machine, "first", "burst 2") == [0] * 8 + [-1] * 2
    tell(machine, "third", "reset")
    machine.expect("third", "^misbehave: alive 1$", SOON_S)
    assert "message from" not in machine.console.text("third").rsplit("alive 0", 1)[1]
    assert returned(machine, "first", "burst 2")[:1] == [0]
    machine.expect("third", r"^misbehave: message from 0\.0: 8 bytes", SOON_S)


def test_shared_memory_and_its_doorbell(machine, board):
    shared = board.shared
    tell(machine, "second", f"peek {shared:x}")
    machine.expect("second", f"^misbehave: word at 0x{shared:x} is 0x0$", SOON_S)
    tell(machine, "first", f"write {shared:x}")
    machine.expect("first", "^misbehave: write went through", SOON_S)
    machine.skip("second")
    assert returned(machine, "first", "ring 1") == [0]
    machine.expect("second", "^misbehave: doorbells 0x1$", SOON_S)
    tell(machine, "second", f"peek {shared:x}")
    machine.expect("second", f"^misbehave: word at 0x{shared:x} is 0xbadc0de$", SOON_S)
    machine.skip("first")
    assert returned(machine, "second", "ring 0") == [0]
    machine.expect("first", "^misbehave: doorbells 0x1$", SOON_S)
    tell(machine, "third", f"peek {shared:x}")
    machine.expect("third", caught(board, "read", shared), SOON_S)


def test_shared_memory_outlives_a_restart(machine, board):
    shared = board.shared
    tell(machine, "first", f"write {shared + 8:x}")
    machine.expect("first", "^misbehave: write went through", SOON_S)
    tell(machine, "first", "reset")
    machine.expect(HYPERVISOR, rf"^first stopped by its own reset, {AGAIN}$", SOON_S)
    machine.expect("first", "^misbehave: alive 1$", SOON_S)
    tell(machine, "first", f"peek {shared + 8:x}")
    machine.expect("first", f"^misbehave: word at 0x{shared + 8:x} is 0xbadc0de$", SOON_S)


@pytest.mark.only_on("riscv")  # MIPS guests may execute all memory that they can read
def test_shared_memory_runs_no_code(machine, board):
    tell(machine, "first", f"jump {board.shared:x}")
    machine.expect("first", caught(board, "jump", board.shared), SOON_S)
