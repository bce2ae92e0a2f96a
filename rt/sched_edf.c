/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Earliest deadline first, a queue for each CPU. Releases come from a timer at the first of them; nothing ticks. A job's
 * absolute deadline, not its remaining time, orders it; equal deadlines run in the order of their releases.
 */
#include "rt_app.h"

#include "arch.h"
#include "system.h"

#define RT_RANK 10U

ticks_t rt_job_cost, rt_blocked;                  /* owner: edf_init() */
static struct rt_cpu rt_cpus[SYSIMAGE_MAX_HARTS]; /* owner: this file */

struct rt_cpu *rt_cpu_of(unsigned cpu)
{
    return &rt_cpus[cpu];
}

static inline struct rt_app *app_of(const struct vcpu *v)
{
    return v->sched_data;
}

static inline bool waits(const struct rt_app *app)
{
    return app->done || app->overrun;
}

/* The CPU has to ask this class again: somebody is ready, or its timer is set wrong. */
static inline void note(struct rt_cpu *rc, struct cpu *cpu)
{
    cpu->asks = rc->ready.count != 0 || rc->rearm;
}

/* The deadline of the app that runs on `cpu`, or of none. */
static inline const struct rt_node *running(const struct cpu *cpu)
{
    const struct vcpu *v = cpu->current;

    return v != NULL && v->sched == &rt_class && v->state == VCPU_RUNNING ? &app_of(v)->ready : NULL;
}

/* Some app has work to do and budget for it. */
static inline bool busy(const struct rt_cpu *rc, const struct cpu *cpu)
{
    return rc->ready.count != 0 || running(cpu) != NULL;
}

bool rt_carries(unsigned cpu)
{
    return rt_cpus[cpu].carries;
}

/* `cpu` is told if the first of its ready apps is to run now. */
static void preempt(struct rt_cpu *rc, struct cpu *cpu)
{
    const struct rt_node *first = rt_queue_first(&rc->ready);
    const struct rt_node *now = running(cpu);

    if (!rc->rearm && (first == NULL || (now != NULL && !rt_node_before(first, now)))) {
        return;
    }
    if (cpu == cpu_self()) {
        cpu->flags |= CPU_RESCHED;
    } else {
        cpu_kick(cpu, IPI_RESCHED);
    }
}

ticks_t rt_used(const struct rt_app *app, ticks_t now)
{
    const struct vcpu *v = app->vcpu;

    return v->state == VCPU_RUNNING ? v->runtime + (now - v->cpu->since) : v->runtime;
}

static void miss(struct rt_app *app)
{
    app->stats.misses += !app->missed;
    app->missed = true;
}

/* A period of `app` begins at its key among the releases, which is `now` or a little before. */
static void release(struct rt_cpu *rc, struct cpu *cpu, struct rt_app *app, ticks_t now)
{
    struct vcpu *v = app->vcpu;
    ticks_t at = app->release.key, used = rt_used(app, now);

    if (app->done) {
        app->released = at;
        app->missed = false;
        app->stats.releases++;
    } else {
        miss(app);                                                  /* the deadline is not after the period */
        app->stats.overruns += !app->overrun && used >= app->limit; /* budget and period end together */
    }
    app->limit = used + app->budget;
    if (app->ready.at != 0) {
        rt_queue_remove(&rc->ready, &app->ready);
    }
    app->ready.key = at + app->deadline;
    app->ready.order = rc->order++;
    if (v->state == VCPU_READY || (v->state == VCPU_BLOCKED && waits(app))) {
        v->state = VCPU_READY;
        rt_queue_insert(&rc->ready, &app->ready);
    } else if (v->state == VCPU_RUNNING) {
        cpu->slice_end = now + app->budget;
    }
    app->done = false;
    app->overrun = false;
    app->release.key = at + app->period;
}

/* A release costs the app that it interrupts time that admission has counted to the released one. */
static void refund(struct cpu *cpu, ticks_t ticks)
{
    struct vcpu *v = cpu->current;

    if (v != NULL && v->sched == &rt_class && v->state == VCPU_RUNNING) {
        app_of(v)->limit += ticks;
        cpu->slice_end += ticks;
    }
}

static void expired(struct timer *t)
{
    struct rt_cpu *rc = CONTAINER_OF(t, struct rt_cpu, timer);
    struct cpu *cpu = cpu_self();
    ticks_t now = arch_time(), cost = 0;
    struct rt_node *first;

    /* Each turn moves an app's release on by a period: with apps that were admitted, few turns. */
    while ((first = rt_queue_first(&rc->releases)) != NULL && first->key <= now) {
        release(rc, cpu, CONTAINER_OF(first, struct rt_app, release), now);
        rt_queue_first_grew(&rc->releases);
        cost += rt_job_cost;
    }
    refund(cpu, cost);
    if (first != NULL) {
        timer_arm(&rc->timer, first->key);
    }
    note(rc, cpu);
    preempt(rc, cpu);
}

static void rearm(struct rt_cpu *rc)
{
    const struct rt_node *first = rt_queue_first(&rc->releases);

    rc->rearm = false;
    timer_arm(&rc->timer, first == NULL ? TICKS_NEVER : first->key);
}

static struct vcpu *edf_pick(struct cpu *cpu)
{
    struct rt_cpu *rc = &rt_cpus[cpu->id];
    struct rt_node *first;

    if (UNLIKELY(rc->rearm)) {
        rearm(rc);
    }
    first = rt_queue_first(&rc->ready);
    if (first != NULL) {
        rt_queue_remove(&rc->ready, first);
    }
    note(rc, cpu);
    return first == NULL ? NULL : CONTAINER_OF(first, struct rt_app, ready)->vcpu;
}

/* Its turn is over, because a job of an earlier deadline is ready, or its own has ended, or its budget has. */
static void edf_enqueue(struct vcpu *v)
{
    struct rt_app *app = app_of(v);
    struct rt_cpu *rc = &rt_cpus[app->cpu];

    if (!app->done && v->runtime >= app->limit) {
        app->overrun = true;
        app->stats.overruns++;
    }
    if (waits(app)) {
        v->state = VCPU_BLOCKED;
        rc->carries &= rc->ready.count != 0;
    } else {
        rt_queue_insert(&rc->ready, &app->ready);
        cpu_get(app->cpu)->asks = true;
    }
}

static void edf_wake(struct vcpu *v)
{
    struct rt_app *app = app_of(v);
    struct rt_cpu *rc = &rt_cpus[app->cpu];
    struct cpu *cpu = cpu_get(app->cpu);

    if (waits(app)) {
        v->state = VCPU_BLOCKED;
        return;
    }
    rt_queue_insert(&rc->ready, &app->ready);
    note(rc, cpu);
    preempt(rc, cpu);
}

static void edf_leave(struct vcpu *v)
{
    struct rt_app *app = app_of(v);
    struct rt_cpu *rc = &rt_cpus[app->cpu];

    if (app->ready.at != 0) {
        rt_queue_remove(&rc->ready, &app->ready);
    }
    if (app->release.at != 0) {
        rt_queue_remove(&rc->releases, &app->release);
        rc->changes++;
        rc->carries = busy(rc, cpu_get(app->cpu));
    }
    app->state = RT_FREE;
}

static ticks_t ticks_of(uint32_t ns)
{
    return ((uint64_t)ns * hyp.us + 999U) / 1000U;
}

/* Every VCPU behind a VM's own gets a slot: they are its RT apps. */
static void edf_init(void)
{
    rt_job_cost = ticks_of(hyp.image->rt_release_ns);
    rt_blocked = ticks_of(hyp.image->rt_blocked_ns);
    for (unsigned i = 0; i < hyp.ncpus; i++) {
        rt_cpus[i] = (struct rt_cpu){0};
        timer_init(&rt_cpus[i].timer, expired);
    }
    rt_apps_init();
}

static void edf_start(struct cpu *cpu)
{
    const struct rt_app *app = app_of(cpu->current);

    cpu->slice_end = cpu->since + (app->limit - cpu->current->runtime);
}

const struct sched_class rt_class = {
    .rank = RT_RANK,
    .init = edf_init,
    .enqueue = edf_enqueue,
    .wake = edf_wake,
    .leave = edf_leave,
    .pick = edf_pick,
    .start = edf_start,
};
SCHED_CLASS(rt_class);

void rt_activate(struct rt_app *app, ticks_t first)
{
    struct rt_cpu *rc = &rt_cpus[app->cpu];
    struct cpu *cpu = cpu_get(app->cpu);

    app->state = RT_ACTIVE;
    app->done = true; /* as if a job had ended before its first release */
    app->overrun = false;
    app->missed = false;
    app->stats = (struct rt_abi_stats){.response_min = TICKS_NEVER};
    app->vcpu->state = VCPU_BLOCKED;
    app->release.key = first;
    app->release.order = app->vcpu->id;
    rt_queue_insert(&rc->releases, &app->release);
    rc->changes++;
    rc->rearm = true;
    cpu->asks = true;
    preempt(rc, cpu);
}

void rt_end_job(struct rt_app *app)
{
    ticks_t response = arch_time() - app->released;
    struct rt_abi_stats *s = &app->stats;

    app->done = true;
    s->completions++;
    s->response_sum += response;
    s->response_min = response < s->response_min ? response : s->response_min;
    s->response_max = response > s->response_max ? response : s->response_max;
    if (response > app->deadline) {
        miss(app);
    }
    cpu_self()->flags |= CPU_RESCHED;
}
