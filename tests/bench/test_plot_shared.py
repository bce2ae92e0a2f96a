# SPDX-License-Identifier: Apache-2.0
"""The pictures of the devices shared by hardware, and the sums of the parts' sizes."""

from pathlib import Path
from typing import Any

import pytest

from tessera.bench.plot_shared import PICTURES, plot_shared, size_of, whole_size, wire_cycles

NEEDED = {name: sorted(need) for name, (need, _) in PICTURES.items()}


def records(names: list[str]) -> list[dict[str, Any]]:
    """Records of the metrics with the figures 1, 2, 3 and so on, the published ones ten times as large."""
    return [
        {"metric": name, "value": number, "anchors": {"paper": 10 * number}} for number, name in enumerate(names, 1)
    ]


@pytest.mark.parametrize("name", NEEDED)
def test_a_picture_needs_all_its_figures(name: str, tmp_path: Path) -> None:
    found = records(NEEDED[name])
    assert [path.name for path in plot_shared(found, tmp_path)] == [name]
    (tmp_path / name).unlink()
    for missing in range(len(found)):
        assert plot_shared(found[:missing] + found[missing + 1 :], tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def test_sizes_of_parts_are_added() -> None:
    values = {line["metric"]: line["value"] for line in records(NEEDED["shared-size.png"])}
    assert whole_size(values, 4, "luts") == sum(
        value for name, value in values.items() if name.endswith(("-4vm.luts", "io_dma-8.luts"))
    )
    assert size_of(values, ("io_dma-8",), 4, "registers") == values["fpga.io_dma-8.registers"]
    assert size_of(values, ("io_dma-8", "io_uart-3vm"), 4, "luts") is None


def test_a_chunk_has_a_command_of_its_own() -> None:
    assert [wire_cycles(length) for length in (1, 128, 129, 256)] == [160, 4224, 4384, 8448]
