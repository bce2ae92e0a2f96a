/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of iasim's `generic` board, which are the same in a Tessera VM. */
#ifndef GUEST_PLATFORM_H
#define GUEST_PLATFORM_H

#define PLATFORM_UART_BASE 0xbfd003f8UL /* unmapped, uncached */
#define PLATFORM_TIMEBASE_HZ 50000000UL /* rate of Count: half of the core's clock of 100 MHz */

/* Interrupt lines: the bit of Cause.IP, or the level of an external interrupt controller. */
#define PLATFORM_MESSAGE_IRQ 1U
#define PLATFORM_UART_IRQ 4U
#define PLATFORM_TIMER_IRQ 7U

/* An address that is unmapped on the board and in a VM. */
#define PLATFORM_HOLE 0xbf000000UL

#endif
