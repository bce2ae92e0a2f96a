/* SPDX-License-Identifier: Apache-2.0 */
/* The contract between the hypervisor and a board. Each board's folder defines all of it, with
 * files that boards share (drivers, cva6-soc). Console and architecture call it, as does the RISC-V
 * firmware. */
#ifndef PLATFORM_H
#define PLATFORM_H

#include "types.h"

/* Initializes the board's console UART. */
void platform_uart_init(void);

/* Sends one character if the transmitter has room; false if not. */
bool platform_uart_put(char c);

/* A received character, or -1. */
int platform_uart_get(void);

/* Enables or disables the interrupt for free space in the transmitter. */
void platform_uart_notify_tx(bool enable);

/* Makes the UART interrupt again for characters not yet read, and for free space if that interrupt
 * is enabled or `tx`. */
void platform_uart_again(bool tx);

/*
 * Ends the machine with a failure status, if the board can. May return: then the firmware is asked
 * to switch the machine off, possibly without a status. `platform.finisher` is mapped if it has a
 * size.
 */
void platform_fail(void);

enum platform_ending {
    PLATFORM_OFF,
    PLATFORM_FAILED, /* off, with a failure status */
    PLATFORM_RESET
};

/* Ends or resets the machine, for arch/riscv/firmware, in M-mode. Returns if the board cannot. Only
 * of RISC-V boards. */
void platform_end(enum platform_ending how);

/* Nanoseconds since 1970 by the board's clock, 0 if it has none. Called once at boot, before
 * translation is enabled. */
uint64_t platform_wall_clock(void);

/* Properties of the board. */
struct platform_device {
    hpa_t base; /* physical address */
    uint64_t size;
};

struct platform_info {
    const char *name;            /* for lines of the console */
    struct platform_device uart; /* of the console */
    unsigned uart_irq;           /* interrupt controller source */
    struct platform_device irqchip;
    unsigned irq_count;              /* sources 1 .. irq_count-1 */
    struct platform_device finisher; /* device that platform_fail() uses; size 0: none */
};

extern const struct platform_info platform;

/* The fabric; only of boards with one. The board file has the same address. */
extern const struct platform_device platform_fabric;

/* The key of the tags of bitstreams (BLAKE2b); only of boards with a fabric. The image builder
 * reads it from the board's bitstream_key.c, and does not write it to an image. */
#define BITSTREAM_KEY_SIZE 32U
extern const uint8_t platform_bitstream_key[BITSTREAM_KEY_SIZE];

#endif
