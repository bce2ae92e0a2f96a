# SPDX-License-Identifier: Apache-2.0
"""
A model of a shared device's channel, chunk by chunk, in cycles: the arbiter's choice and the budgets of VMs, with the
rules of fpga/hw/rtl/io (io_arbiter, io_budget). Other VMs submit at any time, chunks of any length up to the longest.
"""

from dataclasses import dataclass, field
from random import Random

POLICIES = ROUND_ROBIN, PRIORITY, EDF = range(3)


@dataclass
class User:
    """A VM that may use the channel."""

    priority: int
    budget: int  # cycles in a period; 0: no limit
    chunks: list[int] = field(default_factory=list)  # lengths of those that wait
    due: int = 0
    spent: int = 0

    def may(self, channel: "Channel") -> bool:
        limited = self.budget and channel.period
        return bool(self.chunks) and not (limited and self.spent >= self.budget)


@dataclass
class Channel:
    """User 0 is the VM of the app."""

    policy: int
    period: int  # of the budgets; 0: there are none
    chunk: int  # longest time that is charged for a chunk
    least: int  # shortest one that is not a request's last one
    wait: int  # longest time for which bursts of a chunk wait for other devices
    users: list[User]
    now: int = 0
    last: int = -1

    @property
    def compare(self) -> int:
        return len(self.users) + 1

    def rank(self, number: int) -> tuple[int, int]:
        user, turn = self.users[number], (number - self.last - 1) % len(self.users)
        return ({ROUND_ROBIN: 0, PRIORITY: -user.priority, EDF: user.due}[self.policy], turn)

    def _pass(self, cycles: int) -> None:
        """Time passes; budgets are replenished at each multiple of the period."""
        before, self.now = self.now, self.now + cycles
        if self.period and before // self.period != self.now // self.period:
            for user in self.users:
                user.spent = 0

    def step(self) -> int | None:
        """Executes a chunk and returns whose, or passes a cycle."""
        ready = [number for number, user in enumerate(self.users) if user.may(self)]
        if not ready:
            self._pass(1)
            return None
        number = min(ready, key=self.rank)
        length = self.users[number].chunks.pop(0)
        self._pass(length)
        self.users[number].spent += length
        self.last = number
        return number


def _flood(channel: Channel, random: Random, eager: float) -> None:
    """The other VMs submit requests."""
    for user in channel.users[1:]:
        if len(user.chunks) < 4 and random.random() < eager:
            longest = random.random() < 0.8
            user.chunks.append(channel.chunk if longest else random.randint(channel.compare, channel.chunk))
            user.due = channel.now + random.randint(-1000, 100)


def delay(channel: Channel, job: list[int], random: Random) -> int:
    """Returns the time from the submission of an app's request, whose chunks take `job` cycles alone, to its end, at a
    random time of a run in which the VM's own budget may be used up."""
    channel.now = random.randrange(channel.period or 1)
    own, eager = channel.users[0], random.choice((0.3, 1.0))
    own.spent = random.choice((0, own.budget, random.randint(0, own.budget)))
    for user in channel.users[1:]:
        user.spent = random.choice((0, 0, random.randint(0, user.budget)))
    for _ in range(random.randint(0, 6)):
        _flood(channel, random, eager)
        channel.step()
    # Submitted when a chunk of another one has just begun, if there is one.
    _flood(channel, random, 1.0)
    begins = channel.now
    own.due = begins + random.randint(0, 1000)
    channel.step()
    waits = [random.choice((channel.wait, random.randint(0, channel.wait))) for _ in job]
    own.chunks = [chunk + channel.compare + wait for chunk, wait in zip(job, waits, strict=True)]
    while own.chunks:
        _flood(channel, random, eager)
        channel.step()
    return channel.now - begins
