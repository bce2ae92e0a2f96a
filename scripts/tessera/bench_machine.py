# SPDX-License-Identifier: Apache-2.0
"""Runs machines for the benchmark: deterministic, on one hart, until the guests say that they are through."""

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tessera.bench_count import Count, Counter, CountError, read_count
from tessera.bench_parse import is_done
from tessera.machine import HYPERVISOR, Machine
from tessera.runner import BuiltSystem, Qemu, native_command, system_command

ICOUNT = "shift=0,sleep=off"
# The user network's timers make QEMU 7.2 hang in virtual time without sleep.
COUNTED = ("-icount", ICOUNT, "-nic", "none", "-no-reboot")
GUEST_ENTRY = 0x80200000  # of the hypervisor, and of a raw guest natively and in its VM
TIMEOUT_S = 300.0

# What QEMU's device tree for `virt` has and a Tessera VM has not: a native Linux would spend time on these.
_NOT_IN_A_VM = ("pmu", "fw-cfg", "flash", "platform-bus", "rtc", "pci", "virtio_mmio")


class BenchError(Exception):
    """Something a measurement needs is not there or did not happen; the text says what and where."""


@dataclass(frozen=True)
class Consoles:
    """What each VM and the hypervisor said."""

    guests: dict[str, str]
    hypervisor: str


def _last_lines(machine: Machine) -> str:
    lines = [line for line in machine.console.log if line.strip()][-3:]
    return " / ".join(lines) or "(it printed nothing)"


def _run(command: list[str], names: list[str], finished: Callable[[Machine], bool]) -> tuple[Machine, bool]:
    """Runs until `finished` or QEMU's end; the machine, ended, and whether it finished."""
    try:
        with Machine(command, names) as machine:
            return machine, machine.wait_until(lambda: finished(machine), TIMEOUT_S)
    except OSError as error:
        raise BenchError(f"{command[0]} cannot be started: {error.strerror}") from error


def run_system(qemu: Qemu, system: BuiltSystem) -> Consoles:
    """Runs a system of bench guests until all of them are through."""
    names = [*system.names, HYPERVISOR]  # with a second name the console keeps the hypervisor's lines apart
    command = [*system_command(qemu, system), *COUNTED]
    machine, done = _run(command, names, lambda run: all(is_done(run.console.text(vm)) for vm in system.names))
    if not done:
        raise BenchError(f"system '{system.name}' is not through after {machine.seconds:.0f} s: {_last_lines(machine)}")
    return Consoles({vm: machine.console.text(vm) for vm in system.names}, machine.console.text(HYPERVISOR))


def run_native(qemu: Qemu, system: BuiltSystem, vm: str) -> str:
    """Runs the bench guest of a VM without a hypervisor; its console."""
    command = [*native_command(qemu, system, vm), *COUNTED]
    machine, done = _run(command, [vm], lambda run: is_done(run.console.text(vm)))
    if not done:
        raise BenchError(f"'{vm}' is not through natively after {machine.seconds:.0f} s: {_last_lines(machine)}")
    return machine.console.text(vm)


def _count(command: list[str], counter: Counter, sign: str, out: Path) -> Count:
    """Counts a run that ends by power-off after the console has shown `sign`."""
    out.unlink(missing_ok=True)
    counted = [*command, *COUNTED, *counter.arguments(GUEST_ENTRY, out)]
    machine, ended = _run(counted, ["machine"], lambda run: not run.running)
    if not ended or sign not in machine.console.text("machine"):
        raise BenchError(f"no '{sign}' and power-off within {machine.seconds:.0f} s: {_last_lines(machine)}")
    try:
        return read_count(out)
    except CountError as error:
        raise BenchError(str(error)) from error


def count_in_vm(qemu: Qemu, system: BuiltSystem, counter: Counter, out: Path) -> int:
    """Instructions from the first one of the system's only guest to the machine's power-off, hypervisor included."""
    count = _count(system_command(qemu, system), counter, system.vms[0]["sign_of_life"], out)
    if len(count.passed) < 2:
        raise BenchError(f"'{system.name}': the guest's entry {GUEST_ENTRY:#x} was never reached")
    return count.instructions - count.passed[1]  # passed first by the hypervisor's own entry


def count_to_guest(qemu: Qemu, system: BuiltSystem, counter: Counter, out: Path) -> int:
    """Instructions from the hypervisor's first one to the guest's."""
    count = _count(system_command(qemu, system), counter, system.vms[0]["sign_of_life"], out)
    if len(count.passed) < 2:
        raise BenchError(f"'{system.name}': the guest's entry {GUEST_ENTRY:#x} was never reached")
    return count.passed[1] - count.passed[0]


def count_native(qemu: Qemu, system: BuiltSystem, counter: Counter, out: Path) -> int:
    """The same guest natively, on a machine with no more devices than the VM has."""
    vm = system.vms[0]
    tree = out.with_suffix(".dtb")
    command = [*native_command(qemu, system, vm["name"])]
    _write_lean_tree(command, tree)
    count = _count([*command, "-dtb", str(tree)], counter, vm["sign_of_life"], out)
    if not count.passed:
        raise BenchError(f"the kernel's entry {GUEST_ENTRY:#x} was never reached natively")
    return count.instructions - count.passed[0]


def run_tool(command: list[str]) -> str:
    """What a program prints; BenchError if it fails or is not there."""
    try:
        done = subprocess.run(
            command, text=True, capture_output=True, timeout=60, check=False, stdin=subprocess.DEVNULL
        )
    except OSError as error:
        raise BenchError(f"{command[0]} cannot be started: {error.strerror}; `make setup-dev` installs it") from error
    if done.returncode != 0:
        raise BenchError(f"{' '.join(command)}: {done.stderr.strip()[-300:]}")
    return done.stdout


def _write_lean_tree(command: list[str], tree: Path) -> None:
    """QEMU's own device tree for this machine without the devices that no VM has."""
    at = command.index("-M") + 1
    dump = [*command[:at], f"{command[at]},dumpdtb={tree}", *command[at + 1 :], "-nic", "none"]
    run_tool(dump)
    for parent in ("/", "/soc"):
        prefix = parent if parent.endswith("/") else parent + "/"
        nodes = run_tool(["fdtget", "-l", str(tree), parent]).split()
        doomed = [prefix + node for node in nodes if node.split("@")[0] in _NOT_IN_A_VM]
        if doomed:
            run_tool(["fdtput", "-r", str(tree), *doomed])
