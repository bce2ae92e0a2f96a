# SPDX-License-Identifier: Apache-2.0
"""The arithmetic of `make break-even`: when a reconfiguration is worth its time, and its input."""

import json
from math import inf
from pathlib import Path

import pytest

import break_even
from tessera.bench.plot_break_even import plot_break_even
from tessera.fabric.bitstream import of_file
from tessera.fabric.break_even import BreakEvenError, Case, Machine, cases, read_tasks
from tessera.run.runner import ROOT

TASKS = ROOT / "tools" / "break-even.tsv"
CASE = Case("qam16", 2350, soft=100.0, hard=20.0, reconf=400.0)


def software(scale: int = 1) -> dict[tuple[str, int], float]:
    return {(task.name, task.size * scale): 100000.0 * scale for task in read_tasks(TASKS)}


def test_equal_times_are_not_worth_it() -> None:
    """400 + 5 * 20 = 5 * 100: from the sixth frame on."""
    assert CASE.frames == 6
    assert not CASE.worth(5)
    assert CASE.worth(6)


@pytest.mark.parametrize("reconf", [0.0, 1.0, 79.9, 80.0, 80.1, 12345.6])
def test_the_least_number_is_the_first_that_fulfils_the_equation(reconf: float) -> None:
    case = Case("aes128", 16, soft=100.0, hard=20.0, reconf=reconf)
    assert case.worth(case.frames)
    assert not case.worth(case.frames - 1)


@pytest.mark.parametrize("hard", [100.0, 250.0])
def test_hardware_that_is_not_faster_is_never_worth_it(hard: float) -> None:
    case = Case("g722", 640, soft=100.0, hard=hard, reconf=0.0)
    assert case.frames == inf
    assert case.least_rate(1) == inf
    assert not case.worth(10**9)


def test_at_the_least_rate_both_use_the_same_time() -> None:
    rate = CASE.least_rate(swaps=10)
    software_load, hardware_load = CASE.load(rate, swaps=10)
    assert software_load == pytest.approx(hardware_load) == pytest.approx(50 * 100 / 1e6)
    assert CASE.load(1.01 * rate, 10)[1] < CASE.load(1.01 * rate, 10)[0]


def test_at_the_highest_rates_all_time_is_used() -> None:
    soft, hard = CASE.most_rates(swaps=10)
    assert CASE.load(soft, 10)[0] == pytest.approx(1)
    assert CASE.load(hard, 10)[1] == pytest.approx(1)
    assert CASE.most_rates(swaps=3000)[1] == 0  # nothing but reconfigurations


@pytest.mark.parametrize("region", [0, 1, 2])
def test_a_reconfiguration_takes_as_long_as_its_bitstream_and_the_manager(region: int) -> None:
    bitstream = of_file(f"1-{region}.bin")
    assert bitstream is not None
    cycles = len(bitstream) / 4
    assert Machine(manager=0).reconfiguration_us(region) == pytest.approx(cycles / 100)
    machine = Machine(cpu_mhz=500, cpi=2, fabric_mhz=50, manager=1000, per_word=2)
    assert machine.reconfiguration_us(region) == pytest.approx(2 * cycles / 50 + 4)


def test_times_of_a_frame() -> None:
    """QAM16: 2356 cycles of 10 ns; AES-128: 64 blocks of 16.1."""
    found = {case.task: case for case in cases(read_tasks(TASKS), software(), Machine(), 0)}
    assert found["qam16"].hard == pytest.approx(23.56)
    assert found["aes128"].hard == pytest.approx(64 * 0.161)
    assert found["g722"].hard == pytest.approx(160 * 0.755)
    assert found["qam16"].soft == pytest.approx(100)
    slower = cases(read_tasks(TASKS), software(), Machine(cpu_mhz=100, cpi=1.5), 0)
    assert slower[0].soft == pytest.approx(1500)


def test_measured_cycles_replace_those_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "fpga.g722.octet.json").write_text(json.dumps(80), encoding="utf-8")
    read = {task.name: task.cycles for task in read_tasks(TASKS, tmp_path)}
    assert (read["g722"], read["qam16"]) == (80, 2356)


def test_a_frame_without_a_measurement_is_refused() -> None:
    with pytest.raises(BreakEvenError, match="qam16: no software time of a frame of 2350 bytes"):
        cases(read_tasks(TASKS), software(scale=2), Machine(), 0)


def test_a_wrong_line_is_named(tmp_path: Path) -> None:
    lines = TASKS.read_text(encoding="utf-8").splitlines()
    wrong = tmp_path / "tasks.tsv"
    wrong.write_text("\n".join([*lines[:-1], lines[-1].replace("640", "many")]), encoding="utf-8")
    with pytest.raises(BreakEvenError, match=f"tasks.tsv:{len(lines)}: .*many"):
        read_tasks(wrong)
    wrong.write_text("task\n", encoding="utf-8")
    with pytest.raises(BreakEvenError, match="expected the header"):
        read_tasks(wrong)


def test_picture(tmp_path: Path) -> None:
    tasks = read_tasks(TASKS)
    assert plot_break_even(tasks, cases(tasks, software(), Machine(), 0), tmp_path).stat().st_size > 20000


def test_the_figures_of_documents_are_those_of_whole_frames() -> None:
    tasks = [task for task in read_tasks(TASKS) if task.name == "g722"]
    times = software() | software(2)
    by_region = [cases(tasks, times, Machine(), region) for region in range(3)]
    found = {line["metric"]: line["value"] for line in break_even.records(by_region, tasks, region=1, swaps=100)}
    case, frames = by_region[1][0], [row[0].frames for row in by_region]
    assert case.size == tasks[0].size
    assert found == {
        "break_even.g722.software": 100.0,
        "break_even.g722.hardware": case.hard,
        **{f"break_even.g722.frames.{region}": frames[region] for region in range(3)},
        "break_even.g722.least": case.least_rate(100),
        "break_even.g722.most_software": case.most_rates(100)[0],
        "break_even.g722.most_hardware": case.most_rates(100)[1],
    }
