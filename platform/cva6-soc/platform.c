/* SPDX-License-Identifier: Apache-2.0 */
/* Properties of the SoC of fpga/target/soc, for its simulation and its FPGA board; board.h has what
 * differs. Addresses are physical. */
#include "platform.h"
#include "board.h"

const struct platform_info platform = {
    .name = BOARD_NAME,
    .uart = {0x10000000U, 0x1000U},
    .uart_irq = 1,
    .irqchip = {0x0c000000U, 0x400000U},
    .irq_count = 31,
    .finisher = {0, 0},
};

void platform_fail(void)
{
}

#define UART_LSR 5U
#define LSR_SENT 0x40U /* the FIFO is empty, and so is the line */
#define SENT_TRIES 1000000U

/* The register ends the simulation at once, with a status, and the UART with it. */
void platform_end(enum platform_ending how)
{
    const volatile UART_NS16550_REG *status =
        (const volatile UART_NS16550_REG *)(platform.uart.base + UART_LSR * UART_NS16550_STRIDE);

    if (BOARD_END == 0 || how == PLATFORM_RESET) {
        return;
    }
    for (unsigned tries = 0; (*status & LSR_SENT) == 0 && tries < SENT_TRIES; tries++) {
    }
    *(volatile uint64_t *)BOARD_END = how == PLATFORM_FAILED ? 1U : 0U;
}

uint64_t platform_wall_clock(void)
{
    return 0;
}
