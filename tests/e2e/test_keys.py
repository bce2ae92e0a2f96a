# SPDX-License-Identifier: Apache-2.0
"""The console as a person uses it: the escape key and what follows it, and who gets what is typed."""

import pytest
from lab import (
    ESCAPE,
    SOON_S,
    assert_undisturbed,
    await_life,
    board_of,
    booted,
    built_on,
    command,
    heartbeats,
    keyboard,
    on_every_board,
    states,
    tell,
)

from tessera.machine import FIRMWARE, HYPERVISOR

NAMES = ["first", "second", "freertos"]
ONE_HART = pytest.param("trio-one-hart", marks=pytest.mark.long)  # as the M5150 has


@pytest.fixture(scope="module", params=[*on_every_board("trio"), ONE_HART])
def name(request):
    return request.param


@pytest.fixture(scope="module")
def machine(name):
    """One machine for all tests of this file: none may leave a VM stopped."""
    system = built_on(name)
    with booted(system, f"keys-{name}") as machine:
        await_life(machine, system)
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
def test_a_key_that_means_nothing_shows_the_help_and_reaches_no_guest(machine, key):
    keyboard(machine, "first")
    machine.skip(HYPERVISOR)
    machine.skip("first")
    command(machine, key)
    machine.expect(HYPERVISOR, r"^Ctrl-T then +h", SOON_S)
    machine.send("oops\r")  # would arrive with the key before it, had the guest got that
    machine.expect("first", r"^faulty: no command 'oops'; try help$", SOON_S)


def test_typing_reaches_only_the_vm_with_the_keyboard(machine):
    for name in ("first", "second"):
        mark = f"for-{name}-only"
        tell(machine, name, mark)
        machine.expect(name, rf"^faulty: no command '{mark}'; try help$", SOON_S)
        for other in {*NAMES} - {name}:
            assert mark not in machine.console.text(other)
    tell(machine, "freertos", "id")
    machine.expect("freertos", r"^VM 2 of a Tessera system$", SOON_S)


def test_each_guest_knows_its_own_id(machine):
    for number, name in enumerate(NAMES[:2]):
        tell(machine, name, "id")
        machine.expect(name, rf"^faulty: HCALL_INFO_GET_ID error 0 value {number}, in assembly {number}$", SOON_S)


def test_half_a_line_waits_for_its_vm_while_another_is_typed_to(machine):
    keyboard(machine, "first")
    machine.skip("first")
    machine.send("halfa")
    tell(machine, "second", "whole")
    machine.expect("second", r"^faulty: no command 'whole'", SOON_S)
    keyboard(machine, "first")
    machine.send("line\r")
    machine.expect("first", r"^faulty: no command 'halfaline'", SOON_S)


def test_many_lines_typed_at_once_arrive_whole(machine):
    """As when text is pasted: some twenty times what a 16550 holds."""
    keyboard(machine, "first")
    machine.skip("first")
    words = [f"word{number:04}" for number in range(40)]
    machine.send("".join(f"{word}\r" for word in words))
    for word in words:
        machine.expect("first", rf"^faulty: no command '{word}'", SOON_S)


def test_n_goes_round(machine):
    keyboard(machine, "first")
    for name in ("second", "freertos", "first"):
        command(machine, "n")
        machine.expect(HYPERVISOR, rf"^keyboard: {name}$", SOON_S)
        assert states(machine)[name]["mark"] == "*"


@pytest.mark.parametrize("number", ["0", "4", "9"])
def test_a_vm_that_is_not_there(machine, number):
    keyboard(machine, "second")
    machine.skip(HYPERVISOR)
    command(machine, number)
    machine.expect(HYPERVISOR, rf"^there is no VM {number}; this system has 1 to 3$", SOON_S)
    assert states(machine)["second"]["mark"] == "*"


def test_a_vm_that_has_the_terminal_alone_says_what_it_likes(machine):
    """Also that the escape key typed twice goes to the guest, which shows it, and that others are not seen."""
    keyboard(machine, "first")
    command(machine, "a")
    machine.expect(HYPERVISOR, r"^first has the terminal alone; Ctrl-T a comes back$", SOON_S)
    before = machine.console.text("second")
    machine.skip(FIRMWARE)
    machine.send(f"a{ESCAPE}{ESCAPE}\x05b\r")
    machine.expect(FIRMWARE, rf"^faulty: no command 'a{ESCAPE}\x05b'; try help$", SOON_S)
    for _ in range(3):  # seconds, in which the others write lines, too
        machine.expect(FIRMWARE, r"^faulty: alive \d+$", SOON_S)
    assert machine.console.text("second") == before
    command(machine, "a")
    machine.expect(HYPERVISOR, r"^keyboard: first; [1-9]\d* characters of other VMs are lost$", SOON_S)
    machine.skip("second")
    machine.expect("second", r"^faulty: alive \d+$", SOON_S)


def test_any_key_ends_that(machine):
    keyboard(machine, "second")
    command(machine, "a")
    machine.expect(HYPERVISOR, r"^second has the terminal alone", SOON_S)
    assert states(machine)["second"]["mark"] == "*"


def test_list_shows_who_uses_the_cpu(machine, name):
    rows = states(machine)
    assert [row["state"] for row in rows.values()] == ["running"] * 3
    assert [row["vcpus"] for row in rows.values()] == ["1/1"] * 3
    assert [row["memory"] for row in rows.values()] == board_of(name).memory
    tell(machine, "first", "spin")
    machine.expect("first", r"^faulty: spinning", SOON_S)
    states(machine)
    machine.wait_until(lambda: False, 2)  # what the next list is about
    rows = states(machine)
    used = {name: float(row["cpu"]) for name, row in rows.items()}
    assert used["first"] > 50, used
    assert used["second"] < 20, used
    assert 0 < used["freertos"] < 80, used
    command(machine, "1")
    command(machine, "r")  # nothing else ends its loop
    machine.expect("first", r"^faulty: alive 1$", SOON_S)


def test_a_spinning_guest_takes_nobody_elses_turn(machine):
    tell(machine, "first", "spin")
    machine.expect("first", r"^faulty: spinning", SOON_S)
    machine.skip("second")
    for _ in range(3):
        machine.expect("second", r"^faulty: alive \d+$", SOON_S)
    assert_undisturbed(machine)
    keyboard(machine, "first")
    command(machine, "r")
    machine.expect("first", r"^faulty: alive 0$", SOON_S)


def test_stop_start_restart(machine):
    keyboard(machine, "first")
    starts = int(states(machine)["first"]["starts"])
    command(machine, "g")
    machine.expect(HYPERVISOR, r"^first is not stopped$", SOON_S)
    command(machine, "s")
    machine.expect(HYPERVISOR, r"^first stopped by the console$", SOON_S)
    rows = states(machine)
    assert (rows["first"]["state"], rows["first"]["vcpus"]) == ("stopped", "0/1")
    assert rows["second"]["state"] == rows["freertos"]["state"] == "running"
    command(machine, "s")
    machine.expect(HYPERVISOR, r"^first is stopped already$", SOON_S)

    heard = heartbeats(machine, "first")
    machine.send("typed to nobody\r")
    machine.skip("second")
    for _ in range(3):  # the others go on, and it is silent
        machine.expect("second", r"^faulty: alive \d+$", SOON_S)
    assert_undisturbed(machine)
    assert heartbeats(machine, "first") == heard
    assert float(states(machine)["first"]["cpu"]) == 0

    machine.skip("first")
    machine.skip(HYPERVISOR)
    command(machine, "g")
    machine.expect(HYPERVISOR, r"^first starts$", SOON_S)
    machine.expect("first", r"^faulty: alive 0$", SOON_S)
    machine.expect("first", r"^faulty: alive 1$", SOON_S)
    assert int(states(machine)["first"]["starts"]) == starts + 1

    machine.skip("first")
    command(machine, "r")
    machine.expect(HYPERVISOR, r"^first stopped by the console, starts again$", SOON_S)
    machine.expect("first", r"^faulty: alive 0$", SOON_S)
    assert int(states(machine)["first"]["starts"]) == starts + 2
    machine.send("after\r")
    machine.expect("first", r"^faulty: no command 'after'; try help$", SOON_S)  # and nothing typed before
    assert_undisturbed(machine)


def test_restart_of_a_stopped_vm_starts_it(machine):
    keyboard(machine, "second")
    command(machine, "s")
    machine.expect(HYPERVISOR, r"^second stopped by the console$", SOON_S)
    machine.skip("second")
    command(machine, "r")
    machine.expect(HYPERVISOR, r"^second starts$", SOON_S)
    machine.expect("second", r"^faulty: alive 0$", SOON_S)


def test_many_restarts_one_after_the_other(machine):
    """Without waiting for anything: a VM that is only being loaded is stopped as well as one that runs."""
    keyboard(machine, "second")
    machine.skip("second")
    for _ in range(3):
        for key in "rrrsrgssgrrr":
            command(machine, key)
        keyboard(machine, "second")  # all lines about it are shown; more at a time would be lost (CAVEATS.md)
    tell(machine, "second", "still-there")
    command(machine, "g")
    machine.expect("second", r"^faulty: alive 1$", SOON_S)
    assert states(machine)["second"]["state"] == "running"
    tell(machine, "second", "still-there")
    machine.expect("second", r"^faulty: no command 'still-there'", SOON_S)
    assert_undisturbed(machine)


def test_the_others_were_never_disturbed(machine):
    assert_undisturbed(machine)
    machine.skip(HYPERVISOR)
    command(machine, "q")  # last: it ends the machine that these tests share
    machine.expect(HYPERVISOR, r"^bye$", SOON_S)
    assert machine.status(SOON_S) == 0
