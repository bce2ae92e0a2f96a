/* SPDX-License-Identifier: Apache-2.0 */
/* The VM's part of the shared UART: a 16550A, polled. It sends whole lines, each with the number of
 * its VM (docs/hardware-io.md). */
#ifndef GUEST_SHARED_UART_H
#define GUEST_SHARED_UART_H

#include "shared.h"

struct shared_uart {
    uintptr_t page;
};

/** Opens the VM's UART. SHARED_OK or SHARED_NO_DEVICE. */
int shared_uart_open(struct shared_uart *uart, const void *fdt);

/** Sends text; waits while the buffer is full. Text that is still in the buffer when the VM ends is
 * lost. */
void shared_uart_write(const struct shared_uart *uart, const char *text);

/** The next byte received, or -1. The VM with the focus receives the input. */
int shared_uart_get(const struct shared_uart *uart);

#endif
