/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uses the VM's accelerators, and compares every result with the software's. The word `mode=` of
 * the kernel's arguments selects how; the last line is the same in all modes:
 *
 *      accel: done, 0 wrong
 */
#include <stddef.h>
#include <string.h>

#include "fdt.h"
#include "machine.h"
#include "print.h"
#include "run.h"
#include "timer.h"

#define SMALL 256U /* bytes of input */
#define LARGE RUN_INPUT
#define ALWAYS 8192U
#define DEMO 16384U
#define DEMO_LINE 4U
#define DEMO_PAUSE_US 500000U
#define SHARE_JOBS 6U
#define ASSIGNS 8U
#define LONG_JOBS 10U
#define MANY_JOBS 30U
#define URGENT_JOBS 6U
#define URGENT_BEGIN_US 14000U
#define URGENT_PAUSE_US 700U
#define PATH_JOBS 64U
#define PATH_PAUSE_US 300U
#define FALLBACK_JOBS 16U
#define FALLBACK_PAUSE_US 500U
#define FAULT_DMA 1U

int main(unsigned long hart, const void *fdt);

/* The first write to a device whose task a free region holds: the fabric assigns the region,
 * nothing is configured. */
static void measure_assign(const struct accel *a, const char *name)
{
    uint64_t least = UINT64_MAX, most = 0;

    for (unsigned int i = 0; i < ASSIGNS && accel_release(a).error == HCALL_OK; i++) {
        uint64_t first = run_first_write(a);

        least = first < least ? first : least;
        most = first > most ? first : most;
    }
    print("accel: %s: assign %lu to %lu instructions, mapped %lu\n", name, (unsigned long)least,
          (unsigned long)most, (unsigned long)run_first_write(a));
}

/* All devices of the VM in turn. */
static unsigned int share(void)
{
    struct accel accels[KINDS];
    bool open[KINDS];
    unsigned int wrong = 0;

    for (unsigned int k = 0; k < KINDS; k++) {
        open[k] = accel_open(&accels[k], kinds[k].name) == 0;
        if (open[k]) {
            print("accel: %s: first use %lu instructions\n", kinds[k].name,
                  (unsigned long)run_first_write(&accels[k]));
        }
    }
    for (unsigned int i = 0; i < SHARE_JOBS * KINDS; i++) {
        unsigned int k = i % KINDS;

        wrong += open[k] ? run_job(&accels[k], &kinds[k], SMALL, i) : 0;
    }
    for (unsigned int k = 0; k < KINDS; k++) {
        if (open[k]) {
            measure_assign(&accels[k], kinds[k].name);
            run_report(&accels[k], kinds[k].name);
        }
    }
    return wrong;
}

/* Long jobs without a pause, for another VM to preempt. */
static unsigned int run_long_jobs(unsigned int jobs)
{
    struct accel a;
    const struct kind *kind = run_open_any(&a);
    unsigned int wrong = kind != NULL ? run_job(&a, kind, LARGE, 0) : 1;

    for (unsigned int i = 1; i < jobs && kind != NULL; i++) {
        wrong += run_again(&a);
    }
    if (kind != NULL) {
        run_report(&a, kind->name);
    }
    return wrong;
}

static unsigned int long_jobs(void)
{
    return run_long_jobs(LONG_JOBS);
}

static unsigned int many_jobs(void)
{
    return run_long_jobs(MANY_JOBS);
}

/* One long job after the other, without end, that need next to no time of the hart: their results
 * are not compared. */
static unsigned int busy(void)
{
    struct accel a;
    const struct kind *kind = run_open_any(&a);
    bool fault = kind == NULL;

    print("accel: busy\n");
    while (!fault) {
        fault = run_unchecked(&a, kind, LARGE).fault != 0;
    }
    return 1;
}

/* Short jobs with pauses, once another VM has had time to begin its long ones. Prints what the
 * first write to the device took each time: on QEMU 10, whose counter stops while the hart sleeps,
 * without the waits for the fabric. */
static unsigned int urgent_jobs(void)
{
    struct accel a;
    const struct kind *kind = run_open_any(&a);
    unsigned int wrong = 0;

    if (kind == NULL) {
        return 1;
    }
    run_sleep(URGENT_BEGIN_US);
    for (unsigned int i = 0; i < URGENT_JOBS; i++) {
        uint64_t first = run_first_write(&a);

        wrong += run_job(&a, kind, SMALL, i);
        print("accel: %s: first write %lu instructions\n", kind->name, (unsigned long)first);
        run_sleep(URGENT_PAUSE_US);
    }
    run_report(&a, kind->name);
    return wrong;
}

/* A request and a small job for each device, twice in turn, with pauses: beside the long jobs of
 * another VM, and after their end. The device is released after each job, so that the next one is
 * requested. */
static unsigned int paths(void)
{
    struct accel accels[KINDS];
    const struct kind *used[KINDS];
    unsigned int wrong = 0, count = 0;

    for (unsigned int k = 0; k < KINDS; k++) {
        used[count] = &kinds[k];
        count += accel_open(&accels[count], kinds[k].name) == 0;
    }
    run_sleep(URGENT_BEGIN_US);
    for (unsigned int i = 0; i < PATH_JOBS && count > 0 && wrong == 0; i++) {
        unsigned int k = i / 2 % count;

        run_sleep(PATH_PAUSE_US);
        wrong += run_job(&accels[k], used[k], SMALL, i);
        wrong += accel_release(&accels[k]).error != HCALL_OK;
    }
    for (unsigned int k = 0; k < count; k++) {
        run_report(&accels[k], used[k]->name);
    }
    return wrong + (count == 0);
}

/* Input outside of the VM's memory: the job fails, and the next one, with other addresses, does
 * not. */
static unsigned int outside(void)
{
    struct accel a;
    const struct kind *kind = run_open_any(&a);
    struct accel_result result;

    if (kind == NULL) {
        return 1;
    }
    result = accel_run(
        &a, &(struct accel_job){.size = SMALL, .input = (const void *)0x70000000, .output = &a});
    print("accel: outside: fault %u\n", result.fault);
    return (result.fault != FAULT_DMA) + run_job(&a, kind, SMALL, 1);
}

/* The guest model: the request returns at once, and an event tells when the device is there. */
static unsigned int events(void)
{
    struct accel a;
    const struct kind *kind = run_open_any(&a);
    unsigned long seen = 0, turns = 0;
    uint64_t first;

    if (kind == NULL || accel_set_model(&a, ACCEL_MODEL_GUEST) != HCALL_OK) {
        return 1;
    }
    first = run_first_write(&a);
    while ((seen & ACCEL_EVENT_READY << a.device) == 0) {
        seen |= accel_events();
        turns++;
    }
    print("accel: events: first write %lu instructions, wait %u, ready %u, after %s\n",
          (unsigned long)first, (seen & ACCEL_EVENT_WAIT << a.device) != 0,
          (seen & ACCEL_EVENT_READY << a.device) != 0, turns > 1 ? "other work" : "no other work");
    return run_job(&a, kind, SMALL, 1);
}

/* Jobs of every task: on the device while the VM has it, else in software. */
static unsigned int fallback(void)
{
    unsigned int wrong = 0;

    for (const struct kind *kind = kinds; kind < kinds + KINDS; kind++) {
        struct accel_unit u;

        accel_unit_open(&u, kind->name, kind->soft);
        for (unsigned int i = 0; i < FALLBACK_JOBS; i++) {
            wrong += run_unit(&u, kind, SMALL, i);
            run_sleep(FALLBACK_PAUSE_US);
        }
        print("accel: %s: %u jobs on the device, %u in software\n", kind->name, u.on_device,
              u.in_software);
    }
    return wrong;
}

/* Jobs without end. */
static unsigned int always(void)
{
    struct accel a;
    const struct kind *kind = run_open_any(&a);

    for (unsigned int i = 1; kind != NULL; i++) {
        print("accel: job %u, %u wrong\n", i, run_job(&a, kind, ALWAYS, i));
    }
    return 1;
}

/* Jobs with pauses, without end, for a console: a line for DEMO_LINE jobs. */
static unsigned int demo(void)
{
    struct accel a;
    const struct kind *kind = run_open_any(&a);
    unsigned int wrong = 0;

    for (unsigned int i = 1; kind != NULL; i++) {
        uint64_t begin = machine_time(), end;

        wrong += run_job(&a, kind, DEMO, i);
        end = machine_time();
        if (i % DEMO_LINE == 0) {
            print("accel: %s job %u: %u wrong so far, last %lu us\n", kind->name, i, wrong,
                  (unsigned long)((end - begin) / (PLATFORM_TIMEBASE_HZ / 1000000U)));
        }
        run_sleep(DEMO_PAUSE_US);
    }
    return 1;
}

static const struct mode {
    const char *name;
    unsigned int (*run)(void); /* returns the number of wrong results */
} modes[] = {
    {"share", share},        {"long", long_jobs},    {"many", many_jobs},  {"busy", busy},
    {"urgent", urgent_jobs}, {"paths", paths},       {"outside", outside}, {"always", always},
    {"demo", demo},          {"fallback", fallback}, {"events", events},
};
#define MODES (sizeof(modes) / sizeof(modes[0]))

/* The mode of this name, or the first. */
static const struct mode *find_mode(const char *name)
{
    const struct mode *mode = modes;

    for (size_t i = 0; i < MODES; i++) {
        mode = strcmp(modes[i].name, name) == 0 ? &modes[i] : mode;
    }
    return mode;
}

int main(unsigned long hart, const void *fdt)
{
    char name[16];
    unsigned int wrong;

    (void)hart;
    timer_init();
    wrong = find_mode(fdt_bootarg(fdt, "mode", name, sizeof(name)) != NULL ? name : modes[0].name)
                ->run();
    print("accel: done, %u wrong\n", wrong);
    return wrong != 0;
}
