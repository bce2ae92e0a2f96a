/* SPDX-License-Identifier: Apache-2.0 */
/* The program's output: lines that tests/soc reads, and the console that prints them. */
#include "print.h"
#include "soc.h"
#include "uart.h"

#define STRIDE 4U
#define LSB_DIVISOR_ACCESS 0x80U
#define LCR_8N1 0x03U
#define FCR_ENABLE_CLEAR 0x07U

static unsigned int failed; /* owner: this file */

void uart_write(enum uart_register reg, uint8_t value)
{
    *at8(UART + STRIDE * (uintptr_t)reg) = value;
}

uint8_t uart_read(enum uart_register reg)
{
    return *at8(UART + STRIDE * (uintptr_t)reg);
}

/* The fastest line: 16 cycles a bit. */
void uart_init(void)
{
    uart_write(UART_LCR, LSB_DIVISOR_ACCESS);
    uart_write(UART_THR, 1);
    uart_write(UART_IER, 0);
    uart_write(UART_LCR, LCR_8N1);
    uart_write(UART_FCR, FCR_ENABLE_CLEAR);
}

/* Fills the FIFO whenever it is empty. */
void uart_put_text(char c)
{
    static unsigned int room; /* owner: this function */

    if (room == 0) {
        while ((uart_read(UART_LSR) & UART_LSR_TX_EMPTY) == 0) {
        }
        room = UART_FIFO_DEPTH;
    }
    room--;
    uart_write(UART_THR, (uint8_t)c);
}

void check(const char *name, uint64_t value, uint64_t expected)
{
    if (value == expected) {
        print("check %s 0x%lx\n", name, (unsigned long)value);
    } else {
        failed++;
        print("wrong %s 0x%lx 0x%lx\n", name, (unsigned long)value, (unsigned long)expected);
    }
}

void report(const char *name, uint64_t value)
{
    print("cycles %s %lu\n", name, (unsigned long)value);
}

unsigned int checks_failed(void)
{
    return failed;
}
