# SPDX-License-Identifier: Apache-2.0
"""The measurements on RISC-V: each function produces figures and is independent of goals and
tables."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from tessera.bench import accel, iperf, overlay
from tessera.bench import response as responses
from tessera.bench import thread_metric as services
from tessera.bench.accel_run import run_check, run_jobs, run_paths
from tessera.bench.adpcm import Run, overheads, parse_run, tick_cost, tick_share
from tessera.bench.count import CountError, Interval, make_counter
from tessera.bench.delay import bound_us, delays, with_trace
from tessera.bench.machine import (
    BenchError,
    count_restarts,
    count_system,
    function,
    run_native,
    run_system,
    run_tool,
    run_until,
)
from tessera.bench.native import count_native
from tessera.bench.parse import Figure, ParseError, boot_cost, figures, gaps, single, summary, switches
from tessera.bench.rt import apps, releases
from tessera.bench.sections import arguments as section_arguments
from tessera.bench.sections import read_sections, rt_costs
from tessera.bench.size import hypervisor_files, hypervisor_objects, lines_of_code, section_sizes
from tessera.bench.worst import Worst, groups, read_worst
from tessera.run.cosim import fabric_arguments
from tessera.run.runner import ROOT, BuiltSystem, Qemu, RunError, load_system
from tessera.run.virtualtime import ICOUNT
from tessera.verify.stack_depth import deepest, read_graph

RT_STRESS_S = 1200.0
LOAD_S = 300.0
NS_PER_TICK = 100  # of QEMU's time CSR
NS_PER_US = 1000
LATENCY = "riscv.timer.latency.sstc"
# systems/bench: one to eight VMs, and a quantum of 1, 5 or 10 ms
ADPCM = ("1vm.q1ms", "1vm.q5ms", "1vm.q10ms", "2vm.q1ms", "4vm.q1ms", "8vm.q1ms")
ADPCM_MODEL = "a core of 100 MIPS: every time is divided by ten, the quantum as the guest's tick (10 ms, here 1 ms)"
ADPCM_SYSTEMS = tuple(f"adpcm-{name}".replace(".", "-") for name in (*ADPCM, "1vm.bare", "2vm.q1ms.1gips"))
HANG_AT = 0x80380000  # tests/guests/bench/hang.c
MANAGER = {
    "accel_interrupt",
    "accel_continue",
    "accel_write_fault",
}  # functions through which the manager of the fabric runs
LINUX_RUNS = 3  # runs differ by a few instructions; min and max show an outlier


@dataclass(frozen=True)
class Conditions:
    """How the emulator ran: on `harts`, and in virtual time (QEMU's `-icount`) or, if that is None, in the host's."""

    harts: int = 1
    icount: str | None = ICOUNT


@dataclass(frozen=True)
class Taken:
    """
    A figure and the system in which it was measured ("native": without the hypervisor). `model`
    describes the machine that the figure stands for, if it is another one; `curve` holds the figure
    after each tenth of the work, or the samples of a distribution.
    """

    figure: Figure
    system: str
    model: str = ""
    curve: tuple[float, ...] = ()
    conditions: Conditions = Conditions()


@dataclass
class Bench:
    """The emulator, the folders, and the figures and failures so far."""

    qemu: Qemu
    out: Path
    build: Path = ROOT / "build"

    def __post_init__(self) -> None:
        self.taken: list[Taken] = []
        self.failed: list[str] = []

    def system(self, name: str) -> BuiltSystem:
        return load_system(name, self.build)

    def add(
        self,
        figure: Figure,
        system: str,
        model: str = "",
        curve: Sequence[float] = (),
        conditions: Conditions = Conditions(),
    ) -> None:
        self.taken.append(Taken(figure, system, model, tuple(curve), conditions))

    @contextmanager
    def attempt(self, what: str) -> Iterator[None]:
        """Records the failure of a measurement, so that the other measurements continue."""
        try:
            yield
        except (BenchError, CountError, ParseError, RunError) as error:
            self.failed.append(f"{what}: {error}")


def operations(bench: Bench) -> None:
    """Round trips measured by the bench guest, in a VM and natively, and the timer latency added by
    the hypervisor."""
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
    Returns the latency that the hypervisor adds. A timer interrupts 0 to 99 instructions after its
    deadline, depending on the phase of its tick, which differs between the two runs; therefore the
    minima of many samples are compared. `median` and `max` are the differences of these statistics.
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
    """From one VM's last instruction to the other's first at the end of a quantum, in both
    directions."""
    system = bench.system("switch")
    consoles = run_system(bench.qemu, system)
    first, second = (gaps(consoles.guests[name]) for name in system.names[:2])
    costs = switches(first, second)
    if len(costs) < 100:
        raise ParseError(f"only {len(costs)} switches could be paired from {len(first)} and {len(second)} gaps")
    bench.add(summary("riscv.switch.quantum", "instructions", costs), system.name)


def messages(bench: Bench) -> None:
    """Messages between two VMs on one hart: sending, receiving, and delivery."""
    system = bench.system("bench-ipc")
    consoles = run_system(bench.qemu, system)
    taken = [figure for name in system.names for figure in figures(consoles.guests[name]).values()]
    if len(taken) < 16:
        raise ParseError(f"only {len(taken)} figures of messages")
    for figure in taken:
        bench.add(figure, system.name)


def boot(bench: Bench) -> None:
    """
    The hypervisor's instructions before the first guest instruction, counted by QEMU, without those
    that the hypervisor reports for copying and clearing memory.
    """
    system = bench.system("bench")
    consoles = run_system(bench.qemu, system)
    reported, filling = boot_cost(consoles.hypervisor)
    counter = make_counter(bench.qemu, bench.out)
    whole, _ = count_system(bench.qemu, system, counter, bench.out / "count-boot.json")
    bench.add(single("riscv.boot.first_guest_insn", "instructions", whole - filling), system.name)
    bench.add(single("riscv.boot.filling", "instructions", filling), system.name)
    bench.add(single("riscv.boot.reported", "instructions", reported), system.name)


def restart(bench: Bench) -> None:
    """
    From the last instruction of a guest whose watchdog expires to its first instruction after the
    restart, without copying and clearing memory: timer interrupt, VM stop, console line, reset of
    the devices, VM start.
    """
    system = bench.system("bench-restart")
    counter = make_counter(bench.qemu, bench.out)
    elf = system.hypervisor
    interval = Interval(HANG_AT, callee=function(elf, "load_piece")[0], caller=function(elf, "vm_load_step"))
    costs = count_restarts(bench.qemu, system, counter, interval, bench.out / "count-restart.json")
    bench.add(summary("riscv.vm.restart", "instructions", costs), system.name)


def load(bench: Bench) -> None:
    """The delay of a periodic guest while a VM of 256 MiB is loaded repeatedly."""
    system = bench.system("bench-load")
    console = run_until(bench.qemu, system, "ticker", "BENCH done", LOAD_S)
    bench.add(figures(console)["riscv.load.late.max"], system.name)


def linux(bench: Bench) -> None:
    """Debian's Linux from its first instruction to power-off, in a VM and natively: the ratio of
    instructions."""
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


def _adpcm_runs(bench: Bench, system: BuiltSystem) -> list[Run]:
    consoles = run_system(bench.qemu, system)
    return [parse_run(consoles.guests[name]) for name in system.names]


def _adpcm_native(bench: Bench, system: BuiltSystem) -> Run:
    return parse_run(run_native(bench.qemu, system, system.names[0]))


def adpcm(bench: Bench) -> None:
    """The ADPCM codec in FreeRTOS, in VMs that share a hart and natively: the M5150 paper, section
    V."""
    native = _adpcm_native(bench, bench.system("adpcm-1vm-q1ms"))
    bare = bench.system("adpcm-1vm-bare")
    bare_native = _adpcm_native(bench, bare)
    tick = tick_cost(native, bare_native)
    bench.add(single("riscv.adpcm.tick", "instructions", tick), "native")
    bench.add(single("riscv.adpcm.work", "instructions", native.instructions), "native")
    for name in ADPCM:
        system = bench.system(f"adpcm-{name}".replace(".", "-"))
        runs = _adpcm_runs(bench, system)
        curve = overheads(runs, native)
        bench.add(single(f"riscv.adpcm.{name}", "percent", curve[-1]), system.name, ADPCM_MODEL, curve)
        if len(runs) > 1:
            share = tick_share(runs, native, tick)
            bench.add(single(f"riscv.adpcm.{name}.guest", "percent", share), system.name, ADPCM_MODEL)
    curve = overheads(_adpcm_runs(bench, bare), bare_native)
    bench.add(single("riscv.adpcm.1vm.bare", "percent", curve[-1]), bare.name, ADPCM_MODEL, curve)


def adpcm_1gips(bench: Bench) -> None:
    """Two VMs with a quantum of 1 ms on this machine at 1 GIPS, as the successor of the M5150
    hypervisor was measured."""
    system = bench.system("adpcm-2vm-q1ms-1gips")
    curve = overheads(_adpcm_runs(bench, system), _adpcm_native(bench, system))
    bench.add(single("riscv.adpcm.2vm.q1ms.1gips", "percent", curve[-1]), system.name, curve=curve)


def size(bench: Bench) -> None:
    """
    Sections and lines of code of the hypervisor with all components, and its text without the
    components that a build can leave out (real time, messages, ...): the scope of the other
    hypervisors in the comparison.
    """
    folder = bench.build / "hyp" / "qemu-virt"
    bare = bench.build / "hyp" / "bare"
    for words in ([], ["HYP_COMPONENTS=", f"HYP_BUILD={bare.relative_to(ROOT)}"]):
        run_tool(["make", "-s", "-C", str(ROOT), "hyp", *words])
    for where, end in ((bare, ""), (folder, ".all")):
        for name, value in section_sizes(where / "tessera.elf").items():
            bench.add(single(f"riscv.size.{name}{end}", "bytes", value), "hypervisor")
        bench.add(single(f"riscv.size.loc{end}", "lines", lines_of_code(hypervisor_files(where))), "hypervisor")
    with bench.attempt("depth of the stack"):
        depth, chain = deepest(read_graph(hypervisor_objects(folder)))
        (bench.out / "stack.txt").write_text("\n".join(chain) + "\n", encoding="utf-8")
        bench.add(single("riscv.stack.static", "bytes", depth), "hypervisor")


def rt_release(bench: Bench) -> None:
    """From a best-effort VM's last instruction to the first instruction of the RT app whose release
    preempts it."""
    for name, metric in (("rt-latency", "riscv.rt.release.max"), ("rt-latency-one", "riscv.rt.release.one")):
        system = bench.system(name)
        consoles = run_system(bench.qemu, system)
        costs = releases(gaps(consoles.guests["watch"]), consoles.guests["rtm"])
        bench.add(summary(metric, "instructions", costs), system.name)


def rt_queue(bench: Bench) -> None:
    """The RT queues in a sorter of the fabric's RTL; `operations` has those in software."""
    system = bench.system("rt-queue")
    text = run_native(bench.qemu, system, system.names[0], *fabric_arguments(bench.qemu))
    for figure in figures(text).values():
        bench.add(figure, system.name)


def rt_device(bench: Bench) -> None:
    """The delays of jobs of an RT app on its device, whose region three VMs share, beside the bound of admission."""
    system = bench.system("rt-device")
    trace = bench.out / "rt-device.regions"
    text = run_until(bench.qemu, system, "modem", r"modem: done", LOAD_S, change=lambda line: with_trace(line, trace))
    bench.add(summary("rt.device.delay", "ns", delays(text, trace)), system.name)
    bench.add(single("rt.device.bound", "ns", 1000 * bound_us(text)), system.name)


def operator(bench: Bench) -> None:
    """The longest time without best effort while admitted RT apps use all their time, measured by a
    best-effort VM."""
    system = bench.system("bench-operator")
    console = run_until(bench.qemu, system, "watch", r"^BENCH done$", RT_STRESS_S)
    waited = max(after - before for before, after in gaps(console))
    bench.add(single("riscv.operator.late.max", "us", -(-waited // NS_PER_US)), system.name)


def rt_stress(bench: Bench) -> None:
    """A million releases at 95 % utilization, with other VMs under load: misses, overruns, the
    largest delay of a job."""
    system = bench.system("rt-stress")
    sections = bench.out / "rt-sections.json"
    sections.unlink(missing_ok=True)
    counting: list[str] = []
    with bench.attempt("costs of releases"):
        counting = section_arguments(bench.qemu, system.hypervisor, bench.out, sections)
    console = run_until(bench.qemu, system, "rtm", r"^RTM done$", RT_STRESS_S, *counting)
    found = apps(console)
    colour = system.vm("rtm")["colour"]
    listed = [asdict(app) | {"colour": colour} for app in found]
    (bench.out / "rt-stress.json").write_text(json.dumps(listed), encoding="utf-8")
    sums = {name: sum(getattr(app, name) for app in found) for name in ("releases", "misses", "overruns")}
    for name, value in sums.items():
        bench.add(single(f"riscv.rt.{name}", "count", value), system.name)
    first = min(found, key=lambda app: app.deadline_us)  # earliest deadline: no other app delays this one
    bench.add(single("riscv.rt.late.max", "ns", first.late_max * NS_PER_TICK), system.name)
    if counting:
        release, job = rt_costs(read_sections(sections))
        bench.add(single("riscv.rt.cost.release", "instructions", release), system.name)
        bench.add(single("riscv.rt.cost.job", "instructions", job), system.name)


def _attacked(bench: Bench, suite: str, label: str) -> Worst:
    """Runs the attacks of a suite; returns the worst cases, and leaves the table of sections in
    `label`-sections.txt."""
    file = ROOT / "tests" / "e2e" / suite
    environment = {**os.environ, "QEMU": bench.qemu.program, "PYTHONDONTWRITEBYTECODE": "1"}
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(file)]
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BenchError(f"{suite}: {done.stdout.strip()[-300:]}")
    left = ROOT / "build" / "e2e" / "attacks"
    shutil.copy(left / f"{label}-worst.txt", bench.out / f"{label}-sections.txt")
    return read_worst(left / f"{label}-worst.json")


def worst_cases(bench: Bench) -> None:
    """During all attacks of the hostile guest: the longest non-preemptible section, and the deepest
    stack."""
    worst = _attacked(bench, "test_attacks.py", "attacks")
    bench.add(single("riscv.irqoff.max", "instructions", worst.sections[0].most), "attacks")
    for name, most in groups(worst.sections).items():
        bench.add(single(f"riscv.irqoff.{name}", "instructions", most), "attacks")
    bench.add(single("riscv.stack.used", "bytes", worst.stack), "attacks")


def locks(bench: Bench) -> None:
    """
    On several harts: how long locks are held, and the longest non-preemptible section, waits for
    locks included. With QEMU 7 only: on 10.0 the plugin does not see all releases of locks, and
    reports that.
    """
    if bench.qemu.version >= (8, 0):
        return
    suite = ROOT / "tests" / "e2e" / "test_locks.py"
    environment = {**os.environ, "QEMU": bench.qemu.program, "PYTHONDONTWRITEBYTECODE": "1"}
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(suite)]
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BenchError(f"{suite.name}: {done.stdout.strip()[-300:]}")
    for path in sorted((ROOT / "build" / "e2e").glob("locks*-[1248].json")):
        found = json.loads(path.read_text(encoding="utf-8"))
        conditions = Conditions(found["harts"], found["icount"])
        for metric, value in found["figures"].items():
            bench.add(single(metric, "instructions", value), path.stem, conditions=conditions)


def accelerators(bench: Bench) -> None:
    """The ways in which a VM gets a region of the fabric, their terms, and the latency of a device's
    interrupt: counted by QEMU, the hart's sleep not included."""
    system = bench.system("bench-accel")
    found, latencies = run_paths(bench.qemu, system, bench.out)
    for name, costs in accel.summaries(found).items():
        bench.add(summary(f"vdm.{name}", "instructions", costs), system.name)
    bench.add(summary("vdm.interrupt", "instructions", latencies), system.name)
    bench.add(single("vdm.auth.kib", "instructions", run_check(bench.qemu, system, bench.out)), system.name)
    worst = _attacked(bench, "test_attacks_accel.py", "attacks-accel")
    managers = [section.most for section in worst.sections if MANAGER & set(section.kind)]
    if not managers:
        raise BenchError("the attacks on accelerators never ran the manager of the fabric")
    bench.add(single("vdm.irqoff.max", "instructions", max(managers)), "attacks-accel")


def overlays(bench: Bench) -> None:
    """The phases of an overlay, by the hypervisor's clock, with a bitstream of 5.9 MB and one of 64 KB."""
    for name, prefix in (("overlay-large", "vdm.phase"), ("overlay-small", "vdm.phase.small")):
        system = bench.system(name)
        text = run_until(bench.qemu, system, "control", r"^overlay: done", 300)
        applied, removed = overlay.phases(text, 1e6 / system.data["timebase_hz"])
        size = system.data["fabric"]["devices"][0]["bitstreams"][0]["size"]
        figures = {"total": sum(applied.values()), **applied, **{f"remove.{key}": us for key, us in removed.items()}}
        for key, us in figures.items() if prefix == "vdm.phase" else [("total", figures["total"])]:
            bench.add(single(f"{prefix}.{key}", "us", us), system.name)
        bench.add(single(f"{prefix}.share", "percent", overlay.share(applied, size)), system.name)


def thread_metric(bench: Bench) -> None:
    """What a VM leaves of the services of an RTOS, alone and beside a busy VM. The lowest figures are of all
    rows but the interrupt of a device, which the hypervisor emulates."""
    alone, beside = bench.system("thread-metric"), bench.system("thread-metric-load")
    native = services.rows(run_native(bench.qemu, alone, alone.names[0]))
    for system, end in ((alone, ""), (beside, ".load")):
        guests = run_system(bench.qemu, system).guests
        rtos, *load = system.names
        busy = services.slices(guests[load[0]]) if load else []
        shares = services.shares(services.rows(guests[rtos]), native, (*services.ROWS, services.DEVICE), busy)
        for name, share in shares.items():
            bench.add(single(f"vdm.threadmetric.{name}{end}", "share", share), system.name)
        least = min(shares[name] for name in services.ROWS)
        bench.add(single(f"vdm.threadmetric.min{end}", "share", least), system.name)
    for name, row in native.items():
        bench.add(single(f"vdm.threadmetric.{name}.passes", "passes", row.passes), "native")


def response(bench: Bench) -> None:
    """
    The response of a task of an RTOS: natively, in a VM alone, and beside a busy VM. With QEMU 7 only: on 10.0
    instret does not count the hart's sleep, by which the guest's counts would be too small.
    """
    if bench.qemu.version >= (8, 0):
        return
    alone, loaded = bench.system("response"), bench.system("response-load")
    rtos, load = loaded.names
    guests = run_system(bench.qemu, loaded).guests
    runs = {
        responses.NATIVE: responses.samples(run_native(bench.qemu, alone, alone.names[0])),
        responses.VM: responses.samples(run_system(bench.qemu, alone).guests[alone.names[0]]),
        responses.LOAD: responses.beside(guests[rtos], guests[load]),
    }
    systems = {responses.NATIVE: "native", responses.VM: alone.name, responses.LOAD: loaded.name}
    for run, found in responses.distributions("riscv", runs):
        bench.add(found.figure, systems[run], "", found.samples)


def accel_response(bench: Bench) -> None:
    """
    The same task, which then runs a job on an accelerator: in a region of its own, and in one from which the job has
    to drive another VM's. On QEMU 10.0 only the times of the jobs, as in response().
    """
    for run, name in responses.SYSTEMS.items():
        console = run_until(bench.qemu, bench.system(name), "freertos", "BENCH done", LOAD_S)
        for found in responses.with_accelerator(console, run, counts=bench.qemu.version < (8, 0)):
            bench.add(found.figure, name, "", found.samples)


def soft_tasks(bench: Bench) -> None:
    """What the HW tasks cost in software, for tools/break_even.py."""
    system = bench.system("soft-tasks")
    for figure in figures(run_system(bench.qemu, system).guests[system.names[0]]).values():
        bench.add(figure, system.name)


def virtio(bench: Bench) -> None:
    """Notifications of a virtio-net device, without a frame and with one for another VM; a doorbell that wakes a VM."""
    for name in ("bench-virtio", "bench-virtio-wake"):
        system = bench.system(name)
        for figure in figures(run_system(bench.qemu, system).guests[system.names[0]]).values():
            bench.add(figure, system.name)


def crypto(bench: Bench) -> None:
    """4 KiB of a request to virtio-crypto: a job of its unit, and 256 blocks in software."""
    system = bench.system("bench-crypto")
    bench.add(summary("virtio.crypto.unit", "instructions", run_jobs(bench.qemu, system, bench.out)), system.name)
    system = bench.system("bench-crypto-soft")
    console = run_until(bench.qemu, system, "user", "virtio_crypto: done", LOAD_S)
    for what in ("encrypt", "decrypt"):
        found = re.search(rf"(\d+) instructions to {what} a block", console)
        if found is None:
            raise BenchError(f"system '{system.name}': expected the instructions to {what} a block, got none")
        bench.add(single(f"virtio.crypto.{what}", "instructions", 256 * int(found[1])), system.name)


def network(bench: Bench) -> None:
    """The throughput between two Linux VMs, by times of the host: only the ratio is compared."""
    system = bench.system("bench-network")
    conditions = Conditions(system.data["harts"], None)
    found = iperf.runs(bench.qemu, system)
    for metric, unit, values, where in (
        ("virtio.iperf.ratio", "ratio", [in_vms / natively for in_vms, natively in found], system.name),
        ("virtio.iperf.vms", "Mbit/s", [in_vms for in_vms, _ in found], system.name),
        ("virtio.iperf.native", "Mbit/s", [natively for _, natively in found], "native"),
    ):
        bench.add(summary(metric, unit, values), where, conditions=conditions)


MEASUREMENTS: dict[str, Callable[[Bench], None]] = {
    "operations": operations,
    "switch": switch,
    "messages": messages,
    "boot": boot,
    "restart": restart,
    "load": load,
    "linux": linux,
    "adpcm": adpcm,
    "adpcm-1gips": adpcm_1gips,
    "rt-release": rt_release,
    "rt-queue": rt_queue,
    "rt-device": rt_device,
    "operator": operator,
    "rt-stress": rt_stress,
    "worst-cases": worst_cases,
    "locks": locks,
    "accelerators": accelerators,
    "overlays": overlays,
    "soft-tasks": soft_tasks,
    "thread-metric": thread_metric,
    "response": response,
    "virtio": virtio,
    "crypto": crypto,
    "network": network,
    "accel-response": accel_response,
    "size": size,
}
