# SPDX-License-Identifier: Apache-2.0
"""Declarations of nodes and of their properties."""

from dataclasses import dataclass, field
from typing import Any

from tessera.image.prop_types import Address, Kind, Number

MIB = 1 << 20
RAM_ALIGN = 2 * MIB

NAME_PATTERN = r"[a-z][a-z0-9-]*"
NAME_WORDS = "lower-case letters, digits and hyphens, starting with a letter"


@dataclass(frozen=True)
class Prop:
    """
    A property. `default` is the value of an absent property; `default_words` describes one that is computed. `field`:
    the field of the node's record in the image that has the value, if no more than the value is needed for it.
    `is_file`: the value names a file, or files. `component`: the component of the hypervisor that the property needs.
    """

    name: str
    kind: Kind
    doc: str
    required: bool = False
    default: Any = None
    default_words: str = ""
    field: str = ""
    is_file: bool = False
    component: str = ""


@dataclass(frozen=True)
class NodeSchema:
    """A node: its properties, its fixed children, and the schema of the children whose names are free. `component`: the
    component of the hypervisor that the node needs."""

    doc: str
    props: tuple[Prop, ...] = ()
    children: dict[str, "NodeSchema"] = field(default_factory=dict)
    named: "NodeSchema | None" = None
    named_words: str = ""
    longest_name: int = 31
    required: bool = False
    component: str = ""


def registers(whose: str) -> tuple[Prop, ...]:
    """Returns the properties of hardware with registers, an interrupt for its manager and one for each VM."""
    return (
        Prop("base", Address(align=RAM_ALIGN, below=1 << 56), f"Address of {whose} registers, 2 MiB.", required=True),
        Prop("interrupt", Number(1, 31), "Source of the manager's interrupt.", required=True),
        Prop(
            "vm-interrupt",
            Number(1, 31),
            "Source of the first VM's interrupt; those of the other VMs follow.",
            required=True,
        ),
    )
