# SPDX-License-Identifier: Apache-2.0
"""Counts the instructions that a machine executes from one address on, by
tools/qemu-plugins/bench-count.c."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tessera.run.runner import ROOT, Qemu

SOURCE = ROOT / "tools" / "qemu-plugins" / "bench-count.c"
VERSIONS = range(8, 0, -1)  # of QEMU's plugin interface: 1 for 7.2, 2 to 4 for 10.0; version 3 changed a function
_TIMEOUT_S = 60


class CountError(Exception):
    """Instructions cannot be counted here; the text names the cause."""


@dataclass(frozen=True)
class Count:
    """
    The number of instructions of a run, and the number executed at each pass of the address;
    `since`, on request: the number executed since the address `last`, without the excluded
    functions.
    """

    instructions: int
    passed: list[int]
    since: list[int]


@dataclass(frozen=True)
class Interval:
    """
    An interval of instructions that starts after the instruction at `last`. The function at `callee`
    and all functions that it calls are excluded, up to the next instruction of `caller` (first
    address, end address).
    """

    last: int
    callee: int = 0
    caller: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class Counter:
    """A built plugin that this QEMU accepts."""

    plugin: Path

    def arguments(self, address: int, out: Path, interval: Interval | None = None) -> list[str]:
        """Returns QEMU's arguments; QEMU writes `out` when it ends."""
        words = [str(self.plugin), f"address={address:#x}", f"out={out}"]
        if interval is not None:
            first, behind = interval.caller
            words += [f"last={interval.last:#x}", f"pause={interval.callee:#x}:{first:#x}:{behind:#x}"]
        return ["-plugin", ",".join(words)]


def read_count(out: Path) -> Count:
    """Reads the record that the plugin has written."""
    try:
        record = json.loads(out.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CountError(f"QEMU ended without a count in {out}: {error}") from error
    return Count(record["instructions"], record["passed"], record.get("since", []))


def _compile(compiler: str, source: Path, plugin: Path, version: int) -> None:
    plugin.parent.mkdir(parents=True, exist_ok=True)
    command = [compiler, "-shared", "-fPIC", "-O2", f"-DPLUGIN_VERSION={version}", str(source), "-o", str(plugin)]
    try:
        done = subprocess.run(command, text=True, capture_output=True, timeout=_TIMEOUT_S, check=False)
    except OSError as error:
        raise CountError(f"{compiler} cannot be started: {error.strerror}; `make setup-dev` installs it") from error
    if done.returncode != 0:
        raise CountError(f"{source.name} does not compile: {done.stderr.strip()[-300:]}")


def _accepts(qemu: Qemu, plugin: Path, argument: str, out: Path) -> str | None:
    """Returns QEMU's error message for the plugin, None if QEMU accepts it. QEMU starts without a
    machine and quits."""
    command = [qemu.program, "-M", "none", "-nodefaults", "-display", "none", "-monitor", "stdio"]
    done = subprocess.run(
        [*command, "-plugin", f"{plugin},{argument},out={out}"],
        input="quit\n",
        text=True,
        capture_output=True,
        timeout=_TIMEOUT_S,
        check=False,
    )
    return None if done.returncode == 0 else (done.stderr.strip().splitlines() or ["no reason given"])[-1]


def make_plugin(qemu: Qemu, source: Path, folder: Path, argument: str, compiler: str = "gcc") -> Path:
    """Builds `source` in the version that this QEMU accepts; `argument` is one that the plugin
    requires, besides `out`."""
    why: str | None = None
    for version in VERSIONS:
        plugin = folder / f"{source.stem}-{version}.so"
        _compile(compiler, source, plugin, version)
        why = _accepts(qemu, plugin, argument, folder / "plugin-probe.json")
        if why is None:
            return plugin
    raise CountError(f"{qemu.program} accepts no plugin: {why}")


def make_counter(qemu: Qemu, folder: Path, compiler: str = "gcc") -> Counter:
    """Builds the plugin in the version that this QEMU accepts. Raises CountError if QEMU accepts
    none."""
    return Counter(make_plugin(qemu, SOURCE, folder, "address=0", compiler))
