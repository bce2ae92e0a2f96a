# SPDX-License-Identifier: Apache-2.0
"""Random valid systems: they build, read back unchanged, and no memory overlaps in the host's
RAM."""

import json
import os
import struct
from dataclasses import dataclass, field

import pytest
from fixtures import SYSTEM
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from image_reader import read_image, text

from tessera.image import layout, virtual
from tessera.image.emulated import PANIC
from tessera.image.vm_schema import COLOURS, GUEST_FEATURES

MIB = 1 << 20
RAM = (0x80000000, 0xA0000000)
LOAD_ADDRESS = 0x80200000
MMIO = 0x10001000


@dataclass
class Wanted:
    """A VM to build."""

    name: str
    memory: int  # in units of 2 MiB
    base: int
    image: bytes
    initrd: bytes | None
    props: dict[str, str] = field(default_factory=dict)
    devices: list[int] = field(default_factory=list)

    def source(self, index: int) -> str:
        lines = [f"memory-size = <{self.memory * 2 * MIB:#x}>;", f'image = "image{index}";']
        lines += [f"{name} = {value};" if value else f"{name};" for name, value in self.props.items()]
        if self.base != RAM[0]:
            lines.append(f"memory-base = /bits/ 64 <{self.base:#x}>;")
        if self.initrd:
            lines.append(f'initrd = "initrd{index}";')
        if self.devices:
            lines.append("devices = " + ", ".join(f'"virtio-mmio{n}"' for n in self.devices) + ";")
        return f"{self.name} {{\n" + "\n".join(lines) + "\n};\n"


@dataclass
class WantedSystem:
    harts: int
    quantum: int
    mask: set[str]
    hypervisor: bytes
    vms: list[Wanted]

    def source(self) -> str:
        mask = (
            "machine-mask" + (" = " + ", ".join(f'"{name}"' for name in sorted(self.mask)) if self.mask else "") + ";"
        )
        head = f'compatible = "tessera,system"; board = "qemu-virt"; harts = <{self.harts}>;\n'
        head += f"quantum-us = <{self.quantum}>; {mask}\n"
        vms = "".join(vm.source(index) for index, vm in enumerate(self.vms))
        return f"/dts-v1/;\n/ {{ {head} vms {{\n{vms} }}; }};\n"


NAMES = st.from_regex(r"[a-z][a-z0-9-]{0,14}", fullmatch=True)
# Payloads with many duplicates, to test sharing.
BLOBS = st.builds(
    lambda seed, size: bytes([seed + 1]) * size, st.integers(0, 3), st.sampled_from([1, 7, 8, 4096, 70001])
)
PROPS = st.fixed_dictionaries(
    {"sign-of-life": st.just('"up"')},
    optional={
        "vcpus": st.integers(1, 2).map(lambda n: f"<{n}>"),
        "colour": st.sampled_from(sorted(COLOURS)).map(lambda name: f'"{name}"'),
        "bootargs": st.text(st.characters(min_codepoint=35, max_codepoint=91), min_size=1, max_size=40).map(
            lambda args: f'"{args}"'
        ),
        "on-fatal": st.sampled_from(['"stop"', '"restart"']),
        "watchdog-ms": st.sampled_from([0, 12001, 3600000]).map(lambda ms: f"<{ms}>"),
        "restart-pause-max-ms": st.integers(0, 3600000).map(lambda ms: f"<{ms}>"),
        "manual-start": st.just(""),
        "uart-polled": st.just(""),
        "isa": st.sets(st.sampled_from(GUEST_FEATURES), max_size=6).map(
            lambda names: ", ".join(f'"{n}"' for n in sorted(names))
        ),
    },
)


@st.composite
def systems(draw):
    count = draw(st.integers(1, 6))
    names = draw(st.lists(NAMES, min_size=count, max_size=count, unique=True))
    # The VM of each device.
    slots = draw(st.lists(st.integers(-1, count - 1), min_size=7, max_size=7))
    vms = []
    for index, name in enumerate(names):
        vm = Wanted(
            name=name,
            memory=draw(st.integers(3, 20)),
            base=draw(st.sampled_from([RAM[0], 0x40000000, 0x1_00000000, (1 << 41) - 40 * MIB])),
            image=draw(BLOBS),
            initrd=draw(st.none() | BLOBS),
            props=draw(PROPS),
            devices=[slot for slot, owner in enumerate(slots) if owner == index],
        )
        if vm.devices and draw(st.booleans()):
            vm.props["interrupts-per-ms"] = f"<{draw(st.integers(0, layout.MAX_IRQS_PER_MS))}>"
        vms.append(vm)
    keyboard = draw(st.integers(-1, count - 1))
    if keyboard >= 0:
        vms[keyboard].props["keyboard"] = ""
    return WantedSystem(
        harts=draw(st.integers(1, 8)),
        quantum=draw(st.integers(100, 1000000)),
        mask=draw(st.sets(st.sampled_from(layout.FEATURES))),
        hypervisor=draw(st.sampled_from([b"h", b"h" * 4096, b"h" * 40000])),
        vms=vms,
    )


@settings(
    max_examples=int(os.environ.get("IMAGE_EXAMPLES", "60")),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(wanted=systems())
def test_random_systems(builder, wanted):
    for index, vm in enumerate(wanted.vms):
        builder.file(f"image{index}", vm.image)
        builder.file(f"initrd{index}", vm.initrd or b"unused")
    builder.file("hypervisor", wanted.hypervisor)
    built = builder.build(wanted.source(), hypervisor=builder.guests / "hypervisor")
    binary = built.files["tessera.bin"]
    head = layout.align_up(len(wanted.hypervisor), 4096)
    assert binary[: len(wanted.hypervisor)] == wanted.hypervisor
    assert not any(binary[len(wanted.hypervisor) : head])
    image = read_image(binary[head:])
    check_header(image.header, wanted)
    assert [vm.name for vm in image.vms] == [vm.name for vm in wanted.vms]
    for read, vm in zip(image.vms, wanted.vms, strict=True):
        check_vm(image, read, vm, built.files[f"{vm.name}.dtb"])
    check_host(image, LOAD_ADDRESS + len(binary))
    check_manifest(json.loads(built.files["system.json"]), image, wanted)


def check_header(header, wanted):
    assert header["nharts"] == wanted.harts
    assert header["quantum_us"] == wanted.quantum
    assert {name for bit, name in enumerate(layout.FEATURES) if header["machine_mask"] >> bit & 1} == wanted.mask
    assert (header["ram_base"], header["ram_base"] + header["ram_size"]) == RAM
    assert header["timebase_hz"] == 10000000
    assert text(header["name"]) == "sys"


def check_vm(image, read, vm, blob):
    fields, props = read.fields, vm.props
    size = vm.memory * 2 * MIB
    ram, *mmio = read.regions
    assert (ram["gpa"], ram["size"], ram["kind"]) == (vm.base, size, layout.REGION_RAM)
    devices = [(MMIO + 0x1000 * n, MMIO + 0x1000 * n, 0x1000, layout.REGION_MMIO) for n in vm.devices]
    assert [(r["gpa"], r["hpa"], r["size"], r["kind"]) for r in mmio] == devices
    assert [(irq["host"], irq["guest"]) for irq in read.irqs] == [(n + 1, n + 1) for n in vm.devices]
    payloads = [image.payload(load) for load in read.loads]
    assert payloads == [vm.image, *([vm.initrd] if vm.initrd else []), blob]
    assert read.loads[0]["gpa"] == fields["entry"] == vm.base + 2 * MIB
    assert read.loads[-1]["gpa"] == fields["dtb"]
    assert fields["nvcpus"] == int(props.get("vcpus", "<1>").strip("<>"))
    assert bool(fields["flags"] & layout.VM_AUTOSTART) == ("manual-start" not in props)
    assert bool(fields["flags"] & layout.VM_FOCUS) == ("keyboard" in props)
    assert bool(fields["flags"] & layout.VM_RESTART_FATAL) == (props.get("on-fatal") == '"restart"')
    assert fields["watchdog_ms"] == int(props.get("watchdog-ms", "<0>").strip("<>"))
    assert fields["restart_pause_max_ms"] == int(props.get("restart-pause-max-ms", "<10000>").strip("<>"))
    seed = fields["seed"] - fields["dtb"]
    assert blob[seed - 12 : seed] == struct.pack(">2I", 3, 32) + blob[seed - 4 : seed]
    assert blob[seed : seed + 32] == bytes(32)
    assert fields["irqs_per_ms"] == int(props.get("interrupts-per-ms", "<20>").strip("<>"))
    assert fields["uart_irq"] == (0 if "uart-polled" in props else 10)
    assert (fields["uart"], fields["irqchip"]) == (virtual.UART_BASE, virtual.PLIC_BASE)
    if "colour" in props:
        assert fields["colour"] == COLOURS[props["colour"].strip('"')]
    assert fields["colour"] in COLOURS.values()


def check_host(image, image_end):
    """Every VM's RAM is aligned to 2 MiB, inside the board's RAM, after the image, and disjoint
    from other VMs' RAM."""
    reached = image_end
    for ram in sorted((vm.regions[0] for vm in image.vms), key=lambda region: region["hpa"]):
        assert ram["hpa"] % (2 * MIB) == 0
        assert ram["hpa"] >= reached
        reached = ram["hpa"] + ram["size"]
    assert reached <= RAM[1]


def check_manifest(manifest, image, wanted):
    assert manifest["harts"] == wanted.harts
    assert set(manifest["machine_mask"]) == wanted.mask
    for entry, read, vm in zip(manifest["vms"], image.vms, wanted.vms, strict=True):
        assert entry["name"] == vm.name
        assert entry["memory"]["host"] == read.regions[0]["hpa"]
        assert entry["ansi"] == read.fields["colour"]
        assert entry["autostart"] == ("manual-start" not in vm.props)
        assert entry["devices"] == [f"virtio-mmio{n}" for n in vm.devices]
        check_mmio(entry, read, vm)
        assert [load["address"] for load in entry["loads"]] == [load["gpa"] for load in read.loads]


def check_mmio(entry, read, vm):
    """The devices that the guest can access: those that the image emulates, then the board's."""
    fields = {"uart": "uart", "plic": "irqchip", "finisher": "finisher", "rtc": "rtc"}
    emulated = [name for name, field in fields.items() if read.fields[field] != 0]
    assert [device["name"] for device in entry["mmio"]] == emulated + [f"virtio-mmio{n}" for n in vm.devices]
    for device in entry["mmio"][: len(emulated)]:
        assert device["base"] == read.fields[fields[device["name"]]]


def test_equal_payloads_are_stored_once(builder):
    vm = '{ memory-size = <0x400000>; image = "image"; sign-of-life = "up"; };'
    builder.file("image", bytes(range(1, 256)) * 4096)
    head = '/dts-v1/; / { compatible = "tessera,system"; board = "qemu-virt"; harts = <1>; vms { '
    one = builder.build(f"{head} a {vm} }}; }};").files["tessera.bin"]
    two = builder.build(f"{head} a {vm} b {vm} }}; }};").files["tessera.bin"]
    assert len(two) - len(one) < 3 * 4096


def test_explicit_host_base_is_kept_and_avoided(builder):
    vm = 'memory-size = <0x800000>; image = "image"; sign-of-life = "up";'
    builder.file("image", b"x")
    head = '/dts-v1/; / { compatible = "tessera,system"; board = "qemu-virt"; harts = <1>; vms { '
    tail = f"a {{ {vm} }}; b {{ {vm} host-base = <0x80600000>; }}; c {{ {vm} }}; }}; }};"
    image = read_image(builder.build(head + tail).files["tessera.bin"])
    assert [vm.regions[0]["hpa"] for vm in image.vms] == [0x80E00000, 0x80600000, 0x81600000]


def test_the_same_source_gives_the_same_image(builder):
    assert builder.build(SYSTEM).files == builder.build(SYSTEM).files


@pytest.mark.parametrize("damage", ["magic", "size", "checksum"])
def test_reader_detects_damage(builder, damage):
    """The reader, on which the tests above rely, detects damage."""
    data = bytearray(builder.build(SYSTEM).files["tessera.bin"])
    if damage == "magic":
        data[0] ^= 1
    elif damage == "size":
        data += b"\0"
    else:
        data[layout.HEADER.size] ^= 1
    with pytest.raises(AssertionError):
        read_image(bytes(data))


def test_tables_beyond_the_hypervisors_limits(builder, monkeypatch):
    """The final check of the builder, in case an earlier check is missing."""
    monkeypatch.setattr(layout, "MAX_LOADS", 2)
    assert builder.refuse(SYSTEM) == ["/vms/one: expected at most 2 loads in a VM's tables, got 3"]


def test_records_of_emulated_devices(builder):
    vm = 'memory-size = <0x400000>; image = "image"; sign-of-life = "up";'
    builder.file("image", b"x")
    head = '/dts-v1/; / { compatible = "tessera,system"; board = "qemu-virt"; harts = <1>; vms { '
    image = read_image(builder.build(f"{head} a {{ {vm} }}; b {{ {vm} pvpanic; }}; }}; }};").files["tessera.bin"])
    (record,) = [image.sections[layout.DEVICES_TAG]]
    assert layout.DEVICE.unpack(record, 0) == {"kind": PANIC.kind, "vm": 1, "gpa": PANIC.base, "irq": 0, "reserved": 0}
    assert len(record) == layout.DEVICE.size
    none = read_image(builder.build(f"{head} a {{ {vm} }}; }}; }};").files["tessera.bin"])
    assert layout.DEVICES_TAG not in none.sections
