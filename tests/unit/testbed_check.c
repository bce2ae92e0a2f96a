/* SPDX-License-Identifier: Apache-2.0 */
/* What must hold of the scheduler's and the VMs' state. */
#include "arch.h"
#include "host.h"
#include "sched.h"
#include "sched_be.h"
#include "testbed.h"
#include "testbed_rt.h"

/* How often `v` stands in the run queue; the walk is bounded, so that a broken list ends it too. */
static unsigned times_queued(const struct vcpu *v)
{
    unsigned count = 0;
    const struct list *node = sched_be.queue.next;

    for (unsigned i = 0; i <= SYSIMAGE_MAX_VCPUS && node != &sched_be.queue; i++, node = node->next) {
        count += node == &v->node;
    }
    return count;
}

static unsigned queue_length(void)
{
    unsigned count = 0;

    for (const struct list *node = sched_be.queue.next; node != &sched_be.queue && count <= SYSIMAGE_MAX_VCPUS;
         node = node->next) {
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

const char *heap_wrong(struct heap_node *const *nodes, unsigned count, unsigned room)
{
    if (count > room) {
        return "a heap is too long";
    }
    for (unsigned i = 0; i < count; i++) {
        if (nodes[i]->at != i + 1) {
            return "a node of a heap is not where it says";
        }
        if (i > 0 && heap_before(nodes[i], nodes[(i - 1) / 2])) {
            return "a heap is out of order";
        }
    }
    return NULL;
}

static const char *off_wrong(const struct vcpu *v)
{
    if (v->vm->state == VM_STOPPED && v->state != VCPU_OFF) {
        return "a stopped VM has a VCPU that is not off";
    }
    if (v->state == VCPU_OFF && v->timer.node.at != 0) {
        return "a VCPU that is off has a timer";
    }
    return NULL;
}

static const char *vcpu_wrong(const struct vcpu *v)
{
    bool waits = v->state == VCPU_READY && v->sched == NULL;

    if (times_queued(v) != waits) {
        return waits ? "a ready VCPU is not in the queue exactly once" : "the queue has one not ready";
    }
    if (times_current(v) != (v->state == VCPU_RUNNING)) {
        return v->state == VCPU_RUNNING ? "a running VCPU is not on exactly one CPU" : "a CPU runs one not running";
    }
    if (v->state == VCPU_RUNNING && v->cpu->current != v) {
        return "a running VCPU names the wrong CPU";
    }
    return off_wrong(v);
}

static const char *watchdog_wrong(const struct vm_clock *clock, bool armed)
{
    if (armed != (clock->period != 0)) {
        return armed ? "a VM without a watchdog has one" : "a running VM's watchdog is asleep";
    }
    return armed && !clock->suspended && clock->timer.node.key > clock->limit ? "a watchdog will be late" : NULL;
}

/* The VM's timer is there when it must be, and not too late. */
static const char *clock_wrong(const struct vm *vm)
{
    bool armed = vm->clock.timer.node.at != 0;

    switch (vm->state) {
    case VM_RUNNING:
        return watchdog_wrong(&vm->clock, armed);
    case VM_WAITING:
        return armed ? NULL : "a VM waits for ever";
    case VM_STOPPED:
        return armed ? "a VM that stands still has a timer" : NULL;
    default: /* on the way from one to the other */
        return NULL;
    }
}

static const char *vm_wrong(const struct vm *vm)
{
    const char *wrong = NULL;
    unsigned on = 0;

    for (unsigned i = 0; i < vm->total && wrong == NULL; i++) {
        wrong = vcpu_wrong(&vm->vcpus[i]);
        on += vm->vcpus[i].state != VCPU_OFF;
    }
    if (wrong == NULL && vm->state != VM_STOPPING && vm->on != on) {
        wrong = "a VM miscounts its VCPUs that are on";
    }
    wrong = wrong != NULL ? wrong : clock_wrong(vm);
    if (wrong == NULL && vm->lock.next != vm->lock.owner) {
        wrong = "a VM's lock is left held";
    }
    return wrong;
}

/* Kicks are sent when the last lock is released, and whoever sets a CPU's bits sees to its interrupt. */
static const char *kicks_wrong(const struct cpu *cpu)
{
    if (cpu->locks != 0 || cpu->kicked != 0) {
        return cpu->locks != 0 ? "a CPU miscounts its locks" : "a kick was not sent";
    }
    return cpu->ipi != 0 && cpu->arch.kicks == 0 ? "a CPU was told of something and not interrupted" : NULL;
}

static const char *cpu_wrong(const struct cpu *cpu)
{
    const char *wrong = heap_wrong(cpu->timers.nodes, cpu->timers.count, TIMERS_MAX);
    ticks_t first = cpu->slice_end;

    if (wrong != NULL) {
        return wrong;
    }
    if (!sched_urgent(cpu) && timers_first(&cpu->timers) < first) { /* otherwise best effort's timers wait */
        first = timers_first(&cpu->timers);
    }
    /* What has fired already, or is about to be scheduled anew, is dealt with at the next turn. */
    if ((cpu->flags & CPU_RESCHED) == 0 && cpu->arch.kicks == 0 && cpu->arch.timer > first) {
        return "a CPU's hardware timer is later than its first deadline";
    }
    return kicks_wrong(cpu);
}

const char *testbed_wrong(void)
{
    const char *wrong = NULL;

    for (unsigned i = 0; i < hyp.nvms && wrong == NULL; i++) {
        wrong = vm_wrong(&hyp.vms[i]);
    }
    for (unsigned i = 0; i < hyp.ncpus && wrong == NULL; i++) {
        wrong = cpu_wrong(cpu_get(i));
    }
    if (wrong == NULL && queue_length() > SYSIMAGE_MAX_VCPUS) {
        wrong = "the run queue is broken";
    }
    if (wrong == NULL && sched_lock.next != sched_lock.owner) {
        wrong = "sched_lock is left held";
    }
    return wrong != NULL ? wrong : testbed_rt_wrong();
}

static const char *settled_cpu_wrong(const struct cpu *cpu)
{
    if (cpu->current == NULL && queue_length() > 0) {
        return "a CPU sleeps while a VCPU waits for one";
    }
    if (cpu->current == NULL && !cpu->idle) {
        return "a CPU sleeps without saying so";
    }
    return NULL;
}

/* Each VCPU that waits has a CPU whose slice has an end, as long as there are such CPUs. */
static const char *slices_wrong(void)
{
    unsigned ended = 0;

    for (unsigned i = 0; i < hyp.ncpus; i++) {
        ended += cpu_get(i)->slice_end != TICKS_NEVER;
    }
    return ended < hyp.ncpus && ended < queue_length() ? "too few slices have an end while VCPUs wait" : NULL;
}

/* The RAM of a VM whose guest never writes: the payload, then zeros; looked at around where loading pauses. */
static bool ram_wrong(const struct vm *vm)
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

static const char *settled_vm_wrong(const struct vm *vm)
{
    if (vm->state == VM_STOPPING && (vm->on != 0 || vm->vcpus[0].state != VCPU_READY)) {
        return "a VM has not finished stopping";
    }
    if (vm->state == VM_RUNNING && ram_wrong(vm)) {
        return "a VM runs with something else in its RAM than its payload and zeros";
    }
    for (unsigned i = 0; i < vm->nvcpus; i++) {
        const struct vcpu *v = &vm->vcpus[i];

        if (v->state == VCPU_BLOCKED && (v->pending != 0 || v->arch.raised != 0)) {
            return "a VCPU sleeps through an interrupt";
        }
    }
    return NULL;
}

const char *testbed_wrong_settled(void)
{
    const char *wrong = testbed_wrong();

    for (unsigned i = 0; i < hyp.ncpus && wrong == NULL; i++) {
        wrong = settled_cpu_wrong(cpu_get(i));
    }
    for (unsigned i = 0; i < hyp.nvms && wrong == NULL; i++) {
        wrong = settled_vm_wrong(&hyp.vms[i]);
    }
    wrong = wrong != NULL ? wrong : slices_wrong();
    return wrong != NULL ? wrong : testbed_rt_wrong_settled();
}
