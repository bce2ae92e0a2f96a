/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guest's timer: on RISC-V stimecmp when the hart has it, the SBI's TIME extension when not; on MIPS32 Compare. Time
 * is that of machine_time().
 */
#ifndef GUEST_TIMER_H
#define GUEST_TIMER_H

#include <stdbool.h>
#include <stdint.h>

/** Finds out which. To be called once, before interrupts are on. Returns timer_is_direct(). */
bool timer_init(void);

/** True: set without a call of the firmware. */
bool timer_is_direct(void);

/** What it is called. */
const char *timer_name(void);

/**
 * Interrupt at `deadline`; clears a pending one; UINT64_MAX: never. An interrupt may come early where the counter is
 * narrow (on MIPS32 some tens of seconds): whoever takes it looks at the time.
 */
void timer_set(uint64_t deadline);

#endif
