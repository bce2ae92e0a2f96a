# SPDX-License-Identifier: Apache-2.0
"""The response of a task of FreeRTOS: what is compared, and the picture."""

from pathlib import Path

import pytest

from tessera.bench.metrics import read_metrics
from tessera.bench.parse import ParseError, summary
from tessera.bench.plot_response import jobs, panels, plot_response
from tessera.bench.response import (
    ADDED,
    LEAST,
    LOAD,
    NATIVE,
    SITUATIONS,
    VM,
    added,
    beside,
    distributions,
    samples,
    with_accelerator,
)


def console(first: int, most: int, n: int = LEAST) -> str:
    values = [first] * (n - 1) + [most]
    return "".join(f"RESPONSE {name} {value}\n" for name in SITUATIONS for value in values) + "BENCH done\n"


def test_samples_are_ascending_and_by_situation() -> None:
    text = "RESPONSE asleep 9\nRESPONSE computing 7\n" + console(3, 1)
    found = samples(text)
    assert found["asleep"] == [1, *[3] * (LEAST - 1), 9] and found["computing"] == [1, *[3] * (LEAST - 1), 7]


@pytest.mark.parametrize("text", ["", console(1, 2, LEAST - 1), console(1, 2).replace("BENCH done", "BENCH failed: x")])
def test_an_incomplete_run_is_refused(text: str) -> None:
    with pytest.raises(ParseError):
        samples(text)


def test_a_load_that_ended_is_refused() -> None:
    assert beside(console(1, 2), "GAP 0 1\nBENCH done\n") == samples(console(1, 2))
    with pytest.raises(ParseError, match="the busy VM ended too early"):
        beside(console(1, 2), "BENCH failed: more gaps than there is memory for\n")


def test_added_is_worst_to_worst() -> None:
    native, in_vm = summary("n", "instructions", [300, 310, 400]), summary("v", "instructions", [301, 320, 450])
    found = added("a", native, in_vm)
    assert (found.min, found.median, found.max, found.n) == (1, 10, 50, 3)


def test_every_run_has_its_samples_and_the_difference_is_of_the_vm_alone() -> None:
    runs = {NATIVE: samples(console(300, 400)), VM: samples(console(300, 410)), LOAD: samples(console(300, 90000))}
    found = {entry.figure.metric: entry for _, entry in distributions("riscv", runs)}
    assert len(found) == 8
    assert found["riscv.response.asleep.added"].figure.max == 10 and not found["riscv.response.asleep.added"].samples
    assert found["riscv.response.computing.load"].samples[-1] == 90000


def with_jobs(preemptions: int) -> str:
    lines = [f"JOB {name} {56 + n}" for name in SITUATIONS for n in range(LEAST)]
    return "\n".join([*lines, f"PREEMPTIONS {preemptions}", console(300, 400)])


def test_jobs_are_in_microseconds_and_counted_apart() -> None:
    found = {entry.figure.metric: entry for entry in with_accelerator(with_jobs(2 * LEAST), ".preempt", counts=True)}
    assert len(found) == 4 and found["vdm.response.asleep.preempt"].figure.max == 400
    assert found["vdm.response.job.computing.preempt"].samples[:2] == (5.6, 5.7)
    without = with_accelerator(with_jobs(0), ".own", counts=False)
    assert [entry.figure.metric for entry in without] == [f"vdm.response.job.{name}.own" for name in SITUATIONS]


@pytest.mark.parametrize(("run", "preemptions"), [(".own", 1), (".preempt", 2 * LEAST * 9 // 10 - 1)])
def test_jobs_that_did_not_use_the_region_as_meant_are_refused(run: str, preemptions: int) -> None:
    with pytest.raises(ParseError, match="jobs that preempt"):
        list(with_accelerator(with_jobs(preemptions), run, counts=True))


def test_goals_and_the_papers_figure_on_both_architectures() -> None:
    metrics = read_metrics()
    for name in (f"{machine}.response.{situation}{ADDED}" for machine in ("riscv", "mips") for situation in SITUATIONS):
        goal = metrics[name].goal
        assert goal is not None and goal < metrics[name].peers["kerone"] == 2061 == int(3.09 * 667)
        assert metrics[name].stat == "max"


def test_picture_has_every_measured_panel(tmp_path: Path) -> None:
    def line(metric: str, curve: list[int], **config: str) -> dict:
        return {"metric": metric, "curve": curve, "config": config}

    records = [
        line("riscv.response.asleep.native", [350, 351], qemu="7.2"),
        line("riscv.response.asleep", [600, 700], qemu="7.2"),
        line("riscv.response.asleep", [1, 2], qemu="10.0"),
        line("mips.response.computing.load", [656, 100000], simulator="iasim"),
        line("vdm.response.job.asleep.own", [6.2, 6.3], qemu="7.2"),
    ]
    assert jobs(records) == {"asleep": {".own": [6.2, 6.3]}}
    assert panels(records) == {
        ("riscv", "asleep"): {NATIVE: [350, 351], VM: [600, 700]},
        ("mips", "computing"): {LOAD: [656, 100000]},
    }
    (path,) = plot_response(read_metrics(), records, tmp_path)
    assert path.name == "response.png" and path.stat().st_size > 10000
    assert plot_response(read_metrics(), [], tmp_path) == []
