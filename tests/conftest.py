# SPDX-License-Identifier: Apache-2.0
"""Reports tests that failed because the host was too slow in a separate category; the run still
does not succeed."""

import pytest

from tessera.run.hosttime import HostTooSlowError

CATEGORY = "host too slow"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):
    outcome = yield
    if call.excinfo and isinstance(call.excinfo.value, HostTooSlowError):
        outcome.get_result().host_too_slow = str(call.excinfo.value)


@pytest.hookimpl(tryfirst=True)
def pytest_report_teststatus(report: pytest.TestReport):
    if getattr(report, "host_too_slow", None):
        return CATEGORY, "H", "HOST TOO SLOW"
    return None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for report in terminalreporter.getreports(CATEGORY):
        terminalreporter.write_line(f"HOST TOO SLOW {report.nodeid}: {report.host_too_slow}")
