/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An RT app maps bits to QAM16 symbols on an accelerator, with a deadline. Each release takes the symbols of the job that the release
 * before has started, compares them with software's, and starts the next job: the device has a period for each. The app does not
 * wait for the device. With the guest model no write blocks it, and START is kept until there is a region; a priority that no other
 * VM has bounds the time until then by one preemption and one configuration. Symbols that are not there in time come from software.
 *
 * Boot arguments:
 *   period=n  microseconds from release to release (default 10000)
 *   budget=n  microseconds of each period (default: a twentieth of it)
 *   report=n  milliseconds from line to line (default 1000)
 *   jobs=n    shuts down after so many releases, 0: never (default)
 */
#include <string.h>

#include "accel_unit.h"
#include "fdt.h"
#include "machine.h"
#include "platform.h"
#include "print.h"
#include "random.h"
#include "rt.h"
#include "timer.h"
#include "uart.h"

#define FRAME 128U /* bytes of input */
#define SYMBOLS ACCEL_QAM16_OUTPUT(FRAME)
#define STACK 4096U
#define BUDGET_PART 20U
#define US (PLATFORM_TIMEBASE_HZ / 1000000U)

int main(unsigned long hart, const void *fdt);

/* Owner: the app, once it is launched. The manager reads the counters. */
struct modem {
    struct accel_unit unit;
    struct accel_job job;
    struct random random;
    bool running; /* a job is on the device */
    volatile unsigned int late, wrong;
    uint64_t input[FRAME / 8], output[SYMBOLS / 8], expected[SYMBOLS / 8];
};

static struct modem modem;

/* The symbols of the last release. */
static void take(struct modem *m)
{
    struct accel_result result;

    if (!accel_over(&m->unit.device)) {
        m->late++;
        return; /* the device still has the job's buffers */
    }
    result = accel_finish(&m->unit.device);
    m->running = false;
    m->unit.on_device++;
    m->wrong += result.fault != 0 || result.size != SYMBOLS || memcmp(m->output, m->expected, sizeof(m->expected)) != 0;
    memset(m->output, 0, sizeof(m->output));
}

/* Starts the job of this release. */
static void start(struct modem *m)
{
    for (unsigned int i = 0; i < FRAME / 8U; i++) {
        m->input[i] = random_next(&m->random);
    }
    m->job.output = m->expected;
    if (m->unit.present) {
        (void)m->unit.soft(&m->job);
        m->job.output = m->output;
        accel_submit(&m->unit.device, &m->job, false);
        m->running = true;
    } else {
        (void)accel_unit_run_soft(&m->unit, &m->job);
    }
}

static void release(void *argument)
{
    struct modem *m = argument;

    if (m->running) {
        take(m);
    }
    if (!m->running) {
        start(m);
    }
}

/* Returns the app's id, or the error of the call that failed. */
static struct hcall_ret launch(struct rt_task *task, uint32_t period_us, uint32_t budget_us)
{
    static uint8_t stack[STACK] __attribute__((aligned(16)));
    struct rt_params params = {.entry = (uintptr_t)rt_task_entry,
                               .stack = (uintptr_t)stack + STACK,
                               .arg = (uintptr_t)task,
                               .period_us = period_us,
                               .budget_us = budget_us,
                               .deadline_us = period_us};
    struct hcall_ret app = rt_create_app(&params), launched;

    if (app.error != HCALL_OK) {
        print("modem: the app is not created: %s\n", rt_strerror(HCALL_RT_CREATE_APP, app));
        return app;
    }
    launched = rt_launch_app(RT_OWN_VM, app.value, 0);
    if (launched.error != HCALL_OK) {
        print("modem: the app is not launched: %s\n", rt_strerror(HCALL_RT_LAUNCH_APP, launched));
        return launched;
    }
    return app;
}

/* Prints a line; returns the app's releases. */
static uint64_t report(unsigned long app)
{
    struct rt_stats s = {0};

    (void)rt_get_stats(app, &s);
    print("modem: qam16: %u jobs on the device, %u in software, %u late, %u wrong; %lu releases, %lu misses\n",
          modem.unit.on_device, modem.unit.in_software, modem.late, modem.wrong, (unsigned long)s.releases,
          (unsigned long)s.misses);
    return s.releases;
}

static void wait_ms(unsigned long ms)
{
    uint64_t until = machine_time() + ms * 1000U * US;

    timer_set(until);
    machine_wake_by_timer(true);
    while (machine_time() < until) {
        machine_wait();
    }
}

int main(unsigned long hart, const void *fdt)
{
    static struct rt_task task = {release, &modem};
    unsigned long pause = fdt_bootarg_number(fdt, "report", 1000), jobs = fdt_bootarg_number(fdt, "jobs", 0);
    uint32_t period_us = (uint32_t)fdt_bootarg_number(fdt, "period", 10000);
    uint32_t budget_us = (uint32_t)fdt_bootarg_number(fdt, "budget", period_us / BUDGET_PART);
    struct hcall_ret app;
    uint64_t releases = 0;

    (void)hart;
    uart_init();
    (void)timer_init();
    accel_unit_open(&modem.unit, "qam16", accel_soft_qam16);
    modem.job = (struct accel_job){.size = FRAME, .input = modem.input};
    modem.random = random_from(1);
    if (modem.unit.present) {
        (void)accel_set_model(&modem.unit.device, ACCEL_MODEL_GUEST);
    }
    app = launch(&task, period_us, budget_us);
    while (app.error == HCALL_OK && (jobs == 0 || releases < jobs)) {
        wait_ms(pause);
        releases = report(app.value);
    }
    print("modem: done\n");
    return app.error != HCALL_OK || modem.wrong != 0;
}
