# SPDX-License-Identifier: Apache-2.0
"""
Fixtures of the tests that execute the tutorials: the blocks that a document binds to a test
(tools/check/tutorials.py), and a copy of the repository in which they are executed as a reader does.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from reader import Reader

from check import repo, tutorials
from check.tutorials import Block
from tessera.run.runner import ROOT

COPIES = ROOT / "build" / "tutorials"
# What the copy takes from the build of the repository: make brings it up to date. Guests and
# hypervisor are copied, because tests change them; the tools are linked.
COPIED, LINKED = ("build/hyp", "build/guests"), ("cache", "build/cosim", "build/gdb", "build/iasim")


def _copy(target: Path) -> None:
    for name in repo.tracked(ROOT):
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target / name)
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, target / name, symlinks=True)
    for name in LINKED:
        if (ROOT / name).is_dir():
            (target / name).parent.mkdir(exist_ok=True)
            (target / name).symlink_to(ROOT / name)


@pytest.fixture(scope="session")
def tree() -> Iterator[Path]:
    """A copy of the repository, one for each worker of pytest-xdist. It stays until the next run."""
    target = COPIES / os.environ.get("PYTEST_XDIST_WORKER", "main")
    if target.exists():
        shutil.rmtree(target)
    _copy(target)
    return target


def _is_built(tree: Path, path: str) -> bool:
    """Whether the copy was built from this file."""
    if path.endswith(".dts"):
        return (tree / "build" / "systems" / Path(path).stem / "tessera.bin").is_file()
    if path.endswith((".mk", ".py")):  # read by make, executed by the test
        return True
    if path.endswith(".sv"):
        return any(path in file.read_text() for file in (tree / "build" / "cosim").glob("*/*__ver.d"))
    folders = (tree / "build" / "hyp", tree / "build" / "guests")
    return any(path in file.read_text() for folder in folders for file in folder.rglob(f"{Path(path).stem}*.d"))


@pytest.fixture
def blocks(request: pytest.FixtureRequest, tree: Path) -> Iterator[list[Block]]:
    """The blocks that are bound to the test, in the order of the document. Afterwards the shown files are
    part of what the test has built."""
    bound = [block for block in tutorials.all_blocks(ROOT) if block.test == request.node.name]
    assert bound, f"no document binds a block to {request.node.name}"
    yield bound
    unbuilt = [block.listing for block in bound if block.listing and not _is_built(tree, block.listing.split("#")[0])]
    assert not unbuilt, f"{request.node.name} has not built {unbuilt}"


@pytest.fixture
def reader(tree: Path) -> Reader:
    return Reader(tree)
