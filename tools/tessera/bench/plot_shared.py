# SPDX-License-Identifier: Apache-2.0
"""The devices shared by hardware beside VCDC's published figures: reads of the flash, drivers in software, the loop
over Ethernet, and the size. The records are those of `make bench-fpga`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tessera.bench.labels import LIMIT, OURS, OURS_PALE

Values = dict[str, float]
Panels = tuple[Callable[[Any, Values, Values], None], ...]

VCDC = "#d98032"
VCDC_PALE = "#edc399"
FREERTOS = "#7a7a7a"
LENGTHS = (1, 4, 64, 256)  # bytes
LOOPS = (1, 4, 8, 16)  # VMs
SIZES = (1, 2, 4, 8, 16)  # VMs
CHUNK, COMMAND, BYTE_CYCLES = 128, 4, 32  # of a read on the wire: bytes, bytes, cycles
# Published, cycles: the longest read by FreeRTOS's driver on one of nine loaded processors.
FREERTOS_FIFO = (9748, 58844, 936166, 3708365)
FREERTOS_RR = (65885, 327813, 4555159, 17345151)
BARS = {
    "shared": "shared hardware, FIFOs full",
    "shared_one": "shared hardware, a request at a time",
    "face": "polled driver in each VM, own SPI face",
    "driver": "VM with a polled driver, two messages at a time",
    "driver_one": "VM with a polled driver, a message at a time",
    "rtos": "the same, all with FreeRTOS",
}
# Blocks that are synthesized, "{}": with the number of VMs; their names and colours.
PARTS = (
    ("flash", "#1b6ca8", ("flash_unit-{}vm",)),
    ("Ethernet", "#d98032", ("io_eth_unit-{}vm",)),
    ("UART", "#6a9a3a", ("io_uart-{}vm",)),
    ("display", "#8a5ab0", ("io_display-{}vm",)),
    ("pages of the VMs, manager's page", "#b05a7a", ("io_pages-{}vm", "io_manager-{}vm")),
    ("completions, memory, guard", "#7a7a7a", ("io_complete-{}vm", "io_dma-8", "io_guard-{}vm")),
    ("SPI face", "#bcbd22", ("spi_face-{}vm",)),
)


def size_of(values: Values, blocks: tuple[str, ...], vms: int, what: str) -> float | None:
    """Returns the LUTs or registers (`what`) of blocks for a number of VMs together; None if one is missing."""
    names = [f"fpga.{block.format(vms)}.{what}" for block in blocks]
    return sum(values[name] for name in names) if set(names) <= set(values) else None


def whole_size(values: Values, vms: int, what: str) -> float | None:
    """Returns the LUTs, registers or block RAMs of all parts together."""
    return size_of(values, tuple(block for _, _, blocks in PARTS for block in blocks), vms, what)


def wire_cycles(length: int) -> int:
    return (COMMAND * -(-length // CHUNK) + length) * BYTE_CYCLES


def _reads(axes: Any, values: Values, papers: Values) -> None:
    def curve(found: Values, end: str) -> list[float]:
        return [found[f"fpga.io.bus.read{length}{end}"] for length in LENGTHS]

    axes.plot(LENGTHS, FREERTOS_RR, "v--", color=FREERTOS, label="FreeRTOS's driver, round robin: longest (published)")
    axes.plot(LENGTHS, FREERTOS_FIFO, "^-", color=FREERTOS, label="FreeRTOS's driver, FIFO: longest (published)")
    axes.plot(LENGTHS, curve(papers, "_loaded"), "s-", color=VCDC, label="VCDC, nine processors: longest (published)")
    axes.plot(LENGTHS, curve(papers, ""), "s--", color=VCDC_PALE, label="VCDC: shortest (published)")
    axes.plot(
        LENGTHS, curve(values, "_loaded"), "o-", color=OURS, label="Tessera, highest priority of nine VMs: longest"
    )
    axes.plot(LENGTHS, curve(values, ""), "o--", color=OURS_PALE, label="Tessera, alone")
    wire = [wire_cycles(length) for length in LENGTHS]
    axes.plot(LENGTHS, wire, ":", color=LIMIT, label="the wire, SCK 25 MHz")
    axes.set(xscale="log", yscale="log", xlabel="bytes of a read", ylabel="cycles at 100 MHz")
    axes.set_xticks(LENGTHS, map(str, LENGTHS))
    axes.minorticks_off()
    axes.grid(alpha=0.25)
    axes.legend(frameon=False, fontsize=8)
    axes.set_title("A read of the SPI flash, from the store to the completion in memory", fontsize=9)


def _bytes(axes: Any, values: Values, papers: Values) -> None:
    least = values["fpga.io.bytes.shared"]
    for y, (name, label) in enumerate(BARS.items()):
        cycles = values[f"fpga.io.bytes.{name}"]
        axes.barh(y, cycles, 0.5, color=OURS if name.startswith("shared") else OURS_PALE)
        axes.text(cycles, y, f" {cycles:,.0f}: {cycles / least:.1f} times", va="center", fontsize=8)
        axes.text(0, y - 0.27, f" {label}", fontsize=8, va="bottom")
    published = papers["fpga.io.bytes.rtos"]
    axes.axvline(published, color=FREERTOS, linestyle="--", label="FreeRTOS's driver, least (published with VCDC)")
    axes.set_yticks([])
    axes.set_ylim(len(BARS) - 0.3, -0.9)  # the first one on top
    axes.set_xlim(0, 1.1 * published)
    axes.set_xlabel("cycles for each byte, an instruction takes a cycle")
    axes.legend(frameon=False, fontsize=8, loc="upper right")
    axes.set_title("Four VMs on one hart read single bytes of the flash", fontsize=9)


def _loop(policy: str, title: str) -> Callable[[Any, Values, Values], None]:
    def draw(axes: Any, values: Values, papers: Values) -> None:
        ends = {"last": "all VMs"} | ({"first": "the highest priority"} if policy == "prio" else {})
        for end, words in ends.items():
            names = [f"fpga.io.ethernet.loop.{policy}.{vms}vm.{end}" for vms in LOOPS]
            style = "-" if end == "last" else "--"
            paper = [papers[name] for name in names]
            axes.plot(LOOPS, paper, f"s{style}", color=VCDC, label=f"VCDC, {words} (published)")
            axes.plot(LOOPS, [values[name] for name in names], f"o{style}", color=OURS, label=f"Tessera, {words}")
        axes.set(xlabel="VMs that send", ylabel="longest time of a frame of 1,024 bytes, us", ylim=(0, None))
        axes.set_xticks(LOOPS, map(str, LOOPS))
        axes.grid(alpha=0.25)
        axes.legend(frameon=False, fontsize=8, handlelength=4)
        axes.set_title(f"Ethernet, a wire that ends in itself: {title}", fontsize=9)

    return draw


def _size(what: str, unit: str, published: float) -> Callable[[Any, Values, Values], None]:
    def draw(axes: Any, values: Values, papers: Values) -> None:
        del papers
        places = range(len(SIZES))
        bottom = [0.0] * len(SIZES)
        for name, colour, blocks in PARTS:
            sizes = [size_of(values, blocks, vms, what) or 0 for vms in SIZES]
            axes.bar(places, sizes, bottom=bottom, color=colour, label=name)
            bottom = [low + size for low, size in zip(bottom, sizes, strict=True)]
        for x, size in zip(places, bottom, strict=True):
            axes.text(x, size, f"{size:,.0f}", ha="center", va="bottom", fontsize=8)
        axes.axhline(published, color=LIMIT, linestyle="--", label=f"VCDC, 16 processors: {published:,.0f} (published)")
        axes.set_xticks(places, map(str, SIZES))
        axes.set(xlabel="VMs", ylabel=unit, ylim=(0, 1.5 * max(bottom)))
        axes.legend(frameon=False, fontsize=8, loc="upper left")
        axes.set_title(f"{unit} on a Kintex-7 by yosys", fontsize=9)

    return draw


_READS = {f"fpga.io.bus.read{length}{end}" for length in LENGTHS for end in ("", "_loaded")}
_BYTES = {f"fpga.io.bytes.{name}" for name in BARS}
_LOOPS = {
    f"fpga.io.ethernet.loop.{policy}.{vms}vm.{end}"
    for policy in ("prio", "rr")
    for vms in LOOPS
    for end in ("first", "last")
}
_SIZES = {
    f"fpga.{block.format(vms)}.{what}"
    for _, _, blocks in PARTS
    for block in blocks
    for vms in SIZES
    for what in ("luts", "registers")
}
# Names of the files, the metrics that each needs, and its panels.
PICTURES = {
    "shared-reads.png": (_READS | _BYTES, (_reads, _bytes)),
    "shared-ethernet.png": (_LOOPS, (_loop("prio", "priority"), _loop("rr", "round robin"))),
    "shared-size.png": (_SIZES, (_size("luts", "LUTs", 4812), _size("registers", "Registers", 1413))),
}


def _save(path: Path, panels: Panels, values: Values, papers: Values) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, places = pyplot.subplots(1, len(panels), figsize=(12, 4.8), layout="constrained")
    for axes, draw in zip(places, panels, strict=True):
        draw(axes, values, papers)
    figure.savefig(path, dpi=110)
    pyplot.close(figure)


def plot_shared(records: list[dict[str, Any]], folder: Path) -> list[Path]:
    """Writes the pictures whose figures were measured into `folder`."""
    values = {line["metric"]: line["value"] for line in records if line["metric"].startswith("fpga.")}
    papers = {line["metric"]: line["anchors"]["paper"] for line in records if "paper" in line.get("anchors", {})}
    wanted = [name for name, (need, _) in PICTURES.items() if need <= set(values)]
    for name in wanted:
        _save(folder / name, PICTURES[name][1], values, papers)
    return [folder / name for name in wanted]
