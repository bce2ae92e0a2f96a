# SPDX-License-Identifier: Apache-2.0
"""
Networks and disks of the machine, passed through to Linux (systems/passthrough.dts): one VM has them in virtio-mmio
slots, the other one as functions of the machine's PCI bus. The tests are in an order: the last ones restart VMs and the
machine.
"""

import copy
import os
import re
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers import BOOT_S, ERROR_S, SOON_S, booted, built, command, keyboard, wait_for_signs_of_life
from host_network import services, ssh, web_server, with_free_ports

from tessera.run.machine import HYPERVISOR, Machine
from tessera.run.runner import BuiltSystem

HOST = "10.0.2.254"  # the host's address in the networks
DISKS = {"slots": "/dev/vda", "functions": "/dev/nvme0n1"}
FILES = {"slots": "slot-disk.img", "functions": "function-disk.img"}
DISK_BYTES = 16 << 20
BYTES = 1_500_000  # of data that are transferred, not a number of sectors
NAMES = tuple(DISKS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A folder with the disks' files."""
    folder = tmp_path_factory.mktemp("disks")
    for file in FILES.values():
        (folder / file).write_bytes(bytes(DISK_BYTES))
    return folder


@pytest.fixture(scope="module")
def system(folder) -> BuiltSystem:
    """The system with these files."""
    system = with_free_ports(built("passthrough"))
    arguments = system.data["qemu"]["arguments"]
    arguments[:] = [re.sub(r"file=\S*/(\w+-disk\.img)$", rf"file={folder}/\1", word) for word in arguments]
    return system


class Guests:
    """Both VMs, each with an SSH server behind a port of the host."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.ports = {}
        for service, port in services(machine.process.pid):
            assert service == "ssh"
            found = ssh(port, "ls /dev").decode().split()
            self.ports["functions" if "nvme0n1" in found else "slots"] = port
        assert set(self.ports) == set(NAMES)

    def run(self, name: str, line: str, data: bytes = b"") -> bytes:
        return ssh(self.ports[name], line, data)


def word_of(monitor: Path, address: int) -> int:
    """32 bits at a host-physical address, from QEMU's monitor."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(SOON_S)
        connection.connect(str(monitor))
        connection.sendall(f"xp /1wx {address:#x}\n".encode())
        said = b""
        while not (found := re.search(rb"\n[0-9a-f]+: 0x([0-9a-f]{8})\r", said)):
            said += connection.recv(4096)
        return int(found[1], 16)


def guests_of(system: BuiltSystem, label: str, *arguments: str) -> Iterator[Guests]:
    with booted(system, label, *arguments) as machine:
        wait_for_signs_of_life(machine, system)
        yield Guests(machine)


@pytest.fixture(scope="module")
def guests(system: BuiltSystem, folder: Path) -> Iterator[Guests]:
    yield from guests_of(system, "passthrough-linux", "-monitor", f"unix:{folder}/monitor,server=on,wait=off")


def write_disk(guests: Guests, name: str) -> bytes:
    """New data at the beginning of the VM's disk, in the host's file when this returns."""
    data = os.urandom(BYTES)
    guests.run(name, f"cat >{DISKS[name]} && sync", data)
    return data


def check_web(guests: Guests, name: str, folder: Path) -> None:
    """A file of the host's web server reaches the VM."""
    data = os.urandom(BYTES)
    (folder / "file").write_bytes(data)
    with web_server(folder) as port:
        assert guests.run(name, f"wget -qO- http://{HOST}:{port}/file") == data


def test_function_that_the_machine_does_not_have(system):
    """The hypervisor says which, and does not boot. Before the machine that has it, which locks the disks' files."""
    lacking = copy.deepcopy(system)
    arguments = lacking.data["qemu"]["arguments"]
    at = next(number for number, word in enumerate(arguments) if word.startswith("nvme,"))
    del arguments[at - 3 : at + 1]
    with booted(lacking, "passthrough-lacking") as machine:
        wrong = r"^error: cannot set up the system: the machine does not have this PCI function$"
        machine.expect(HYPERVISOR, wrong, ERROR_S)
        # Firmware of newer QEMUs may not end its last line.
        named = "PCI function 00:02.0 of the machine, for VM functions:"
        assert any(line.endswith(named) for line in machine.console.log)
        assert machine.status(ERROR_S) == 1


@pytest.mark.parametrize("name", NAMES)
def test_servers_of_the_host(guests, name, tmp_path):
    check_web(guests, name, tmp_path)


@pytest.mark.parametrize("name", NAMES)
def test_files_from_the_host(guests, name):
    """Through SSH, whose checksums would end the connection if a frame were wrong."""
    data = os.urandom(BYTES)
    guests.run(name, "cat >/tmp/got", data)
    assert guests.run(name, "cat /tmp/got") == data


@pytest.mark.parametrize("name", NAMES)
def test_what_is_written_is_in_the_file_of_the_host(guests, folder, name):
    data = write_disk(guests, name)
    assert (folder / FILES[name]).read_bytes() == data + bytes(DISK_BYTES - BYTES)


def test_interrupts_of_functions(guests):
    """Each function has its line: the VM's sources 24 and 25. Without MSI, which a VM does not have."""
    lines = guests.run("functions", "cat /proc/interrupts").decode().splitlines()
    counts = {source: sum(map(int, re.findall(rf"^ *\d+: +(\d+) .* {source} Edge", "\n".join(lines), re.MULTILINE)))
              for source in (24, 25)}  # fmt: skip
    assert all(counts.values()), lines
    assert not re.search("MSI", "\n".join(lines))


def test_functions_that_linux_finds(guests):
    """Both functions of the machine and one of the hypervisor; BARs where the VM has its windows."""
    listed = "for f in /sys/bus/pci/devices/*; do echo ${f##*/} $(cat $f/vendor $f/device); cat $f/resource; done"
    text = guests.run("functions", listed).decode()
    assert re.findall(r"^(0000:\S+) 0x(\w+) 0x(\w+)$", text, re.MULTILINE) == [
        ("0000:00:00.0", "1af4", "1041"),
        ("0000:00:01.0", "1b36", "0010"),
        ("0000:00:02.0", "1af4", "1042"),
    ]
    bars = [int(start, 16) for start in re.findall(r"^0x0*(4\w+) ", text, re.MULTILINE)]
    assert bars == [0x41000000, 0x41004000, 0x41200000, 0x40008000]


def test_function_of_the_hypervisor_on_the_same_bus(guests):
    """Its addresses are the VM's, those of the other functions the machine's: Linux's drivers know."""
    data = os.urandom(BYTES)
    guests.run("functions", "cat >/dev/vda && sync && echo 3 >/proc/sys/vm/drop_caches", data)
    assert guests.run("functions", f"head -c {BYTES} /dev/vda") == data


# Registers of the functions, at host-physical addresses: the command register of both; device_status of the network,
# CC of the disk, whose bit 0 enables it; a BAR of each.
COMMANDS = (0x30008004, 0x30010004)
STATUS, CC = 0x40004014, 0x40200014
BARS = {0x30008020: 0x4000400C, 0x30010010: 0x40200004}
MASTER = 4


def test_stop_ends_dma(guests, folder):
    """The functions are reset, and cannot access memory until the VM's next guest lets them; BARs stay."""

    def state() -> tuple[list[bool], int, int]:
        return [look(at) & MASTER != 0 for at in COMMANDS], look(STATUS) & 0xFF, look(CC) & 1

    def look(address: int) -> int:
        return word_of(folder / "monitor", address)

    assert state() == ([True, True], 0xF, 1)
    keyboard(guests.machine, "functions")
    command(guests.machine, "s")
    guests.machine.expect(HYPERVISOR, r"^functions stopped by the console$", SOON_S)
    assert state() == ([False, False], 0, 0)
    assert {at: look(at) for at in BARS} == BARS
    guests.machine.skip("functions")
    command(guests.machine, "g")
    guests.machine.expect("functions", "network: ready", BOOT_S)
    assert state() == ([True, True], 0xF, 1)


def test_vm_restarts_during_dma(guests, tmp_path):
    """Frames that were on their way damage nothing in the next life of the VM, and its functions work again. The disk
    is idle: QEMU 7.2's nvme does not survive a reset under load (CAVEATS.md)."""
    written = write_disk(guests, "functions")
    (tmp_path / "file").write_bytes(bytes(BYTES))
    with web_server(tmp_path) as port:
        loop = f"while :; do wget -qO- http://{HOST}:{port}/file; done"
        guests.run("functions", f"({loop}) >/dev/null 2>&1 &")
        keyboard(guests.machine, "functions")
        guests.machine.skip("functions")
        command(guests.machine, "r")
        guests.machine.expect(HYPERVISOR, r"^functions .*starts again$", BOOT_S)
        guests.machine.expect("functions", "network: ready", BOOT_S)
    check_web(guests, "functions", tmp_path)
    assert guests.run("functions", f"head -c {BYTES} /dev/nvme0n1") == written
    assert not re.search(r"Oops|BUG:|Call Trace", guests.machine.console.text("functions"))


@pytest.mark.long
def test_disks_outlive_the_machine(guests, system):
    """A second machine with the same files."""
    written = {name: write_disk(guests, name) for name in NAMES}
    guests.machine.close()
    for again in guests_of(system, "passthrough-linux-again"):
        for name in NAMES:
            assert again.run(name, f"head -c {BYTES} {DISKS[name]}") == written[name]
