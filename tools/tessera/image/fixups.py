# SPDX-License-Identifier: Apache-2.0
"""The places in a guest's device tree that name a feature which the machine may lack.

The hypervisor overwrites the first letter of the name with an "x": names that start with x are
vendor extensions, which a guest ignores when it does not know them, and the size of the blob does
not change.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from tessera.image import fdt
from tessera.image.layout import FEATURES

# Both properties of every CPU list the optional features; the hypervisor may have to hide a feature
# in each of them.
ISA_PROPERTIES = ("riscv,isa", "riscv,isa-extensions")

SEED = "rng-seed"  # of /chosen: the hypervisor writes its value, or hides its name if the machine has no entropy


@dataclass(frozen=True)
class Fixup:
    """If the machine lacks `feature`, the hypervisor writes `data` to `offset` of the device
    tree."""

    feature: int
    offset: int
    data: bytes


def find_fixups(blob: bytes, listed: tuple[str, ...]) -> list[Fixup]:
    """Returns a fixup for each occurrence of one of the features `listed` in a compiled device
    tree."""
    fixups = []
    for value in fdt.values(blob):
        if value.name in ISA_PROPERTIES:
            names = [(at, name) for at, name in _names(value.data) if name in listed]
            fixups += [Fixup(FEATURES.index(name), value.offset + at, b"x") for at, name in names]
        if value.name == SEED:
            fixups.append(Fixup(FEATURES.index("seed"), value.name_offset, b"x"))
    return fixups


def find_seed(blob: bytes) -> int:
    """Returns the offset of the value of rng-seed in a compiled device tree, 0 if the tree has
    none."""
    return next((value.offset for value in fdt.values(blob) if value.name == SEED), 0)


def find_status(blob: bytes, address: int) -> int:
    """Returns the offset of the length of `status` in the node of the accelerator with this address."""
    for value in fdt.values(blob):
        if value.name == "status" and value.path.endswith(f"/accelerator@{address:x}"):
            return value.offset - 8
    raise ValueError(f"no status of accelerator@{address:x}")


def _names(data: bytes) -> Iterator[tuple[int, str]]:
    """Yields the extensions of a riscv,isa or riscv,isa-extensions value, each with its offset."""
    at = 0
    for part in data.replace(b"_", b"\0").split(b"\0"):
        yield at, part.decode()
        at += len(part) + 1
