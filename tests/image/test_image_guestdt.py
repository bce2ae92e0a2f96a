# SPDX-License-Identifier: Apache-2.0
"""The guests' device trees, and the fixups that remove features from them."""

import os
import struct
import subprocess

import pytest
from fixtures import SYSTEM
from image_reader import read_image

from tessera.image import fdt, layout
from tessera.image.problems import BuildError
from tessera.image.vm_schema import GUEST_FEATURES

CPU = "/cpus/cpu@{}"
VIRT_DEVICES = ("/soc/test@100000", "/soc/rtc@101000", "/poweroff", "/reboot")


def tree(blob):
    """The properties of a blob: {path: {name: bytes}}."""
    nodes = {}
    for value in fdt.values(blob):
        nodes.setdefault(value.path, {})[value.name] = value.data
    return nodes


def cells(data):
    return list(struct.unpack(f">{len(data) // 4}I", data))


def built(builder, props="", **kwargs):
    """The device tree of VM `two` with additional properties."""
    text = SYSTEM.replace("memory-size = <0x400000>;", f"memory-size = <0x400000>; {props}")
    return tree(builder.build(text, **kwargs).files["two.dtb"])


def test_nodes_of_every_guest(builder):
    nodes = built(builder, 'bootargs = "say \\"hi\\" \\\\ there"; vcpus = <2>;')
    assert nodes["/"]["#address-cells"] == b"\0\0\0\2"
    assert nodes["/chosen"] == {
        "bootargs": b'say "hi" \\ there\0',
        "stdout-path": b"/soc/serial@10000000\0",
        "rng-seed": bytes(32),
    }
    assert cells(nodes["/memory@80000000"]["reg"]) == [0, 0x80000000, 0, 0x400000]
    assert cells(nodes["/cpus"]["timebase-frequency"]) == [10000000]
    assert sorted(path for path in nodes if path.startswith("/cpus/")) == [
        "/cpus/cpu@0",
        "/cpus/cpu@0/interrupt-controller",
        "/cpus/cpu@1",
        "/cpus/cpu@1/interrupt-controller",
    ]
    first, second = (cells(nodes[CPU.format(n) + "/interrupt-controller"]["phandle"])[0] for n in (0, 1))
    plic = nodes["/soc/plic@c000000"]
    assert cells(plic["interrupts-extended"]) == [first, 0xFFFFFFFF, first, 9, second, 0xFFFFFFFF, second, 9]
    assert cells(plic["riscv,ndev"]) == [31]
    assert plic["compatible"] == b"sifive,plic-1.0.0\0riscv,plic0\0"
    uart = nodes["/soc/serial@10000000"]
    assert uart["compatible"] == b"ns16550a\0"
    assert cells(uart["interrupts"]) == [10]
    assert uart["interrupt-parent"] == plic["phandle"]


def test_extensions(builder):
    cpu = built(builder, 'isa = "zbb", "sstc";')[CPU.format(0)]
    assert cpu["riscv,isa"] == b"rv64imafdc_zicsr_zifencei_sstc_zbb\0"
    assert cpu["riscv,isa-base"] == b"rv64i\0"
    assert cpu["riscv,isa-extensions"] == b"i\0m\0a\0f\0d\0c\0zicsr\0zifencei\0sstc\0zbb\0"
    assert "riscv,cboz-block-size" not in cpu
    none = built(builder, "isa;")[CPU.format(0)]
    assert none["riscv,isa"] == b"rv64imafdc_zicsr_zifencei\0"
    everything = built(builder)[CPU.format(0)]
    assert set(everything["riscv,isa-extensions"].decode().split("\0")) >= set(GUEST_FEATURES)
    assert cells(everything["riscv,cboz-block-size"]) == cells(everything["riscv,cbom-block-size"]) == [64]


def test_initrd(builder):
    result = builder.build(SYSTEM)
    chosen = tree(result.files["one.dtb"])["/chosen"]
    size = len((builder.guests / "initrd.gz").read_bytes())
    # The highest aligned 2 MiB below the device tree, which occupies the last 64 KiB of RAM.
    assert cells(chosen["linux,initrd-start"]) == [0, 0x80E00000]
    assert cells(chosen["linux,initrd-end"]) == [0, 0x80E00000 + size]


def test_passed_through_device(builder):
    result = builder.build(SYSTEM)
    nodes = tree(result.files["one.dtb"])
    device = nodes["/soc/virtio_mmio@10001000"]
    assert device["compatible"] == b"virtio,mmio\0"
    assert cells(device["reg"]) == [0, 0x10001000, 0, 0x1000]
    assert cells(device["interrupts"]) == [1]
    assert device["interrupt-parent"] == nodes["/soc/plic@c000000"]["phandle"]
    host = result.system.vms[0].host_base
    assert cells(nodes["/soc"]["dma-ranges"]) == [0, host, 0, 0x80000000, 0, 0x1000000]
    assert "dma-ranges" not in tree(result.files["two.dtb"])["/soc"]


def test_flash(builder):
    """A device without an interrupt, of which the driver has to know how wide an access is."""
    built_system = builder.build(SYSTEM.replace('devices = "rng0";', 'devices = "flash1";'))
    node = tree(built_system.files["one.dtb"])["/soc/flash@22000000"]
    assert node["compatible"] == b"cfi-flash\0"
    assert cells(node["reg"]) == [0, 0x22000000, 0, 0x200000]
    assert cells(node["bank-width"]) == [4]
    assert not {"interrupts", "interrupt-parent", "#interrupt-cells"} & set(node)
    assert read_image(built_system.files["tessera.bin"]).vms[0].irqs == []


def test_polled_uart(builder):
    nodes = built(builder, "uart-polled; no-plic;")
    assert "interrupts" not in nodes["/soc/serial@10000000"]
    assert "/soc/plic@c000000" not in nodes


def test_pvpanic(builder):
    assert not any("pvpanic" in name for name in built(builder, ""))
    node = built(builder, "pvpanic;")["/soc/pvpanic@102000"]
    assert node["compatible"] == b"qemu,pvpanic-mmio\0"
    assert cells(node["reg"]) == [0, 0x102000, 0, 8]


def test_a_device_that_is_asked_for_is_not_left_out(builder):
    expected = "pvpanic: expected RISC-V with a free address 0x102000, got riscv with RAM, shared memory or a device"
    with pytest.raises(BuildError, match=expected):
        built(builder, "pvpanic; memory-base = <0x0>;")


def test_no_devices_at_all(builder):
    nodes = built(builder, "no-uart; no-plic; no-finisher; no-rtc;")
    assert "/soc" not in nodes
    assert "/chosen" not in nodes or "stdout-path" not in nodes["/chosen"]


def test_high_memory(builder):
    nodes = built(builder, "memory-base = <0x1 0x00200000>;")
    assert cells(nodes["/memory@100200000"]["reg"]) == [1, 0x200000, 0, 0x400000]


def fixed(image, vm, features):
    """The VM's device tree after the hypervisor has applied its fixups on a machine that lacks
    `features`."""
    data = [bytearray(image.payload(load)) for load in vm.loads]
    for fixup in vm.fixups:
        if layout.FEATURES[fixup["feature"]] in features:
            start = fixup["offset"]
            data[fixup["load"]][start : start + fixup["size"]] = fixup["bytes"][: fixup["size"]]
    return tree(bytes(data[-1]))


def names(cpu):
    """The extensions in both properties, as a guest parses them; unknown vendor extensions are
    ignored."""
    listed = cpu["riscv,isa-extensions"].decode().rstrip("\0").split("\0")
    letters, *words = cpu["riscv,isa"].decode().rstrip("\0").removeprefix("rv64").split("_")
    assert [*letters, *words] == listed
    return {name for name in listed if not name.startswith("x")}


@pytest.mark.parametrize("lacking", [(), *[(name,) for name in GUEST_FEATURES], GUEST_FEATURES])
def test_fixups_remove_exactly_the_missing_features(builder, lacking):
    image = read_image(builder.build(SYSTEM).files["tessera.bin"])
    base = {"i", "m", "a", "f", "d", "c", "zicsr", "zifencei"}
    for vm in image.vms:
        nodes = fixed(image, vm, lacking)
        assert names(nodes[CPU.format(0)]) == base | set(GUEST_FEATURES) - set(lacking)
        assert nodes.keys() == fixed(image, vm, ()).keys()


@pytest.mark.parametrize("vcpus", range(1, layout.MAX_VCPUS_PER_VM + 1))
def test_all_vcpus_have_the_same_features(builder, vcpus):
    """For any number of VCPUs, every feature can be removed on a machine that lacks it."""
    text = SYSTEM.replace("memory-size = <0x400000>;", f"memory-size = <0x400000>; vcpus = <{vcpus}>;")
    image = read_image(builder.build(text).files["tessera.bin"])
    vm = image.vms[1]
    lacking_all, lacking_none = fixed(image, vm, GUEST_FEATURES), fixed(image, vm, ())
    for index in range(vcpus):
        assert names(lacking_all[CPU.format(index)]) == {"i", "m", "a", "f", "d", "c", "zicsr", "zifencei"}
        told = names(lacking_none[CPU.format(index)])
        assert told == names(lacking_none[CPU.format(0)])
        assert told >= set(GUEST_FEATURES)
    assert len(vm.fixups) <= layout.MAX_FIXUPS


def test_devices_are_those_of_qemu_virt(builder, tmp_path):
    """A guest that knows QEMU's virt finds the same nodes here, with the same registers and
    interrupts."""
    qemu = os.environ.get("QEMU", "qemu-system-riscv64")
    blob = tmp_path / "virt.dtb"
    subprocess.run([qemu, "-M", f"virt,dumpdtb={blob}", "-display", "none"], check=True, capture_output=True)
    virt, ours = tree(blob.read_bytes()), tree(builder.build(SYSTEM).files["one.dtb"])
    for path in ("/soc/serial@10000000", "/soc/plic@c000000", "/soc/virtio_mmio@10001000", *VIRT_DEVICES):
        for name in (
            "reg",
            "interrupts",
            "offset",
            "value",
            "clock-frequency",
            "#interrupt-cells",
            "interrupt-controller",
        ):
            assert ours[path].get(name) == virt[path].get(name), (path, name)
        assert ours[path]["compatible"] in virt[path]["compatible"]
    cpu, intc = CPU.format(0), CPU.format(0) + "/interrupt-controller"
    for path, name in ((cpu, "compatible"), (cpu, "device_type"), (cpu, "status"), (intc, "compatible")):
        assert ours[path][name] == virt[path][name]
    assert ours["/"]["compatible"] == virt["/"]["compatible"]
    assert ours["/cpus"]["timebase-frequency"] == virt["/cpus"]["timebase-frequency"]


def test_warnings_of_dtc_are_errors():
    with pytest.raises(BuildError, match=r"a\.dts: expected a device tree that dtc accepts, got: .*syntax error"):
        fdt.compile_dts("/dts-v1/; / { a };", "a.dts")
    with pytest.raises(BuildError, match=r"a\.dts: expected a device tree that dtc accepts, got: .*Warning"):
        fdt.compile_dts("/dts-v1/; / { node@1 { }; };", "a.dts")


def test_damaged_blobs(builder):
    blob = builder.build(SYSTEM).files["one.dtb"]
    with pytest.raises(ValueError, match="not a flattened device tree"):
        list(fdt.values(b"\0" + blob[1:]))
    structure = int.from_bytes(blob[8:12], "big")
    with pytest.raises(ValueError, match="unknown token 0x7 "):
        list(fdt.values(blob[:structure] + b"\0\0\0\7" + blob[structure + 4 :]))


def test_boot_loaders_can_extend_the_device_tree(builder):
    """U-Boot adds properties in place: there is room behind the strings, and totalsize includes it."""
    blob = builder.build(SYSTEM).files["two.dtb"]
    total, _, strings = struct.unpack_from(">3I", blob, 4)
    (size,) = struct.unpack_from(">I", blob, 32)  # of the strings
    assert len(blob) == total >= strings + size + 2048
