# SPDX-License-Identifier: Apache-2.0
"""The room of a CPU's timers (core/include/timer.h) suffices for the single timers of all components."""

import re

from check import repo

TOP = repo.DEFAULT_ROOT
COUNT = re.compile(r"#define TIMERS_OF_COMPONENTS (\d+)U")


def test_room_for_the_timers_of_components() -> None:
    """Those of VMs are counted, too: a call of timer_init() is for one timer, or for one of each VM."""
    names = [name.split("/")[-1] for name in repo.components(TOP)]
    folders = [*repo.components(TOP), *(f"arch/*/{name}" for name in names), "arch/*/compat"]
    sources = [file for folder in folders for file in TOP.glob(f"{folder}/*.c")]
    calls = sum(file.read_text(encoding="utf-8").count("timer_init(") for file in sources)
    found = COUNT.search((TOP / "core/include/timer.h").read_text(encoding="utf-8"))
    assert found is not None
    assert 6 <= calls <= int(found[1])
