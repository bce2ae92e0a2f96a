# SPDX-License-Identifier: Apache-2.0
"""check.figures finds each number that is not the recorded one, and writes the recorded ones."""

import json
import subprocess
from pathlib import Path

import pytest

import record_figures
from check import figures
from tessera.bench import published

METRICS = (
    "metric\tunit\tbetter\tgoal\tstat\tbao\tkvm\thellfire\tm5150\tkerone\twhat\tsource\n"
    "a.call\tinstructions\tlower\t80\tmin\t236\t-\t-\t-\t-\ta call\tmeasured\n"
    "a.size\tbytes\tlower\t-\tvalue\t-\t-\t-\t-\t-\ta size\t-\n"
)
FABRIC = "metric\tunit\tbetter\tgoal\tpaper\twhat\tsource\nfpga.read\tcycles\tlower\t8600\t75609\ta read\tpublished\n"
PAGE = """# Page

A call: 74<!-- figure: a.call@7.2 --> (most 99<!-- figure: a.call@7.2:max -->), size 36,036<!-- figure: a.size@7.2 -->.

<!-- figures: a.call a.size - a.call+a.size -->
| | goal | QEMU 7.2 | Bao |
|---|---:|---:|---:|
| a call | 80 | 74 | 236 |
| size | report | 36,036 | |
| other | 7 | 8 | 9 |
| both | 80 | 74, 36036 | 236 |

<!-- figures: named -->
| | metric `fpga.` | goal | measured | VCDC, published |
|---|---|---:|---:|---:|
| 256 bytes | `read` | 8,600 | 8,512.5 | 75,609 |

<!-- figures: a.call@7.2 -->
| instructions | goal | instructions |
|---|---|---|
| 7 calls | 80 | 74 |

<!-- figures: a.call@7.2 -->
| | QEMU 10.0 |
|---|---|
| of another machine | 74 |

<!-- figures: call none 1=a.*@7.2:max 3=a.*@7.2 -->
| | most | goal | least |
|---|---|---|---|
| 7 calls | 99 | 7 | 74 |
| nothing | | 7 | |

<!-- figures: a.*@7.2 -->
| | call | size |
|---|---|---|
| 7 | 74 | 36,036 |
"""


def result(metric: str, value: float, most: float, config: dict[str, str], dirty: bool = False) -> dict[str, object]:
    return {
        "metric": metric, "unit": "bytes", "value": value, "min": value, "median": value, "max": most, "n": 3,
        "config": {"system": "x", **config}, "commit": "0123456789abcdef", "dirty": dirty,
    }  # fmt: skip


RUN = [
    result("a.call", 74, 99, {"qemu": "7.2"}),
    result("a.call", 60, 61, {"qemu": "7.2", "system": "native"}),
    result("a.size", 36036, 36036, {"qemu": "7.2"}),
    result("fpga.read", 8512.5, 8512.5, {}),
]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    for name, text in ((figures.METRICS, METRICS), (figures.FABRIC, FABRIC), ("docs/page.md", PAGE)):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    run = tmp_path / "results.jsonl"
    run.write_text("".join(json.dumps(line) + "\n" for line in RUN), encoding="utf-8")
    results = published.read_results(run)
    published.write(tmp_path / figures.RESULTS, {name: results[name] for name in results if "native" not in name})
    return tmp_path


def findings(tree: Path, page: str) -> list[str]:
    (tree / "docs/page.md").write_text(page, encoding="utf-8")
    return list(map(str, figures.check(tree)[0]))


def test_a_page_with_the_recorded_figures_has_no_finding(tree: Path) -> None:
    assert findings(tree, PAGE) == []


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ("call: 74<", "call: 73<", 3, "73 stands for a.call@7.2, which is 74"),
        ("(most 99<", "(most 9.0<", 3, "9.0 stands for a.call@7.2:max, which is 99.0"),
        ("36,036<", "36,068<", 3, "36,068 stands for a.size@7.2, which is 36,036"),
        ("| 74 |", "| 75 |", 8, "75 stands for a.call@7.2, which is 74"),
        ("| 80 | 74 |", "| 81 | 74 |", 8, "81 stands for goal of a.call, which is 80"),
        ("| 236 |\n| size", "| 235 |\n| size", 8, "235 stands for bao of a.call, which is 236"),
        ("36,036 | |", "36,036 | 5 |", 9, "1 numbers in '5' for no figure"),
        ("74, 36036", "74, 36037", 11, "36037 stands for a.size@7.2, which is 36036"),
        ("74, 36036", "74", 11, "1 numbers in '74' for a.call@7.2, a.size@7.2"),
        ("8,512.5", "8,512.4", 16, "8,512.4 stands for fpga.read, which is 8,512.5"),
        ("75,609", "75,608", 16, "75,608 stands for paper of fpga.read, which is 75,609"),
        ("80 | 74 |\n\n", "80 | 75 |\n\n", 21, "75 stands for a.call@7.2, which is 74"),
        ("80 | 74 |\n\n", "81 | 74 |\n\n", 21, "81 stands for goal of a.call@7.2, which is 80"),
        ("| 99 | 7 | 74", "| | 7 | 74", 31, "0 numbers in '' for a.call@7.2:max"),
        ("| 99 | 7 | 74", "| 98 | 7 | 74", 31, "98 stands for a.call@7.2:max, which is 99"),
        ("| 99 | 7 | 74", "| 99 | 7 | 73", 31, "73 stands for a.call@7.2, which is 74"),
        ("| 7 | 74 | 36,036", "| 7 | 74 | 36,037", 37, "36,037 stands for a.size@7.2, which is 36,036"),
        ("a.call@7.2 -->", "a.call@10.0 -->", 3, "74: no run has a.call@10.0"),
        ("74<!--", "74 <!--", 3, "no number before the comment"),
        ("a.call a.size - ", "a.call - ", 5, "3 metrics for 4 rows"),
        ("-->\n| | goal", "-->\n\n| | goal", 5, "no table follows the comment"),
        ("<!-- figures: a.call@7.2 -->\n| | QEMU", "| | QEMU", 25, "'74' in the column 'QEMU 10.0' has no figure"),
    ],
)
def test_each_fault_is_found(tree: Path, old: str, new: str, line: int, says: str) -> None:
    assert PAGE.count(old) == 1 or line in (3, 8)
    found = findings(tree, PAGE.replace(old, new, 1))
    assert any(one.startswith(f"docs/page.md:{line}: ") and says in one for one in found), found


def test_a_figure_that_no_document_shows_is_found(tree: Path) -> None:
    known = published.read(tree / figures.RESULTS)
    published.write(tree / figures.RESULTS, known | {"b.old@7.2": known["a.call@7.2"]})
    assert any("b.old@7.2: no document shows it" in one for one in findings(tree, PAGE))


def test_the_recorded_values_are_written(tree: Path) -> None:
    (tree / "docs/page.md").write_text(
        PAGE.replace("74", "1").replace("36,036", "1,000").replace("8,512.5", "0.0"), encoding="utf-8"
    )
    assert figures.fill(tree) == ["docs/page.md"]
    assert (tree / "docs/page.md").read_text(encoding="utf-8") == PAGE


def test_a_run_is_recorded_for_its_commit(tree: Path) -> None:
    run = tree / "results.jsonl"
    assert record_figures.taken(run, {"a.call@7.2"}, dirty=False)["a.call@7.2"].values["max"] == 99
    run.write_text(json.dumps(result("a.call", 1, 1, {"qemu": "7.2"}, dirty=True)), encoding="utf-8")
    assert record_figures.taken(run, {"a.call@7.2"}, dirty=True)
    assert record_figures.taken(run, {"a.size@7.2"}, dirty=False) == {}
    with pytest.raises(record_figures.RecordError, match="a tree with changes"):
        record_figures.taken(run, {"a.call@7.2"}, dirty=False)
    with pytest.raises(record_figures.RecordError, match="run `make bench`"):
        record_figures.taken(tree / "none.jsonl", set(), dirty=False)


def test_runs_are_named_by_their_machine(tree: Path) -> None:
    (tree / "results.jsonl").write_text(
        json.dumps(result("a.b", 1, 1, {"board": "m5150"}, dirty=True)), encoding="utf-8"
    )
    assert published.read_results(tree / "results.jsonl")["a.b@m5150"].commit == "0123456789ab+"
    assert published.figure_of(RUN[1]) == "a.call@7.2/native"


def test_figures_of_the_synthesis(tree: Path) -> None:
    results = [
        {"block": name, "luts": 1234, "registers": 5, "bram36": 0.5, "dsp": 0, "path_ns": 2.398}
        for name in ("sort_port", "qam16")
    ]
    (tree / figures.SYNTHESIS).write_text("".join(json.dumps(one) + "\n" for one in results), encoding="utf-8")
    table = f"{PAGE}\n<!-- figures: fpga.sort_port.*+fpga.qam16.* -->\n| | LUTs | BRAM36 | ns |\n|---|---|---|---|\n"
    assert findings(tree, f"{table}| both | 1,234 / 1,234 | 0.5 / 0.5 | 2.4 / 2.398 |\n") == []
    (found,) = findings(tree, f"{table}| both | 1,234 / 1,235 | 0.5 / 0.5 | 2.4 / 2.4 |\n")
    assert "1,235 stands for fpga.qam16.LUTs, which is 1,234" in found


def test_figures_that_sources_state(tree: Path) -> None:
    (tree / "tests").mkdir()
    (tree / "tests/bounds.py").write_text(
        'MOST = 25\nEACH = {"read": 34, "set": 29}\nOTHER = max(1, 2)\n', encoding="utf-8"
    )
    page = (
        "25<!-- figure: tests/bounds.py:MOST -->\n\n<!-- figures: read set 1=tests/bounds.py:EACH.* -->\n"
        "| | at most |\n|---|---|\n| a read | 34 |\n| a store | 29 |\n"
    )
    assert findings(tree, f"{PAGE}\n{page}") == []
    (found,) = findings(tree, f"{PAGE}\n{page}".replace("| 34 |", "| 35 |"))
    assert "35 stands for tests/bounds.py:EACH.read, which is 34" in found
    for wrong in ("tests/bounds.py:NONE", "tests/bounds.py:EACH.none", "tests/bounds.py:OTHER", "tests/none.py:MOST"):
        (found,) = findings(tree, f"{PAGE}\n7<!-- figure: {wrong} -->\n")
        assert f"7: no run has {wrong}" in found


def test_sums_of_the_makefile(tree: Path) -> None:
    (tree / "runs.mk").write_text("RUNS_A := 1000\nRUNS_B := 234\nRUNS_C := $(RUNS_B)\nOTHER := 5\n", encoding="utf-8")
    assert findings(tree, f"{PAGE}\n1,234<!-- figure: runs.mk:RUNS_* -->\n") == []
    assert "runs.mk" not in figures.named(tree)  # no run has to measure it
    (found,) = findings(tree, f"{PAGE}\n1,000<!-- figure: runs.mk:RUNS_* -->\n")
    assert "1,000 stands for runs.mk:RUNS_*, which is 1,234" in found
    for wrong in ("runs.mk:NONE_*", "none.mk:RUNS_*"):
        (found,) = findings(tree, f"{PAGE}\n7<!-- figure: {wrong} -->\n")
        assert f"7: no run has {wrong}" in found


def test_costs_of_a_board() -> None:
    known = figures.read_known(figures.repo.DEFAULT_ROOT)
    assert known.value("board.qemu-virt.release@h4") == 920 + 750 + 300 + 2 * 3 * 1150
    assert known.value("board.qemu-virt.blocked@h2") == max(13000, 2 * 8000)
