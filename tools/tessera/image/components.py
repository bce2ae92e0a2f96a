# SPDX-License-Identifier: Apache-2.0
"""The components that add to the image builder, in the order in which they read a system, and the sections of the
system image: theirs, and that of emulated devices."""

from typing import Any

from tessera.image import emulated, layout
from tessera.image.accel.component import COMPONENT as ACCEL
from tessera.image.component import Loading, Space, Tree
from tessera.image.model import System, Vm
from tessera.image.nodes import NodeSchema
from tessera.image.rt.component import COMPONENT as RT
from tessera.image.section import Section
from tessera.image.shared.component import COMPONENT as SHARED
from tessera.image.virtio.component import COMPONENT as VIRTIO

COMPONENTS = (RT, ACCEL, SHARED, VIRTIO)

SYSTEM_NODES: dict[str, NodeSchema] = {}
VM_NODES: dict[str, NodeSchema] = {}
for _component in COMPONENTS:
    SYSTEM_NODES |= _component.system_nodes
    VM_NODES |= _component.vm_nodes


def _emulated(system: System) -> list[bytes]:
    return [
        layout.DEVICE.pack(kind=one.kind, vm=number, gpa=one.base, irq=irq, reserved=0)
        for number, vm in enumerate(system.vms)
        for one, irq in vm.emulated.items()
        if one.kind
    ]


EMULATED = Section(
    layout.DEVICES_TAG,
    layout.MAX_VMS * len(emulated.EMULATED) * layout.DEVICE.size,
    lambda system: bool(_emulated(system)),
    lambda _: [],
    lambda system, _: b"".join(_emulated(system)),
)
SECTIONS = (*(one.section for one in COMPONENTS if one.section), EMULATED)


def load_by_components(loading: Loading) -> None:
    """Lets each component read its nodes."""
    for one in COMPONENTS:
        one.load(loading)


def check_vm_by_components(vm: Vm) -> None:
    """Lets each component check a VM."""
    for one in COMPONENTS:
        one.check_vm(vm)


def spaces_of(vm: Vm) -> list[Space]:
    """Returns the addresses that components' devices have in a VM."""
    return [space for one in COMPONENTS for space in one.spaces(vm)]


def sources_of(vm: Vm) -> dict[int, str]:
    """Returns the interrupts that components' devices have in a VM, and whose each is."""
    return {irq: owner for one in COMPONENTS for irq, owner in one.sources(vm).items()}


def trees_of(system: System, vm: Vm) -> list[Tree]:
    """Returns what each component adds to a VM's device tree."""
    return [one.tree(system, vm) for one in COMPONENTS]


def facts_of(system: System) -> dict[str, Any]:
    """Returns what system.json has of the components' devices."""
    return {name: value for one in COMPONENTS for name, value in one.facts(system).items()}


def vm_facts_of(vm: Vm) -> dict[str, Any]:
    """Returns what system.json has of the components' devices in a VM."""
    return {name: value for one in COMPONENTS for name, value in one.vm_facts(vm).items()}


def check_by_components(system: System) -> None:
    """Lets each component check the whole system."""
    for one in COMPONENTS:
        one.check(system)


def sections_of(system: System) -> list[Section]:
    """Returns the sections of the system's image, in their order."""
    return [section for section in SECTIONS if section.is_used(system)]


def payloads_of(system: System) -> list[bytes]:
    """Returns the payloads of the sections, in their order."""
    return [data for section in sections_of(system) for data in section.payloads(system)]
