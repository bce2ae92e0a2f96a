/* SPDX-License-Identifier: Apache-2.0 */
/* The generic board of iasim, an M5150 core without an external interrupt controller: constants of
 * the UART's driver and of arch/mips. */
#ifndef BOARD_H
#define BOARD_H

#define UART_NS16550_STRIDE 1U
#define UART_NS16550_REG uint8_t
#define UART_NS16550_DIVISOR 0U
#define UART_NS16550_WINDOW 0xa0000000U /* kseg1 */

#define BOARD_EIC 0         /* no external interrupt controller */
#define BOARD_GUEST_TIMER 1 /* the guest's timer interrupts the guest directly */

#endif
