/* SPDX-License-Identifier: Apache-2.0 */
/* The supervisor timer: stimecmp when the hart has it, the SBI's TIME extension when not. */
#ifndef GUEST_TIMER_H
#define GUEST_TIMER_H

#include <stdbool.h>
#include <stdint.h>

/** Finds out which. To be called once, before interrupts are on. True: stimecmp. */
bool timer_init(void);

/** True: stimecmp is used. */
bool timer_has_sstc(void);

/** Interrupt (IRQ_TIMER) at `deadline` in ticks of the time CSR; clears a pending one; UINT64_MAX: never. */
void timer_set(uint64_t deadline);

#endif
