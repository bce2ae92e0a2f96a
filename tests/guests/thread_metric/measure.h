/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads of the FreeRTOS kernel after the Thread-Metric benchmark of Express Logic: each repeats one
 * service for a fixed time and counts the passes. The same guest runs natively and in a VM, alone
 * or beside load, and the ratio of the passes is what the VM leaves of the machine.
 */
#ifndef MEASURE_H
#define MEASURE_H

#include <stddef.h>
#include <stdint.h>

#include "FreeRTOS.h"
#include "task.h"

#define MEASURE_TASKS 5U
#define MEASURE_PERIOD ((TickType_t)configTICK_RATE_HZ / 20) /* 50 ms for each measure */
/* priority of the tasks; those of the controller and of the timers are higher */
#define MEASURE_LOWEST 1U

/* Passes of each task, free-running; owner: the task with this number. */
extern volatile unsigned long measure_passes[MEASURE_TASKS];

struct measure {
    const char *name;
    void (*start)(void); /* creates the tasks */
    size_t tasks;        /* whose passes count */
    unsigned long apart; /* largest difference between the passes of two tasks */
    void (*stop)(void);  /* after the tasks are deleted; or NULL */
};

/* Creates a task whose argument, and place in measure_passes, is `number`. */
void measure_task(TaskFunction_t code, size_t number, UBaseType_t priority);

TaskHandle_t measure_task_handle(size_t number);

extern const struct measure measures_tasks[], measures_objects[], measures_interrupts[],
    measures_devices[];
extern const size_t measures_tasks_count, measures_objects_count, measures_interrupts_count,
    measures_devices_count;

/* Before the scheduler starts. */
void measure_interrupts_init(unsigned long hart);

#endif
