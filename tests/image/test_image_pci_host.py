# SPDX-License-Identifier: Apache-2.0
"""Functions of the machine's PCI bus: their places, the guests' device trees, QEMU's devices; invalid systems."""

import itertools
import json
from pathlib import Path

import pytest
from fixtures import changed, read_cases
from test_image_pci import given, rows, section, tree

from tessera.image import virtual
from tessera.image.virtio import virtio_image

SYSTEM = Path(__file__).with_name("pci-host.dts").read_text()
CASES = read_cases(Path(__file__).with_name("refused-pci-host.txt"))
ECAM, MEMORY, WINDOW = 0x30000000, 0x40000000, 0x200000


@pytest.mark.parametrize("name", CASES)
def test_refused(builder, name):
    changes, expected = CASES[name]
    assert builder.refuse(changed(SYSTEM, changes)) == expected


def test_number_of_cases():
    assert len(CASES) >= 18
    assert all(changes and expected for changes, expected in CASES.values())


def test_places(builder):
    """Each function has a window of its own on the machine's bus, and the line of its device number."""
    random, *functions = section(builder.build(SYSTEM))
    assert given(random) == {}
    assert [function["kind"] for function in functions] == [virtio_image.MODELS["host"]] * 3
    assert [given(function) for function in functions] == [
        {"config": ECAM + 0x1 * 0x8000, "window": MEMORY, "irq": 33},
        {"config": ECAM + 0x1F * 0x8000, "window": MEMORY + WINDOW, "irq": 35},
        {"config": ECAM + 0x2 * 0x8000, "window": MEMORY + 2 * WINDOW, "irq": 34},
    ]


def test_addresses_have_room():
    """The VM's windows are behind those of functions of the hypervisor, and below the RAM."""
    assert virtual.PCI_BARS + virtual.PCI_WINDOW <= virtual.PCI_HOST_BARS
    assert virtual.PCI_HOST_BARS + virtio_image.MAX_FUNCTIONS_PER_VM * virtual.PCI_HOST_WINDOW <= 0x80000000
    assert virtual.PCI_HOST_BARS % virtual.PCI_HOST_WINDOW == 0


def test_bridge(builder):
    """BARs at the function's slot; the machine's addresses of the VM's RAM for DMA."""
    built = builder.build(SYSTEM)
    bridge = tree(built, "east")["/pci@30000000"]
    assert rows(bridge["ranges"], 7) == [
        (0x02000000, 0, 0x40000000, 0, 0x40000000, 0, 0x200000),
        (0x02000000, 0, 0x41200000, 0, 0x41200000, 0, WINDOW),
        (0x02000000, 0, 0x41400000, 0, 0x41400000, 0, WINDOW),
    ]
    [vm, other] = built.system.vms
    assert rows(bridge["dma-ranges"], 7) == [
        (0x03000000, 0, vm.host_base, 0, 0x90000000, 0, 0x400000),
        (0x03000000, 0, vm.more[0].host_base, 1, 0, 0, 0x200000),
    ]
    bridge = tree(built, "west")["/pci@30000000"]
    assert rows(bridge["ranges"], 7)[1:] == [(0x02000000, 0, 0x41000000, 0, 0x41000000, 0, WINDOW)]
    assert rows(bridge["dma-ranges"], 7) == [(0x03000000, 0, other.host_base, 0, 0x80000000, 0, 0x400000)]


def test_manifest(builder):
    vms = json.loads(builder.build(SYSTEM).files["system.json"])["vms"]
    assert [one["host"] for one in vms[0]["functions"]] == [None, "00:01.0", "00:1f.0"]
    assert vms[0]["mmio"][-2:] == [
        {"name": "net", "base": 0x41200000, "size": WINDOW},
        {"name": "disk", "base": 0x41400000, "size": WINDOW},
    ]


def values_of(arguments, option):
    return [word for name, word in itertools.pairwise(arguments) if name == option]


def test_qemu_has_the_devices(builder):
    """With DMA addresses that a driver translates, and no files of network boot."""
    built = builder.build(SYSTEM)
    arguments = json.loads(built.files["system.json"])["qemu"]["arguments"]
    devices = values_of(arguments, "-device")
    virtio = "disable-legacy=on,iommu_platform=on,bus=pcie.0"
    assert devices == [
        f"virtio-net-pci,netdev=nic,romfile=,{virtio},addr=0x1",
        "nvme,drive=drive,serial=drive,bus=pcie.0,addr=0x1f",
        "e1000e,netdev=wire,romfile=,bus=pcie.0,addr=0x2",
        f"virtio-rng-pci,{virtio},addr=0x4",
        "virtio-blk-device,drive=plain,bus=virtio-mmio-bus.0,iommu_platform=on",
    ]
    drives = values_of(arguments, "-drive")
    assert drives[0] == "if=none,id=drive,format=raw,file=guests/two.bin"
    assert drives[1] == "if=none,id=plain,format=raw,file=guests/one.bin,read-only=on"
    nets = values_of(arguments, "-netdev")
    assert [net.split(",")[:2] for net in nets] == [["user", "id=nic"], ["user", "id=wire"]]


@pytest.mark.parametrize("link", [Path.symlink_to, Path.hardlink_to])
def test_one_file_by_two_names(builder, link):
    """QEMU locks the file, whatever its name."""
    link(builder.guests / "link.bin", (builder.guests / "two.bin").resolve())
    text = changed(SYSTEM, [['file = "one.bin";\n\t\t\tread-only;', 'file = "link.bin";']])
    (line,) = builder.refuse(text)
    assert line.endswith(', got "link.bin", the file of /devices/drive')


def test_board_without_a_bus(builder):
    """A function of model host, and a slot that is one."""
    text = (builder.platform / "qemu-virt" / "board.dts").read_text()
    at = text.index("\tpci {")
    builder.make_board((text[at : text.index("};", at) + 3], ""))
    lines = builder.refuse(SYSTEM.replace("qemu-virt", "alt"))
    places = [line.split(":")[2:4] for line in lines]
    assert places[:4] == [[f" /devices/{name}", " slot"] for name in ("nic", "drive", "wire", "noise")]
    assert places[4:] == [[f" /vms/{path}", " model"] for path in ("east/pci/net", "east/pci/disk", "west/pci/net")]
    assert lines[4].endswith("model: expected host only on a board with a PCI bus, got it on alt")


def test_rate_needs_an_interrupt(builder):
    """interrupts-per-ms limits those of the functions, too."""
    builder.build(SYSTEM)
    text = SYSTEM
    for function in ("00:01.0", "00:1f.0"):
        text = text.replace(f'model = "host";\n\t\t\t\t\tfunction = "{function}";', 'model = "virtio-rng";')
    expected = "expected only on a VM with devices, accelerators, shared devices or PCI functions of the machine"
    assert builder.refuse(text) == [f"sys.dts:43: /vms/east: interrupts-per-ms: {expected}"]
