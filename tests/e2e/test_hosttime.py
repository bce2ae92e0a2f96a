# SPDX-License-Identifier: Apache-2.0
"""
A machine that makes no progress because the host gives it no CPU time is distinguished from one
that hangs.

To slow down only one process, it runs at the lowest priority on a CPU that another process keeps
busy.
"""

import argparse
import importlib.util
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from helpers import ROOT, built, run

from tessera.run import hosttime
from tessera.run.machine import Machine, MachineTimeoutError
from tessera.run.runner import find_qemu

CPU = min(os.sched_getaffinity(0))
SPIN = f"import os; os.sched_setaffinity(0, {{{CPU}}})\nwhile True: pass"
STARVED = (
    f"import os, sys; os.sched_setaffinity(0, {{{CPU}}}); os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))\n"
)
WORK = "for _ in range(10_000_000): pass\nprint('done', flush=True); sys.stdin.readline()"


@contextmanager
def busy_cpu():
    """Keeps the CPU busy, so that a process of the lowest priority there makes no progress."""
    with subprocess.Popen([sys.executable, "-c", SPIN]) as spinner:
        try:
            yield spinner
        finally:
            spinner.kill()


@pytest.fixture
def impatient(monkeypatch):
    """Ends every limit after a few seconds, however little CPU time the machine got."""
    monkeypatch.setattr(hosttime, "HOST_FACTOR", 2)
    monkeypatch.setattr(hosttime, "LEAST_S", 2)


def python(code):
    return Machine([sys.executable, "-u", "-c", code], ["one"])


def test_machine_without_cpu_time_is_reported_as_slow_host(impatient):
    with busy_cpu(), python(STARVED + WORK) as machine:
        with pytest.raises(hosttime.HostTooSlowError, match=r"^the host is too slow: QEMU got 0\.\d s of CPU in \d+ s"):
            machine.expect("one", "^done$", timeout=1)
        with pytest.raises(hosttime.HostTooSlowError):
            machine.status(1)


@pytest.mark.parametrize("code", ["import time; time.sleep(100)", "while True: pass"], ids=["sleeps", "spins"])
def test_machine_that_hangs_is_not_reported_as_slow_host(code):
    with python(code) as machine:
        with pytest.raises(MachineTimeoutError, match=r"not within 1 s \(QEMU got \d+\.\d s of CPU in \d+ s"):
            machine.expect("one", "^done$", timeout=1)
        with pytest.raises(MachineTimeoutError, match="still runs after 1 s"):
            machine.status(1)
        assert not machine.wait_until(lambda: False, 1)


@pytest.mark.long
def test_time_without_a_cpu_does_not_count():
    """The CPU becomes free after three times the limit: late by the clock, but not by the CPU time
    received."""
    with busy_cpu() as spinner, python(STARVED + WORK) as machine, ThreadPoolExecutor() as pool:
        waited = pool.submit(machine.expect, "one", "^done$", 1)
        time.sleep(3)
        assert not waited.done()
        spinner.kill()
        waited.result(60)


def test_steal_time_of_the_host_does_not_count(tmp_path, monkeypatch):
    """Steal time, as in a virtual machine on a busy host: one of two CPUs loses two seconds."""
    monkeypatch.setattr(hosttime, "STAT", tmp_path / "stat")

    def lose(ticks):
        lines = ["cpu  0 0 0 0 0 0 0 0 0 0", "cpu0 0 0 0 0 0 0 0 0 0 0", f"cpu1 0 0 0 0 0 0 0 {ticks} 0 0", "ctxt 1"]
        (tmp_path / "stat").write_text("\n".join(lines) + "\n")

    lose(100)
    with python("import time; time.sleep(2); print('done', flush=True); time.sleep(100)") as machine:
        with ThreadPoolExecutor() as pool:
            waited = pool.submit(machine.expect, "one", "^done$", 1)
            time.sleep(0.5)
            lose(100 + 2 * os.sysconf("SC_CLK_TCK"))
            waited.result(60)
        with pytest.raises(MachineTimeoutError, match="not within 1 s"):
            machine.expect("one", "^never$", timeout=1)


@pytest.fixture
def starved_qemu(tmp_path, monkeypatch):
    """A QEMU= that boots machines at the lowest priority but answers queries (--version) at normal
    priority."""
    words = "chrt --idle 0 taskset --cpu-list " + str(CPU)
    path = tmp_path / "qemu"
    path.write_text(f'#!/bin/sh\ncase "$*" in *-kernel*) exec {words} {find_qemu().program} "$@" ;; esac\n'
                    f'exec {find_qemu().program} "$@"\n')  # fmt: skip
    path.chmod(0o755)
    monkeypatch.setenv("QEMU", str(path))


def test_smoke_reports_a_slow_host(starved_qemu, impatient, capsys):
    spec = importlib.util.spec_from_file_location("run", ROOT / "tools" / "run.py")
    runner = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(runner)
    system = built("trio")
    with busy_cpu():
        status = runner.command_smoke(system, argparse.Namespace(timeout=1.0))
    said = capsys.readouterr().out
    assert status == runner.TOO_SLOW
    assert re.search(
        r"^smoke: the host is too slow: QEMU got \d\.\d s of CPU in \d+ s and waited", said, re.MULTILINE
    ), said
    assert "FAILED" not in said


def test_slow_host_is_reported_in_a_separate_category(tmp_path):
    """The test is reported in a separate category with the reason; the run still fails."""
    (tmp_path / "conftest.py").write_text((ROOT / "tests" / "conftest.py").read_text())
    body = "from tessera.run.hosttime import HostTooSlowError\ndef test_one(): raise HostTooSlowError('no time')\n"
    (tmp_path / "test_slow.py").write_text(f"{body}def test_two(): assert False\n")
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), str(tmp_path)]
    done = run(words, PYTHONPATH=str(ROOT / "tools"), PYTHONDONTWRITEBYTECODE="1")
    assert done.returncode == 1
    assert "HOST TOO SLOW test_slow.py::test_one: no time" in done.stdout
    assert re.search(r"1 failed, 1 host too slow", done.stdout), done.stdout
