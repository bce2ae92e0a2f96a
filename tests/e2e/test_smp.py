# SPDX-License-Identifier: Apache-2.0
"""Linux with two VCPUs: on two harts, and on one that they share."""

import re

import pytest
from helpers import BOOT_S, LINUX_PROMPT, SOON_S, ask, booted_linux, states

from tessera.run.hosttime import Limit
from tessera.run.machine import HYPERVISOR

PIPE_S = 60
TIMES = 10  # times that a processor is taken offline and online
STARTED, STOP_PENDING = "0", "3"  # states of a hart, RISC-V SBI 2.0, section 9
# Two computing processes and a pipe between two further processes: both VCPUs are busy and
# interrupt each other.
LOAD = (
    "for i in 1 2; do (n=0; while [ $n -lt 50000 ]; do n=$((n + 1)); done; echo worker$i=$n) & done; "
    "seq 2000 | tail -n1 | sed s/^/piped=/; wait; echo all-$((6 * 7))-done"
)


@pytest.fixture(scope="module", params=["linux-smp", pytest.param("linux-smp-one-hart", marks=pytest.mark.long)])
def machine(request):
    with booted_linux(request.param) as machine:
        yield machine


def test_linux_sees_two_processors(machine):
    ask(machine, "grep -c ^processor /proc/cpuinfo", r"^2$")
    ask(machine, "cat /sys/devices/system/cpu/online", r"^0-1$")
    assert "2 CPUs" in machine.console.text("linux")
    machine.skip(HYPERVISOR)
    row = states(machine)["linux"]
    assert (row["state"], row["vcpus"]) == ("running", "2/2")


def test_both_processors_are_used(machine):
    ask(machine, LOAD, r"^all-42-done$")
    text = machine.console.text("linux")
    for sign in ("worker1=50000", "worker2=50000", "piped=2000"):
        assert re.search(rf"^{sign}$", text, re.MULTILINE), text[-1500:]
    used = ask(machine, "grep ^cpu[01] /proc/stat", r"^cpu0 (\d+) \d+ (\d+) .*\n(?:.*\n)*?cpu1 (\d+) \d+ (\d+) ")
    busy = [int(used[1]) + int(used[2]), int(used[3]) + int(used[4])]
    assert min(busy) > 10, f"busy ticks of each processor: {busy}"
    # Each VCPU received inter-processor interrupts.
    found = ask(machine, "grep -i resched /proc/interrupts", r"IPI0:\s+(\d+)\s+(\d+) ")
    assert int(found[1]) > 0, found[0]
    assert int(found[2]) > 0, found[0]


def test_pipe_between_processors_is_fast(machine):
    """
    20,000 lines go through a pipe, with a wake-up each: two seconds on two harts. If a woken VCPU
    had to wait for the other VCPU's quantum while a hart is idle, this would take two minutes. On
    one hart this wait cannot be avoided.
    """
    lines = 20000 if machine.command[machine.command.index("-smp") + 1] == "2" else 500
    machine.skip("linux")
    machine.send(f"seq {lines} | tail -n1 | sed s/^/last=/\r")
    machine.expect("linux", rf"^last={lines}$", PIPE_S)
    machine.expect("linux", LINUX_PROMPT, BOOT_S)


def test_processor_offline_and_online(machine):
    """
    By HSM's stop, status and start, ten times. Linux queries the status once, after the processor
    has announced that it is about to call hart_stop. If the host delays that processor's thread,
    Linux prints a warning, also natively (once in 400 with both harts and three loops on one host
    processor). Only a few such warnings are accepted.
    """
    online = "/sys/devices/system/cpu/cpu1/online"
    ask(
        machine,
        f"for i in $(seq {TIMES}); do echo 0 >{online}; echo 1 >{online}; done; echo again-$((6 * 7))",
        r"^again-42$",
    )
    ask(machine, "cat /sys/devices/system/cpu/online", r"^0-1$")
    text = machine.console.text("linux")
    for sign in ("failed to start", "failed to come online"):
        assert sign not in text, text[-3000:]
    early = re.findall(r"HART1 isn't stopped; status (\d+)", text)
    assert len(early) <= TIMES // 3, text[-3000:]
    assert set(early) <= {STARTED, STOP_PENDING}, text[-3000:]


def test_offline_processor_is_stopped(machine):
    online = "/sys/devices/system/cpu/cpu1/online"
    for value, vcpus in ((0, "1/2"), (1, "2/2")):
        ask(machine, f"echo {value} >{online}; echo set-$((6 * 7))", r"^set-42$")
        limit = Limit(machine.process.pid, SOON_S)
        while (found := states(machine)["linux"]["vcpus"]) != vcpus:
            assert limit.left() > 0, f"{found}: {limit.words()}"


def test_no_kernel_warnings(machine):
    text = machine.console.text("linux")
    for sign in ("rcu_sched", "soft lockup", "BUG:", "Oops", "Call Trace", "clocksource: timekeeping watchdog"):
        assert sign not in text, text[-3000:]


def test_poweroff_ends_the_machine(machine):
    """The last test, since it ends the shared machine."""
    machine.skip(HYPERVISOR)
    machine.send("poweroff\r")
    machine.expect(HYPERVISOR, r"^linux stopped by its own shutdown$", SOON_S)
    assert machine.status(SOON_S) == 0
