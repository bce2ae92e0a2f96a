# SPDX-License-Identifier: Apache-2.0
"""Functions of accelerators and shared devices, which the test plays. tests/manager runs them over the RTL."""

from collections.abc import Iterator
from ctypes import CFUNCTYPE, c_bool, c_uint, c_uint64, c_void_p, cast

import pytest
from c_headers import values
from core import CORE
from virtio import ACCELERATOR, ENTROPY, HARDWARE_IO, IVSHMEM, SHARED_GPA, SHARED_ID, Pci, boot, booted, make

PENDING, MASK = CFUNCTYPE(c_bool, c_uint), CFUNCTYPE(None, c_uint, c_bool)
CORE.testbed_played_accelerators.argtypes = [c_void_p, c_void_p]
CORE.testbed_played_accelerators.restype = None
CORE.testbed_played_shared.argtypes = [c_uint64, c_void_p, c_void_p]
CORE.testbed_played_shared.restype = None
(DMA,) = values("virtio_image.h", "VIRTIO_IMAGE_DMA")
PAGES, PAGE = values("accel_abi.h", "ACCEL_PAGES ACCEL_PAGE")
COMMAND, BARS, SUBSYSTEM = 0x04, 0x10, 0x2C
MEMORY, DISABLE, INTERRUPT = 2, 0x400, 0x80000
ONES = 0xFFFFFFFF
DEVICE, TASK = 3, 5


class Fabric:
    def __init__(self) -> None:
        self.pending: set[int] = set()
        self.masks: list[tuple[int, bool]] = []
        self.functions = (PENDING(self.pending.__contains__), MASK(lambda *mask: self.masks.append(mask)))


@pytest.fixture
def fabric() -> Iterator[Fabric]:
    """Every VM has every device; afterwards none."""
    played = Fabric()
    CORE.testbed_played_accelerators(*(cast(function, c_void_p) for function in played.functions))
    yield played
    CORE.testbed_played_accelerators(None, None)


def function(flags: int = 0) -> dict:
    return {"vm": 0, "kind": ACCELERATOR, "device": DEVICE, "task": TASK, "flags": flags}


@pytest.mark.usefixtures("fabric")
def test_ids_and_bars():
    booted([{"vm": 0, "kind": ENTROPY}, function()])
    pci = Pci(0, 1)
    assert pci.load(pci.config) == 0x10F01AF4
    assert pci.load(pci.config + SUBSYSTEM) == TASK << 16 | 0x1AF4
    assert [pci.load(pci.config + BARS + 4 * i) for i in range(6)] == [PAGES + DEVICE * PAGE, 0, 0, 0, 0, 0]
    pci.store(pci.config + BARS, ONES)
    assert pci.load(pci.config + BARS) == ONES - PAGE + 1
    assert pci.load(pci.config + 0x34) == 0, "no capability"


@pytest.mark.usefixtures("fabric")
def test_memory_for_dma_is_bar_2():
    for flags in (DMA, 0, 0xFF & ~DMA):
        make([function(flags)], vms=1)
        CORE.testbed_virtio_give_dma(0)
        assert boot() is None
        pci = Pci(0)
        second = [pci.load(pci.config + BARS + 8), pci.load(pci.config + BARS + 12)]
        assert second == ([SHARED_GPA & ONES | 0xC, SHARED_GPA >> 32] if flags == DMA else [0, 0])


@pytest.mark.usefixtures("fabric")
def test_the_place_of_other_functions_is_empty():
    booted([{**function(), "vm": 1}], vms=2)
    pci = Pci(1)
    pci.store(pci.config + COMMAND, MEMORY, 2)
    assert [pci.read(4 * i) for i in range(4)] == [0] * 4


def test_interrupt(fabric: Fabric):
    """The status tells of it, also while the fabric masks it."""
    booted([function()])
    pci = Pci(0)
    fabric.masks.clear()
    for pending in (set(), {DEVICE - 1}, {DEVICE}):
        fabric.pending.clear()
        fabric.pending.update(pending)
        assert pci.load(pci.config + COMMAND) == (INTERRUPT if DEVICE in pending else 0)
    pci.store(pci.config + COMMAND, MEMORY | DISABLE, 2)
    assert fabric.masks[-1] == (DEVICE, True)
    assert pci.load(pci.config + COMMAND) == INTERRUPT | MEMORY | DISABLE
    pci.store(pci.config + COMMAND + 1, 0, 1)
    assert fabric.masks[-1] == (DEVICE, False)
    assert pci.load(pci.config + COMMAND) == INTERRUPT | MEMORY
    assert not pci.line, "the fabric has a line of its own"


def test_place_of_other_functions_registers(fabric: Fabric):
    """BAR 0 is elsewhere, so nothing is there."""
    booted([function()])
    pci = Pci(0)
    pci.store(pci.config + COMMAND, MEMORY, 2)
    fabric.masks.clear()
    assert pci.write(0, ONES) == 0
    assert pci.read(0) == 0
    assert fabric.masks == []


def test_device_that_the_vm_does_not_have():
    make([function()])
    assert boot() == "the image has a PCI function of an accelerator that its VM does not have"


@pytest.mark.usefixtures("fabric")
def test_shared_memory_beside_it():
    """It is the other function's, not memory for DMA."""
    booted([function(DMA), {"vm": 0, "kind": IVSHMEM, "shared": SHARED_ID}])
    first, second = Pci(0), Pci(0, 1)
    assert first.load(first.config + BARS + 8) == 0
    assert second.load(second.config + BARS + 8) == SHARED_GPA & ONES | 0xC


SHARED_PAGES, SHARED_SIZE, NUMBERS = 0x18300000, 0x8000, 0b110


@pytest.fixture
def shared() -> Iterator[Fabric]:
    """Every VM has shared devices; afterwards none."""
    played = Fabric()
    CORE.testbed_played_shared(SHARED_PAGES, *(cast(function, c_void_p) for function in played.functions))
    yield played
    CORE.testbed_played_shared(0, None, None)


def test_shared_devices(shared: Fabric):
    """BAR 0 are all their pages, the subsystem tells which there are, and one mask is that of all."""
    booted([{"vm": 0, "kind": HARDWARE_IO, "task": NUMBERS}])
    pci = Pci(0)
    assert pci.load(pci.config) == 0x10F11AF4
    assert pci.load(pci.config + SUBSYSTEM) == NUMBERS << 16 | 0x1AF4
    assert pci.load(pci.config + BARS) == SHARED_PAGES
    pci.store(pci.config + BARS, ONES)
    assert pci.load(pci.config + BARS) == ONES - SHARED_SIZE + 1
    shared.pending.add(0)
    pci.store(pci.config + COMMAND, DISABLE, 2)
    assert shared.masks[-1] == (0, True)
    assert pci.load(pci.config + COMMAND) == INTERRUPT | DISABLE
    pci.store(pci.config + COMMAND, 0, 2)
    assert shared.masks[-1] == (0, False)


@pytest.mark.parametrize("pages", [SHARED_PAGES + 0x1000, 1 << 32])
def test_shared_pages_that_are_no_bar(shared: Fabric, pages: int):
    CORE.testbed_played_shared(pages, *(cast(function, c_void_p) for function in shared.functions))
    make([{"vm": 0, "kind": HARDWARE_IO}])
    assert boot() == "the pages of a VM's shared devices cannot be a BAR"


def test_shared_devices_that_the_vm_does_not_have():
    make([{"vm": 0, "kind": HARDWARE_IO}])
    assert boot() == "the image has a PCI function of shared devices that its VM does not have"
