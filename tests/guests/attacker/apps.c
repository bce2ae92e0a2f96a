/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Misbehaving real-time apps, and invalid calls about apps. They must not affect the ticker's app,
 * whose period and deadline are shorter.
 */
#include "attacker.h"
#include "hcall.h"
#include "rt.h"

#define APPS 3U /* as in the system file */
#define PERIOD_US 5000U
#define BUDGET_US 200U
#define TICKS_PER_US (PLATFORM_TIMEBASE_HZ / 1000000U)
#define STACK ARCH_APP_STACK

static uint8_t stacks[APPS][STACK] __attribute__((aligned(16)));
static struct rt_task tasks[APPS];
volatile unsigned long app_jobs;

static struct rt_params params_of(unsigned int n)
{
    return (struct rt_params){.entry = hcall_address((const void *)(uintptr_t)rt_task_entry),
                              .stack = hcall_address(stacks[n]) + sizeof(stacks[n]),
                              .arg = (uintptr_t)&tasks[n],
                              .period_us = PERIOD_US,
                              .budget_us = BUDGET_US,
                              .deadline_us = PERIOD_US,
                              .cpu = 0};
}

void app_start(struct verdict *v, unsigned int n, void (*job)(void *argument))
{
    struct rt_params params = params_of(n);
    struct hcall_ret ret;

    tasks[n] = (struct rt_task){job, NULL};
    ret = rt_create_app(&params);
    judge(v, ret.error == 0, "create: %ld", ret.error);
    ret = rt_launch_app(RT_OWN_VM, ret.value, 0);
    judge(v, ret.error == 0, "launch: %ld", ret.error);
}

void apps_start_together(struct verdict *v, void (*job)(void *argument))
{
    uint64_t first = machine_time() + MS;

    for (unsigned int n = 0; n < APPS; n++) {
        struct rt_params params = params_of(n);
        struct hcall_ret ret;

        tasks[n] = (struct rt_task){job, NULL};
        params.period_us = PERIOD_US / 10;
        params.deadline_us = PERIOD_US / 10;
        params.budget_us = BUDGET_US / 10;
        ret = rt_create_app(&params);
        ret = rt_launch_app(RT_OWN_VM, ret.value, first);
        judge(v, ret.error == 0, "launch: %ld", ret.error);
    }
}

/* --- jobs of apps --- */

static void job_endless(void *argument)
{
    (void)argument;
    app_jobs++;
    for (;;) {
    }
}

static void job_waits(void *argument)
{
    (void)argument;
    app_jobs++;
    for (;;) {
        machine_wait(); /* no enabled interrupt can end the wait */
    }
}

static void job_calls(void *argument)
{
    (void)argument;
    app_jobs++;
    for (unsigned long n = 0;; n++) {
        (void)hcall_call(n % 40 == HCALL_RT_DELETE_APP || n % 40 == HCALL_RT_END_JOB ? 63 : n % 40,
                         ALL, n, ALL);
    }
}

static void job_floods(void *argument)
{
    (void)argument;
    app_jobs++;
    for (;;) {
        flood_once();
    }
}

static void job_deletes_itself(void *argument)
{
    (void)argument;
    app_jobs++;
    (void)rt_delete_app(RT_SELF);
    app_jobs += 1000; /* it returned, which is an error */
}

static void job_ends_at_once(void *argument)
{
    (void)argument;
    app_jobs++;
}

static void job_faults(void *argument)
{
    (void)argument;
    arch_fail();
}

/*
 * Apps that never end their jobs; arg: the job. Each must use its budget in each period and no
 * more.
 */
void app_overruns(struct verdict *v, uint64_t arg)
{
    static void (*const kinds[])(void *argument) = {job_endless, job_waits, job_calls, job_floods};
    struct rt_stats stats;

    for (unsigned int n = 0; n < APPS; n++) {
        app_start(v, n, kinds[arg]);
    }
    spin(40UL * MS);
    for (unsigned int n = 0; n < APPS; n++) {
        struct hcall_ret ret = rt_get_stats(n, &stats);

        judge(v, ret.error == 0 && stats.overruns >= 5, "app %u: error %ld, %lu overruns", n,
              ret.error, (unsigned long)stats.overruns);
        judge(v, stats.runtime <= (stats.overruns + 1) * (BUDGET_US * TICKS_PER_US + END_TICKS),
              "app %u: ran for %lu ticks in %lu budgets", n, (unsigned long)stats.runtime,
              (unsigned long)stats.overruns);
        judge(v, rt_delete_app(n).error == 0, "app %u: not deleted", n);
    }
    judge(v, app_jobs == APPS, "%lu jobs", app_jobs);
}

void app_ends_by(struct verdict *v, void (*job)(void *argument))
{
    for (unsigned int n = 0; n < 20; n++) {
        uint64_t end = machine_time() + 50UL * MS;

        app_jobs = 0;
        app_start(v, 0, job);
        /* success: the app had not run yet */
        while (rt_delete_app(0).error == 0 && machine_time() < end) {
            spin(MS);
        }
        judge(v, app_jobs <= 1, "it came back");
    }
}

void app_deletes_itself(struct verdict *v, uint64_t arg)
{
    (void)arg;
    app_ends_by(v, job_deletes_itself);
}

/* Apps that are created, launched and deleted as fast as possible. */
void app_storm(struct verdict *v, uint64_t arg)
{
    uint64_t end = machine_time() + 30UL * MS;

    (void)arg;
    while (machine_time() < end) {
        for (unsigned int n = 0; n < APPS; n++) {
            app_start(v, n, job_ends_at_once);
        }
        for (unsigned int n = 0; n < APPS; n++) {
            judge(v, rt_delete_app(n).error == 0, "app %u: not deleted", n);
        }
    }
}

/* A trap in an app without a trap vector stops the VM. */
void app_fails(struct verdict *v, uint64_t arg)
{
    (void)arg;
    app_start(v, 0, job_faults);
    spin(50UL * MS);
}

/* --- calls about apps --- */

static void try_create(struct verdict *v, const struct rt_params *params, long error,
                       const char *what)
{
    long got = rt_create_app(params).error;

    judge(v, got == error, "%s: %ld", what, got);
}

static void create_times(struct verdict *v)
{
    static const uint32_t wrong[][3] = {/* period, budget, deadline */
                                        {0, 1, 1},         {10, 0, 10},     {10, 5, 4},
                                        {10, 11, 10},      {10, 5, 11},     {10, 5, 0},
                                        {1U << 31, 1, 10}, {~0U, ~0U, ~0U}, {10, ~0U, 10}};
    struct rt_params params = params_of(0);

    for (size_t i = 0; i < LENGTH_OF(wrong); i++) {
        params.period_us = wrong[i][0];
        params.budget_us = wrong[i][1];
        params.deadline_us = wrong[i][2];
        try_create(v, &params, HCALL_ERR_INVALID_PARAM, "times");
    }
    params = params_of(0);
    for (params.cpu = 1; params.cpu != 0; params.cpu <<= 1) {
        try_create(v, &params, HCALL_ERR_INVALID_PARAM, "hart");
    }
}

static const unsigned long places[] = BAD_PLACES;

/* 64-bit addresses whose lower 32 bits would be valid. */
static const uint64_t wide[] = {RAM_BASE + 0x1000 + (UINT64_C(1) << 32),
                                RAM_BASE + 0x1000 + (UINT64_C(1) << 63)};

static void create_addresses(struct verdict *v)
{
    struct rt_params params;

    for (size_t i = 0; i < LENGTH_OF(wide); i++) {
        params = params_of(0);
        params.entry = wide[i];
        try_create(v, &params, HCALL_ERR_INVALID_ADDRESS, "wide entry");
        params = params_of(0);
        params.stack = wide[i];
        try_create(v, &params, HCALL_ERR_INVALID_ADDRESS, "wide stack");
    }
    for (size_t i = 0; i < LENGTH_OF(places); i++) {
        params = params_of(0);
        params.entry = places[i];
        try_create(v, &params, HCALL_ERR_INVALID_ADDRESS, "entry");
        params = params_of(0);
        params.stack = places[i];
        try_create(v, &params, HCALL_ERR_INVALID_ADDRESS, "stack");
        try_call(v, &(struct call){HCALL_RT_CREATE_APP, places[i], sizeof(params), 0,
                                   HCALL_ERR_INVALID_ADDRESS});
    }
    try_call(v, &(struct call){HCALL_RT_CREATE_APP, RAM_END - sizeof(params) + 1, sizeof(params), 0,
                               HCALL_ERR_INVALID_ADDRESS});
    params = params_of(0);
    params.entry = RAM_END - 2;
    try_create(v, &params, HCALL_ERR_INVALID_ADDRESS, "entry at the end");
    params.entry = RAM_BASE + 1;
    try_create(v, &params, HCALL_ERR_INVALID_ADDRESS, "odd entry");
    params = params_of(0);
    params.stack = RAM_BASE;
    try_create(v, &params, HCALL_ERR_INVALID_ADDRESS, "stack at the begin");
    params.stack = RAM_END - 8;
    try_create(v, &params, HCALL_ERR_INVALID_ADDRESS, "odd stack");
}

/* Invalid parameters create no app: all slots are free afterwards. */
void app_create(struct verdict *v, uint64_t arg)
{
    struct rt_params params = params_of(0);

    (void)arg;
    create_times(v);
    create_addresses(v);
    for (unsigned int size = 0; size < 64; size++) {
        unsigned long wrong = size == sizeof(params) ? ALL : size;

        try_call(v, &(struct call){HCALL_RT_CREATE_APP, hcall_address(&params), wrong, 0,
                                   HCALL_ERR_INVALID_PARAM});
    }
    for (unsigned int n = 0; n < APPS; n++) {
        struct hcall_ret ret = rt_create_app(&params);

        judge(v, ret.error == 0 && ret.value == n, "app %u: %ld", n, ret.error);
    }
    try_create(v, &params, HCALL_ERR_FAILED, "one too many");
}

static void try_about(struct verdict *v, unsigned long app)
{
    struct rt_stats stats;
    long errors[] = {rt_launch_app(RT_OWN_VM, app, 0).error, rt_get_stats(app, &stats).error,
                     app == RT_SELF ? HCALL_ERR_INVALID_PARAM : rt_delete_app(app).error};

    for (unsigned int i = 0; i < 3; i++) {
        judge(v, errors[i] == HCALL_ERR_INVALID_PARAM, "call %u about app 0x%lx: %ld", i, app,
              errors[i]);
    }
}

/*
 * Launches, deletes and reads apps that do not exist or belong to another VM; invalid buffers for
 * statistics.
 */
void app_calls(struct verdict *v, uint64_t arg)
{
    static const unsigned long bad_ids[] = {0, 1, APPS, 64, 255, BIT(32), TOP_BIT, ~0UL, ~0UL - 1};
    static const unsigned long others[] = {VM_WITNESS, VM_TICKER};
    static const unsigned long no_vm[] = {3, 16, 255, BIT(32), TOP_BIT, ~0UL - 1};
    struct rt_params params = params_of(0);

    (void)arg;
    for (size_t i = 0; i < LENGTH_OF(bad_ids); i++) {
        try_about(v, bad_ids[i]);
    }
    for (unsigned int i = 0; i < 2; i++) {
        judge(v, rt_launch_app(others[i], 0, 0).error == HCALL_ERR_DENIED, "VM %lu's app launched",
              others[i]);
    }
    for (size_t i = 0; i < LENGTH_OF(no_vm); i++) {
        judge(v, rt_launch_app(no_vm[i], 0, 0).error == HCALL_ERR_INVALID_PARAM, "VM 0x%lx",
              no_vm[i]);
    }
    judge(v, rt_create_app(&params).error == 0, "not created");
    for (size_t i = 0; i < LENGTH_OF(places); i++) {
        try_call(v, &(struct call){HCALL_RT_GET_STATS, 0, places[i], sizeof(struct rt_stats),
                                   HCALL_ERR_INVALID_ADDRESS});
    }
    try_call(v, &(struct call){HCALL_RT_GET_STATS, 0, RAM_END - 63, sizeof(struct rt_stats),
                               HCALL_ERR_INVALID_ADDRESS});
    /* the caller is not an app */
    try_call(v, &(struct call){HCALL_RT_END_JOB, 0, 0, 0, HCALL_ERR_DENIED});
    judge(v, rt_launch_app(RT_OWN_VM, 0, FAR_RELEASE).error == 0,
          "not launched for the end of time");
    judge(v, rt_launch_app(RT_OWN_VM, 0, 0).error == HCALL_ERR_ALREADY_AVAILABLE, "launched twice");
}

/* Budgets of minutes and more, above the limits of the system file. */
static void demand_beyond_limits(struct verdict *v)
{
    static const uint32_t endless[][2] = {{0x7fffffff, 0x7fffffff},
                                          {0x7fffffff, 0x7fffffff - 100},
                                          {0x7fffffff, 9001},
                                          {10000, 9001}};

    for (size_t i = 0; i < LENGTH_OF(endless); i++) {
        struct rt_params params = params_of(0);
        struct hcall_ret ret;

        params.period_us = endless[i][0];
        params.deadline_us = endless[i][0];
        params.budget_us = endless[i][1];
        ret = rt_create_app(&params);
        judge(v, ret.error == HCALL_ERR_DENIED && ret.value == RT_FIELD_BUDGET,
              "create %lu: %ld %ld", (unsigned long)i, ret.error, ret.value);
    }
}

/*
 * Demands above the capacity of the hart, or that would break other deadlines or best effort's
 * reserve.
 */
void app_excess_demand(struct verdict *v, uint64_t arg)
{
    static const uint32_t excess[][3] = {
        {1000, 1000, 1000}, {1000, 990, 1000},  {300, 295, 300},          {100, 99, 100},
        {1, 1, 1},          {200000, 200, 200}, {1000000, 8999, 1000000}, {10, 8, 10}};

    (void)arg;
    demand_beyond_limits(v);
    for (size_t i = 0; i < LENGTH_OF(excess); i++) {
        struct rt_params params = params_of(0);
        struct hcall_ret ret;

        tasks[0] = (struct rt_task){job_endless, NULL};
        params.period_us = excess[i][0];
        params.budget_us = excess[i][1];
        params.deadline_us = excess[i][2];
        ret = rt_create_app(&params);
        judge(v, ret.error == 0, "create %lu: %ld", (unsigned long)i, ret.error);
        ret = rt_launch_app(RT_OWN_VM, 0, 0);
        judge(v, ret.error == HCALL_ERR_FAILED, "launch %lu: %ld", (unsigned long)i, ret.error);
        judge(v, rt_delete_app(0).error == 0, "delete %lu", (unsigned long)i);
    }
}
