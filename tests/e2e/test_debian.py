# SPDX-License-Identifier: Apache-2.0
"""Debian with systemd on a virtual disk, to its login: `make run SYSTEM=debian`."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers import BOOT_S, ROOT, booted, built, wait_for_signs_of_life

from tessera.run.machine import Machine
from tessera.run.runner import BuiltSystem

pytestmark = pytest.mark.long  # a minute; Debian's kernel boots in test_network.py, U-Boot finds a disk in test_disk.py
VM = "debian"
PROMPT = r"^root@tessera:~# "
# Files of packages that the machine runs or reads.
FILES = ("systemd/usr/lib/systemd/systemd", "dbus-daemon/usr/bin/dbus-daemon", "base-files/etc/debian_version")


@pytest.fixture(scope="module")
def system() -> BuiltSystem:
    return built("debian")


@pytest.fixture(scope="module")
def machine(system: BuiltSystem) -> Iterator[Machine]:
    with booted(system, "debian") as machine:
        machine.console.shared = True  # the lines have the VM's name
        wait_for_signs_of_life(machine, system, 2 * BOOT_S)
        yield machine


def ask(machine: Machine, line: str, answer: str) -> str:
    """Runs a command; returns the group of `answer` in its output."""
    machine.skip(VM)
    machine.send(f"{line}\r")
    found = machine.expect(VM, answer, BOOT_S)
    machine.expect(VM, PROMPT, BOOT_S)
    return found[1]


def test_every_unit_is_up(machine):
    """multi-user.target is reached, and no unit has failed."""
    ask(machine, "systemctl is-system-running --wait", r"^(running)$")
    ask(machine, "systemctl is-active multi-user.target dbus systemd-logind systemd-udevd | sort -u", r"^(active)$")
    ask(machine, "systemctl --failed --no-legend --no-pager | wc -l", r"^(0)$")


def test_a_slow_host_has_time(machine):
    """systemd waits longer for the terminal than its default of 90 s, which a busy host may need."""
    ask(machine, "systemctl show -p DefaultDeviceTimeoutUSec -p DefaultTimeoutStartUSec --value | uniq", r"^(30min)$")


def test_root_is_the_disk(machine, system):
    ask(machine, "findmnt -no SOURCE,FSTYPE,OPTIONS / | tr -s ' '", r"^(/dev/vda1 ext4 rw\S*)$")
    [disk] = [function["disk"] for function in system.data["vms"][0]["functions"] if function["disk"]]
    assert int(ask(machine, "cat /sys/block/vda/size", r"^(\d+)$")) * 512 == disk["size"]


def test_files_are_those_of_the_packages(machine):
    for file in FILES:
        _, _, path = file.partition("/")
        content = Path(ROOT, "cache", "pkg", file).read_bytes()
        assert ask(machine, f"sha256sum /{path}", r"^([0-9a-f]{64}) ") == hashlib.sha256(content).hexdigest()


def test_a_user_is_created_and_kept(machine):
    """Writes to the file system by systemd at the first boot, and by a program."""
    ask(machine, "grep -c ^messagebus: /etc/passwd", r"^(1)$")
    ask(machine, "echo kept >/root/file; sync; cat /root/file", r"^(kept)$")


def test_reboot(machine):
    """systemd stops, and the VM boots again from the same disk."""
    ask(machine, "echo kept >/root/file; sync; cat /root/file", r"^(kept)$")
    machine.skip(VM)
    machine.send("systemctl reboot\r")
    machine.expect(VM, r"tessera: linux is up", BOOT_S)
    machine.expect(VM, PROMPT, 2 * BOOT_S)
    ask(machine, "cat /root/file", r"^(kept)$")
    ask(machine, "systemctl is-system-running --wait", r"^(running)$")
