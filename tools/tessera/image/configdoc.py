# SPDX-License-Identifier: Apache-2.0
"""Writes docs/configuration.md from the schema. Run as `python -m tessera.image.configdoc >
docs/configuration.md`."""

import sys
import textwrap
from typing import Any

from tessera.image.board_schema import BOARD
from tessera.image.nodes import NodeSchema, Prop
from tessera.image.prop_types import Address, Flag, Kind, Number, Text, size_text
from tessera.image.schema import SYSTEM

WIDTH = 120

_HEAD = """<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- Made from tools/tessera/image (schema.py of each folder, emulated.py) by `make docs`; do not edit. -->
# Configuration reference

A system is one device-tree source file, `systems/<name>.dts`, or `systems/bench/<name>.dts` if the benchmark runs it.
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
value; a list has no value twice. An optional property without a default is none if absent. `/include/ "other.dts"`
includes another file; later blocks override the properties that they name. `<name>` is a free name of lower-case
letters, digits and hyphens, starting with a letter, of at most the number of characters in the heading. The addresses
of the devices that a guest sees are in [virtual-platform.md](virtual-platform.md).

Layout of a VM's RAM, from `memory-base`: the image at `image-address`, the initrd at the highest possible address, the
device tree in the last 64 KiB (its source: `build/systems/<name>/<vm>.dts`).

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

`image`, `initrd`, `file` and `bitstreams` are relative to the source file that contains the property. A file that does
not exist there is searched in the directories of `GUEST_PATH=dir1:dir2`, then in `build/guests` (for a board of the
M5150 `build/guests-mips`), where `make` writes the guests that it builds, and for bitstreams in `build/fpga`. Put your
own kernels and disk images into the folder of your system file, or into a directory of `GUEST_PATH`; not below
`build/`, which `make clean` removes.
"""


def reference() -> str:
    """Returns the whole document."""
    parts = [_HEAD]
    parts += _sections("System file", "/", SYSTEM, level=2, shown={})
    parts += _sections("Board file", "/", BOARD, level=2, shown={})
    return "\n".join(parts).rstrip("\n") + "\n"


def _sections(title: str, path: str, node: NodeSchema, level: int, shown: dict[int, str]) -> list[str]:
    """Returns the section of the node at `path`, followed by the sections of its child nodes. `shown`: the paths of the
    properties that several nodes have in common, each described for the first one."""
    parts = [f"{'#' * level} {title}", "", _wrapped(node.doc), ""]
    if node.props:
        parts += [*_items(path, node.props, shown), ""]
    for name, child in node.children.items():
        child_path = f"{path.rstrip('/')}/{name}"
        parts += _sections(f"`{child_path}`", child_path, child, level + 1, shown)
    if node.named:
        child_path = f"{path}/<name>"
        title = f"`{child_path}`: {node.named_words}, {node.longest_name} characters"
        parts += _sections(title, child_path, node.named, level + 1, shown)
    return parts


def _items(path: str, props: tuple[Prop, ...], shown: dict[int, str]) -> list[str]:
    new = [prop for prop in props if shown.setdefault(id(prop), path) == path]
    names = ", ".join(f"`{prop.name}`" for prop in props if prop not in new)
    first = next((shown[id(prop)] for prop in props if prop not in new), "")
    return [*map(_item, new), *([_wrapped(f"- {names}: as in `{first}`.", indent="  ")] if names else [])]


def _wrapped(text: str, indent: str = "") -> str:
    return textwrap.fill(text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _item(prop: Prop) -> str:
    by_itself = prop.default_words == "none" or (isinstance(prop.kind, Flag) and not prop.default_words)
    absent = "" if by_itself else f"; {_absent(prop)}"
    return _wrapped(f"- `{prop.name}` ({_value(prop.kind)}{absent}): {prop.doc}", indent="  ")


def _value(kind: Kind) -> str:
    """What describe() says, as short as a reader of the whole reference needs it."""
    if isinstance(kind, Flag):
        return "flag"
    if isinstance(kind, Number):
        return f"{kind.low} to {kind.high}" + (f", a multiple of {kind.step}" if kind.step > 1 else "")
    if isinstance(kind, Address):
        return kind.what.partition(" ")[2] + (f", multiple of {size_text(kind.align)}" if kind.align > 1 else "")
    if isinstance(kind, Text) and not kind.pattern:
        return "text"
    return kind.describe().removeprefix("one of ").replace(" of different ", " of ")


def _absent(prop: Prop) -> str:
    if prop.required:
        return "**required**"
    return f"default {prop.default_words or _default(prop.kind, prop.default)}"


def _default(kind: Kind, default: Any) -> str:
    if isinstance(kind, Flag):
        return "no"
    if isinstance(kind, Address):
        return f"`{default:#x}`" if kind.what != "a size" else size_text(default)
    return f"`{default}`"


if __name__ == "__main__":
    sys.stdout.write(reference())
