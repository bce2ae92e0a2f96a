/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOARD_H
#define BOARD_H

#define UART_NS16550_STRIDE 1U
#define UART_NS16550_WINDOW 0U

#endif
