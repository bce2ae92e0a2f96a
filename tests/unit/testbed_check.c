/* SPDX-License-Identifier: Apache-2.0 */
/* Invariants of the state of the scheduler and the VMs. */
#include "arch.h"
#include "host.h"
#include "sched.h"
#include "sched_be.h"
#include "testbed.h"
#include "testbed_queue.h"
#include "testbed_rt.h"

/* How often the run queue contains `v`; the walk is bounded, so that it terminates on a broken
 * list. */
static unsigned times_queued(const struct vcpu *v)
{
    unsigned count = 0;
    const struct list *node = sched_be.queue.next;

    for (unsigned i = 0; i <= SYSIMAGE_MAX_VCPUS && node != &sched_be.queue;
         i++, node = node->next) {
        count += node == &v->node;
    }
    return count;
}

static unsigned queue_length(void)
{
    unsigned count = 0;

    for (const struct list *node = sched_be.queue.next;
         node != &sched_be.queue && count <= SYSIMAGE_MAX_VCPUS; node = node->next) {
        if (node->next->prev != node) {
            return SYSIMAGE_MAX_VCPUS + 1;
        }
        count++;
    }
    return count;
}

static unsigned times_current(const struct vcpu *v)
{
    unsigned count = 0;

    for (unsigned i = 0; i < hyp.ncpus; i++) {
        count += cpu_get(i)->current == v;
    }
    return count;
}

const char *heap_violation(struct heap_node *const *nodes, unsigned count, unsigned max)
{
    if (count > max) {
        return "a heap is too long";
    }
    for (unsigned i = 0; i < count; i++) {
        if (nodes[i]->at != i + 1) {
            return "a heap node has the wrong index";
        }
        if (i > 0 && heap_before(nodes[i], nodes[(i - 1) / 2])) {
            return "a heap is out of order";
        }
    }
    return NULL;
}

static const char *off_violation(const struct vcpu *v)
{
    if (v->vm->state == VM_STOPPED && v->state != VCPU_OFF) {
        return "a stopped VM has a VCPU that is not off";
    }
    if (v->state == VCPU_OFF && v->timer.node.at != 0) {
        return "a VCPU that is off has a timer";
    }
    return NULL;
}

static const char *vcpu_violation(const struct vcpu *v)
{
    bool waits = v->state == VCPU_READY && v->sched == NULL;

    if (times_queued(v) != waits) {
        return waits ? "a ready VCPU is not in the queue exactly once"
                     : "the queue has a VCPU that is not ready";
    }
    if (times_current(v) != (v->state == VCPU_RUNNING)) {
        return v->state == VCPU_RUNNING ? "a running VCPU is not on exactly one CPU"
                                        : "a CPU runs a VCPU that is not in state running";
    }
    if (v->state == VCPU_RUNNING && v->cpu->current != v) {
        return "a running VCPU names the wrong CPU";
    }
    return off_violation(v);
}

static const char *watchdog_violation(const struct vm_clock *clock, bool armed)
{
    if (armed != (clock->period != 0)) {
        return armed ? "a VM without a watchdog has a timer"
                     : "a running VM's watchdog has no timer";
    }
    return armed && !clock->suspended && clock->timer.node.key > clock->limit
               ? "a watchdog's timer is too late"
               : NULL;
}

/* The VM's timer is armed in the right states and not too late. */
static const char *clock_violation(const struct vm *vm)
{
    bool armed = vm->clock.timer.node.at != 0;

    switch (vm->state) {
    case VM_RUNNING:
        return watchdog_violation(&vm->clock, armed);
    case VM_WAITING:
        return armed ? NULL : "a VM waits for its restart without a timer";
    case VM_STOPPED:
        return armed ? "a stopped VM has a timer" : NULL;
    default: /* in transition */
        return NULL;
    }
}

static const char *vm_violation(const struct vm *vm)
{
    const char *wrong = NULL;
    unsigned on = 0;

    for (unsigned i = 0; i < vm->total && wrong == NULL; i++) {
        wrong = vcpu_violation(&vm->vcpus[i]);
        on += vm->vcpus[i].state != VCPU_OFF;
    }
    if (wrong == NULL && vm->state != VM_STOPPING && vm->on != on) {
        wrong = "a VM's count of VCPUs that are on is wrong";
    }
    wrong = wrong != NULL ? wrong : clock_violation(vm);
    if (wrong == NULL && vm->lock.next != vm->lock.owner) {
        wrong = "a VM's lock is still held";
    }
    return wrong;
}

/* Kicks are sent when the last lock is released, and a CPU with request bits set has an interrupt
 * pending. */
static const char *kicks_violation(const struct cpu *cpu)
{
    if (cpu->locks != 0 || cpu->kicked != 0) {
        return cpu->locks != 0 ? "a CPU's count of locks is wrong" : "a kick was not sent";
    }
    return cpu->ipi != 0 && cpu->arch.kicks == 0 ? "a CPU has requests pending but no interrupt"
                                                 : NULL;
}

static const char *cpu_violation(const struct cpu *cpu)
{
    const char *wrong = testbed_timers_violation(&cpu->timers);
    ticks_t first = cpu->slice_end;

    if (wrong != NULL) {
        return wrong;
    }
    /* Otherwise software timers are deferred. */
    if (!sched_runs_class(cpu) && timers_first(&cpu->timers) < first) {
        first = timers_first(&cpu->timers);
    }
    /* A CPU with a pending interrupt or reschedule programs its timer when it handles it. */
    if ((cpu->flags & CPU_RESCHED) == 0 && cpu->arch.kicks == 0 && cpu->arch.timer > first) {
        return "a CPU's hardware timer is later than its first deadline";
    }
    return kicks_violation(cpu);
}

const char *testbed_violation(void)
{
    const char *wrong = NULL;

    for (unsigned i = 0; i < hyp.nvms && wrong == NULL; i++) {
        wrong = vm_violation(&hyp.vms[i]);
    }
    for (unsigned i = 0; i < hyp.ncpus && wrong == NULL; i++) {
        wrong = cpu_violation(cpu_get(i));
    }
    if (wrong == NULL && queue_length() > SYSIMAGE_MAX_VCPUS) {
        wrong = "the run queue's links are broken";
    }
    if (wrong == NULL && sched_lock.next != sched_lock.owner) {
        wrong = "sched_lock is still held";
    }
    return wrong != NULL ? wrong : testbed_rt_violation();
}

static const char *idle_cpu_violation(const struct cpu *cpu)
{
    if (cpu->current == NULL && queue_length() > 0) {
        return "a CPU is idle while a VCPU is ready";
    }
    if (cpu->current == NULL && !cpu->idle) {
        return "an idle CPU is not marked idle";
    }
    return NULL;
}

/* For each ready VCPU there is a CPU with a finite slice, up to the number of CPUs. */
static const char *slices_violation(void)
{
    unsigned ended = 0;

    for (unsigned i = 0; i < hyp.ncpus; i++) {
        ended += cpu_get(i)->slice_end != TICKS_NEVER;
    }
    return ended < hyp.ncpus && ended < queue_length()
               ? "too few slices are finite while VCPUs are ready"
               : NULL;
}

/* The RAM of a VM whose guest never writes: the payload, then zeros; checked around the polling
 * points of loading. */
static bool ram_is_wrong(const struct vm *vm)
{
    const uint64_t *ram = host_ram(vm->memmap.regions[0].hpa);
    size_t step = 2048 / sizeof(*ram);

    if (ram[0] != TESTBED_PAYLOAD || ram[1] != 0) {
        return true;
    }
    for (size_t i = step; i < TESTBED_VM_RAM / sizeof(*ram); i += step) {
        if ((ram[i - 1] | ram[i] | ram[i + 1]) != 0) {
            return true;
        }
    }
    return false;
}

static const char *idle_vm_violation(const struct vm *vm)
{
    if (vm->state == VM_STOPPING && (vm->on != 0 || vm->vcpus[0].state != VCPU_READY)) {
        return "a VM has not finished stopping";
    }
    if (vm->state == VM_RUNNING && ram_is_wrong(vm)) {
        return "a running VM's RAM has other content than its payload and zeros";
    }
    for (unsigned i = 0; i < vm->nvcpus; i++) {
        const struct vcpu *v = &vm->vcpus[i];

        if (v->state == VCPU_BLOCKED && (v->pending != 0 || v->arch.raised != 0)) {
            return "a VCPU is blocked with an interrupt pending";
        }
    }
    return NULL;
}

const char *testbed_idle_violation(void)
{
    const char *wrong = testbed_violation();

    for (unsigned i = 0; i < hyp.ncpus && wrong == NULL; i++) {
        wrong = idle_cpu_violation(cpu_get(i));
    }
    for (unsigned i = 0; i < hyp.nvms && wrong == NULL; i++) {
        wrong = idle_vm_violation(&hyp.vms[i]);
    }
    wrong = wrong != NULL ? wrong : slices_violation();
    return wrong != NULL ? wrong : testbed_rt_idle_violation();
}
