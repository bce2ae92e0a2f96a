# SPDX-License-Identifier: Apache-2.0
"""
Costs of a release and a job's end from paths through the hypervisor; goals equal the costs of
admission.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tessera.bench.count import CountError
from tessera.bench.metrics import read_metrics
from tessera.bench.sections import (
    ENTRY,
    HEIGHTS,
    KINDS,
    LEAST_HEIGHTS,
    POLLING_POINT,
    RT_PATH,
    Lock,
    Section,
    longest_waits,
    read_locks,
    read_sections,
    rt_costs,
    with_waits,
)
from tessera.bench.worst import GROUPS
from tessera.image.board import read_board
from tessera.run.runner import ROOT
from tessera.verify.components import hypercall_functions, sbi_functions

SWITCH = ("sched_run", "edf_pick")


def section(most: int, *kind: str) -> Section:
    return Section((*SWITCH, *kind), most, 1, 0, {})


def test_releases_and_ends_are_distinguished() -> None:
    found = [
        section(400, "timer_expire", "edf_start"),
        section(520, "timer_expire", "edf_start", "refund"),
        section(300, "rt_end"),
        section(310, "rt_end", "edf_start"),
        section(900, "rt_end", "edf_start", "refund"),  # a release and an end
        section(9000, "timer_expire", "exit_trap"),  # a guest's own exit
        section(8000, "vm_load_step", "timer_expire"),
    ]
    assert rt_costs(found) == (520, 310)


NONE = (0,) * HEIGHTS


def lock(height: int, most: int, inner: Sequence[int] = NONE, firmware: int = 0) -> Lock:
    return Lock(0, most, firmware, 0, 1, height, inner, {})


def test_on_several_harts_a_path_waits_for_its_locks() -> None:
    paths = [
        replace(
            section(1400, "timer_expire", "edf_start"), by_locks=[((1, 0, 0, 0, 0, 0), 900), ((2, 0, 0, 0, 0, 0), 1400)]
        ),
        replace(section(600, "rt_end"), by_locks=[((1, 0, 0, 0, 0, 0), 600)]),
    ]
    locks = [lock(0, 600, firmware=100), lock(0, 650)]
    assert rt_costs(paths, locks, 1) == (1400, 600)
    assert rt_costs(paths, locks, 4) == (1400 + 2 * 3 * 700, 600 + 3 * 700)


def test_waiting_for_an_outer_lock_includes_the_waits_of_its_holders() -> None:
    paths = [replace(section(500, "exit_trap"), by_locks=[((1, 1, 0, 0, 0, 0), 500)])]
    locks = [lock(1, 300, (1, 0, 0, 0, 0, 0)), lock(0, 100)]
    assert with_waits(paths, locks, 1) == 500
    assert with_waits(paths, locks, 2) == 500 + 100 + 300
    # All three others are ahead. The second of them waits for the first at the inner lock, the third for two.
    assert with_waits(paths, locks, 4) == 500 + 3 * 100 + 3 * 300 + (0 + 1 + 2) * 100
    assert with_waits(paths, locks, 8) == 500 + 7 * 100 + 7 * 300 + (0 + 1 + 2 + 3 + 4 + 5 + 6) * 100


def test_locks_of_three_heights() -> None:
    """The harts ahead at the highest lock wait twice for one of the middle, where others wait for the lowest."""
    locks = [lock(2, 1000, (0, 2, 0, 0, 0, 0)), lock(1, 300, (1, 0, 0, 0, 0, 0)), lock(0, 100)]
    assert longest_waits(locks, 1) == [0] * HEIGHTS
    assert longest_waits(locks, 2) == [100, 300, 1000, 0, 0, 0]
    middle = [0, 300, 300 + 400, 300 + 400 + 500]  # behind none to three others
    highest = sum(1000 + 2 * middle[before] for before in (0, 1, 2))
    assert longest_waits(locks, 4) == [300, middle[3], highest, 0, 0, 0]


def test_several_releases_share_a_path() -> None:
    assert rt_costs([section(1000, "timer_expire", "release_others")]) == (500, 0)
    assert rt_costs([section(1501, "timer_expire", "release_others", "rt_end")]) == (501, 0)


def test_firmware_calls_add_blocking_time() -> None:
    board = read_board(ROOT / "platform" / "qemu-virt" / "board.dts")
    slow = replace(board, rt_firmware_ns=10_000)
    assert [slow.rt_costs(harts).blocked_ns for harts in (1, 2, 8)] == [10_000, 20_000, board.rt_blocked_ns[3]]
    assert slow.rt_costs(2).release_ns == board.rt_costs(2).release_ns


def test_a_record_of_more_than_the_plugin_can_count_is_refused(tmp_path: Path) -> None:
    record = tmp_path / "sections.json"
    record.write_text('{"beyond": "", "sections": [], "locks": []}')
    assert (read_sections(record), read_locks(record)) == ([], [])
    record.write_text('{"beyond": "MAX_PATHS", "sections": [], "locks": []}')
    for read in (read_sections, read_locks):
        with pytest.raises(CountError, match=r"MAX_PATHS of tools/qemu-plugins/count-sections\.c is too low"):
            read(record)


def test_goals_equal_admission_costs() -> None:
    """Without firmware time, as in the QEMU that measures."""
    board = replace(read_board(ROOT / "platform" / "qemu-virt" / "board.dts"), rt_firmware_ns=0)
    alone = board.rt_costs(1)
    goals = {name: metric.goal for name, metric in read_metrics().items()}
    assert goals["riscv.rt.cost.release"] == alone.release_ns
    assert goals["riscv.rt.cost.job"] == alone.switch_ns
    assert goals["riscv.rt.late.max"] == alone.blocked_ns + alone.release_ns
    for harts in (1, 2, 4, 8):
        assert goals[f"riscv.irqoff.max.h{harts}"] == board.rt_costs(harts).blocked_ns
    for harts in (2, 4, 8):
        assert goals[f"virtio.irqoff.max.h{harts}"] == board.rt_costs(harts, functions=True).blocked_ns


def test_functions_that_classify_sections_have_a_symbol() -> None:
    """A function that the compiler may inline, a macro or an old name would never be found. A static function has a
    symbol if it is OWN_SYMBOL or its address is taken, a static variable always."""
    folders = ("arch/riscv", "core", "devices", "ipc", "rt", "services")
    text = "\n".join(path.read_text(encoding="utf-8") for one in folders for path in (ROOT / one).rglob("*.[cS]"))
    named = {ENTRY, POLLING_POINT, *KINDS, *RT_PATH, *LEAST_HEIGHTS}
    patterns = (
        r"^(?:OWN_SYMBOL static|(?!static|extern|#)\w)[^=;(\n]*?\b%s(?:\(|\[|:|;)",
        r" = %s\b",
        r"^%s:",
        r"^static [^=;(\n]*\b%s[^=;(\n]*;",
    )
    found = {name for name in named if any(re.search(pattern % name, text, re.MULTILINE) for pattern in patterns)}
    assert named - found - (hypercall_functions() | sbi_functions()) == set()
    assert {name for _, members in GROUPS[2:] for name in members} <= named
