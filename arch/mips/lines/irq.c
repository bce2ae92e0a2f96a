/* SPDX-License-Identifier: Apache-2.0 */
/* The hypervisor's own interrupts on a CPU without an external interrupt controller: one line each
 * for the timer and the console's UART. */
#include "cp0.h"
#include "internal.h"
#include "platform.h"

#define TIMER_LINE 7

static ulong uart_line(void)
{
    return (ulong)STATUS_IP(platform.uart_irq);
}

void irq_init(void)
{
    cp0_write(CP0_STATUS, cp0_read(CP0_STATUS) | STATUS_IP(TIMER_LINE) | uart_line());
}

bool irq_uart_pending(void)
{
    return (cp0_read(CP0_CAUSE) & cp0_read(CP0_STATUS) & uart_line()) != 0;
}

void irq_uart_ack(void)
{
}

void irq_uart_enable(bool on)
{
    ulong status = cp0_read(CP0_STATUS);

    cp0_write(CP0_STATUS, on ? status | uart_line() : status & ~uart_line());
}
