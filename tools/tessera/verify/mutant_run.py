# SPDX-License-Identifier: Apache-2.0
"""
A plugin of pytest, which runs the mutants of a library (mutants.py) instead of the tests: each with the tests that
reach its code, the shortest first, up to the first that fails. Every run of a test is a process of its own, forked once
the tests are imported: what a test finds depends on no test before it.
"""

import ctypes
import gc
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol

FOLDER = Path(os.environ.get("TESSERA_MUTANTS", "."))  # what mutants.py and the compiler have made
RESULTS = FOLDER / "results"
ONLY = os.environ.get("MUTANT", "")  # an expression that the mutants' keys match
SKIPPED = os.environ.get("TESSERA_SKIPPED", "")  # a file of keys of mutants that do not run
PROCESSES = 2
PROGRAM_S = 10  # CPU time of a program in C
NEAR = 20  # mutants before one: the tests that found them come first
# Tests over the fabric's RTL run with the mutants of these sources only, and without those that are slow.
RTL_TESTS = "tests/manager/"
RTL_SOURCES = re.compile(r"^devices/(accel/|shared/function\.c )")


@dataclass
class Test:
    name: str
    passes: Callable[[], bool]
    seconds: float = 0  # CPU time without a mutant

    def finds(self, key: str) -> bool:
        """Whether the test takes part for this mutant."""
        return not self.name.startswith(RTL_TESTS) or RTL_SOURCES.match(key) is not None


def passes_alone(test: Test) -> bool:
    """Whether the test passes in a process of its own, which ends after ten times the test's usual CPU time."""
    child = os.fork()
    if child == 0:
        ok = False
        try:
            signal.signal(signal.SIGPROF, signal.SIG_DFL)
            signal.setitimer(signal.ITIMER_PROF, 2 + 10 * test.seconds)
            ok = test.passes()
        finally:
            os._exit(0 if ok else 1)
    return os.waitpid(child, 0)[1] == 0


def in_processes(jobs: Mapping[str, Callable[[Path], None]]) -> dict[str, str]:
    """Runs the jobs, each of which writes a file: the texts by the jobs' names."""
    shutil.rmtree(RESULTS, ignore_errors=True)
    RESULTS.mkdir(parents=True)
    running = 0
    gc.freeze()  # a process that collects garbage copies the pages that it shares with this one
    for name, job in jobs.items():
        if running == PROCESSES:
            os.wait()
            running -= 1
        running += 1
        if os.fork() == 0:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            os.dup2(null, 2)
            try:
                job(RESULTS / name)
            finally:
                os._exit(0)
    for _ in range(running):
        os.wait()
    return {name: (RESULTS / name).read_text(encoding="utf-8") if (RESULTS / name).exists() else "" for name in jobs}


class Run:
    def __init__(self, items: list[pytest.Item], programs: list[Path]) -> None:
        self.keys: list[str] = json.loads((FOLDER / "mutants.json").read_text(encoding="utf-8"))
        library = ctypes.CDLL(str(FOLDER / "libcore.so"))
        self.selected = ctypes.c_uint.in_dll(library, "mutant_selected")
        self.reached = (ctypes.c_ubyte * len(self.keys)).in_dll(library, "mutant_reached")
        self.tests = [Test(item.nodeid, partial(self.item_passes, item)) for item in items]
        self.tests += [Test(program.name, partial(self.program_passes, program)) for program in programs]
        skipped = set(Path(SKIPPED).read_text(encoding="utf-8").splitlines()) if SKIPPED else set()
        self.chosen = {key for key in self.keys if re.search(ONLY, key)} - skipped
        self.tests = [test for test in self.tests if any(test.finds(key) for key in self.chosen)]

    def item_passes(self, item: pytest.Item) -> bool:
        return not any(report.failed for report in runtestprotocol(item, log=False, nextitem=None))

    def program_passes(self, program: Path) -> bool:
        """Runs a program in C, which reports what it reached in a file."""
        file = RESULTS / f"reached-{os.getpid()}"
        words = {
            "MUTANT_NUMBER": str(self.selected.value),
            "MUTANT_REACHED": str(file),
            "ASAN_OPTIONS": "detect_leaks=0",
        }
        limit = (PROGRAM_S, PROGRAM_S)
        done = subprocess.run(
            [program],
            env=words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=partial(resource.setrlimit, resource.RLIMIT_CPU, limit),
        )
        if file.exists():
            for number, value in enumerate(file.read_bytes()[: len(self.keys)]):
                self.reached[number] |= value
            file.unlink()
        return done.returncode == 0

    def measure(self, test: Test, result: Path) -> None:
        """What a test reaches, and its time, without a mutant."""
        ctypes.memset(self.reached, 0, len(self.keys))
        ok = test.passes()
        times = os.times()
        seconds = times.user + times.system + times.children_user + times.children_system
        result.write_text(
            json.dumps([ok, seconds, [n for n, value in enumerate(self.reached) if value]]), encoding="utf-8"
        )

    def hunt(self, number: int, tests: list[Test], result: Path) -> None:
        """Writes the test that finds a mutant, or does not end with it; nothing if all pass."""
        self.selected.value = number
        before = [RESULTS / str(near) for near in range(number - NEAR, number)]
        finders = {file.read_text(encoding="utf-8") for file in before if file.exists()}
        for test in sorted(tests, key=lambda test: test.name not in finders):
            if not passes_alone(test):
                result.write_text(test.name, encoding="utf-8")
                return

    def reaching(self) -> dict[int, list[Test]]:
        """The tests that take part for each mutant, whose times are measured."""
        measured = in_processes({str(i): partial(self.measure, test) for i, test in enumerate(self.tests)})
        found: dict[int, list[Test]] = defaultdict(list)
        failing: list[str] = []
        for i, test in enumerate(self.tests):
            ok, test.seconds, reached = json.loads(measured[str(i)] or "[false, 0, []]")
            if not ok:
                failing.append(test.name)
            for number in reached:
                if test.finds(self.keys[number]):
                    found[number].append(test)
        assert not failing, f"these tests fail alone and without a mutant: {', '.join(failing)}"
        return found

    def run(self) -> dict[str, str]:
        """The test that found each of the chosen mutants that tests reach, by key; empty: none."""
        reaching = self.reaching()
        numbers = [number for number in sorted(reaching) if self.keys[number] in self.chosen]
        jobs = {}
        for number in numbers:
            tests = sorted(reaching[number], key=lambda test: test.seconds)
            jobs[str(number)] = partial(self.hunt, number, tests)
        found = in_processes(jobs)
        return {self.keys[number]: found[str(number)] for number in numbers}


def pytest_runtestloop(session: pytest.Session) -> bool:
    """Called by pytest with the tests that it has collected."""
    slow = {item for item in session.items if item.nodeid.startswith(RTL_TESTS) and item.get_closest_marker("slow")}
    found = Run([item for item in session.items if item not in slow], sorted((FOLDER / "unit").iterdir())).run()
    (FOLDER / "found.json").write_text(json.dumps(found, indent=0), encoding="utf-8")
    survivors = sum(not test for test in found.values())
    print(f"{len(found)} mutants that tests reach, {survivors} survive", file=sys.stderr)
    return True
