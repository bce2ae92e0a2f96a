/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BOARD_H
#define BOARD_H

#include "cva6-soc/board_soc.h"

#define BOARD_NAME "cva6-sim"
#define UART_NS16550_DIVISOR 0U

#endif
