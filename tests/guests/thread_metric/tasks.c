/* SPDX-License-Identifier: Apache-2.0 */
/* Computation without the kernel, and switches between tasks. */
#include "measure.h"

#define WORDS 256U
/* a tick ends the turn of the task that it interrupts */
#define COOPERATIVE_APART (MEASURE_TASKS + MEASURE_PERIOD)

static uint32_t words[WORDS]; /* owner: calibration_task() */

static void calibration_task(void *argument)
{
    (void)argument;
    for (;;) {
        for (size_t i = 0; i < WORDS; i++) {
            words[i] = (words[i] + (uint32_t)measure_passes[0]) ^ words[WORDS - 1 - i];
        }
        measure_passes[0]++;
    }
}

static void calibration_start(void)
{
    measure_task(calibration_task, 0, MEASURE_LOWEST);
}

static void cooperative_task(void *argument)
{
    for (;;) {
        measure_passes[(size_t)argument]++;
        taskYIELD();
    }
}

static void cooperative_start(void)
{
    for (size_t i = 0; i < MEASURE_TASKS; i++) {
        measure_task(cooperative_task, i, MEASURE_LOWEST);
    }
}

/* Each task resumes the next one, which has a higher priority and runs at once, and suspends
 * itself; the first one, of the lowest priority, is always ready. */
static void preemptive_task(void *argument)
{
    size_t number = (size_t)argument;

    for (;;) {
        if (number > 0) {
            vTaskSuspend(NULL);
        }
        if (number + 1 < MEASURE_TASKS) {
            vTaskResume(measure_task_handle(number + 1));
        }
        measure_passes[number]++;
    }
}

static void preemptive_start(void)
{
    for (size_t i = 0; i < MEASURE_TASKS; i++) {
        measure_task(preemptive_task, i, MEASURE_LOWEST + i);
    }
}

const struct measure measures_tasks[] = {
    {.name = "calibration", .start = calibration_start, .tasks = 1},
    {.name = "cooperative",
     .start = cooperative_start,
     .tasks = MEASURE_TASKS,
     .apart = COOPERATIVE_APART},
    {.name = "preemptive", .start = preemptive_start, .tasks = MEASURE_TASKS, .apart = 1},
};
const size_t measures_tasks_count = sizeof(measures_tasks) / sizeof(measures_tasks[0]);
