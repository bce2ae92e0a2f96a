#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a built system in QEMU, iasim, Spike or the SoC's simulation: with its console on this terminal (run), until all
guests have given their signs of life (smoke), one guest without a hypervisor (native), or one VM under GDB (debug,
debug-server).

QEMU=path selects another QEMU; CPU=flags adds flags of its processor, for instance CPU=sstc=false.
SPIKE=path selects another Spike. FIRMWARE=path selects another firmware, FIRMWARE=opensbi QEMU's own: the default is
the project's own one, with a QEMU before 10.0 OpenSBI.
FLASH=, PCAP=, PINS=, UART= and SCREEN= name other files for a system's shared devices than those beside its image.
"""

import argparse
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType

from tessera.run import debugger, screen
from tessera.run.hosttime import HostTooSlowError, Limit
from tessera.run.machine import FIRMWARE, HYPERVISOR, Machine, die_with_parent, end_process
from tessera.run.runner import (
    ROOT,
    BuiltSystem,
    Qemu,
    RunError,
    find_qemu,
    firmware_warning,
    iasim_command,
    iasim_native_command,
    load_system,
    native_command,
    need_qemu,
    soc_command,
    spike_command,
    system_command,
    turns_notice,
)
from tessera.run.session import FAILURE, Session, Terminals, take_keys, terminal_restored, write_all

SMOKE_TIMEOUT_S = 120.0
TOO_SLOW = 2  # smoke's exit status if the host gave QEMU too little time for a result
REST_OF_LINE_S = 0.3  # a sign of life may be the start of a longer line, which is shown whole


def say(text: str = "") -> None:
    print(text, flush=True)


def interact(command: list[str]) -> int:
    """Runs the command on this terminal; returns its exit status."""
    with terminal_restored():
        take_keys(signals=True)
        process = subprocess.Popen(command, stdout=subprocess.PIPE, bufsize=0, preexec_fn=die_with_parent)
        assert process.stdout is not None
        try:
            while chunk := process.stdout.read(65536):
                write_all(chunk)
            return process.wait()
        except KeyboardInterrupt:
            return 130
        finally:
            end_process(process)


# The files of the shared devices: for each of cosim.FabricOptions, the device, the variable that names another
# one, and the file beside the system's image.
SHARED_FILES = {
    "flash": ("flash", "FLASH", "flash.bin"),
    "pcap": ("ethernet", "PCAP", "ethernet.pcap"),
    "pins": ("gpio", "PINS", "pins.vcd"),
    "uart": ("uart", "UART", "uart.txt"),
    "screen": ("display", "SCREEN", "screen.png"),
}


def shared_files(system: BuiltSystem) -> dict[str, Path]:
    """Returns the files of a system's shared devices; none for a system without such devices."""
    used = (system.data.get("shared_devices") or {}).get("devices", [])
    return {
        name: Path(os.environ.get(variable) or system.image.with_name(file))
        for name, (device, variable, file) in SHARED_FILES.items()
        if device in used
    }


def usable_qemu(system: BuiltSystem | None = None) -> Qemu:
    """Returns the QEMU to use, after a warning if its firmware lets guests escape, and a notice if the harts run in
    turn."""
    qemu = find_qemu()
    for line in filter(None, (firmware_warning(qemu), turns_notice(system) if system else None)):
        print(line, file=sys.stderr)
    return qemu


def start(system: BuiltSystem, *for_iasim: str, **files: Path) -> tuple[list[str], str]:
    """Returns the command that boots the system, and a description of its machine; `files` as in
    system_command()."""
    if system.data["iasim"]:
        return iasim_command(system, *for_iasim), f"the board '{system.data['board']}' of iasim"
    if system.data["spike"]:
        return spike_command(system), f"{system.data['harts']} harts of Spike"
    if system.data["soc"]:
        return soc_command(system), "the SoC's simulation, some 50,000 cycles a second"
    qemu = usable_qemu(system)
    return system_command(qemu, system, **files), f"{system.data['harts']} harts of QEMU (-cpu {qemu.cpu})"


def command_run(system: BuiltSystem, arguments: argparse.Namespace) -> int:
    files = shared_files(system)
    picture = files.get("screen")
    written = files | ({"screen": screen.frames_of(picture)} if picture else {})
    command, machine = start(system, "--real-time", **written)
    say(f"System '{system.name}': {', '.join(system.names)} on {machine}.")
    if files:
        say(f"Shared devices: {', '.join(f'{name} {os.path.relpath(path)}' for name, path in files.items())}.")
    say("The escape key is Ctrl-T: Ctrl-T h shows help, Ctrl-T q quits.")
    status = run_session(command, system, arguments.consoles)
    if picture and screen.save_picture(picture):
        say(f"The screen's last frame: {os.path.relpath(picture)}")
    return status


def run_session(command: list[str], system: BuiltSystem, consoles: str) -> int:
    if consoles == "shared":
        say()
        return Session(command, system).run()
    with Terminals(system) as terminals:
        for name, link in zip(system.names, terminals.links, strict=True):
            say(f"Console of {name}: {link.relative_to(ROOT)} -> {link.readlink()}")
        say()
        return Session(command, system, terminals).run()


def command_native(system: BuiltSystem, arguments: argparse.Namespace) -> int:
    if system.data["iasim"]:
        command, leave_by = iasim_native_command(system, arguments.vm), "Ctrl-C"
    else:
        need_qemu(system, "run without a hypervisor")
        command, leave_by = native_command(usable_qemu(), system, arguments.vm, monitor=True), "Ctrl-A x"
    say(f"'{arguments.vm}' as in system '{system.name}', without a hypervisor. {leave_by} quits.")
    say()
    return interact(command)


def command_smoke(system: BuiltSystem, arguments: argparse.Namespace) -> int:
    awaited = system.awaited()
    if not awaited:
        raise RunError(f"system '{system.name}': no VM that starts by itself has a sign-of-life to wait for")
    command, _ = start(system)
    say(f"smoke: booting '{system.name}', waiting up to {arguments.timeout:.0f} s for {', '.join(awaited)}")
    # With the hypervisor's name, its lines and the firmware's do not count as those of the only VM.
    with Machine(command, [*system.names, HYPERVISOR]) as machine:
        try:
            silent = wait_for_signs_of_life(machine, awaited, arguments.timeout)
        except HostTooSlowError as error:
            say(f"smoke: {error}; no result for the guests that have not answered yet")
            return TOO_SLOW
        if not silent:
            say(f"smoke: all {len(awaited)} VMs of '{system.name}' are alive")
            return 0
        report_silence(machine, silent, awaited)
        return 1


def command_debug(system: BuiltSystem, arguments: argparse.Namespace) -> int:
    system.vm(arguments.vm)
    need_qemu(system, "debugger")
    log = ROOT / "build" / "debug" / f"{system.name}.log"
    output = log.relative_to(ROOT)
    say(f"GDB on '{arguments.vm}' of system '{system.name}'; the others run. The console's output: {output}")
    say("`monitor help` lists the commands in addition to GDB's own.")
    say()
    signal.signal(signal.SIGINT, lambda number, frame: None)  # GDB handles it; SIG_IGN would be inherited by GDB
    return debugger.debug(system_command(usable_qemu(system), system), system, arguments.vm, log)


def command_debug_server(system: BuiltSystem, arguments: argparse.Namespace) -> int:
    system.vm(arguments.vm)
    need_qemu(system, "debugger")
    listen = debugger.own_socket(system) if arguments.listen is None else arguments.listen
    debugger.check_place(listen)
    place = f":{listen}" if listen.isdigit() else listen
    say(f"A GDB server for '{arguments.vm}' of system '{system.name}', for instance:")
    say(f"    gdb-multiarch -ex 'set remotetimeout 60' -ex 'target extended-remote {place}' the-guest.elf")
    say("The escape key is Ctrl-T: Ctrl-T h shows help, Ctrl-T q quits.")
    say()
    return debugger.serve(system_command(usable_qemu(system), system), arguments.vm, listen)


def wait_for_signs_of_life(machine: Machine, awaited: dict[str, str], timeout: float) -> list[str]:
    """Waits for each sign of life and reports it; returns the VMs that gave none."""
    silent = list(awaited)
    width = max(map(len, awaited))

    def news() -> bool:
        return any(machine.console.said(name, awaited[name]) for name in silent)

    limit = Limit(machine.process.pid, timeout)
    while silent and machine.wait_until(news, limit.seconds - limit.served):
        seconds = machine.seconds
        time.sleep(REST_OF_LINE_S)
        for name in list(silent):
            if line := machine.console.said(name, awaited[name]):
                say(f"smoke: {name:<{width}} {seconds:6.1f} s  {line.strip()}")
                silent.remove(name)
    return silent


def report_silence(machine: Machine, silent: list[str], awaited: dict[str, str]) -> None:
    """Reports the cause: the hypervisor's error message, else the silent VMs and the last lines of
    each console."""
    errors = [line for line in machine.console.text(HYPERVISOR).split("\n") if FAILURE.match(f"{HYPERVISOR}|{line}")]
    for line in errors:
        say(f"smoke: FAILED: {HYPERVISOR}: {line}")
    if errors:
        return
    report_last_lines(machine, silent, awaited)


def report_last_lines(machine: Machine, silent: list[str], awaited: dict[str, str]) -> None:
    within = f"within {machine.seconds:.0f} s ({machine.last_wait})"
    what = within if machine.running else f"before QEMU ended (status {machine.status()})"
    for name in silent:
        say(f"smoke: FAILED: {name} did not say '{awaited[name]}' {what}; its last lines:")
        for line in machine.console.last(name) or ["(it said nothing)"]:
            say(f"    {name} | {line}")
    for name in (HYPERVISOR, FIRMWARE):
        for line in machine.console.last(name, 8):
            say(f"    {name or 'firmware'} | {line}")


PRIVATE = 0o077  # umask: consoles, frames, the flash and the debugger's socket are for this user alone
ENDING = (signal.SIGTERM, signal.SIGHUP)


def leave(number: int, frame: FrameType | None) -> None:
    """Ends the program on a signal, after QEMU has ended and the terminal is restored. Further
    signals are ignored."""
    for other in ENDING:
        signal.signal(other, signal.SIG_IGN)
    sys.exit(128 + number)


def main() -> int:
    os.umask(PRIVATE)
    for number in ENDING:
        if signal.getsignal(number) != signal.SIG_IGN:  # ignored under nohup, for instance
            signal.signal(number, leave)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="with the console on this terminal")
    run.add_argument("--consoles", choices=["shared", "pty"], default="shared", help="pty: a pseudo terminal per VM")
    smoke = commands.add_parser("smoke", help="headless, until every VM has given its sign of life")
    smoke.add_argument("--timeout", type=float, default=SMOKE_TIMEOUT_S, help="seconds (%(default)s)")
    native = commands.add_parser("native", help="one guest alone, without a hypervisor")
    native.add_argument("vm", help="the VM whose guest to boot")
    debug = commands.add_parser("debug", help="GDB on one VM, on this terminal")
    server = commands.add_parser("debug-server", help="with the console on this terminal, and a server for GDB")
    server.add_argument("--listen", help="the path of a socket (build/debug/<system>.gdb), or a TCP port")
    for command in (debug, server):
        command.add_argument("vm", help="the VM to debug")
    for command, function in (
        (run, command_run),
        (smoke, command_smoke),
        (native, command_native),
        (debug, command_debug),
        (server, command_debug_server),
    ):
        command.add_argument("--system", default="demo", help="name of the built system (%(default)s)")
        command.set_defaults(function=function)
    arguments = parser.parse_args()
    try:
        return int(arguments.function(load_system(arguments.system), arguments))
    except RunError as error:
        print(f"{arguments.command}: error: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
