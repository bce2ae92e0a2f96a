# SPDX-License-Identifier: Apache-2.0
"""`make image` leaves the component `virtio` out of the hypervisor of a system that does not need it."""

import re

import pytest
from helpers import OUT, ROOT, make, source_of, whole_source

from tessera.run.runner import load_system

OBJECT = re.compile(r"/obj/(arch/riscv|devices)/virtio/")  # in the linker's map


def linked(system):
    """The linker's map of the hypervisor in the system's image."""
    return load_system(system).hypervisor.with_suffix(".map").read_text()


@pytest.mark.parametrize(("system", "there"), [("hello", False), ("bench-virtio", True)])
def test_component_is_there_if_the_system_needs_it(system, there):
    make("image", f"SYSTEM={system}")
    text = linked(system)
    assert "/obj/core/vm.c.o" in text
    assert bool(OBJECT.search(text)) == there


def test_named_components_are_all_there():
    copy = OUT / "named-components.dts"
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_text(whole_source(source_of("hello")), encoding="utf-8")
    system = f"../{copy.relative_to(ROOT).with_suffix('')}"
    folder = "build/check/hyp-with-console-virtio"
    make("image", f"SYSTEM={system}", "HYP_COMPONENTS=console virtio", f"HYP_BUILD={folder}")
    assert OBJECT.search(linked(system))
