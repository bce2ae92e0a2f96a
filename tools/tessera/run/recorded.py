# SPDX-License-Identifier: Apache-2.0
"""What a run with shared devices has written: frames on the wire (pcap), levels of the pins (VCD), lines of the
UART."""

import re
import struct
from dataclasses import dataclass
from pathlib import Path

CYCLE_NS = 10


@dataclass(frozen=True)
class Frame:
    ns: int
    data: bytes

    @property
    def to(self) -> bytes:
        return self.data[:6]

    @property
    def source(self) -> bytes:
        return self.data[6:12]

    @property
    def kind(self) -> int:
        return int.from_bytes(self.data[12:14], "big")

    @property
    def echo(self) -> tuple[int, int] | None:
        """Type and sequence number of an ICMP echo message."""
        if self.kind != 0x0800 or self.data[23] != 1:
            return None
        return self.data[34], int.from_bytes(self.data[40:42], "big")


def frames(file: Path) -> list[Frame]:
    data = file.read_bytes()
    assert data[:4] == struct.pack("<I", 0xA1B23C4D), "pcap with times in ns"
    found = []
    at = 24
    while at + 16 <= len(data):
        seconds, ns, kept, whole = struct.unpack_from("<4I", data, at)
        assert kept == whole
        found.append(Frame(seconds * 10**9 + ns, data[at + 16 : at + 16 + kept]))
        at += 16 + kept
    return found


@dataclass(frozen=True)
class Trains:
    """Pulses for which the guest `pulse` has asked; times in cycles of the time base."""

    pulses: int  # of each train
    distance: int  # from the first edge of a train to that of the next one
    first: int  # edge
    half: int  # from one edge of a train to the next one

    @classmethod
    def asked(cls, said: str) -> "Trains | None":
        """What the guest has printed about them, or None."""
        found = _TRAINS.search(said)
        return cls(*map(int, found.groups())) if found else None

    def edge(self, number: int) -> tuple[int, str]:
        """Time and level of an edge, counted from 0."""
        train, edge = divmod(number, 2 * self.pulses)
        return self.first + train * self.distance + edge * self.half, "10"[edge % 2]

    def recorded(self, levels: list[tuple[int, str]]) -> list[tuple[int, str]]:
        """The edges from the first one on, while the pin is driven, of a pin's changes."""
        return [edge for edge in levels if edge[0] >= self.first and edge[1] != "z"]


_TRAINS = re.compile(r"pulse: pins \S+, (\d+) pulses every (\d+) cycles from cycle (\d+), edges every (\d+) cycles")


def edges(file: Path) -> dict[int, list[tuple[int, str]]]:
    """The changes of each pin, without the first level: cycle of the time base, and level (0, 1 or z)."""
    names: dict[str, int] = {}
    found: dict[int, list[tuple[int, str]]] = {}
    ns = 0
    for line in file.read_text(encoding="ascii").split("\n"):
        if line.startswith("$var"):
            names[line.split()[3]] = int(line.split()[4].removeprefix("pin"))
        elif line.startswith("#"):
            ns = int(line[1:])
        elif line[:1] in ("0", "1", "z") and ns > 0:
            assert ns % CYCLE_NS == 0
            found.setdefault(names[line[1:]], []).append((ns // CYCLE_NS, line[0]))
    return found


def owned_lines(file: Path) -> list[tuple[int, str]]:
    """The lines of the UART: number of the VM, text. Each must have an owner; the last one need not be complete."""
    found = []
    for line in file.read_bytes().decode("latin-1").split("\n")[:-1]:
        owner = re.match(r"\[(\d+)\] ", line)
        assert owner is not None, line
        found.append((int(owner[1]), line[owner.end() :].removesuffix("\r")))
    return found
