/* SPDX-License-Identifier: Apache-2.0 */
/* The RISC-V ISA simulator Spike: its UART, and addresses for the firmware. board.dts has the
 * number of harts, too, for the image builder. */
#ifndef BOARD_H
#define BOARD_H

#define UART_NS16550_STRIDE 1U
#define UART_NS16550_REG uint8_t
#define UART_NS16550_DIVISOR 0U
#define UART_NS16550_WINDOW 0U

/* SiFive's CLINT, for the firmware. */
#define BOARD_CLINT 0x02000000UL

/* The hart has the time CSR. */
#define BOARD_MTIME 0UL

#define BOARD_HARTS 8U

#define BOARD_DMA_ALIAS 0UL /* DMA is coherent with the data cache */

#endif
