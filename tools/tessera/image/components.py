# SPDX-License-Identifier: Apache-2.0
"""The sections of the system image: those of components, and that of emulated devices."""

from tessera.image import emulated, layout
from tessera.image.accel import accelerators
from tessera.image.model import System
from tessera.image.section import Section
from tessera.image.shared import devices
from tessera.image.virtio import functions


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
SECTIONS = (accelerators.SECTION, devices.SECTION, functions.SECTION, EMULATED)


def sections_of(system: System) -> list[Section]:
    """Returns the sections of the system's image, in their order."""
    return [section for section in SECTIONS if section.is_used(system)]


def payloads_of(system: System) -> list[bytes]:
    """Returns the payloads of the sections, in their order."""
    return [data for section in sections_of(system) for data in section.payloads(system)]
