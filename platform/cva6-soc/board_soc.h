/* SPDX-License-Identifier: Apache-2.0 */
/* The SoC of fpga/target/soc: CVA6 with the fabric. For the board.h of its simulation and of its
 * FPGA board. */
#ifndef BOARD_SOC_H
#define BOARD_SOC_H

/* The UART's registers are words. */
#define UART_NS16550_STRIDE 4U
#define UART_NS16550_REG uint32_t
#define UART_NS16550_WINDOW 0U

/* SiFive's CLINT, for the firmware. */
#define BOARD_CLINT 0x02000000UL

/* The hart has no time CSR: firmware emulates it, and may let the hypervisor read the CLINT's
 * mtime. */
#define BOARD_MTIME (BOARD_CLINT + 0xbff8UL)

#define BOARD_HARTS 1U

/* From DRAM to its uncached address; `dma-alias` of soc.dtsi. */
#define BOARD_DMA_ALIAS 0x40000000UL

#endif
