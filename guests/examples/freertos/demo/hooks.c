/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel hooks: fatal errors, and the idle task. */
#include "FreeRTOS.h"
#include "fatal.h"
#include "task.h"

void vApplicationIdleHook(void);
void vApplicationMallocFailedHook(void);
void vApplicationStackOverflowHook(TaskHandle_t xTask, char *pcTaskName);

_Noreturn void fatal_assert(const char *file, unsigned long line)
{
    port_fatal("assertion in", file, line);
}

void vApplicationIdleHook(void)
{
    port_idle();
}

void vApplicationMallocFailedHook(void)
{
    port_fatal("heap exhausted in task", pcTaskGetName(NULL), 0);
}

void vApplicationStackOverflowHook(TaskHandle_t xTask, char *pcTaskName)
{
    (void)xTask;
    port_fatal("stack overflow in task", pcTaskName, 0);
}
