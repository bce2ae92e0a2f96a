# SPDX-License-Identifier: Apache-2.0
"""Where a guest sees the emulated devices. docs/virtual-platform.md promises these."""

UART_BASE = 0x10000000
UART_SIZE = 0x1000  # the page that traps; the registers are the first 0x100
UART_REGISTERS = 0x100
UART_IRQ = 10
UART_CLOCK_HZ = 3686400

PLIC_BASE = 0x0C000000
PLIC_SIZE = 0x600000
PLIC_SOURCES = 31

IMAGE_OFFSET = 0x200000  # default image-address, from the start of RAM

# The device tree lies in the last DTB_ROOM bytes of the RAM, as on QEMU's virt: far from whatever a guest puts behind
# its image, and where boot loaders copy it from before they use the end of the RAM themselves.
DTB_ROOM = 0x10000
