# SPDX-License-Identifier: Apache-2.0
"""The kind of properties that name a function of the machine's PCI bus."""

import re
from dataclasses import dataclass

from devicetree import dtlib

from tessera.image.prop_types import MismatchError, spell


def device_of(text: str) -> int | None:
    """Returns the device number of a function like "00:01.0": function 0 of a device of bus 0, but not of device 0, the
    host bridge. None for another text."""
    match = re.fullmatch(r"00:([01][0-9a-f])\.0", text)
    return int(match[1], 16) or None if match else None


def spell_function(device: int) -> str:
    return f"00:{device:02x}.0"


@dataclass(frozen=True)
class PciAddress:
    """A function of the machine's PCI bus; its value is the device number."""

    def read(self, prop: dtlib.Property) -> int:
        device = device_of(prop.to_string()) if prop.type == dtlib.Type.STRING else None
        if device is None:
            raise MismatchError(self.describe(), spell(prop))
        return device

    def describe(self) -> str:
        return 'a PCI function like "00:01.0", of bus 00 and of a device from 01 to 1f'
