/* SPDX-License-Identifier: Apache-2.0 */
/* iasim's generic board: an M5150 core with RAM, ROM and a 16550; the guest's timer is wired. Has
 * the addresses; the UART's driver is platform/drivers/uart_ns16550.c. */
#include "platform.h"

const struct platform_info platform = {
    .name = "m5150-generic",
    .uart = {0x1fd003f8U, 8U}, /* through kseg1 (board.h) */
    .uart_irq = 4,             /* interrupt line of the CPU */
};

/* The board has no means to report failure. */
void platform_fail(void)
{
}

uint64_t platform_wall_clock(void)
{
    return 0;
}
