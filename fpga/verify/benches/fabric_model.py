# SPDX-License-Identifier: Apache-2.0
"""The reference model of monitor, state machines and connection matrix, cycle by cycle.

`Lockstep` samples the fabric in every cycle, gives its inputs (commands and events of the jobs) to the model, and
compares the model with the fabric's outputs. It also counts which event occurred in which state.
"""

from collections import Counter
from dataclasses import dataclass, field

import cocotb
from cocotb.triggers import ReadOnly, RisingEdge
from fabric_helpers import (
    ASSIGN,
    BUSY,
    FAULT_BUS,
    FAULT_DMA,
    HOLD,
    IDLE,
    PREEMPT,
    PREEMPTING,
    RECONFIG,
    STATES,
    SWITCH,
    UNAVAILABLE,
)  # fmt: skip

SAVE, RESTORE, ABORT = "save", "restore", "abort"
EVENTS = ("begin", "restore", "restored", "over", "stopped", "saved", "quiet", "fault")


@dataclass(frozen=True)
class Client:
    vm: int
    dev: int
    prio: int

    @property
    def interface(self) -> tuple[int, int]:
        return self.vm, self.dev

    @classmethod
    def of(cls, bits: int) -> "Client":
        return cls(bits >> 8 & 15, bits >> 4 & 15, bits & 15)


@dataclass(frozen=True)
class Choice:
    """The monitor's decision for a client: method, region, and whether the region is allocated."""

    method: int = UNAVAILABLE
    prr: int = 0
    reconfig: int = 0
    given: bool = False
    evicted: Client | None = None


@dataclass
class Region:
    size: int
    state: int = IDLE
    switching: str = SAVE
    client: Client | None = None
    following: Client | None = None  # the client that is promised the region
    held: int = 0
    target: int = 0
    timer: int = 0
    connected: bool = False
    lost: Client | None = None  # of this cycle

    def key(self) -> tuple:
        return self.state, self.client, self.following, self.held

    # ---- Transitions: each computes the region's state at the end of the cycle ----
    def hand_to(self, client: Client, task: int) -> None:
        self.client, self.following, self.target = client, None, task
        self.state = HOLD if self.held == task else RECONFIG

    def promise(self, client: Client, task: int) -> None:
        self.following, self.target, self.state = client, task, PREEMPT

    def leave(self) -> None:
        self.connected = False
        if self.following:
            self.hand_to(self.following, self.target)
        else:
            self.client, self.state = None, IDLE

    def abort(self) -> None:
        self.state, self.switching = SWITCH, ABORT

    def idle(self, now: "Inputs") -> None:
        if now.fault:
            self.held = 0
        if now.alloc:
            again = _has(self.client, now.alloc[0])
            self.hand_to(*now.alloc)
            self.connected = self.connected and again and self.state == HOLD
        elif now.cancel or now.fault:
            self.client, self.connected = None, False
        else:
            self.begin(now)

    def begin(self, now: "Inputs") -> None:
        if now.begin:
            self.state = BUSY
        elif now.restore:
            self.state, self.switching = SWITCH, RESTORE

    def hold(self, now: "Inputs") -> None:
        expired = self.timer >= now.hold_time and not now.begin and not now.restore
        if now.fault:
            self.held = 0
        if now.alloc:
            self.lost, self.connected = self.client, False
            self.hand_to(*now.alloc)
        elif now.cancel or now.fault or expired:
            self.lost = self.client if now.fault and not now.cancel else None
            self.client, self.connected, self.state = None, False, IDLE
        else:
            self.begin(now)

    def busy(self, now: "Inputs") -> None:
        if now.alloc and not (now.over and not now.fault):
            self.promise(*now.alloc)
        if now.fault:
            self.abort()
        elif now.over:
            self.state = IDLE
            if now.alloc:
                self.connected = False
                self.hand_to(*now.alloc)
        elif now.stop and not now.alloc:
            self.state = PREEMPT

    def preempt(self, now: "Inputs") -> None:
        if now.fault:
            self.abort()
        elif now.over:
            self.leave()
        elif now.stopped:
            self.state, self.switching = SWITCH, SAVE

    def switch(self, now: "Inputs") -> None:
        if now.fault:
            self.switching = ABORT
        elif self.switching == ABORT:
            if now.quiet:
                self.leave()
        elif self.switching == RESTORE and now.restored:
            self.state = BUSY
        elif self.switching == SAVE and now.saved:
            self.lost = self.client if self.following else None
            self.leave()

    def reconfig(self, now: "Inputs") -> None:
        if now.cfg_done:
            self.state, self.held = HOLD, self.target
        elif now.cfg_fail or now.cancel:
            self.state, self.client = IDLE, None

    def step(self, now: "Inputs") -> None:
        before = self.state
        self.lost = None
        # Only the current client can be connected; a drop in this cycle has priority.
        wanted = now.connect_command and before in (HOLD, IDLE)
        was = self.connected
        if wanted:
            self.connected = now.connect_accepted or (was and now.connect_on)
        (self.idle, self.busy, self.preempt, self.switch, self.reconfig, self.hold)[before](now)
        if now.fault and now.why not in (FAULT_DMA, FAULT_BUS):
            self.held = 0
        if self.state == RECONFIG:
            self.held = 0
        timed = self.state in (HOLD, PREEMPT, SWITCH)
        self.timer = self.timer + 1 if timed and self.state == before else 0


@dataclass
class Inputs:
    """The inputs of one region in a cycle."""

    begin: bool
    restore: bool
    restored: bool
    over: bool
    stopped: bool
    saved: bool
    quiet: bool
    fault: bool
    why: int
    cfg_done: bool
    cfg_fail: bool
    stop: bool
    connect_command: bool
    connect_on: bool = False
    connect_accepted: bool = False
    alloc: tuple[Client, int] | None = None
    cancel: bool = False
    hold_time: int = 0xFFFFFFFF

    @classmethod
    def of(cls, bits: int) -> "Inputs":
        flags = [bool(bits >> n & 1) for n in range(8)]
        return cls(*flags, bits >> 8 & 7, *(bool(bits >> n & 1) for n in range(11, 15)))


@dataclass
class Commands:
    request: Client | None
    cancel: tuple[int, int] | None
    connect_on: bool
    connect: tuple[int, int]
    pop: bool
    icap: int | None

    @classmethod
    def of(cls, bits: int) -> "Commands":
        return cls(
            Client.of(bits >> 1 & 0xFFF) if bits & 1 else None,
            (bits >> 14 & 15, bits >> 18 & 15) if bits >> 13 & 1 else None,
            bool(bits >> 22 & 1),
            (bits >> 23 & 15, bits >> 27 & 15),
            bool(bits >> 31 & 1),
            bits >> 33 & 7 if bits >> 32 & 1 else None,
        )


@dataclass
class Monitor:
    """Requests, the search list, and the queue of solutions."""

    depth: int
    devices: dict[int, tuple[int, int]]  # device -> task, size
    vms: int = 16
    excluded: Counter = field(default_factory=Counter)  # device -> mask of regions that are not used for it
    waiting: list[Client] = field(default_factory=list)
    found: list[tuple] = field(default_factory=list)
    lost: dict[int, Client] = field(default_factory=dict)
    scan: int = 0
    asked: Client | None = None  # the request of the previous cycle
    cancelled: tuple[int, int] | None = None
    seen: list | None = None
    answer: tuple | None = None

    def device(self, client: Client) -> tuple[int, int]:
        """Task and size; task 0 if the device or the VM does not exist."""
        return self.devices.get(client.dev, (0, 0)) if client.vm < self.vms else (0, 0)

    def choose(self, client: Client, regions: list[Region]) -> Choice:
        task, size = self.device(client)
        if task == 0 or any(r.state in (PREEMPT, SWITCH) and _has(r.client, client) for r in regions):
            return Choice()
        p = _own(client, task, regions)
        if p is not None:
            own = regions[p]
            return Choice(PREEMPTING if own.following else ASSIGN, p, int(own.held != task), own.state == IDLE)
        p = _other(client, task, size, regions, self.excluded[client.dev])
        if p is None:
            return Choice()
        method = PREEMPTING if regions[p].state == BUSY else ASSIGN
        return Choice(method, p, int(regions[p].held != task), True, regions[p].client)

    def insert(self, client: Client, rises: bool = False) -> bool:
        """Inserts after all entries of the same priority; returns whether the client is in the list. With a higher
        priority than before, the client moves up."""
        listed = next((other for other in self.waiting if _has(other, client)), None)
        if listed and rises and client.prio > listed.prio:
            self.waiting.remove(listed)
        elif listed:
            return True
        if len(self.waiting) == self.depth:
            return False
        place = sum(other.prio >= client.prio for other in self.waiting)
        self.waiting.insert(place, client)
        self.scan = 0
        return True

    def remove(self, interface: tuple[int, int]) -> None:
        left = [other for other in self.waiting if other.interface != interface]
        if len(left) != len(self.waiting):
            self.waiting, self.scan = left, 0

    def step(self, commands: Commands, regions: list[Region]) -> tuple[int, Client] | None:
        """One cycle; returns the region that is allocated in it, and its client."""
        now = [region.key() for region in regions]
        changed = now != self.seen
        space = len(self.found) < 8
        if commands.pop and self.found:
            self.found.pop(0)
        given = self.act(regions, changed, space and not commands.cancel)
        if changed:
            self.scan = 0
        self.seen, self.asked, self.cancelled = now, commands.request, commands.cancel
        if commands.request:
            self.answer = None
        return given

    def act(self, regions: list[Region], changed: bool, space: bool) -> tuple[int, Client] | None:
        """
        One action a cycle: a request, a cancellation, a client that lost its region, or one entry of the list. A client
        that cancels in this cycle is not found.
        """
        if self.asked:
            return self.serve(self.asked, regions, self.scan >= len(self.waiting) and not changed)
        if self.cancelled:
            self.remove(self.cancelled)
            self.lost = {p: client for p, client in self.lost.items() if client.interface != self.cancelled}
        elif self.lost:
            self.insert(self.lost.pop(min(self.lost)))
        elif not changed and self.scan < len(self.waiting) and space:
            return self.search(regions)
        return None

    def serve(self, client: Client, regions: list[Region], done: bool) -> tuple[int, Client] | None:
        choice = self.choose(client, regions)
        overtaking = bool(self.waiting) and not done and client.prio <= self.waiting[0].prio
        if choice.method != UNAVAILABLE and (not choice.given or not overtaking):
            self.answer = (choice, client, False)
            if not choice.given:
                return None
            self.remove(client.interface)
            self.scan = 0
            return choice.prr, client
        listed = self.device(client)[0] != 0 and self.insert(client, rises=True)
        self.answer = (Choice(), client, listed)
        return None

    def search(self, regions: list[Region]) -> tuple[int, Client] | None:
        client = self.waiting[self.scan]
        choice = self.choose(client, regions)
        if choice.method == UNAVAILABLE:
            self.scan += 1
            return None
        self.found.append((choice, client))
        self.remove(client.interface)
        return (choice.prr, client) if choice.given else None


def _own(client: Client, task: int, regions: list[Region]) -> int | None:
    """The region that the client has or was promised."""
    for p, r in enumerate(regions):
        kept = r.state in (HOLD, BUSY, RECONFIG) or (r.state == IDLE and r.held == task)
        if _has(r.following, client) or (_has(r.client, client) and kept):
            return p
    return None


def _other(client: Client, task: int, size: int, regions: list[Region], excluded: int) -> int | None:
    """Idle regions in the order of _idle_rank, then the smallest; else the smallest of lower priority."""
    big = [(p, regions[p]) for p in _usable(size, regions, excluded)]
    idle = [(*_idle_rank(r, client, task), p) for p, r in big if r.state == IDLE]
    lower = [(r.size, r.client.prio, p) for p, r in big if r.state in (BUSY, HOLD) and r.client.prio < client.prio]
    if idle:
        return min(idle)[-1]
    return min(lower)[-1] if lower else None


def _usable(size: int, regions: list[Region], excluded: int) -> list[int]:
    return [p for p, r in enumerate(regions) if r.size >= size and not excluded >> p & 1]


def _idle_rank(region: Region, client: Client, task: int) -> tuple[bool, bool, int, int]:
    """Regions with the task first, then those without another client, small ones, those of clients of low priority."""
    taken = region.client is not None and not _has(region.client, client)
    return region.held != task, taken, region.size, region.client.prio if taken else 0


def _has(owner: Client | None, client: Client) -> bool:
    return owner is not None and owner.interface == client.interface


class Lockstep:
    """Runs the model in lockstep with the fabric, starting at reset."""

    def __init__(self, dut, devices: dict[int, tuple[int, int]], sizes: list[int], depth: int, vms: int):
        self.dut = dut
        self.monitor = Monitor(depth, devices, vms)
        self.regions = [Region(size) for size in sizes]
        self.hold_time = 0xFFFFFFFF
        self.coverage: Counter = Counter()
        self.cycles = 0

    def begin(self) -> None:
        cocotb.start_soon(self.run())

    async def run(self) -> None:
        while True:
            await RisingEdge(self.dut.clk_i)
            await ReadOnly()
            if not int(self.dut.rst_ni.value):
                continue
            self.compare()
            self.step()
            self.cycles += 1

    # ---- Comparison of the fabric with the model ----
    def compare(self) -> None:
        seen = int(self.dut.seen_o.value)
        for p, region in enumerate(self.regions):
            self.compare_region(p, region, seen >> 46 * p & ((1 << 46) - 1))
        shown = int(self.dut.monitor_o.value)
        self.same("waiting", shown >> 29 & 511, len(self.monitor.waiting))
        self.same("found", shown >> 38 & 1, int(bool(self.monitor.found)))
        if self.monitor.found:
            self.compare_solution(shown >> 39, *self.monitor.found[0], False)
        self.same("answered", shown & 1, int(self.monitor.answer is not None))
        if self.monitor.answer:
            self.compare_solution(shown >> 1, *self.monitor.answer)

    def compare_region(self, p: int, region: Region, bits: int) -> None:
        self.same(f"state of region {p}", STATES[bits & 7], STATES[region.state])
        self.same(f"client of region {p}", Client.of(bits >> 4) if bits >> 3 & 1 else None, region.client)
        self.same(f"promise of region {p}", Client.of(bits >> 17) if bits >> 16 & 1 else None, region.following)
        self.same(f"task of region {p}", bits >> 29 & 255, region.held)
        self.same(f"connection of region {p}", bool(bits >> 37 & 1), region.connected)

    def compare_solution(self, bits: int, choice: Choice, client: Client, listed: bool) -> None:
        self.same("method", bits >> 26 & 3, choice.method)
        self.same("client", Client.of(bits >> 9), client)
        self.same("listed", bool(bits >> 24 & 1), listed)
        if choice.method != UNAVAILABLE:
            self.same("region", bits >> 21 & 7, choice.prr)
            self.same("reconfiguration", bits >> 25 & 1, choice.reconfig)
            evicted = (bits >> 4 & 15, bits & 15) if bits >> 8 & 1 else None
            self.same("eviction", evicted, choice.evicted.interface if choice.evicted else None)

    def same(self, what: str, shown, right) -> None:
        assert shown == right, f"cycle {self.cycles}: {what} is {shown}, in the model {right}"

    # ---- One cycle of the model ----
    def step(self) -> None:
        commands = Commands.of(int(self.dut.commands_o.value))
        events = int(self.dut.events_o.value)
        inputs = [Inputs.of(events >> 15 * p & 0x7FFF) for p in range(len(self.regions))]
        self.complete(commands, inputs)
        given = self.monitor.step(commands, self.regions)
        if given:
            task = self.monitor.devices[given[1].dev][0]
            inputs[given[0]].alloc = (given[1], task)
        for p, (region, now) in enumerate(zip(self.regions, inputs, strict=True)):
            self.count(region, now)
            region.step(now)
            if region.lost:
                self.monitor.lost[p] = region.lost

    def complete(self, commands: Commands, inputs: list[Inputs]) -> None:
        """Completes the inputs: whether a connection or a cancellation is for the region's client."""
        holders = [r.client.interface if r.client and r.connected else None for r in self.regions]
        for p, (region, now) in enumerate(zip(self.regions, inputs, strict=True)):
            mine = region.client.interface if region.client else None
            elsewhere = commands.connect in holders[:p] + holders[p + 1 :]
            now.hold_time = self.hold_time
            now.connect_on = commands.connect_on
            now.connect_accepted = commands.connect_on and mine == commands.connect and not elsewhere
            now.cancel = commands.cancel is not None and mine == commands.cancel and commands.icap != p

    def count(self, region: Region, now: Inputs) -> None:
        happened = [name for name in EVENTS if getattr(now, name) and name != "quiet"]
        happened += [
            name for name in ("cfg_done", "cfg_fail", "stop", "cancel", "connect_command") if getattr(now, name)
        ]
        happened += ["alloc"] if now.alloc else []
        for name in happened:
            self.coverage[region.state, name] += 1

    def table(self) -> str:
        """Functional coverage: how often each event occurred in each state."""
        names = [
            *(n for n in EVENTS if n != "quiet"),
            "cfg_done",
            "cfg_fail",
            "stop",
            "cancel",
            "connect_command",
            "alloc",
        ]
        lines = [" " * 9 + "".join(f"{name[:9]:>10}" for name in names)]
        for number, state in enumerate(STATES):
            lines.append(f"{state:9}" + "".join(f"{self.coverage[number, name] or '-':>10}" for name in names))
        return "\n".join(lines)
