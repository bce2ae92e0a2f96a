/* SPDX-License-Identifier: Apache-2.0 */
/* Each board that has an ns16550a says in its board.h how far apart its registers are, in bytes,
 * and what has to be added to a physical address to reach it. */
#ifndef UART_NS16550_H
#define UART_NS16550_H

#include "board.h"

#endif
