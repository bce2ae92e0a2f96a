/* SPDX-License-Identifier: Apache-2.0 */
/* Driver of the ns16550a (uart.h). Owns no state. */
#include "uart.h"

#include "platform.h"

#define UART_LCR_8N1 0x03U
#define UART_FCR_ENABLE_CLEAR 0x07U
#define UART_MCR_DTR_RTS_OUT2 0x0bU /* OUT2 gates the interrupt line on the real chip */

static volatile uint8_t *uart_address(enum uart_register reg)
{
    return (volatile uint8_t *)(PLATFORM_UART_BASE + (unsigned long)reg);
}

uint8_t uart_read(enum uart_register reg)
{
    return *uart_address(reg);
}

void uart_write(enum uart_register reg, uint8_t value)
{
    *uart_address(reg) = value;
}

void uart_init(void)
{
    uart_write(UART_IER, 0);
    uart_write(UART_LCR, UART_LCR_8N1);
    uart_write(UART_FCR, UART_FCR_ENABLE_CLEAR);
    uart_write(UART_MCR, UART_MCR_DTR_RTS_OUT2);
}

void uart_wait_empty(void)
{
    while ((uart_read(UART_LSR) & UART_LSR_TX_EMPTY) == 0) {
    }
}

void uart_put(char c)
{
    uart_wait_empty();
    uart_write(UART_THR, (uint8_t)c);
}

void uart_put_text(char c)
{
    if (c == '\n') {
        uart_put('\r');
    }
    uart_put(c);
}

void uart_put_line(const char *text, size_t count)
{
    unsigned int room = 0;

    for (size_t i = 0; i < count; i++) {
        if (room < 2) { /* a newline takes two */
            uart_wait_empty();
            room = UART_FIFO_DEPTH;
        }
        if (text[i] == '\n') {
            uart_write(UART_THR, '\r');
            room--;
        }
        uart_write(UART_THR, (uint8_t)text[i]);
        room--;
    }
}

int uart_get(void)
{
    if ((uart_read(UART_LSR) & UART_LSR_DATA) == 0) {
        return -1;
    }
    return uart_read(UART_RBR);
}

void uart_enable_rx_interrupt(bool on)
{
    uart_write(UART_IER, on ? UART_IER_RX : 0);
}
