/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Demo of unmodified FreeRTOS: tasks, a queue, a software timer, a mutex and arithmetic (floating
 * point if the processor has it), each with a self-check. Prints `freertos: self-check passed` once
 * all have passed, or `freertos: self-check FAILED: <what>`, and continues. The same image runs
 * natively and in a VM.
 */
#include "FreeRTOS.h"
#include "check.h"
#include "console.h"
#include "machine.h"
#include "print.h"
#include "task.h"
#include "timer.h"
#include "uart.h"

int main(unsigned long hart, const void *fdt);

void check_create_task(void (*function)(void *), const char *name, void *argument,
                       unsigned long priority)
{
    if (xTaskCreate(function, name, TASK_STACK, argument, priority, NULL) != pdPASS) {
        port_fatal("cannot create task", name, 0);
    }
}

int main(unsigned long hart, const void *fdt)
{
    (void)fdt;
    (void)timer_init();
    uart_init();
    port_init();
    print("freertos: FreeRTOS %s %s, tick %u Hz by %s\n", tskKERNEL_VERSION_NUMBER, MACHINE_NAME,
          (unsigned int)configTICK_RATE_HZ, timer_name());
    queue_check_start();
    timer_check_start();
    mutex_check_start();
    fft_check_start();
    chaos_check_start();
    registers_check_start();
    checker_start();
    console_start(hart);
    vTaskStartScheduler();
    port_fatal("the scheduler did not start: heap too small?", "",
               (unsigned long)xPortGetFreeHeapSize());
}
