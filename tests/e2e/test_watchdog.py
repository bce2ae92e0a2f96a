# SPDX-License-Identifier: Apache-2.0
"""A VM that stops petting its watchdog restarts; repeated failures restart after a backoff; other
VMs are undisturbed."""

import re
import time

import pytest
from helpers import (
    SOON_S,
    VIRTUAL,
    assert_undisturbed,
    assert_well,
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

from tessera.bench.rt import apps
from tessera.run.machine import HYPERVISOR


@pytest.fixture(scope="module", params=on_every_board("watchdog", long=True))
def name(request):
    return request.param


@pytest.fixture(scope="module")
def scratch(name):
    return f"{board_of(name).free:x}"


@pytest.fixture(scope="module")
def shared(name):
    system = built_on(name)
    with booted(system, name) as machine:
        wait_for_signs_of_life(machine, system)
        yield machine


@pytest.fixture
def machine(shared):
    """After each test, `second` still counts, FreeRTOS has found no error, and neither has
    restarted."""
    yield shared
    beats = heartbeats(shared, "second")  # a slow machine may split a line
    assert beats == sorted(set(beats))
    assert_well(shared)


def restarts(machine, name: str) -> tuple[str, int, str]:
    row = states(machine)[name]
    return row["state"], int(row["restarts"]), row["last"]


def test_petting_return_values(machine):
    tell(machine, "first", "pet")
    machine.expect("first", r"^misbehave: petting: error 0 value 20000$", SOON_S)
    tell(machine, "second", "pet")
    machine.expect("second", r"^misbehave: petting: error -4 value 0$", SOON_S)
    assert restarts(machine, "first") == ("running", 0, "")


@pytest.mark.long_on("mips")  # waits 20 s; the watchdog does not depend on the board
def test_hanging_vm_restarts_with_clean_memory(machine, scratch):
    """A guest that spins with interrupts off, and a manager with its maximum of two apps, which are
    deleted."""
    tell(machine, "first", f"write {scratch}")
    machine.expect("first", r"^misbehave: write went through", SOON_S)
    begin = time.monotonic()
    tell(machine, "first", "spin")
    machine.expect("first", r"^misbehave: spinning with interrupts off", SOON_S)
    tell(machine, "rtm", "hang")
    machine.expect("rtm", r"^rtm: hangs$", SOON_S)
    # Reported by two harts, in any order.
    ends = r"^(first|rtm) stopped by its watchdog, starts again$"
    machine.skip(HYPERVISOR)
    assert {machine.expect(HYPERVISOR, ends, SOON_S)[1] for _ in range(2)} == {"first", "rtm"}
    assert time.monotonic() - begin > 15, "the watchdog expired too early"
    machine.expect("rtm", r"^rtm: 2 apps run$", SOON_S)
    machine.expect("first", r"^misbehave: alive 1$", SOON_S)
    for name in ("first", "rtm"):
        assert restarts(machine, name) == ("running", 1, "by its watchdog")
    tell(machine, "first", f"peek {scratch}")
    machine.expect("first", rf"^misbehave: word at 0x{scratch} is 0x0$", SOON_S)


def loop_until_it_waits(machine) -> None:
    """Starts `loop` and waits until its backoff is long enough to be tested."""
    keyboard(machine, "loop")
    begin = time.monotonic()
    command(machine, "g")
    machine.expect(HYPERVISOR, r"^loop starts$", SOON_S)
    machine.expect(HYPERVISOR, r"^loop stopped by its own reset, starts again$", SOON_S)
    passed_ms = 0
    for pause in (100, 200, 400, 800, 1600, 3200, 6400):
        machine.expect(HYPERVISOR, rf"^loop stopped by its own reset, starts again in {pause} ms$", SOON_S)
        assert time.monotonic() - begin > passed_ms / 1000, "earlier pauses were shorter than reported"
        passed_ms += pause


@pytest.mark.long_on("mips")  # slow, and the backoff does not depend on the board
@pytest.mark.parametrize(
    ("key", "says"),
    [
        pytest.param("s", "stopped by the console", marks=pytest.mark.long),
        ("r", "stopped by the console, starts again"),
    ],
)
def test_the_console_ends_a_pause(machine, key, says):
    loop_until_it_waits(machine)
    assert restarts(machine, "loop")[0] == "waiting"
    command(machine, key)
    machine.expect(HYPERVISOR, rf"^loop {says}$", SOON_S)
    if key == "r":
        machine.expect(HYPERVISOR, r"^loop stopped by its own reset, starts again$", SOON_S)
        machine.skip(HYPERVISOR)
        command(machine, "s")
        machine.expect(HYPERVISOR, r"^loop stopped by the console$", SOON_S)
    assert restarts(machine, "loop")[0] == "stopped"


@pytest.mark.long_on("mips")
def test_vm_in_backoff_keeps_the_machine_on(shared):
    """The last test of the shared machine: `loop` restarts although all other VMs have shut
    down."""
    loop_until_it_waits(shared)
    assert_undisturbed(shared)
    for name in ("first", "second", "freertos"):
        tell(shared, name, "shutdown")
        shared.expect(HYPERVISOR, rf"^{name} stopped by its own shutdown$", SOON_S)
    keyboard(shared, "rtm")
    command(shared, "s")
    shared.expect(HYPERVISOR, r"^rtm stopped by the console$", SOON_S)
    shared.expect(HYPERVISOR, r"^loop stopped by its own reset, starts again in \d+ ms$", SOON_S)
    assert shared.running


PAUSES = {
    "spin": ("by its watchdog", (100, 200, 400, 800, 1000, 1000)),
    "sleep": ("by its watchdog", (100, 200, 400, 800, 1600)),
    "reset": ("by its own reset", (100, 200, 400, 800, 1600)),
    "fatal": ("by a fatal trap", (100, 200, 250, 250, 250)),
}


@pytest.mark.long  # the pauses: also tests/unit/test_watchdog.py
@pytest.mark.parametrize("name", on_every_board("watchdog-loops"))
def test_restart_loops_back_off(name):
    """Four guests fail as soon as they run; `second`, with a short watchdog period, still pets in
    time."""
    system = built_on(name)
    with booted(system, name, *VIRTUAL) as machine:
        wait_for_signs_of_life(machine, system)
        machine.expect("second", r"^misbehave: alive 6$", 4 * SOON_S)
        assert heartbeats(machine, "second")[:7] == list(range(7))
        assert_well(machine)
        said = machine.console.text(HYPERVISOR)
    for name, (reason, pauses) in PAUSES.items():
        told = re.findall(rf"^{name} stopped {reason}, starts again(?: in (\d+) ms)?$", said, re.MULTILINE)
        assert told[0] == "", "the first restart was delayed"
        assert tuple(map(int, told[1 : 1 + len(pauses)])) == pauses


@pytest.mark.long
def test_restarts_of_a_large_vm_delay_no_app():
    """256 MiB are cleared repeatedly while apps use 95 % of the hart."""
    with booted(built_on("restart-load"), "restart-load", *VIRTUAL) as machine:
        machine.expect("rtm", r"^RTM done$", 4 * SOON_S)
        assert machine.console.text(HYPERVISOR).count("big stopped by its watchdog, starts again") >= 2
        found = apps(machine.console.text("rtm"))
        assert sum(app.releases for app in found) >= 50000
        assert {(app.misses, app.overruns) for app in found} == {(0, 0)}
        # As without the restarts: test_rt.py.
        assert min(found, key=lambda app: app.deadline_us).late_max <= 60
        assert_well(machine)
