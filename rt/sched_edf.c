/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Earliest deadline first, one queue per CPU. No slice lasts beyond the next release; there is no
 * periodic tick. Jobs are ordered by absolute deadline, and by release among equal deadlines.
 */
#include "rt_app.h"

#include "arch.h"
#include "system.h"
#include "trace.h"

struct rt_costs rt_costs;                         /* owner: edf_init() */
static struct rt_cpu rt_cpus[SYSIMAGE_MAX_HARTS]; /* owner: this file */

struct rt_cpu *rt_cpu_of(unsigned cpu)
{
    return &rt_cpus[cpu];
}

static inline struct rt_app *app_of(const struct vcpu *v)
{
    return v->data[COMPONENT_RT];
}

static inline bool waits(const struct rt_app *app)
{
    return app->done || app->overrun;
}

struct rt_demand rt_demand_of(const struct rt_app *app)
{
    return (struct rt_demand){app->budget + rt_costs.release + rt_costs.change, app->deadline,
                              app->period, app->wait};
}

/* The ready node of the app that runs on `cpu`, or NULL. */
static inline const struct heap_node *running(const struct cpu *cpu)
{
    const struct vcpu *v = cpu->current;

    return v != NULL && v->sched == &rt_class && v->state == VCPU_RUNNING ? &app_of(v)->ready
                                                                          : NULL;
}

/* Whether some app has work and budget left. */
static inline bool busy(const struct rt_cpu *rc, const struct cpu *cpu)
{
    return rt_queue_count(&rc->ready) != 0 || running(cpu) != NULL;
}

bool rt_carry_in(unsigned cpu)
{
    return rt_cpus[cpu].carry_in || arch_time() < rt_cpus[cpu].carry_in_end;
}

ticks_t rt_used(const struct rt_app *app, ticks_t now)
{
    const struct vcpu *v = app->vcpu;

    return v->state == VCPU_RUNNING ? v->runtime + (now - v->cpu->since) : v->runtime;
}

static void miss(struct rt_app *app)
{
    if (!app->missed) {
        app->missed = true;
        app->stats.misses++;
        trace(TRACE_MISS, app->vcpu, app->ready.key);
    }
}

/* A job has not ended at the next release, so it has missed its deadline, which is at most the
 * period. */
static void suspend_overrun_job(struct rt_cpu *rc, struct rt_app *app)
{
    miss(app);
    if (rc->unqueued == app) {
        rc->unqueued = NULL;
    } else if (app->ready.at != 0) {
        rt_queue_remove(&rc->ready, &app->ready);
    } else {
        return;
    }
    app->overrun = true; /* as if it had waited for this release, which queues it again */
    app->vcpu->state = VCPU_BLOCKED;
}

/* Replenishes the budget of `app`. Time used beyond the last budget, in a non-preemptible section,
 * is deducted from this budget and from the following ones until it is paid. False: no budget is
 * left for this period. */
static inline bool give_budget(struct rt_app *app)
{
    ticks_t used = app->vcpu->runtime;

    app->limit = (used < app->limit ? used : app->limit) + app->budget + rt_costs.change;
    return used < app->limit;
}

/* A period of `app` begins at its release key. True if the app is ready; it is in no queue then. */
static inline bool begin(struct rt_cpu *rc, struct rt_app *app)
{
    struct vcpu *v = app->vcpu;
    ticks_t at = app->release.key;
    bool ready = v->state == VCPU_BLOCKED; /* it waited for this release */

    if (app->done) {
        app->released = at;
        app->missed = false;
        app->stats.releases++;
    }
    app->done = false;
    app->overrun = false;
    if (!give_budget(app)) {
        app->overrun = true;
        app->stats.overruns++;
        ready = false;
    }
    app->ready.key = at + app->deadline;
    app->ready.order = ++rc->order;
    rc->last = app;
    app->release.key = at + app->period;
    if (ready) {
        v->state = VCPU_READY;
    }
    return ready;
}

/* Of two ready apps in no queue, returns the one with the earlier deadline and queues the other. */
static struct rt_app *first_of(struct rt_cpu *rc, struct rt_app *a, struct rt_app *b)
{
    if (heap_before(&b->ready, &a->ready)) {
        rt_queue_insert(&rc->ready, &a->ready);
        return b;
    }
    rt_queue_insert(&rc->ready, &b->ready);
    return a;
}

/* Refunds the time of releases to the app that they preempted: admission has charged it to the
 * released apps. */
OWN_SYMBOL static void refund(struct rt_cpu *rc, struct vcpu *prev, ticks_t ticks)
{
    struct rt_app *app = app_of(prev);

    app->limit += ticks;
    /* without the preemption it would have budget left */
    if (app->overrun && prev->runtime < app->limit) {
        app->overrun = false;
        app->stats.overruns--;
        prev->state = VCPU_READY;
        rc->unqueued = app;
    }
}

/* Handles the first release, which is due. Returns its app, in no queue, or NULL if it is not
 * ready. */
static inline struct rt_app *release_first(struct rt_cpu *rc)
{
    struct rt_app *app = CONTAINER_OF(rt_queue_head(&rc->releases), struct rt_app, release);
    bool ready;

    if (!app->done) {
        suspend_overrun_job(rc, app);
    }
    ready = begin(rc, app);
    rt_queue_first_grew(&rc->releases);
    return ready ? app : NULL;
}

/* Records the job released last, unless it is in the trace already. Not in release_first(), where a
 * call, though rarely made, costs callee-saved registers. The period of a job that has not ended is
 * no release. */
static void edf_trace(const struct cpu *cpu)
{
    struct rt_cpu *rc = &rt_cpus[cpu->id];

    if (rc->last != NULL && !rc->last->missed) {
        trace(TRACE_RELEASE, rc->last->vcpu, rc->last->ready.key);
    }
    rc->last = NULL;
}

/* Polling point between two releases: the timer is being handled, and devices' interrupts are
 * deferred while apps are ready. Records the first release. */
OWN_SYMBOL static void release_poll(void)
{
    edf_trace(cpu_self());
}

/* Handles further releases that are due. `best` is NULL or ready and in no queue; returns the app
 * with the earliest deadline of `best` and the released ones. Out of line to keep registers of the
 * frequent path free. */
OWN_SYMBOL static struct rt_app *release_others(struct rt_cpu *rc, struct rt_app *best, ticks_t now)
{
    while (rt_queue_head(&rc->releases)->key <= now) {
        struct rt_app *app;

        release_poll();
        app = release_first(rc);
        if (app != NULL) {
            best = best == NULL ? app : first_of(rc, best, app);
        }
    }
    return best;
}

/* Handles releases that are due; on several CPUs, which may wait for sched_lock, the first only:
 * the timer, programmed for the next release, interrupts at once for the second. Returns the
 * released app with the earliest deadline, in no queue, or NULL. */
static inline struct rt_app *release_due(struct rt_cpu *rc, struct cpu *cpu, ticks_t now)
{
    struct rt_app *best = NULL;

    if (rt_queue_head(&rc->releases)->key <= now) {
        struct vcpu *prev = cpu->current;
        unsigned before = rc->order;

        best = release_first(rc);
        if (rt_queue_head(&rc->releases)->key <= now && hyp.ncpus == 1) {
            best = release_others(rc, best, now);
        }
        if (prev != NULL && prev->sched != NULL) { /* of this class: there is no other */
            refund(rc, prev, (rc->order - before) * rt_costs.release);
        }
    }
    cpu->next_release = rt_queue_head(&rc->releases)->key;
    return best;
}

/* Takes the first app out of the ready queue, and queues `next` unless it is NULL. */
static struct rt_app *take_first(struct rt_cpu *rc, struct rt_app *next)
{
    struct heap_node *first = rt_queue_first(&rc->ready);

    if (next == NULL) {
        rt_queue_remove(&rc->ready, first);
    } else {
        rt_queue_replace_first(&rc->ready, &next->ready);
    }
    return CONTAINER_OF(first, struct rt_app, ready);
}

/* By edf_pick(), not by edf_leave(): while cpu->class is set, sched_enqueue() queues a best-effort
 * VCPU with a remainder first. */
static struct vcpu *give_up(struct rt_cpu *rc, struct cpu *cpu)
{
    rc->kicked = false;
    sched_set_class(cpu, NULL);
    return NULL;
}

static struct vcpu *edf_pick(struct cpu *cpu)
{
    struct rt_cpu *rc = rt_cpu_of((unsigned)cpu->id);
    const struct heap_node *first;
    struct rt_app *best, *unqueued;

    if (rt_queue_count(&rc->releases) == 0) {
        return give_up(rc, cpu);
    }
    best = release_due(rc, cpu, cpu_now(cpu));
    unqueued = rc->unqueued;
    first = rt_queue_first(&rc->ready);
    if (unqueued != NULL) {
        rc->unqueued = NULL;
        best = best == NULL ? unqueued : first_of(rc, best, unqueued);
    }
    if (first != NULL && (best == NULL || heap_before(first, &best->ready))) {
        best = take_first(rc, best);
    }
    rc->kicked &= best != NULL;
    return best == NULL ? NULL : best->vcpu;
}

/* Devices' interrupts, deferred while an app runs, are enabled again. */
static void edf_stop(struct vcpu *v)
{
    (void)v;
    arch_irq_devices(true);
}

/* Counts a job that has ended. Here and not in rt_end_job(), because sched_lock is held:
 * HCALL_RT_GET_STATS on another CPU sees all figures of a job or none. */
static void count_job(struct rt_app *app)
{
    ticks_t response = app->ended - app->released;
    struct rt_stats *s = &app->stats;

    s->completions++;
    s->response_sum += response;
    s->response_min = response < s->response_min ? response : s->response_min;
    s->response_max = response > s->response_max ? response : s->response_max;
    if (response > app->deadline) {
        miss(app);
    }
}

/* The app's slice is over: a job with an earlier deadline is ready, its own job has ended, or its
 * budget is used up. */
static void edf_enqueue(struct vcpu *v)
{
    struct rt_app *app = app_of(v);
    struct rt_cpu *rc = &rt_cpus[app->cpu];

    arch_irq_devices(true);
    if (app->done) {
        count_job(app);
    } else if (v->runtime >= app->limit) {
        app->overrun = true;
        app->stats.overruns++;
        trace(TRACE_OVERRUN, v, app->ready.key);
    }
    if (waits(app)) {
        v->state = VCPU_BLOCKED;
        rc->carry_in &= rt_queue_count(&rc->ready) != 0;
    } else {
        rc->unqueued = app; /* not queued: edf_pick() follows, and mostly picks it again */
    }
}

static void edf_wake(struct vcpu *v)
{
    struct rt_app *app = app_of(v);
    struct cpu *cpu = cpu_get(app->cpu);
    const struct heap_node *now = running(cpu);

    if (waits(app)) {
        v->state = VCPU_BLOCKED;
        return;
    }
    rt_queue_insert(&rt_cpus[app->cpu].ready, &app->ready);
    if (now == NULL || heap_before(&app->ready, now)) {
        sched_preempt(cpu);
    }
}

/* Removes the app's demand; the last demand moves to its index. */
static void forget_demand(struct rt_demands *all, const struct rt_app *app)
{
    unsigned last = all->count - 1;

    all->changes++;
    all->users -= all->demand[app->demand].wait != 0;
    all->count = last;
    all->demand[app->demand] = all->demand[last];
    all->vcpus[app->demand] = all->vcpus[last];
    app_of(&hyp.vcpus[all->vcpus[last]])->demand = app->demand;
}

/* An app that uses a device is delayed by at most what admission has counted while the other apps
 * change. */
static void note_user(struct rt_demands *all, const struct rt_app *app)
{
    ticks_t slack = app->period - app->deadline;

    if (app->wait != 0) {
        all->users++;
        all->slack = slack > all->slack ? slack : all->slack;
    }
}

static void note_demand(struct rt_demands *all, struct rt_app *app)
{
    app->demand = (uint8_t)all->count++;
    all->changes++;
    all->demand[app->demand] = rt_demand_of(app);
    all->vcpus[app->demand] = (uint16_t)(app->vcpu - hyp.vcpus);
    note_user(all, app);
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
        forget_demand(&rc->demands, app);
        if (rt_queue_count(&rc->releases) == 0) {
            /* the next edf_pick() gives up the CPU */
            cpu_get(app->cpu)->next_release = TICKS_NEVER;
        }
        rc->carry_in = busy(rc, cpu_get(app->cpu));
        rc->shares[v->vm->id] -= app->share;
        if (app->stats.releases != 0) {
            rc->carry_in_end =
                arch_time() +
                (rt_costs.late > rc->demands.slack ? rt_costs.late : rc->demands.slack);
        }
    }
    app->state = RT_FREE;
    trace(TRACE_LEAVE, v, 0);
}

/* Abandons the rest of the budget: spent later in the period, it would take time that admission
 * gave to others. A job that was suspended continues with the next release, as one that has used up
 * its budget, and misses its deadline; a debugger's VCPU begins another job. Releases while the
 * VCPU is held have no effect. */
static void edf_hold(struct vcpu *v)
{
    struct rt_app *app = app_of(v);
    struct rt_cpu *rc = &rt_cpus[app->cpu];

    if (v->state == VCPU_SUSPENDED) {
        app->overrun = true;
    } else {
        app->done = true;
    }
    rc->carry_in &= rt_queue_count(&rc->ready) != 0;
}

static ticks_t ticks_of(uint32_t ns)
{
    return ((uint64_t)ns * hyp.us + 999U) / 1000U;
}

static void edf_init(void)
{
    rt_costs.release = ticks_of(hyp.image->rt_release_ns);
    rt_costs.change = ticks_of(hyp.image->rt_switch_ns);
    rt_costs.blocked = ticks_of(hyp.image->rt_blocked_ns);
    rt_costs.reserve = hyp.image->be_reserve_us * hyp.us;
    rt_costs.late = hyp.image->be_late_us * hyp.us;
    for (unsigned i = 0; i < hyp.ncpus; i++) {
        rt_cpus[i] = (struct rt_cpu){0};
        rt_queue_init(&rt_cpus[i].releases, i, 0);
        rt_queue_init(&rt_cpus[i].ready, i, 1);
    }
}

static void edf_start(struct cpu *cpu)
{
    const struct rt_app *app = app_of(cpu->current);

    arch_irq_devices(false);
    cpu->slice_end = cpu->since + (app->limit - cpu->current->runtime);
}

const struct sched_class rt_class = {
    .init = edf_init,
    .enqueue = edf_enqueue,
    .wake = edf_wake,
    .leave = edf_leave,
    .pick = edf_pick,
    .trace = edf_trace,
    .start = edf_start,
    .stop = edf_stop,
    .hold = edf_hold,
};

bool rt_must_wait(const struct rt_app *app, ticks_t first)
{
    const struct cpu *cpu = cpu_get(app->cpu);

    return rt_cpus[app->cpu].kicked && cpu != cpu_self() && running(cpu) != NULL &&
           first < cpu->next_release && arch_time() < first;
}

bool rt_must_stay(const struct rt_app *app)
{
    const struct cpu *cpu = cpu_get(app->cpu);

    return cpu != cpu_self() && running(cpu) != NULL && cpu->current != app->vcpu &&
           app->release.key == cpu->next_release;
}

void rt_activate(struct rt_app *app, ticks_t first)
{
    struct rt_cpu *rc = &rt_cpus[app->cpu];
    struct cpu *cpu = cpu_get(app->cpu);

    app->state = RT_ACTIVE;
    app->done = true; /* as if a job had ended before its first release */
    app->overrun = false;
    app->missed = false;
    app->limit = TICKS_NEVER;
    app->vcpu->state = VCPU_BLOCKED;
    app->release.key = first;
    app->release.order = (unsigned)(app->vcpu - hyp.vcpus);
    rt_queue_insert(&rc->releases, &app->release);
    note_demand(&rc->demands, app);
    rc->shares[app->vcpu->vm->id] += app->share;
    sched_set_class(cpu, &rt_class);
    if (first < cpu->next_release) { /* otherwise the CPU picks before the first release anyway */
        cpu->next_release = first;
        rc->kicked |= arch_time() < first;
        sched_preempt(cpu);
    }
}

OWN_SYMBOL void rt_end_job(struct rt_app *app)
{
    app->ended = arch_time();
    app->done = true;
    cpu_self()->flags |= CPU_RESCHED;
    trace(TRACE_COMPLETION, app->vcpu, app->ready.key);
}
