# SPDX-License-Identifier: Apache-2.0
"""The binary layout of the system image, read from core/include/sysimage.h: `layout.MAX_VMS` is SYSIMAGE_MAX_VMS."""

from tessera.cheader import read_header

_HEADER = read_header("core/include/sysimage.h")

HEADER, SECTION, VM, REGION, LOAD, IRQ, FIXUP, DEVICE = (
    _HEADER.records[f"sysimage_{name}"]
    for name in ("header", "section", "vm", "region", "load", "irq", "fixup", "device")
)

# Names of the machine's optional features, by their numbers.
FEATURES = tuple(
    name for name in read_header("arch/riscv/include/features.h").numbered("RISCV_FEATURE_") if name != "count"
)

MOST_VMS = 32  # of any build: the VMs that may send to or launch in a VM are bits of a 32-bit word
PAGE = 0x1000
CHECKSUM_FROM = HEADER.offset("checksum") + 4  # the checksum covers the bytes that follow it


# Upper bound of the bytes of one VM's tables.
LARGEST_VM = VM.size + sum(
    _HEADER.constant(f"SYSIMAGE_MAX_{name}") * record.size
    for name, record in {"REGIONS": REGION, "LOADS": LOAD, "IRQS": IRQ, "FIXUPS": FIXUP}.items()
)


def __getattr__(name: str) -> int:
    return _HEADER.constant(f"SYSIMAGE_{name}")


def align_up(value: int, step: int) -> int:
    return (value + step - 1) // step * step


def align_down(value: int, step: int) -> int:
    return value // step * step
