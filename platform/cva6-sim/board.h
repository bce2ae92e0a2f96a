/* SPDX-License-Identifier: Apache-2.0 */
/* The simulation of CVA6 with the fabric: what differs from its FPGA board, genesys2. board_soc.h
 * has what both have in common. */
#ifndef BOARD_H
#define BOARD_H

#include "cva6-soc/board_soc.h"

#define BOARD_NAME "cva6-sim"
#define UART_NS16550_DIVISOR 0U

/* The register of soc_board that ends the simulation, with a status. */
#define BOARD_END 0x30000000UL

#endif
