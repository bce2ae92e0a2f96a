/* SPDX-License-Identifier: Apache-2.0 */
/* Interrupts that a task raises by software. In a VM they cause no exit. */
#include "interrupts.h"

#include "measure.h"
#include "semphr.h"

static SemaphoreHandle_t semaphore; /* given by the handler */
static volatile bool raised;        /* by a task; the kernel's yields may use the same interrupt */
static bool resumes;                /* the handler resumes task 1, else it gives the semaphore */

static void handle(void)
{
    BaseType_t woken = pdFALSE;

    if (!raised) {
        return;
    }
    raised = false;
    if (resumes) {
        woken = xTaskResumeFromISR(measure_task_handle(1));
    } else {
        (void)xSemaphoreGiveFromISR(semaphore, &woken);
    }
    portYIELD_FROM_ISR(woken);
}

static void raise(void)
{
    raised = true;
    interrupts_raise();
}

static void interrupt_task(void *argument)
{
    (void)argument;
    for (;;) {
        raise();
        if (xSemaphoreTake(semaphore, 0) != pdPASS) {
            port_fatal("no interrupt", "interrupt", measure_passes[0]);
        }
        measure_passes[0]++;
    }
}

static void interrupt_start(void)
{
    semaphore = xSemaphoreCreateBinary();
    configASSERT(semaphore != NULL);
    measure_task(interrupt_task, 0, MEASURE_LOWEST);
}

static void interrupt_stop(void)
{
    vSemaphoreDelete(semaphore);
}

static void resumed_task(void *argument)
{
    (void)argument;
    for (;;) {
        vTaskSuspend(NULL);
        measure_passes[1]++;
    }
}

static void resuming_task(void *argument)
{
    (void)argument;
    for (;;) {
        raise();
        measure_passes[0]++;
    }
}

static void preemption_start(void)
{
    resumes = true;
    measure_task(resuming_task, 0, MEASURE_LOWEST);
    measure_task(resumed_task, 1, MEASURE_LOWEST + 1);
}

static void preemption_stop(void)
{
    resumes = false;
}

void measure_interrupts_init(unsigned long hart)
{
    interrupts_init(hart, handle);
}

const struct measure measures_interrupts[] = {
    {.name = "interrupt", .start = interrupt_start, .tasks = 1, .stop = interrupt_stop},
    {.name = "preemption",
     .start = preemption_start,
     .tasks = 2,
     .apart = 1,
     .stop = preemption_stop},
};
const size_t measures_interrupts_count =
    sizeof(measures_interrupts) / sizeof(measures_interrupts[0]);
