# SPDX-License-Identifier: Apache-2.0
"""Runs machines for the benchmark: deterministically, on one hart, until the guests report the end
of their work."""

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tessera.bench.count import Count, Counter, CountError, Interval, read_count
from tessera.bench.parse import is_done
from tessera.run.machine import HYPERVISOR, Machine, MachineTimeoutError
from tessera.run.runner import BuiltSystem, Qemu, native_command, system_command
from tessera.run.virtualtime import By, virtual_time
from tessera.trace.ring import TraceError
from tessera.trace.take import Qmp

COUNTED = (*virtual_time(By.COMMAND), "-no-reboot")
GUEST_ENTRY = 0x80200000  # of the hypervisor, and of a raw guest in its VM
TIMEOUT_S = 300.0


class BenchError(Exception):
    """A requirement of a measurement is missing, or an expected event did not occur; the text gives
    the details."""


@dataclass(frozen=True)
class Consoles:
    """The output of each VM and of the hypervisor."""

    guests: dict[str, str]
    hypervisor: str


def _last_lines(machine: Machine) -> str:
    lines = [line for line in machine.console.log if line.strip()][-3:]
    return " / ".join(lines) or "(it printed nothing)"


def _run(command: list[str], names: list[str], finished: Callable[[Machine], bool]) -> tuple[Machine, bool]:
    """Runs until `finished` or the end of QEMU; returns the ended machine, and whether `finished`
    was reached."""
    try:
        with Machine(command, names) as machine:
            return machine, machine.wait_until(lambda: finished(machine), TIMEOUT_S)
    except OSError as error:
        raise BenchError(f"{command[0]} cannot be started: {error.strerror}") from error


def run_system(qemu: Qemu, system: BuiltSystem, *, change: Callable[[list[str]], list[str]] = list) -> Consoles:
    """Runs a system of bench guests until all of them have finished. `change` is applied to its own command."""
    names = [*system.names, HYPERVISOR]  # with a second name, the console separates the hypervisor's lines
    command = [*change(system_command(qemu, system)), *COUNTED]
    machine, done = _run(command, names, lambda run: all(is_done(run.console.text(vm)) for vm in system.names))
    if not done:
        raise BenchError(
            f"system '{system.name}' has not finished after {machine.seconds:.0f} s: {_last_lines(machine)}"
        )
    return Consoles({vm: machine.console.text(vm) for vm in system.names}, machine.console.text(HYPERVISOR))


def with_options(command: list[str], *options: str) -> list[str]:
    """Returns QEMU's command with further options of the simulated fabric (docs/fabric.md)."""
    at = command.index("-plugin") + 1
    return [*command[:at], ",".join([command[at], *options]), *command[at + 1 :]]


def run_until(
    qemu: Qemu,
    system: BuiltSystem,
    vm: str,
    sign: str,
    seconds: float,
    *arguments: str,
    change: Callable[[list[str]], list[str]] = list,
) -> str:
    """
    Runs a system, with further arguments for QEMU, until a VM's output matches the regular
    expression; returns this output. `change` is applied to the system's own command. QEMU ends by itself, so that its
    plugins write their records.
    """
    names = [*system.names, HYPERVISOR]
    try:
        with TemporaryDirectory() as folder:
            control = Path(folder) / "qmp"
            socket = ("-qmp", f"unix:{control},server=on,wait=off")
            with Machine([*change(system_command(qemu, system)), *COUNTED, *socket, *arguments], names) as machine:
                qmp = Qmp(control)
                machine.expect(vm, sign, seconds)
                qmp.quit()
                machine.wait_until(lambda: not machine.running, TIMEOUT_S)
                return machine.console.text(vm)
    except (MachineTimeoutError, TraceError) as error:
        raise BenchError(f"system '{system.name}': {error}") from error
    except OSError as error:
        raise BenchError(f"{qemu.program} cannot be started: {error.strerror}") from error


def run_native(qemu: Qemu, system: BuiltSystem, vm: str, *arguments: str) -> str:
    """Runs the bench guest of a VM without a hypervisor, with further arguments for QEMU; returns its output."""
    command = [*native_command(qemu, system, vm), *COUNTED, *arguments]
    machine, done = _run(command, [vm], lambda run: is_done(run.console.text(vm)))
    if not done:
        raise BenchError(f"'{vm}' has not finished natively after {machine.seconds:.0f} s: {_last_lines(machine)}")
    return machine.console.text(vm)


def count_to_power_off(
    command: list[str], counter: Counter, address: int, sign: str, out: Path, interval: Interval | None = None
) -> Count:
    """Counts the instructions and the passes of `address` of a run that prints `sign` and then
    powers off."""
    out.unlink(missing_ok=True)
    counted = [*command, *COUNTED, *counter.arguments(address, out, interval)]
    machine, ended = _run(counted, ["machine"], lambda run: not run.running)
    if not ended or sign not in machine.console.text("machine"):
        raise BenchError(f"no '{sign}' and power-off within {machine.seconds:.0f} s: {_last_lines(machine)}")
    try:
        return read_count(out)
    except CountError as error:
        raise BenchError(str(error)) from error


def count_system(qemu: Qemu, system: BuiltSystem, counter: Counter, out: Path) -> tuple[int, int]:
    """
    Returns the instructions of a system with one guest: from the hypervisor's first instruction to
    the guest's first one, and from there to the machine's power-off, hypervisor included.
    """
    sign = system.vms[0]["sign_of_life"]
    count = count_to_power_off(system_command(qemu, system), counter, GUEST_ENTRY, sign, out)
    if len(count.passed) < 2:  # the hypervisor's entry has the same address and is passed first
        raise BenchError(f"'{system.name}': the guest's entry {GUEST_ENTRY:#x} was never reached")
    return count.passed[1] - count.passed[0], count.instructions - count.passed[1]


def function(elf: Path, name: str) -> tuple[int, int]:
    """Returns the first address and the end address of a function in an ELF file."""
    for line in run_tool(["riscv64-unknown-elf-nm", "-S", str(elf)]).splitlines():
        words = line.split()
        if len(words) == 4 and words[3].partition(".")[0] == name:  # the compiler may append a suffix such as .part
            return int(words[0], 16), int(words[0], 16) + int(words[1], 16)
    raise BenchError(f"{elf}: expected a function {name}")


def count_restarts(qemu: Qemu, system: BuiltSystem, counter: Counter, interval: Interval, out: Path) -> list[int]:
    """
    Returns, for each restart, the instructions from the last one of a guest that hangs at
    `interval.last` to its first one after the restart. The guest is alone in the system and powers
    the machine off at the end.
    """
    sign = system.vms[0]["sign_of_life"]
    count = count_to_power_off(system_command(qemu, system), counter, GUEST_ENTRY, sign, out, interval)
    if len(count.passed) < 3:  # the hypervisor's entry, the guest's first entry, and those of restarts
        raise BenchError(f"'{system.name}': the guest was never restarted")
    return count.since[2:]


def run_tool(command: list[str]) -> str:
    """Returns the output of a program; raises BenchError if it fails or is missing."""
    try:
        done = subprocess.run(
            command, text=True, capture_output=True, timeout=60, check=False, stdin=subprocess.DEVNULL
        )
    except OSError as error:
        raise BenchError(f"{command[0]} cannot be started: {error.strerror}; `make setup-dev` installs it") from error
    if done.returncode != 0:
        raise BenchError(f"{' '.join(command)}: {done.stderr.strip()[-300:]}")
    return done.stdout
