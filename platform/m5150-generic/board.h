/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOARD_H
#define BOARD_H

#define UART_NS16550_STRIDE 1U

#define BOARD_EIC false        /* interrupts come without an external controller */
#define BOARD_GUEST_TIMER true /* a guest's timer interrupts the guest */

#endif
