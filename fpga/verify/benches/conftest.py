# SPDX-License-Identifier: Apache-2.0
"""Parallel tests (pytest-xdist): all tests may run in parallel, except those that use the same build folder."""

from pathlib import Path

import pytest
from xdist.scheduler import LoadScopeScheduling

ONE_FOLDER = {"test_genesys2", "test_netlist", "test_regs"}  # files of tests that use what a fixture of the file made


def folder_of(nodeid: str) -> str:
    """A key that is equal for tests that use the same build folder."""
    file, _, test = nodeid.partition("::")
    function, _, case = test.partition("[")
    if function == "test_bench":  # module-label]
        return case.partition("-")[2]
    if function == "test_a_fault_is_found":  # proof-file-right-wrong]
        return case.partition("-")[0]
    return file if Path(file).stem in ONE_FOLDER else nodeid


class FolderScheduling(LoadScopeScheduling):
    """Replaces xdist's groups (xdist_group), which have no effect with pytest 9."""

    def _split_scope(self, nodeid: str) -> str:
        return folder_of(nodeid)


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> FolderScheduling:
    return FolderScheduling(config, log)
