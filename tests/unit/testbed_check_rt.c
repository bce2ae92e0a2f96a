/* SPDX-License-Identifier: Apache-2.0 */
/* Invariants of the state of the real-time class. */
#include "arch.h"
#include "host.h"
#include "rt_app.h"
#include "testbed_queue.h"
#include "testbed_rt.h"

static struct rt_app *app_of(const struct vcpu *v)
{
    return v->data[COMPONENT_RT];
}

static bool has_apps(const struct vm *vm)
{
    return vm->state == VM_RUNNING || vm->state == VM_STOPPING;
}

static const char *queue_violation(const struct vcpu *v)
{
    const struct rt_app *app = app_of(v);
    const struct rt_cpu *rc = rt_cpu_of(app->cpu);

    if (!has_apps(v->vm) && app->state != RT_FREE) {
        return "an app exists without its VM running";
    }
    if (testbed_queue_has(&rc->ready, &app->ready) != (v->state == VCPU_READY)) {
        return v->state == VCPU_READY ? "a ready app is not in its CPU's ready queue"
                                      : "the ready queue has an app that is not ready";
    }
    if (testbed_queue_has(&rc->releases, &app->release) != (app->state == RT_ACTIVE)) {
        return app->state == RT_ACTIVE ? "an active app is not in the release queue"
                                       : "the release queue has an app that is not active";
    }
    if ((app->ready.at != 0) != (v->state == VCPU_READY) ||
        (app->release.at != 0) != (app->state == RT_ACTIVE)) {
        return "an app is in a queue of another CPU";
    }
    return NULL;
}

static const char *app_violation(const struct vcpu *v)
{
    const struct rt_app *app = app_of(v);

    if (app->vcpu != v) {
        return "an app refers to another app's VCPU";
    }
    if ((app->state == RT_ACTIVE) != (v->state != VCPU_OFF)) {
        return "an app is active with its VCPU off, or inactive with its VCPU on";
    }
    if (v->state == VCPU_READY && (app->done || app->overrun)) {
        return "an app is ready although its job is done or its budget exhausted";
    }
    if (v->state == VCPU_RUNNING && v->cpu->id != app->cpu) {
        return "an app runs on a CPU to which it is not pinned";
    }
    return queue_violation(v);
}

static const char *cpu_violation(unsigned cpu)
{
    const struct rt_cpu *rc = rt_cpu_of(cpu);
    const char *wrong = testbed_queue_violation(&rc->ready);

    wrong = wrong != NULL ? wrong : testbed_queue_violation(&rc->releases);
    if (wrong == NULL && rt_queue_count(&rc->releases) != 0 && cpu_get(cpu)->wrapped != &rt_class) {
        wrong = "a CPU with apps does not use the real-time class";
    }
    if (wrong == NULL && rt_queue_count(&rc->releases) == 0 &&
        cpu_get(cpu)->next_release != TICKS_NEVER) {
        wrong = "a CPU without apps expects a release";
    }
    return wrong;
}

/* Calls `wrong` for every VCPU of RT apps. */
static const char *each_app(const char *(*wrong)(const struct vcpu *))
{
    const char *found = NULL;

    for (unsigned i = 0; i < hyp.nvms; i++) {
        const struct vm *vm = &hyp.vms[i];

        for (unsigned n = vm->nvcpus; n < vm->total && found == NULL; n++) {
            found = wrong(&vm->vcpus[n]);
        }
    }
    return found;
}

const char *testbed_rt_violation(void)
{
    const char *wrong = each_app(app_violation);

    for (unsigned i = 0; i < hyp.ncpus && wrong == NULL; i++) {
        wrong = cpu_violation(i);
    }
    return wrong;
}

static const char *idle_app_violation(const struct vcpu *v)
{
    const struct rt_app *app = app_of(v);

    if (v->state != VCPU_RUNNING) {
        return NULL;
    }
    if (app->done || app->overrun) {
        return "an app runs although its job is done or its budget exhausted";
    }
    if (v->runtime + (host_time - v->cpu->since) >= app->limit) {
        return "an app runs with no budget left";
    }
    if (v->cpu->slice_end > v->cpu->since + (app->limit - v->runtime)) {
        return "an app's slice ends after its budget";
    }
    return NULL;
}

static const char *order_violation(const struct cpu *cpu)
{
    const struct heap_node *first = rt_queue_first(&rt_cpu_of((unsigned)cpu->id)->ready);

    if (first == NULL) {
        return NULL;
    }
    if (cpu->current == NULL || cpu->current->sched != &rt_class) {
        return "a CPU does not run an app while one is ready";
    }
    if (heap_before(first, &app_of(cpu->current)->ready)) {
        return "an app runs while an app with an earlier deadline is ready";
    }
    return NULL;
}

static const char *releases_violation(const struct cpu *cpu)
{
    const struct rt_cpu *rc = rt_cpu_of((unsigned)cpu->id);
    const struct heap_node *first = rt_queue_first(&rc->releases);

    if (first != NULL && cpu->slice_end > first->key) {
        return "a slice ends after the next release";
    }
    if (first != NULL && first->key <= host_time) {
        return "a release is overdue";
    }
    return NULL;
}

const char *testbed_rt_idle_violation(void)
{
    const char *wrong = each_app(idle_app_violation);

    for (unsigned i = 0; i < hyp.ncpus && wrong == NULL; i++) {
        wrong = order_violation(cpu_get(i));
        wrong = wrong != NULL ? wrong : releases_violation(cpu_get(i));
    }
    return wrong;
}
