# SPDX-License-Identifier: Apache-2.0
"""What a component of the hypervisor adds to the image builder (components.py lists them)."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

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
class Tree:
    """What a component adds to a guest's device tree: lines and nodes of /chosen, nodes of the fabric's bus, on which
    DMA addresses are guest-physical, and nodes of the root."""

    chosen: list[str] = field(default_factory=list)
    in_chosen: list[list[str]] = field(default_factory=list)
    fabric: list[list[str]] = field(default_factory=list)
    root: list[list[str]] = field(default_factory=list)


@dataclass(frozen=True)
class Space:
    """Guest-physical addresses that a component's devices have in a VM."""

    name: str
    base: int
    size: int


@dataclass(frozen=True)
class Component:
    """
    What a component adds. `system_nodes` and `vm_nodes` are its nodes of a system and of a VM, by their names.

    load       reads and checks the nodes, and gives each VM its devices
    check_vm   reports problems of one VM
    check      reports what only the whole system shows
    spaces     addresses of the devices of a VM
    sources    interrupts of the VM's PLIC that its devices have, and whose each is
    tree       what describes the devices to the guest
    facts      what system.json has of them, in the system and in a VM
    """

    load: Callable[[Loading], None] = lambda _: None
    check_vm: Callable[[Vm], None] = lambda _: None
    check: Callable[[System], None] = lambda _: None
    spaces: Callable[[Vm], list[Space]] = lambda _: []
    sources: Callable[[Vm], dict[int, str]] = lambda _: {}
    tree: Callable[[System, Vm], Tree] = lambda *_: Tree()
    facts: Callable[[System], dict[str, Any]] = lambda _: {}
    vm_facts: Callable[[Vm], dict[str, Any]] = lambda _: {}
    section: Section | None = None
    system_nodes: dict[str, NodeSchema] = field(default_factory=dict)
    vm_nodes: dict[str, NodeSchema] = field(default_factory=dict)
