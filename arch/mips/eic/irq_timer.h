/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IRQ_TIMER_H
#define IRQ_TIMER_H

#include "platform_eic.h"

/* Compare was written: what the controller holds of the timer's interrupt is old. */
static inline void irq_timer_set(void)
{
    platform_timer_taken();
}

#endif
