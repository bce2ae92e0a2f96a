/* SPDX-License-Identifier: Apache-2.0 */
/* The interrupt that a task raises by software; each architecture has a source of its own. */
#ifndef INTERRUPTS_H
#define INTERRUPTS_H

/** Sets the handler, called with interrupts off. Before the scheduler starts. */
void interrupts_init(unsigned long hart, void (*handler)(void));

/** Raises the interrupt. It is taken at once if interrupts are on. */
void interrupts_raise(void);

#endif
