/* SPDX-License-Identifier: Apache-2.0 */
/* Spike, the instruction set simulator of RISC-V International: its addresses, and the end of the
 * simulation by HTIF, which only the firmware can request. */
#include "platform.h"

const struct platform_info platform = {
    .name = "spike",
    .uart = {0x10000000U, 0x1000U},
    .uart_irq = 1,
    .irqchip = {0x0c000000U, 0x400000U},
    .irq_count = 32,
    .finisher = {0, 0},
};

void platform_fail(void)
{
}

/* Spike reads it (HTIF) at the address that the firmware's ELF file gives the symbol, and ends with
 * the status in bits 1 and up; it expects fromhost, too. The hypervisor cannot reach the
 * firmware's: it calls the firmware. */
volatile uint64_t tohost, fromhost;

void platform_end(enum platform_ending how)
{
    if (how != PLATFORM_RESET) {
        tohost = 1U | (how == PLATFORM_FAILED ? 1U << 1 : 0U);
    }
}

uint64_t platform_wall_clock(void)
{
    return 0;
}
