/* SPDX-License-Identifier: Apache-2.0 */
/* QEMU's RISC-V machine `virt`: its UART, and addresses for the firmware. board.dts has the number
 * of harts, too, for the image builder. */
#ifndef BOARD_H
#define BOARD_H

#define UART_NS16550_STRIDE 1U
#define UART_NS16550_REG uint8_t
#define UART_NS16550_DIVISOR 0U
#define UART_NS16550_WINDOW 0U

/* SiFive's CLINT, for the firmware. */
#define BOARD_CLINT 0x02000000UL

/* The CLINT's mtime, for a hart without the time CSR whose firmware may let the hypervisor read it;
 * 0: the hart has the CSR. A build for a test replaces it. */
#ifndef BOARD_MTIME
#define BOARD_MTIME 0UL
#endif

#ifndef BOARD_HARTS /* a build for a test replaces it */
#define BOARD_HARTS 8U
#endif

/* DMA is coherent with the data cache. A build for a test replaces it. */
#ifndef BOARD_DMA_ALIAS
#define BOARD_DMA_ALIAS 0UL
#endif

#endif
