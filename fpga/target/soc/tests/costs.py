# SPDX-License-Identifier: Apache-2.0
"""A model of cycles from the events of a path (program/costs.c) and the latency of DRAM (docs/benchmarks.md)."""

from dataclasses import astuple, dataclass, fields, replace

# Cycles of single accesses, which the program measures by themselves (docs/fabric.md): a read of a device's register, a
# write that something waits for, and an AMO, which waits for DRAM twice.
READ = 15
WRITE = 12
ATOMIC = 18
ATOMIC_WAITS = 2
# What privileged code does, from program/privileged.c: a CSR access, one that flushes the pipeline (status, address
# space) and SFENCE.VMA, a trap and the return from it without its handler, a walk of a page table that is in the cache.
CSR = 2
FLUSH = 7
TRAP = 14
WALK = 12
# Stores without a wait: they leave the core's buffers while it goes on.
BUFFERED = 14
# How often the device of a path waits for DRAM while the core sleeps.
DEVICE_WAITS = {"job": 3}
# Paths so short that with empty caches the measurement's own misses overlap with theirs: they count warm only.
SHORT = ("request", "put", "pop")
STEP = 1.02  # of a constant in the search, and how often all are tried
ROUNDS = 400


@dataclass(frozen=True)
class Path:
    """One line `path` of the program; `cold` begins with empty caches."""

    name: str
    cold: bool
    cycles: int
    instructions: int
    fetch_misses: int
    load_misses: int
    stores: int
    mispredicted: int  # within the cycles of an instruction
    reads: int
    writes: int
    posted: int
    atomics: int

    @property
    def misses(self) -> int:
        return self.fetch_misses + self.load_misses

    @property
    def synchronizes(self) -> bool:
        """An access to a device, a fence and an AMO wait until all stores have left."""
        return self.reads + self.writes + self.atomics > 0

    @property
    def dram_stores(self) -> int:
        return self.stores - self.writes - self.posted


@dataclass(frozen=True)
class Model:
    """Cycles of an instruction; of a miss and of a store, beside DRAM's latency; of the job's device."""

    instruction: float
    miss: float
    store: float
    device: float

    def parts(self, path: Path, latency: int, write_back: bool) -> dict[str, float]:
        """Cycles by what takes them. Stores leave while the core waits for misses; a write-back cache keeps them."""
        waits = DEVICE_WAITS.get(path.name, 0)
        execution = self.instruction * (path.instructions - path.reads - path.writes)
        misses = path.misses * (latency + self.miss)
        if write_back:
            stores = 0.0
        elif path.synchronizes:
            stores = path.dram_stores * (latency + self.store)
        else:
            stores = max(0, path.dram_stores - BUFFERED) * (latency + self.store) - execution
        return {
            "instructions": execution,
            "misses": misses,
            "stores": max(0.0, stores - misses),
            "registers": READ * path.reads + WRITE * path.writes,
            "atomics": path.atomics * (ATOMIC + ATOMIC_WAITS * latency),
            "device": waits and self.device + waits * latency,
        }

    def cycles(self, path: Path, latency: int, *, write_back: bool = False) -> float:
        return sum(self.parts(path, latency, write_back).values())

    def error(self, path: Path, latency: int, *, write_back: bool = False) -> float:
        """Of the prediction, as a part of the measured cycles."""
        return self.cycles(path, latency, write_back=write_back) / path.cycles - 1


@dataclass(frozen=True)
class Privileged:
    """What privileged code has beside instructions, misses and stores; `elsewhere`: cycles in M-mode."""

    csrs: int = 0
    flushes: int = 0  # CSR accesses that flush, and SFENCE.VMA
    traps: int = 0
    atomics: int = 0
    elsewhere: int = 0

    def cycles(self, instruction: float, latency: int) -> float:
        """Beyond the cycles that the same instructions have as others."""
        added = self.csrs * CSR + self.flushes * FLUSH + self.traps * TRAP
        added += self.atomics * (ATOMIC + ATOMIC_WAITS * latency)
        instructions = self.csrs + self.flushes + 2 * self.traps + self.atomics
        return added - instructions * instruction + self.elsewhere


# Of the hypervisor's paths, counted in QEMU 7.2; the switch with the timer's interrupt and SBI call in M-mode (46, 51
# cycles by hand on CVA6 6cb2001 with the project's firmware).
PRIVILEGED = {
    "riscv.hypercall.null": Privileged(csrs=6, traps=1),
    "riscv.switch.quantum": Privileged(csrs=32, flushes=5, traps=1, elsewhere=97),
    "riscv.ipc.send.100": Privileged(csrs=6, traps=1, atomics=1),
    "riscv.ipc.recv.100": Privileged(csrs=6, flushes=1, traps=1),
}


START = Model(instruction=1.2, miss=6, store=1, device=30)


def parse_path(line: str) -> Path:
    name, caches, *numbers = line.split()
    return Path(name, caches == "cold", *map(int, numbers))


def own(paths: list[Path]) -> list[Path]:
    """The paths without what the measurement itself takes, which the path `nothing` has."""
    empty = {path.cold: path for path in paths if path.name == "nothing"}
    names = [field.name for field in fields(Path)[2:]]
    found = []
    for path in paths:
        if path.name != "nothing" and not (path.cold and path.name in SHORT):
            without = {name: max(0, getattr(path, name) - getattr(empty[path.cold], name)) for name in names}
            found.append(replace(path, **without))
    return found


def fit(runs: dict[int, list[Path]]) -> Model:
    """The constants with the least squares of relative errors over runs by latency.

    Each constant is moved by a step as long as that helps.
    """

    def badness(values: list[float]) -> float:
        model = Model(*values)
        return sum(model.error(path, latency) ** 2 for latency, paths in runs.items() for path in paths)

    best = list(astuple(START))
    least = badness(best)
    for _ in range(ROUNDS):
        before = least
        for index in range(len(best)):
            for factor in (STEP, 1 / STEP):
                tried = [*best]
                tried[index] *= factor
                if (found := badness(tried)) < least:
                    best, least = tried, found
        if least == before:
            break
    return Model(*best)
