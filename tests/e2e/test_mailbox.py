# SPDX-License-Identifier: Apache-2.0
"""
FreeRTOS and a client communicate through shared memory (docs/messages.md). The client is Linux, as
in `make run SYSTEM=messages`, or a bare-metal guest, which runs on every board.
"""

from collections.abc import Iterator
from itertools import pairwise

import pytest
from helpers import (
    BOOT_S,
    LINUX_PROMPT,
    SOON_S,
    ask,
    booted,
    built,
    built_on,
    command,
    keyboard,
    on_every_board,
    wait_for_signs_of_life,
)

from tessera.run.machine import HYPERVISOR, Machine
from tessera.run.runner import Qemu
from tessera.trace.ring import Kind
from tessera.trace.take import take

IDLE_S = 100  # of the machine's clock
SLEEP_S = 3500  # FreeRTOS's longest sleep is an hour
PATIENCE_S = 60
LINES = 400
# Random text created by Linux, in lines of 0 to 76 characters: more than both ring buffers hold.
WRITE = (
    f"head -c 40000 /dev/urandom | base64 | head -n {LINES} | "
    "awk '{ print substr($0, 1, NR * 37 % 77) }' >/tmp/sent; wc -l </tmp/sent"
)
EXPECT = "awk '{ print NR \": \" toupper($0) }' /tmp/sent >/tmp/expected"
SAME = f"cmp /tmp/expected /tmp/got && [ $(wc -l </tmp/got) = {LINES} ] && echo sa''me"


class Linux:
    """Drives the Linux client from its shell; Linux has the keyboard focus."""

    name = "linux"

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    def await_prompt(self) -> None:
        self.machine.expect("linux", LINUX_PROMPT, BOOT_S)

    def says(self, words: str, answer: str) -> None:
        """Sends a line; `answer` is the complete output."""
        ask(self.machine, f"mailbox {words}; echo status $?", rf"^{answer}$")

    def exchanges_many(self) -> None:
        ask(self.machine, WRITE, rf"^{LINES}$")
        ask(self.machine, EXPECT, r"")
        ask(self.machine, "mailbox </tmp/sent >/tmp/got; echo status $?", r"^status 0$")
        ask(self.machine, SAME, r"^same$")

    def leaves_half_a_line(self) -> None:
        deed = "(printf 'half a li'; sleep 1000) | mailbox >/dev/null & sleep 1; killall mailbox sleep; sleep 1"
        ask(self.machine, deed, "")

    def talks_until_error(self, words: str) -> None:
        """Sends the words repeatedly until an error occurs."""
        ask(self.machine, f"(yes {words} | mailbox >/dev/null 2>/tmp/why; echo status $? >>/tmp/why) &", "")

    def has_stopped_talking(self, why: str) -> None:
        ask(self.machine, "wait; cat /tmp/why", rf"^{why}$")

    def restarts(self) -> None:
        self.machine.skip("linux")
        self.machine.send("reboot\r")
        self.machine.expect("linux", r"^tessera: linux is up", BOOT_S)
        self.await_prompt()


class Bare:
    """The same operations by the commands of guests/examples/mailbox/bare."""

    name = "client"

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    def await_prompt(self) -> None:
        """The bare-metal client has no prompt."""

    def _ask(self, line: str, answer: str) -> None:
        self.machine.skip("client")
        self.machine.send(f"{line}\r")
        self.machine.expect("client", answer, BOOT_S)

    def says(self, words: str, answer: str) -> None:
        self._ask(f"mailbox {words}", rf"^{answer}$")

    def exchanges_many(self) -> None:
        self._ask("random", rf"^random: {LINES} lines, 0 characters wrong\nstatus 0$")

    def leaves_half_a_line(self) -> None:
        self._ask("half half a li", r"^status 0$")

    def talks_until_error(self, words: str) -> None:
        self.machine.skip("client")
        self.machine.send(f"yes {words}\r")

    def has_stopped_talking(self, why: str) -> None:
        self.machine.expect("client", rf"^{why}$", SOON_S)

    def restarts(self) -> None:
        self.machine.skip("client")
        keyboard(self.machine, "client")
        command(self.machine, "r")
        self.machine.expect(HYPERVISOR, r"^client stopped by the console, starts again$", SOON_S)
        self.machine.expect("client", r"^client: ready$", SOON_S)


Client = Linux | Bare


@pytest.fixture(scope="module", params=["messages", *on_every_board("mailbox", long=True)])
def name(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def client(name: str) -> Iterator[Client]:
    system = built_on(name)
    with booted(system, f"mailbox-{name}") as machine:
        wait_for_signs_of_life(machine, system)
        client = Linux(machine) if name == "messages" else Bare(machine)
        client.await_prompt()
        yield client


@pytest.fixture
def machine(client: Client) -> Machine:
    return client.machine


def press(client: Client, key: str, says: str) -> None:
    """Applies a console key to FreeRTOS, then returns the keyboard focus to the client."""
    keyboard(client.machine, "freertos")
    command(client.machine, key)
    client.machine.expect(HYPERVISOR, says, SOON_S)
    keyboard(client.machine, client.name)


def starts(machine: Machine) -> int:
    """FreeRTOS's starts so far. A message of the hypervisor at that time may split the line."""
    return machine.console.text("freertos").replace("\n", "").count("mailbox: ready, FreeRTOS V11.2.0, start ")


def await_start(machine: Machine, before: int) -> None:
    """Waits for FreeRTOS's next start after `before` of them."""
    assert machine.wait_until(lambda: starts(machine) > before, SOON_S)


def test_server_answers_a_message(machine: Machine, client: Client) -> None:
    machine.skip("freertos")
    client.says("hello world", r"1: HELLO WORLD\nstatus 0")
    machine.expect("freertos", r"^mailbox: received: hello world$", SOON_S)


def test_many_random_lines_both_ways(client: Client) -> None:
    for _ in range(3):
        client.exchanges_many()


@pytest.mark.parametrize("name", ["messages"], indirect=True, scope="module")
def test_one_at_a_time(machine: Machine) -> None:
    """A second client is refused and the first one completes. Linux only: the bare client runs one
    command at a time."""
    ask(machine, "printf 'one\\ntwo' | mailbox; echo status $?", r"^1: ONE\n2: TWO\nstatus 0$")
    ask(machine, "(echo first; sleep 5; echo last) | mailbox >/tmp/slow &", r"")
    machine.wait_until(lambda: False, 1)
    ask(machine, "mailbox second; echo status $?", r"^mailbox: another process uses it\nstatus 1$")
    ask(machine, "wait; cat /tmp/slow", r"^1: FIRST\n2: LAST$")


def test_killed_client_does_not_affect_the_next(client: Client) -> None:
    """Neither its half line nor the answers to it reach the next client. The Linux client is
    killed."""
    client.leaves_half_a_line()
    client.says("whole", r"1: WHOLE\nstatus 0")


@pytest.mark.long
def test_freertos_restarts_during_a_session(machine: Machine, client: Client) -> None:
    machine.skip("freertos")
    client.talks_until_error("to and fro")
    machine.expect("freertos", r"^mailbox: received: to and fro$", SOON_S)
    before = starts(machine)
    press(client, "r", r"^freertos stopped by the console, starts again$")
    await_start(machine, before)
    client.has_stopped_talking(r"mailbox: FreeRTOS has restarted, unanswered lines are lost\nstatus 1")
    client.says("again", r"1: AGAIN\nstatus 0")
    client.exchanges_many()


def test_missing_server_is_an_error_without_endless_wait(machine: Machine, client: Client) -> None:
    press(client, "s", r"^freertos stopped by the console$")
    client.says("anybody", r"mailbox: FreeRTOS does not answer\nstatus 1")
    before = starts(machine)
    press(client, "g", r"^freertos starts$")
    await_start(machine, before)
    client.says("anybody", r"1: ANYBODY\nstatus 0")


@pytest.mark.parametrize(
    "name",
    [pytest.param("messages", marks=pytest.mark.long), *on_every_board("mailbox", long=True)],
    indirect=True,
    scope="module",
)
def test_the_client_restarts_during_a_session(machine: Machine, client: Client) -> None:
    """The client's memory is reloaded, the shared memory is not. FreeRTOS, which waits for the client
    that is gone, serves the next session."""
    machine.skip("freertos")
    client.talks_until_error("on and on")
    machine.expect("freertos", r"^mailbox: received: on and on$", SOON_S)
    client.restarts()
    client.says("back", r"1: BACK\nstatus 0")
    client.exchanges_many()


def test_idle_sides_sleep(qemu: Qemu) -> None:
    """From one second after the start on, neither side executes anything: no exit, but those at the end of
    FreeRTOS's longest sleep, an hour, of which the recording may have several: the clock of a machine that sleeps is
    fast. By polling there would be a hundred in each second."""
    system = built("mailbox-idle")
    (ring,) = take(qemu, system, IDLE_S, None, PATIENCE_S)
    exits = [event for event in ring.events if event.kind is Kind.EXIT]
    begin = ring.events[0].time + system.data["timebase_hz"]
    assert ring.lost == 0
    assert {event.vm for event in exits} == {0, 1}
    late = [begin, *(event.time for event in exits if event.time > begin)]
    assert all(after - before > SLEEP_S * system.data["timebase_hz"] for before, after in pairwise(late)), late
