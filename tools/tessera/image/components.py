# SPDX-License-Identifier: Apache-2.0
"""The components that add to the image builder, in the order in which they read a system, and the sections of the
system image: theirs, and that of emulated devices."""

from tessera.image import emulated, layout
from tessera.image.accel.component import COMPONENT as ACCEL
from tessera.image.component import Loading
from tessera.image.model import System
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
