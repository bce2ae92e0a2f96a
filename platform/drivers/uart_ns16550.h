/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For each board with an ns16550a, board.h defines
 *
 * UART_NS16550_STRIDE    distance of its registers in bytes
 * UART_NS16550_REG       type of an access: the UART may answer accesses of one width only
 * UART_NS16550_WINDOW    an offset to add to physical addresses
 * UART_NS16550_DIVISOR   of its clock, for the line speed; 0: the firmware has set it
 */
#ifndef UART_NS16550_H
#define UART_NS16550_H

#include "board.h"

#endif
