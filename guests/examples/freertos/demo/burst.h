/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks that compute do it in bursts that begin together and last several ticks, so that they are switched between in
 * the midst of it, at every place; and rest in between, for a VM should not take what it does not need.
 */
#ifndef BURST_H
#define BURST_H

#include "FreeRTOS.h"
#include "machine.h"
#include "platform.h"
#include "task.h"

#define BURST_PERIOD pdMS_TO_TICKS(100)
#define BURST_TICKS 4U /* long, of CPU time and others' */

/**
 * The tick to wait from before the first burst: of a common grid, for tasks whose first turns lie some ticks apart, as on
 * a host that is busy, would otherwise never be in a burst together.
 */
static inline TickType_t burst_start(void)
{
    return xTaskGetTickCount() / BURST_PERIOD * BURST_PERIOD;
}

/** Waits for the next burst; returns the time when it is to end. */
static inline uint64_t burst_wait(TickType_t *wake)
{
    (void)xTaskDelayUntil(wake, BURST_PERIOD);
    return machine_time() + BURST_TICKS * (PLATFORM_TIMEBASE_HZ / configTICK_RATE_HZ);
}

#endif
