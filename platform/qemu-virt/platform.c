/* SPDX-License-Identifier: Apache-2.0 */
/* QEMU's virt machine (memory map of hw/riscv/virt.c); board.dts has the same facts for the image
 * builder. */
#include "platform.h"

const struct platform_info platform = {
    .name = "qemu-virt",
    .uart = {0x10000000U, 0x1000U},
    .uart_irq = 10,
    .irqchip = {0x0c000000U, 0x400000U},
    .irq_count = 96,
    .finisher = {0x100000U, 0x1000U},
};

#define FINISHER_OFF 0x5555U
#define FINISHER_FAIL 0x3333U
#define FINISHER_RESET 0x7777U
#define FINISHER_STATUS 16U /* shift of QEMU's exit status */
#define FINISHER_TRIES 1000000U

/* From QEMU 8 on, the machine ends some time after the write. */
static void finish(uint32_t value)
{
    volatile uint32_t *finisher = (volatile uint32_t *)platform.finisher.base;

    *finisher = value;
    for (unsigned tries = 0; tries < FINISHER_TRIES; tries++) {
        (void)*finisher;
    }
}

/* OpenSBI would write FINISHER_FAIL with status 0, which means success, and a shutdown by the
 * firmware before the machine ends would replace the status. */
void platform_fail(void)
{
    finish(FINISHER_FAIL | 1U << FINISHER_STATUS);
}

void platform_end(enum platform_ending how)
{
    if (how == PLATFORM_FAILED) {
        platform_fail();
    } else {
        finish(how == PLATFORM_OFF ? FINISHER_OFF : FINISHER_RESET);
    }
}

#define RTC_TIME 0x101000UL /* the goldfish RTC: low half, then the high half latched with it */

uint64_t platform_wall_clock(void)
{
    const volatile uint32_t *rtc = (const volatile uint32_t *)RTC_TIME;
    uint64_t low = rtc[0];

    return (uint64_t)rtc[1] << 32 | low;
}
