# SPDX-License-Identifier: Apache-2.0
"""The table of hypercalls with arbitrary call numbers."""

import ctypes
import re

import pytest
from c_headers import ROOT, values
from core import CORE, run_until_idle

NOT_SUPPORTED, GET_ID, GET_VERSION, MAX = values(
    "hypercall_abi.h", "HCALL_ERR_NOT_SUPPORTED HCALL_INFO_GET_ID HCALL_INFO_GET_VERSION HCALL_MAX"
)


@pytest.fixture
def two_vms() -> None:
    assert CORE.testbed_boot(2, 2, (ctypes.c_uint * 2)(1, 1), 1000)
    for vm in range(2):
        assert CORE.testbed_vm_start(0, vm)
    run_until_idle()


def call(cpu: int, number: int) -> tuple[int, int]:
    value = ctypes.c_uint64(0)
    return CORE.testbed_hypercall(cpu, number, 0, 0, 0, ctypes.byref(value)), value.value


@pytest.mark.parametrize("number", [MAX, MAX + 1, 1000, 2**31, 2**32, 2**63, 2**64 - 1])
def test_number_beyond_the_table(two_vms: None, number: int) -> None:
    assert call(0, number) == (NOT_SUPPORTED, 0)


def test_unused_number(two_vms: None) -> None:
    """The last entries of the table are unused."""
    assert call(0, MAX - 1) == (NOT_SUPPORTED, 0)


def test_each_vm_gets_its_id(two_vms: None) -> None:
    running = {CORE.testbed_on_cpu(cpu) // 100: cpu for cpu in range(2)}
    assert [call(running[vm], GET_ID) for vm in range(2)] == [(0, 0), (0, 1)]


def test_the_version_is_that_of_the_changelog(two_vms: None) -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    version = re.search(r"^## \[[^]]+\]: (\d+)\.(\d+)\.(\d+)", text, flags=re.MULTILINE)
    assert version is not None
    major, minor, patch = map(int, version.groups())
    assert call(0, GET_VERSION) == (0, major << 16 | minor << 8 | patch)
