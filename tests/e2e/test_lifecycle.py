# SPDX-License-Identifier: Apache-2.0
"""A VM's reset, shutdown or crash restarts or stops that VM alone and does not disturb the
others."""

import re
from dataclasses import dataclass

import pytest
from helpers import (
    AGAIN,
    BOOT_S,
    LINUX_PROMPT,
    MIPS,
    RISCV,
    SOON_S,
    ask,
    assert_undisturbed,
    assert_well,
    await_stopped,
    booted,
    built,
    built_on,
    caught,
    command,
    few_of,
    heartbeats,
    keyboard,
    on_every_board,
    states,
    tell,
    wait_for_signs_of_life,
)

from tessera.run.machine import HYPERVISOR

PLIC_END = 0xC600000
RISCV_REGISTERS = (
    *("pc", "ra", "sp", "gp", "tp", *(f"t{n}" for n in range(7))),
    *(f"s{n}" for n in range(12)),
    *(f"a{n}" for n in range(8)),
)
MIPS_REGISTERS = (
    *("pc", "at", "v0", "v1", "ra", "sp", "gp", "s8", "k0", "k1"),
    *(f"{kind}{n}" for kind, count in (("a", 4), ("s", 8), ("t", 10)) for n in range(count)),
)


@dataclass(frozen=True)
class Report:
    """The console's report of a fatal trap, without the registers."""

    head: tuple[str, ...]  # the reason, the cause and its name
    end: str  # its last line
    registers: tuple[str, ...]
    digits: int


REPORTS = {
    RISCV.architecture: Report(
        ("no memory at the trap vector", "20", "fetch guest-page fault"),
        r"^  vsstatus [0-9a-f]+  vstvec ([0-9a-f]+)  vsepc ([0-9a-f]+) .*$",
        RISCV_REGISTERS,
        16,
    ),
    MIPS.architecture: Report(
        ("no memory at an exception handler", "6", "bus error"),
        r"^  status [0-9a-f]+  cause [0-9a-f]+  epc [0-9a-f]+  errorepc [0-9a-f]+  ebase ([0-9a-f]+)  badvaddr .*$",
        MIPS_REGISTERS,
        8,
    ),
}


# One hart: as on the M5150.
@pytest.fixture(scope="module", params=[*on_every_board("trio"), *few_of(["trio-one-hart"], [])])
def name(request):
    return request.param


@pytest.fixture(scope="module")
def shared(name):
    system = built_on(name)
    with booted(system, f"lifecycle-{name}") as machine:
        wait_for_signs_of_life(machine, system)
        yield machine


@pytest.fixture
def machine(shared):
    """The shared machine. After each test, `second` must still count and FreeRTOS must have found
    no error."""
    yield shared
    beats = heartbeats(shared, "second")
    assert beats == list(range(len(beats)))
    assert_well(shared)


@pytest.mark.parametrize(("how", "says"), [("reset", "cold reboot"), ("warm", "warm reboot")])
def test_reset_restarts_that_vm_alone(machine, how, says):
    starts = {name: int(row["starts"]) for name, row in states(machine).items()}
    tell(machine, "first", how)
    machine.expect("first", rf"^misbehave: {says}$", SOON_S)
    machine.expect(HYPERVISOR, rf"^first stopped by its own reset, {AGAIN}$", SOON_S)
    for beat in (0, 1):
        machine.expect("first", rf"^misbehave: alive {beat}$", SOON_S)
    assert "reboot was refused" not in machine.console.text("first")
    now = {name: int(row["starts"]) for name, row in states(machine).items()}
    assert now == {**starts, "first": starts["first"] + 1}


def assert_exception(machine, board, access, address):
    """The guest's access gets an exception that the guest handles and reports."""
    machine.expect("first", caught(board, access, address), SOON_S)
    machine.expect("first", rf"^misbehave: {access} trapped, carrying on$", SOON_S)
    tell(machine, "first", "id")
    machine.expect("first", r"^misbehave: HCALL_INFO_GET_ID error 0 value 0", SOON_S)


@pytest.mark.parametrize("access", ["read", "write", "jump"])
def test_unmapped_address_raises_an_exception(machine, board, access):
    tell(machine, "first", access)
    assert_exception(machine, board, access, board.hole)
    for address in (board.ram_end, board.low):
        tell(machine, "first", f"{access} {address:x}")
        assert_exception(machine, board, access, address)


def test_a_device_holds_no_instructions(machine, board):
    tell(machine, "first", f"jump {board.uart & ~7:x}")
    assert_exception(machine, board, "jump", board.uart & ~7)


@pytest.mark.only_on("riscv")
@pytest.mark.parametrize(
    ("access", "address"),
    [
        ("read", 0x10001000),  # a device of the machine that is assigned to no VM
        ("write", 0x80200000000),  # beyond the 41 bits of Sv39x4's guest-physical addresses
        ("read", 0),
        ("read", RISCV.uart + 0x100),
        ("write", PLIC_END),
        ("read", RISCV.ram_base - 4),
        ("write", RISCV.ram_base - 4),
        ("write", 0xFFFFFFFFFFFFFF00),
    ],
)
def test_addresses_next_to_mapped_ones_are_unmapped(machine, board, access, address):
    tell(machine, "first", f"{access} {address:x}")
    assert_exception(machine, board, access, address)


@pytest.mark.only_on("mips")
@pytest.mark.parametrize(
    ("access", "address"),
    [
        ("read", 0xBF801220),  # a device of the machine that is assigned to no VM
        ("write", 0xBFD01000),  # after the UART's page
        ("read", 0x9D000000),  # the hypervisor's flash on the M5150
        ("read", 0x9FC00000),
        ("write", 0x9FFFFFFC),  # the last word of kseg0
    ],
)
def test_devices_and_memory_of_the_machine_are_unmapped(machine, board, access, address):
    tell(machine, "first", f"{access} {address:x}")
    assert_exception(machine, board, access, address)


@pytest.mark.parametrize("access", ["read", "write"])
def test_ram_reaches_to_its_ends(machine, board, access):
    for address in [board.ram_end - 4, *([board.ram_base] if access == "read" else [])]:
        tell(machine, "first", f"{access} {address:x}")
        machine.expect("first", rf"^misbehave: {access} went through, carrying on$", SOON_S)


@pytest.mark.only_on("riscv")
@pytest.mark.parametrize(
    ("access", "address"), [("read", RISCV.uart + 4), ("read", PLIC_END - 4), ("write", PLIC_END - 4)]
)
def test_devices_reach_to_their_ends(machine, access, address):
    """Reads only, where a write to the UART's last word could enable loopback."""
    tell(machine, "first", f"{access} {address:x}")
    machine.expect("first", rf"^misbehave: {access} went through, carrying on$", SOON_S)


@pytest.mark.parametrize("address", ["0", "1", "80400000", "1f000000", "ffffffffffffffff", "10000000"])
@pytest.mark.parametrize("calls", ["calls", pytest.param("console", marks=pytest.mark.only_on("riscv"))])
def test_bad_calls_return_an_error(machine, calls, address):
    """Unknown calls, calls with missing harts and calls with buffers outside memory each return an
    error."""
    tell(machine, "first", f"{calls} {address}")
    found = machine.expect("first", r"^misbehave: bad (?:console )?calls returned((?: -?\d+)+)\n", SOON_S)
    errors = [int(error) for error in found[1].split()]
    assert len(errors) == 6
    assert all(error < 0 for error in errors), errors
    tell(machine, "first", "id")
    machine.expect("first", r"^misbehave: HCALL_INFO_GET_ID error 0 value 0", SOON_S)


@pytest.mark.parametrize("how", ["restart", "reset"])
def test_memory_is_as_new_after_a_restart(machine, board, how):
    """Writes are undone both in free memory and in the image, whose first words are its code."""
    free, code = f"{board.free:x}", f"{board.image:x}"
    words = {}
    for address in (free, code):
        tell(machine, "first", f"peek {address}")
        words[address] = machine.expect("first", rf"^misbehave: word at 0x{address} is 0x([0-9a-f]+)\n", SOON_S)[1]
    assert words[free] == "0"
    assert words[code] != "0"
    for address in (free, code):
        tell(machine, "first", f"write {address}")
        machine.expect("first", r"^misbehave: write went through", SOON_S)
        tell(machine, "first", f"peek {address}")
        machine.expect("first", rf"^misbehave: word at 0x{address} is 0xbadc0de\n", SOON_S)
    keyboard(machine, "first")
    machine.skip("first")
    if how == "restart":
        command(machine, "r")
    else:
        machine.send("reset\r")
    machine.expect("first", r"^misbehave: alive 0$", SOON_S)
    for address in (free, code):
        tell(machine, "first", f"peek {address}")
        machine.expect("first", rf"^misbehave: word at 0x{address} is 0x{words[address]}\n", SOON_S)


def test_vms_have_separate_memory(machine, board):
    """The same guest-physical address in two VMs is different memory."""
    address = f"{board.free:x}"
    tell(machine, "first", f"write {address}")
    machine.expect("first", r"^misbehave: write went through", SOON_S)
    tell(machine, "second", f"peek {address}")
    machine.expect("second", rf"^misbehave: word at 0x{address} is 0x0\n", SOON_S)


def expect_report(machine, name, board):
    """Expects the report of a fatal trap: VM, cause, address and all registers."""
    report = REPORTS[board.architecture]
    head = machine.expect(HYPERVISOR, rf"^{name} vcpu 0: (.+): cause (\d+) \((.+)\), address 0x([0-9a-f]+)\n", SOON_S)
    assert head.groups() == (*report.head, f"{board.no_vector:x}")
    end = machine.expect(HYPERVISOR, report.end, SOON_S)
    assert int(end[1], 16) == board.no_vector_pc & ~0xFFF
    text = machine.console.text(HYPERVISOR)
    block = text[head.end() : end.start()]
    registers = {
        key: int(value, 16) for key, value in re.findall(rf"\b([a-z]+\d*) +([0-9a-f]{{{report.digits}}})\b", block)
    }
    assert sorted(registers) == sorted(report.registers), block
    assert registers["pc"] == board.no_vector_pc
    assert board.ram_base < registers["sp"] < board.ram_end
    assert board.ram_base < registers["ra"] < board.ram_end
    return registers


@pytest.mark.parametrize(
    ("access", "place"), [("fatal", "hole"), ("fatal", "low"), ("wild", "hole"), ("wild", "ram_end")]
)
def test_fatal_trap_is_reported_and_restarts_as_the_system_file_says(machine, board, access, place):
    address = getattr(board, place)
    tell(machine, "first", f"{access} {address:x}")
    machine.expect("first", r"^misbehave: (reading|jumping to) 0x", SOON_S)
    registers = expect_report(machine, "first", board)
    assert address in registers.values()  # the argument is still in a register
    machine.expect(HYPERVISOR, rf"^first stopped by a fatal trap, {AGAIN}$", SOON_S)
    machine.expect("first", r"^misbehave: alive 0$", SOON_S)
    tell(machine, "first", "id")
    machine.expect("first", r"^misbehave: HCALL_INFO_GET_ID error 0 value 0", SOON_S)


@pytest.fixture(scope="module")
def demo():
    system = built("demo")
    with booted(system, "lifecycle-demo") as machine:
        wait_for_signs_of_life(machine, system)
        machine.expect("linux", LINUX_PROMPT, BOOT_S)
        yield machine


@pytest.mark.long
def test_linux_restarts_after_a_panic(demo):
    """Linux resets itself because of its boot argument panic=; the other guests keep running."""
    keyboard(demo, "linux")
    demo.send("echo c >/proc/sysrq-trigger\r")
    demo.expect("linux", r"Kernel panic - not syncing: sysrq triggered crash", SOON_S)
    demo.expect(HYPERVISOR, r"^linux stopped by its own reset, starts again$", SOON_S)
    demo.expect("linux", r"tessera: linux is up", BOOT_S)
    demo.expect("linux", LINUX_PROMPT, BOOT_S)
    assert_undisturbed(demo)


def test_freertos_restarts_after_a_crash(demo):
    """The demo's command `crash`: a report with all registers, then a restart of FreeRTOS alone."""
    tell(demo, "freertos", "crash")
    expect_report(demo, "freertos", RISCV)
    demo.expect(HYPERVISOR, r"^freertos stopped by a fatal trap, starts again$", SOON_S)
    demo.expect("freertos", r"^freertos: FreeRTOS V", SOON_S)
    demo.expect("freertos", r"^freertos: self-check passed$", BOOT_S)
    keyboard(demo, "linux")
    ask(demo, "echo still $((6 * 7))", r"^still 42$")
    tell(demo, "uboot", "echo here too")
    demo.expect("uboot", r"^here too$", SOON_S)
    restarts = {name: int(row["restarts"]) for name, row in states(demo).items()}
    assert restarts["freertos"] == 1
    assert restarts["uboot"] == 0


def test_endless_sleep_uses_no_cpu_and_ends_with_a_restart(machine):
    tell(machine, "first", "sleep")
    machine.expect("first", r"^misbehave: sleeping", SOON_S)
    rows = [states(machine)["first"]]

    def sleeps() -> bool:
        """For two seconds of host time, in which the host may run QEMU less than it should."""
        machine.wait_until(lambda: False, 2)
        rows.append(states(machine)["first"])
        return float(rows[-1]["cpu"]) < 1.0

    assert machine.wait_until(sleeps, SOON_S), rows
    assert rows[-1]["state"] == "running"
    heard = heartbeats(machine, "first")
    command(machine, "r")
    machine.expect("first", r"^misbehave: alive 0$", SOON_S)
    assert heartbeats(machine, "first")[: len(heard)] == heard


def test_fatal_trap_stops_as_the_system_file_says(shared, board):
    """`second` has on-fatal = "stop"; the console can still start it."""
    tell(shared, "second", "fatal")
    expect_report(shared, "second", board)
    shared.expect(HYPERVISOR, r"^second stopped by a fatal trap$", SOON_S)
    await_stopped(shared, "second")
    heard = len(heartbeats(shared, "second"))
    shared.skip("first")
    for _ in range(3):
        shared.expect("first", r"^misbehave: alive \d+$", SOON_S)
    assert len(heartbeats(shared, "second")) == heard
    command(shared, "g")
    shared.expect(HYPERVISOR, r"^second starts$", SOON_S)
    shared.expect("second", r"^misbehave: alive 1$", SOON_S)
    assert_undisturbed(shared)


def test_shutdown_stops_and_the_last_one_switches_the_machine_off(shared):
    """The last test of the shared machine, since it ends the machine."""
    tell(shared, "second", "shutdown")
    shared.expect(HYPERVISOR, r"^second stopped by its own shutdown$", SOON_S)
    tell(shared, "first", "shutdown")
    shared.expect(HYPERVISOR, r"^first stopped by its own shutdown$", SOON_S)
    await_stopped(shared, "first")
    assert [row["state"] for row in states(shared).values()] == ["stopped", "stopped", "running"]
    assert_undisturbed(shared)
    tell(shared, "freertos", "shutdown")
    shared.expect(HYPERVISOR, r"^freertos stopped by its own shutdown$", SOON_S)
    shared.expect(HYPERVISOR, r"^all VMs are stopped: power off$", SOON_S)
    assert shared.status(SOON_S) == 0
