/* SPDX-License-Identifier: Apache-2.0 */
/* The contract between the hypervisor and a board. Each board's folder defines all of these. */
#ifndef PLATFORM_H
#define PLATFORM_H

#include "types.h"

/* The board's console UART. */
void platform_uart_init(void);

/* Sends one character if the transmitter has room; false if not. */
bool platform_uart_put(char c);

/* A received character, or -1. */
int platform_uart_get(void);

/* Interrupt when the transmitter can take more, or not. */
void platform_uart_notify_tx(bool enable);

/* Interrupts once more for what was left undone: what was typed, or room to send if that was, or is herewith, asked for. */
void platform_uart_again(bool tx);

/*
 * Ends the machine with a status that says it failed, if the board has a way to. May return: then the firmware is asked
 * to switch the machine off, which need not tell anybody why. `platform.finisher` is mapped if it has a size.
 */
void platform_fail(void);

/* Nanoseconds since 1970 by the board's clock, 0 if it has none. Called once at boot, before addresses are translated. */
uint64_t platform_wall_clock(void);

/* Facts of the board. */
struct platform_device {
    hpa_t base; /* physical address */
    uint64_t size;
};

struct platform_info {
    const char *name;
    struct platform_device uart;
    unsigned uart_irq; /* interrupt controller source */
    struct platform_device irqchip;
    unsigned irq_count;              /* sources 1 .. irq_count-1 */
    struct platform_device finisher; /* what platform_fail() uses; size 0: nothing */
};

extern const struct platform_info platform;

#endif
