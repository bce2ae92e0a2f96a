/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A software timer must never be early nor far behind, and the tick count never ahead of the time.
 */
#include "FreeRTOS.h"
#include "check.h"
#include "machine.h"
#include "platform.h"
#include "task.h"
#include "timers.h"

#define TIMER_PERIOD pdMS_TO_TICKS(25)
#define TIMER_BEHIND (10U * configTICK_RATE_HZ) /* ticks: far above any expected delay of a VM */
#define TIMER_TICK (PLATFORM_TIMEBASE_HZ / configTICK_RATE_HZ)

struct check timer_check = {.name = "timer", .needed = 40};

static TickType_t timer_begin;
/* before the scheduler starts; tick n is due n periods later or more */
static uint64_t timer_start_time;

static void timer_callback(TimerHandle_t timer)
{
    static TickType_t calls;
    TickType_t now = xTaskGetTickCount();
    TickType_t elapsed = now - timer_begin;

    (void)timer;
    calls++;
    if (elapsed < calls * TIMER_PERIOD) {
        check_fail(&timer_check, "early, tick", elapsed);
    } else if (elapsed > calls * TIMER_PERIOD + TIMER_BEHIND) {
        check_fail(&timer_check, "far behind, tick", elapsed);
    } else if (now > (machine_time() - timer_start_time) / TIMER_TICK) {
        check_fail(&timer_check, "ticks ahead of time, tick", now);
    } else {
        check_pass(&timer_check);
    }
}

/* The timer starts when the daemon task processes the start command, not before this task runs. */
static void timer_starter(void *argument)
{
    TimerHandle_t timer = xTimerCreate("check", TIMER_PERIOD, pdTRUE, NULL, timer_callback);

    (void)argument;
    configASSERT(timer != NULL);
    timer_begin = xTaskGetTickCount();
    if (xTimerStart(timer, portMAX_DELAY) != pdPASS) {
        check_fail(&timer_check, "cannot start", 0);
    }
    vTaskDelete(NULL);
}

void timer_check_start(void)
{
    timer_start_time = machine_time();
    check_create_task(timer_starter, "starter", NULL, PRIORITY_CHECKER);
}
