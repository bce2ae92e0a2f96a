# SPDX-License-Identifier: Apache-2.0
"""
Time limits that distinguish a guest that hangs from a host that is too slow.

A limit counts only seconds in which no thread of the machine waited for a CPU: the kernel records,
for each thread, the time that it ran and the time that it was runnable but did not run
(/proc/PID/task/TID/schedstat). If this host is a virtual machine, the kernel also records the time
that its hypervisor gave to other VMs (/proc/stat, steal); that time does not count either.
"""

import os
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# A limit of t seconds ends at the latest after max(HOST_FACTOR * t, LEAST_S) seconds of the host.
HOST_FACTOR = 5
LEAST_S = 60
PROBE_S = 0.05  # longer than the scheduler's tick, at which a running thread is charged
STAT = Path("/proc/stat")
_NS = 1e-9
_TICK_S = 1 / os.sysconf("SC_CLK_TCK")
_STEAL = 8  # field of a CPU's line in /proc/stat, proc(5)


class HostTooSlowError(Exception):
    """The host gave the machine too little CPU time, so that the test has no result."""


@dataclass(frozen=True)
class CpuTime:
    """Seconds that a thread ran, and seconds that it was runnable and waited for a CPU."""

    ran: float
    waited: float


def _tasks(pid: int) -> list[Path]:
    """Returns the folders of the process's threads; an empty list if the process has ended."""
    try:
        return [Path(entry.path) for entry in os.scandir(f"/proc/{pid}/task")]
    except OSError:
        return []


def _processes(pid: int) -> Iterator[int]:
    """Yields the process and its descendants."""
    yield pid
    for thread in _tasks(pid):
        for child in _read(thread / "children").split():
            yield from _processes(int(child))


def _read(path: Path) -> str:
    """Reads a file of /proc; returns an empty string if the thread has ended or the kernel has no
    such file."""
    try:
        return path.read_text(encoding="latin-1")
    except OSError:
        return ""


def _threads(pid: int) -> Iterator[Path]:
    """Yields the folders in /proc of the threads of the process and of its descendants."""
    for process in _processes(pid):
        yield from _tasks(process)


def cpu_times(pid: int) -> dict[Path, CpuTime]:
    """Returns the CPU times of each thread of the process and of its descendants."""
    fields = {thread: _read(thread / "schedstat").split() for thread in _threads(pid)}
    return {thread: CpuTime(int(of[0]) * _NS, int(of[1]) * _NS) for thread, of in fields.items() if of}


def _is_runnable(thread: Path) -> bool:
    return _read(thread / "stat").rpartition(")")[2].split()[:1] == ["R"]


def _waits_now(pid: int) -> bool:
    """Returns whether a runnable thread waits for a CPU now. The kernel counts a wait only when the
    wait has ended."""
    before = cpu_times(pid)
    time.sleep(PROBE_S)
    after = cpu_times(pid)
    return any(after.get(thread) == spent and _is_runnable(thread) for thread, spent in before.items())


def stolen_times() -> list[float]:
    """Returns, for each CPU of this host, the seconds that the host's hypervisor gave to other
    VMs."""
    # The first line is the sum of all CPUs.
    cpus = [line.split() for line in _read(STAT).splitlines() if line.startswith("cpu")][1:]
    return [int(of[_STEAL]) * _TICK_S for of in cpus if len(of) > _STEAL]


class Limit:
    """A time limit of `seconds` for the process `pid`, starting now."""

    def __init__(self, pid: int, seconds: float) -> None:
        self.pid = pid
        self.seconds = seconds
        self.too_slow = False  # the limit ended because of the host; set by left()
        self._begin = time.monotonic()
        self._before = cpu_times(pid)
        self._stolen_before = stolen_times()

    @property
    def elapsed(self) -> float:
        """Seconds of the host since the limit started."""
        return time.monotonic() - self._begin

    def spent(self) -> CpuTime:
        """Time that all threads ran since the start, and the wait of the thread that waited
        longest."""
        zero = CpuTime(0, 0)
        pairs = [(self._before.get(thread, zero), now) for thread, now in cpu_times(self.pid).items()]
        ran = sum(now.ran - before.ran for before, now in pairs)
        return CpuTime(ran, max((now.waited - before.waited for before, now in pairs), default=0.0))

    @property
    def stolen(self) -> float:
        """Largest stolen time of a CPU since the start: a thread may have been stopped for that
        long."""
        return max(
            (now - before for before, now in zip(self._stolen_before, stolen_times(), strict=False)), default=0.0
        )

    @property
    def served(self) -> float:
        """Seconds of the host in which no thread waited for a CPU, and no CPU's time was stolen."""
        return max(0.0, self.elapsed - self.spent().waited - self.stolen)

    def left(self) -> float:
        """Seconds of the host after which to call again; 0 if the limit has expired."""
        if self.elapsed < self.seconds:
            return self.seconds - self.elapsed
        left = self.seconds - self.served
        if left <= 0:
            left = PROBE_S if _waits_now(self.pid) else self.seconds - self.served
        latest = max(HOST_FACTOR * self.seconds, LEAST_S) - self.elapsed
        self.too_slow = left > 0 and latest <= 0
        return max(0.0, min(left, latest))

    def words(self, what: str = "QEMU") -> str:
        """Describes the host's time that the process has received."""
        spent = self.spent()
        got = f"{what} got {spent.ran:.1f} s of CPU in {self.elapsed:.0f} s and waited {spent.waited:.1f} s for it"
        if self.stolen >= 1:
            got += f"; this host itself lost {self.stolen:.0f} s of a CPU"
        return f"the host is too slow: {got}" if self.too_slow else got

    def raise_if_too_slow(self, what: str = "QEMU") -> None:
        if self.too_slow:
            raise HostTooSlowError(self.words(what))


def run(command: list[str], seconds: float, **options: Any) -> subprocess.CompletedProcess[bytes]:
    """Like subprocess.run(), with such a limit. Raises HostTooSlowError or
    subprocess.TimeoutExpired."""
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
