# SPDX-License-Identifier: Apache-2.0
"""What a release and a job's end cost, out of ways through the hypervisor; and that goals are what admission counts."""

from tessera.bench_metrics import read_metrics
from tessera.bench_stretch import Stretch, rt_costs
from tessera.board import read_board
from tessera.runner import ROOT

SWITCH = ("sched_run", "sched_run_any", "edf_pick")


def stretch(most: int, *kind: str) -> Stretch:
    return Stretch((*SWITCH, *kind), most, 1, 0, {})


def test_releases_and_ends_are_told_apart() -> None:
    found = [
        stretch(400, "timer_expire", "edf_start"),
        stretch(520, "timer_expire", "edf_start", "refund"),
        stretch(300, "rt_end"),
        stretch(310, "rt_end", "edf_start", "refund"),
        stretch(9000, "timer_expire", "exit_trap"),  # a guest's own exit
        stretch(8000, "vm_load_step", "timer_expire"),
    ]
    assert rt_costs(found) == (520, 310)


def test_several_releases_share_a_way() -> None:
    assert rt_costs([stretch(1000, "timer_expire", "release_others")]) == (500, 0)
    assert rt_costs([stretch(1501, "timer_expire", "release_others", "rt_end")]) == (501, 0)


def test_goals_are_what_admission_counts() -> None:
    board = read_board(ROOT / "platform" / "qemu-virt" / "board.dts")
    alone = board.rt_costs(1)
    goals = {name: metric.goal for name, metric in read_metrics().items()}
    assert goals["riscv.rt.cost.release"] == alone.release_ns
    assert goals["riscv.rt.cost.job"] == alone.switch_ns
    assert goals["riscv.rt.late.max"] == alone.blocked_ns + alone.release_ns
    for harts in (1, 2, 4, 8):
        assert goals[f"riscv.irqoff.max.h{harts}"] == board.rt_costs(harts).blocked_ns
