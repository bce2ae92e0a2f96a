# SPDX-License-Identifier: Apache-2.0
"""What a component of the hypervisor adds to the image builder (components.py lists them)."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from tessera.image.model import Accelerator, Board, Overlay, System, Vm
from tessera.image.nodes import NodeSchema
from tessera.image.section import Section
from tessera.image.validate import Read


@dataclass
class Loading:
    """A system while its components read it, in their order. `search`: directories of guests' files."""

    node: Read
    vms: list[Vm]
    board: Board | None
    search: tuple[Path, ...]
    accelerators: list[Accelerator] = field(default_factory=list)
    overlays: list[Overlay] = field(default_factory=list)
    networks: list[str] = field(default_factory=list)

    def section(self, name: str) -> list[Read]:
        """Returns the nodes of a section of the system's file."""
        return list(self.node.children[name].children.values()) if name in self.node.children else []


@dataclass(frozen=True)
class Component:
    """
    What a component adds. `load` reads and checks its nodes, and gives each VM its devices; `check` reports what only
    the whole system shows. `system_nodes` and `vm_nodes` are its nodes of a system and of a VM, by their names.
    """

    load: Callable[[Loading], None]
    check: Callable[[System], None] = lambda _: None
    section: Section | None = None
    system_nodes: dict[str, NodeSchema] = field(default_factory=dict)
    vm_nodes: dict[str, NodeSchema] = field(default_factory=dict)
