# SPDX-License-Identifier: Apache-2.0
"""
The bound on a request of an RT app to a shared device (devices/shared/delay.c): by its definition, beside a model of
the arbiter and its budgets (io_delay_model.py), and the reasons for which a device has none.
"""

from ctypes import POINTER, byref, c_uint, c_uint64
from dataclasses import replace
from random import Random

import pytest
from c_headers import values
from core import CORE, LONG, TICKS_PER_US, lines
from io_delay_model import EDF, POLICIES, PRIORITY, ROUND_ROBIN, Channel, User, delay
from test_io import Machine

UART, FLASH, SEND, RECEIVE, COPY, DISPLAY, GPIO, SPI = range(8)
UNKNOWN, BOUNDED, SHARED = values("resource.h", "RESOURCE_UNKNOWN RESOURCE_BOUNDED RESOURCE_SHARED")
(FIRST,) = values("rt_abi.h", "RT_SHARED_DEVICE")
MHZ = 100
LONGEST_US = (1 << 31) - 1
CORE.testbed_io_bound.restype = c_uint
CORE.testbed_io_bound.argtypes = [c_uint, c_uint, c_uint64, POINTER(c_uint64)]


def ask(us: int, device: int = COPY, vm: int = 0) -> tuple[int, int]:
    """The answer, and the bound in us."""
    longest = c_uint64()
    answer = CORE.testbed_io_bound(vm, FIRST + device, us * TICKS_PER_US, byref(longest))
    assert longest.value % TICKS_PER_US == 0
    return answer, longest.value // TICKS_PER_US


def put(channel: Channel) -> None:
    """Boots a system whose copies are this channel; each user is a VM."""
    machine = Machine(len(channel.users))
    for name, value in (("policy", channel.policy), ("period_cycles", channel.period)):
        machine.put(f"shared_image.channels[3].{name}", value)
    machine.put("shared_image.channels[3].chunk_cycles", channel.chunk)
    machine.put("shared_image.channels[3].least_cycles", channel.least)
    machine.put("shared_image.channels[3].wait_cycles", channel.wait + channel.compare)
    for number, user in enumerate(channel.users):
        machine.put("shared_image_client.priority[3]", user.priority, number)
        machine.put("shared_image_client.budget[3]", user.budget, number)
    machine.boot()


def rivals(channel: Channel) -> list[int]:
    """The budgets of those that may be served first; 0: without a limit."""
    users = channel.users[1:]
    ahead = [user for user in users if channel.policy != PRIORITY or user.priority >= channel.users[0].priority]
    return [user.budget if channel.period else 0 for user in ahead]


def own_time(channel: Channel, job: int) -> int:
    """What a request takes without rivals: comparisons, waits for memory, a chunk that has begun, its own budget."""
    time = job + (job // channel.least + 2) * (channel.compare + channel.wait)
    budget = channel.users[0].budget if channel.period else 0
    stops = -(-time // budget) if budget else 0
    return time + (1 + stops) * channel.chunk + stops * channel.period


def bound(channel: Channel, us: int) -> int | None:
    """The definition, in us: the shortest time that holds the request's own, and all that rivals may use in the periods
    that it touches. None: there is none."""
    budgets, period = rivals(channel), channel.period
    load = sum(budget + channel.chunk for budget in budgets)
    if 0 in budgets or (budgets and load >= period):
        return None
    own, periods = own_time(channel, us * MHZ), 0
    while budgets and own + (periods + 1) * load > periods * period:
        periods += 1
    return -(-(own + (periods + 1) * load) // MHZ)


def random_channel(random: Random) -> Channel:
    users = random.randint(1, 5)
    chunk, period = random.randint(100, 400), random.choice((0, 20_000, 50_000))
    low = random.random() < 0.4
    budgets = (0, random.randint(1, 3000), random.randint(500, 6000))
    others = [User(random.randint(0, 3), random.choice(budgets if low else budgets[1:])) for _ in range(users - 1)]
    own = User(random.randint(0, 5), random.choice((0, 0, random.randint(200, 8000))))
    least = random.randint(50, chunk - users - 1) if chunk - users - 1 > 50 else 50
    wait = random.choice((0, random.randint(0, 60)))
    return Channel(random.choice(POLICIES), period, chunk, least, wait, [own, *others])


def cut(channel: Channel, cycles: int, random: Random) -> list[int]:
    """A request of this length in chunks, the last one shorter."""
    chunks = []
    while cycles > 0:
        chunks.append(min(random.choice((channel.least, random.randint(channel.least, channel.chunk))), cycles))
        cycles -= chunks[-1]
    return chunks


def fresh(channel: Channel) -> Channel:
    return replace(channel, users=[replace(user, chunks=[]) for user in channel.users])


CHANNELS, RUNS = (1500, 20) if LONG else (30, 8)


@pytest.mark.slow
def test_no_request_takes_longer_than_its_bound() -> None:
    """The bound is the definition's, and random runs come near it."""
    near, refused, seen = 0.0, 0, 0
    for seed in range(CHANNELS):
        random = Random(seed)
        channel, us = random_channel(random), random.randint(1, 60)
        put(channel)
        answer, most = ask(us)
        expected = bound(channel, us)
        assert (answer, most) == ((SHARED, 0) if expected is None else (BOUNDED, expected)), (seed, channel)
        if expected is None:
            refused += 1
            continue
        for _ in range(RUNS):
            took = delay(fresh(channel), cut(channel, us * MHZ, random), random)
            assert took <= most * MHZ, (seed, channel, took)
            near, seen = max(near, took / most / MHZ), seen + 1
    assert near > 0.8
    assert refused > CHANNELS // 7
    assert seen > CHANNELS * RUNS // 2


OWN = User(3, 0)


@pytest.mark.parametrize(
    ("channel", "why"),
    [
        (Channel(PRIORITY, 0, 400, 100, 0, [OWN, User(3, 0)]), "a VM that it may wait for has no budget: vm-b"),
        (
            Channel(PRIORITY, 20_000, 400, 100, 0, [OWN, User(2, 0), User(4, 0)]),
            "a VM that it may wait for has no budget: vm-c",
        ),
        (Channel(EDF, 20_000, 400, 100, 0, [OWN, User(2, 0)]), "a VM that it may wait for has no budget: vm-b"),
        (
            Channel(ROUND_ROBIN, 20_000, 400, 100, 0, [OWN, User(2, 19_600)]),
            "budgets and chunks of other VMs fill its period",
        ),
        (Channel(ROUND_ROBIN, 20_000, 400, 0, 0, [OWN]), "the image does not tell how long its chunks are"),
        (Channel(EDF, 20_000, 400, 1, 0, [User(3, 1)]), "it would take too many periods of its budget"),
    ],
)
def test_why_a_device_has_no_bound(channel: Channel, why: str) -> None:
    put(channel)
    assert ask(LONGEST_US if channel.least == 1 else 10) == (SHARED, 0)
    assert lines()[-1].endswith(f"vm-a: shared device {COPY} refused for an app: {why}")


def test_the_longest_times_do_not_overflow() -> None:
    put(Channel(ROUND_ROBIN, (1 << 32) - 1, 1 << 16, 1, 0, [User(0, (1 << 32) - 1), User(0, (1 << 32) - (1 << 17))]))
    answer, most = ask(LONGEST_US)
    assert (answer, most > LONGEST_US) == (BOUNDED, True) or answer == SHARED
    put(Channel(PRIORITY, 0, (1 << 32) - 1, 1, 0, [OWN]))
    job = LONGEST_US * MHZ
    assert ask(LONGEST_US) == (BOUNDED, -(-(job + (job + 2) * 2 + (1 << 32) - 1) // MHZ))


@pytest.mark.parametrize(
    ("device", "answer"),
    [
        (GPIO, (BOUNDED, 10)),
        (RECEIVE, (SHARED, 0)),
        (UART, (SHARED, 0)),
        (DISPLAY, (SHARED, 0)),
        (SPI, (SHARED, 0)),
        (8, (UNKNOWN, 0)),
        (-1, (UNKNOWN, 0)),
    ],
)
def test_other_devices(device: int, answer: tuple[int, int]) -> None:
    """Pins are at each VM's own times; nothing bounds the others."""
    Machine(2).boot()
    assert ask(10, device) == answer


def test_a_vm_without_the_device_has_none() -> None:
    machine = Machine(3, 2)
    machine.put("shared_image_client.devices", 1 << FLASH, 1)
    machine.boot()
    assert ask(10, COPY, 1) == (UNKNOWN, 0)
    assert ask(10, COPY, 2) == (UNKNOWN, 0)


def test_requests_of_the_spi_controller_delay_the_flash() -> None:
    """They are the flash's, with the VM's budget there."""
    bounds = []
    for devices in (1 << GPIO, 1 << FLASH, 1 << SPI):
        machine = Machine(2)
        machine.put("shared_image_client.devices", devices, 1)
        machine.boot()
        bounds.append(ask(10, FLASH))
    assert bounds[0] < bounds[1] == bounds[2]


def test_a_part_of_a_microsecond_counts_as_a_whole_one() -> None:
    put(Channel(ROUND_ROBIN, 0, 400, 100, 0, [OWN]))
    longest = c_uint64()
    assert CORE.testbed_io_bound(0, FIRST + COPY, 10 * TICKS_PER_US + 1, byref(longest)) == BOUNDED
    assert (BOUNDED, longest.value // TICKS_PER_US) == ask(11)
