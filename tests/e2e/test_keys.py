# SPDX-License-Identifier: Apache-2.0
"""The console's escape key, its commands, and the routing of typed characters to the VM with the
keyboard focus."""

import pytest
from helpers import (
    ESCAPE,
    SOON_S,
    assert_undisturbed,
    await_stopped,
    board_of,
    booted,
    built_on,
    command,
    heartbeats,
    keyboard,
    on_every_board,
    states,
    tell,
    wait_for_signs_of_life,
)

from tessera.run.machine import FIRMWARE, HYPERVISOR

NAMES = ["first", "second", "freertos"]
ONE_HART = pytest.param("trio-one-hart", marks=pytest.mark.long)  # as on the M5150


@pytest.fixture(scope="module", params=[*on_every_board("trio"), ONE_HART])
def name(request):
    return request.param


@pytest.fixture(scope="module")
def machine(name):
    """One machine for all tests of this file; no test may leave a VM stopped."""
    system = built_on(name)
    with booted(system, f"keys-{name}") as machine:
        wait_for_signs_of_life(machine, system)
        yield machine


def test_help_names_every_key(machine):
    keyboard(machine, "second")
    machine.skip(HYPERVISOR)
    command(machine, "h")
    machine.expect(HYPERVISOR, r"^Ctrl-T then +h +this help +l +list VMs +q +quit$", SOON_S)
    machine.expect(HYPERVISOR, r"1 to 9, n +give the keyboard")
    machine.expect(HYPERVISOR, r"s +stop +g +start +r +restart the VM that has the keyboard \(second\)$")
    machine.expect(HYPERVISOR, r"a +give it the terminal alone, and back$")
    machine.expect(HYPERVISOR, r"Ctrl-T +send Ctrl-T itself$")


@pytest.mark.parametrize("key", ["?", "\r", "x", "\x1b"])
def test_unknown_key_shows_the_help_and_reaches_no_guest(machine, key):
    keyboard(machine, "first")
    machine.skip(HYPERVISOR)
    machine.skip("first")
    command(machine, key)
    machine.expect(HYPERVISOR, r"^Ctrl-T then +h", SOON_S)
    machine.send("oops\r")  # if the guest had received the key, it would precede this word
    machine.expect("first", r"^misbehave: no command 'oops'; try help$", SOON_S)


def test_typing_reaches_only_the_vm_with_the_keyboard(machine):
    for name in ("first", "second"):
        mark = f"for-{name}-only"
        tell(machine, name, mark)
        machine.expect(name, rf"^misbehave: no command '{mark}'; try help$", SOON_S)
        for other in {*NAMES} - {name}:
            assert mark not in machine.console.text(other)
    tell(machine, "freertos", "id")
    machine.expect("freertos", r"^VM 2 of a Tessera system$", SOON_S)


def test_each_guest_knows_its_own_id(machine):
    for number, name in enumerate(NAMES[:2]):
        tell(machine, name, "id")
        machine.expect(name, rf"^misbehave: HCALL_INFO_GET_ID error 0 value {number}, in assembly {number}$", SOON_S)


def test_half_a_line_is_kept_while_typing_to_another_vm(machine):
    keyboard(machine, "first")
    machine.skip("first")
    machine.send("halfa")
    tell(machine, "second", "whole")
    machine.expect("second", r"^misbehave: no command 'whole'", SOON_S)
    keyboard(machine, "first")
    machine.send("line\r")
    machine.expect("first", r"^misbehave: no command 'halfaline'", SOON_S)


def test_many_lines_typed_at_once_arrive_whole(machine):
    """As when text is pasted: about twenty times the size of a 16550's FIFO."""
    keyboard(machine, "first")
    machine.skip("first")
    words = [f"word{number:04}" for number in range(40)]
    machine.send("".join(f"{word}\r" for word in words))
    for word in words:
        machine.expect("first", rf"^misbehave: no command '{word}'", SOON_S)


def test_n_selects_the_next_vm(machine):
    keyboard(machine, "first")
    for name in ("second", "freertos", "first"):
        command(machine, "n")
        machine.expect(HYPERVISOR, rf"^keyboard: {name}$", SOON_S)
        assert states(machine)[name]["mark"] == "*"


@pytest.mark.parametrize("number", ["0", "4", "9"])
def test_unknown_vm_number(machine, number):
    keyboard(machine, "second")
    machine.skip(HYPERVISOR)
    command(machine, number)
    machine.expect(HYPERVISOR, rf"^there is no VM {number}; this system has 1 to 3$", SOON_S)
    assert states(machine)["second"]["mark"] == "*"


def test_exclusive_use_of_the_terminal(machine):
    """Escape sequences pass, the escape key typed twice reaches the guest, and other VMs' output is
    hidden."""
    keyboard(machine, "first")
    command(machine, "a")
    machine.expect(HYPERVISOR, r"^first has the terminal alone; Ctrl-T a returns$", SOON_S)
    before = machine.console.text("second")
    machine.skip(FIRMWARE)
    machine.send(f"a{ESCAPE}{ESCAPE}\x05b\r")
    machine.expect(FIRMWARE, rf"^misbehave: no command 'a{ESCAPE}\x05b'; try help$", SOON_S)
    for _ in range(3):  # one line per second; the other VMs also print lines meanwhile
        machine.expect(FIRMWARE, r"^misbehave: alive \d+$", SOON_S)
    assert machine.console.text("second") == before
    command(machine, "a")
    machine.expect(HYPERVISOR, r"^keyboard: first; [1-9]\d* characters of other VMs are lost$", SOON_S)
    machine.skip("second")
    machine.expect("second", r"^misbehave: alive \d+$", SOON_S)


def test_any_command_ends_exclusive_use(machine):
    keyboard(machine, "second")
    command(machine, "a")
    machine.expect(HYPERVISOR, r"^second has the terminal alone", SOON_S)
    assert states(machine)["second"]["mark"] == "*"


def test_list_shows_cpu_usage(machine, name):
    rows = states(machine)
    assert [row["state"] for row in rows.values()] == ["running"] * 3
    assert [row["vcpus"] for row in rows.values()] == ["1/1"] * 3
    assert [row["memory"] for row in rows.values()] == board_of(name).memory
    tell(machine, "first", "spin")
    machine.expect("first", r"^misbehave: spinning", SOON_S)
    states(machine)
    machine.wait_until(lambda: False, 2)  # the interval over which the next list averages
    rows = states(machine)
    used = {name: float(row["cpu"]) for name, row in rows.items()}
    # Shares of the host's time, in which a busy host runs a hart less than it should: only their order counts.
    assert used["first"] > used["freertos"] > used["second"], used
    command(machine, "1")
    command(machine, "r")  # the only way to end its loop
    machine.expect("first", r"^misbehave: alive 1$", SOON_S)


def test_spinning_guest_does_not_delay_others(machine):
    tell(machine, "first", "spin")
    machine.expect("first", r"^misbehave: spinning", SOON_S)
    machine.skip("second")
    for _ in range(3):
        machine.expect("second", r"^misbehave: alive \d+$", SOON_S)
    assert_undisturbed(machine)
    keyboard(machine, "first")
    command(machine, "r")
    machine.expect("first", r"^misbehave: alive 0$", SOON_S)


def test_stop_start_restart(machine):
    keyboard(machine, "first")
    starts = int(states(machine)["first"]["starts"])
    command(machine, "g")
    machine.expect(HYPERVISOR, r"^first is running already$", SOON_S)
    command(machine, "s")
    machine.expect(HYPERVISOR, r"^first stopped by the console$", SOON_S)
    await_stopped(machine, "first")
    rows = states(machine)
    assert (rows["first"]["state"], rows["first"]["vcpus"]) == ("stopped", "0/1")
    assert rows["second"]["state"] == rows["freertos"]["state"] == "running"
    command(machine, "s")
    machine.expect(HYPERVISOR, r"^first is stopped already$", SOON_S)

    heard = heartbeats(machine, "first")
    machine.send("typed to a stopped VM\r")
    machine.skip("second")
    for _ in range(3):  # the other VMs run, and `first` is silent
        machine.expect("second", r"^misbehave: alive \d+$", SOON_S)
    assert_undisturbed(machine)
    assert heartbeats(machine, "first") == heard
    assert float(states(machine)["first"]["cpu"]) == 0

    machine.skip("first")
    machine.skip(HYPERVISOR)
    command(machine, "g")
    machine.expect(HYPERVISOR, r"^first starts$", SOON_S)
    machine.expect("first", r"^misbehave: alive 0$", SOON_S)
    machine.expect("first", r"^misbehave: alive 1$", SOON_S)
    assert int(states(machine)["first"]["starts"]) == starts + 1

    machine.skip("first")
    command(machine, "r")
    machine.expect(HYPERVISOR, r"^first stopped by the console, starts again$", SOON_S)
    machine.expect("first", r"^misbehave: alive 0$", SOON_S)
    assert int(states(machine)["first"]["starts"]) == starts + 2
    machine.send("after\r")
    # The line contains no earlier input.
    machine.expect("first", r"^misbehave: no command 'after'; try help$", SOON_S)
    assert_undisturbed(machine)


def test_restart_of_a_stopped_vm_starts_it(machine):
    keyboard(machine, "second")
    command(machine, "s")
    machine.expect(HYPERVISOR, r"^second stopped by the console$", SOON_S)
    machine.skip("second")
    command(machine, "r")
    machine.expect(HYPERVISOR, r"^second starts$", SOON_S)
    machine.expect("second", r"^misbehave: alive 0$", SOON_S)


def test_many_restarts_one_after_the_other(machine):
    """Without waiting in between: a VM is stopped also while it is being loaded."""
    keyboard(machine, "second")
    machine.skip("second")
    for _ in range(3):
        for key in "rrrsrgssgrrr":
            command(machine, key)
        # Waits until all reports are shown; more at a time would be lost (CAVEATS.md).
        keyboard(machine, "second")
    tell(machine, "second", "still-there")
    command(machine, "g")
    machine.expect("second", r"^misbehave: alive 1$", SOON_S)
    assert states(machine)["second"]["state"] == "running"
    tell(machine, "second", "still-there")
    machine.expect("second", r"^misbehave: no command 'still-there'", SOON_S)
    assert_undisturbed(machine)


def test_other_vms_were_never_disturbed(machine):
    assert_undisturbed(machine)
    machine.skip(HYPERVISOR)
    command(machine, "q")  # last, since it ends the shared machine
    machine.expect(HYPERVISOR, r"^bye$", SOON_S)
    assert machine.status(SOON_S) == 0
