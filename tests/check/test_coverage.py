# SPDX-License-Identifier: Apache-2.0
"""The coverage tools count correctly for programs with known lines and branches, and the coverage
check can fail."""

import subprocess
from pathlib import Path

import pytest

from cover import expected, host, machine, report
from cover.__main__ import SOURCE
from cover.model import CoverError, Line, Sources, total
from tessera.bench.count import make_plugin
from tessera.run.runner import find_qemu
from tessera.verify import executed

HOST = """\
static int sign(int x)
{
    if (x < 0) {
        return -1;
    }
    return x > 0 && x != 7;
}

static int never(void)
{
    return 1;
}

int main(int argc, char **argv)
{
    (void)argv;
    return argc > 5 ? never() : sign(argc) - 1;
}
"""

RISCV = """\
    .globl _start, __text_start, __text_end
__text_start:
_start:
    li t0, 2
1:  addi t0, t0, -1
    bnez t0, 1b
    beq zero, zero, 2f
    nop
2:  bnez zero, 3f
    li t1, 0x100000
    li t2, 0x5555
    sw t2, 0(t1)
4:  j 4b
3:  nop
__text_end:
"""


def _run(*command: str, cwd: Path) -> None:
    subprocess.run(command, cwd=cwd, check=True, capture_output=True, timeout=60)


@pytest.fixture
def measured(tmp_path: Path) -> Sources:
    """Coverage of a host program that was run once."""
    (tmp_path / "a.c").write_text(HOST, encoding="utf-8")
    _run("gcc", "-O0", "-g", "--coverage", "-c", "a.c", "-o", "a.o", cwd=tmp_path)
    _run("gcc", "--coverage", "a.o", "-o", "a", cwd=tmp_path)
    _run("./a", cwd=tmp_path)
    return host.read(tmp_path)


def test_lines_and_branches_of_the_host(measured: Sources) -> None:
    lines = measured["a.c"]
    assert [number for number, line in lines.items() if not line.executed] == [4, 9, 11]
    assert [sorted(lines[number].directions) for number in (3, 6, 17)] == [
        [False, True],
        [False, False, True, True],
        [False, True],
    ]
    of = total(lines.values())
    assert (of.lines, of.executed, of.directions, of.taken) == (8, 5, 8, 4)


def test_nothing_to_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CoverError, match="nothing there was built with --coverage"):
        host.read(tmp_path)


@pytest.fixture(scope="module")
def riscv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("riscv")
    (folder / "a.S").write_text(RISCV, encoding="utf-8")
    gcc = ("riscv64-unknown-elf-gcc", "-g", "-march=rv64imac_zicsr", "-mabi=lp64", "-mno-relax")
    _run(*gcc, "-nostdlib", "-Wl,-Ttext=0x80000000", "a.S", "-o", "a.elf", cwd=folder)
    return folder / "a.elf"


def test_lines_executed_by_qemu(riscv: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second run adds to the same file, and a machine without TESSERA_COVER gets no plugin."""
    qemu = find_qemu()
    assert executed.qemu_arguments(qemu.version, riscv) == []
    plugin = make_plugin(qemu, SOURCE, tmp_path / "plugin", "start=1,end=2")
    plugin.rename(executed.plugin_of(tmp_path, qemu.version))
    monkeypatch.setenv(executed.VARIABLE, str(tmp_path))
    words = executed.qemu_arguments(qemu.version, riscv)
    command = [qemu.program, "-M", "virt", "-cpu", qemu.cpu, "-display", "none", "-bios", "none", "-kernel", str(riscv)]
    for _ in range(2):
        _run(*command, *words, cwd=tmp_path)
    (record,) = tmp_path.glob("*.txt")
    code = machine.instructions(riscv, riscv.parent)
    lines = machine.lines_of(code, machine.read_record(record))["a.S"]
    # Whether line 13, the last one, is executed depends on when the machine powers off.
    assert [number for number, line in lines.items() if not line.executed and number != 13] == [8, 14]
    ways = {number: line.directions for number, line in lines.items() if line.directions}
    assert ways == {6: [True, True], 7: [False, True], 9: [True, False]}


def test_conditional_branches_are_known() -> None:
    for name in ("beq", "bnez", "bgeu", "bltz", "bgtu", "ble"):
        assert machine.RISCV.conditional.match(name), name
    for name in ("beq", "bnel", "beqz", "bgezal", "blez", "bltzl", "bgtz"):
        assert machine.MIPS.conditional.match(name), name
    for name in ("b", "bal", "j", "jal", "break", "bseti"):
        assert not machine.RISCV.conditional.match(name), name
        assert not machine.MIPS.conditional.match(name), name


def _check(tmp_path: Path, sources: Sources, exceptions: str) -> list[str]:
    (tmp_path / "a.c").write_text(HOST, encoding="utf-8")
    (tmp_path / "exceptions.toml").write_text('[files]\nhost = ["a.c"]\n' + exceptions, encoding="utf-8")
    findings, _ = expected.check("host", sources, expected.load(tmp_path / "exceptions.toml"), tmp_path)
    return [f"{finding.line}: {finding.what}" for finding in sorted(findings)]


FEW = '[[branches]]\nfile = "a.c"\nleast = 50\nreason = "known"\n'


def _listed(function: str, text: str) -> str:
    return f'[[lines]]\nfile = "a.c"\nfunction = "{function}"\nlines = ["{text}"]\nreason = "known"\n'


ALL = _listed("sign", "return -1;") + _listed("never", "static int never(void)") + _listed("never", "return 1;")


def test_every_line_must_be_executed_or_listed(tmp_path: Path, measured: Sources) -> None:
    assert _check(tmp_path, measured, ALL + FEW) == []
    assert _check(tmp_path, measured, ALL) == ["0: 50.0 % of the branches' directions taken, 90 % required"]
    assert _check(tmp_path, measured, ALL.replace("never", "other") + FEW) == [
        "0: other: listed, but executed or not there: return 1;",
        "0: other: listed, but executed or not there: static int other(void)",
        "9: never: never executed: static int never(void)",
        "11: never: never executed: return 1;",
    ]
    assert _check(tmp_path, measured, ALL + FEW.replace("50", "51")) == [
        "0: 50.0 % of the branches' directions taken, 51 % required"
    ]


def test_executed_lines_must_not_be_listed(tmp_path: Path) -> None:
    covered: Sources = {"a.c": {4: Line(True), 6: Line(True, [True] * 10)}}
    assert _check(tmp_path, covered, _listed("sign", "return -1;") + FEW) == [
        "0: listed, but has 100.0 % of its branches' directions",
        "0: sign: listed, but executed or not there: return -1;",
    ]


@pytest.mark.parametrize(
    ("exceptions", "words"),
    [
        (_listed("sign", "return -1;").replace("known", " "), "without a reason"),
        ("[[lines]]\nfile = 1\n", "KeyError"),
        ("[[", "TOMLDecodeError"),
    ],
)
def test_invalid_exceptions_are_refused(tmp_path: Path, exceptions: str, words: str) -> None:
    with pytest.raises(CoverError, match=words):
        _check(tmp_path, {"a.c": {}}, exceptions)


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(CoverError, match=r"no file 'a\.c' has been compiled"):
        _check(tmp_path, {"b.c": {}}, "")


def test_the_table_and_the_pages(tmp_path: Path) -> None:
    sources: Sources = {
        "core/a.c": {1: Line(True), 2: Line(True, [True, False]), 3: Line()},
        "rt/b.c": {1: Line(True)},
        "tests/c.c": {1: Line(True)},
    }
    for name in sources:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("one\ntwo < 2\nthree\n", encoding="utf-8")
    rows = report.table(sources).splitlines()
    assert rows[2:] == [
        "| **core** | 2/3 | 66.7 % | 1/2 | 50.0 % |",
        "| **rt** | 1/1 | 100.0 % | - | - |",
        "| core/a.c | 2/3 | 66.7 % | 1/2 | 50.0 % |",
        "| rt/b.c | 1/1 | 100.0 % | - | - |",
    ]
    assert {line["metric"]: round(line["value"], 1) for line in report.records(sources)} == {
        "coverage.core.lines": 66.7,
        "coverage.core.branches": 50.0,
        "coverage.rt.lines": 100.0,
        "coverage.rt.branches": 100.0,
    }
    report.write_html(sources, tmp_path / "html", tmp_path)
    page = (tmp_path / "html" / "core_a.c.html").read_text(encoding="utf-8")
    assert '<div class="line part">    2     1/2  two &lt; 2</div>' in page
    assert '<div class="line no">    3' in page
    assert "core_a.c.html" in (tmp_path / "html" / "index.html").read_text(encoding="utf-8")
