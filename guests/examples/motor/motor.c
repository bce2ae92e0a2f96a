/* SPDX-License-Identifier: Apache-2.0 */
/* The guest of an RT-VM: creates two RT apps, a motor's controller and a task that never ends, and
 * prints the statistics of both each second. */
#include "csr.h"
#include "platform.h"
#include "print.h"
#include "rt.h"
#include "timer.h"
#include "uart.h"

#define TARGET 3000 /* turns a minute */
#define STACK 1024

int main(unsigned long hart, const void *fdt);

static volatile long speed, drive;

/* A job: reads the sensor, decides, drives. The motor, which is only simulated, gains and loses
 * speed. */
static void control(void *argument)
{
    static long sum;
    long error = TARGET - speed;

    (void)argument;
    sum += error;
    drive = error * 2 + sum / 50;
    speed += (drive - speed) / 20;
}

/* A job that never ends. */
static void broken(void *argument)
{
    (void)argument;
    for (;;) {
    }
}

static unsigned long start(struct rt_task *task, uint8_t *stack, uint32_t period_us,
                           uint32_t budget_us)
{
    struct rt_params params = {.entry = (uintptr_t)rt_task_entry,
                               .stack = (uintptr_t)stack + STACK,
                               .arg = (uintptr_t)task,
                               .period_us = period_us,
                               .budget_us = budget_us,
                               .deadline_us = period_us};
    struct hcall_ret app = rt_create_app(&params);
    struct hcall_ret launched = rt_launch_app(RT_OWN_VM, app.value, 0);

    print("motor: app %lu: created %ld, launched %ld\n", app.value, app.error, launched.error);
    return app.value;
}

static void report(const char *name, unsigned long app)
{
    struct rt_stats s;

    if (rt_get_stats(app, &s).error == HCALL_OK) {
        print("motor: %s: %lu jobs, %lu ended, %lu late, %lu budgets used up, at most %lu us\n",
              name, s.releases, s.completions, s.misses, s.overruns,
              s.response_max / (PLATFORM_TIMEBASE_HZ / 1000000));
    }
}

int main(unsigned long hart, const void *fdt)
{
    static struct rt_task tasks[] = {{control, NULL}, {broken, NULL}};
    static uint8_t stacks[2][STACK] __attribute__((aligned(16)));
    unsigned long controller, bug;

    (void)hart, (void)fdt;
    uart_init();
    (void)timer_init();
    csr_write_sie(SIE_TIMER);
    controller = start(&tasks[0], stacks[0], 1000, 50);
    bug = start(&tasks[1], stacks[1], 10000, 3000);
    for (;;) {
        timer_set(csr_read_time() + PLATFORM_TIMEBASE_HZ);
        csr_wait_for_interrupt();
        print("motor: %ld turns a minute\n", speed);
        report("control", controller);
        report("broken", bug);
    }
}
