# SPDX-License-Identifier: Apache-2.0
"""Linux and FreeRTOS talk through memory that they share: `make run SYSTEM=messages`, docs/messages.md."""

import pytest
from lab import BOOT_S, LINUX_PROMPT, SOON_S, ask, await_life, booted, command, keyboard

from tessera.machine import HYPERVISOR

LINES = 400
# Random text of Linux's, in lines of 0 to 76 characters: more than both rings hold.
WRITE = (
    f"head -c 40000 /dev/urandom | base64 | head -n {LINES} | "
    "awk '{ print substr($0, 1, NR * 37 % 77) }' >/tmp/sent; wc -l </tmp/sent"
)
EXPECT = "awk '{ print NR \": \" toupper($0) }' /tmp/sent >/tmp/expected"
SAME = f"cmp /tmp/expected /tmp/got && [ $(wc -l </tmp/got) = {LINES} ] && echo sa''me"


@pytest.fixture(scope="module")
def machine(build_system):
    system = build_system("messages")
    with booted(system, "mailbox") as machine:
        await_life(machine, system)
        machine.expect("linux", LINUX_PROMPT, BOOT_S)
        yield machine


def press(machine, key, says):
    """A key of the console for FreeRTOS; then the keyboard is Linux's again."""
    keyboard(machine, "freertos")
    command(machine, key)
    machine.expect(HYPERVISOR, says, SOON_S)
    keyboard(machine, "linux")


def await_start(machine, number):
    """FreeRTOS has started `number` times. The hypervisor speaks at that moment, too, which may break the line."""
    said = f"mailbox: ready, FreeRTOS V11.2.0, start {number}"
    assert machine.wait_until(lambda: said in machine.console.text("freertos").replace("\n", ""), SOON_S)


def test_hello_is_heard_and_answered(machine):
    machine.skip("freertos")
    ask(machine, "mailbox hello world", r"^1: HELLO WORLD$")
    machine.expect("freertos", r"^mailbox: Linux says: hello world$", SOON_S)
    ask(machine, "printf 'one\\ntwo' | mailbox; echo status $?", r"^1: ONE\n2: TWO\nstatus 0$")


def test_many_random_lines_both_ways(machine):
    ask(machine, WRITE, rf"^{LINES}$")
    ask(machine, EXPECT, r"")
    for _ in range(3):
        ask(machine, "mailbox </tmp/sent >/tmp/got; echo status $?", r"^status 0$")
        ask(machine, SAME, r"^same$")


def test_one_at_a_time(machine):
    """A second one is refused; the first one ends well."""
    ask(machine, "(echo first; sleep 5; echo last) | mailbox >/tmp/slow &", r"")
    machine.wait_until(lambda: False, 1)
    ask(machine, "mailbox second; echo status $?", r"^mailbox: somebody else uses it\nstatus 1$")
    ask(machine, "wait; cat /tmp/slow", r"^1: FIRST\n2: LAST$")


def test_a_client_that_was_killed_leaves_nothing(machine):
    """Neither its half line nor answers to it reach the next one."""
    ask(machine, "(printf 'half a li'; sleep 1000) | mailbox >/dev/null & sleep 1; killall mailbox sleep; sleep 1", "")
    ask(machine, "mailbox whole; echo status $?", r"^1: WHOLE\nstatus 0$")


def test_freertos_restarts_in_the_midst(machine):
    ask(machine, "(yes to and fro | mailbox >/dev/null 2>/tmp/why; echo status $? >>/tmp/why) &", "")
    machine.expect("freertos", r"^mailbox: Linux says: to and fro$", SOON_S)
    press(machine, "r", r"^freertos stopped by the console, starts again$")
    await_start(machine, 2)
    ask(machine, "wait; cat /tmp/why", r"^mailbox: FreeRTOS has started anew, what was said is lost\nstatus 1$")
    ask(machine, "mailbox again; echo status $?", r"^1: AGAIN\nstatus 0$")
    ask(machine, "mailbox </tmp/sent >/tmp/got; echo status $?", r"^status 0$")
    ask(machine, SAME, r"^same$")


def test_nobody_there_is_an_error_and_no_wait_for_ever(machine):
    press(machine, "s", r"^freertos stopped by the console$")
    ask(machine, "mailbox anybody; echo status $?", r"^mailbox: FreeRTOS does not answer\nstatus 1$")
    press(machine, "g", r"^freertos starts$")
    await_start(machine, 3)
    ask(machine, "mailbox anybody; echo status $?", r"^1: ANYBODY\nstatus 0$")


def test_linux_restarts(machine):
    """Its memory is new, the shared memory is not: the next session is another one all the same."""
    machine.skip("linux")
    machine.send("reboot\r")
    machine.expect("linux", r"^tessera: linux is up", BOOT_S)
    machine.expect("linux", LINUX_PROMPT, BOOT_S)
    ask(machine, "mailbox back; echo status $?", r"^1: BACK\nstatus 0$")
