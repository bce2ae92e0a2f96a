/* SPDX-License-Identifier: Apache-2.0 */
/* The apps: each job executes a given number of instructions and records its lateness. */
#include "machine.h"
#include "platform.h"
#include "print.h"
#include "rtm.h"

#define TICKS_PER_US (PLATFORM_TIMEBASE_HZ / 1000000U)
#define RESPONSE_SHARE 64UL

struct rtm_app rtm_apps[RTM_APPS];

static void rtm_count(volatile uint32_t *buckets, uint64_t value)
{
    uint64_t bucket = value < RTM_BUCKETS ? value : RTM_BUCKETS - 1;

    buckets[bucket]++;
}

static void rtm_job(void *argument)
{
    struct rtm_app *app = argument;
    uint64_t period = app->spec.period_us * TICKS_PER_US;
    uint64_t first = app->first;
    /* relative to this release, as deadline <= period */
    uint64_t late = (machine_time() - first) % period;

    app->jobs++;
    if (app->spec.work >= 2) {
        machine_burn(app->spec.work);
    }
    if (app->spec.duty != NULL) {
        app->spec.duty(app);
    }
    if (first == 0) {
        return;
    }
    rtm_count(app->late, late);
    if (late > app->late_max) {
        app->late_max = late;
    }
    rtm_count(app->response, (machine_time() - first) % period * RESPONSE_SHARE / period);
}

static struct rtm_app *rtm_free_app(void)
{
    for (unsigned int i = 0; i < RTM_APPS; i++) {
        if (!rtm_apps[i].alive) {
            return &rtm_apps[i];
        }
    }
    return NULL;
}

static bool rtm_launch(struct rtm_app *app, uint64_t first)
{
    struct hcall_ret ret = rt_launch_app(RT_OWN_VM, app->id, first);

    if (ret.error == HCALL_OK) {
        app->first = machine_time_near(ret.value);
        return true;
    }
    print("rtm: app %lu not launched: %s\n", app->id, rt_strerror(HCALL_RT_LAUNCH_APP, ret));
    (void)rt_delete_app(app->id);
    return false;
}

static struct rtm_app *rtm_make(const struct rtm_spec *spec)
{
    struct rtm_app *app = rtm_free_app();
    struct rt_params params = {.entry = hcall_address((const void *)(uintptr_t)rt_task_entry),
                               .period_us = spec->period_us,
                               .budget_us = spec->budget_us,
                               .deadline_us = spec->deadline_us,
                               .cpu = spec->cpu};
    struct hcall_ret ret;

    if (app == NULL) {
        print("rtm: all app slots are in use\n");
        return NULL;
    }
    *app = (struct rtm_app){.task = {rtm_job, app}, .spec = *spec};
    params.stack = hcall_address(app->stack) + RTM_STACK;
    params.arg = (uintptr_t)&app->task;
    ret = rt_create_app(&params);
    if (ret.error != HCALL_OK) {
        print("rtm: app %u:%u:%u on hart %u not created: %s\n", spec->period_us, spec->budget_us,
              spec->deadline_us, spec->cpu, rt_strerror(HCALL_RT_CREATE_APP, ret));
        return NULL;
    }
    app->id = ret.value;
    return app;
}

bool rtm_start(const struct rtm_spec *spec, uint64_t first)
{
    struct rtm_app *app = rtm_make(spec);

    if (app == NULL) {
        return false;
    }
    app->alive = rtm_launch(app, first);
    return app->alive;
}

bool rtm_create(const struct rtm_spec *spec)
{
    struct rtm_app *app = rtm_make(spec);

    if (app == NULL) {
        return false;
    }
    app->alive = true;
    return true;
}

static struct rtm_app *rtm_find(unsigned long id)
{
    for (unsigned int i = 0; i < RTM_APPS; i++) {
        if (rtm_apps[i].alive && rtm_apps[i].id == id) {
            return &rtm_apps[i];
        }
    }
    return NULL;
}

bool rtm_end(unsigned long id)
{
    struct rtm_app *app = rtm_find(id);

    if (app == NULL || rt_delete_app(id).error != HCALL_OK) {
        return false;
    }
    app->alive = false;
    return true;
}

static void rtm_line(const struct rtm_app *app, const struct rt_stats *s)
{
    uint64_t jobs = s->completions != 0 ? s->completions : 1;

    print("rtm: app %lu, %u/%u/%u us on hart %u: %llu releases, %llu ended, %llu missed, %llu "
          "overran, ",
          app->id, app->spec.budget_us, app->spec.deadline_us, app->spec.period_us, app->spec.cpu,
          (unsigned long long)s->releases, (unsigned long long)s->completions,
          (unsigned long long)s->misses, (unsigned long long)s->overruns);
    print("response %llu/%llu/%llu.%llu us\n",
          (unsigned long long)(s->completions != 0 ? s->response_min / TICKS_PER_US : 0),
          (unsigned long long)(s->response_sum / jobs / TICKS_PER_US),
          (unsigned long long)(s->response_max / TICKS_PER_US),
          (unsigned long long)(s->response_max % TICKS_PER_US * 10U / TICKS_PER_US));
}

void rtm_list(void)
{
    struct rt_stats stats;

    for (unsigned int i = 0; i < RTM_APPS; i++) {
        if (rtm_apps[i].alive && rt_get_stats(rtm_apps[i].id, &stats).error == HCALL_OK) {
            rtm_line(&rtm_apps[i], &stats);
            rtm_list_mail(&rtm_apps[i]);
        }
    }
}

struct rt_stats rtm_total(void)
{
    struct rt_stats total = {0};
    struct rt_stats stats;

    for (unsigned int i = 0; i < RTM_APPS; i++) {
        if (rtm_apps[i].alive && rt_get_stats(rtm_apps[i].id, &stats).error == HCALL_OK) {
            total.releases += stats.releases;
            total.completions += stats.completions;
            total.misses += stats.misses;
            total.overruns += stats.overruns;
            total.runtime += stats.runtime;
        }
    }
    return total;
}

/* One line `RTHIST id name bucket count` for each non-empty bucket. */
static void rtm_dump_histogram(unsigned long id, const char *name, const volatile uint32_t *buckets)
{
    for (unsigned int i = 0; i < RTM_BUCKETS; i++) {
        if (buckets[i] != 0) {
            print("RTHIST %lu %s %u %u\n", id, name, i, buckets[i]);
        }
    }
}

static void rtm_dump_line(const struct rtm_app *app, const struct rt_stats *s)
{
    const uint64_t figures[] = {s->releases,     s->completions,  s->misses,
                                s->overruns,     s->response_min, s->response_max,
                                s->response_sum, s->runtime,      app->late_max};

    print("RTAPP %lu %u %u %u", app->id, app->spec.period_us, app->spec.budget_us,
          app->spec.deadline_us);
    for (unsigned int i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
        print(" %llu", (unsigned long long)figures[i]);
    }
    print("\n");
}

void rtm_dump(void)
{
    struct rt_stats s;

    for (unsigned int i = 0; i < RTM_APPS; i++) {
        const struct rtm_app *app = &rtm_apps[i];

        if (app->alive && rt_get_stats(app->id, &s).error == HCALL_OK) {
            rtm_dump_line(app, &s);
            rtm_dump_histogram(app->id, "late", app->late);
            rtm_dump_histogram(app->id, "response", app->response);
        }
    }
}
