# SPDX-License-Identifier: Apache-2.0
"""Writes the binary system image of a placed system, as core/include/sysimage.h describes it."""

import sys
import zlib
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate

from tessera.image import layout, virtual
from tessera.image.components import payloads_of, sections_of
from tessera.image.emulated import FINISHER, RTC
from tessera.image.fixups import Fixup, find_seed
from tessera.image.layout import PAGE, align_up
from tessera.image.model import System, Vm
from tessera.image.problems import BuildError
from tessera.image.rt.limits import limit_fields
from tessera.image.vm_schema import COLOURS


class _Tables:
    """The tables that follow the header: records are appended, each array aligned to 8 bytes."""

    def __init__(self, start: int) -> None:
        self.start = start
        self.data = bytearray()
        self.sections = (0, 0)  # their number, and the offset of their array

    @property
    def end(self) -> int:
        return self.start + len(self.data)

    def reserve(self, size: int) -> int:
        """Appends `size` zero bytes, aligned to 8; returns their offset from the image's start."""
        self.data += bytes(align_up(self.end, 8) - self.end)
        offset = self.end
        self.data += bytes(size)
        return offset

    def put(self, offset: int, data: bytes) -> None:
        self.data[offset - self.start : offset - self.start + len(data)] = data

    def array(self, records: list[bytes]) -> tuple[int, int]:
        """Appends an array; returns its number of records and its offset (0 if empty)."""
        data = b"".join(records)
        if not data:
            return 0, 0
        offset = self.reserve(len(data))
        self.put(offset, data)
        return len(records), offset


def word_sums(data: bytes) -> tuple[int, int]:
    """The checksum of a payload, padded with zeros to a multiple of 8, as core/include/lib.h
    describes it."""
    words = array("I", data + bytes(-len(data) % 8))
    if sys.byteorder == "big":
        words.byteswap()
    return sum(words) % 2**64, sum(accumulate(words)) % 2**64


@dataclass
class _Payloads:
    """
    The payloads, stored once each: VMs with the same image share one payload. `offsets` count from
    the first payload; `sums` are the checksums.
    """

    offsets: dict[bytes, int]
    sums: dict[bytes, tuple[int, int]]
    data: bytearray

    def add(self, data: bytes) -> int:
        if data not in self.offsets:
            self.offsets[data] = len(self.data)
            self.sums[data] = word_sums(data)
            self.data += data + bytes(align_up(len(data), PAGE) - len(data))
        return self.offsets[data]


def build_image(system: System, fixups: dict[str, list[Fixup]]) -> bytes:
    """Returns the image. `fixups` holds the fixups by VM name; the VMs' loads hold the compiled
    device trees."""
    payloads = _Payloads({}, {}, bytearray())
    for vm in system.vms:
        for load in vm.loads:
            payloads.add(load.data)
    for data in payloads_of(system):
        payloads.add(data)
    # Payload offsets depend on the size of the tables, which does not depend on the offsets: build
    # the tables twice.
    tables = _tables(system, fixups, payloads, 0)
    first_payload = align_up(tables.end, PAGE)
    tables = _tables(system, fixups, payloads, first_payload)
    payload_end = align_up(first_payload + len(payloads.data), 8)
    total = payload_end + 8
    head = _header(system, tables, total, checksum=0)
    checksum = zlib.crc32((head + tables.data)[layout.CHECKSUM_FROM :])
    head = _header(system, tables, total, checksum)
    image = bytearray(head + tables.data + bytes(first_payload - tables.end) + payloads.data)
    image += bytes(payload_end - len(image)) + layout.END.to_bytes(8, "little")
    return bytes(image)


def _header(system: System, tables: _Tables, total: int, checksum: int) -> bytes:
    costs = system.board.rt_costs(system.harts, system.has_functions)
    return layout.HEADER.pack(
        magic=layout.MAGIC,
        version=layout.VERSION,
        checksum=checksum,
        total_size=total,
        config_size=tables.end,
        nvms=len(system.vms),
        vms_offset=tables.start,
        machine_mask=sum(1 << layout.FEATURES.index(name) for name in system.machine_mask),
        timebase_hz=system.board.timebase_hz,
        rt_release_ns=costs.release_ns,
        rt_switch_ns=costs.switch_ns,
        rt_blocked_ns=costs.blocked_ns,
        ram_base=system.board.ram_base,
        ram_size=system.ram_end - system.board.ram_base,
        name=system.name.encode(),
        be_reserve_us=system.node["be-reserve-us"][0],
        be_late_us=system.node["be-reserve-us"][1],
        nsections=tables.sections[0],
        sections_offset=tables.sections[1],
        **system.node.fields,
    )


def _tables(system: System, fixups: dict[str, list[Fixup]], payloads: _Payloads, first_payload: int) -> _Tables:
    tables = _Tables(layout.HEADER.size)
    vms = tables.reserve(layout.VM.size * len(system.vms))
    for index, vm in enumerate(system.vms):
        arrays = {
            "regions": tables.array(_regions(vm)),
            "loads": tables.array([_load(load.gpa, load.data, payloads, first_payload) for load in vm.loads]),
            "irqs": tables.array([layout.IRQ.pack(host=host, guest=guest) for host, guest in vm.irqs]),
            "fixups": tables.array([_fixup(fixup, len(vm.loads) - 1) for fixup in fixups[vm.name]]),
        }
        tables.put(vms + index * layout.VM.size, _vm(system, vm, arrays))
    _add_sections(tables, system, lambda data: first_payload + payloads.offsets[data])
    return tables


def _add_sections(tables: _Tables, system: System, offset_of: Callable[[bytes], int]) -> None:
    records = []
    for section in sections_of(system):
        data = section.write(system, offset_of)
        offset = tables.reserve(len(data))
        tables.put(offset, data)
        records.append(layout.SECTION.pack(tag=section.tag, offset=offset, size=len(data), reserved=0))
    tables.sections = tables.array(records)


def _vm(system: System, vm: Vm, arrays: dict[str, tuple[int, int]]) -> bytes:
    node, names = vm.node, [one.name for one in system.vms]
    numbers: dict[str, int | bytes] = {}
    for name, (count, offset) in arrays.items():
        limit = getattr(layout, f"MAX_{name.upper()}")
        if count > limit:
            raise BuildError(f"{node.path}: expected at most {limit} {name} in a VM's tables, got {count}")
        numbers[f"n{name}"], numbers[f"{name}_offset"] = count, offset
    heard = vm.has_uart and not node["uart-polled"] and (vm.has_plic or not vm.machine.has_plic)
    return layout.VM.pack(
        name=vm.name.encode(),
        flags=_flags(vm),
        colour=COLOURS[vm.colour],
        rt_launchers=_mask(names, node["rt-launchers"]),
        send_to=_mask(names, node["may-send-to"]),
        uart_irq=vm.machine.uart_irq if heard else 0,
        entry=vm.entry,
        dtb=vm.dtb_address,
        seed=_seed(vm),
        **node.fields,
        **limit_fields(system.node, node),
        **_emulated(vm),
        **numbers,
    )


def _emulated(vm: Vm) -> dict[str, int | bytes]:
    """The addresses of the emulated devices, 0 for what the VM lacks."""
    return {
        "uart": vm.machine.uart_base if vm.has_uart else 0,
        "irqchip": virtual.PLIC_BASE if vm.has_plic else 0,
        "finisher": FINISHER.base if FINISHER in vm.emulated else 0,
        "rtc": RTC.base if RTC in vm.emulated else 0,
        "rtc_irq": vm.emulated.get(RTC, 0),
    }


def _seed(vm: Vm) -> int:
    """Returns the guest-physical address of rng-seed in the device tree, 0 if the tree has none."""
    offset = find_seed(vm.loads[-1].data)
    return vm.dtb_address + offset if offset else 0


def _mask(names: list[str], wanted: tuple[str, ...]) -> int:
    return sum(1 << names.index(name) for name in wanted)


def _flags(vm: Vm) -> int:
    node = vm.node
    return (
        (0 if node["manual-start"] else layout.VM_AUTOSTART)
        | (layout.VM_RESTART_FATAL if node["on-fatal"] == "restart" else 0)
        | (layout.VM_FOCUS if node["keyboard"] else 0)
    )


def _regions(vm: Vm) -> list[bytes]:
    ram = [(vm.memory_base, vm.host_base, vm.memory_size, layout.REGION_RAM, 0)]
    kinds = {True: layout.REGION_RAM, False: layout.REGION_DMA}
    ram += [(one.base, one.host_base, one.size, kinds[one.is_ram], 0) for one in vm.memory]
    devices = [(device.base, device.base, device.size, layout.REGION_MMIO, device.reset) for device in vm.devices]
    shared = [(one.base, one.host_base, one.size, layout.REGION_SHARED, one.id) for one in vm.shared]
    return [
        layout.REGION.pack(gpa=gpa, hpa=hpa, size=size, kind=kind, detail=detail)
        for gpa, hpa, size, kind, detail in (*ram, *devices, *shared)
    ]


def _load(gpa: int, data: bytes, payloads: _Payloads, first_payload: int) -> bytes:
    words, sums = payloads.sums[data]
    return layout.LOAD.pack(
        gpa=gpa, offset=first_payload + payloads.offsets[data], size=len(data), words=words, sums=sums
    )


def _fixup(fixup: Fixup, load: int) -> bytes:
    return layout.FIXUP.pack(
        feature=fixup.feature, load=load, offset=fixup.offset, size=len(fixup.data), bytes=fixup.data.ljust(16, b"\0")
    )
