# SPDX-License-Identifier: Apache-2.0
"""Writes docs/configuration.md from the schema. Run as `python -m tessera.image.configdoc >
docs/configuration.md`."""

import sys
from typing import Any

from tessera.image.board_schema import BOARD
from tessera.image.nodes import NAME_WORDS, NodeSchema, Prop
from tessera.image.prop_types import Address, Flag, Kind, size_text
from tessera.image.schema import SYSTEM

_HEAD = """<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- Made from scripts/tessera/image/*schema.py by `make docs`; do not edit. -->
# Configuration reference

A system is one device-tree source, `systems/<name>.dts`, or `systems/bench/<name>.dts` if the benchmark runs it.
`make image SYSTEM=<name>` checks the whole file and builds `build/systems/<name>/tessera.bin`; `make run SYSTEM=<name>`
boots it. Nothing in the hypervisor is recompiled. Each problem is reported as
`file:line: node: property: what was expected, what was found`, all problems in one run.

A system of one VM:

```dts
/dts-v1/;

/ {
	compatible = "tessera,system";
	board = "qemu-virt";
	harts = <1>;

	vms {
		linux {
			memory-size = <0x8000000>;
			image = "linux/Image";
			initrd = "linux/initramfs.cpio.gz";
			bootargs = "console=ttyS0";
			sign-of-life = "tessera: linux is up";
		};
	};
};
```

Numbers, sizes and addresses are one cell `<0x8000000>`, two cells `<0x1 0x00000000>` (high, low) or
`/bits/ 64 <0x100000000>`; arithmetic works in parentheses: `<(128 * 1024 * 1024)>`. A flag is a property without a
value. `/include/ "other.dts"` includes another file; later blocks override the properties that they name. The addresses
of the devices that a guest sees are in [virtual-platform.md](virtual-platform.md).

Layout of a VM's RAM, from `memory-base`: the image at `image-address`, the initrd at the highest possible address, and
the device tree in the last 64 KiB. The builder also writes the device tree's source, to
`build/systems/<name>/<vm>.dts`.

## Variants

Systems that differ from another one in a few numbers or names are sections of `variants.dtsi` in the folder of the
sources. A line `//= NAME` begins a section, which includes a source and overrides its properties; the name is used as
that of a file `NAME.dts`, also by `/include/`. A file of this name takes precedence.

```dts
//= linux-two-harts
/include/ "linux.dts"

/ {
	harts = <2>;
};
```

## Paths of files

`image`, `initrd` and `file` are relative to the source file that contains the property. A file that does not exist
there is searched in the directories of `GUEST_PATH=dir1:dir2`, then in `build/guests` (for a board of the M5150
`build/guests-mips`), where `make` writes the guests that it builds. Put your own kernels and disk images into the
folder of your system file, or into a directory of `GUEST_PATH`; not below `build/`, which `make clean` removes.

`bitstreams` are searched in the same way, then in `build/fpga`, where `make` writes the bitstreams for the simulated
fabric that a system names: `simb/<task>-<region>.bin`.
"""


def reference() -> str:
    """Returns the whole document."""
    parts = [_HEAD]
    parts += _sections("System file", "/", SYSTEM, level=2)
    parts += _sections("Board file", "/", BOARD, level=2)
    return "\n".join(parts).rstrip("\n") + "\n"


def _sections(title: str, path: str, node: NodeSchema, level: int, naming: str = "") -> list[str]:
    """Returns the section of the node at `path`, followed by the sections of its child nodes."""
    parts = [f"{'#' * level} {title}", "", node.doc + naming, ""]
    if node.props:
        parts += ["| property | value | if absent | |", "|---|---|---|---|", *map(_row, node.props), ""]
    for name, child in node.children.items():
        child_path = f"{path.rstrip('/')}/{name}"
        parts += _sections(f"`{child_path}`", child_path, child, level + 1)
    if node.named:
        child_path = f"{path}/<name>"
        naming = f" 1 to {node.longest_name} {NAME_WORDS}."
        parts += _sections(f"`{child_path}`: {node.named_words}", child_path, node.named, level + 1, naming)
    return parts


def _row(prop: Prop) -> str:
    return f"| `{prop.name}` | {_cell(prop.kind.describe())} | {_cell(_absent(prop))} | {_cell(prop.doc)} |"


def _absent(prop: Prop) -> str:
    if prop.required:
        return "**required**"
    if prop.default_words:
        return prop.default_words
    return _default(prop.kind, prop.default)


def _default(kind: Kind, default: Any) -> str:
    if isinstance(kind, Flag):
        return "no"
    if isinstance(kind, Address):
        return f"`{default:#x}`" if kind.what != "a size" else size_text(default)
    return f"`{default}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    sys.stdout.write(reference())
