# SPDX-License-Identifier: Apache-2.0
"""
The measurements on the M5150 in iasim, where an instruction takes one clock of 100 MHz. Each
function produces figures and is independent of goals and tables.
"""

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tessera.bench import response as responses
from tessera.bench import thread_metric as metric
from tessera.bench.adpcm import Run, overheads, parse_run
from tessera.bench.machine import BenchError, run_tool
from tessera.bench.parse import Figure, ParseError, single
from tessera.image.build import Options, build, write
from tessera.image.problems import BuildError
from tessera.run.machine import Console
from tessera.run.runner import ROOT, RunError, iasim

WIRED = "m5150-generic"  # guests' timers interrupt them, as in the paper
PART = "m5150"
SIZES = (20, 40, 60, 80, 100)
ADPCM = ((1, 1), (1, 5), (1, 10), (2, 1), (4, 1), (8, 1))  # VMs, quantum in ms
BEGIN = 5_000_000  # in ticks of Count: all VMs have booted
MODEL = "iasim, 100 MHz: an instruction is a clock"
SWITCH_BANKS = (15, 7, 1)  # highest shadow set: all possible ones, as on the PIC32MZ-EF, one for all VCPUs
SWITCH_VCPUS = tuple(range(1, 21))  # with a hypervisor built for that many VMs
RAM, MOST_RAM = 0x1000000, 0x40000  # of the board, and of the hypervisor for that many VMs
# From the interrupt's vector to ERET, without ERET: into the same VCPU, and into another one.
SAME, SWITCHED = "irq_vector:left", "irq_vector:switched"
SHARED_SET = 1
LIMIT_REACHED = 124  # iasim's exit code


@dataclass(frozen=True)
class Taken:
    """A figure, the machine, and the curve from which the figure is computed, if there is one."""

    figure: Figure
    system: str
    board: str
    curve: tuple[float, ...] = ()
    model: str = MODEL


@dataclass
class MipsBench:
    """The folder, and the figures and failures so far."""

    out: Path
    guests: Path = ROOT / "build" / "guests-mips"
    taken: list[Taken] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    @contextmanager
    def attempt(self, what: str) -> Iterator[None]:
        try:
            yield
        except (BenchError, BuildError, ParseError, RunError, OSError) as error:
            self.failed.append(f"{what}: {error}")

    def add(self, figure: Figure, system: str, board: str = WIRED, curve: tuple[float, ...] = ()) -> None:
        self.taken.append(Taken(figure, system, board, curve))


@dataclass(frozen=True)
class Result:
    """A run: the output of each VM, and of iasim."""

    console: Console
    remarks: str

    def span(self, name: str) -> dict[str, int]:
        found = re.search(rf"^span {re.escape(name)} +all +(.*)$", self.remarks, re.MULTILINE)
        if not found:
            raise BenchError(f"iasim does not report {name}: {self.remarks[-300:]}")
        return {key: int(value) for key, value in re.findall(r"(\w+) +(\d+)", found[1])}


def prop(name: str, value: str) -> str:
    return f'\t\t\t{name} = "{value}";\n'


def source(board: str, quantum_ms: int, vms: list[tuple[str, str, str]]) -> str:
    """Returns the source of a system; `vms` holds the name, the image and further properties of
    each VM."""
    nodes = "".join(
        f'\t\t{name} {{\n\t\t\tmemory-size = <0x10000>;\n\t\t\timage = "{image}";\n'
        f'\t\t\tsign-of-life = "BENCH done";\n{more}\t\t}};\n'
        for name, image, more in vms
    )
    return (
        '/dts-v1/;\n/ {\n\tcompatible = "tessera,system";\n'
        f'\tboard = "{board}";\n\tharts = <1>;\n\tquantum-us = <{quantum_ms * 1000}>;\n'
        f"\tvms {{\n{nodes}\t}};\n}};\n"
    )


@dataclass(frozen=True)
class Base:
    """The base of a system: the folder of the hypervisor, and the folder that describes its
    board."""

    hypervisor: Path
    platforms: Path = ROOT / "platform"


def simulate(
    bench: MipsBench,
    name: str,
    board: str,
    text: str,
    *options: str,
    base: Base | None = None,
    limit: str = "4000M",
    ends: bool = True,
) -> Result:
    """Builds the system and runs it until all VMs have shut down, or up to the limit if it never
    ends."""
    folder = bench.out / "mips" / name
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.dts"
    path.write_text(text, encoding="utf-8")
    base = base or Base(ROOT / "build" / "hyp" / board)
    hypervisor = base.hypervisor / "tessera.bin"
    built = build(Options(path, hypervisor, (bench.guests,), base.platforms))
    write(built, folder)
    command = [iasim(), "run", "--board", str(built.system.board.iasim_board), "--limit", limit, "--stats"]
    command += [*options, str(hypervisor.with_suffix(".elf")), str(folder / "tessera.elf")]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    console = Console([vm.name for vm in built.system.vms] + ["tessera"])
    console.feed(done.stdout.decode(errors="replace"))
    if done.returncode != (0 if ends else LIMIT_REACHED):
        raise BenchError(f"{name}: iasim ended with {done.returncode}: {done.stderr.decode()[-300:]}")
    return Result(console, done.stderr.decode())


def figure(metric: str, span: dict[str, int], more: int = 0) -> Figure:
    least, middle, most = (span[key] + more for key in ("min", "median", "max"))
    return Figure(metric, "instructions", least, middle, most, span["n"])


def calls(bench: MipsBench) -> None:
    """Hypercalls and messages, which tests/guests/cost marks. The instruction after the call does not
    count."""
    text = source(
        WIRED,
        1,
        [
            ("sender", "cost/cost.bin", prop("bootargs", "role=send") + prop("may-send-to", "receiver")),
            ("receiver", "cost/cost.bin", prop("bootargs", "role=receive") + prop("may-send-to", "sender")),
        ],
    )
    spans = ["1:2", SAME, *(f"{kind}{n}:{kind + 1}{n}" for kind in (1, 3, 5) for n in range(len(SIZES)))]
    options = [word for span in spans for word in ("--span", span)]
    result = simulate(bench, "cost", WIRED, text, *options)
    shared = simulate(bench, "cost-shared", WIRED, text, *options, "--model", f"hss={SHARED_SET}")
    bench.add(figure("mips.hypercall.null", result.span("1:2"), -1), "cost")
    bench.add(figure("mips.tick.same", result.span(SAME), 1), "cost")
    for n, size in enumerate(SIZES):
        bench.add(figure(f"mips.ipc.send.{size}", result.span(f"1{n}:2{n}"), -1), "cost")
        bench.add(figure(f"mips.ipc.recv.{size}", result.span(f"3{n}:4{n}"), -1), "cost")
        bench.add(figure(f"mips.ipc.delivery.{size}", result.span(f"5{n}:6{n}")), "cost")
        bench.add(figure(f"mips.ipc.delivery.{size}.shared", shared.span(f"5{n}:6{n}")), "cost, one shadow set")


def switching(bench: MipsBench, vms: int, hss: int, base: Base | None = None) -> Result:
    """Runs guests that compute and receive no interrupts but quantum ends, until the end of their
    work."""
    text = source(WIRED, 1, [(f"adpcm-{n}", "adpcm-bare/adpcm-bare.bin", "") for n in range(vms)])
    options = ("--model", f"hss={hss}", "--span", SAME, "--span", SWITCHED)
    return simulate(bench, f"switch-{vms}-{hss}", WIRED, text, *options, base=base)


def switch_cost(result: Result) -> int:
    """Returns the median of a switch; 0 if there was only the first one, from boot until the VM is
    loaded, as with a single VCPU, which is not preempted. A span excludes its last instruction."""
    span = result.span(SWITCHED)
    return span["median"] + 1 if span["n"] > 1 else 0


def ticks(bench: MipsBench) -> None:
    """Ends of quanta. A span excludes its last instruction, ERET."""
    alone, shared = (switching(bench, 2, hss) for hss in (15, SHARED_SET))
    bench.add(figure("mips.tick.switch", alone.span(SWITCHED), 1), "switch")
    bench.add(figure("mips.tick.switch.shared", shared.span(SWITCHED), 1), "switch, one shadow set for all VCPUs")


def large_hypervisor(bench: MipsBench) -> Base:
    """Builds a hypervisor for the VMs of SWITCH_VCPUS, and a board with RAM for them."""
    most = SWITCH_VCPUS[-1]
    hypervisor = _make(
        bench.out / "mips" / "hyp-large",
        WIRED,
        f"{limits(most, most + 16)} -DRAM_END={0x80000000 + MOST_RAM:#x}",
    )
    board = (ROOT / "platform" / WIRED / "board.dts").read_text(encoding="utf-8")
    for name, value in (("max-vms", most), ("max-vcpus", most), ("ram-base", MOST_RAM), ("ram-size", RAM - MOST_RAM)):
        board, found = re.subn(rf"({name} = )<\w+>", rf"\g<1><{value:#x}>", board)
        if found != 1:
            raise BenchError(f"the board has no {name}")
    file = hypervisor / "platform" / WIRED / "board.dts"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(board, encoding="utf-8")
    return Base(hypervisor, hypervisor / "platform")


def banks(bench: MipsBench) -> None:
    """The end of a quantum, by the number of VCPUs and by the number of shadow sets."""
    base = large_hypervisor(bench)
    for hss in SWITCH_BANKS:
        curve = [switch_cost(switching(bench, vcpus, hss, base)) for vcpus in SWITCH_VCPUS]
        metric = f"mips.switch.vcpus.sets{hss}"
        most = Figure(metric, "instructions", min(curve), curve[-1], max(curve), len(curve))
        bench.add(most, "switch", WIRED, tuple(curve))
        bench.add(single(f"{metric}.of8", "instructions", curve[SWITCH_VCPUS.index(8)]), "switch", WIRED)


def run_native(bench: MipsBench, guest: str) -> str:
    """Runs a guest without a hypervisor; returns its output."""
    image = bench.guests / guest / f"{guest}.elf"
    command = [iasim(), "run", "--board", "generic", "--limit", "4000M", str(image)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return done.stdout.decode().replace("\r", "")


def native(bench: MipsBench) -> Run:
    """Runs the codec in FreeRTOS without a hypervisor."""
    return parse_run(run_native(bench, "adpcm-long"))


def adpcm_runs(bench: MipsBench, board: str, vms: int, quantum_ms: int, *options: str) -> list[Run]:
    guests = [(f"adpcm-{n}", "adpcm-long/adpcm-long.bin", prop("bootargs", f"begin={BEGIN}")) for n in range(vms)]
    name = f"adpcm-{vms}vm-q{quantum_ms}ms-{board}"
    result = simulate(bench, name, board, source(board, quantum_ms, guests), *options)
    return [parse_run(result.console.text(vm)) for vm, *_ in guests]


def adpcm(bench: MipsBench) -> None:
    """Figures 5 and 6 of the paper."""
    alone = native(bench)

    def measure(metric: str, board: str, vms: int, quantum: int, *options: str) -> None:
        curve = overheads(adpcm_runs(bench, board, vms, quantum, *options), alone)
        bench.add(single(metric, "percent", curve[-1]), "adpcm", board, tuple(curve))

    for vms, quantum in ADPCM:
        measure(f"mips.adpcm.{vms}vm.q{quantum}ms", WIRED, vms, quantum)
        if vms > 1:
            measure(f"mips.adpcm.{vms}vm.q{quantum}ms.shared", WIRED, vms, quantum, "--model", f"hss={SHARED_SET}")
    measure("mips.adpcm.1vm.q1ms.eic", PART, 1, 1)


RTOS = ("freertos", "thread_metric/thread_metric.bin", "")
LOAD = ("load", "slices/slices.bin", "")


def thread_metric(bench: MipsBench) -> None:
    """What a VM leaves of the services of FreeRTOS, alone and beside a busy VM, with a quantum of 1 ms."""
    natively = metric.rows(run_native(bench, "thread_metric"))
    for vms, end in (([RTOS], ""), ([RTOS, LOAD], ".load")):
        system = f"thread-metric{end.replace('.', '-')}"
        console = simulate(bench, system, WIRED, source(WIRED, 1, vms)).console
        busy = metric.slices(console.text("load")) if end else []
        shares = metric.shares(metric.rows(console.text("freertos")), natively, metric.ROWS, busy)
        for name, share in shares.items():
            bench.add(single(f"mips.vdm.threadmetric.{name}{end}", "share", share), system)
        bench.add(single(f"mips.vdm.threadmetric.min{end}", "share", min(shares.values())), system)
    for name, row in natively.items():
        bench.add(single(f"mips.vdm.threadmetric.{name}.passes", "passes", row.passes), "native")


RESPONSE = "response/response.bin"
FEWER = prop("bootargs", "samples=200")  # the busy VM has memory for so many slices


def response(bench: MipsBench) -> None:
    """The response of a task of FreeRTOS: natively, in a VM alone, and beside a busy VM with a quantum of 1 ms."""
    consoles = {}
    for name, vms in (
        ("response", [("freertos", RESPONSE, "")]),
        ("response-load", [("freertos", RESPONSE, FEWER), LOAD]),
    ):
        consoles[name] = simulate(bench, name, WIRED, source(WIRED, 1, vms)).console
    loaded = consoles["response-load"]
    runs = {
        responses.NATIVE: responses.samples(run_native(bench, "response")),
        responses.VM: responses.samples(consoles["response"].text("freertos")),
        responses.LOAD: responses.beside(loaded.text("freertos"), loaded.text("load")),
    }
    systems = {responses.NATIVE: "native", responses.VM: "response", responses.LOAD: "response-load"}
    for run, found in responses.distributions("mips", runs):
        bench.add(found.figure, systems[run], WIRED, found.samples)


def _sections(elf: Path) -> dict[str, int]:
    lines = run_tool(["riscv64-unknown-elf-size", "-A", "--target=elf32-little", str(elf)]).splitlines()
    return {words[0]: int(words[1]) for words in map(str.split, lines) if len(words) == 3 and words[1].isdigit()}


def _make(folder: Path, board: str, limits: str = "", *variables: str) -> Path:
    """Builds a board's hypervisor in the folder, with the limits and make variables."""
    words = ["make", "--no-print-directory", "-s", "hyp", f"BOARD={board}", f"HYP_BUILD={folder}", *variables]
    words += [f"HYP_LIMITS={limits}"] if limits else []
    clean = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False, env=clean)
    if done.returncode != 0:
        raise BenchError(f"{' '.join(words)}: {done.stderr[-300:]}")
    return folder


def _hypervisor(bench: MipsBench, name: str, limits: str = "") -> dict[str, int]:
    """Builds the hypervisor for PART and returns the sizes of its sections."""
    return _sections(_make(bench.out / "mips" / f"hyp-{name}", PART, limits) / "tessera.elf")


def small_sections(folder: Path) -> dict[str, int]:
    """Builds the hypervisor for PART with rt and ipc only, optimized for size; returns the sizes of
    its sections."""
    return _sections(_make(folder, PART, "", "HYP_COMPONENTS=rt ipc", "HYP_FOR=size") / "tessera.elf")


def limits(vms: int, vcpus: int) -> str:
    return f"-DSYSIMAGE_MAX_VMS={vms}U -DSYSIMAGE_MAX_VCPUS={vcpus}U -DSYSIMAGE_MAX_RT_APPS=16U -DSYSIMAGE_MAX_HARTS=1U"


def sizes(bench: MipsBench) -> None:
    """Code and constants, and the RAM per VM: the difference of two hypervisors built for 8 and for
    7 VMs."""
    small = small_sections(bench.out / "mips" / "hyp-small")
    bench.add(
        single("mips.size.text", "bytes", small[".text"] + small[".rodata"]),
        "components rt and ipc, HYP_FOR=size",
        PART,
    )
    usual = _hypervisor(bench, "usual")
    bench.add(single("mips.size.text.all", "bytes", usual[".text"] + usual[".rodata"]), "all components", PART)
    more, less = (_hypervisor(bench, f"{vms}vms", limits(vms, 16 + vms)) for vms in (8, 7))
    ram = sum(more[name] - less[name] for name in (".data", ".bss"))
    bench.add(single("mips.size.ram.vm", "bytes", ram), "eight VMs and seven", PART)


# The root's polling points, and the functions that classify the non-preemptible sections between
# them.
RT_POLLING_POINTS = ("irq_vector", "arch_irq_poll", "arch_irq_pending", "arch_cpu_sleep")
RT_FUNCTIONS = ("edf_pick", "release_others", "rt_end_job", "vcpu_arrive")


def rt_options() -> list[str]:
    """Returns iasim's options to report non-preemptible sections."""
    return [word for name in RT_POLLING_POINTS for word in ("--polling-point", name)] + [
        word for name in RT_FUNCTIONS for word in ("--path", name)
    ]


@dataclass(frozen=True)
class RtCosts:
    """The largest observed costs that admission counts, in instructions."""

    release: int  # of one release, taken from the interrupted VCPU; of simultaneous releases, each one's share
    job: int  # from a job's end to the next guest
    blocked: int  # longest non-preemptible section

    @classmethod
    def read(cls, remarks: str) -> "RtCosts":
        lines = re.findall(r"^section (\S+) n \d+ max (\d+)$", remarks, re.MULTILINE)
        found = [(set(ways.split("+")), int(most)) for ways, most in lines]
        several = {"edf_pick", "release_others"}
        job, alone = (
            _longest(found, {"rt_end_job"}),
            _longest(found, {"edf_pick"}, {"rt_end_job", "vcpu_arrive"} | several),
        )
        meeting = _longest(found, several, {"rt_end_job", "vcpu_arrive"})
        return cls(max(alone, meeting // 2), job, max(most for _, most in found))


def _longest(found: list[tuple[set[str], int]], by: set[str], without: set[str] | None = None) -> int:
    """Returns the longest section through all functions of `by` and through none of `without`."""
    lengths = [most for ways, most in found if by <= ways and not ways & ((without or set()) - by)]
    if not lengths:
        raise BenchError(f"iasim reports no section through {', '.join(sorted(by))}")
    return max(lengths)


def rt(bench: MipsBench) -> None:
    """The costs that admission counts, in a run with simultaneous releases."""
    text = (ROOT / "tests" / "mips" / "systems" / "rtstress.dts").read_text(encoding="utf-8")
    result = simulate(bench, "rtstress", PART, text, *rt_options(), limit="200M", ends=False)
    costs = RtCosts.read(result.remarks)
    for name, cost in (("cost.release", costs.release), ("cost.job", costs.job), ("blocked", costs.blocked)):
        bench.add(single(f"mips.rt.{name}", "instructions", cost), "rtstress", PART)


MEASUREMENTS = {
    "mips-calls": calls,
    "mips-ticks": ticks,
    "mips-banks": banks,
    "mips-adpcm": adpcm,
    "mips-rt": rt,
    "mips-thread-metric": thread_metric,
    "mips-response": response,
    "mips-sizes": sizes,
}
