/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computing tasks run in bursts that start together and last several ticks, so that context
 * switches occur at arbitrary points of the computation. Between bursts they sleep, to leave the
 * CPU to others.
 */
#ifndef BURST_H
#define BURST_H

#include "FreeRTOS.h"
#include "machine.h"
#include "platform.h"
#include "task.h"

#define BURST_PERIOD pdMS_TO_TICKS(100)
#define BURST_TICKS 4U /* length, in wall-clock time */

/**
 * Start of the first waiting period, on a grid common to all tasks: tasks that first run some ticks
 * apart, for example on a busy host, would otherwise never share a burst.
 */
static inline TickType_t burst_start(void)
{
    return xTaskGetTickCount() / BURST_PERIOD * BURST_PERIOD;
}

/** Waits for the next burst; returns its end time. */
static inline uint64_t burst_wait(TickType_t *wake)
{
    (void)xTaskDelayUntil(wake, BURST_PERIOD);
    return machine_time() + BURST_TICKS * (PLATFORM_TIMEBASE_HZ / configTICK_RATE_HZ);
}

#endif
