/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Real-time apps that do what they should not, and calls about apps that make no sense. The ticker's app, whose period and
 * deadline are shorter, must never notice.
 */
#include "faults.h"
#include "hcall.h"
#include "platform.h"
#include "rt.h"

#define APPS 3U /* of the system file */
#define PERIOD_US 5000U
#define BUDGET_US 200U
#define INVALID (-3L)
#define DENIED (-4L)
#define BAD_ADDRESS (-5L)
#define AVAILABLE (-6L)

static uint8_t stacks[APPS][4096] __attribute__((aligned(16)));
static struct rt_task tasks[APPS];
static volatile unsigned long jobs;

static struct rt_params params_of(unsigned int n)
{
    return (struct rt_params){.entry = (uintptr_t)rt_task_entry,
                              .stack = (uintptr_t)(stacks[n] + sizeof(stacks[n])),
                              .arg = (uintptr_t)&tasks[n],
                              .period_us = PERIOD_US,
                              .budget_us = BUDGET_US,
                              .deadline_us = PERIOD_US,
                              .cpu = 0};
}

static void start(struct verdict *v, unsigned int n, void (*job)(void *argument))
{
    struct rt_params params = params_of(n);
    struct sbi_ret ret;

    tasks[n] = (struct rt_task){job, NULL};
    ret = rt_create_app(&params);
    judge(v, ret.error == 0, "create: %ld", ret.error);
    ret = rt_launch_app(RT_OWN_VM, (unsigned long)ret.value, 0);
    judge(v, ret.error == 0, "launch: %ld", ret.error);
}

/* --- what apps do --- */

static void job_endless(void *argument)
{
    (void)argument;
    jobs++;
    for (;;) {
    }
}

static void job_wfi(void *argument)
{
    (void)argument;
    jobs++;
    csr_write_sie(0);
    for (;;) {
        csr_wait_for_interrupt();
    }
}

static void job_calls(void *argument)
{
    (void)argument;
    jobs++;
    for (unsigned long n = 0;; n++) {
        (void)sbi_call(HCALL_EXTENSION, n % 40 == HCALL_RT_DELETE_APP || n % 40 == HCALL_RT_END_JOB ? 63 : n % 40, ~0UL,
                       n, ~0UL);
    }
}

static void job_deletes_itself(void *argument)
{
    (void)argument;
    jobs++;
    (void)rt_delete_app(RT_SELF);
    jobs += 1000; /* it came back */
}

static void job_stops_its_hart(void *argument)
{
    (void)argument;
    jobs++;
    (void)sbi_hart_stop();
    jobs += 1000;
}

static void job_ends_at_once(void *argument)
{
    (void)argument;
    jobs++;
}

static void job_wild(void *argument)
{
    (void)argument;
    csr_write_stvec(PLATFORM_HOLE);
    (void)*(volatile uint32_t *)REAL_HYPERVISOR;
}

/* Apps that never end their jobs; arg: which. Each uses up its budget in each period and no more. */
void app_overruns(struct verdict *v, uint64_t arg)
{
    static void (*const kinds[])(void *argument) = {job_endless, job_wfi, job_calls};
    struct rt_stats stats;

    for (unsigned int n = 0; n < APPS; n++) {
        start(v, n, kinds[arg]);
    }
    spin(40UL * MS);
    for (unsigned int n = 0; n < APPS; n++) {
        struct sbi_ret ret = rt_get_stats(n, &stats);

        judge(v, ret.error == 0 && stats.overruns >= 5, "app %u: error %ld, %lu overruns", n, ret.error,
              stats.overruns);
        judge(v, stats.runtime <= (stats.overruns + 1) * (BUDGET_US * 10 + 10),
              "app %u: ran for %lu ticks in %lu budgets", n, stats.runtime, stats.overruns);
        judge(v, rt_delete_app(n).error == 0, "app %u: not deleted", n);
    }
    judge(v, jobs == APPS, "%lu jobs", jobs);
}

/* Apps that end themselves in the middle of their job; arg: how. The slot is free again each time. */
void app_ends_itself(struct verdict *v, uint64_t arg)
{
    for (unsigned int n = 0; n < 20; n++) {
        uint64_t end = csr_read_time() + 50UL * MS;

        jobs = 0;
        start(v, 0, arg == 0 ? job_deletes_itself : job_stops_its_hart);
        while (rt_delete_app(0).error == 0 && csr_read_time() < end) { /* asked too early, it is deleted all the same */
            spin(MS);
        }
        judge(v, jobs <= 1, "it came back");
    }
}

/* Apps that are made, launched and deleted as fast as it goes. */
void app_storm(struct verdict *v, uint64_t arg)
{
    uint64_t end = csr_read_time() + 30UL * MS;

    (void)arg;
    while (csr_read_time() < end) {
        for (unsigned int n = 0; n < APPS; n++) {
            start(v, n, job_ends_at_once);
        }
        for (unsigned int n = 0; n < APPS; n++) {
            judge(v, rt_delete_app(n).error == 0, "app %u: not deleted", n);
        }
    }
}

/* A trap in an app without a trap vector: that ends the VM. */
void app_fails(struct verdict *v, uint64_t arg)
{
    (void)arg;
    start(v, 0, job_wild);
    spin(50UL * MS);
}

/* --- calls about apps --- */

static void try_create(struct verdict *v, const struct rt_params *params, long error, const char *what)
{
    long got = rt_create_app(params).error;

    judge(v, got == error, "%s: %ld", what, got);
}

static void create_times(struct verdict *v)
{
    static const uint32_t wrong[][3] = {/* period, budget, deadline */
                                        {0, 1, 1},  {10, 0, 10},       {10, 5, 4},      {10, 11, 10}, {10, 5, 11},
                                        {10, 5, 0}, {1U << 31, 1, 10}, {~0U, ~0U, ~0U}, {10, ~0U, 10}};
    struct rt_params params = params_of(0);

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        params.period_us = wrong[i][0];
        params.budget_us = wrong[i][1];
        params.deadline_us = wrong[i][2];
        try_create(v, &params, INVALID, "times");
    }
    params = params_of(0);
    for (params.cpu = 1; params.cpu != 0; params.cpu <<= 1) {
        try_create(v, &params, INVALID, "hart");
    }
}

static const uint64_t places[] = {0,
                                  REAL_FIRMWARE,
                                  REAL_HYPERVISOR,
                                  REAL_WITNESS,
                                  PLATFORM_UART_BASE,
                                  RAM_BASE - 16,
                                  RAM_END + 16,
                                  SHARED_END + 16,
                                  RAM_BASE + (1UL << 41),
                                  ~0UL - 15,
                                  1UL << 63};

static void create_addresses(struct verdict *v)
{
    struct rt_params params;

    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        params = params_of(0);
        params.entry = places[i];
        try_create(v, &params, BAD_ADDRESS, "entry");
        params = params_of(0);
        params.stack = places[i];
        try_create(v, &params, BAD_ADDRESS, "stack");
        try_create(v, (const struct rt_params *)places[i], BAD_ADDRESS, "parameters");
    }
    try_create(v, (const struct rt_params *)(RAM_END - sizeof(params) + 1), BAD_ADDRESS, "parameters at the end");
    params = params_of(0);
    params.entry = RAM_END - 2;
    try_create(v, &params, BAD_ADDRESS, "entry at the end");
    params.entry = RAM_BASE + 1;
    try_create(v, &params, BAD_ADDRESS, "odd entry");
    params = params_of(0);
    params.stack = RAM_BASE;
    try_create(v, &params, BAD_ADDRESS, "stack at the begin");
    params.stack = RAM_END - 8;
    try_create(v, &params, BAD_ADDRESS, "odd stack");
}

/* Nothing that cannot be makes an app: all the slots are free afterwards. */
void app_create(struct verdict *v, uint64_t arg)
{
    struct rt_params params = params_of(0);

    (void)arg;
    create_times(v);
    create_addresses(v);
    for (unsigned int size = 0; size < 64; size++) {
        long error =
            sbi_call(HCALL_EXTENSION, HCALL_RT_CREATE_APP, (uintptr_t)&params, size == sizeof(params) ? ~0UL : size, 0)
                .error;

        judge(v, error == INVALID, "size %u: %ld", size, error);
    }
    for (unsigned int n = 0; n < APPS; n++) {
        struct sbi_ret ret = rt_create_app(&params);

        judge(v, ret.error == 0 && ret.value == n, "app %u: %ld", n, ret.error);
    }
    try_create(v, &params, -1, "one too many");
}

static void try_about(struct verdict *v, unsigned long app)
{
    struct rt_stats stats;
    long errors[] = {rt_launch_app(RT_OWN_VM, app, 0).error, rt_get_stats(app, &stats).error,
                     app == RT_SELF ? INVALID : rt_delete_app(app).error};

    for (unsigned int i = 0; i < 3; i++) {
        judge(v, errors[i] == INVALID, "call %u about app 0x%lx: %ld", i, app, errors[i]);
    }
}

/* Launching, deleting, looking at what is not there or another's; statistics to where they may not go. */
void app_calls(struct verdict *v, uint64_t arg)
{
    static const unsigned long nobody[] = {0, 1, APPS, 64, 255, 1UL << 32, 1UL << 63, ~0UL, ~0UL - 1};
    static const unsigned long others[] = {VM_WITNESS, VM_TICKER};
    static const unsigned long no_vm[] = {3, 16, 255, 1UL << 32, 1UL << 63, ~0UL - 1};
    struct rt_params params = params_of(0);

    (void)arg;
    for (size_t i = 0; i < sizeof(nobody) / sizeof(nobody[0]); i++) {
        try_about(v, nobody[i]);
    }
    for (unsigned int i = 0; i < 2; i++) {
        judge(v, rt_launch_app(others[i], 0, 0).error == DENIED, "VM %lu's app launched", others[i]);
    }
    for (size_t i = 0; i < sizeof(no_vm) / sizeof(no_vm[0]); i++) {
        judge(v, rt_launch_app(no_vm[i], 0, 0).error == INVALID, "VM 0x%lx", no_vm[i]);
    }
    judge(v, rt_create_app(&params).error == 0, "not created");
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        long error = rt_get_stats(0, (struct rt_stats *)places[i]).error;

        judge(v, error == BAD_ADDRESS, "statistics to 0x%lx: %ld", places[i], error);
    }
    judge(v, rt_get_stats(0, (struct rt_stats *)(RAM_END - 63)).error == BAD_ADDRESS, "statistics at the end");
    judge(v, sbi_call(HCALL_EXTENSION, HCALL_RT_END_JOB, 0, 0, 0).error == DENIED, "a job ended that is none");
    judge(v, rt_launch_app(RT_OWN_VM, 0, ~0UL).error == 0, "not launched for the end of time");
    judge(v, rt_launch_app(RT_OWN_VM, 0, 0).error == AVAILABLE, "launched twice");
}

/* More than there is, and what would be in the way of others' deadlines. */
void app_greed(struct verdict *v, uint64_t arg)
{
    static const uint32_t greedy[][3] = {
        {1000, 1000, 1000}, {1000, 990, 1000}, {300, 295, 300}, {100, 99, 100}, {0x7fffffff, 0x7fffffff, 0x7fffffff},
        {1, 1, 1},          {200000, 200, 200}};

    (void)arg;
    for (size_t i = 0; i < sizeof(greedy) / sizeof(greedy[0]); i++) {
        struct rt_params params = params_of(0);
        struct sbi_ret ret;

        tasks[0] = (struct rt_task){job_endless, NULL};
        params.period_us = greedy[i][0];
        params.budget_us = greedy[i][1];
        params.deadline_us = greedy[i][2];
        ret = rt_create_app(&params);
        judge(v, ret.error == 0, "create %lu: %ld", i, ret.error);
        ret = rt_launch_app(RT_OWN_VM, 0, 0);
        judge(v, ret.error == -1, "launch %lu: %ld", i, ret.error);
        judge(v, rt_delete_app(0).error == 0, "delete %lu", i);
    }
}
