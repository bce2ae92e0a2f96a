# SPDX-License-Identifier: Apache-2.0
"""The hypervisor's passes of chosen instructions and its accesses to a device, in the order of
execution, recorded by tools/qemu-plugins/note-passes.c."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tessera.bench.count import CountError, make_plugin
from tessera.run.runner import ROOT, Qemu

SOURCE = ROOT / "tools" / "qemu-plugins" / "note-passes.c"
_LINE = re.compile(r"(\d+) (pass|load|store) ([0-9a-f]+)")


@dataclass(frozen=True)
class Event:
    """
    A line of the record. `executed`: instructions of the hart before it. `what`: the name of the
    instruction that is passed, or "load" or "store". `offset`: of the register in the device.
    """

    executed: int
    what: str
    offset: int = -1


@dataclass(frozen=True)
class Device:
    """The physical address range of a device."""

    base: int
    size: int


def arguments(qemu: Qemu, folder: Path, start: int, places: Iterable[int], device: Device, out: Path) -> list[str]:
    """Returns QEMU's arguments. `start`: the first instruction of the hypervisor's text; `places`:
    the instructions to note. QEMU writes `out`."""
    words = [f"start={start:x}", *(f"place={place:x}" for place in places)]
    words += [f"device={device.base:x}", f"size={device.size:x}"]
    plugin = make_plugin(qemu, SOURCE, folder, ",".join(words))
    return ["-plugin", ",".join([str(plugin), *words, f"out={out}"])]


def read_passes(out: Path, names: Mapping[int, str], device: Device) -> list[Event]:
    """Reads the record. `names`: of the noted instructions, by address."""
    try:
        lines = out.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise CountError(f"QEMU ended without a record in {out}: {error}") from error
    events = []
    for number, line in enumerate(lines, 1):
        match = _LINE.fullmatch(line)
        if match is None:
            raise CountError(f"{out}:{number}: expected '<executed> pass|load|store <address>', got '{line}'")
        executed, what, address = int(match[1]), match[2], int(match[3], 16)
        if what == "pass":
            events.append(Event(executed, names[address]))
        else:
            events.append(Event(executed, what, address - device.base))
    return events
