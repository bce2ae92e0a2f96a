# SPDX-License-Identifier: Apache-2.0
"""
Time limits that tell a guest that hangs from a host that is too slow.

A limit counts only seconds in which no thread of the machine waited for a CPU: the kernel keeps, for each thread, the
time that it ran and the time that it was runnable and did not run (/proc/PID/task/TID/schedstat). Where this host is a
virtual machine itself, it keeps for each CPU the time that others were given (/proc/stat, steal), which does not count
either.
"""

import os
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# A limit of t seconds ends at the latest after STRETCH * t seconds of the host, or LEAST_S if that is more.
STRETCH = 5
LEAST_S = 60
PROBE_S = 0.05  # more than the scheduler's tick, at which a thread that runs is charged
STAT = Path("/proc/stat")
_NS = 1e-9
_TICK_S = 1 / os.sysconf("SC_CLK_TCK")
_STEAL = 8  # field of a CPU's line, proc(5)


class HostTooSlowError(Exception):
    """The host did not give the machine the time that it would have needed; nothing is known of the guests."""


@dataclass(frozen=True)
class CpuTime:
    """In seconds: what a thread ran, and what it waited for a CPU while it could have run."""

    ran: float
    waited: float


def _processes(pid: int) -> Iterator[int]:
    """The process and its descendants."""
    yield pid
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in _read(path).split():
            yield from _processes(int(child))


def _read(path: Path) -> str:
    """Nothing if the thread has ended, or the kernel keeps no such figures."""
    try:
        return path.read_text(encoding="latin-1")
    except OSError:
        return ""


def _threads(pid: int) -> Iterator[Path]:
    """The folders in /proc of the threads of the process and of its descendants."""
    for process in _processes(pid):
        try:
            yield from [Path(entry.path) for entry in os.scandir(f"/proc/{process}/task")]
        except OSError:  # it has ended
            continue


def cpu_times(pid: int) -> dict[Path, CpuTime]:
    """Of each thread of the process and of its descendants."""
    fields = {thread: _read(thread / "schedstat").split() for thread in _threads(pid)}
    return {thread: CpuTime(int(of[0]) * _NS, int(of[1]) * _NS) for thread, of in fields.items() if of}


def _is_runnable(thread: Path) -> bool:
    return _read(thread / "stat").rpartition(")")[2].split()[:1] == ["R"]


def _waits_now(pid: int) -> bool:
    """Whether a thread could run and does not. The kernel counts a wait only when it has ended."""
    before = cpu_times(pid)
    time.sleep(PROBE_S)
    after = cpu_times(pid)
    return any(after.get(thread) == spent and _is_runnable(thread) for thread, spent in before.items())


def stolen_times() -> list[float]:
    """Of each CPU of this host, the seconds in which its own host let others run."""
    cpus = [line.split() for line in _read(STAT).splitlines() if line.startswith("cpu")][1:]  # the first is their sum
    return [int(of[_STEAL]) * _TICK_S for of in cpus if len(of) > _STEAL]


class Limit:
    """A time limit of `seconds` for what the process `pid` is to do, from now on."""

    def __init__(self, pid: int, seconds: float) -> None:
        self.pid = pid
        self.seconds = seconds
        self.too_slow = False  # the limit ended because of the host; left() says when it has ended
        self._begin = time.monotonic()
        self._before = cpu_times(pid)
        self._stolen_before = stolen_times()

    @property
    def elapsed(self) -> float:
        """Seconds of the host since the limit began."""
        return time.monotonic() - self._begin

    def spent(self) -> CpuTime:
        """What all threads ran since then, and what the thread that waited longest waited."""
        zero = CpuTime(0, 0)
        pairs = [(self._before.get(thread, zero), now) for thread, now in cpu_times(self.pid).items()]
        ran = sum(now.ran - before.ran for before, now in pairs)
        return CpuTime(ran, max((now.waited - before.waited for before, now in pairs), default=0.0))

    @property
    def stolen(self) -> float:
        """Seconds that the CPU which lost most has lost since then: as long may a thread have stood still."""
        return max(
            (now - before for before, now in zip(self._stolen_before, stolen_times(), strict=False)), default=0.0
        )

    @property
    def served(self) -> float:
        """Seconds of the host in which no thread waited for a CPU, and no CPU for the host's host."""
        return max(0.0, self.elapsed - self.spent().waited - self.stolen)

    def left(self) -> float:
        """Seconds of the host after which to ask again; 0 if the limit is over."""
        if self.elapsed < self.seconds:
            return self.seconds - self.elapsed
        left = self.seconds - self.served
        if left <= 0:
            left = PROBE_S if _waits_now(self.pid) else self.seconds - self.served
        latest = max(STRETCH * self.seconds, LEAST_S) - self.elapsed
        self.too_slow = left > 0 and latest <= 0
        return max(0.0, min(left, latest))

    def words(self, what: str = "QEMU") -> str:
        """What the process got of the host's time."""
        spent = self.spent()
        got = f"{what} got {spent.ran:.1f} s of CPU in {self.elapsed:.0f} s and waited {spent.waited:.1f} s for it"
        if self.stolen >= 1:
            got += f"; this host itself lost {self.stolen:.0f} s of a CPU"
        return f"the host is too slow: {got}" if self.too_slow else got

    def raise_if_too_slow(self, what: str = "QEMU") -> None:
        if self.too_slow:
            raise HostTooSlowError(self.words(what))


def run(command: list[str], seconds: float, **options: Any) -> subprocess.CompletedProcess[bytes]:
    """As subprocess.run(), with a limit of this kind. Raises HostTooSlowError or subprocess.TimeoutExpired."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options) as process:
        limit = Limit(process.pid, seconds)
        while True:
            try:
                out, err = process.communicate(timeout=limit.left())
                return subprocess.CompletedProcess(command, process.returncode, out, err)
            except subprocess.TimeoutExpired:
                if limit.left() == 0:
                    slow = limit.too_slow
                    words = limit.words(Path(command[0]).name)
                    process.kill()
                    if slow:
                        raise HostTooSlowError(words) from None
                    raise
