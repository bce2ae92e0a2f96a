/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The codec as a FreeRTOS task, with the demo's port and configuration: the tick interrupts the
 * task FREERTOS_TICK_HZ times a second. Runs natively and in a VM; work.h has the boot arguments.
 */
#include "FreeRTOS.h"
#include "print.h"
#include "task.h"
#include "timer.h"
#include "uart.h"
#include "work.h"

#define CODEC_STACK 1024U /* words */
#define CODEC_PRIORITY 2U

int main(unsigned long hart, const void *fdt);

static struct work work; /* owner: main() until the scheduler starts, then the task */

static void codec_task(void *argument)
{
    TickType_t begin = xTaskGetTickCount();
    TickType_t ticks;

    (void)argument;
    work_run(&work);
    ticks = xTaskGetTickCount() - begin;
    vTaskDelay((TickType_t)(work_pause_ms() * configTICK_RATE_HZ / 1000U) + 1U);
    taskENTER_CRITICAL();
    work_report(&work, ticks);
}

int main(unsigned long hart, const void *fdt)
{
    (void)hart;
    uart_init();
    (void)timer_init();
    print("adpcm: G.722 in a task of FreeRTOS %s, tick %u Hz\n", tskKERNEL_VERSION_NUMBER,
          (unsigned int)configTICK_RATE_HZ);
    if (xTaskCreate(codec_task, "codec", CODEC_STACK, NULL, CODEC_PRIORITY, NULL) != pdPASS) {
        port_fatal("cannot create task", "codec", 0);
    }
    work_prepare(&work, fdt);
    vTaskStartScheduler();
    port_fatal("the scheduler did not start: heap too small?", "",
               (unsigned long)xPortGetFreeHeapSize());
}
