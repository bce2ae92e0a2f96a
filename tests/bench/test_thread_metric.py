# SPDX-License-Identifier: Apache-2.0
"""The services of FreeRTOS in a VM: what is compared, and the picture."""

from pathlib import Path

import pytest

from tessera.bench.metrics import read_metrics
from tessera.bench.parse import ParseError
from tessera.bench.plot_thread_metric import plot_thread_metric, series
from tessera.bench.thread_metric import ROWS, Row, others, rows, shares, slices

RTOS = """FIGURE is no line of the guest
BENCH {"metric":"messages","unit":"passes","min":900,"median":900,"avg":900,"max":900,"n":1}
WINDOW messages 10000 30000
BENCH {"metric":"memory","unit":"passes","min":10,"median":10,"avg":10,"max":10,"n":1}
"""
BUSY = "GAP 0 500\nGAP 9000 11000\nGAP 16000 18000\nGAP 22000 26000\nBENCH done\n"


def test_a_row_needs_its_window() -> None:
    assert rows(RTOS) == {"messages": Row(900, 10000, 30000)}


def test_slices_of_the_busy_vm_lie_between_its_gaps() -> None:
    assert slices(BUSY) == [(500, 9000), (11000, 16000), (18000, 22000)]


def test_only_the_busy_vms_own_instructions_do_not_count() -> None:
    row = Row(900, 10000, 30000)
    assert others(row, []) == 20000
    assert others(row, slices(BUSY)) == 20000 - 5000 - 4000
    assert others(Row(1, 12000, 20000), slices(BUSY)) == 8000 - 4000 - 2000  # slices that the row cuts


def test_the_share_of_the_hart_is_not_the_result() -> None:
    """Half the passes in half the instructions are all passes; what the hypervisor executes is missing from them."""
    native = {"messages": Row(2000, 0, 20000)}
    assert shares({"messages": Row(1100, 10000, 30000)}, native, ["messages"], slices(BUSY)) == {"messages": 100.0}
    (share,) = shares({"messages": Row(990, 10000, 30000)}, native, ["messages"], slices(BUSY)).values()
    assert share == pytest.approx(90.0)


def test_a_row_without_load_is_refused() -> None:
    with pytest.raises(ParseError, match="the busy VM executed only 0 of 20000"):
        others(Row(1, 100000, 120000), slices(BUSY))


def test_a_missing_row_is_refused() -> None:
    with pytest.raises(ParseError, match="did not report memory"):
        shares(rows(RTOS), rows(RTOS), ["messages", "memory"])


def test_every_row_has_figures_on_both_architectures() -> None:
    metrics = read_metrics()
    for prefix in ("vdm", "mips.vdm"):
        for row in (*ROWS, "min"):
            assert (
                metrics[f"{prefix}.threadmetric.{row}"].goal == metrics[f"{prefix}.threadmetric.{row}.load"].goal == 98
            )


def test_picture_has_every_measured_series(tmp_path: Path) -> None:
    def line(metric: str, value: float, **config: str) -> dict:
        return {"metric": metric, "value": value, "config": config}

    records = [
        line("vdm.threadmetric.memory", 99.0, qemu="7.2"),
        line("vdm.threadmetric.memory", 98.0, qemu="10.0"),
        line("mips.vdm.threadmetric.memory.load", 97.0, simulator="iasim"),
    ]
    found = series(records)
    assert found == {
        "Tessera on RISC-V, alone": {"memory": 99.0},
        "Tessera on the M5150, beside a busy VM": {"memory": 97.0},
    }
    (path,) = plot_thread_metric(read_metrics(), records, tmp_path)
    assert path.stat().st_size > 10000
    assert plot_thread_metric(read_metrics(), [], tmp_path) == []
