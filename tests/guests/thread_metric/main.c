/* SPDX-License-Identifier: Apache-2.0 */
/* The controller: starts one measure after another, lets each run for the same time, and
 * reports. */
#include <limits.h>

#include "machine.h"
#include "measure.h"
#include "print.h"
#include "timer.h"
#include "uart.h"

#define CONTROLLER_PRIORITY (configMAX_PRIORITIES - 1)
#define STACK (2U * configMINIMAL_STACK_SIZE)

int main(unsigned long hart, const void *fdt);

volatile unsigned long measure_passes[MEASURE_TASKS];
static TaskHandle_t tasks[MEASURE_TASKS]; /* owner: this file */

void measure_task(TaskFunction_t code, size_t number, UBaseType_t priority)
{
    void *argument = (void *)number; /* NOLINT(performance-no-int-to-ptr) */

    if (xTaskCreate(code, "measure", configMINIMAL_STACK_SIZE, argument, priority,
                    &tasks[number]) != pdPASS) {
        port_fatal("cannot create task", "measure", number);
    }
}

TaskHandle_t measure_task_handle(size_t number)
{
    return tasks[number];
}

static void delete_tasks(void)
{
    for (size_t i = 0; i < MEASURE_TASKS; i++) {
        if (tasks[i] != NULL) {
            vTaskDelete(tasks[i]);
            tasks[i] = NULL;
        }
    }
}

/* The passes since `begin`, of all tasks. */
static unsigned long sum_passes(const struct measure *measure,
                                const unsigned long begin[MEASURE_TASKS])
{
    unsigned long sum = 0, least = ULONG_MAX, most = 0;

    for (size_t i = 0; i < measure->tasks; i++) {
        unsigned long passes = measure_passes[i] - begin[i];

        sum += passes;
        least = passes < least ? passes : least;
        most = passes > most ? passes : most;
    }
    if (least == 0 || most - least > measure->apart) {
        print("BENCH failed: %s: a task had %lu passes, another one %lu\n", measure->name, least,
              most);
        machine_shutdown(true);
    }
    return sum;
}

/* `begin` and `end`: what machine_instructions() returned when the passes began to count, and
 * then. */
static void report(const char *metric, unsigned long passes, uint64_t begin, uint64_t end)
{
    print("BENCH "
          "{\"metric\":\"%s\",\"unit\":\"passes\",\"min\":%lu,\"median\":%lu,\"avg\":%lu,\"max\":%"
          "lu,\"n\":1}\n",
          metric, passes, passes, passes, passes);
    print("WINDOW %s %llu %llu\n", metric, (unsigned long long)begin, (unsigned long long)end);
}

/* Measures from one tick to another. A task may be interrupted while it counts, so only it writes
 * its passes. */
static void run(const struct measure *measure)
{
    unsigned long before[MEASURE_TASKS], passes;
    uint64_t begin, end;

    measure->start();
    vTaskDelay(1);
    begin = machine_instructions();
    for (size_t i = 0; i < MEASURE_TASKS; i++) {
        before[i] = measure_passes[i];
    }
    vTaskDelay(MEASURE_PERIOD);
    end = machine_instructions();
    passes = sum_passes(measure, before);
    delete_tasks();
    if (measure->stop != NULL) {
        measure->stop();
    }
    report(measure->name, passes, begin, end);
    vTaskDelay(2); /* the idle task frees the deleted tasks */
}

static void run_all(const struct measure *measures, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        run(&measures[i]);
    }
}

static void controller(void *argument)
{
    (void)argument;
    run_all(measures_tasks, measures_tasks_count);
    run_all(measures_objects, measures_objects_count);
    run_all(measures_interrupts, measures_interrupts_count);
    run_all(measures_devices, measures_devices_count);
    print("BENCH done\n");
    machine_shutdown(false);
}

int main(unsigned long hart, const void *fdt)
{
    (void)fdt;
    uart_init();
    (void)timer_init();
    measure_interrupts_init(hart);
    if (xTaskCreate(controller, "controller", STACK, NULL, CONTROLLER_PRIORITY, NULL) != pdPASS) {
        port_fatal("cannot create task", "controller", 0);
    }
    vTaskStartScheduler();
    port_fatal("the scheduler did not start: heap too small?", "",
               (unsigned long)xPortGetFreeHeapSize());
}
