# SPDX-License-Identifier: Apache-2.0
"""
The hypervisor without any component (HYP_COMPONENTS=): Linux on one hart, small guests that fault
on two, on a console without names, keys and filter.
"""

import re

import pytest
from helpers import BOOT_S, OUT, SOON_S, boot_command, built, hypervisor_with

from tessera.run.machine import Machine

ALL = "console"  # the name under which Machine gives all output of a console without names


@pytest.fixture(scope="module")
def bare():
    return hypervisor_with("")


def started(system, label):
    return Machine(boot_command(system), [ALL], OUT / f"no-components-{label}.log")


def test_linux_boots_executes_commands_and_powers_off(bare):
    system = built("linux", hypervisor=bare, components="")
    with started(system, "linux") as machine:
        machine.expect(ALL, r"^Tessera on qemu-virt: system linux, 1 VMs on 1 harts", BOOT_S)
        machine.expect(ALL, r"^tessera: linux is up", BOOT_S)
        machine.expect(ALL, r"^linux:~# ", BOOT_S)
        machine.send("ls /proc/device-tree /proc/device-tree/soc; expr 6 '*' 7; poweroff\r")
        machine.expect(ALL, r"^42$", SOON_S)
        machine.expect(ALL, r"^linux stopped by its own shutdown$", BOOT_S)
        machine.expect(ALL, r"^all VMs are stopped: power off$", SOON_S)
        assert machine.status(SOON_S) == 0
        text = machine.console.text(ALL)
        assert "rtc@" not in text and "test@" not in text  # devices of `compat`
        assert "Oops" not in text


def test_faults_of_a_vm_restart_it_and_disturb_no_other(bare):
    system = built("trio", hypervisor=bare, components="")
    with started(system, "trio") as machine:
        # A line that comes again: without `console`, other VMs' characters can come in between.
        machine.expect(ALL, r"freertos: up", BOOT_S)
        machine.wait_until(lambda: machine.console.text(ALL).count("misbehave: alive 1") == 2, BOOT_S)
        machine.skip(ALL)
        machine.send("fatal\r")  # typed characters reach the VM with the keyboard
        machine.expect(ALL, r"^first stopped by a fatal trap, starts again$", SOON_S)
        machine.expect(ALL, r"misbehave: alive 0", SOON_S)
        machine.expect(ALL, r"freertos: up", SOON_S)
        assert not re.search(r"self-check failed|error:", machine.console.text(ALL))
