# SPDX-License-Identifier: Apache-2.0
"""What the component `virtio` adds to the image builder."""

from tessera.image.component import Component, Loading
from tessera.image.virtio import hostpci, schema
from tessera.image.virtio.functions import NETWORKS, NODE, SECTION, load_functions


def _load(loading: Loading) -> None:
    loading.networks = load_functions(loading.node, loading.vms, loading.accelerators, loading.search)
    hostpci.assign(loading.vms, loading.section("devices"), loading.board)


COMPONENT = Component(
    _load,
    section=SECTION,
    system_nodes={NETWORKS: schema.NETWORKS},
    vm_nodes={NODE: schema.VM_FUNCTIONS},
)
