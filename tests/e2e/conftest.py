# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the end-to-end tests: the QEMU under test, built systems, and machines that are
always ended."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from helpers import OUT, Board, board_of, make
from mutants import ASKED

from tessera.run.machine import Machine
from tessera.run.runner import ROOT, BuiltSystem, Qemu, find_qemu, load_system, native_command, system_command

BUILD = ROOT / "build"


@pytest.fixture(scope="session")
def qemu() -> Qemu:
    """The QEMU under test: that of QEMU= or the one in PATH, with the CPU flags of CPU=."""
    return find_qemu()


@pytest.fixture(scope="session")
def build_system() -> Callable[..., BuiltSystem]:
    """Builds a system of systems/ by name, once per session and per set of make variables
    (WITHOUT=sstc)."""
    built: dict[tuple[str, ...], BuiltSystem] = {}

    def build(name: str = "demo", **variables: str) -> BuiltSystem:
        words = tuple(f"{key}={value}" for key, value in sorted(variables.items()))
        if (name, *words) not in built:
            make("image", f"SYSTEM={name}", *words)
            built[name, *words] = load_system(name, BUILD)
        return built[name, *words]

    return build


@pytest.fixture
def transcript(request: pytest.FixtureRequest) -> Iterator[Callable[[], Path]]:
    """Paths for the output logs of this test's machines: build/e2e/<test>-<n>.log."""
    OUT.mkdir(parents=True, exist_ok=True)
    name = re.sub(r"[^A-Za-z0-9_.=-]+", "_", request.node.name)
    count = 0

    def next_path() -> Path:
        nonlocal count
        count += 1
        return OUT / f"{name}-{count}.log"

    yield next_path


@pytest.fixture
def spawn(transcript: Callable[[], Path]) -> Iterator[Callable[..., Machine]]:
    """Starts machines from command lines and ends them with the test."""
    with ExitStack() as stack:
        yield lambda command, names: stack.enter_context(Machine(command, names, transcript()))


@pytest.fixture
def boot(qemu: Qemu, spawn: Callable[..., Machine]) -> Callable[..., Machine]:
    """Boots a built system under the hypervisor; further arguments go to QEMU."""
    return lambda system, *arguments: spawn([*system_command(qemu, system), *arguments], system.names)


@pytest.fixture
def boot_native(qemu: Qemu, spawn: Callable[..., Machine]) -> Callable[..., Machine]:
    """Boots the guest of one VM of a built system without a hypervisor; the machine's one name is
    the VM's."""
    return lambda system, vm, *arguments: spawn([*native_command(qemu, system, vm), *arguments], [vm])


@pytest.fixture(scope="module")
def board(name: str) -> Board:
    """The board of the system in the module's fixture `name`, one of helpers.on_every_board()."""
    return board_of(name)


def _architecture(item: pytest.Item) -> str | None:
    """The architecture of the test's board, if its parameter `name` is one of
    helpers.on_every_board()."""
    params = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
    name = params.get("name")  # the fixture's name in all modules that use on_every_board()
    return board_of(name).architecture if name is not None else None


def _is_for_another_architecture(item: pytest.Item) -> bool:
    """Whether the test is marked for one architecture and its system is for a board of another."""
    marker, architecture = item.get_closest_marker("only_on"), _architecture(item)
    return marker is not None and architecture is not None and marker.args[0] != architecture


def _is_long_there(item: pytest.Item) -> bool:
    marker = item.get_closest_marker("long_on")
    return marker is not None and marker.args[0] == _architecture(item)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "only_on(architecture): only for systems on boards of that architecture")
    config.addinivalue_line("markers", "long_on(architecture): long for systems on boards of that architecture")
    config.addinivalue_line("markers", "mutant: a slow test of the tests, run only with TESSERA_MUTANTS=1")


# The files that take more than 20 s, longest first, so that the pytest-xdist workers start with them.
LONG = (
    "test_attacks", "test_network", "test_accelerators", "test_regression", "test_boards", "test_rt_other_vms",
    "test_hardware_io", "test_rt_sorter", "test_many", "test_mailbox", "test_watchdog", "test_debug", "test_bounds",
    "test_bad_input", "test_one_hart", "test_rt", "test_storage", "test_terminals", "test_errata", "test_disk",
    "test_crypto_unit", "test_shared_devices", "test_keys", "test_dma_memory", "test_accelerators_faults",
    "test_smoke", "test_minimal_core", "test_leak", "test_shared_net", "test_passthrough",
)  # fmt: skip


def _order(item: pytest.Item) -> int:
    """Long files first; the short files then fill the gaps between workers."""
    return LONG.index(item.path.stem) if item.path.stem in LONG else len(LONG)


@pytest.hookimpl(tryfirst=True)  # before pytest selects by the mark `long`
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselects tests of another architecture, and mutants unless TESSERA_MUTANTS=1."""
    for item in filter(_is_long_there, items):
        item.add_marker(pytest.mark.long)
    left_out = [
        item
        for item in items
        if _is_for_another_architecture(item) or (item.get_closest_marker("mutant") and not ASKED)
    ]
    config.hook.pytest_deselected(items=left_out)
    items[:] = sorted((item for item in items if item not in left_out), key=_order)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Deletes the tables of earlier runs; only the controller does, since workers may already write
    theirs."""
    if hasattr(session.config, "workerinput"):
        return
    for table in (OUT / "attacks").glob("*.txt"):
        table.unlink()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints the tables of attacks, if the run had any."""
    for table in sorted((OUT / "attacks").glob("*.txt")):
        terminalreporter.section(f"hostile guest: {table.stem}")
        terminalreporter.write(table.read_text(encoding="utf-8"))
