# SPDX-License-Identifier: Apache-2.0
"""GDB attached to one VM while the other VMs run (docs/debugging.md)."""

import re
import sys
import time
from pathlib import Path

import pexpect
import pytest
from helpers import (
    BOOT_S,
    GUESTS,
    LINUX_PROMPT,
    SOON_S,
    ask,
    assert_undisturbed,
    await_stopped,
    built,
    heartbeats,
    keyboard,
    seconds_up,
    states,
    wait_for_signs_of_life,
)

from gdb import Gdb, debug_server
from tessera.run.hosttime import Limit
from tessera.run.machine import HYPERVISOR
from tessera.run.runner import ROOT

ELF = GUESTS / "debuggee" / "debuggee.elf"
FAR = 0xFFFFFFC080000000
NEAR = 0x80000000
STEPS = 14


@pytest.fixture(scope="module")
def running():
    """The system with all guests up and a debug server for the VM `debuggee`. Each test leaves that
    VM running."""
    with debug_server(built("debug"), "debuggee", "debug") as (machine, place):
        wait_for_signs_of_life(machine, built("debug"))
        yield machine, place


@pytest.fixture
def machine(running):
    return running[0]


@pytest.fixture
def gdb(running):
    with Gdb(running[1], ELF) as gdb:
        gdb.ask()
        yield gdb


def await_rounds(machine, more=1):
    """Waits until the debuggee has counted `more` further rounds."""
    for _ in range(more):
        machine.expect("debuggee", r"^debuggee: turn (\d+)", SOON_S)
    return True


def assert_halted(gdb):
    """Neither hart of the debuggee makes progress while freertos runs."""
    before = gdb.value("debuggee_other"), gdb.value("$pc")
    time.sleep(0.5)
    gdb.ask("maintenance flush dcache", "maintenance flush register-cache")
    assert (gdb.value("debuggee_other"), gdb.value("$pc")) == before


def test_attached_vm_halts_and_others_run(machine, gdb):
    assert_halted(gdb)
    machine.skip("debuggee")
    said = machine.console.text("debuggee")
    assert_undisturbed(machine)
    # An unfinished line is missing while the console shows another VM's line in its place.
    assert said.startswith(machine.console.text("debuggee"))
    threads = gdb.ask("info threads")
    assert "VCPU 0" in threads and "VCPU 1" in threads, threads
    assert "running, halted, started 1 times, VCPUs online: 0 1" in gdb.ask("monitor status")


def test_a_breakpoint_with_its_backtrace_and_arguments(gdb):
    said = gdb.ask("break debuggee_inner", "continue", "backtrace")
    assert re.search(r"^Thread 1 hit Breakpoint 1, debuggee_inner \(n=", said, re.MULTILINE), said
    assert re.search(r"#0 .*debuggee_inner.*\n#1 .*debuggee_middle.*\n#2 .*debuggee_outer.*\n#3 .*main", said), said
    n = gdb.value("$a0")
    assert gdb.value("n") == n
    assert gdb.value("debuggee_turns") == n - 1
    gdb.ask("finish")
    assert gdb.value("$a0") == 3 * n
    assert gdb.value("debuggee_turns") == n
    again = gdb.ask("continue", "continue")
    assert again.count("hit Breakpoint 1") == 2, again
    assert gdb.value("debuggee_turns") == n + 1


def test_a_breakpoint_is_not_seen_in_memory(gdb):
    code = gdb.value("*(unsigned int *)debuggee_inner")
    gdb.ask("break debuggee_inner", "set breakpoint always-inserted on")
    gdb.ask("maintenance flush dcache")
    assert gdb.value("*(unsigned int *)debuggee_inner") == code
    assert gdb.value(f"*(unsigned int *)((unsigned long)debuggee_inner - {NEAR} + {FAR}UL)") == code


def test_single_steps_follow_every_kind_of_instruction(gdb):
    gdb.ask("break debuggee_steps", "continue", "delete")
    places = [gdb.value(f"&steps_{n}") for n in range(1, STEPS + 1)]
    word = gdb.value("*(long *)&steps_word")
    seen = []
    for _ in range(60):
        gdb.ask("stepi")
        pc = gdb.value("$pc")
        assert pc != gdb.value("&steps_bad")
        if pc in places:
            seen.append(places.index(pc) + 1)
        if pc == places[-1]:
            break
    assert seen == list(range(1, STEPS + 1))
    assert gdb.value("*(long *)&steps_word") == word + 1
    ra = gdb.value("$t0")
    gdb.ask("stepi")
    assert gdb.value("$pc") == ra


def test_steps_by_line(gdb):
    gdb.ask("break debuggee_outer", "continue", "delete")
    said = gdb.ask("step", "step", "step")
    assert "debuggee_inner" in said, said
    said = gdb.ask("finish", "finish", "next", "next")
    assert "main" in said, said


def test_registers_of_each_vcpu(gdb):
    assert gdb.value("$satp") >> 60 == 8
    assert gdb.value("$priv") == 1
    assert gdb.value("$stvec") == gdb.value("&trap_entry")
    gdb.ask("break debuggee_inner", "continue")
    gdb.ask("set $a0 = 1000", "set $t6 = 0x123456789abcdef0", "set $ft0 = 1.5")
    assert gdb.value("$t6") == 0x123456789ABCDEF0
    assert "1.5" in gdb.ask("print $ft0.double")
    gdb.ask("finish")
    assert gdb.value("$a0") == 3000
    assert gdb.value("debuggee_turns") == 1000
    assert "Could not write register" in gdb.ask("set $satp = 0")
    assert gdb.value("$pc") != 0
    gdb.ask("thread 2")
    assert re.search(r"count ", gdb.ask("frame")), "hart 1 is not in count()"


def test_a_function_that_gdb_calls(gdb):
    """All registers are restored afterwards. GDB writes back the read-only registers, too, with
    unchanged values."""
    gdb.ask("break debuggee_inner", "continue", "delete")
    before = [gdb.value(f"${name}") for name in ("pc", "sp", "ra", "a0", "t6", "fcsr")]
    assert gdb.value("debuggee_middle(5)") == 19
    assert gdb.value("debuggee_turns") == 6
    assert [gdb.value(f"${name}") for name in ("pc", "sp", "ra", "a0", "t6", "fcsr")] == before
    assert "Could not write register" in gdb.ask("set $fcsr = 1")


def test_memory_through_the_vms_own_translation(gdb):
    counter = gdb.value("&debuggee_far")
    assert gdb.value(f"*(long *)({counter - NEAR} + {FAR}UL)") == gdb.value("debuggee_far")
    gdb.ask(f"set *(long *)({counter - NEAR} + {FAR}UL) = 77", "maintenance flush dcache")
    assert gdb.value("debuggee_far") == 77
    gdb.ask("set debuggee_far = 0")
    assert "Cannot access memory" in gdb.ask("x/x 0x1234567800000000")  # not canonical
    assert "Cannot access memory" in gdb.ask("x/x 0x100000000")  # not mapped
    assert "Cannot access memory" in gdb.ask("x/x 0x10000000")  # a device
    assert "Cannot access memory" in gdb.ask("x/x 0x80400000")  # after the end of the VM's memory
    end = gdb.ask("x/2xw 0x803ffffc")
    assert "0x803ffffc:\t0x" in end and "Cannot access memory at address 0x80400000" in end, end
    assert "Cannot access memory" in gdb.ask("set *(long *)0x80400000 = 1")
    assert "Cannot insert breakpoint" in gdb.ask("break *0x80500000", "continue")


def test_a_breakpoint_is_at_an_address_not_in_memory(gdb):
    """One function is mapped twice: executing it at the other address does not hit the
    breakpoint."""
    near = gdb.value("(unsigned long)debuggee_reached")
    far = near - NEAR + FAR
    gdb.ask("set debuggee_far = 0", f"break *{far:#x}")
    for _ in range(3):
        gdb.ask("continue")
        assert gdb.value("$pc") == far
        assert gdb.value("debuggee_far") % 1000 == gdb.value("debuggee_far") // 1000 + 1


def test_ebreak_of_the_guest_reaches_the_guest(machine, gdb):
    before = gdb.value("debuggee_breaks")
    gdb.ask("break debuggee_outer", "continue", "continue", "continue")
    assert gdb.value("debuggee_breaks") - before in (2, 3)
    gdb.ask("delete", "break *&debuggee_own", "continue")
    own = gdb.value("debuggee_breaks")
    gdb.ask("delete", "stepi")
    assert gdb.value("$pc") == gdb.value("&trap_entry")
    assert gdb.value("$scause") == 3
    assert gdb.value("$sepc") == gdb.value("&debuggee_own")
    gdb.ask("break debuggee_outer", "continue")
    assert gdb.value("debuggee_breaks") == own + 1


def test_ctrl_c(machine, gdb):
    mark = gdb.start("continue")
    machine.skip("debuggee")
    await_rounds(machine, 2)
    gdb.interrupt()
    assert "received signal SIGINT" in gdb.finish(mark)
    assert_halted(gdb)


def test_one_vcpu_alone(gdb):
    gdb.ask("break debuggee_inner", "continue")
    gdb.ask("set scheduler-locking on")
    other, turn = gdb.value("debuggee_other"), gdb.value("debuggee_turns")
    gdb.ask("continue")
    assert gdb.value("debuggee_turns") == turn + 1
    assert gdb.value("debuggee_other") == other


def test_forged_answers_are_not_shown(machine, gdb):
    gdb.ask("delete", "break debuggee_inner", "continue", "continue")
    machine.skip("debuggee")
    raw = (machine.console.text("debuggee"), gdb.value("debuggee_turns"))
    assert raw[1] > 0
    log = (GUESTS.parent / "e2e" / "debug.log").read_bytes()
    assert b"debuggee: \r\n" in log
    assert b"\x1b_" not in log, "a guest's control strings or the session's answers were shown"


def test_detached_vm_continues(machine, gdb):
    gdb.ask("break debuggee_inner", "continue", "detach")
    machine.skip("debuggee")
    assert await_rounds(machine, 3)
    assert_undisturbed(machine)


def test_a_debugger_that_dies_leaves_it_running(machine, gdb):
    gdb.ask("break debuggee_inner", "continue")
    gdb.process.kill()
    machine.skip("debuggee")
    assert await_rounds(machine, 3)


def test_restart_and_kill_affect_one_vm(machine, gdb):
    before = len(seconds_up(machine))
    gdb.ask("break debuggee_inner", "monitor restart", "maintenance flush register-cache")
    assert gdb.value("$pc") == 0x80200000
    assert "started 2 times" in gdb.ask("monitor status")
    said = gdb.ask("continue")
    assert "hit Breakpoint" in said, said
    assert gdb.value("debuggee_turns") == 0
    said = gdb.ask("run")
    assert "hit Breakpoint" in said, said
    assert "started 3 times" in gdb.ask("monitor status")
    assert states(machine)["debuggee"]["starts"] == "3"  # and skips what `run` has printed
    gdb.ask("kill")
    machine.expect(HYPERVISOR, "^debuggee stopped by the console$", SOON_S)
    await_stopped(machine, "debuggee")
    assert_undisturbed(machine)
    gdb.ask("delete", "monitor restart")
    assert states(machine)["freertos"]["starts"] == "1"
    assert len(seconds_up(machine)) > before


def test_a_vm_that_the_console_restarts_stops_before_its_first_instruction(machine, gdb):
    mark = gdb.start("continue")
    machine.skip("debuggee")
    await_rounds(machine)
    keyboard(machine, "debuggee")
    machine.send("\x14r")
    assert "received signal SIGHUP" in gdb.finish(mark)
    assert gdb.value("$pc") == 0x80200000
    gdb.ask("detach")
    await_rounds(machine, 2)
    keyboard(machine, "debuggee")


def test_a_step_from_nowhere_is_refused(gdb):
    pc = gdb.value("$pc")
    said = gdb.ask("set $pc = 0x10", "stepi")
    assert "received signal SIGSEGV" in said, said
    assert gdb.value("$pc") == 0x10
    gdb.ask(f"set $pc = {pc:#x}", "break debuggee_inner")
    assert "hit Breakpoint" in gdb.ask("continue")


PACKETS = {
    "m10000000000000000,1": "E01",
    "mffffffffffffffff,2": "E01",
    "m80000000,800": "E01",
    "M80000000,4:00": "E01",
    "Z0,80000000": "E01",
    "vCont;s": "E01",
    "vCont;c:p0.1": "E01",
    "Hg-1": "E01",
    "Hgp1.-1": "E01",
    "Hc-1": "OK",
    "s": "E01",
    "Hcp1.-1": "OK",
    "s80000000": "E01",
    "S05": "",
    "Hcp1.1": "OK",
    "G00": "E01",
    "qSupported": "",
}


def test_malformed_packets_do_not_end_the_session(gdb):
    for packet, answer in PACKETS.items():
        assert f'received: "{answer}"' in gdb.ask(f"maintenance packet {packet}"), packet
    assert "halted" in gdb.ask("monitor status")


def test_console_commands_do_not_end_the_session(machine, gdb):
    """The console restarts, then stops the halted VM without GDB's knowledge; single steps still
    work."""
    gdb.ask("break debuggee_inner", "continue", "delete")
    keyboard(machine, "debuggee")
    for step in ("stepi", "continue"):
        machine.send("\x14r")
        machine.expect(HYPERVISOR, "^debuggee stopped by the console, starts again$", SOON_S)
        said = gdb.ask(step)
        assert "received signal SIGHUP" in said, said
        assert gdb.value("$pc") == 0x80200000
    machine.send("\x14s")
    machine.expect(HYPERVISOR, "^debuggee stopped by the console$", SOON_S)
    said = gdb.ask("stepi")
    assert "exited normally" in said, said
    machine.send("\x14g")
    await_rounds(machine)


def test_after_kill_it_can_be_started(machine, gdb):
    for _ in range(2):
        gdb.ask("kill")
        machine.expect(HYPERVISOR, "^debuggee stopped by the console$", SOON_S)
        said = gdb.ask("starti")
        assert "Program stopped" in said, said
        assert gdb.value("$pc") == 0x80200000
    gdb.ask("kill", "break debuggee_inner")
    said = gdb.ask("run")
    assert "hit Breakpoint" in said, said
    gdb.ask("delete", "kill")
    mark = gdb.start("run")
    machine.skip("debuggee")
    await_rounds(machine, 2)
    gdb.interrupt()
    assert "received signal SIGINT" in gdb.finish(mark)


def test_second_gdb_is_refused(running, gdb):
    machine, place = running
    with Gdb(place, None) as second:
        assert re.search("closed|disconnected", second.ask())
    said = "another GDB is connected already"
    assert machine.wait_until(lambda: said in machine.console.text(""), SOON_S), machine.console.log[-5:]
    assert "halted" in gdb.ask("monitor status")


@pytest.mark.long
def test_watchdog_is_suspended_while_debugging():
    """In virtual time: the watchdog expires after 1.5 s in a VM that pets it every second."""
    system = built("watchdog-debug")
    with debug_server(system, "second", "debug-watchdog") as (machine, place):
        machine.expect("second", "^misbehave: alive 1$", BOOT_S)
        with Gdb(place, None) as gdb:
            gdb.ask()
            before = len(seconds_up(machine))
            assert machine.wait_until(lambda: len(seconds_up(machine)) > before + 1, SOON_S)
            assert "running, halted, started 1 times" in gdb.ask("monitor status")
            gdb.ask("detach")
        before = heartbeats(machine, "second")[-1]
        assert machine.wait_until(lambda: heartbeats(machine, "second")[-1] > before + 1, SOON_S)
        assert states(machine)["second"]["restarts"] == "0"
        keyboard(machine, "second")
        machine.skip(HYPERVISOR)
        machine.send("spin\r")
        machine.expect(HYPERVISOR, "^second stopped by its watchdog, starts again$", SOON_S)


@pytest.mark.long  # waits for pauses of 6 and 12 s
def test_vm_that_waits_for_its_restart_ends_the_session():
    with debug_server(built("watchdog"), "loop", "debug-waits") as (machine, place):
        wait_for_signs_of_life(machine, built("watchdog"))
        keyboard(machine, "loop")
        machine.send("\x14g")
        machine.expect(HYPERVISOR, "^loop stopped by its own reset, starts again in 6400 ms$", SOON_S)
        with Gdb(place, None) as gdb:
            assert re.search("closed|disconnected", gdb.ask())
        said = "the VM waits for its restart"
        assert machine.wait_until(lambda: said in machine.console.text(""), SOON_S), machine.console.log[-5:]
        machine.expect(HYPERVISOR, "^loop stopped by its own reset, starts again in 12800 ms$", SOON_S)
        assert_undisturbed(machine)


@pytest.mark.parametrize(("vm", "why"), [("absent", "no VM of that name"), ("resting", "the VM is stopped")])
def test_a_vm_that_cannot_be_debugged(vm, why):
    with debug_server(built("debug"), vm, f"debug-{vm}") as (machine, place):
        wait_for_signs_of_life(machine, built("debug"))
        with Gdb(place, None) as gdb:
            assert re.search("closed|disconnected", gdb.ask())
        assert machine.wait_until(lambda: why in machine.console.text(""), SOON_S), machine.console.log[-5:]
        assert_undisturbed(machine)


@pytest.mark.long
def test_linux_at_its_virtual_addresses():
    with debug_server(built("demo"), "linux", "debug-linux") as (machine, place):
        wait_for_signs_of_life(machine, built("demo"))
        machine.expect("linux", LINUX_PROMPT, BOOT_S)
        found = ask(machine, "grep ' T vfs_write$' /proc/kallsyms", r"^([0-9a-f]{16}) T vfs_write")
        address = int(found[1], 16)
        with Gdb(place, None) as gdb:
            gdb.ask()
            assert gdb.value("$satp") >> 60 in (8, 9, 10)
            mark = gdb.start(f"break *{address:#x}", "continue")
            machine.send("echo it goes on\r")
            gdb.finish(mark)
            assert gdb.value("$pc") == address
            assert gdb.value("$priv") == 1
            assert gdb.value("$sp") >> 56 == 0xFF
            assert "<" not in gdb.ask("x/4i $pc") and gdb.value("*(unsigned int *)$pc") != 0
            assert_undisturbed(machine)
            for _ in range(20):
                before = gdb.value("$pc")
                gdb.ask("stepi")
                assert gdb.value("$pc") != before
            ra = gdb.value("$ra")
            gdb.ask("delete", f"break *{ra:#x}")
            gdb.ask("continue", "delete", "detach")
        machine.expect("linux", "it goes on", SOON_S)
        machine.expect("linux", LINUX_PROMPT, SOON_S)
        assert ask(machine, "echo $((6 * 7))", r"^(42)$")
        assert "Oops" not in machine.console.text("linux")
        assert_undisturbed(machine)


def await_line(log: Path, line: str, pid: int) -> None:
    """Waits until the machine's log contains the line; `pid` is the debugger's process."""
    limit = Limit(pid, SOON_S)
    while line not in log.read_text(encoding="latin-1") and limit.left() > 0:
        time.sleep(0.1)
    limit.raise_if_too_slow("the debugger")
    assert line in log.read_text(encoding="latin-1")


def await_words(terminal: pexpect.spawn, pattern: str | type[pexpect.EOF]) -> None:
    """Waits for output of the debugger, or for its end."""
    limit = Limit(terminal.pid, SOON_S)
    while terminal.expect([pattern, pexpect.TIMEOUT], timeout=limit.left()) == 1:
        limit.raise_if_too_slow("the debugger")
        assert limit.left() > 0, f"{pattern} was not printed: {terminal.before}"


@pytest.mark.long
def test_make_debug_at_a_terminal(build_system):
    """`make debug`: GDB in the foreground, Ctrl-C on its terminal; no process is left running."""
    build_system("demo")
    log = ROOT / "build" / "debug" / "demo.log"
    words = [str(ROOT / "tools" / "run.py"), "debug", "--system", "demo", "freertos"]
    with pexpect.spawn(sys.executable, words, cwd=ROOT, encoding="latin-1") as terminal:
        for line in ("set style enabled off", "tbreak vTaskDelay", "continue"):
            await_words(terminal, r"\(gdb\) ")
            terminal.sendline(line)
        await_words(terminal, r"Temporary breakpoint 1, vTaskDelay \(")
        await_words(terminal, r"\(gdb\) ")
        terminal.sendline("continue")
        await_words(terminal, "Continuing")
        time.sleep(1)
        terminal.sendintr()
        await_words(terminal, "received signal SIGINT")
        await_words(terminal, r"\(gdb\) ")
        terminal.sendline("kill")
        await_words(terminal, r"\(y or n\) ")
        terminal.sendline("y")
        await_words(terminal, "killed")
        # Quit ends the machine at once.
        await_line(log, "freertos stopped by the console", terminal.pid)
        terminal.sendline("quit")
        await_words(terminal, pexpect.EOF)
        terminal.close()
        assert terminal.exitstatus == 0
    assert "uboot" in log.read_text(encoding="latin-1"), "the console of the other VMs is missing from the log"
