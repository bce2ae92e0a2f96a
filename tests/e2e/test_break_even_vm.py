# SPDX-License-Identifier: Apache-2.0
"""`make break-even` with the times of the HW tasks in software, measured in a VM."""

from collections.abc import Callable
from pathlib import Path

from tessera.bench.collect import MEASUREMENTS, Bench
from tessera.fabric.break_even import REGIONS, Machine, cases, read_tasks
from tessera.run.runner import ROOT, BuiltSystem, Qemu


def test_every_task_is_worth_a_reconfiguration_after_a_few_frames(
    qemu: Qemu, build_system: Callable[..., BuiltSystem], tmp_path: Path
) -> None:
    build_system("soft-tasks")
    bench = Bench(qemu, tmp_path)
    MEASUREMENTS["soft-tasks"](bench)
    software = {
        (task, int(size)): taken.figure.min
        for taken in bench.taken
        for task, size in [taken.figure.metric.split(".")[2:]]
    }
    assert len(software) == 18
    tasks = read_tasks(ROOT / "tools" / "break-even.tsv")
    for region in REGIONS:
        for case in cases(tasks, software, Machine(), region):
            assert case.soft > 1.4 * case.hard, case
            assert case.frames <= 11, case
            assert case.worth(case.frames) and not case.worth(case.frames - 1)
