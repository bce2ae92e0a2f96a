# SPDX-License-Identifier: Apache-2.0
"""
QEMU's virtual time: an instruction takes one nanosecond, and a sleeping hart takes no time of the
host.

When all harts sleep, QEMU advances its clock to the next deadline. The deadline of a timer that is
not set is the clock's end, after 292 years; a machine that gets there may never execute an
instruction again, nor take what is typed. Therefore there is always a deadline within a second.
"""

from enum import IntEnum

ICOUNT = "shift=0,sleep=off"
WITHIN_US = 1_000_000
# A hart that spins keeps its turn, in which the lock's holder does not run: turns of 100 us were too long on 8 harts.
TURN_US = 10


class By(IntEnum):
    """What asks for deadlines: one command line of QEMU may have the options of all."""

    SYSTEM = 0  # the system file
    COMMAND = 1
    TURNS = 2  # of harts, in tests
    HOST = 3  # a host with fewer processors than the system has harts


def deadlines(by: By, interval_us: int) -> tuple[str, ...]:
    """
    QEMU's options for a deadline every `interval_us` of the virtual clock: the timer of a packet
    filter in a network without packets. The network is two hubs, connected because QEMU warns of a
    port without a peer; connected twice they would be a loop, with which QEMU 7.2 ends by a fault.
    """
    name = by.name.lower()
    return (
        "-netdev", f"hubport,id={name}-a,hubid={2 * by}",
        "-netdev", f"hubport,id={name}-b,hubid={2 * by + 1},netdev={name}-a",
        "-object", f"filter-buffer,id={name},netdev={name}-a,queue=all,interval={interval_us}",
    )  # fmt: skip


def virtual_time(by: By) -> tuple[str, ...]:
    """QEMU's options for virtual time, without the default network, with whose timers QEMU 7.2 has
    hung."""
    return "-icount", ICOUNT, "-nic", "none", *deadlines(by, WITHIN_US)


def in_turn() -> tuple[str, ...]:
    """
    QEMU's options for more harts than the host has processors: one thread runs the harts in turn, for
    TURN_US each. While all harts sleep, QEMU's clock keeps the host's pace. Otherwise ticket locks
    stall the harts: with a thread for each hart the host stops threads that hold or await a lock, and
    with `-accel tcg,thread=single` a turn is 100 ms and passes a contended lock on once.
    """
    return "-icount", "shift=0,sleep=on", "-nic", "none", *deadlines(By.HOST, TURN_US)
