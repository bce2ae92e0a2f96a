# SPDX-License-Identifier: Apache-2.0
"""The measurements: each function makes some figures; none knows of goals or tables."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from tessera.bench_count import CountError, make_counter
from tessera.bench_machine import BenchError, count_system, run_native, run_system
from tessera.bench_native import count_native
from tessera.bench_parse import Figure, ParseError, boot_cost, figures, gaps, single, summary, switches
from tessera.bench_size import hypervisor_files, lines_of_code, section_sizes
from tessera.runner import ROOT, BuiltSystem, Qemu, RunError, load_system

LATENCY = "riscv.timer.latency.sstc"
LINUX_RUNS = 3  # alike within a few instructions: a run that is not is worth seeing in min and max


@dataclass(frozen=True)
class Taken:
    """A figure and the system it was measured in ("native": without the hypervisor)."""

    figure: Figure
    system: str


@dataclass
class Bench:
    """Where things are, and what was taken and what failed so far."""

    qemu: Qemu
    out: Path
    build: Path = ROOT / "build"

    def __post_init__(self) -> None:
        self.taken: list[Taken] = []
        self.failed: list[str] = []

    def system(self, name: str) -> BuiltSystem:
        return load_system(name, self.build)

    def add(self, figure: Figure, system: str) -> None:
        self.taken.append(Taken(figure, system))

    @contextmanager
    def attempt(self, what: str) -> Iterator[None]:
        """A measurement that cannot be made is told of, and the others go on."""
        try:
            yield
        except (BenchError, CountError, ParseError, RunError) as error:
            self.failed.append(f"{what}: {error}")


def operations(bench: Bench) -> None:
    """Round trips as the bench guest sees them, in a VM and natively, and what the hypervisor adds to a timer."""
    system = bench.system("bench")
    consoles = run_system(bench.qemu, system)
    in_vm = figures(consoles.guests[system.names[0]])
    natively = figures(run_native(bench.qemu, system, system.names[0]))
    if not in_vm or not natively:
        raise ParseError("the bench guest printed no figures")
    for figure in in_vm.values():
        bench.add(figure, system.name)
    for figure in natively.values():
        bench.add(figure, "native")
    if LATENCY in in_vm and LATENCY in natively:
        bench.add(added(in_vm[LATENCY], natively[LATENCY]), system.name)


def added(in_vm: Figure, natively: Figure) -> Figure:
    """
    What the hypervisor adds to a latency. A timer interrupts 0 to 99 instructions after its deadline, by the phase of
    its tick, and the two runs meet different phases: the least of many shots is compared with the least. `median` and
    `max` are the differences of those.
    """
    return Figure(
        "riscv.timer.added",
        in_vm.unit,
        in_vm.min - natively.min,
        in_vm.median - natively.median,
        in_vm.max - natively.max,
        in_vm.n,
    )


def switch(bench: Bench) -> None:
    """From one VM's last instruction to the other's first at the end of a quantum, both ways."""
    system = bench.system("switch")
    consoles = run_system(bench.qemu, system)
    first, second = (gaps(consoles.guests[name]) for name in system.names[:2])
    costs = switches(first, second)
    if len(costs) < 100:
        raise ParseError(f"only {len(costs)} switches could be paired from {len(first)} and {len(second)} gaps")
    bench.add(summary("riscv.switch.quantum", "instructions", costs), system.name)


def messages(bench: Bench) -> None:
    """Messages between two VMs on one hart: sending, receiving, and the whole way."""
    system = bench.system("bench-ipc")
    consoles = run_system(bench.qemu, system)
    taken = [figure for name in system.names for figure in figures(consoles.guests[name]).values()]
    if len(taken) < 16:
        raise ParseError(f"only {len(taken)} figures of messages")
    for figure in taken:
        bench.add(figure, system.name)


def boot(bench: Bench) -> None:
    """
    The hypervisor's way to the first guest instruction: counted from outside, less what it says it spent on copying
    and clearing.
    """
    system = bench.system("bench")
    consoles = run_system(bench.qemu, system)
    told, filling = boot_cost(consoles.hypervisor)
    counter = make_counter(bench.qemu, bench.out)
    whole, _ = count_system(bench.qemu, system, counter, bench.out / "count-boot.json")
    bench.add(single("riscv.boot.first_guest_insn", "instructions", whole - filling), system.name)
    bench.add(single("riscv.boot.filling", "instructions", filling), system.name)
    bench.add(single("riscv.boot.told", "instructions", told), system.name)


def linux(bench: Bench) -> None:
    """Debian's Linux from its first instruction to power-off, in a VM and natively."""
    system = bench.system("bench-linux")
    counter = make_counter(bench.qemu, bench.out)

    def runs(count: Callable[..., int], name: str) -> list[int]:
        out = bench.out / f"count-{name}.json"
        return [count(bench.qemu, system, counter, out) for _ in range(LINUX_RUNS)]

    in_vm = runs(lambda *words: count_system(*words)[1], "linux-vm")
    natively = runs(count_native, "linux-native")
    bench.add(summary("riscv.linux.boot", "instructions", in_vm), system.name)
    bench.add(summary("riscv.linux.boot", "instructions", natively), "native")
    ratio = Figure(
        "riscv.linux.boot_ratio",
        "ratio",
        median(in_vm) / median(natively),
        median(in_vm) / median(natively),
        max(in_vm) / min(natively),
        LINUX_RUNS,
    )
    bench.add(ratio, system.name)


def size(bench: Bench) -> None:
    """Sections and lines of code of the hypervisor."""
    folder = bench.build / "hyp" / "qemu-virt"
    for name, value in section_sizes(folder / "tessera.elf").items():
        bench.add(single(f"riscv.size.{name}", "bytes", value), "hypervisor")
    files = hypervisor_files(folder)
    bench.add(single("riscv.size.loc", "lines", lines_of_code(files)), "hypervisor")


MEASUREMENTS: dict[str, Callable[[Bench], None]] = {
    "operations": operations,
    "switch": switch,
    "messages": messages,
    "boot": boot,
    "linux": linux,
    "size": size,
}
