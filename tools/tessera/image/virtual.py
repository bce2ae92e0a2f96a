# SPDX-License-Identifier: Apache-2.0
"""The guest-physical addresses of a VM's devices, as docs/virtual-platform.md specifies them; those of further emulated
devices are in emulated.py."""

from dataclasses import dataclass

from tessera.cheader import read_header

UART_BASE = 0x10000000
UART_SIZE = 0x1000  # the page that traps; the registers are the first 0x100
UART_REGISTERS = 0x100
UART_IRQ = 10
UART_CLOCK_HZ = 3686400

PLIC_BASE = 0x0C000000
PLIC_SIZE = 0x600000
PLIC_SOURCES = 31

# The pages of the fabric's devices (abi/accel_abi.h): that of device d is at ACCEL_BASE + d * ACCEL_SIZE in every VM
# that may use it, and traps or is mapped, as the component accel decides. ACCEL_IRQ is the interrupt of the VM's
# devices, ACCEL_EVENT_IRQ that of the component's events.
ACCEL_BASE, ACCEL_SIZE, ACCEL_IRQ, ACCEL_EVENT_IRQ = (
    read_header("abi/accel_abi.h").constant(f"ACCEL_{name}") for name in ("PAGES", "PAGE", "IRQ", "EVENT_IRQ")
)
ACCEL_PAGES = read_header("devices/accel/include/accel_image.h").constant("ACCEL_MAX_DEVICES")

# The pages of shared devices: that of device n (shared_image.h) is at SHARED_BASE + n * SHARED_PAGE in every VM
# that may use it.
SHARED_BASE = 0x18200000
SHARED_PAGE = 0x1000
SHARED_IRQ = 23  # the interrupt of the VM's shared devices

# The VM's virtual PCI bus (devices/virtio/include/virtio_image.h).
_VIRTIO = read_header("devices/virtio/include/virtio_image.h")
PCI_ECAM, PCI_ECAM_SIZE, PCI_BARS, PCI_BAR_SIZE, PCI_HOST_BARS, PCI_HOST_WINDOW, PCI_IRQ = (
    _VIRTIO.constant(f"VIRTIO_{name}")
    for name in ("ECAM", "ECAM_SIZE", "BARS", "BAR_SIZE", "HOST_BARS", "HOST_WINDOW", "IRQ")
)
PCI_WINDOW = 0x200000  # bytes from PCI_BARS on that the bridge forwards to the bus

IMAGE_OFFSET = 0x200000  # default image-address, from the start of RAM

# The device tree is in the last DTB_ROOM bytes of the RAM, as on QEMU's virt: far from the memory
# after the guest's image, and boot loaders copy it from there before they use the end of the RAM
# themselves.
DTB_ROOM = 0x10000
# Free bytes at the end of the device tree, as OpenSBI leaves some: U-Boot extends the tree in place, where its own data
# follow at once.
DTB_FREE = 2048


@dataclass(frozen=True)
class Machine:
    """The virtual machine of an architecture: the guest's addresses and the alignment of its
    RAM."""

    architecture: str
    ram_align: int
    memory_base: int
    image_offset: int
    dtb_room: int
    dtb_free: int
    uart_base: int
    uart_irq: int
    has_plic: bool
    gpa_end: int


RISCV = Machine("riscv", 0x200000, 0x80000000, IMAGE_OFFSET, DTB_ROOM, DTB_FREE, UART_BASE, UART_IRQ, True, 1 << 41)

# The addresses of iasim's generic board. The first page holds exception vectors; kseg0 maps the
# lowest 512 MiB.
MIPS = Machine("mips", 0x4000, 0, 0x1000, 0x1000, 0, 0x1FD003F8, 4, False, 1 << 29)

MACHINES = {machine.architecture: machine for machine in (RISCV, MIPS)}
