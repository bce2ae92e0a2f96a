# SPDX-License-Identifier: Apache-2.0
"""
Measures the shape of the repository (docs/style.md): folders, what a commit touches, words, comments, long lines,
functions of one use, circles of files.

    structure.py [--commits N]
"""

import argparse
import re
import subprocess
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from check import ctext, repo

ROOT = repo.DEFAULT_ROOT
HYPERVISOR = ("abi/", "arch/", "core/", "devices/", "ipc/", "platform/", "rt/", "services/")
RTL = "fpga/hw/rtl/"
GENERATED = ("fpga/hw/rtl/regs/", "fpga/hw/include/")
LONG = 100
ASIDE = ("tests", "docs")  # folders that every change may touch
# What docs/architecture.md has steps for, and the commit that is its example.
EXAMPLES = {"hypercall": "core: tell guests the version by a hypercall", "device": "compat: add the pvpanic device"}


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, text=True, capture_output=True, check=True).stdout


def _read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def top_folders(files: Iterable[str]) -> list[str]:
    """The folders at the top, without hidden ones."""
    return sorted({name.split("/")[0] for name in files if "/" in name and not name.startswith(".")})


def _tokens(text: str) -> list[str]:
    """The tokens of C or SystemVerilog, without comments and includes; any name is the same token."""
    code = re.sub(r"^\s*#\s*include.*$", "", ctext.blank(text, also_strings=False), flags=re.MULTILINE)
    return ["name" if re.match(r"[A-Za-z_`]", token) else token for token in re.findall(r"`?\w+|\S", code)]


def _of_commit(commit: str, name: str) -> str:
    return subprocess.run(
        ["git", "show", f"{commit}:{name}"], cwd=ROOT, text=True, capture_output=True, check=False
    ).stdout


def changes_behaviour(commit: str) -> bool:
    """Whether a commit changes more than names, comments, the file of code, and the order in a header, in C or
    SystemVerilog."""
    status = _git("show", "--format=", "--name-status", "-M50", commit, "--", *HYPERVISOR, "fpga/hw")
    before: Counter[str] = Counter()
    after: Counter[str] = Counter()
    ordered = True
    for line in status.splitlines():
        _, *names = line.split("\t")
        if names[-1].endswith((".c", ".h", ".S", ".sv")):
            old, new = _tokens(_of_commit(commit + "~", names[0])), _tokens(_of_commit(commit, names[-1]))
            ordered &= old == new or sorted(old) != sorted(new) or names[-1].endswith(".h")
            before.update(old)
            after.update(new)
    return before != after or not ordered


def folders_of_commits(count: int) -> list[int]:
    """For each of the last commits that change the behaviour of hypervisor or fabric: the number of top folders it
    touches."""
    found: list[int] = []
    for commit in _git("log", "--no-merges", "--format=%H", "--", *HYPERVISOR, "fpga/hw").split():
        if len(found) < count and changes_behaviour(commit):
            names = _git("show", "--name-only", "--format=", commit).split()
            found.append(len({name.split("/")[0] for name in names if "/" in name} - set(ASIDE)))
    return found


def places(subject: str) -> list[str]:
    """The files that the commit with a subject touches outside of the folder of its component.c and of tests."""
    commit = _git("log", "-1", "--format=%H", "--fixed-strings", f"--grep={subject}").strip()
    names = _git("show", "--name-only", "--format=", commit).split()
    own = [str(Path(name).parent) + "/" for name in names if name.endswith("/component.c")]
    return [name for name in names if not name.startswith(("tests/", *own))]


def words(names: Iterable[str]) -> int:
    """Words of documents, outside of code blocks and comments."""
    texts = (re.sub(r"```.*?```|<!--.*?-->", " ", _read(name), flags=re.DOTALL) for name in names)
    return sum(len(text.split()) for text in texts)


def comments_per_code(names: Iterable[str]) -> float:
    """Lines with a comment, without those of the licence, for each line with code, in C and SystemVerilog."""
    comments = code = 0
    for name in names:
        text = _read(name)
        blank = ctext.blank(text, also_strings=False)
        for before, after in zip(text.split("\n"), blank.split("\n"), strict=True):
            has_code = bool(after.strip())
            code += has_code
            comments += before.strip() != after.strip() and bool(re.search(r"\w", before)) and "SPDX" not in before
    return comments / code


def long_lines(names: Iterable[str]) -> int:
    """Lines over LONG columns."""
    return sum(len(line) > LONG for name in names for line in _read(name).split("\n"))


def used_once(names: Iterable[str]) -> tuple[int, int]:
    """The static functions that are named in one other place of their file, and all static functions."""
    once = every = 0
    for name in names:
        code = ctext.blank(_read(name))
        for match in re.finditer(r"^static (?!inline)[^;={(]*?\b(\w+)\([^;]*?\)\n\{", code, re.MULTILINE):
            every += 1
            once += len(re.findall(rf"\b{match[1]}\b", code)) == 2
    return once, every


# A definition of a function or a variable that other files can name.
_FUNCTION = re.compile(r"^(?!static)\w[^;={(]*?\b(\w+)\([^;]*?\)\n\{", re.MULTILINE)
_VARIABLE = re.compile(r"^(?!static|extern|typedef)\w[\w \t*]*?\b(\w+)(?:\[[^;=]*?\])*\s*(?:=|;)", re.MULTILINE)


def _owners(codes: dict[str, str]) -> dict[str, str]:
    """The file of each such function and variable."""
    return {
        match[1]: name
        for name, code in codes.items()
        for kind in (_FUNCTION, _VARIABLE)
        for match in kind.finditer(code)
    }


def _uses(names: list[str]) -> dict[str, set[str]]:
    """For each C file the files of its folder whose functions and variables it names."""
    codes = {name: ctext.without_directives(ctext.blank(_read(name))) for name in names}
    owner = _owners(codes)
    uses: dict[str, set[str]] = {}
    for name, code in codes.items():
        called = {owner[word] for word in re.findall(r"\w+", code) if word in owner}
        uses[name] = {other for other in called if other != name and Path(other).parent == Path(name).parent}
    return uses


def circles(names: list[str]) -> list[tuple[str, str]]:
    """Pairs of files of one folder that name each other's functions or variables, directly or not."""
    uses = _uses(names)
    reach = {name: set(found) for name, found in uses.items()}
    for _ in names:
        for found in reach.values():
            found |= set().union(*(uses[other] for other in found))
    return sorted((a, b) for a in reach for b in reach[a] if a < b and a in reach[b])


def _sources(files: list[str], folders: str | tuple[str, ...], *suffixes: str) -> list[str]:
    """The files of some folders that nothing generates."""
    own = [name for name in files if name.startswith(folders) and not name.startswith(GENERATED)]
    return repo.with_suffix(own, *suffixes)


def rows(files: list[str], commits: int) -> list[tuple[str, str]]:
    """The measurements: what is measured, and the value."""
    code, rtl = _sources(files, HYPERVISOR, ".c", ".h"), _sources(files, RTL, ".sv")
    touched = folders_of_commits(commits)
    once, functions = used_once(_sources(files, HYPERVISOR, ".c"))
    return [
        ("top folders", str(len(top_folders(files)))),
        (
            f"top folders a commit touches, the last {len(touched)} that change behaviour",
            f"{sum(touched) / max(len(touched), 1):.2f}",
        ),
        ("of them those that touch 3 or more", str(sum(count >= 3 for count in touched))),
        *((f"places besides code and tests of a {what}", str(len(places(at)))) for what, at in EXAMPLES.items()),
        ("words of documents", f"{words(repo.with_suffix(files, '.md')):,}"),
        ("words of CAVEATS.md", f"{words(['CAVEATS.md']):,}"),
        ("comment lines per code line, C", f"{comments_per_code(code):.2f}"),
        ("comment lines per code line, RTL", f"{comments_per_code(rtl):.2f}"),
        (f"lines over {LONG} columns, C and RTL", str(long_lines(_sources(files, "", ".c", ".h", ".sv")))),
        ("static functions used once", f"{100 * once / functions:.0f} % of {functions}"),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--commits", type=int, default=20, help="commits to look at (default: 20)")
    commits = parser.parse_args().commits
    files = repo.tracked(ROOT)
    rounds = circles(_sources(files, ("devices/", "services/", "rt/"), ".c"))
    print("| | |\n|---|---:|")
    for what, value in (*rows(files, commits), ("pairs of files in a circle", str(len(rounds)))):
        print(f"| {what} | {value} |")
    for a, b in rounds:
        print(f"{a} <-> {b}")


if __name__ == "__main__":
    main()
