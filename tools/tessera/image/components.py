# SPDX-License-Identifier: Apache-2.0
"""The components of the hypervisor that have a section of the system image."""

from tessera.image.accel import accelerators
from tessera.image.model import System
from tessera.image.section import Section
from tessera.image.shared import devices
from tessera.image.virtio import functions

SECTIONS = (accelerators.SECTION, devices.SECTION, functions.SECTION)


def sections_of(system: System) -> list[Section]:
    """Returns the sections of the system's image, in their order."""
    return [section for section in SECTIONS if section.is_used(system)]


def payloads_of(system: System) -> list[bytes]:
    """Returns the payloads of the sections, in their order."""
    return [data for section in sections_of(system) for data in section.payloads(system)]
