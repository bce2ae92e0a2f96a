/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IRQ_TIMER_H
#define IRQ_TIMER_H

#include "platform_eic.h"

/* After a write to Compare: the timer interrupt that the controller may hold is stale. */
static inline void irq_timer_set(void)
{
    platform_timer_taken();
}

#endif
