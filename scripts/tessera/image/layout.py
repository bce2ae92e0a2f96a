# SPDX-License-Identifier: Apache-2.0
"""The binary layout of the system image.

This is core/include/sysimage.h in Python. tests/image/test_image_layout.py compiles the header and
compares every offset, size, limit and enumerator, so that header and module stay equal.
"""

import struct
from dataclasses import dataclass

MAGIC = 0x3141524553534554
END = 0x444E455353455431
VERSION = 8

QUANTUM_MAX_US = 1000000
MAX_VMS = 16
MOST_VMS = 32  # of any build: the VMs that may send to or launch in a VM are bits of a 32-bit word
MAX_VCPUS_PER_VM = 8
MAX_RT_APPS = 64
MAX_VCPUS = 96
MAX_HARTS = 8
MAX_REGIONS = 8
MAX_SHARED = 32
MAX_LOADS = 8
MAX_IRQS = 8
MAX_SECTIONS = 4
MAX_FIXUPS = 176
NAME_LEN = 16
MAX_TRACE_KIB = 16384
MAX_IRQS_PER_MS = 1000
IRQ_BURST = 4

FEATURES = (
    "sstc",
    "htimedelta",
    "htinst",
    "envcfg",
    "svpbmt",
    "svadu",
    "zicbom",
    "zicboz",
    "zba",
    "zbb",
    "zbs",
    "svinval",
    "zawrs",
    "seed",
)

VM_AUTOSTART = 1 << 0
VM_RESTART_FATAL = 1 << 1
VM_FOCUS = 1 << 2

REGION_RAM = 0
REGION_MMIO = 1
REGION_SHARED = 2
REGION_DMA = 3

PAGE = 0x1000
CHECKSUM_FROM = 16  # the checksum covers the bytes that follow the checksum field


@dataclass(frozen=True)
class Record:
    """A C structure without padding: fields of `struct` format codes."""

    name: str
    fields: tuple[tuple[str, str], ...]

    @property
    def size(self) -> int:
        return struct.calcsize(self._format())

    def offset(self, field: str) -> int:
        index = [name for name, _ in self.fields].index(field)
        return struct.calcsize("<" + "".join(code for _, code in self.fields[:index]))

    def pack(self, **values: int | bytes) -> bytes:
        """Returns the record's bytes; every field must be given."""
        if set(values) != {name for name, _ in self.fields}:
            raise ValueError(f"{self.name}: fields {sorted(values)} are not those of the record")
        return struct.pack(self._format(), *(values[name] for name, _ in self.fields))

    def unpack(self, data: bytes, offset: int = 0) -> dict[str, int | bytes]:
        values = struct.unpack_from(self._format(), data, offset)
        return dict(zip((name for name, _ in self.fields), values, strict=True))

    def _format(self) -> str:
        return "<" + "".join(code for _, code in self.fields)


HEADER = Record(
    "sysimage_header",
    (
        ("magic", "Q"),
        ("version", "I"),
        ("checksum", "I"),
        ("total_size", "Q"),
        ("config_size", "I"),
        ("nharts", "I"),
        ("nvms", "I"),
        ("vms_offset", "I"),
        ("quantum_us", "I"),
        ("machine_mask", "I"),
        ("timebase_hz", "Q"),
        ("rt_release_ns", "I"),
        ("rt_switch_ns", "I"),
        ("rt_blocked_ns", "I"),
        ("trace_kib", "I"),
        ("ram_base", "Q"),
        ("ram_size", "Q"),
        ("name", "32s"),
        ("be_reserve_us", "I"),
        ("be_late_us", "I"),
        ("nsections", "I"),
        ("sections_offset", "I"),
    ),
)

SECTION = Record("sysimage_section", (("tag", "I"), ("offset", "I"), ("size", "I"), ("reserved", "I")))

VM = Record(
    "sysimage_vm",
    (
        ("name", f"{NAME_LEN}s"),
        ("flags", "I"),
        ("colour", "I"),
        ("nvcpus", "I"),
        ("rt_apps", "I"),
        ("rt_launchers", "I"),
        ("uart_irq", "I"),
        ("send_to", "I"),
        ("message_irq", "I"),
        ("watchdog_ms", "I"),
        ("restart_pause_max_ms", "I"),
        ("entry", "Q"),
        ("dtb", "Q"),
        ("uart", "Q"),
        ("irqchip", "Q"),
        ("nregions", "I"),
        ("regions_offset", "I"),
        ("nloads", "I"),
        ("loads_offset", "I"),
        ("nirqs", "I"),
        ("irqs_offset", "I"),
        ("nfixups", "I"),
        ("fixups_offset", "I"),
        ("rt_harts", "I"),
        ("rt_share_max", "I"),
        ("rt_budget_max_us", "I"),
        ("rt_period_max_us", "I"),
        ("finisher", "Q"),
        ("rtc", "Q"),
        ("seed", "Q"),
        ("rtc_irq", "I"),
        ("irqs_per_ms", "I"),
    ),
)

REGION = Record("sysimage_region", (("gpa", "Q"), ("hpa", "Q"), ("size", "Q"), ("kind", "I"), ("detail", "I")))
LOAD = Record("sysimage_load", (("gpa", "Q"), ("offset", "Q"), ("size", "Q"), ("words", "Q"), ("sums", "Q")))
IRQ = Record("sysimage_irq", (("host", "I"), ("guest", "I")))
FIXUP = Record(
    "sysimage_fixup",
    (("feature", "I"), ("load", "I"), ("offset", "I"), ("size", "I"), ("bytes", "16s")),
)

RECORDS = (HEADER, SECTION, VM, REGION, LOAD, IRQ, FIXUP)

# Upper bound of the bytes of one VM's tables.
LARGEST_VM = VM.size + MAX_REGIONS * REGION.size + MAX_LOADS * LOAD.size + MAX_IRQS * IRQ.size + MAX_FIXUPS * FIXUP.size


def align_up(value: int, step: int) -> int:
    return (value + step - 1) // step * step


def align_down(value: int, step: int) -> int:
    return value // step * step
