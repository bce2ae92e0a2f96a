# SPDX-License-Identifier: Apache-2.0
"""The devices that the hypervisor emulates for a guest, besides UART and interrupt controller: everything that the
image builder knows of one, in one place. docs/architecture.md lists the steps to add one."""

from dataclasses import dataclass

from tessera.cheader import read_header
from tessera.image.nodes import Prop
from tessera.image.prop_types import Flag
from tessera.image.validate import Read


@dataclass(frozen=True)
class Emulated:
    """
    A device. `node`: its node in the guest's device tree, without the address. `irq`: its source of the VM's interrupt
    controller, 0: none. `prop`: the property of a VM that leaves the device out, if its name starts with "no-", or
    adds it. `kind`: `kind` of its record in the system image (struct sysimage_device); 0: struct sysimage_vm has its
    address in a field of its name.
    """

    name: str
    node: str
    compatible: tuple[str, ...]
    base: int
    size: int
    prop: Prop
    irq: int = 0
    kind: int = 0

    @property
    def is_default(self) -> bool:
        """Whether a VM has the device unless its property leaves it out."""
        return self.prop.name.startswith("no-")

    def is_wanted(self, properties: Read) -> bool:
        """Returns whether a VM with these properties has the device."""
        wanted: bool = properties[self.prop.name] != self.is_default
        return wanted


FINISHER = Emulated(
    "finisher",
    "finisher: test",
    ("sifive,test1", "sifive,test0", "syscon"),
    0x100000,
    0x1000,
    Prop("no-finisher", Flag(), "No emulated test finisher.", default=False),
)
RTC = Emulated(
    "rtc",
    "rtc",
    ("google,goldfish-rtc",),
    0x101000,
    0x1000,
    Prop("no-rtc", Flag(), "No emulated clock.", default=False),
    irq=11,
)

PANIC = Emulated(
    "pvpanic",
    "pvpanic",
    ("qemu,pvpanic-mmio",),
    0x102000,
    0x8,
    Prop(
        "pvpanic",
        Flag(),
        "An emulated pvpanic device, by which a guest reports that its kernel has panicked: the VM stops or restarts "
        "(`on-fatal`).",
        default=False,
        component="compat",
    ),
    kind=read_header("arch/riscv/compat/compat_image.h").constant("PANIC_KIND"),
)

EMULATED = (FINISHER, RTC, PANIC)
