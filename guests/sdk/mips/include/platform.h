/* SPDX-License-Identifier: Apache-2.0 */
/* What a bare guest may count on: the addresses of iasim's `generic` board, which a Tessera VM keeps. */
#ifndef GUEST_PLATFORM_H
#define GUEST_PLATFORM_H

#define PLATFORM_UART_BASE 0xbfd003f8UL /* unmapped, uncached */
#define PLATFORM_TIMEBASE_HZ 50000000UL /* steps of Count: half of a core's clock of 100 MHz */

/* Interrupt lines, as numbers of Cause.IP or of the level that an external controller gives them. */
#define PLATFORM_MESSAGE_IRQ 1U
#define PLATFORM_UART_IRQ 4U
#define PLATFORM_TIMER_IRQ 7U

/* An address at which neither the board nor a VM has anything. */
#define PLATFORM_HOLE 0xbf000000UL

#endif
