/* SPDX-License-Identifier: Apache-2.0 */
/* The timer's interrupt with an external interrupt controller, for timer.c. eic/ and lines/ are
 * variants, which board.mk chooses from. */
#ifndef IRQ_TIMER_H
#define IRQ_TIMER_H

#include "platform_eic.h"

/* After a write to Compare: the timer interrupt that the controller may hold is stale. */
static inline void irq_timer_set(void)
{
    platform_timer_ack();
}

#endif
