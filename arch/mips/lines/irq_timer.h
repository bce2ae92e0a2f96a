/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IRQ_TIMER_H
#define IRQ_TIMER_H

/* Nothing to do: the write to Compare has cleared the timer's interrupt. */
static inline void irq_timer_set(void)
{
}

#endif
