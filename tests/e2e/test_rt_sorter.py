# SPDX-License-Identifier: Apache-2.0
"""RT apps whose queues are sorters of the fabric (HYP_RT_QUEUE=sorter), whose RTL runs beside QEMU; on one hart also
the timers (HYP_TIMERS=sorter)."""

import pytest
from helpers import (
    BOOT_S,
    OUT,
    VIRTUAL,
    assert_well,
    await_rt_release,
    boot_command,
    booted,
    built,
    built_with_harts,
    hypervisor_with_all_sorters,
    hypervisor_with_sorters,
    keyboard,
    rt_end,
    rt_rows,
    rt_start,
    wait_for_signs_of_life,
)

from tessera.bench.rt import apps
from tessera.run.machine import Machine

LOAD_S = 240
RELEASES = 2000
LOADED = f"""vms {{ rtm {{ bootargs = "releases={RELEASES} report=0",
    "set=200:20:200:19500,300:30:250:29500,400:50:400:49500,500:50:350:49500",
    "set2=800:90:700:89500,1000:140:1000:139500,1500:150:1400:149500,2000:345:2000:344000"; }}; }};"""


@pytest.fixture(scope="module")
def sorters():
    return hypervisor_with_sorters()


@pytest.fixture(scope="module")
def all_sorters():
    return hypervisor_with_all_sorters()


@pytest.mark.long  # with the heap: test_rt.py; the queue against its model: tests/cosim/test_rt_queue.py
def test_no_deadline_is_missed_at_95_percent(all_sorters):
    """As in test_rt.py, with the same costs of the board."""
    system = built_with_harts("rt-load", 1, LOADED, all_sorters)
    with booted(system, "rt-sorter-load", *VIRTUAL) as machine:
        wait_for_signs_of_life(machine, system)
        machine.expect("rtm", r"^RTM done$", LOAD_S)
        found = apps(machine.console.text("rtm"))
        assert len(found) == 8
        assert sum(app.releases for app in found) >= RELEASES
        for app in found:
            assert (app.misses, app.overruns) == (0, 0), app
            assert 0 <= app.releases - app.completions <= 1, app
            assert app.response_max <= app.deadline_us * 10, app
        assert_well(machine)


@pytest.mark.long
def test_apps_are_launched_and_stopped_at_run_time(all_sorters):
    """In virtual time: no app misses a deadline while others come and go."""
    system = built_with_harts("rt-manager", 1, hypervisor=all_sorters)
    with booted(system, "rt-sorter-manager", *VIRTUAL) as machine:
        wait_for_signs_of_life(machine, system)
        for period in (10000, 8000, 5000, 10000):
            rt_start(machine, f"{period}:1000:{period}:500000")
        for number in (0, 1, 2, 3):
            await_rt_release(machine, number)
        rt_end(machine, 1)
        rt_end(machine, 0)
        rt_start(machine, "4000:400:4000:100000")
        for number in (0, 2, 3):
            await_rt_release(machine, number)
        rows = rt_rows(machine)
        assert set(rows) == {0, 2, 3}
        assert all((row["missed"], row["overran"]) == (0, 0) for row in rows.values()), rows
        assert_well(machine)


@pytest.mark.long
def test_each_hart_has_sorters_of_its_own(sorters):
    """In host time, which judges no latency: apps are released on both harts, also after a restart of the RT-VM."""
    system = built("rt-manager", hypervisor=sorters)
    with booted(system, "rt-sorter-harts") as machine:
        wait_for_signs_of_life(machine, system)
        for hart in (0, 1, 1):
            rt_start(machine, f"50000:1000:50000:1000:{hart}")
        for number in (0, 1, 2):
            await_rt_release(machine, number)
        keyboard(machine, "rtm")
        machine.send("\x14r")
        assert machine.wait_until(lambda: machine.console.text("rtm").count("rtm: 0 apps run\n") == 2, BOOT_S)
        rt_start(machine, "50000:1000:50000:1000:1")
        await_rt_release(machine, 0)
        rt_end(machine, 0)
        assert rt_rows(machine) == {}
        assert_well(machine)


def refusal(system, label: str, words: list[str]) -> bytes:
    """What the hypervisor prints instead of starting a VM."""
    log = OUT / f"{label}.log"
    with Machine(words, system.names, log) as machine:
        assert machine.wait_until(lambda: not machine.running, BOOT_S), "the machine does not stop"
    return log.read_bytes()


def test_machine_without_the_fabric(sorters):
    system = built("rt-manager", hypervisor=sorters)
    words = boot_command(system)
    at = words.index("-plugin")
    said = refusal(system, "rt-sorter-none", [*words[:at], *words[at + 2 :]])
    assert b"error: cannot set up the system: sorters: there is no fabric at" in said


def test_more_harts_than_sorters(sorters):
    system = built_with_harts("rt-manager", 3, hypervisor=sorters)
    said = refusal(system, "rt-sorter-harts", boot_command(system))
    assert b"error: cannot set up the system: sorters: the fabric has too few for each hart" in said


def test_system_without_apps_needs_no_fabric(sorters):
    system = built("trio", hypervisor=sorters)
    words = boot_command(system)
    at = words.index("-plugin")
    with Machine([*words[:at], *words[at + 2 :]], system.names, OUT / "rt-sorter-trio.log") as machine:
        wait_for_signs_of_life(machine, system)


def test_timers_of_guests(all_sorters):
    """Linux, FreeRTOS and U-Boot keep time by timers in a sorter; the machine without the fabric is refused."""
    system = built_with_harts("trio", 1, hypervisor=all_sorters)
    with booted(system, "rt-sorter-timers") as machine:
        wait_for_signs_of_life(machine, system)
        assert_well(machine)
    words = boot_command(system)
    at = words.index("-plugin")
    said = refusal(system, "rt-sorter-timers-none", [*words[:at], *words[at + 2 :]])
    assert b"error: cannot set up the system: sorters: there is no fabric at" in said
