# SPDX-License-Identifier: Apache-2.0
"""Records waveforms of a simulation: selected signals, sampled in every cycle, saved as JSON."""

import json
from collections.abc import Callable
from pathlib import Path

import cocotb
from cocotb.triggers import ReadOnly, RisingEdge


class Recorder:
    """Samples signals from `begin` on; `read` maps each signal to a function without arguments."""

    def __init__(self, dut, read: dict[str, Callable]):
        self.dut, self.read = dut, read
        self.samples: dict[str, list] = {name: [] for name in read}
        self.marks: list[tuple[int, str]] = []

    def begin(self) -> None:
        cocotb.start_soon(self._run())

    async def _run(self) -> None:
        while True:
            await RisingEdge(self.dut.clk_i)
            await ReadOnly()
            for name, function in self.read.items():
                self.samples[name].append(function())

    @property
    def now(self) -> int:
        return len(next(iter(self.samples.values())))

    def mark(self, text: str) -> None:
        self.marks.append((self.now, text))

    def save(self, path: Path, first: int = 0, last: int | None = None) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        cut = {name: values[first:last] for name, values in self.samples.items()}
        marks = [(at - first, text) for at, text in self.marks if first <= at and (last is None or at < last)]
        path.write_text(json.dumps({"first": first, "signals": cut, "marks": marks}), encoding="utf-8")
