# SPDX-License-Identifier: Apache-2.0
"""Makes from fabric.rdl all that is made of it.

`python generate.py FOLDER` writes rtl/ and include/ there (the repository keeps them: fpga/rtl, fpga/include; a test
says when they are stale), `--html` the reference as well.
"""

import argparse
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from peakrdl_cheader.exporter import CHeaderExporter
from peakrdl_html import HTMLExporter
from peakrdl_regblock import RegblockExporter
from peakrdl_regblock.cpuif.passthrough import PassthroughCpuif
from peakrdl_regblock.udps import ALL_UDPS
from systemrdl import RDLCompiler
from systemrdl.node import AddrmapNode, FieldNode, RegNode

HERE = Path(__file__).resolve().parent
SPDX = "SPDX-License-Identifier: Apache-2.0"
MADE = "Made by `make fpga-regs` from fpga/rdl/fabric.rdl; do not edit."

# Where everything is within the fabric's 2 MiB. An IF's place does not depend on how many there are.
LAYOUT = {
    "MANAGER": (0x000000, "the manager page, fabric_regs"),
    "WINDOWS": (0x001000, "windows of the VMs, fabric_window"),
    "WINDOW_STRIDE": (0x20, "from one window to the next"),
    "VM_WINDOWS_STRIDE": (0x80, "from one VM's windows to the next one's"),
    "CONTEXTS": (0x040000, "context buffers"),
    "CONTEXT_STRIDE": (0x400, "from one IF's to the next one's; IF = 16 * VM + device"),
    "IFS": (0x100000, "IF pages, fabric_if"),
    "IF_STRIDE": (0x1000, "from one IF's page to the next one's; IF = 16 * VM + device"),
    "SPAN": (0x200000, "all of it"),
}
MAPS = ("fabric_regs", "fabric_window", "fabric_if")


def compiled(name: str) -> AddrmapNode:
    compiler = RDLCompiler()
    for property_ in ALL_UDPS:
        compiler.register_udp(property_)
    compiler.compile_file(str(HERE / "fabric.rdl"))
    return compiler.elaborate(top_def_name=name).top


def tidy(text: str, comment: str) -> str:
    """As every file here: licence line, no white space at the end of a line."""
    lines = [line.rstrip() for line in text.rstrip().split("\n")]
    return "\n".join([f"{comment} {SPDX}", f"{comment} {MADE}", *lines, ""])


def names(prefix: str, top: AddrmapNode) -> Iterator[tuple[str, int, str]]:
    """Every register (its offset, or the offset of the first) and every field (position and width) as constants."""
    for reg in top.children(unroll=False):
        assert isinstance(reg, RegNode)
        name = f"{prefix}_{reg.inst_name.upper()}"
        yield name, reg.raw_address_offset, reg.get_property("name")
        if reg.is_array:
            yield f"{name}_STRIDE", reg.array_stride, "from one to the next"
        for field in reg.fields():
            yield from field_names(name, field)


def field_names(name: str, field: FieldNode) -> Iterator[tuple[str, int, str]]:
    yield f"{name}_{field.inst_name.upper()}_LSB", field.lsb, ""
    yield f"{name}_{field.inst_name.upper()}_WIDTH", field.width, ""


def constants() -> Iterator[tuple[str, int, str]]:
    for name, (value, what) in LAYOUT.items():
        yield f"FABRIC_{name}", value, what
    for name in MAPS:
        yield from names(name.upper(), compiled(name))


def rust() -> str:
    lines = ["//! The fabric's registers: addresses within it, positions and widths of fields.", ""]
    for name, value, what in constants():
        lines += [f"/// {what}"] if what else []
        lines.append(f"pub const {name}: usize = {value:#x};")
    return tidy("\n".join(lines), "//")


def package() -> str:
    """For RTL that answers addresses itself: the same constants in SystemVerilog, named as SystemVerilog's are."""
    lines = ["package fabric_map_pkg;"]
    for name, value, _ in constants():
        camel = "".join(word.capitalize() for word in name.split("_")[1:])
        lines.append(f"  localparam int unsigned {camel} = 'h{value:x};")
    return tidy("\n".join([*lines, "endpackage"]), "//")


def header(scratch: Path) -> str:
    parts = []
    for name in MAPS:
        CHeaderExporter().export(compiled(name), str(scratch / f"{name}.h"))
        text = (scratch / f"{name}.h").read_text(encoding="utf-8")
        parts.append(f"/* {name} */\n{text}")
    layout = "\n".join(f"#define FABRIC_{name} {value:#x}u /* {what} */" for name, (value, what) in LAYOUT.items())
    guard = "#ifndef FABRIC_MAP_H\n#define FABRIC_MAP_H\n" + layout + "\n#endif\n"
    return tidy("// clang-format off\n" + guard + "\n".join(parts), "//")


def regblock(folder: Path, scratch: Path) -> None:
    RegblockExporter().export(compiled("fabric_regs"), str(scratch), cpuif_cls=PassthroughCpuif,
                              default_reset_activelow=True, default_reset_async=True, err_if_bad_addr=True)  # fmt: skip
    for name in ("fabric_regs.sv", "fabric_regs_pkg.sv"):
        text = "\n".join(
            line for line in (scratch / name).read_text(encoding="utf-8").split("\n") if not line.startswith("// Gen")
        )
        (folder / name).write_text(tidy(text, "//"), encoding="utf-8")


def generate(folder: Path) -> None:
    (folder / "rtl").mkdir(parents=True, exist_ok=True)
    (folder / "include").mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix="fabric-regs-"))
    regblock(folder / "rtl", scratch)
    (folder / "rtl" / "fabric_map_pkg.sv").write_text(package(), encoding="utf-8")
    (folder / "include" / "fabric_regs.rs").write_text(rust(), encoding="utf-8")
    (folder / "include" / "fabric_regs.h").write_text(header(scratch), encoding="utf-8")
    shutil.rmtree(scratch)


def html(folder: Path) -> None:
    HTMLExporter().export([compiled(name) for name in MAPS], str(folder), title="The fabric's registers")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--html", type=Path, help="write the reference here")
    arguments = parser.parse_args()
    generate(arguments.folder)
    if arguments.html:
        html(arguments.html)


if __name__ == "__main__":
    main()
