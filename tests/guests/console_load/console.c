/* SPDX-License-Identifier: Apache-2.0 */
/* Load on the console: harts that fill it, that wait for space in it, and that wait for a key. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "console_load.h"
#include "csr.h"
#include "platform.h"
#include "plic.h"
#include "print.h"
#include "random.h"
#include "sbi.h"
#include "uart.h"

#define WRITES 2000U
#define AT_ONCE 16U /* characters */
#define DOZES 60U   /* between two dots: longer than the timeout of an unfinished line */

static const char load_text[AT_ONCE + 1] = "abcdefghijklmnop";
static const char load_lines[AT_ONCE + 1] = "abcdefg\nijklmnop";

static void load_by_uart(char first)
{
    uart_write(UART_THR, (uint8_t)first);
    for (unsigned i = 1; i < AT_ONCE; i++) {
        uart_write(UART_THR, (uint8_t)'A');
    }
}

static void load_write_some(struct random *random)
{
    switch (random_below(random, 8)) {
    case 0:
        load_by_uart('A');
        break;
    case 1:
        load_by_uart('\n');
        break;
    case 2:
        (void)sbi_console_write(load_lines, AT_ONCE);
        break;
    case 3:
        uart_write(UART_THR, (uint8_t)'\r');
        (void)sbi_console_write(load_text, AT_ONCE);
        break;
    default:
        (void)sbi_console_write(load_text, random_below(random, AT_ONCE) + 1);
        break;
    }
}

void load_write(const void *fdt)
{
    struct random random = random_from(1);

    (void)fdt;
    for (unsigned i = 0; i < WRITES; i++) {
        load_write_some(&random);
    }
}

/* Writes more than the console outputs before the end of the next sleep. */
static void load_fill(void)
{
    for (unsigned i = 0; i < 10; i++) {
        (void)sbi_console_write(load_text, AT_ONCE);
    }
    load_by_uart('\n');
}

/* The unfinished lines of all VMs with this role time out at the same moment. */
void load_dots(const void *fdt)
{
    (void)fdt;
    load_start_hart(1, load_sleeper);
    csr_write_sie(SIE_TIMER);
    for (unsigned round = 0;; round++) {
        if (round == 2 * DOZES) {
            print("console_load: done\n");
        }
        if (round % DOZES == 0) {
            (void)sbi_console_write(".", 1);
        }
        load_sleep_to_tick();
    }
}

void load_ready(const void *fdt)
{
    uint32_t context = plic_context(0);

    (void)fdt;
    load_start(load_listener);
    plic_enable(context, PLATFORM_UART_IRQ, true);
    plic_set_priority(PLATFORM_UART_IRQ, ORDINARY);
    uart_write(UART_IER, UART_IER_TX_EMPTY);
    for (unsigned round = 0; round < ROUNDS; round++) {
        (void)uart_read(UART_IIR); /* the line goes low until there is space again */
        plic_complete(context, plic_claim(context));
        csr_write_sie(SIE_TIMER);
        load_sleep_to_tick();
        load_fill();
        csr_write_sie(SIE_EXTERNAL);
        csr_wait_for_interrupt();
    }
    uart_write(UART_IER, 0);
}

static void load_reader(unsigned long hart, void *argument)
{
    uint32_t context = plic_context(hart);

    (void)argument;
    csr_write_sie(SIE_EXTERNAL);
    for (;;) {
        csr_wait_for_interrupt();
        for (uint32_t source = plic_claim(context); source != 0; source = plic_claim(context)) {
            while (uart_get() >= 0) {
            }
            plic_complete(context, source);
        }
    }
}

void load_keys(const void *fdt)
{
    (void)fdt;
    load_start(load_reader);
    plic_enable(plic_context(0), PLATFORM_UART_IRQ, true);
    plic_set_priority(PLATFORM_UART_IRQ, ORDINARY);
    uart_enable_rx_interrupt(true);
    print("console_load: up\n");
    load_reader(0, NULL);
}
