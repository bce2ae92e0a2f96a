# SPDX-License-Identifier: Apache-2.0
"""The fabric's RTL as a device of the machine that QEMU emulates: QEMU's arguments
(docs/fabric.md)."""

import os
from dataclasses import dataclass
from pathlib import Path

from tessera.run.runner import ROOT, Qemu, RunError

BUILD = ROOT / "build" / "cosim"
BASE = 0x18000000
MANAGER_IRQ = 20  # PLIC input; those of the VMs follow, then those of the shared devices
WAVES = "FST"  # names the file of the waveforms

# The first version of QEMU with each version of the plugin interface that a model is built for, and
# the first version without it.
_INTERFACES = {1: ((7, 2), (9, 0)), 4: ((9, 2), (10, 1))}


@dataclass(frozen=True)
class FabricOptions:
    """
    `quantum`: cycles, 10 to 1000000, between two looks at the interrupt lines; None: 100.
    `period`: ns of virtual time for each cycle; None: 10 under -icount, else 10000.
    `trace`: file for the changes of the regions; `stats`: file for the figures of the run (JSON);
    `waves`: file for waveforms (FST), which needs the model that `make cosim FST=1` builds;
    `shared`: with the shared devices; `flash`: file with the content of their flash, written back
    at the end; `pcap`, `pins`, `uart`, `screen`: files for the frames on the wire, the levels of the
    pins (VCD), what the UART sends, and the last frame of the screen (PPM); `typed`: file whose next
    line the UART receives after each '?' that it has sent.
    """

    quantum: int | None = None
    period: int | None = None
    trace: Path | None = None
    stats: Path | None = None
    waves: Path | None = None
    base: int = BASE
    irq: int = MANAGER_IRQ
    shared: bool = False
    flash: Path | None = None
    pcap: Path | None = None
    pins: Path | None = None
    uart: Path | None = None
    screen: Path | None = None
    typed: Path | None = None


def options_from_environment(**others: Path | int | None) -> FabricOptions:
    """Options with the file of the waveforms from FST=; `others` as in FabricOptions."""
    waves = os.environ.get(WAVES)
    given = {"waves": Path(waves) if waves else None, **others}
    return FabricOptions(**given)  # type: ignore[arg-type]


def fabric_arguments(qemu: Qemu, *, options: FabricOptions | None = None) -> list[str]:
    """
    Returns the arguments that add the fabric to QEMU's machine. Raises RunError for a QEMU whose
    plugin interface is unknown, a model that was not built, and a file name that QEMU cannot take.
    """
    options = options or FabricOptions()
    words = [str(_plugin(qemu, waves=options.waves is not None)), f"base={options.base:#x}", f"irq={options.irq}"]
    for name in ("period", "quantum"):
        value = getattr(options, name)
        if value is not None:
            words.append(f"{name}={value}")
    for name in ("trace", "stats", "waves", "flash", "pcap", "pins", "uart", "screen", "typed"):
        file = getattr(options, name)
        if file is not None:
            words.append(f"{name}={file}")
    if options.shared:
        words.append("shared=1")
    for word in words:
        if "," in word:
            raise RunError(f"fabric: '{word}': QEMU's options are separated by commas; choose a path without a comma")
    return ["-plugin", ",".join(words)]


def _plugin(qemu: Qemu, *, waves: bool) -> Path:
    version = next((number for number, (first, end) in _INTERFACES.items() if first <= qemu.version < end), None)
    if version is None:
        have = ".".join(map(str, qemu.version))
        known = ", ".join(
            f"{_dotted(first)} up to, not including, {_dotted(end)}" for first, end in _INTERFACES.values()
        )
        raise RunError(f"fabric: {qemu.program} is version {have}, whose plugin interface is unknown; expected {known}")
    path = (BUILD / "fst" if waves else BUILD) / f"libfabric-{version}.so"
    if not path.is_file():
        raise RunError(f"fabric: {path} does not exist (run `make cosim{' FST=1' if waves else ''}`)")
    return path


def _dotted(version: tuple[int, int]) -> str:
    return ".".join(map(str, version))
