/* SPDX-License-Identifier: Apache-2.0 */
/* Driver of the VM's part of the shared UART (shared_uart.h). The caller owns struct
 * shared_uart. */
#include "uart.h"
#include "shared_uart.h"

#define STRIDE 4U                   /* bytes from a register to the next one */
#define FCR_ENABLE_CLEAR_INPUT 0x3U /* what was written before is still sent */

static volatile uint8_t *place(const struct shared_uart *uart, enum uart_register reg)
{
    return (volatile uint8_t *)(uart->page + STRIDE * (unsigned int)reg);
}

int shared_uart_open(struct shared_uart *uart, const void *fdt)
{
    struct shared_device device;

    if (shared_find(&device, fdt, "tessera,shared-uart") != SHARED_OK) {
        return SHARED_NO_DEVICE;
    }
    uart->page = device.pages[0];
    *place(uart, UART_IER) = 0;
    *place(uart, UART_FCR) = FCR_ENABLE_CLEAR_INPUT;
    return SHARED_OK;
}

void shared_uart_write(const struct shared_uart *uart, const char *text)
{
    unsigned int space = 0;

    for (; *text != '\0'; text++) {
        while (space == 0) {
            space = (*place(uart, UART_LSR) & UART_LSR_TX_EMPTY) != 0 ? UART_FIFO_DEPTH : 0;
        }
        *place(uart, UART_THR) = (uint8_t)*text;
        space--;
    }
}

int shared_uart_get(const struct shared_uart *uart)
{
    return (*place(uart, UART_LSR) & UART_LSR_DATA) != 0 ? *place(uart, UART_RBR) : -1;
}
