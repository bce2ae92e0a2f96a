# SPDX-License-Identifier: Apache-2.0
"""
The hypervisor's panic message. No guest can cause a panic, so GDB causes one through QEMU: it
corrupts the stack pointer or the program counter at a breakpoint in the hypervisor.
"""

import re
import time

import pytest
from helpers import ERROR_S, HYPERVISOR_BIN, OUT, built

from tessera.run import hosttime
from tessera.run.machine import HYPERVISOR, Machine
from tessera.run.runner import find_qemu, system_command

STACK = 4096
# In the hypervisor: the guests have code at the same addresses, but no page tables.
IN_HYPERVISOR = "$satp != 0"


def spoil(socket, place, *commands):
    """Stops the machine at a function of the hypervisor, executes the GDB commands, and
    continues."""
    elf = HYPERVISOR_BIN.with_suffix(".elf")
    lines = [f"target remote {socket}", f"hbreak {place} if {IN_HYPERVISOR}", "continue", *commands, "delete", "detach"]
    words = ["gdb-multiarch", "-nx", "-batch", str(elf)]
    for line in lines:
        words += ["-ex", line]
    done = hosttime.run(words, ERROR_S)
    assert b"Breakpoint 1," in done.stdout, (done.stdout + done.stderr).decode()


@pytest.mark.parametrize(
    ("place", "fault", "cause"),
    [
        # the next push hits the unmapped guard page below the stack
        ("sched_run", f"set $sp = (long)$sp & -{STACK}", 15),
        ("sched_run", "set $sp = 8", 15),
        ("sched_run", "set $pc = 0", 12),
        # with the console's lock held
        ("sched_find_runnable", "set $pc = 0", 12),
        ("out_send", "set $pc = 0", 12),
        ("out_send", f"set $sp = (long)$sp & -{STACK}", 15),
    ],
)
def test_panic_reports_the_cause_and_powers_off(place, fault, cause, tmp_path):
    system = built("trio")
    socket = tmp_path / "gdb"
    words = [*system_command(find_qemu(), system), "-S", "-chardev", f"socket,path={socket},server=on,wait=off,id=gdb"]
    with Machine([*words, "-gdb", "chardev:gdb"], system.names, OUT / "panic.log") as machine:
        while not socket.exists():
            assert machine.running
            time.sleep(0.1)
        spoil(socket, place, fault)
        said = machine.expect(
            HYPERVISOR,
            r"^error: the hypervisor itself trapped: cause (\d+) at 0x([0-9a-f]+), address 0x[0-9a-f]+, stack 0x",
            ERROR_S,
        )
        assert int(said[1]) == cause
        assert machine.status(ERROR_S) == 1
        assert len(re.findall("itself trapped", machine.console.text(HYPERVISOR))) == 1
