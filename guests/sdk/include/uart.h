/* SPDX-License-Identifier: Apache-2.0 */
/* The ns16550a at PLATFORM_UART_BASE: polled output, polled or interrupt-driven input. */
#ifndef GUEST_UART_H
#define GUEST_UART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Registers, one byte each. */
enum uart_register {
    UART_THR = 0, /* write: transmit */
    UART_RBR = 0, /* read: receive */
    UART_IER = 1,
    UART_FCR = 2, /* write */
    UART_IIR = 2, /* read */
    UART_LCR = 3,
    UART_MCR = 4,
    UART_LSR = 5,
    UART_MSR = 6,
    UART_SCR = 7,
};

#define UART_IER_RX 0x01U
#define UART_IER_TX_EMPTY 0x02U
#define UART_LSR_DATA 0x01U
#define UART_LSR_TX_EMPTY 0x20U
#define UART_FIFO_DEPTH 16U

/** 8N1, FIFOs enabled and empty, interrupts off. Keeps the baud rate that the firmware has set. */
void uart_init(void);

uint8_t uart_read(enum uart_register reg);
void uart_write(enum uart_register reg, uint8_t value);

/** Waits until the transmitter is empty. */
void uart_wait_empty(void);

/** Waits until the transmitter accepts a character, then writes `c`. */
void uart_put(char c);

/** uart_put(), but writes CR LF for a newline. */
void uart_put_text(char c);

/**
 * Writes `count` characters, one FIFO at a time: fewer register accesses than a wait per character.
 */
void uart_put_line(const char *text, size_t count);

/** The next character received, or -1. */
int uart_get(void);

/** Enables the receive interrupt in the UART only; the caller sets up the interrupt controller. */
void uart_enable_rx_interrupt(bool on);

#endif
