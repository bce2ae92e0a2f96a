# SPDX-License-Identifier: Apache-2.0
"""A VM's resets, shutdowns and crashes are its own affair: it alone starts anew or stops; the others never notice."""

import re

import pytest
from lab import (
    AGAIN,
    BOOT_S,
    LINUX_PROMPT,
    SOON_S,
    assert_undisturbed,
    assert_well,
    await_life,
    booted,
    built,
    command,
    heartbeats,
    keyboard,
    states,
    tell,
)

from tessera.machine import HYPERVISOR

HOLE = 0x1F000000
NO_VECTOR = HOLE + 0x1000  # where guests/faulty puts its trap vector before a fatal trap
RAM_BASE = 0x80000000
RAM_END = 0x80400000
REGISTERS = (
    *("pc", "ra", "sp", "gp", "tp", *(f"t{n}" for n in range(7))),
    *(f"s{n}" for n in range(12)),
    *(f"a{n}" for n in range(8)),
)


@pytest.fixture(scope="module", params=["trio", "trio-one-hart"])
def shared(request):
    system = built(request.param)
    with booted(system, f"lifecycle-{request.param}") as machine:
        await_life(machine, system)
        yield machine


@pytest.fixture
def machine(shared):
    """The shared machine. Whatever a test does to `first`: `second` counts on, and FreeRTOS finds nothing wrong."""
    yield shared
    beats = heartbeats(shared, "second")
    assert beats == list(range(len(beats)))
    assert_well(shared)


@pytest.mark.parametrize(("how", "says"), [("reset", "cold reboot"), ("warm", "warm reboot")])
def test_reset_restarts_that_vm_alone(machine, how, says):
    starts = {name: int(row["starts"]) for name, row in states(machine).items()}
    tell(machine, "first", how)
    machine.expect("first", rf"^faulty: {says}$", SOON_S)
    machine.expect(HYPERVISOR, rf"^first stopped by its own reset, {AGAIN}$", SOON_S)
    for beat in (0, 1):
        machine.expect("first", rf"^faulty: alive {beat}$", SOON_S)
    assert "reboot was refused" not in machine.console.text("first")
    now = {name: int(row["starts"]) for name, row in states(machine).items()}
    assert now == {**starts, "first": starts["first"] + 1}


@pytest.mark.parametrize(
    ("deed", "cause"),
    [
        ("read", 5),
        ("write", 7),
        ("jump", 1),
        ("read 10001000", 5),  # the machine has a device there, which is nobody's
        ("write 80200000000", 7),  # beyond what the second stage translates: Sv39x4 has 41 bits
        ("read 0", 5),
        ("read 10000100", 5),  # behind the UART
        ("write c600000", 7),  # behind the PLIC
        ("jump 10000000", 1),  # a device holds no instructions
        (f"read {RAM_END:x}", 5),
        (f"write {RAM_END:x}", 7),
        (f"jump {RAM_END:x}", 1),
        (f"read {RAM_BASE - 4:x}", 5),
        (f"write {RAM_BASE - 4:x}", 7),
        ("write ffffffffffffff00", 7),
    ],
)
def test_nothing_there_is_an_access_fault_that_the_guest_survives(machine, deed, cause):
    address = int(deed.split()[1], 16) if " " in deed else HOLE
    tell(machine, "first", deed)
    machine.expect("first", rf"^faulty: caught exception {cause} stval 0x{address:x} ", SOON_S)
    machine.expect("first", rf"^faulty: {deed.split()[0]} trapped, carrying on$", SOON_S)
    tell(machine, "first", "id")
    machine.expect("first", r"^faulty: HCALL_INFO_GET_ID error 0 value 0", SOON_S)


@pytest.mark.parametrize(
    "deed",
    [*(f"{deed} {at:x}" for deed in ("read", "write") for at in (RAM_END - 4, 0x100000FC, 0xC5FFFFC)), "read 80000000"],
)
def test_ram_and_devices_reach_to_their_ends(machine, deed):
    tell(machine, "first", deed)
    machine.expect("first", rf"^faulty: {deed.split()[0]} went through, carrying on$", SOON_S)


@pytest.mark.parametrize("address", ["0", "1", "80400000", f"{HOLE:x}", "ffffffffffffffff", "10000000"])
@pytest.mark.parametrize("calls", ["calls", "console"])
def test_bad_sbi_calls_return_an_error(machine, calls, address):
    """Unknown calls, calls with harts that are not there, buffers that are not memory: refused, each with an error."""
    tell(machine, "first", f"{calls} {address}")
    found = machine.expect("first", r"^faulty: bad (?:console )?calls returned((?: -?\d+)+)\n", SOON_S)
    errors = [int(error) for error in found[1].split()]
    assert len(errors) == 6
    assert all(error < 0 for error in errors), errors
    tell(machine, "first", "id")
    machine.expect("first", r"^faulty: HCALL_INFO_GET_ID error 0 value 0", SOON_S)


@pytest.mark.parametrize("how", ["restart", "reset"])
def test_memory_is_as_new_after_a_restart(machine, how):
    """What was written is gone, in free memory as in the image: the first words of the image are its code."""
    free, code = f"{RAM_BASE + 0x100000:x}", f"{RAM_BASE + 0x200000:x}"
    words = {}
    for address in (free, code):
        tell(machine, "first", f"peek {address}")
        words[address] = machine.expect("first", rf"^faulty: word at 0x{address} is 0x([0-9a-f]+)\n", SOON_S)[1]
    assert words[free] == "0"
    assert words[code] != "0"
    for address in (free, code):
        tell(machine, "first", f"write {address}")
        machine.expect("first", r"^faulty: write went through", SOON_S)
        tell(machine, "first", f"peek {address}")
        machine.expect("first", rf"^faulty: word at 0x{address} is 0xbadc0de\n", SOON_S)
    keyboard(machine, "first")
    machine.skip("first")
    if how == "restart":
        command(machine, "r")
    else:
        machine.send("reset\r")
    machine.expect("first", r"^faulty: alive 0$", SOON_S)
    for address in (free, code):
        tell(machine, "first", f"peek {address}")
        machine.expect("first", rf"^faulty: word at 0x{address} is 0x{words[address]}\n", SOON_S)


def test_memory_of_another_vm_is_another_memory(machine):
    """The same guest-physical address in two VMs is two places."""
    address = f"{RAM_BASE + 0x180000:x}"
    tell(machine, "first", f"write {address}")
    machine.expect("first", r"^faulty: write went through", SOON_S)
    tell(machine, "second", f"peek {address}")
    machine.expect("second", rf"^faulty: word at 0x{address} is 0x0\n", SOON_S)


def expect_report(machine, name, address, pc):
    """The report of a fatal trap: who, why, where, and what every register held."""
    head = machine.expect(HYPERVISOR, rf"^{name} vcpu 0: (.+): cause (\d+) \((.+)\), address 0x([0-9a-f]+)\n", SOON_S)
    assert head.groups() == ("no memory at the trap vector", "20", "fetch guest-page fault", f"{address:x}")
    end = machine.expect(HYPERVISOR, r"^  vsstatus [0-9a-f]+  vstvec ([0-9a-f]+)  vsepc ([0-9a-f]+) .*$", SOON_S)
    assert end[1] == f"{address:x}"
    text = machine.console.text(HYPERVISOR)
    block = text[head.end() : end.start()]
    registers = {key: int(value, 16) for key, value in re.findall(r"\b([a-z]+\d*) +([0-9a-f]{16})\b", block)}
    assert sorted(registers) == sorted(REGISTERS), block
    assert registers["pc"] == pc
    assert RAM_BASE < registers["sp"] < RAM_END
    assert RAM_BASE < registers["ra"] < RAM_END
    return registers, end


@pytest.mark.parametrize(("deed", "address"), [("fatal", HOLE), ("fatal", 0x1234), ("wild", HOLE), ("wild", RAM_END)])
def test_fatal_trap_is_reported_and_restarts_as_the_system_file_says(machine, deed, address):
    tell(machine, "first", f"{deed} {address:x}")
    machine.expect("first", r"^faulty: (reading|jumping to) 0x", SOON_S)
    registers, _ = expect_report(machine, "first", NO_VECTOR, NO_VECTOR)
    assert address in registers.values()  # the argument is in some register still
    machine.expect(HYPERVISOR, rf"^first stopped by a fatal trap, {AGAIN}$", SOON_S)
    machine.expect("first", r"^faulty: alive 0$", SOON_S)
    tell(machine, "first", "id")
    machine.expect("first", r"^faulty: HCALL_INFO_GET_ID error 0 value 0", SOON_S)


def test_linux_that_panics_starts_again():
    """It resets itself, as its boot arguments tell it to; the others go on."""
    system = built("demo")
    with booted(system, "lifecycle-linux") as machine:
        await_life(machine, system)
        machine.expect("linux", LINUX_PROMPT, BOOT_S)
        machine.send("echo c >/proc/sysrq-trigger\r")
        machine.expect("linux", r"Kernel panic - not syncing: sysrq triggered crash", SOON_S)
        machine.expect(HYPERVISOR, r"^linux stopped by its own reset, starts again$", SOON_S)
        machine.expect("linux", r"tessera: linux is up", BOOT_S)
        assert_undisturbed(machine)


def test_sleep_for_ever_costs_no_cpu_and_ends_with_a_restart(machine):
    tell(machine, "first", "sleep")
    machine.expect("first", r"^faulty: sleeping", SOON_S)
    states(machine)
    machine.wait_until(lambda: False, 2)
    row = states(machine)["first"]
    assert row["state"] == "running"
    assert float(row["cpu"]) < 1.0, row
    heard = heartbeats(machine, "first")
    command(machine, "r")
    machine.expect("first", r"^faulty: alive 0$", SOON_S)
    assert heartbeats(machine, "first")[: len(heard)] == heard


def test_fatal_trap_stops_as_the_system_file_says(shared):
    """`second` says on-fatal = "stop"; the console can still start it."""
    tell(shared, "second", "fatal")
    expect_report(shared, "second", NO_VECTOR, NO_VECTOR)
    shared.expect(HYPERVISOR, r"^second stopped by a fatal trap$", SOON_S)
    assert states(shared)["second"]["state"] == "stopped"
    heard = len(heartbeats(shared, "second"))
    shared.skip("first")
    for _ in range(3):
        shared.expect("first", r"^faulty: alive \d+$", SOON_S)
    assert len(heartbeats(shared, "second")) == heard
    command(shared, "g")
    shared.expect(HYPERVISOR, r"^second starts$", SOON_S)
    shared.expect("second", r"^faulty: alive 1$", SOON_S)
    assert_undisturbed(shared)


def test_shutdown_stops_and_the_last_one_switches_the_machine_off(shared):
    """The last test of the shared machine, as it ends it."""
    tell(shared, "second", "shutdown")
    shared.expect(HYPERVISOR, r"^second stopped by its own shutdown$", SOON_S)
    tell(shared, "first", "shutdown")
    shared.expect(HYPERVISOR, r"^first stopped by its own shutdown$", SOON_S)
    assert [row["state"] for row in states(shared).values()] == ["stopped", "stopped", "running"]
    assert_undisturbed(shared)
    tell(shared, "freertos", "shutdown")
    shared.expect(HYPERVISOR, r"^freertos stopped by its own shutdown$", SOON_S)
    shared.expect(HYPERVISOR, r"^all VMs are stopped: power off$", SOON_S)
    assert shared.status(SOON_S) == 0
