/* SPDX-License-Identifier: Apache-2.0 */
/* The FPGA board with CVA6 and the fabric, Genesys 2: what differs from its simulation, cva6-sim.
 * board_soc.h has what both have in common. */
#ifndef BOARD_H
#define BOARD_H

#include "cva6-soc/board_soc.h"

#define BOARD_NAME "genesys2"
#define UART_NS16550_DIVISOR 27U /* 115200 baud from 50 MHz */

/* The board cannot switch itself off. */
#define BOARD_END 0UL

#endif
