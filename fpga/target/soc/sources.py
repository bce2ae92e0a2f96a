# SPDX-License-Identifier: Apache-2.0
"""The sources of the SoC for Verilator: ours, and those of CVA6.

The core is the one of CVA6's Python package, of 2022, without H, or, with CVA6_DIR, that of a checkout of CVA6. All
else of others comes from the package. Most modules are found by file name. What is named otherwise, or has to be read
first, is listed here.
"""

import os
import re
import sys
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from rtl_tools import FPGA, INCLUDES, LIBRARIES, PACKAGES, packages, pythondata_cpu_cva6, tool_environment

SOC = FPGA / "target" / "soc"
RTL = SOC / "rtl"
PACKAGE = Path(pythondata_cpu_cva6.__file__).resolve().parent / "system_verilog"
CORE = PACKAGE / "core"
APU = PACKAGE / "corev_apu"
# The commit of CVA6 that core-h was written for, and its configuration.
COMMIT = "6cb2001"
MANIFEST = "core/Flist.cva6"
TARGET = "cv64a6_imafdch_sv39"

# Modules of the package beside the core, whose file has another name.
_MODULES = [APU / "rv_plic" / "rtl" / "plic_regmap.sv", APU / "axi" / "src" / "axi_intf.sv"]
_LIBRARIES = [
    APU / "src" / "axi_riscv_atomics" / "src",
    APU / "src" / "tech_cells_generic" / "src" / "rtl",
    APU / "rv_plic" / "rtl",
]
_INCLUDES = [APU / "register_interface" / "include"]


@dataclass(frozen=True)
class Core:
    """What a version of the core needs: files in the order in which they are read, and search paths."""

    files: list[Path]
    options: list[str]
    libraries: list[Path]
    includes: list[Path]


_TRACE = re.compile(r"//\s*pragma translate_off\n`ifdef PITON_ARIANE.*?//\s*pragma translate_on\n", re.DOTALL)


def core_without_tracer(top: Path, folder: Path) -> Path:
    """
    A copy of the core's `top` in `folder`, without its trace for simulators, which writes a line of a file for each
    instruction. Fails if the file has no such part: another version of the core needs another look.
    """
    text, found = _TRACE.subn("", top.read_text(encoding="utf-8"))
    if found != 1:
        raise ValueError(f"{top}: expected one trace between translate_off and translate_on, found {found}")
    copy = folder / "pythondata_cpu_cva6" / "cva6.sv"  # the name of the package tells waivers.vlt whose code it is
    copy.parent.mkdir(parents=True, exist_ok=True)
    if not copy.is_file() or copy.read_text(encoding="utf-8") != text:
        copy.write_text(text, encoding="utf-8")
    return copy


def package_core(folder: Path, *, write_back: bool) -> Core:
    """The core of the package. `folder` receives generated files."""
    own = SOC / "core-2022"
    include = CORE / "include"
    files = [
        own / "cva6_config_pkg.sv",
        include / "riscv_pkg.sv",
        APU / "riscv-dbg" / "src" / "dm_pkg.sv",
        *(include / f"{name}_pkg.sv" for name in ("ariane", "ariane_axi", "wt_cache", "std_cache", "cvxif")),
        CORE / "fpu" / "src" / "fpnew_pkg.sv",
        CORE / "ariane_regfile_ff.sv",
        PACKAGE / "common" / "submodules" / "common_cells" / "src" / "deprecated" / "fifo_v1.sv",
        core_without_tracer(CORE / "cva6.sv", folder),
    ]
    util = PACKAGE / "common" / "local" / "util"
    libraries = [own, CORE, CORE / "cache_subsystem", CORE / "frontend", CORE / "mmu_sv39", CORE / "pmp" / "src", util]
    return Core(files, [] if write_back else ["+define+WT_DCACHE"], libraries, [util])


def checkout() -> Path | None:
    """The checkout of CVA6 that CVA6_DIR names. Raises ValueError for another folder."""
    named = os.environ.get("CVA6_DIR")
    root = Path(named).resolve() if named else None
    if root and not (root / MANIFEST).is_file():
        raise ValueError(f"CVA6_DIR={root}: no {MANIFEST} there; expected a checkout of CVA6 at {COMMIT}")
    return root


def manifest_variables(root: Path) -> dict[str, str]:
    """The variables of CVA6's manifests. Verilator reads those that they include, and expands them there."""
    cache = root / "core" / "cache_subsystem" / "hpdcache"
    return {"CVA6_REPO_DIR": str(root), "TARGET_CFG": TARGET, "HPDCACHE_DIR": str(cache)}


def manifest_line(line: str, root: Path) -> str:
    """A line of CVA6's manifest core/Flist.cva6 with its variables replaced, "" for a comment."""
    variables = manifest_variables(root)
    return re.sub(r"\$\{(\w+)\}", lambda found: variables[found[1]], line.partition("//")[0]).strip()


def _exists(path: Path) -> bool:
    """Tells about a file of the manifest that is not there: a submodule that this configuration may not need."""
    found = path.is_file()
    if not found:
        print(f"CVA6_DIR: left out, because it is not there: {path}", file=sys.stderr)
    return found


def _manifest_options(words: list[str]) -> list[str]:
    """The search paths of a manifest, and the manifests that it includes."""
    included = [word.split() for word in words if word.startswith("-")]
    kept = (pair for pair in included if _exists(Path(pair[-1])))
    return [*(word for word in words if word.startswith("+")), *chain.from_iterable(kept)]


def _manifest_files(words: list[str], top: Path, folder: Path) -> list[Path]:
    """
    The files of a manifest. Without its copies of packages that the fabric has, too: both are PULP's axi 0.31 and
    common_cells.
    """
    shared = {path.name for path in PACKAGES}
    paths = [Path(word) for word in words if not word.startswith(("+", "-"))]
    wanted = [path for path in paths if path.name not in shared and _exists(path)]
    return [core_without_tracer(path, folder) if path == top else path for path in wanted]


def checkout_core(root: Path, folder: Path) -> Core:
    """The core of a checkout of CVA6, by its own manifest. `folder` receives generated files."""
    lines = (manifest_line(line, root) for line in (root / MANIFEST).read_text(encoding="utf-8").splitlines())
    words = [line for line in lines if line]
    files = _manifest_files(words, root / "core" / "cva6.sv", folder)
    return Core(files, ["+define+WT_DCACHE", *_manifest_options(words)], [SOC / "core-h"], [])


def environment() -> dict[str, str]:
    """The environment for Verilator."""
    root = checkout()
    return {**tool_environment(), **(manifest_variables(root) if root else {})}


def arguments(folder: Path, *, write_back: bool = False) -> list[str]:
    """
    Verilator's search path and files for the SoC. The data cache of the package's core is write-through, as on the
    Genesys2, or write-back. `folder` receives generated files.
    """
    root = checkout()
    core = checkout_core(root, folder) if root else package_core(folder, write_back=write_back)
    # CVA6 has an sram of its own, beside that of common_cells.
    places = [RTL, SOC / "sim", *core.libraries, *_LIBRARIES, *LIBRARIES]
    return [
        "+libext+.sv",
        *(word for place in places for word in ("-y", str(place))),
        *(f"+incdir+{place}" for place in (*INCLUDES, *core.includes, *_INCLUDES)),
        str(FPGA / "waivers.vlt"),
        str(SOC / "waivers.vlt"),
        *core.options,
        *map(str, [*packages(), RTL / "soc_pkg.sv", *_MODULES, *core.files]),
    ]
