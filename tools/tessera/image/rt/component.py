# SPDX-License-Identifier: Apache-2.0
"""What the component `rt` adds to the image builder."""

from tessera.image.component import Component, Loading
from tessera.image.rt.limits import check_rt


def _load(loading: Loading) -> None:
    if loading.board:
        check_rt(loading.node, loading.section("vms"), loading.board)


COMPONENT = Component(_load, vm_facts=lambda vm: {"rt_apps": vm.node["rt-apps"]})
