# SPDX-License-Identifier: Apache-2.0
"""Which tests may run beside each other (pytest-xdist): all but those that build or prove in the same folder."""

from pathlib import Path

import pytest
from xdist.scheduler import LoadScopeScheduling

ONE_FOLDER = {"test_regs", "test_sorter_faults", "test_one_is_found"}  # files and functions


def folder_of(nodeid: str) -> str:
    """What tests of the same folder have in common."""
    file, _, test = nodeid.partition("::")
    function, _, case = test.partition("[")
    if function == "test_bench":  # module-label]
        return case.partition("-")[2]
    if function == "test_a_fault_is_found":  # proof-file-right-wrong]
        return case.partition("-")[0]
    return next((name for name in (Path(file).stem, function) if name in ONE_FOLDER), nodeid)


class FolderScheduling(LoadScopeScheduling):
    """xdist's own groups (xdist_group) do nothing with pytest 9: it keeps a test's name elsewhere."""

    def _split_scope(self, nodeid: str) -> str:
        return folder_of(nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> FolderScheduling:
    return FolderScheduling(config, log)
