/* SPDX-License-Identifier: Apache-2.0 */
/* RT apps in the testbed (testbed_rt.h): executes jobs from event to event, and records and checks
 * the schedule. Owns the lengths of the jobs, the bounds of the devices, and the count of
 * deletions. */
#include "testbed_rt.h"

#include <string.h>

#include "arch.h"
#include "component.h"
#include "host.h"
#include "hypercall.h"
#include "rt_app.h"

/* Maximum calls of an admission decision: its passes over all apps with RT_ADMIT_APPS per step, one
 * pass with single apps, and its begin. */
#define CALLS_MAX ((RT_ADMIT_PASSES + 1U) * (RT_QUEUE_MAX / RT_ADMIT_APPS + 1U) + RT_QUEUE_MAX)
#define INTERRUPTED_POLLS 200U /* polling points of which every second one finds an interrupt */
#define EVENTS_MAX 200000000U

void testbed_image_rt(struct testbed_image *image, unsigned vm, unsigned rt_apps,
                      unsigned launchers)
{
    image->vms[vm].rt_apps = rt_apps;
    image->vms[vm].rt_launchers = launchers;
    testbed_image_rt_limits(image, vm, ~0U, 100, INT32_MAX, INT32_MAX);
}

void testbed_image_rt_limits(struct testbed_image *image, unsigned vm, unsigned harts,
                             unsigned share_max, unsigned budget_max_us, unsigned period_max_us)
{
    struct sysimage_vm *config = &image->vms[vm];

    config->rt_harts = harts;
    config->rt_share_max = share_max;
    config->rt_budget_max_us = budget_max_us;
    config->rt_period_max_us = period_max_us;
    testbed_image_seal(image);
}

void testbed_image_reserve(struct testbed_image *image, unsigned reserve_us, unsigned late_us)
{
    image->header.be_reserve_us = reserve_us;
    image->header.be_late_us = late_us;
    testbed_image_seal(image);
}

void testbed_image_rt_costs(struct testbed_image *image, unsigned release_ns, unsigned switch_ns,
                            unsigned blocked_ns)
{
    image->header.rt_release_ns = release_ns;
    image->header.rt_switch_ns = switch_ns;
    image->header.rt_blocked_ns = blocked_ns;
    testbed_image_seal(image);
}

/* --- devices --- */

static struct {
    enum resource_answer answer;
    struct resource_wait wait;
} devices[TESTBED_DEVICES]; /* owner: testbed_rt_device() */

void testbed_rt_device(unsigned device, unsigned answer, ticks_t longest, ticks_t kept, bool direct)
{
    devices[device - TESTBED_DEVICE_FIRST].answer = (enum resource_answer)answer;
    devices[device - TESTBED_DEVICE_FIRST].wait = (struct resource_wait){longest, kept, direct};
}

static enum resource_answer testbed_bound(const struct vm *vm, ulong number, ticks_t job,
                                          struct resource_wait *wait)
{
    ulong device = number - TESTBED_DEVICE_FIRST;

    (void)vm;
    if (device >= TESTBED_DEVICES) {
        return RESOURCE_UNKNOWN;
    }
    *wait = devices[device].wait;
    wait->longest += job;
    return devices[device].answer;
}

COMPONENT(testbed, .resource_bound = testbed_bound);

/* --- calls --- */

long testbed_hypercall_decided(unsigned cpu, ulong number, ulong a0, ulong a1, ulong a2,
                               uint64_t *value)
{
    long error = HCALL_AGAIN;

    for (unsigned calls = 0; error == HCALL_AGAIN && calls < CALLS_MAX; calls++) {
        error = testbed_hypercall(cpu, number, a0, a1, a2, value);
    }
    return error;
}

/* --- jobs --- */

static struct {
    uint32_t ticks[TESTBED_JOBS];
    unsigned count;
    uint32_t job;
    ticks_t target; /* of host_ran(): where the job ends; TICKS_NEVER if it does not */
    ticks_t first;  /* release */
} jobs[SYSIMAGE_MAX_VCPUS];

static unsigned index_of(const struct vcpu *v)
{
    return (unsigned)(v - hyp.vcpus);
}

static void begin_job(unsigned i, ticks_t ran)
{
    uint32_t ticks = jobs[i].count == 0 ? 0 : jobs[i].ticks[jobs[i].job % jobs[i].count];

    jobs[i].target = ticks == 0 ? TICKS_NEVER : ran + ticks;
}

void testbed_rt_jobs(unsigned vm, unsigned app, const uint32_t *ticks, unsigned count)
{
    const struct rt_app *a = rt_app_of(&hyp.vms[vm], app);
    unsigned i = index_of(a->vcpu);

    memcpy(jobs[i].ticks, ticks, count * sizeof(*ticks));
    jobs[i].count = count;
    jobs[i].job = 0;
    jobs[i].first = a->release.key;
    begin_job(i, 0);
}

/* The VCPU on `cpu` if it is an RT app's. */
static struct vcpu *rt_current(unsigned cpu)
{
    struct vcpu *v = cpu_get(cpu)->current;

    return v != NULL && v->sched == &rt_class ? v : NULL;
}

static ticks_t runtime_now(const struct vcpu *v)
{
    return v->runtime + (v->state == VCPU_RUNNING ? host_time - v->cpu->since : 0);
}

/* The remaining execution time of the job on `cpu`. */
static ticks_t remaining(unsigned cpu)
{
    const struct vcpu *v = rt_current(cpu);
    ticks_t target = v == NULL ? TICKS_NEVER : jobs[index_of(v)].target;

    return target == TICKS_NEVER ? TICKS_NEVER : target - host_ran(v);
}

long testbed_end_job(unsigned cpu)
{
    const struct vcpu *v = rt_current(cpu);

    if (v != NULL) {
        jobs[index_of(v)].job++;
        begin_job(index_of(v), host_ran(v));
    }
    return testbed_hypercall(cpu, HCALL_RT_END_JOB, 0, 0, 0, NULL);
}

bool testbed_rt_keeps_budget(const struct vcpu *v)
{
    return v->sched == &rt_class && jobs[index_of(v)].target != TICKS_NEVER;
}

/* --- running --- */

struct recorder {
    struct testbed_segment *log;
    unsigned max, used;
    /* 1 + index of the segment that the CPU wrote last, 0: none. */
    unsigned last[SYSIMAGE_MAX_HARTS];
};

/* `now` continues `last` without a gap. */
static bool continues(const struct testbed_segment *last, const struct testbed_segment *now)
{
    return last->end == now->start && last->vm == now->vm && last->app == now->app &&
           last->job == now->job && !last->ended;
}

/* Records that the job on `cpu` runs until `end`. False if the log is full. */
static bool record(struct recorder *r, unsigned cpu, ticks_t end)
{
    const struct vcpu *v = rt_current(cpu);
    struct testbed_segment now;

    if (r->log == NULL || v == NULL || end == host_time) {
        return true;
    }
    now = (struct testbed_segment){
        cpu, v->vm->id, v->id - v->vm->nvcpus, jobs[index_of(v)].job, 0, 0, host_time, end};
    if (r->last[cpu] != 0 && continues(&r->log[r->last[cpu] - 1], &now)) {
        r->log[r->last[cpu] - 1].end = end;
        return true;
    }
    if (r->used == r->max) {
        return false;
    }
    r->log[r->used++] = now;
    r->last[cpu] = r->used;
    return true;
}

static bool record_all(struct recorder *r, ticks_t end)
{
    bool fits = true;

    for (unsigned i = 0; i < hyp.ncpus; i++) {
        fits &= record(r, i, end);
    }
    return fits;
}

static ticks_t next_event(ticks_t until)
{
    ticks_t next = host_next_timer();

    next = next < until ? next : until;
    /* The hypervisor's own time may have passed the event. */
    next = next > host_time ? next : host_time;
    for (unsigned i = 0; i < hyp.ncpus; i++) {
        ticks_t left = remaining(i);

        next = left < next - host_time ? host_time + left : next;
    }
    return next;
}

static void end_jobs(struct recorder *r)
{
    for (unsigned i = 0; i < hyp.ncpus; i++) {
        if (remaining(i) == 0) {
            if (r->last[i] != 0) {
                r->log[r->last[i] - 1].ended = 1;
            }
            testbed_end_job(i);
        }
    }
}

static const char *app_release_violation(const struct rt_app *app)
{
    ticks_t first = jobs[index_of(app->vcpu)].first, key = app->release.key;

    if (key < first || (key - first) % app->period != 0) {
        return "a release is not at first + k * period";
    }
    if (key <= host_time || (key > host_time + app->period && key != first)) {
        return "a release is not the next one";
    }
    return NULL;
}

/* Every release is at first + k * period, and no release is overdue. */
static const char *release_violation(void)
{
    const char *wrong = NULL;

    for (unsigned i = 0; i < SYSIMAGE_MAX_VCPUS && wrong == NULL; i++) {
        const struct rt_app *app =
            hyp.vcpus[i].sched == &rt_class ? hyp.vcpus[i].data[COMPONENT_RT] : NULL;

        wrong = app != NULL && app->release.at != 0 ? app_release_violation(app) : NULL;
    }
    return wrong;
}

static const char *run_and_check(bool check)
{
    const char *wrong =
        testbed_run_until_idle() ? release_violation() : "the CPUs never become idle";

    return wrong == NULL && check ? testbed_idle_violation() : wrong;
}

const char *testbed_rt_run(ticks_t until, bool check, struct testbed_segment *log, unsigned max,
                           unsigned *used)
{
    struct recorder r = {.log = log, .max = max};
    const char *wrong = NULL;

    for (unsigned events = 0; wrong == NULL && host_time < until; events++) {
        ticks_t next = next_event(until);

        if (events == EVENTS_MAX || !record_all(&r, next)) {
            wrong = "too many events";
            break;
        }
        host_time = next;
        if (next < until) {
            end_jobs(&r);
            wrong = run_and_check(check);
        }
    }
    if (used != NULL) {
        *used = r.used;
    }
    return wrong;
}

/* --- how many apps are deleted between polling points --- */

static struct {
    unsigned vm, active, most, polls;
} deletions;

static unsigned count_active(unsigned vm)
{
    const struct vm *of = &hyp.vms[vm];
    unsigned count = 0;

    for (unsigned i = 0; i < of->total - of->nvcpus; i++) {
        count += rt_app_of(of, i)->state == RT_ACTIVE;
    }
    return count;
}

static void count_deletions(void)
{
    unsigned active = count_active(deletions.vm);
    unsigned deleted = active < deletions.active ? deletions.active - active : 0;

    deletions.active = active;
    deletions.most = deleted > deletions.most ? deleted : deletions.most;
    deletions.polls++;
    host_cpu->arch.kicks += deletions.polls < INTERRUPTED_POLLS && deletions.polls % 2 == 0;
}

void testbed_rt_count_deletions(unsigned vm)
{
    deletions.vm = vm;
    deletions.active = count_active(vm);
    deletions.most = 0;
    deletions.polls = 0;
    host_on_poll = count_deletions;
}

unsigned testbed_rt_max_deletions(void)
{
    host_on_poll = NULL;
    return deletions.most;
}

/* --- queries --- */

unsigned testbed_rt_state(unsigned vm, unsigned app)
{
    return rt_app_of(&hyp.vms[vm], app)->state;
}

unsigned testbed_rt_ready(unsigned cpu)
{
    return rt_queue_count(&rt_cpu_of(cpu)->ready);
}

int64_t testbed_rt_left(unsigned vm, unsigned app)
{
    const struct rt_app *a = rt_app_of(&hyp.vms[vm], app);

    return (int64_t)(a->limit - runtime_now(a->vcpu));
}
