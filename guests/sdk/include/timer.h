/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The guest's timer: on RISC-V stimecmp if the hart has Sstc, otherwise the SBI's TIME extension;
 * on MIPS32 Compare. Times are those of machine_time().
 */
#ifndef GUEST_TIMER_H
#define GUEST_TIMER_H

#include <stdbool.h>
#include <stdint.h>

/** Selects the timer. Call once, before interrupts are on. Returns timer_is_direct(). */
bool timer_init(void);

/** True: the timer is set without a firmware call. */
bool timer_is_direct(void);

/** Name of the selected timer, for messages. */
const char *timer_name(void);

/**
 * Requests an interrupt at `deadline` and clears a pending one; UINT64_MAX: never. On MIPS32 the
 * counter wraps after some tens of seconds, so that an interrupt may be early: handlers must check
 * the time.
 */
void timer_set(uint64_t deadline);

/** For guests that take no interrupts: waits until `time`, with the hart asleep. Afterwards the
 * timer does not end machine_wait(). */
void timer_sleep_until(uint64_t time);

#endif
