/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Earliest deadline first, a queue for each CPU. No slice lasts beyond the next release; nothing ticks. A job's
 * absolute deadline, not its remaining time, orders it; equal deadlines run in the order of their releases.
 */
#include "rt_app.h"

#include "arch.h"
#include "system.h"
#include "trace.h"

struct rt_costs rt_costs;                         /* owner: edf_init() */
static struct rt_cpu rt_cpus[SYSIMAGE_MAX_HARTS]; /* owner: this file */

struct rt_cpu *rt_cpu_of(unsigned cpu)
{
    struct rt_cpu *rc = &rt_cpus[cpu];

    KEEP_IN_REGISTER(rc);
    return rc;
}

static inline struct rt_app *app_of(const struct vcpu *v)
{
    return v->sched_data;
}

static inline bool waits(const struct rt_app *app)
{
    return app->done || app->overrun;
}

struct rt_demand rt_demand_of(const struct rt_app *app)
{
    return (struct rt_demand){app->budget + rt_costs.release + rt_costs.change, app->deadline, app->period};
}

/* The deadline of the app that runs on `cpu`, or of none. */
static inline const struct heap_node *running(const struct cpu *cpu)
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
    return rt_cpus[cpu].carries || arch_time() < rt_cpus[cpu].settled;
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

/* A job has not ended when its next release is due; the deadline is not after the period. */
static void __attribute__((noinline, cold)) late(struct rt_cpu *rc, struct rt_app *app)
{
    miss(app);
    if (rc->left == app) {
        rc->left = NULL;
    } else if (app->ready.at != 0) {
        rt_queue_remove(&rc->ready, &app->ready);
    } else {
        return;
    }
    app->overrun = true; /* as if it had waited: it is to be queued again */
    app->vcpu->state = VCPU_BLOCKED;
}

/* The new budget of `app`. What it used beyond the last one, because it was in the hypervisor at its end, is taken from this
 * one and from those that follow, however much it is. False: that leaves nothing for this period. */
static inline bool give_budget(struct rt_app *app)
{
    ticks_t used = app->vcpu->runtime;

    app->limit = (used < app->limit ? used : app->limit) + app->budget + rt_costs.change;
    return used < app->limit;
}

/* A period of `app` begins, at its key among the releases. True: it is ready, and in no queue. */
static inline bool begin(struct rt_cpu *rc, struct rt_app *app)
{
    struct vcpu *v = app->vcpu;
    ticks_t at = app->release.key;
    bool ready = v->state == VCPU_BLOCKED; /* what it waited for is this */

    if (LIKELY(app->done)) {
        app->released = at;
        app->missed = false;
        app->stats.releases++;
    }
    app->done = false;
    app->overrun = false;
    if (UNLIKELY(!give_budget(app))) {
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

/* Of two ready apps in no queue, the first by deadline; the other is queued. */
static struct rt_app *__attribute__((noinline)) first_of(struct rt_cpu *rc, struct rt_app *a, struct rt_app *b)
{
    if (heap_before(&b->ready, &a->ready)) {
        rt_queue_insert(&rc->ready, &a->ready);
        return b;
    }
    rt_queue_insert(&rc->ready, &b->ready);
    return a;
}

/* Releases cost the app that they interrupted time which admission has counted to the released ones. */
static void __attribute__((noinline)) refund(struct rt_cpu *rc, struct vcpu *prev, ticks_t ticks)
{
    struct rt_app *app = app_of(prev);

    app->limit += ticks;
    if (app->overrun && prev->runtime < app->limit) { /* without the interruption it would go on */
        app->overrun = false;
        app->stats.overruns--;
        prev->state = VCPU_READY;
        rc->left = app;
    }
}

/* The first of the releases, whose time has come. Returns its app if it is ready, in no queue, or NULL. */
static inline struct rt_app *release_first(struct rt_cpu *rc)
{
    struct rt_app *app = CONTAINER_OF(rc->releases.nodes[0], struct rt_app, release);
    bool ready;

    if (UNLIKELY(!app->done)) {
        late(rc, app);
    }
    ready = begin(rc, app);
    if (rc->releases.count > 1) {
        rt_queue_first_grew(&rc->releases);
    }
    return ready ? app : NULL;
}

/* The job released last, if it is not in the trace yet. Not where it is released: there a call, even one that is hardly
 * ever made, costs registers. A period of a job that was not done is no release. */
static void __attribute__((cold)) edf_trace(const struct cpu *cpu)
{
    struct rt_cpu *rc = &rt_cpus[cpu->id];

    if (rc->last != NULL && !rc->last->missed) {
        trace(TRACE_RELEASE, rc->last->vcpu, rc->last->ready.key);
    }
    rc->last = NULL;
}

/* Between two releases: the first goes into the trace, and interrupts are looked at: the timer's is what we are at, and
 * devices wait for the apps anyway. Not inline, for the benchmark counts from look to look. */
static void __attribute__((noinline)) release_look(void)
{
    edf_trace(cpu_self());
}

/* Further releases whose time has come. `best` is NULL or ready and in no queue; returns the first by deadline of it and
 * theirs. Out of line for the registers. */
static struct rt_app *__attribute__((noinline, cold)) release_others(struct rt_cpu *rc, struct rt_app *best,
                                                                     ticks_t now)
{
    while (rc->releases.nodes[0]->key <= now) {
        struct rt_app *app;

        release_look();
        app = release_first(rc);
        if (app != NULL) {
            best = best == NULL ? app : first_of(rc, best, app);
        }
    }
    return best;
}

/* Releases whose time has come; where other CPUs may wait for sched_lock only the first of them: the next interrupt, which
 * the horizon brings at once, has the second. Returns the first by deadline of those apps, in no queue, or NULL. */
static inline struct rt_app *release_due(struct rt_cpu *rc, struct cpu *cpu, ticks_t now)
{
    struct rt_app *best = NULL;

    if (rc->releases.nodes[0]->key <= now) {
        struct vcpu *prev = cpu->current;
        unsigned before = rc->order;

        best = release_first(rc);
        if (UNLIKELY(rc->releases.nodes[0]->key <= now) && hyp.ncpus == 1) {
            best = release_others(rc, best, now);
        }
        if (prev != NULL && prev->sched != NULL) { /* there is no other class */
            refund(rc, prev, (rc->order - before) * rt_costs.release);
        }
    }
    cpu->horizon = rc->releases.nodes[0]->key;
    return best;
}

/* The first of the ready queue leaves it, and `next` is queued if there is one. */
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

static struct vcpu *edf_pick(struct cpu *cpu)
{
    struct rt_cpu *rc = rt_cpu_of((unsigned)cpu->id);
    struct rt_app *best = rc->releases.count != 0 ? release_due(rc, cpu, arch_time()) : NULL;
    struct rt_app *left = rc->left;
    const struct heap_node *first = rt_queue_first(&rc->ready);

    if (left != NULL) {
        rc->left = NULL;
        best = best == NULL ? left : first_of(rc, best, left);
    }
    if (first != NULL && (best == NULL || heap_before(first, &best->ready))) {
        best = take_first(rc, best);
    }
    rc->kicked &= best != NULL;
    return best == NULL ? NULL : best->vcpu;
}

/* While an app runs, devices wait: their interrupts are best effort's. */
static void edf_stop(struct vcpu *v)
{
    (void)v;
    arch_irq_devices(true);
}

/* A job's end comes into the figures here and not where it is noted, for here sched_lock is held: whoever asks for them on
 * another CPU sees all of a job or nothing. */
static void count_job(struct rt_app *app)
{
    ticks_t response = app->ended - app->released;
    struct rt_abi_stats *s = &app->stats;

    s->completions++;
    s->response_sum += response;
    s->response_min = response < s->response_min ? response : s->response_min;
    s->response_max = response > s->response_max ? response : s->response_max;
    if (response > app->deadline) {
        miss(app);
    }
}

/* Its turn is over, because a job of an earlier deadline is ready, or its own has ended, or its budget has. */
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
        rc->carries &= rc->ready.count != 0;
    } else {
        rc->left = app; /* not queued: mostly it goes on, and edf_pick() comes next */
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

/* The last of the demands takes the place of the app's. */
static void forget_demand(struct rt_demands *all, const struct rt_app *app)
{
    unsigned last = --all->count;

    all->changes++;
    all->demand[app->demand] = all->demand[last];
    all->vcpus[app->demand] = all->vcpus[last];
    app_of(&hyp.vcpus[all->vcpus[last]])->demand = app->demand;
}

static void note_demand(struct rt_demands *all, struct rt_app *app)
{
    app->demand = (uint8_t)all->count++;
    all->changes++;
    all->demand[app->demand] = rt_demand_of(app);
    all->vcpus[app->demand] = (uint16_t)(app->vcpu - hyp.vcpus);
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
        sched_set_urgent(cpu_get(app->cpu), rc->releases.count != 0 ? &rt_class : NULL);
        rc->carries = busy(rc, cpu_get(app->cpu));
        rc->shares[v->vm->id] -= app->share;
        if (app->stats.releases != 0) {
            rc->settled = arch_time() + rt_costs.late;
        }
    }
    app->state = RT_FREE;
    trace(TRACE_LEAVE, v, 0);
}

/* Its job is given up, and so is what is left of its budget: used later in the period, others would have counted on
 * the time. While it is held its releases pass by. */
static void __attribute__((cold)) edf_hold(struct vcpu *v)
{
    struct rt_cpu *rc = &rt_cpus[app_of(v)->cpu];

    app_of(v)->done = true;
    rc->carries &= rc->ready.count != 0;
}

static ticks_t ticks_of(uint32_t ns)
{
    return ((uint64_t)ns * hyp.us + 999U) / 1000U;
}

/* Every VCPU behind a VM's own gets a slot: they are its RT apps. */
static void edf_init(void)
{
    rt_costs.release = ticks_of(hyp.image->rt_release_ns);
    rt_costs.change = ticks_of(hyp.image->rt_switch_ns);
    rt_costs.blocked = ticks_of(hyp.image->rt_blocked_ns);
    rt_costs.reserve = hyp.image->be_reserve_us * hyp.us;
    rt_costs.late = hyp.image->be_late_us * hyp.us;
    for (unsigned i = 0; i < hyp.ncpus; i++) {
        rt_cpus[i] = (struct rt_cpu){0};
    }
    rt_apps_init();
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
SCHED_CLASS(rt_class);

bool rt_must_wait(const struct rt_app *app, ticks_t first)
{
    const struct cpu *cpu = cpu_get(app->cpu);

    return rt_cpus[app->cpu].kicked && cpu != cpu_self() && running(cpu) != NULL && first < cpu->horizon &&
           arch_time() < first;
}

bool rt_must_stay(const struct rt_app *app)
{
    const struct cpu *cpu = cpu_get(app->cpu);

    return cpu != cpu_self() && running(cpu) != NULL && cpu->current != app->vcpu && app->release.key == cpu->horizon;
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
    app->release.order = app->vcpu->id;
    rt_queue_insert(&rc->releases, &app->release);
    note_demand(&rc->demands, app);
    rc->shares[app->vcpu->vm->id] += app->share;
    sched_set_urgent(cpu, &rt_class);
    if (first < cpu->horizon) { /* otherwise the CPU picks again before the first release */
        cpu->horizon = first;
        rc->kicked |= arch_time() < first;
        sched_preempt(cpu);
    }
}

__attribute__((noinline)) void rt_end_job(struct rt_app *app)
{
    app->ended = arch_time();
    app->done = true;
    cpu_self()->flags |= CPU_RESCHED;
    trace(TRACE_COMPLETION, app->vcpu, app->ready.key);
}
