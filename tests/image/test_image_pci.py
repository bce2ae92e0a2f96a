# SPDX-License-Identifier: Apache-2.0
"""Virtual PCI functions: their section of the image, disks, the guests' device trees, the manifest; invalid systems."""

import itertools
import json
import re
import struct
from pathlib import Path

import pytest
from fixtures import changed, read_cases
from image_reader import read_image

from tessera.fabric.bitstream import simulated
from tessera.image import fdt, layout, virtual
from tessera.image.accel import accel_image
from tessera.image.build import Options, build
from tessera.image.emulated import EMULATED
from tessera.image.layout import align_up
from tessera.image.problems import BuildError
from tessera.image.shared import shared_image
from tessera.image.system import named_files, needed_components
from tessera.image.virtio import virtio_image

MIB = 1 << 20
SYSTEM = Path(__file__).with_name("pci.dts").read_text()
CASES = read_cases(Path(__file__).with_name("refused-pci.txt"))
CONTENT = bytes(range(256)) * 20 + b"end"
NET, BLOCK, ENTROPY, SOCKET, IVSHMEM, CONSOLE, CRYPTO, ACCELERATOR, _, _, DISK_SERVER = virtio_image.MODELS.values()


@pytest.fixture
def disks(builder):
    """The builder, with the files of SYSTEM's disks."""
    builder.file("disk.img", CONTENT)
    builder.file("big.img", bytes(5 * MIB + 1))
    builder.file("empty.img", b"")
    return builder


def section(built):
    """The functions of the image's section: [{field: value}]."""
    data = read_image(built.files["tessera.bin"]).sections[virtio_image.TAG]
    head = virtio_image.IMAGE.unpack(data)
    at, count = head["functions_offset"], head["nfunctions"]
    assert at % 8 == 0
    assert len(data) == at + count * virtio_image.FUNCTION.size <= virtio_image.LARGEST
    return [virtio_image.FUNCTION.unpack(data, at + n * virtio_image.FUNCTION.size) for n in range(count)]


def manifest_of(built):
    return json.loads(built.files["system.json"])


def given(function):
    """The fields of a function that are not 0, without its place and its kind."""
    values = {name: any(value) if isinstance(value, bytes) else value for name, value in function.items()}
    return {name: function[name] for name, value in values.items() if value and name not in ("vm", "slot", "kind")}


def system_of(functions, props="", head=""):
    """A system of one VM with these functions."""
    vm = f'memory-size = <0x400000>; image = "one.bin"; sign-of-life = "up"; {props}'
    top = f'compatible = "tessera,system"; board = "qemu-virt"; harts = <1>; {head}'
    return f"/dts-v1/;\n/ {{ {top} vms {{ vm {{ {vm} pci {{ {functions} }};\n}}; }}; }};\n"


# The layout


def test_addresses_and_interrupts_have_room():
    assert virtual.PCI_IRQ + virtio_image.MAX_FUNCTIONS_PER_VM - 1 <= virtual.PLIC_SOURCES
    assert virtio_image.MAX_FUNCTIONS_PER_VM * virtual.PCI_BAR_SIZE <= virtual.PCI_WINDOW
    assert max(virtual.ACCEL_EVENT_IRQ, virtual.SHARED_IRQ, *(one.irq for one in EMULATED)) < virtual.PCI_IRQ


# The section


def test_functions_in_the_order_of_vms_and_slots(disks):
    functions = section(disks.build(SYSTEM))
    places = [(function["vm"], function["slot"], function["kind"]) for function in functions]
    east = [NET, BLOCK, ENTROPY, SOCKET, IVSHMEM, IVSHMEM]
    west = [BLOCK, NET, NET, BLOCK, SOCKET]
    assert places == [*((1, *one) for one in enumerate(east)), *((2, *one) for one in enumerate(west)), (3, 0, SOCKET)]


def test_uplinks_of_different_vlans(disks):
    """One for each network and VLAN."""
    text = SYSTEM.replace("vlan = <5>;", "vlan = <5>; uplink;").replace(
        'network = "lan";\n\t\t\t\t};', 'network = "lan"; uplink;\n\t\t\t\t};'
    )
    nets = [function for function in section(disks.build(text)) if function["kind"] == NET]
    assert [(net["network"], net["vlan"], net["flags"]) for net in nets] == [
        (1, 5, virtio_image.UPLINK),
        (1, 0, virtio_image.UPLINK),
        (0, 0, 0),
    ]


def test_offloads_of_a_network(disks):
    """All functions of the network have the flag."""
    text = SYSTEM.replace("lan { };", "lan { offloads; };")
    assert text != SYSTEM
    nets = [function for function in section(disks.build(text)) if function["kind"] == NET]
    assert [net["flags"] for net in nets] == [virtio_image.OFFLOADS, virtio_image.OFFLOADS, 0]


def test_fields_of_each_model(disks):
    net, disk, random, socket, low, high = section(disks.build(SYSTEM))[:6]
    limits = {"frames_per_ms": 100, "multicast_per_ms": 7}
    assert given(net) == {"mac": 0x020000000001, "network": 1, "vlan": 5, **limits}
    assert disk["flags"] == virtio_image.READ_ONLY
    assert set(given(disk)) == {"flags", "disk", "disk_size", "content", "content_size"}
    assert given(random) == {}
    assert given(socket) == {"cid": 77, "peers": 1 << 2}
    assert (given(low), given(high)) == ({"shared": 1}, {"shared": 2})


def test_defaults(disks):
    scratch, lan, wan, data, socket, third = section(disks.build(SYSTEM))[6:]
    assert set(given(scratch)) == {"disk", "disk_size"}
    assert given(lan) == {"mac": 0x025400000201, "network": 1}
    assert given(wan) == {"mac": 0x025400000202}
    assert (data["flags"], data["disk_size"], data["content_size"]) == (0, align_up(len(CONTENT), 512), len(CONTENT))
    assert given(socket) == {"cid": 5, "peers": 1 << 1 | 1 << 3}
    assert (given(third), third["vm"]) == ({"cid": 6, "peers": 1 << 2}, 3)


def test_crypto_has_no_properties(builder):
    (function,) = section(builder.build(system_of('aes { model = "virtio-crypto"; };')))
    assert (function["kind"], given(function)) == (CRYPTO, {})


NO_UNIT = 'aes { model = "virtio-crypto"; };'
UNIT = 'aes { model = "virtio-crypto"; unit = "aes128"; unit-priority = <3>; };'
FABRIC = """accelerators {
    qam16 { task = <1>; regions = <0>; bitstreams = "1-0.bin"; };
    aes128 { task = <5>; regions = <0>; bitstreams = "5-0.bin"; };
};"""


def with_bitstreams(builder):
    for task in (1, 5):
        builder.file(f"{task}-0.bin", simulated(0, task, 65))
    return builder


def fabric_rows(built, name, record):
    """An array of the fabric's section."""
    data = read_image(built.files["tessera.bin"]).sections[accel_image.TAG]
    head = accel_image.IMAGE.unpack(data)
    return [record.unpack(data, head[f"{name}_offset"] + n * record.size) for n in range(head[f"n{name}"])]


def test_unit_of_crypto(builder):
    """The device is one of a client of its own, behind those of the VMs, which the hypervisor operates."""
    built = with_bitstreams(builder).build(
        system_of('soft { model = "virtio-crypto"; }; ' + UNIT, "accelerators { qam16 { }; };", FABRIC)
    )
    soft, unit = section(built)
    assert (given(soft), given(unit)) == ({}, {"unit": 2})
    clients, accels = fabric_rows(built, "clients", accel_image.CLIENT), fabric_rows(built, "accels", accel_image.ACCEL)
    assert [(one["vm"], one["operated"]) for one in clients] == [(0, 0), (0, 1)]
    assert [(one["client"], one["device"], one["priority"]) for one in accels] == [(0, 0, 0), (1, 1, 3)]


@pytest.mark.parametrize(
    ("function", "head", "message"),
    [
        (UNIT, "", 'unit: expected the name of a device of /accelerators, got "aes128" (there are none)'),
        (UNIT.replace("aes128", "aes127"), FABRIC, 'got "aes127" (did you mean "aes128"?)'),
        (UNIT.replace("aes128", "qam16"), FABRIC, 'unit: expected a device of task 5, AES-128, got "qam16" of task 1'),
        (UNIT.replace('unit = "aes128";', ""), FABRIC, "unit-priority: expected only with a unit"),
        (UNIT.replace("virtio-crypto", "virtio-rng"), FABRIC, "expected only on a function of model virtio-crypto"),
        (NO_UNIT, FABRIC, "expected a VM with a node accelerators, or a function with a unit, got none"),
    ],
)
def test_refused_units(builder, function, head, message):
    with pytest.raises(BuildError, match=re.escape(message)):
        with_bitstreams(builder).build(system_of(function, head=head))


def test_disks_that_a_vm_serves(disks):
    """They have no memory; the server is named by its place among all functions."""
    text = SYSTEM.replace('model = "virtio-rng";', 'model = "disk-server";').replace(
        "size = <512>;", 'size = <1024>; served-by = "east"; offset = <0x200000>; read-only;'
    )
    built = disks.build(text)
    functions = section(built)
    scratch, server = functions[6], functions[2]
    assert (server["kind"], given(server)) == (DISK_SERVER, {})
    flags = virtio_image.SERVED | virtio_image.READ_ONLY
    assert given(scratch) == {"flags": flags, "disk": 0x200000, "disk_size": 1024, "server": 2}
    function = manifest_of(built)["vms"][2]["functions"][0]
    assert (function["disk"], function["served_by"]) == (None, "east")


def lines_of(*ends):
    """A system of two VMs; each one has consoles with these lines."""
    vms = ""
    for name, lines in zip(("first", "second"), ends, strict=True):
        consoles = "".join(f'c{n} {{ model = "virtio-console"; {line} }};' for n, line in enumerate(lines))
        vms += (
            f'{name} {{ memory-size = <0x400000>; image = "one.bin"; sign-of-life = "up";'
            f' pci {{ random {{ model = "virtio-rng"; }}; {consoles} }}; }};\n'
        )
    return f'/dts-v1/;\n/ {{ compatible = "tessera,system"; board = "qemu-virt"; harts = <1>; vms {{ {vms} }}; }};\n'


def ends_of(functions):
    """The other ends of each console, by its number: function, port, and the line's name."""
    found = {}
    for number, one in enumerate(functions):
        if one["kind"] == CONSOLE:
            others = [(one[f"other_functions[{port}]"], one[f"other_ports[{port}]"]) for port in range(4)]
            names = [one["names"][at : at + 32].rstrip(b"\0").decode() for at in range(0, 128, 32)]
            ends = [(*other, name) for other, name in zip(others, names, strict=True)]
            assert ends[one["ports"] :] == [(0, 0, "")] * (4 - one["ports"])
            found[number] = ends[: one["ports"]]
    return found


def test_lines_of_consoles(builder):
    """Each console names the function that is the other end of its line."""
    functions = section(builder.build(lines_of(['line = "a";', 'line = "b";'], ['line = "b";', 'line = "a";'])))
    assert ends_of(functions) == {1: [(5, 0, "a")], 2: [(4, 0, "b")], 4: [(2, 0, "b")], 5: [(1, 0, "a")]}


def test_consoles_with_several_ports(builder):
    functions = section(builder.build(lines_of(['line = "a", "b", "c";'], ['line = "b";', 'line = "c", "a";'])))
    assert ends_of(functions) == {
        1: [(4, 1, "a"), (3, 0, "b"), (4, 0, "c")],
        3: [(1, 1, "b")],
        4: [(1, 2, "c"), (1, 0, "a")],
    }


@pytest.mark.parametrize(
    ("ends", "message"),
    [
        ((['line = "a";'], []), '/vms/first/pci/c0: line: expected two functions with the line "a", got 1'),
        (
            (['line = "a";', 'line = "a";'], ['line = "a";']),
            '/vms/second/pci/c0: line: expected two functions with the line "a", got 3',
        ),
        (
            (['line = "a", "a";'], []),
            '/vms/first/pci/c0: line: expected a list of different names of lines, got "a" twice',
        ),
        ((['line = "";'], []), '/vms/first/pci/c0: line: expected names of 1 to 31 printable ASCII characters, got ""'),
        (
            (['line = "a", "b", "c", "d", "e";'], ['line = "a", "b", "c", "d";', 'line = "e";']),
            "/vms/first/pci/c0: line: expected at most 4 lines, got 5",
        ),
        (([""], []), "/vms/first/pci/c0: line: missing; expected the name of a line"),
        ((['line = "a"; cid = <3>;'], ['line = "a";']), "/vms/first/pci/c0: cid: expected only on a function of model"),
    ],
)
def test_refused_lines(builder, ends, message):
    with pytest.raises(BuildError) as error:
        builder.build(lines_of(*ends))
    assert message in str(error.value)


def test_peers_need_each_other(disks):
    """Packets pass between VMs that name each other: the others have all VMs as their peers, and the first one only
    the third."""
    functions = section(disks.build(changed(SYSTEM, [('peers = "west";', 'peers = "third";')])))
    sockets = {function["vm"]: function["peers"] for function in functions if function["kind"] == SOCKET}
    assert sockets == {1: 1 << 3, 2: 1 << 3, 3: 1 << 1 | 1 << 2}


def test_a_system_without_functions_has_no_section(builder):
    plain = re.sub(r"\n\t\t\tpci \{.*?\n\t\t\t\};", "", SYSTEM, flags=re.DOTALL)
    plain = re.sub(r"\n\tnetworks \{.*?\n\t\};", "", plain, flags=re.DOTALL)
    built = builder.build(plain)
    assert read_image(built.files["tessera.bin"]).sections == {}
    assert b"pci" not in built.files["east.dts"]
    manifest = manifest_of(built)
    assert manifest["networks"] == manifest["vms"][1]["functions"] == []


def test_beside_the_other_sections(builder):
    assert len({accel_image.TAG, shared_image.TAG, virtio_image.TAG}) <= layout.MAX_SECTIONS
    text = system_of(
        'r { model = "virtio-rng"; };', "shared-devices { gpio { pins = <1>; }; };", "shared-devices { gpio { }; };"
    )
    assert list(read_image(builder.build(text).files["tessera.bin"]).sections) == [shared_image.TAG, virtio_image.TAG]


# Disks


def test_content_of_disks_is_stored_once(disks):
    built = disks.build(SYSTEM)
    image = read_image(built.files["tessera.bin"])
    stored = [function for function in section(built) if function["content"]]
    assert len(stored) == 2
    (at,) = {function["content"] for function in stored}
    assert at % 4096 == 0
    assert at >= image.header["config_size"]
    assert image.data[at : at + len(CONTENT)] == CONTENT
    assert bytes(image.data).count(CONTENT) == 1


def disks_of(manifest):
    """The disks of a manifest by VM and slot."""
    return {(vm["id"], one["slot"]): one["disk"] for vm in manifest["vms"] for one in vm["functions"] if one["disk"]}


def test_manifest_has_the_disks_of_the_section(disks):
    built = disks.build(SYSTEM)
    found = {place: (disk["host"], disk["size"]) for place, disk in disks_of(manifest_of(built)).items()}
    expected = [one for one in section(built) if one["kind"] == BLOCK]
    assert found == {(one["vm"], one["slot"]): (one["disk"], one["disk_size"]) for one in expected}


def test_memory_of_disks(disks):
    """Aligned, inside the board's RAM, and apart from all other memory."""
    manifest = manifest_of(disks.build(SYSTEM))
    spans = [(disk["host"], align_up(disk["size"], 2 * MIB)) for disk in disks_of(manifest).values()]
    assert len(spans) == 3
    assert all(start % (2 * MIB) == 0 for start, _ in spans)
    memory = [one["memory"] for one in (*manifest["vms"], *manifest["shared"])]
    spans += [(one["host"], one["size"]) for one in memory]
    spans.append((manifest["load_address"], manifest["image"]["size"]))
    spans.append((manifest["ram"]["base"] + manifest["ram"]["size"], 0))
    assert all(start + size <= after for (start, size), (after, _) in itertools.pairwise(sorted(spans)))


def test_disk_of_all_free_memory(builder):
    """The bound of the system image leaves the rest of the RAM."""
    free = 0x20000000 - 0x200000 - 3 * 2 * MIB
    text = system_of(f'd {{ model = "virtio-blk"; size = <{free:#x}>; }};')
    (disk,) = section(builder.build(text))
    assert (disk["disk"], disk["disk_size"]) == (0xA0000000 - free, free)
    (line,) = builder.refuse(text.replace(f"<{free:#x}>", f"<{free + 512:#x}>"))
    assert line.startswith("sys.dts:2: /vms/vm/pci/d: size: expected at most ")


def test_content_counts_for_the_end_of_the_image(builder):
    builder.file("disk.img", bytes(range(251)) * 40000)
    built = builder.build(system_of('d { model = "virtio-blk"; image = "disk.img"; };'))
    end = 0x80200000 + len(built.files["tessera.bin"])
    assert end <= built.system.vms[0].host_base
    (disk,) = section(built)
    assert disk["disk"] >= built.system.vms[0].host_base + 4 * MIB


def test_make_builds_the_content_of_disks(disks):
    disks.source.write_text(SYSTEM)
    names = [path.name for path in named_files(disks.source, (disks.guests,))]
    assert names == ["one.bin", "two.bin", "disk.img"]


# Device trees and the manifest


def tree(built, vm):
    nodes = {}
    for value in fdt.values(built.files[f"{vm}.dtb"]):
        nodes.setdefault(value.path, {})[value.name] = value.data
    return nodes


def rows(data, length):
    cells = struct.unpack(f">{len(data) // 4}I", data)
    return [cells[at : at + length] for at in range(0, len(cells), length)]


def test_host_bridge(disks):
    nodes = tree(disks.build(SYSTEM), "east")
    bridge = nodes["/pci@30000000"]
    assert bridge["compatible"] == b"pci-host-ecam-generic\0"
    assert bridge["device_type"] == b"pci\0"
    assert rows(bridge["reg"], 4) == [(0, 0x30000000, 0, 0x100000)]
    assert rows(bridge["bus-range"], 2) == [(0, 0)]
    cells = ("#address-cells", "#size-cells", "#interrupt-cells")
    assert [rows(bridge[name], 1) for name in cells] == [[(3,)], [(2,)], [(1,)]]
    assert bridge["dma-coherent"] == b""
    assert nodes["/chosen"]["linux,pci-probe-only"] == struct.pack(">I", 1)


def test_windows_of_the_bus(disks):
    """Bars, and the regions of ivshmem at their own addresses: 32 bits of them, or 64."""
    nodes = tree(disks.build(SYSTEM), "east")
    assert rows(nodes["/pci@30000000"]["ranges"], 7) == [
        (0x02000000, 0, 0x40000000, 0, 0x40000000, 0, 0x200000),
        (0x02000000, 0, 0xA0000000, 0, 0xA0000000, 0, 0x400000),
        (0x03000000, 1, 0x00200000, 1, 0x00200000, 0, 0x200000),
    ]
    nodes = tree(disks.build(SYSTEM), "west")
    assert len(rows(nodes["/pci@30000000"]["ranges"], 7)) == 1


@pytest.mark.parametrize(("vm", "count"), [("east", 6), ("west", 5), ("third", 1)])
def test_interrupts_of_functions(disks, vm, count):
    nodes = tree(disks.build(SYSTEM), vm)
    bridge, plic = nodes["/pci@30000000"], struct.unpack(">I", nodes["/soc/plic@c000000"]["phandle"])[0]
    assert rows(bridge["interrupt-map-mask"], 4) == [(0xF800, 0, 0, 7)]
    assert rows(bridge["interrupt-map"], 6) == [(slot << 11, 0, 0, 1, plic, 24 + slot) for slot in range(count)]


def test_guests_without_functions_have_no_bus(disks):
    nodes = tree(disks.build(SYSTEM), "plain")
    assert "/pci@30000000" not in nodes
    assert "linux,pci-probe-only" not in nodes["/chosen"]


def test_bus_is_not_behind_the_translation_of_passed_through_devices(builder):
    text = system_of('r { model = "virtio-rng"; };', 'devices = "virtio-mmio0";')
    nodes = tree(builder.build(text), "vm")
    assert "dma-ranges" in nodes["/soc"]
    assert "/pci@30000000" in nodes


def test_manifest(disks):
    manifest = manifest_of(disks.build(SYSTEM))
    assert manifest["networks"] == ["wan", "lan"]
    functions = manifest["vms"][1]["functions"]
    none = dict.fromkeys(("network", "mac", "cid", "shared", "device", "disk", "served_by", "host"))
    net = {"name": "net0", "model": "virtio-net", "slot": 0, "interrupt": 24}
    assert functions[0] == {**none, **net, "network": "lan", "mac": "02:00:00:00:00:01"}
    assert functions[1]["disk"]["content"]["size"] == len(CONTENT)
    assert (functions[3]["cid"], functions[4]["shared"]) == (77, "low")
    assert manifest["vms"][3]["mmio"][-2:] == [
        {"name": "pci", "base": 0x30000000, "size": 0x100000},
        {"name": "socket", "base": 0x40000000, "size": 0x4000},
    ]
    assert manifest["vms"][1]["mmio"][-1] == {"name": "board", "base": 0x40014000, "size": 0x4000}


# Invalid systems


@pytest.mark.parametrize("name", CASES)
def test_refused(disks, name):
    changes, expected = CASES[name]
    assert disks.refuse(changed(SYSTEM, changes)) == expected


def test_number_of_cases():
    assert len(CASES) >= 40
    assert all(changes and expected for changes, expected in CASES.values())


def test_component_that_the_hypervisor_lacks(disks):
    disks.source.write_text(SYSTEM)
    assert needed_components(disks.source) == ["virtio"]

    def options(*components):
        return Options(disks.source, None, (disks.guests,), disks.platform, components=components)

    with pytest.raises(BuildError) as refusal:
        build(options("ipc"))
    nodes = re.findall(r"sys\.dts:\d+: (\S+): (.*)", str(refusal.value))
    expected = "expected a hypervisor with the component virtio, got one with ipc (HYP_COMPONENTS)"
    assert nodes == [
        (path, expected) for path in ("/networks", *(f"/vms/{vm}/pci" for vm in ("east", "west", "third")))
    ]
    assert build(options("ipc", "virtio")).system.disks


def test_boards_whose_guests_have_no_plic(disks):
    lines = disks.refuse(SYSTEM.replace('"qemu-virt"', '"m5150"'))
    expected = "expected only where guests have a PLIC, got it on mips"
    line = SYSTEM.split("\n").index("\t\t\tpci {") + 1
    assert f"sys.dts:{line}: /vms/east/pci: {expected}" in lines


def test_most_functions(builder):
    """Eight functions of a VM, and 32 in all."""
    most = virtio_image.MAX_FUNCTIONS_PER_VM
    text = system_of(" ".join(f'r{n} {{ model = "virtio-rng"; }};' for n in range(most)))
    built = builder.build(text)
    assert len(section(built)) == most
    assert rows(tree(built, "vm")["/pci@30000000"]["interrupt-map"], 6)[-1][5] == virtual.PLIC_SOURCES
    assert builder.refuse(text.replace("pci {", 'pci { more { model = "virtio-rng"; };')) == [
        "sys.dts:2: /vms/vm/pci/r7: expected at most 8 PCI functions of a VM, got 9"
    ]
    (vm,) = re.findall(r" vm (\{.*?\n\});", text, flags=re.DOTALL)
    four = "".join(f" v{n} {vm};" for n in range(4))
    assert len(section(builder.build(text.replace(f" vm {vm};", four)))) == virtio_image.MAX_FUNCTIONS
    one = re.sub(r"pci \{.*\};\n", 'pci { last { model = "virtio-rng"; }; };\n', vm)
    (line,) = builder.refuse(text.replace(f" vm {vm};", f"{four} v4 {one};"))
    assert line.endswith("/vms/v4/pci/last: expected at most 32 PCI functions in all VMs, got 33")


def test_most_networks(builder):
    names = [f"n{n}" for n in range(virtio_image.MAX_NETWORKS + 1)]
    networks = "networks {" + " ".join(f"{name} {{ }};" for name in names) + " };"
    lines = builder.refuse(system_of('r { model = "virtio-rng"; };', head=networks))
    assert "sys.dts:2: /networks/n16: expected at most 16 networks, got 17" in lines


def test_interrupt_that_a_device_has(builder):
    changes = [("\t\t\tinterrupt = <1>;", "\t\t\tinterrupt = <24>;")]
    path = builder.make_board(*changes)
    path.write_text(re.sub(r"\t(fabric|shared-devices) \{.*?\n\t\};\n", "", path.read_text(), flags=re.DOTALL))
    text = system_of('r { model = "virtio-rng"; };', 'devices = "virtio-mmio0";').replace('"qemu-virt"', '"alt"')
    assert builder.refuse(text) == [
        "sys.dts:2: /vms/vm: devices: expected interrupts other than those of the PCI functions, "
        "got virtio-mmio0, whose interrupt 24 /vms/vm/pci/r has"
    ]


def test_addresses_that_a_device_has(builder):
    path = builder.make_board(("base = <0x10001000>;", "base = <0x40001000>;"))
    assert path.is_file()
    text = system_of('r { model = "virtio-rng"; };', 'devices = "virtio-mmio0";').replace('"qemu-virt"', '"alt"')
    assert builder.refuse(text) == [
        "sys.dts:2: /vms/vm: devices: expected guest-physical addresses that do not overlap, "
        "got the PCI BARs at 0x40000000..0x40200000 and virtio-mmio0 at 0x40001000..0x40002000"
    ]
