# SPDX-License-Identifier: Apache-2.0
"""
A simulator of jobs on devices, event by event, in ns: the fabric's regions, its search list and its ICAP,
with the rules of fpga/hw/rtl (prr_choice, prr_fsm, prr_monitor); the manager with those of accel; and a hart that runs
RT apps by EDF, then the manager, then guests. Lengths are drawn up to the declared ones, most of them the longest.
"""

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from random import Random

CYCLE_NS = 10
SOLUTIONS = 8


class State(Enum):
    IDLE = 0
    BUSY = 1
    PREEMPT = 2
    SWITCH = 3
    RECONFIG = 4
    HOLD = 5


@dataclass
class Device:
    """A device of a VM. `words`: its bitstream for each region that can hold it, in words that the ICAP takes."""

    vm: int
    number: int
    priority: int
    words: dict[int, int]
    stop: int  # ns, from a stop request to the saved context, memory shared
    job: int  # ns on the device
    name: int = 0
    # In the fabric.
    region: "Region | None" = None  # that it is connected to
    pending: bool = False  # START
    saved: bool = False
    left: int = 0
    over: bool = True
    # In the manager.
    known: str = "idle"
    at: int = -1
    # Of an app's job.
    began: int = 0


@dataclass
class Region:
    number: int
    state: State = State.IDLE
    client: Device | None = None
    next: Device | None = None
    task: int | None = None  # number of the device whose task it holds
    since: int = 0
    version: int = 0  # events of earlier states are void
    owner: Device | None = None  # the manager's view, as the next two
    promised: Device | None = None
    stopped: Device | None = None


@dataclass
class System:
    """The parameters; times in ns."""

    devices: list[Device]
    regions: int
    hold: int
    blocked: int
    section: int
    timers: int
    look: int  # from an event to its interrupt
    apps: list[tuple[int, int, int, int]]  # budget with overheads, deadline, period, offset; app 0 uses devices[0]
    gap: int  # mean time between two jobs of a guest
    longest: float = 0.7  # share of lengths that are the longest


class Fabric:
    def __init__(self, system: System, random: Random):
        self.system, self.random = system, random
        self.regions = [Region(n) for n in range(system.regions)]
        self.list: list[Device] = []
        self.solutions: list[tuple[Device, Region, bool]] = []
        self.events: list[tuple[int, int, Callable[[], None]]] = []
        self.count = 0
        self.now = 0
        self.raised: set[str] = set()
        self.seen = 0  # when the line's interrupt is, if an event is raised
        self.all_regions = False
        self.finished: Callable[[Device], None] = lambda _: None

    def length(self, most: int) -> int:
        return most if self.random.random() < self.system.longest else self.random.randint(0, most)

    def after(self, ns: int, what: Callable[[], None]) -> None:
        self.count += 1
        heapq.heappush(self.events, (self.now + ns, self.count, what))

    def after_in_state(self, region: Region, ns: int, what: Callable[[Region], None]) -> None:
        version = region.version

        def act() -> None:
            if region.version == version:
                what(region)

        self.after(ns, act)

    def advance(self, until: int) -> None:
        while self.events and self.events[0][0] <= until:
            self.now, _, what = heapq.heappop(self.events)
            what()
        self.now = max(self.now, until)

    def interrupt(self, event: str) -> None:
        """The line rises with the first event; later ones are seen with it."""
        if not self.raised:
            self.seen = self.now + self.length(self.system.look)
        self.raised.add(event)

    def is_seen(self, now: int) -> bool:
        return bool(self.raised) and self.seen <= now

    # --- prr_choice ---

    @staticmethod
    def owns(region: Region, a: Device) -> bool:
        if region.state is State.IDLE:
            return region.client is a and region.task == a.number
        return region.client is a and region.state in (State.HOLD, State.BUSY, State.RECONFIG)

    @staticmethod
    def rank_of_idle(region: Region, a: Device) -> int:
        free = region.client is None or region.client is a
        if region.task == a.number:
            return 1 if free else 2
        return 3 if free else 4

    def rank(self, region: Region, a: Device) -> int | None:
        if region.next is a or self.owns(region, a):
            return 0
        if region.number not in a.words:
            return None
        if region.state is State.IDLE:
            return self.rank_of_idle(region, a)
        lower = region.client is not None and region.client.priority < a.priority
        return 5 if region.state in (State.BUSY, State.HOLD) and lower else None

    def choose(self, a: Device) -> tuple[Region, int] | None:
        if any(r.client is a and r.state in (State.PREEMPT, State.SWITCH) for r in self.regions):
            return None
        found = []
        for r in self.regions:
            rank = self.rank(r, a)
            if rank is not None:
                found.append((rank, r.number, r.client.priority if rank == 5 and r.client else 0))
        if not found:
            return None
        rank, number, _ = min(found)
        return self.regions[number], rank

    # --- prr_monitor ---

    def solve(self, a: Device) -> tuple[Region, bool, bool] | None:
        """The region, whether a job has to stop, whether it has to be configured; allocates it."""
        found = self.choose(a)
        if found is None:
            return None
        region, rank = found
        preempts = region.next is a if rank == 0 else region.state is State.BUSY
        configure = region.task != a.number
        if rank != 0 or region.state is State.IDLE:
            self.allocate(region, a)
        return region, preempts, configure

    def request(self, a: Device) -> tuple[Region, bool, bool] | None:
        found = self.solve(a)
        if found is None:
            self.wait(a)
        self.scan()
        return found

    def wait(self, a: Device) -> None:
        if a not in self.list:
            self.list.append(a)
            self.list.sort(key=lambda b: -b.priority)  # stable

    def scan(self) -> None:
        n = 0
        while n < len(self.list) and len(self.solutions) < SOLUTIONS:
            a = self.list[n]
            found = self.solve(a)
            n += 1
            if found is not None:
                self.list.remove(a)
                self.solutions.append((a, found[0], found[1]))
                self.interrupt("solution")
                n = 0

    # --- prr_fsm ---

    def enter(self, region: Region, state: State) -> None:
        region.state = state
        region.version += 1

    def drop(self, region: Region) -> None:
        if region.client is not None and region.client.region is region:
            region.client.region = None

    def hand(self, region: Region, a: Device) -> None:
        if region.client is not a:
            self.drop(region)
        region.client, region.next = a, None
        if region.task == a.number:
            self.enter(region, State.HOLD)
            self.after_in_state(region, self.system.hold, self.expire)
        else:
            region.task = None
            self.enter(region, State.RECONFIG)

    def allocate(self, region: Region, a: Device) -> None:
        if region.state is State.BUSY:
            region.next = a
            self.enter(region, State.PREEMPT)
            client = region.client
            assert client is not None
            wait = self.length(client.stop)
            left = region.since + client.left - self.now
            self.after_in_state(region, min(wait, left), self.end if left <= wait else self.save)
            return
        before = region.client if region.state is State.HOLD else None
        self.hand(region, a)
        if before is not None:
            self.wait(before)

    def expire(self, region: Region) -> None:
        self.drop(region)
        region.client = None
        self.enter(region, State.IDLE)
        self.all_regions = True
        self.interrupt("changes")
        self.scan()

    def save(self, region: Region) -> None:
        client = region.client
        assert client is not None
        client.left = max(0, region.since + client.left - self.now)
        client.saved = True
        self.wait(client)
        self.leave(region)

    def leave(self, region: Region) -> None:
        self.drop(region)
        following, region.next, region.client = region.next, None, None
        if following is not None:
            self.hand(region, following)
        else:
            self.enter(region, State.IDLE)
        self.interrupt("changes")
        self.scan()

    def end(self, region: Region) -> None:
        client = region.client
        assert client is not None
        client.over = True
        self.finished(client)
        if region.state is State.PREEMPT:
            self.leave(region)
        else:
            self.enter(region, State.IDLE)
            self.scan()

    def run(self, region: Region) -> None:
        assert region.client is not None
        region.since = self.now
        self.enter(region, State.BUSY)
        self.after_in_state(region, region.client.left, self.end)
        self.scan()

    def start(self, a: Device) -> None:
        """START, or a connection."""
        region = a.region
        if region is None or region.client is not a or region.state not in (State.HOLD, State.IDLE):
            return
        if a.saved:
            a.saved = False
            self.enter(region, State.SWITCH)
            self.after_in_state(region, self.length(a.stop), self.run)
        elif a.pending:
            a.pending = False
            self.run(region)

    def connect(self, a: Device, region: Region) -> None:
        a.region = region
        self.start(a)

    def configured(self, region: Region) -> None:
        assert region.client is not None
        region.task = region.client.number
        self.enter(region, State.HOLD)
        self.after_in_state(region, self.system.hold, self.expire)
        self.interrupt("configured")
        self.scan()


class Manager:
    """accel: each method that a section calls is a section's work."""

    def __init__(self, fabric: Fabric):
        self.fabric = fabric
        self.icap: Region | None = None
        self.queue: list[Region] = []
        self.update: list[Region] = []
        self.recheck: set[int] = set()
        self.timers_ahead: int | None = None  # of the later timer, if it is armed

    # --- icap.c ---

    def configure(self, region: Region) -> None:
        if self.icap is None and not self.queue:
            self.begin(region)
        elif region is not self.icap and region not in self.queue:
            self.queue.append(region)

    def begin(self, region: Region) -> None:
        client = region.client
        assert client is not None
        words = client.words[region.number]
        most = (words * max(2, len(self.fabric.regions)) + 1) // 2 + 17
        self.icap = region
        self.fabric.after(CYCLE_NS * (words + self.fabric.length(most - words)), lambda: self.fabric.configured(region))

    def port_done(self) -> None:
        region = self.icap
        assert region is not None
        self.icap = None
        self.update_region(region)
        while self.icap is None and self.queue:
            following = self.queue.pop(0)
            a = following.owner
            if a is not None and a.known == "waiting" and following.client is a and following.state is State.RECONFIG:
                self.begin(following)

    # --- regions.c ---

    def connect(self, a: Device, region: Region) -> None:
        region.owner, a.known, a.at = a, "connected", region.number
        self.fabric.connect(a, region)

    def lost(self, a: Device, preempted: bool) -> None:
        a.known = "idle"
        if preempted and a.saved:
            a.known = "waiting"
        elif a.pending or a.saved:
            self.recheck.add(a.vm)

    def end_promise(self, region: Region, owner: Device | None) -> None:
        promised, region.promised = region.promised, None
        if promised is not None and promised is not owner and promised.known == "waiting":
            self.lost(promised, False)

    def promise(self, a: Device, region: Region) -> None:
        self.end_promise(region, a)
        region.promised, region.stopped = a, region.owner

    def request(self, a: Device) -> None:
        found = self.fabric.request(a)
        a.known = "waiting"
        if found is None:
            return
        region, preempts, configure = found
        before = region.owner
        if preempts:
            self.promise(a, region)
            return
        if configure:
            region.owner = a
            self.configure(region)
        else:
            self.connect(a, region)
        if before is not None and before is not a:
            self.lost(before, False)

    def serve(self, a: Device, region: Region) -> None:
        if region.state is State.HOLD and (a.region is not region or a.known != "connected"):
            self.connect(a, region)
        elif region.state is State.RECONFIG:
            a.known = "waiting"
            self.configure(region)

    def update_region(self, region: Region) -> bool:
        before, owner, preempted = region.owner, region.client, region.promised is not None
        stops = region.state in (State.PREEMPT, State.SWITCH)
        if not stops or owner is not region.stopped:
            self.end_promise(region, owner)
        region.owner = owner
        loses = (
            before is not None and before is not owner and (before.known != "connected" or before.at == region.number)
        )
        if loses:
            assert before is not None
            self.lost(before, preempted)
        if owner is not None:
            self.serve(owner, region)
        return loses

    def take_solution(self) -> None:
        a, region, preempts = self.fabric.solutions.pop(0)
        if a.known == "connected":
            self.update_region(region)
        elif preempts:
            self.request(a)
        else:
            a.known = "waiting"
            self.update_region(region)
            if region.owner is not a:
                self.lost(a, False)
        self.fabric.scan()

    def changes(self) -> None:
        every, self.fabric.all_regions = self.fabric.all_regions, False
        loses = False
        for region in self.fabric.regions:
            if every or region.promised is not None:
                if loses:
                    self.update.append(region)
                else:
                    loses = self.update_region(region)

    # --- interrupt.c, accel.c ---

    def interrupt(self, now: int) -> bool:
        """A section of the fabric's interrupt; False if it is not seen."""
        raised = self.fabric.raised
        if not self.fabric.is_seen(now):
            return False
        if "configured" in raised:
            raised.discard("configured")
            self.port_done()
        elif "changes" in raised:
            raised.discard("changes")
            self.changes()
        elif self.update:
            self.update_region(self.update.pop(0))
        else:
            self.take_solution()
            if not self.fabric.solutions:
                raised.discard("solution")
        return True

    def later(self) -> bool:
        """A section of the timers; False if none is due."""
        if not self.update and not self.recheck:
            self.timers_ahead = None
            return False
        if self.timers_ahead is None:
            self.timers_ahead = self.fabric.random.randint(0, self.fabric.system.timers)
        if self.timers_ahead > 0:
            self.timers_ahead -= 1
        elif self.update:
            self.update_region(self.update.pop(0))
        else:
            self.recheck_first()
        return True

    def recheck_first(self) -> None:
        vm = min(self.recheck)
        for a in self.fabric.system.devices:
            if a.vm == vm and a.known == "idle" and (a.pending or a.saved):
                self.request(a)
                return
        self.recheck.discard(vm)

    def write_start(self, a: Device) -> None:
        """A VM writes START: at first to a page that it may write, or that the manager lets it write."""
        a.over, a.left = False, self.fabric.length(a.job)
        if a.known == "idle":
            self.request(a)
        a.pending = True
        self.fabric.start(a)


@dataclass
class App:
    budget: int
    deadline: int
    period: int
    next: int  # release
    left: int = 0
    due: int = 0
    start: int = -1  # what is left of the job when it writes START; -1: no more


@dataclass
class Result:
    delays: list[int] = field(default_factory=list)
    late: int = 0
    jobs: int = 0
    missed: int = 0


class Hart:
    """EDF, then sections of the manager, then guests."""

    def __init__(self, system: System, random: Random):
        self.system, self.random = system, random
        self.fabric = Fabric(system, random)
        self.manager = Manager(self.fabric)
        self.fabric.finished = self.finished
        self.apps = [App(budget, deadline, period, offset) for budget, deadline, period, offset in system.apps]
        self.result = Result()
        self.now = 0
        self.guest_at = 0

    def finished(self, a: Device) -> None:
        if a is self.system.devices[0]:
            self.result.delays.append(self.fabric.now - a.began)

    def pass_until(self, until: int) -> None:
        self.now = until
        self.fabric.advance(until)

    def release(self) -> None:
        for app in self.apps:
            if app.next > self.now:
                continue
            self.result.missed += app.left > 0
            app.left, app.due = app.budget, app.next + app.deadline
            if app is self.apps[0]:
                self.result.jobs += 1
                self.result.late += not self.system.devices[0].over
                app.start = self.random.randint(0, app.budget - 1) if self.random.random() < 0.5 else 0
            app.next += app.period

    def run_app(self, app: App) -> None:
        until = min(self.now + app.left, min(a.next for a in self.apps))
        starts = self.now + app.left - app.start
        if (0 <= app.start < app.left and starts < until) or (app.start == 0 and starts <= until):
            until = starts
        app.left -= until - self.now
        self.pass_until(until)
        if app.start >= 0 and app.left == app.start:
            app.start = -1
            self.start_job()

    def start_job(self) -> None:
        a = self.system.devices[0]
        if a.over:
            a.began = self.now
            self.manager.write_start(a)

    def sections(self) -> bool:
        """A section of the manager, if one is due."""
        self.pass_until(self.now)
        if self.fabric.is_seen(self.now):
            self.pass_until(self.now + self.fabric.length(self.system.section))
            return self.manager.interrupt(self.now)
        if self.manager.update or self.manager.recheck:
            self.pass_until(self.now + self.fabric.length(self.system.section))
            return self.manager.later()
        return False

    def guest(self) -> None:
        """A guest starts a job, or is in the hypervisor for a while, or computes."""
        times = [app.next for app in self.apps] + [self.fabric.seen] * bool(self.fabric.raised)
        if self.fabric.events:
            times.append(self.fabric.events[0][0])
        if self.guest_at > min(times):
            section = self.random.random() < 0.3
            self.pass_until(max(self.now, min(times)))
            if section:
                self.pass_until(self.now + self.fabric.length(self.system.blocked))
            return
        self.pass_until(max(self.now, self.guest_at))
        self.guest_at = self.now + self.random.randint(0, 2 * self.system.gap)
        a = self.random.choice(self.system.devices)
        if a is not self.system.devices[0] and a.over:
            self.manager.write_start(a)

    def step(self) -> None:
        self.release()
        ready = [app for app in self.apps if app.left > 0]
        if ready:
            self.run_app(min(ready, key=lambda app: app.due))
        elif not self.sections():
            self.guest()

    def run(self, jobs: int) -> Result:
        while self.result.jobs < jobs:
            self.step()
        return self.result
