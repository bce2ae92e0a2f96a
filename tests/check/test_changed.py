# SPDX-License-Identifier: Apache-2.0
"""`make test-changed`: each file belongs to suites that exist, or is declared to need none."""

import re
import subprocess

import pytest

import changed
from changed import FOLDERS, GROUPS, ROOT, SUITES, concerned, selection, suites_of_test

FILES = subprocess.run(["git", "ls-files"], cwd=ROOT, text=True, capture_output=True, check=True).stdout.splitlines()
RULES = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tools/mk").glob("*.mk"))
NAMED = {suite for words in SUITES.values() for suite in words.format(**GROUPS).split()} | set(FOLDERS.values())
# Where the tests of a suite are, for suites that are limited to some.
TESTS = {
    "test-cosim": ["tests/cosim", "tests/manager"],
    "test-e2e": ["tests/e2e"],
    "test-fpga": ["fpga/verify/benches"],
    "test-image": ["tests/image"],
    "test-mips": ["tests/mips"],
    "test-soc": ["fpga/target/soc/tests"],
    "test-tutorials": ["tests/docs"],
    "test-unit": ["tests/unit", "tests/check", "tests/bench", "tests/trace"],
}
PARAMETERS = ("m5150", "genesys2")  # of tests


def test_each_file_has_its_suites():
    """A file that is missing here is to be named in tools/changed.py."""
    assert len(FILES) > 1000
    assert [path for path in FILES if concerned(path) is None] == []


@pytest.mark.parametrize("begin", SUITES)
def test_no_entry_is_left_over(begin):
    """Each one decides for some file."""
    assert any(begin == max((b for b in SUITES if path.startswith(b)), key=len, default="") for path in FILES)


@pytest.mark.parametrize("suite", sorted({name.partition(":")[0] for name in NAMED}))
def test_each_suite_is_a_target(suite):
    assert re.search(rf"^{suite}:", RULES, re.MULTILINE)


def names_of(suite: str) -> str:
    """All names of its tests, files and folders."""
    files = [path for folder in TESTS[suite] for path in (ROOT / folder).glob("test_*.*")]
    tests = re.findall(r"^def test_\w+", "\n".join(path.read_text(encoding="utf-8") for path in files), re.MULTILINE)
    return " ".join([*tests, *(f"{path.parent.name} {path.stem}" for path in files), *PARAMETERS])


@pytest.mark.parametrize("suite", sorted(name for name in NAMED if ":" in name))
def test_each_word_selects_tests(suite):
    name, _, words = suite.partition(":")
    assert [word for word in words.split(",") if word not in names_of(name)] == []


def test_each_suite_of_make_test_is_named():
    assert len(suites_of_test()) > 10
    assert suites_of_test() - {name.partition(":")[0] for name in NAMED} == set()


def test_a_changed_test_concerns_itself():
    assert selection(["tests/e2e/test_rt.py", "tests/e2e/test_smp.py"]) == {"test-e2e": "test_rt or test_smp"}
    assert selection(["tests/unit/test_vuart.c"]) == {"test-unit": "test_vuart"}
    assert selection(["tests/e2e/test_installer.py"]) == {"test-e2e-long": "test_installer"}


def test_all_tests_of_a_suite_count_more_than_some():
    assert selection(["tests/e2e/test_rt.py", "tests/e2e/helpers.py"]) == {"test-e2e": ""}


def test_the_longest_entry_counts():
    assert concerned("arch/mips/tlb.c") == SUITES["arch/mips/"].split()
    assert concerned("LICENSE") == []
    assert concerned("nowhere/a.c") is None


@pytest.mark.parametrize(
    ("source", "suites"),
    [
        ("core/sorter.c", ["test-cosim"]),  # the guest rtqueue includes it
        ("core/lib/heap.c", ["test-cosim", "test-soc"]),  # in the lists of its sources, and of the program on the SoC
        ("rt/queue_heap.c", ["test-cosim"]),
        ("rt/admit.c", []),
    ],
)
def test_a_source_concerns_the_programs_that_are_built_of_it(source, suites):
    assert concerned(source) == SUITES[f"{source.partition('/')[0]}/"].format(**GROUPS).split() + suites


def test_a_part_of_a_component_concerns_the_component():
    assert concerned("arch/riscv/debug/registers.c") == ["test-e2e:debug", "test-tutorials:debug"]
    assert concerned("arch/riscv/vm.c") == SUITES["arch/riscv/"].split()


def test_a_header_concerns_the_components_that_use_it():
    assert {"test-tutorials:debug", "test-tutorials:network"} < set(concerned("services/console/include/console.h"))
    assert "test-tutorials:debug" not in concerned("services/console/keys.c")


def test_fragments_of_the_makefile_concern_their_suites():
    assert concerned("tools/mk/fpga.mk") == ["test-fpga"]
    assert concerned("tools/mk/only.mk") == SUITES["tools/mk/"].split()


def test_names_of_the_changes(capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["changed.py", "--names", "--base", "HEAD"])
    monkeypatch.setattr(changed, "changed", lambda base: ["rt/admit.c", "LICENSE"])
    assert changed.main() == 0
    said = capsys.readouterr().out.splitlines()
    assert said[1] == "LICENSE: no suite"
    assert said[-1].startswith("changed since HEAD: test-coverage; test-e2e ONLY=locks or test_rt or watchdog;")


def test_an_unknown_base():
    with pytest.raises(SystemExit, match="BASE=nosuch: git knows no such commit"):
        changed.changed("nosuch")
