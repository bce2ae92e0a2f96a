/* SPDX-License-Identifier: Apache-2.0 */
/* The timer's interrupt as a line of the core, without an external interrupt controller, for
 * timer.c. eic/ and lines/ are variants, which board.mk chooses from. */
#ifndef IRQ_TIMER_H
#define IRQ_TIMER_H

/* Nothing to do: the write to Compare has cleared the timer's interrupt. */
static inline void irq_timer_set(void)
{
}

#endif
