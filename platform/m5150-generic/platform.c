/* SPDX-License-Identifier: Apache-2.0 */
/* iasim's generic board: an M5150 core with RAM, ROM and a 16550; the guest's timer is wired. */
#include "platform.h"
#include "cp0.h"
#include "internal.h"

#define TIMER_LINE 7
#define UART_LINE 4

const struct platform_info platform = {
    .name = "m5150-generic",
    .uart = {KSEG1 + 0x1fd003f8U, 8U},
};

/* It has no way of its own to end. */
void platform_fail(void)
{
}

void board_irq_init(void)
{
    cp0_write(CP0_STATUS, cp0_read(CP0_STATUS) | STATUS_IP(TIMER_LINE) | STATUS_IP(UART_LINE));
}

void board_timer_taken(void)
{
}

bool board_uart_pending(void)
{
    return (cp0_read(CP0_CAUSE) & cp0_read(CP0_STATUS) & STATUS_IP(UART_LINE)) != 0;
}

void board_uart_taken(void)
{
}

void board_uart_hear(bool on)
{
    ulong status = cp0_read(CP0_STATUS);

    cp0_write(CP0_STATUS, on ? status | STATUS_IP(UART_LINE) : status & ~(ulong)STATUS_IP(UART_LINE));
}
