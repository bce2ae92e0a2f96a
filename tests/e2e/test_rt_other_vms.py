# SPDX-License-Identifier: Apache-2.0
"""
RT apps and other VMs: permission to launch apps, and messages between an app and a best-effort VM.
On one hart in virtual time, where deadlines are checked, and on two harts, where the app and the
other VM run at the same time.
"""

import re
from collections.abc import Iterator

import pytest
from c_headers import values
from helpers import (
    SOON_S,
    VIRTUAL,
    await_rt_release,
    booted,
    built,
    returned,
    rt_end,
    rt_list,
    rt_rows,
    rt_start,
    states,
    tell,
    wait_for_signs_of_life,
)

from tessera.run.machine import HYPERVISOR, Machine

STREAM_S = 240
OK, FAILED, INVALID, DENIED, ALREADY, NOT_RUNNING = values(
    "ipc_abi.h",
    """HCALL_OK HCALL_ERR_FAILED HCALL_ERR_INVALID_PARAM HCALL_ERR_DENIED HCALL_ERR_ALREADY_AVAILABLE
    IPC_ERR_NOT_RUNNING""",
)
RTM, FRIEND, NO_VM = 0, 1, 0xFF
APP = 1 << 8  # launch: app n is n * APP
VCPU = 1 << 16  # messages: VCPU n is n * VCPU; of the RT-VM, with one VCPU, app n is VCPU n + 1
IDLE = "20000:1000:20000:1000"  # an app with very short jobs


@pytest.fixture(scope="module", params=["rt-other-vms", pytest.param("rt-other-vms-two", marks=pytest.mark.long)])
def machine(request: pytest.FixtureRequest) -> Iterator[Machine]:
    system = built(request.param)
    with booted(system, request.param, *(VIRTUAL if request.param == "rt-other-vms" else ())) as machine:
        wait_for_signs_of_life(machine, system)
        yield machine


@pytest.fixture(autouse=True)
def no_apps_left(machine: Machine) -> Iterator[None]:
    """Ends all apps after each test."""
    yield
    for number in rt_rows(machine):
        rt_end(machine, number)


def create(machine: Machine, spec: str) -> None:
    """Makes the manager create an app without launching it."""
    tell(machine, "rtm", f"create {spec}")
    machine.expect("rtm", r"^rtm: created$", SOON_S)


def launch(machine: Machine, name: str, app: int, vm: int = RTM) -> int:
    return returned(machine, name, f"launch {vm | app * APP:x}")[0]


# --- launching ---


def test_a_vm_that_is_allowed_launches(machine: Machine) -> None:
    """The created app waits until the other VM launches it; the manager then sees its counts."""
    create(machine, IDLE)
    assert rt_rows(machine)[0]["releases"] == 0
    assert states(machine)["rtm"]["vcpus"].startswith("1/")
    error, first = returned(machine, "friend", f"launch {RTM:x}")
    assert error == OK
    assert first > 0
    await_rt_release(machine, 0)
    assert states(machine)["rtm"]["vcpus"].startswith("2/")
    assert rt_rows(machine)[0]["ended"] > 0


def test_launching_twice(machine: Machine) -> None:
    create(machine, IDLE)
    assert launch(machine, "friend", 0) == OK
    assert launch(machine, "friend", 0) == ALREADY
    await_rt_release(machine, 0)


def test_a_vm_that_is_not_allowed_launches_nothing(machine: Machine) -> None:
    create(machine, IDLE)
    assert launch(machine, "stranger", 0) == DENIED
    assert launch(machine, "stranger", 1) == DENIED  # nor does it learn which apps there are
    assert states(machine)["rtm"]["vcpus"].startswith("1/")
    assert rt_rows(machine)[0]["releases"] == 0
    assert launch(machine, "friend", 0) == OK


def test_launching_an_unknown_app(machine: Machine) -> None:
    create(machine, IDLE)
    assert launch(machine, "friend", 1) == INVALID  # not created
    assert launch(machine, "friend", 4) == INVALID  # more than the system file has
    assert launch(machine, "friend", 0, vm=NO_VM) == INVALID
    assert launch(machine, "friend", 0, vm=FRIEND) == INVALID  # its own, of which it has none
    assert launch(machine, "friend", 0, vm=2) == DENIED
    assert rt_rows(machine)[0]["releases"] == 0


def test_only_the_manager_deletes(machine: Machine) -> None:
    create(machine, IDLE)
    assert launch(machine, "friend", 0) == OK
    for name in ("friend", "stranger"):
        assert returned(machine, name, "delete 0") == [DENIED]
    await_rt_release(machine, 0)
    rt_end(machine, 0)
    assert launch(machine, "friend", 0) == INVALID
    assert states(machine)["rtm"]["vcpus"].startswith("1/")


def test_admission_refuses_the_other_vm_too(machine: Machine) -> None:
    """The VM gets the error, and the app remains: it can be launched once there is enough free
    utilization."""
    rt_start(machine, "100000:60000:100000:1000")
    create(machine, "100000:50000:100000:1000")
    machine.skip(HYPERVISOR)
    assert returned(machine, "friend", f"launch {RTM | APP:x}") == [FAILED, 0]
    machine.expect(HYPERVISOR, r"^rtm: app 1 refused: the utilization of CPU 0 would exceed 1$", SOON_S)
    assert rt_rows(machine)[1]["releases"] == 0
    rt_end(machine, 0)
    assert launch(machine, "friend", 1) == OK
    await_rt_release(machine, 1)


# --- messages ---


def received(machine: Machine, app: int) -> tuple[int, int, int]:
    """Messages that an app has received, the number in the last one, and messages out of order."""
    found = re.search(
        rf"^rtm: app {app} has received (\d+) messages, the last (\d+), (\d+) out of order$",
        rt_list(machine),
        re.MULTILINE,
    )
    assert found
    return int(found[1]), int(found[2]), int(found[3])


def sent(machine: Machine, app: int) -> tuple[int, int]:
    """Messages that an app has sent, and messages refused."""
    found = re.search(rf"^rtm: app {app} has sent (\d+) messages, (\d+) refused$", rt_list(machine), re.MULTILINE)
    assert found
    return int(found[1]), int(found[2])


def in_virtual_time(machine: Machine) -> bool:
    return "-icount" in machine.command


def assert_in_time(machine: Machine, app: int) -> None:
    """No deadline was missed and no budget exhausted; checked in virtual time only."""
    row = rt_rows(machine)[app]
    assert row["ended"] > 0
    if in_virtual_time(machine):
        assert 0 <= row["releases"] - row["ended"] <= 1
        assert (row["missed"], row["overran"]) == (0, 0), row


@pytest.mark.long
def test_app_polls_messages_sent_at_full_speed(machine: Machine) -> None:
    """
    Thousands of messages to an app that polls once a millisecond, while another app leaves a
    twentieth of the hart to best effort: all arrive in order, and neither app is late.
    """
    rt_start(machine, "1000:100:500:50000", "receive")
    rt_start(machine, "2000:1700:2000:1690000")
    tell(machine, "friend", f"stream {RTM | VCPU:x}")
    found = machine.expect("friend", r"^misbehave: streamed up to (\d+), queue full (\d+) times, at last 0$", STREAM_S)
    assert int(found[2]) > 100
    assert machine.wait_until(lambda: received(machine, 0)[0] >= 4000, SOON_S)
    assert received(machine, 0) == (4000, int(found[1]) - 1, 0)
    assert_in_time(machine, 0)
    assert_in_time(machine, 1)


def test_a_full_queue_refuses_and_loses_nothing(machine: Machine) -> None:
    """Eight messages wait for an app that was released before they arrived; its next job receives
    them."""
    period = 200000 if in_virtual_time(machine) else 3000000
    rt_start(machine, f"{period}:10000:{period}:1000", "receive")
    assert machine.wait_until(lambda: rt_rows(machine)[0]["ended"] == 1, SOON_S)
    assert returned(machine, "friend", f"burst {RTM | VCPU:x}") == [0] * 8 + [FAILED] * 2
    assert machine.wait_until(lambda: received(machine, 0)[0] == 8, SOON_S)
    assert received(machine, 0)[2] == 0
    assert_in_time(machine, 0)


@pytest.mark.long
def test_app_that_never_receives_is_not_disturbed(machine: Machine) -> None:
    rt_start(machine, "1000:100:500:50000")
    assert returned(machine, "friend", f"burst {RTM | VCPU:x}") == [0] * 8 + [FAILED] * 2
    assert returned(machine, "friend", f"burst {RTM | VCPU:x}") == [FAILED] * 10
    await_rt_release(machine, 0)
    assert_in_time(machine, 0)


def test_no_messages_to_an_app_that_does_not_run(machine: Machine) -> None:
    assert returned(machine, "friend", f"burst {RTM | VCPU:x}") == [NOT_RUNNING] * 10
    create(machine, IDLE)
    assert returned(machine, "friend", f"burst {RTM | VCPU:x}") == [NOT_RUNNING] * 10
    assert returned(machine, "friend", f"burst {RTM | 5 * VCPU:x}") == [INVALID] * 10
    assert returned(machine, "stranger", f"burst {RTM | VCPU:x}") == [DENIED] * 10


def test_messages_are_deleted_with_their_app(machine: Machine) -> None:
    rt_start(machine, IDLE)
    assert returned(machine, "friend", f"burst {RTM | VCPU:x}") == [0] * 8 + [FAILED] * 2
    rt_end(machine, 0)
    rt_start(machine, "1000:100:500:1000", "receive")
    await_rt_release(machine, 0)
    assert received(machine, 0)[0] == 0


def test_an_app_sends_to_a_vm(machine: Machine) -> None:
    """One number every 10 ms; while the VM does not receive, sends are refused and no number is
    lost."""
    first = rf"^misbehave: message from {RTM}\.1: 8 bytes, sum \d+, first (\d+)\.$"
    machine.skip("friend")
    rt_start(machine, "10000:1000:10000:1000", f"send {FRIEND}")
    assert [int(machine.expect("friend", first, SOON_S)[1]) for _ in range(20)] == list(range(20))
    tell(machine, "friend", "ignore 1")
    machine.expect("friend", r"^misbehave: ignores messages$", SOON_S)
    assert machine.wait_until(lambda: sent(machine, 0)[1] > 2, SOON_S)
    last = int(re.findall(first, machine.console.text("friend"), re.MULTILINE)[-1])
    tell(machine, "friend", "ignore 0")
    more = [int(machine.expect("friend", first, SOON_S)[1]) for _ in range(10)]
    assert more == list(range(last + 1, last + 11))
    assert sent(machine, 0)[0] > last
    assert_in_time(machine, 0)
