/* SPDX-License-Identifier: Apache-2.0 */
/* What must hold of the real-time class's state. */
#include "arch.h"
#include "host.h"
#include "rt_app.h"
#include "testbed_rt.h"

static struct rt_app *app_of(const struct vcpu *v)
{
    return v->sched_data;
}

static bool stands_in(const struct rt_queue *q, const struct heap_node *node)
{
    return node->at != 0 && node->at <= q->count && q->nodes[node->at - 1] == node;
}

static bool lives(const struct vm *vm)
{
    return vm->state == VM_RUNNING || vm->state == VM_STOPPING;
}

static const char *queued_wrong(const struct vcpu *v)
{
    const struct rt_app *app = app_of(v);
    const struct rt_cpu *rc = rt_cpu_of(app->cpu);

    if (!lives(v->vm) && app->state != RT_FREE) {
        return "an app outlives its VM";
    }
    if (stands_in(&rc->ready, &app->ready) != (v->state == VCPU_READY)) {
        return v->state == VCPU_READY ? "a ready app is not in its CPU's ready queue"
                                      : "the ready queue has one not ready";
    }
    if (stands_in(&rc->releases, &app->release) != (app->state == RT_ACTIVE)) {
        return app->state == RT_ACTIVE ? "an active app waits for no release" : "one not active waits for a release";
    }
    if ((app->ready.at != 0) != (v->state == VCPU_READY) || (app->release.at != 0) != (app->state == RT_ACTIVE)) {
        return "an app is in a queue of another CPU";
    }
    return NULL;
}

static const char *app_wrong(const struct vcpu *v)
{
    const struct rt_app *app = app_of(v);

    if (app->vcpu != v) {
        return "an app has another's VCPU";
    }
    if ((app->state == RT_ACTIVE) != (v->state != VCPU_OFF)) {
        return "an app is active and its VCPU off, or the other way round";
    }
    if (v->state == VCPU_READY && (app->done || app->overrun)) {
        return "an app is ready whose job is done or whose budget is used up";
    }
    if (v->state == VCPU_RUNNING && v->cpu->id != app->cpu) {
        return "an app runs on a CPU that it is not pinned to";
    }
    return queued_wrong(v);
}

static const char *cpu_wrong(unsigned cpu)
{
    const struct rt_cpu *rc = rt_cpu_of(cpu);
    const char *wrong = heap_wrong(rc->ready.nodes, rc->ready.count, RT_QUEUE_MAX);

    wrong = wrong != NULL ? wrong : heap_wrong(rc->releases.nodes, rc->releases.count, RT_QUEUE_MAX);
    if (wrong == NULL && (rc->releases.count != 0) != (cpu_get(cpu)->traced == &rt_class)) {
        wrong = "a CPU does not ask the real-time class though it has apps there, or the other way round";
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

const char *testbed_rt_wrong(void)
{
    const char *wrong = each_app(app_wrong);

    for (unsigned i = 0; i < hyp.ncpus && wrong == NULL; i++) {
        wrong = cpu_wrong(i);
    }
    return wrong;
}

static const char *settled_app_wrong(const struct vcpu *v)
{
    const struct rt_app *app = app_of(v);

    if (v->state != VCPU_RUNNING) {
        return NULL;
    }
    if (app->done || app->overrun) {
        return "an app runs whose job is done or whose budget is used up";
    }
    if (v->runtime + (host_time - v->cpu->since) >= app->limit) {
        return "an app runs with no budget left";
    }
    if (v->cpu->slice_end > v->cpu->since + (app->limit - v->runtime)) {
        return "an app's slice ends after its budget";
    }
    return NULL;
}

static const char *order_wrong(const struct cpu *cpu)
{
    const struct heap_node *first = rt_queue_first(&rt_cpu_of((unsigned)cpu->id)->ready);

    if (first == NULL) {
        return NULL;
    }
    if (cpu->current == NULL || cpu->current->sched != &rt_class) {
        return "a CPU does something else while an app is ready";
    }
    if (heap_before(first, &app_of(cpu->current)->ready)) {
        return "an app runs while one with an earlier deadline is ready";
    }
    return NULL;
}

static const char *releases_wrong(const struct cpu *cpu)
{
    const struct rt_cpu *rc = rt_cpu_of((unsigned)cpu->id);
    const struct heap_node *first = rt_queue_first(&rc->releases);

    if (first != NULL && cpu->slice_end > first->key) {
        return "a slice goes on beyond the next release";
    }
    if (first != NULL && first->key <= host_time) {
        return "a release is overdue";
    }
    return NULL;
}

const char *testbed_rt_wrong_settled(void)
{
    const char *wrong = each_app(settled_app_wrong);

    for (unsigned i = 0; i < hyp.ncpus && wrong == NULL; i++) {
        wrong = order_wrong(cpu_get(i));
        wrong = wrong != NULL ? wrong : releases_wrong(cpu_get(i));
    }
    return wrong;
}
