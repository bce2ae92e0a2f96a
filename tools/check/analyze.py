# SPDX-License-Identifier: Apache-2.0
"""
Static analysis of the hypervisor by cppcheck and clang. Each build is analyzed with its own headers and macros.
A check of our own, since neither tool counts what is waived.
"""

import os
import re
import shlex
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from check import repo
from check.repo import Finding

_NODES = 50_000  # limit of clang's analyzer per function: a quarter of the default, a third of the time
_RISCV = ("--target=riscv64-unknown-elf", "-march=rv64imac", "-mabi=lp64", "-mcmodel=medany", "-ffreestanding")
_MIPS = (
    "--target=mipsel-none-elf", "-march=mips32r5", "-mvirt", "-msoft-float", "-mno-abicalls", "-ffreestanding",
)  # fmt: skip
_ALL = "HYP_COMPONENTS='$(notdir $(COMPONENTS)) docs/examples/tally'"


@dataclass(frozen=True)
class Build:
    """One build: the words after `make`, clang's options for its machine, and cppcheck's name for the sizes of types,
    with what the compiler defines. A file is analyzed as the first build that has it compiles it."""

    words: str
    target: tuple[str, ...]
    types: tuple[str, ...]


_RISCV_TYPES = ("--platform=unix64", "-D__riscv_xlen=64")
BUILDS = (
    Build(f"hyp {_ALL}", _RISCV, _RISCV_TYPES),
    *(
        Build(f"hyp BOARD={board} HYP_RT_QUEUE=sorter HYP_TIMERS=sorter", _RISCV, _RISCV_TYPES)
        for board in ("qemu-virt", "cva6-sim")
    ),
    Build("hyp HYP_COMPONENTS=", _RISCV, _RISCV_TYPES),
    *(Build(f"hyp BOARD={board}", _RISCV, _RISCV_TYPES) for board in ("spike", "genesys2")),
    Build("firmware", _RISCV, _RISCV_TYPES),
    *(Build(f"hyp BOARD={board}", _MIPS, ("--platform=unix32",)) for board in ("m5150", "m5150-generic")),
    Build("build/host/libcore.so", (), ("--platform=unix64",)),
)
_FOLDERS = ("abi", "core", "rt", "ipc", "services", "devices", "docs/examples", "arch", "platform")


# Tool, file, the tool's name of the finding, number of findings, reason. More or fewer findings are
# an error, too.
_SECTION = "the two symbols are the ends of one section, which the linker lays out"
WAIVERS: tuple[tuple[str, str, str, int, str], ...] = (
    ("cppcheck", "arch/riscv/sbi.c", "comparePointers", 2, _SECTION),
    (
        "cppcheck",
        "arch/mips/main.c",
        "constStatement",
        1,
        "cppcheck does not model variables in registers",
    ),
    (
        "clang",
        "arch/mips/tlb.c",
        "core.UndefinedBinaryOperatorResult",
        1,
        "tlb_size is at least 1: Config1 holds the size minus one",
    ),
)
_FIX = "fix it, or waive it with its reason in check/analyze.py"
_CPPCHECK = re.compile(r"^(?P<path>[^:\n]+):(?P<line>\d+): (?P<id>\w+): (?P<what>.*)$", re.MULTILINE)
_CLANG = re.compile(r"^(?P<path>[^:\n]+):(?P<line>\d+):\d+: (?:warning|error): (?P<what>.*)$", re.MULTILINE)
_CLANG_ID = re.compile(r"\[([\w.]+)\]$")

Found = tuple[str, str, Finding]  # tool, the tool's name of the finding, the finding


def compilations(root: Path, build: Build) -> dict[str, list[str]]:
    """The options for the preprocessor with which make compiles each C file of a build."""
    done = repo.run(["make", "-nB", "--no-print-directory", *shlex.split(build.words)], root)
    if done.returncode != 0:
        raise repo.CheckError(f"make -nB {build.words} failed: {done.stderr.strip()}")
    found = {}
    for line in done.stdout.splitlines():
        if re.search(r" -[cS] .* \S+\.c$", line) and line.rpartition(" ")[2].startswith(_FOLDERS):
            *words, file = shlex.split(line)
            found[file] = [word for word in words if word.startswith(("-I", "-D"))]
    return found


def _cppcheck(root: Path, build: Build, file: str, options: list[str]) -> list[Found]:
    command = ["cppcheck", "-q", "--std=c11", *build.types, "--enable=warning,performance,portability"]
    command += ["-U__ASSEMBLER__", "--inline-suppr", "--template={file}:{line}: {id}: {message}"]
    done = repo.run([*command, *options, f"-I{Path(file).parent}", file], root)
    if done.returncode != 0:
        raise repo.CheckError(f"cppcheck failed: {(done.stdout + done.stderr).strip()}")
    return [
        (
            "cppcheck",
            match["id"],
            Finding(match["path"], int(match["line"]), f"cppcheck: {match['what']} [{match['id']}]", _FIX),
        )
        for match in _CPPCHECK.finditer(done.stderr)
    ]


def _clang(root: Path, build: Build, file: str, options: list[str]) -> list[Found]:
    command = ["clang", "--analyze", "--analyzer-output", "text", "-std=gnu11", *build.target, "-o", os.devnull]
    command += ["-Xclang", "-analyzer-config", "-Xclang", f"max-nodes={_NODES}"]
    done = repo.run([*command, *options, file], root)
    found: list[Found] = []
    for match in _CLANG.finditer(done.stderr):
        word = _CLANG_ID.search(match["what"])
        where = Finding(os.path.normpath(match["path"]), int(match["line"]), f"clang: {match['what']}", _FIX)
        found.append(("clang", word[1] if word else "", where))
    if done.returncode != 0 and not found:
        raise repo.CheckError(f"clang --analyze failed for {file}: {done.stderr.strip()}")
    return found


def without_waived(found: list[Found], root: Path) -> list[Finding]:
    """Returns the findings without a waiver, and the waivers of existing files with a wrong number
    of findings."""
    left = list(found)
    wrong = []
    for tool, path, what, times, _ in WAIVERS:
        covered = [one for one in left if one[:2] == (tool, what) and one[2].path == path]
        left = [one for one in left if one not in covered]
        if len(covered) != times and (root / path).is_file():
            said = f"waiver of {tool}'s {what} for {path} covers {len(covered)} findings, expected {times}"
            wrong += [Finding(path, 0, said, "review each, and correct the number in check/analyze.py")]
    return sorted({finding for _, _, finding in left} | set(wrong))


def first_builds(root: Path) -> dict[str, tuple[Build, list[str]]]:
    """For each file, the first build that compiles it, and its options."""
    found: dict[str, tuple[Build, list[str]]] = {}
    for build in BUILDS:
        for file, options in compilations(root, build).items():
            found.setdefault(file, (build, options))
    return found


def check(root: Path) -> tuple[list[Finding], str]:
    """Findings of cppcheck and of clang's analyzer in the hypervisor, without those that are waived
    with a reason."""
    builds = first_builds(root)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        tasks = [
            pool.submit(tool, root, build, file, options)
            for file, (build, options) in builds.items()
            for tool in (_cppcheck, _clang)
        ]
        found = [one for task in tasks for one in task.result()]
    left_out = {name for name in repo.tracked(root) if name.endswith(".c") and name.startswith(_FOLDERS)} - set(builds)
    missing = [Finding(name, 0, "no build compiles it", "add one to check/analyze.py") for name in sorted(left_out)]
    return [*without_waived(found, root), *missing], f"{len(builds)} files, by cppcheck and clang's analyzer"


if __name__ == "__main__":
    repo.main("analyze", check)
