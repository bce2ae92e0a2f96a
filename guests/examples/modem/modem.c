/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An RT app maps bits to QAM16 symbols on an accelerator, with a deadline. Each release takes the
 * symbols of the job that the release
 * before has started, compares them with software's, and starts the next job: the device has a
 * period for each. The app does not
 * wait for the device. With the guest model no write blocks it, and START is kept until there is a
 * region; a priority that no other
 * VM has bounds the time until then by one preemption and one configuration. Symbols that are not
 * there in time come from software.
 *
 * Boot arguments:
 *   period=n  microseconds from release to release (default 10000)
 *   budget=n  microseconds of each period (default: a twentieth of it)
 *   deadline=n  microseconds from a release to the end of its job (default: the period)
 *   device=n  microseconds that a job takes on the device: declared, so that admission counts it;
 *             0: not declared (default)
 *   starts=n  prints when the first n jobs on the device were started (default 0)
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
#define STARTS 64U
#define US (PLATFORM_TIMEBASE_HZ / 1000000U)

int main(unsigned long hart, const void *fdt);

/* Owner: the app, once it is launched. The manager reads the counters. */
struct modem {
    struct accel_unit unit;
    struct accel_job job;
    struct random random;
    bool running; /* a job is on the device */
    volatile unsigned int late, wrong;
    volatile unsigned int started; /* jobs */
    /* ticks of `time` before the first write of each of the first jobs */
    uint64_t starts[STARTS];
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
    m->wrong += result.fault != 0 || result.size != SYMBOLS ||
                memcmp(m->output, m->expected, sizeof(m->expected)) != 0;
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
        if (m->started < STARTS) {
            m->starts[m->started] = machine_time();
        }
        m->started++;
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

struct timing {
    uint32_t period_us, budget_us, deadline_us, device_us;
};

/* Declares the device, so that the launch counts its jobs. */
static struct hcall_ret declare(unsigned long app, uint32_t device_us)
{
    struct hcall_ret ret = rt_use_device(app, modem.unit.device.device, device_us);

    if (ret.error != HCALL_OK) {
        print("modem: the device is not declared: %s\n", rt_strerror(HCALL_RT_USE_DEVICE, ret));
    } else {
        print("modem: a job on the device takes at most %lu us, apps aside\n", ret.value);
    }
    return ret;
}

static struct hcall_ret launch_created(unsigned long app, const struct timing *t)
{
    struct hcall_ret ret = {HCALL_OK, 0};

    if (t->device_us != 0 && modem.unit.present) {
        ret = declare(app, t->device_us);
    }
    if (ret.error == HCALL_OK) {
        ret = rt_launch_app(RT_OWN_VM, app, 0);
        if (ret.error != HCALL_OK) {
            print("modem: the app is not launched: %s\n", rt_strerror(HCALL_RT_LAUNCH_APP, ret));
        }
    }
    return ret;
}

/* Returns the app's id, or the error of the call that failed. */
static struct hcall_ret launch(struct rt_task *task, const struct timing *t)
{
    static uint8_t stack[STACK] __attribute__((aligned(16)));
    struct rt_params params = {.entry = (uintptr_t)rt_task_entry,
                               .stack = (uintptr_t)stack + STACK,
                               .arg = (uintptr_t)task,
                               .period_us = t->period_us,
                               .budget_us = t->budget_us,
                               .deadline_us = t->deadline_us};
    struct hcall_ret app = rt_create_app(&params), launched;

    if (app.error != HCALL_OK) {
        print("modem: the app is not created: %s\n", rt_strerror(HCALL_RT_CREATE_APP, app));
        return app;
    }
    launched = launch_created(app.value, t);
    return launched.error == HCALL_OK ? app : launched;
}

/* Prints a line; returns the app's releases. */
static uint64_t report(unsigned long app)
{
    struct rt_stats s = {0};

    (void)rt_get_stats(app, &s);
    print("modem: qam16: %u jobs on the device, %u in software, %u late, %u wrong; %lu releases, "
          "%lu misses\n",
          modem.unit.on_device, modem.unit.in_software, modem.late, modem.wrong,
          (unsigned long)s.releases, (unsigned long)s.misses);
    return s.releases;
}

static void print_starts(unsigned long count)
{
    for (unsigned int i = 0; i < count && i < STARTS && i < modem.started; i++) {
        print("modem: job %u started at %lu\n", i, (unsigned long)modem.starts[i]);
    }
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
    unsigned long pause = fdt_bootarg_number(fdt, "report", 1000),
                  jobs = fdt_bootarg_number(fdt, "jobs", 0);
    struct timing t = {.period_us = (uint32_t)fdt_bootarg_number(fdt, "period", 10000)};
    struct hcall_ret app;
    uint64_t releases = 0;

    (void)hart;
    t.budget_us = (uint32_t)fdt_bootarg_number(fdt, "budget", t.period_us / BUDGET_PART);
    t.deadline_us = (uint32_t)fdt_bootarg_number(fdt, "deadline", t.period_us);
    t.device_us = (uint32_t)fdt_bootarg_number(fdt, "device", 0);
    uart_init();
    (void)timer_init();
    accel_unit_open(&modem.unit, "qam16", accel_soft_qam16);
    modem.job = (struct accel_job){.size = FRAME, .input = modem.input};
    modem.random = random_from(1);
    if (modem.unit.present) {
        (void)accel_set_model(&modem.unit.device, ACCEL_MODEL_GUEST);
    }
    app = launch(&task, &t);
    while (app.error == HCALL_OK && (jobs == 0 || releases < jobs)) {
        wait_ms(pause);
        releases = report(app.value);
    }
    print_starts(fdt_bootarg_number(fdt, "starts", 0));
    print("modem: done\n");
    return app.error != HCALL_OK || modem.wrong != 0;
}
