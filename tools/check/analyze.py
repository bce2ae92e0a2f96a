# SPDX-License-Identifier: Apache-2.0
"""
Static analysis of the hypervisor by cppcheck and clang. Each build is analyzed with its own headers and macros.
A check of our own, since neither tool counts what is waived.
"""

import os
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from check import repo
from check.repo import Finding

_CORE = (
    "abi",
    "core/include",
    "core",
    "rt/include",
    "ipc/include",
    "services/debug/include",
    "services/debug",
    "services/console/include",
    "services/console",
    "services/seed/include",
    "services/fwtree/include",
    "services/fwtree",
    "devices/accel/include",
    "devices/accel",
    "devices/shared/include",
    "devices/shared",
    "devices/virtio/include",
    "devices/virtio",
    "fpga/hw/include",
    "arch/include",
    "platform",
)
_NODES = 50_000  # limit of clang's analyzer per function: a quarter of the default, a third of the time


@dataclass(frozen=True)
class Build:
    """One build of the hypervisor: the folders of sources that only this build has, include
    folders, options of clang."""

    name: str
    sources: tuple[str, ...]
    includes: tuple[str, ...]
    defines: tuple[str, ...]
    target: tuple[str, ...]
    platform: str  # cppcheck's name for the sizes of types


def _component_slots(root: Path) -> list[str]:
    """The macros that tools/mk/hyp.mk defines for the components, of those that have a folder."""
    there = repo.components(root)
    slots = [f"-DCOMPONENT_{Path(name).name.upper()}={slot}U" for slot, name in enumerate(there)]
    return [*slots, f"-DCOMPONENTS={max(len(there), 1)}U"]


_RISCV = ("arch/riscv/include", "arch/riscv", "arch/riscv/errata/none", "platform/qemu-virt")
_CVA6 = ("arch/riscv/include", "arch/riscv", "arch/riscv/errata/cva6", "platform/qemu-virt")
_RISCV_TARGET = ("--target=riscv64-unknown-elf", "-march=rv64imac", "-mabi=lp64", "-mcmodel=medany", "-ffreestanding")
_MIPS = ("arch/mips/include", "arch/mips", "arch/mips/eic", "platform/m5150")
_MIPS_LINES = ("arch/mips/include", "arch/mips", "arch/mips/lines", "platform/m5150-generic")
_MIPS_DEFINES = ("SYSIMAGE_MAX_VMS=8U", "SYSIMAGE_MAX_RT_APPS=16U", "SYSIMAGE_MAX_VCPUS=24U", "SYSIMAGE_MAX_HARTS=1U")
_MIPS_TARGET = (
    "--target=mipsel-none-elf", "-march=mips32r5", "-mvirt", "-msoft-float", "-mno-abicalls", "-ffreestanding",
)  # fmt: skip
# Flags of files that only a variant of the build has, by the beginnings of their names.
_FILE_FLAGS = {
    "rt/queue_sorter": ("-DRT_QUEUE_SORTER", "-DSORTERS_A_CPU=3U"),
    "core/timers_sorter": ("-DTIMERS_SORTER", "-DSORTERS_A_CPU=3U"),
    "core/sorter": ("-DSORTERS_A_CPU=3U",),
}
_HOST = ("arch/host", "arch/host/include")
_RISCV_TARGET = (
    "--target=riscv64-unknown-elf", "-march=rv64imac", "-mabi=lp64", "-mcmodel=medany", "-ffreestanding",
)  # fmt: skip
# Code that is independent of the architecture is analyzed once, with the RISC-V build.
BUILDS = (
    Build(
        "riscv",
        (
            "core",
            "core/lib",
            "rt",
            "ipc",
            "services/debug",
            "services/console",
            "services/serial",
            "services/seed",
            "services/fwtree",
            "devices/accel",
            "devices/shared",
            "devices/virtio",
            "docs/examples/tally",
            "arch/riscv",
            "arch/riscv/compat",
            "arch/riscv/debug",
            "arch/riscv/fwtree",
            "arch/riscv/accel",
            "arch/riscv/virtio",
            "platform/qemu-virt",
            "platform/drivers",
        ),
        _RISCV,
        ("__riscv_xlen=64",),
        _RISCV_TARGET,
        "unix64",
    ),
    Build(
        "firmware",
        ("arch/riscv/firmware",),
        ("arch/riscv/firmware", *_RISCV),
        ("__riscv_xlen=64", "FIRMWARE_HIDE=0UL"),
        _RISCV_TARGET,
        "unix64",
    ),
    Build(
        "spike",
        ("platform/spike",),
        ("arch/riscv/include", "platform/spike"),
        ("__riscv_xlen=64",),
        _RISCV_TARGET,
        "unix64",
    ),
    Build(
        "cva6",
        ("platform/cva6-soc", "platform/cva6-sim", "platform/genesys2"),
        ("arch/riscv/include", "platform/cva6-sim", "fpga/hw/include"),
        ("__riscv_xlen=64",),
        _RISCV_TARGET,
        "unix64",
    ),
    Build("errata", ("arch/riscv/errata/cva6",), _CVA6, ("__riscv_xlen=64",), _RISCV_TARGET, "unix64"),
    Build("mips", ("arch/mips", "arch/mips/eic", "platform/m5150"), _MIPS, _MIPS_DEFINES, _MIPS_TARGET, "unix32"),
    Build(
        "mips-lines", ("arch/mips/lines", "platform/m5150-generic"), _MIPS_LINES, _MIPS_DEFINES, _MIPS_TARGET, "unix32"
    ),
    Build("host", ("arch/host",), _HOST, (), (), "unix64"),
)

# Tool, file, the tool's name of the finding, number of findings, reason. More or fewer findings are
# an error, too.
_SECTION = "the two symbols are the ends of one section, which the linker lays out"
WAIVERS: tuple[tuple[str, str, str, int, str], ...] = (
    ("cppcheck", "arch/riscv/sbi.c", "comparePointers", 2, _SECTION),
    (
        "cppcheck",
        "core/lib/mem.c",
        "ctunullpointer",
        1,
        "load_chunk() passes no sums where it clears memory, and then does not copy",
    ),
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


def files_of(root: Path, build: Build) -> list[str]:
    """Returns the files that only this build analyzes."""
    folders = [folder for folder in build.sources if (root / folder).is_dir()]
    return sorted(str(path.relative_to(root)) for folder in folders for path in (root / folder).glob("*.c"))


def _options(root: Path, build: Build) -> list[str]:
    folders = [folder for folder in (*_CORE, *build.includes) if (root / folder).is_dir()]
    defines = [*(f"-D{define}" for define in build.defines), *_component_slots(root)]
    return [*(f"-I{folder}" for folder in folders), *defines]


def _cppcheck(root: Path, build: Build) -> list[Found]:
    files = files_of(root, build)
    if not files:
        return []
    command = [
        "cppcheck",
        "-q",
        "--std=c11",
        f"--platform={build.platform}",
        "--enable=warning,performance,portability",
    ]
    command += ["-U__ASSEMBLER__", "--inline-suppr", "--template={file}:{line}: {id}: {message}"]
    done = repo.run([*command, *_options(root, build), *files], root)
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


def _clang(root: Path, build: Build, file: str) -> list[Found]:
    command = ["clang", "--analyze", "--analyzer-output", "text", "-std=gnu11", *build.target, "-o", os.devnull]
    command += ["-Xclang", "-analyzer-config", "-Xclang", f"max-nodes={_NODES}"]
    command += [flag for start, flags in _FILE_FLAGS.items() if file.startswith(start) for flag in flags]
    done = repo.run([*command, *_options(root, build), file], root)
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


def check(root: Path) -> tuple[list[Finding], str]:
    """Findings of cppcheck and of clang's analyzer in the hypervisor, without those that are waived
    with a reason."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        tasks = [pool.submit(_cppcheck, root, build) for build in BUILDS]
        tasks += [pool.submit(_clang, root, build, file) for build in BUILDS for file in files_of(root, build)]
        found = [one for task in tasks for one in task.result()]
    return without_waived(found, root), f"{len(tasks) - len(BUILDS)} files, by cppcheck and clang's analyzer"


if __name__ == "__main__":
    repo.main("analyze", check)
