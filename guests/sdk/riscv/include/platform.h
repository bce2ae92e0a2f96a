/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of QEMU's `virt` machine, which are the same in a Tessera VM. */
#ifndef GUEST_PLATFORM_H
#define GUEST_PLATFORM_H

#define PLATFORM_UART_BASE 0x10000000UL
#define PLATFORM_UART_IRQ 10U
#define PLATFORM_PLIC_BASE 0x0c000000UL
#define PLATFORM_TIMEBASE_HZ 10000000UL

/* An address that is unmapped on `virt` and in a VM: an access there is an access fault in both. */
#define PLATFORM_HOLE 0x1f000000UL

#endif
