/* SPDX-License-Identifier: Apache-2.0 */
/* The timer interrupt that releases a task; each architecture sets its timer in its own way. */
#ifndef RELEASE_H
#define RELEASE_H

#include <stdint.h>

/** The time at which the next tick of the kernel is due, in the units of machine_time(). Call with
 * interrupts off. */
uint64_t release_next_tick(void);

/**
 * Sets the timer, which the kernel's tick sets again, to `due` in the units of machine_time(),
 * before the next tick. Returns the value of machine_instructions() at which the interrupt is due.
 * Call with interrupts off.
 */
uint64_t release_arm(uint64_t due);

#endif
