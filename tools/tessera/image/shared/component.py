# SPDX-License-Identifier: Apache-2.0
"""What the component `shared` adds to the image builder."""

from tessera.image.component import Component
from tessera.image.shared import schema
from tessera.image.shared.devices import NODE, SECTION, load_shared_devices

COMPONENT = Component(
    lambda loading: load_shared_devices(loading.node, loading.vms, loading.board),
    section=SECTION,
    system_nodes={NODE: schema.SHARED_DEVICES},
    vm_nodes={NODE: schema.VM_SHARED_DEVICES},
)
