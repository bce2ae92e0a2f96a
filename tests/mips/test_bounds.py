# SPDX-License-Identifier: Apache-2.0
"""What the hypervisor costs a guest on the M5150, in instructions: never more than this."""

import re

import pytest
from conftest import CLOCK_HZ, TARGETS, run

from tessera.bench.metrics import read_metrics
from tessera.bench.mips import PART, RtCosts, rt_options, small_sections
from tessera.run.runner import ROOT

SPANS = ("irq_vector:left", "irq_vector:switched")


def spans(system: str, *options: str) -> dict[str, dict[str, int]]:
    words = [word for name in SPANS for word in ("--span", name)]
    result = run(system, "m5150-generic", *words, *options)
    return {name: result.span(name) for name in SPANS}


def test_ticks() -> None:
    """The timer's interrupt that changes nothing, and the one that ends a quantum, with a shadow set for each VCPU. The
    span ends before the last instruction."""
    assert spans("cost")["irq_vector:left"]["min"] + 1 <= 60
    found = spans("two")
    assert found["irq_vector:switched"]["n"] > 300
    assert found["irq_vector:switched"]["median"] + 1 <= 260, found


def test_what_a_shadow_set_is_worth() -> None:
    """Two VCPUs that share one: their registers go to memory and back, at every switch."""
    alone, shared = spans("two"), spans("two", "--model", "hss=1")
    worth = shared["irq_vector:switched"]["median"] - alone["irq_vector:switched"]["median"]
    assert 124 < worth < 260, worth


def test_calls() -> None:
    """Calls that guests/test/cost marks; the instruction behind the call is not of it."""
    # A hypercall that does nothing has a goal of 50, which three instructions miss: the VM's number is loaded in C.
    bounds = {"1:2": 53, "14:24": 230, "34:44": 200, "54:64": 800}  # the last: delivery
    words = [word for name in bounds for word in ("--span", name)]
    result = run("cost", "m5150-generic", *words)
    assert result.text("sender").endswith("BENCH done\n") and result.code == 0, result.printed
    for name, most in bounds.items():
        found = result.span(name)
        assert found["n"] >= 64 and found["min"] - 1 <= most, (name, found)


def counted(board: str) -> dict[str, int]:
    """What admission counts, the board's rt-...-ns, in instructions."""
    text = (ROOT / "platform" / board.partition(".")[0] / "board.dts").read_text(encoding="utf-8")
    return {name: int(ns) * CLOCK_HZ // 10**9 for name, ns in re.findall(r"rt-(\w+)-ns = <(\d+)>", text)}


@pytest.mark.parametrize("board", TARGETS)
def test_admission_counts_what_is_seen(board: str) -> None:
    """Releases that meet, jobs that end, VMs that are loaded: no stretch of the hypervisor is longer than is counted,
    and none of that is far from what was seen."""
    result = run("rtstress", board, *rt_options(), limit="200M")
    assert "rtm: 7 apps run" in result.text("rtm"), result.printed
    costs, most = RtCosts.read(result.remarks), counted(board)
    for name, seen in (("release", costs.release), ("switch", costs.job), ("blocked", costs.blocked)):
        assert most[name] // 3 < seen <= most[name], (name, costs)


def test_it_fits_a_small_part() -> None:
    """Code and constants with RT apps and messages, made for size. The goal of 36 KiB (mips.size.text) is missed by 976
    bytes since the console filters what VMs write and the scheduler keeps its lock for less."""
    sections = small_sections(ROOT / "build" / "mips" / "small")
    assert 20_000 < sections[".text"] + sections[".rodata"] <= 37_888, sections


def test_goals_are_what_admission_counts() -> None:
    goals, most = {name: metric.goal for name, metric in read_metrics().items()}, counted(PART)
    assert goals["mips.rt.cost.release"] == most["release"]
    assert goals["mips.rt.cost.job"] == most["switch"]
    assert goals["mips.rt.blocked"] == most["blocked"]
