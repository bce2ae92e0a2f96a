/* SPDX-License-Identifier: Apache-2.0 */
/* For each board with an ns16550a, board.h defines the distance of its registers in bytes, and an
 * offset to add to physical addresses. */
#ifndef UART_NS16550_H
#define UART_NS16550_H

#include "board.h"

#endif
