/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Three tasks of different priority change two counters that must be equal when the mutex is free.
 */
#include "FreeRTOS.h"
#include "check.h"
#include "semphr.h"
#include "task.h"

#define MUTEX_TASKS 3U

struct check mutex_check = {.name = "mutex", .needed = 50};

static SemaphoreHandle_t mutex_lock;
static volatile unsigned long mutex_first;
static volatile unsigned long mutex_second;

static void mutex_round(unsigned long number)
{
    if (mutex_first != mutex_second) {
        check_fail(&mutex_check, "not exclusive, task", number);
        return;
    }
    mutex_first = mutex_first + 1;
    vTaskDelay(1); /* the others block on the mutex; the owner inherits their priority */
    mutex_second = mutex_second + 1;
    check_pass(&mutex_check);
}

static void mutex_task(void *argument)
{
    unsigned long number = (unsigned long)(uintptr_t)argument;

    for (;;) {
        if (xSemaphoreTake(mutex_lock, portMAX_DELAY) != pdTRUE) {
            check_fail(&mutex_check, "cannot take it, task", number);
            continue;
        }
        mutex_round(number);
        if (xSemaphoreGive(mutex_lock) != pdTRUE) {
            check_fail(&mutex_check, "cannot give it, task", number);
        }
        vTaskDelay(pdMS_TO_TICKS(30) + number);
    }
}

void mutex_check_start(void)
{
    static const char *const names[MUTEX_TASKS] = {"mutex-low", "mutex-mid", "mutex-high"};

    mutex_lock = xSemaphoreCreateMutex();
    configASSERT(mutex_lock != NULL);
    for (uintptr_t i = 0; i < MUTEX_TASKS; i++) {
        check_create_task(mutex_task, names[i], (void *)i, PRIORITY_MUTEX - 1 + i);
    }
}
