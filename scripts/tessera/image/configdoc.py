# SPDX-License-Identifier: Apache-2.0
"""Writes docs/configuration.md from the schema. Run as `python -m tessera.image.configdoc > docs/configuration.md`."""

import sys
from typing import Any

from tessera.image import schema
from tessera.image.kinds import Address, Flag, Kind, size_text
from tessera.image.schema import NodeSchema, Prop

_HEAD = """<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- Made from scripts/tessera/image/schema.py by `make docs`; do not edit. -->
# Configuration reference

A system is one device-tree source file, `systems/<name>.dts`, or `systems/bench/<name>.dts` if the benchmark runs it.
`make image SYSTEM=<name>` checks the whole file and builds `build/systems/<name>/tessera.bin`; `make run SYSTEM=<name>`
boots it. Nothing in the hypervisor is recompiled. Every
problem is reported as `file:line: node: property: what was expected, what is there`, all of them in one run.

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
value. `/include/ "other.dts"` takes in another file, of which later blocks override what they name. What a guest sees
at which address is in [virtual-platform.md](virtual-platform.md).

What lies where in a VM's RAM, from `memory-base`: the image at `image-address`, then as far up as it goes the initrd,
and in the last 64 KiB the device tree, which the builder writes into `build/systems/<name>/<vm>.dts` for the reader.

## Paths of files

`image`, `initrd` and `file` are relative to the source file that they stand in. What is not there is looked for in the
search path: the directories of `GUEST_PATH=dir1:dir2`, then `build/guests` (for a board of the M5150
`build/guests-mips`), where `make` puts the guests that it builds. So kernels and disk images of your own lie beside
your system file, or in a directory that you name; not below `build/`, which `make clean` removes whole.
"""


def reference() -> str:
    """The whole document."""
    parts = [_HEAD]
    parts += _sections("System file", "/", schema.SYSTEM, level=2)
    parts += _sections("Board file", "/", schema.BOARD, level=2)
    return "\n".join(parts).rstrip("\n") + "\n"


def _sections(title: str, path: str, node: NodeSchema, level: int, naming: str = "") -> list[str]:
    """A section for the node at `path`, then those of the nodes below it."""
    parts = [f"{'#' * level} {title}", "", node.doc + naming, ""]
    if node.props:
        parts += ["| property | value | if absent | |", "|---|---|---|---|", *map(_row, node.props), ""]
    for name, child in node.children.items():
        child_path = f"{path.rstrip('/')}/{name}"
        parts += _sections(f"`{child_path}`", child_path, child, level + 1)
    if node.named:
        child_path = f"{path}/<name>"
        naming = f" 1 to {node.longest_name} {schema.NAME_WORDS}."
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
