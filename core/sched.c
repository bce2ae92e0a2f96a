/* SPDX-License-Identifier: Apache-2.0 */
#include "sched.h"

#include "arch.h"
#include "system.h"

struct spinlock sched_lock; /* owner: this file; see sched.h for what it guards */

#define SCHED_CLASSES 4U

extern const struct sched_class *const __start_sched_classes[], *const __stop_sched_classes[];

static const struct sched_class *sched_classes[SCHED_CLASSES + 1]; /* by rank, NULL at the end; owner: sched_init() */

void sched_init(void)
{
    unsigned count = 0;

    for (const struct sched_class *const *c = __start_sched_classes; c < __stop_sched_classes; c++) {
        unsigned at = count++;

        for (; at > 0 && sched_classes[at - 1]->rank > (*c)->rank; at--) {
            sched_classes[at] = sched_classes[at - 1];
        }
        sched_classes[at] = *c;
    }
}

void sched_wake(struct vcpu *v)
{
    if (arch_vcpu_timer_bits(v) == ARCH_VIRQ_NONE) {
        timer_disarm(&v->timer); /* it was only there to wake; a guest's emulated timer goes on */
    }
    v->state = VCPU_READY;
    v->sched->wake(v);
}

void sched_remove(struct vcpu *v)
{
    timer_disarm(&v->timer);
    if (v->state == VCPU_READY) {
        v->sched->dequeue(v);
    }
    v->state = VCPU_OFF;
}

static void sched_block(struct vcpu *v)
{
    v->state = VCPU_BLOCKED;
    timer_arm(&v->timer, arch_vcpu_deadline(v));
}

static void sched_requeue(struct vcpu *v)
{
    v->state = VCPU_READY;
    v->sched->enqueue(v);
}

/* The VCPU whose exit led here gives up the CPU: decides what becomes of it. */
static void sched_leave(struct cpu *cpu, struct vcpu *v)
{
    bool wait = v->wait;

    v->runtime += arch_time() - cpu->since;
    v->wait = false;
    cpu->current = NULL;
    v->vm->running--;
    if (UNLIKELY(v->off || v->vm->state == VM_STOPPING)) {
        v->off = false;
        v->state = VCPU_OFF;
        vm_vcpu_left(v->vm);
    } else if (wait && __atomic_load_n(&v->pending, __ATOMIC_ACQUIRE) == 0) {
        sched_block(v);
    } else {
        sched_requeue(v);
    }
}

static struct vcpu *sched_pick(struct cpu *cpu)
{
    struct vcpu *v = NULL;

    for (const struct sched_class **c = sched_classes; v == NULL && *c != NULL; c++) {
        v = (*c)->pick(cpu);
    }
    return v;
}

/* Sleeps with nothing to do. The lock is held on the way in and out, not between. */
static void sched_idle(struct cpu *cpu)
{
    cpu->idle = true;
    timer_settle(cpu);
    spin_unlock(&sched_lock);
    if (cpu->loaded != NULL) {
        cpu->loaded = NULL;
        arch_vcpu_unload();
    }
    arch_cpu_sleep();
    arch_irq_poll();
    cpu->flags = 0;
    spin_lock(&sched_lock);
    cpu->idle = false;
}

/* Fills the VM's memory as long as nothing else is to do. Lock as in sched_idle(). */
static void sched_load_vm(struct cpu *cpu, struct vcpu *v)
{
    bool done;

    cpu->tickless = true; /* nothing is armed: whoever becomes ready has to interrupt */
    timer_settle(cpu);
    spin_unlock(&sched_lock);
    done = vm_load_step(v->vm);
    arch_irq_poll();
    cpu->flags = 0;
    spin_lock(&sched_lock);
    cpu->tickless = false;
    v->vm->running--;
    if (v->vm->state == VM_STOPPING) {
        v->state = VCPU_OFF;
        vm_vcpu_left(v->vm);
    } else {
        v->vm->state = done ? VM_RUNNING : VM_LOADING;
        sched_requeue(v);
    }
}

/* Tells why a VM stopped, for which the lock must be let go. */
static void sched_conclude(struct vm *vm)
{
    if (UNLIKELY(vm->report)) {
        spin_unlock(&sched_lock);
        vm_conclude(vm);
        spin_lock(&sched_lock);
    }
}

/* The VCPU that this CPU runs next; waits until there is one. */
static struct vcpu *sched_next(struct cpu *cpu)
{
    for (;;) {
        struct vcpu *v = sched_pick(cpu);

        if (v == NULL) {
            sched_idle(cpu);
            continue;
        }
        v->state = VCPU_RUNNING;
        v->cpu = cpu;
        v->vm->running++;
        if (LIKELY(v->vm->state != VM_LOADING)) {
            return v;
        }
        sched_load_vm(cpu, v);
        sched_conclude(v->vm);
    }
}

struct vcpu *sched_run(void)
{
    struct cpu *cpu = cpu_self();
    struct vcpu *prev = cpu->current;
    struct vcpu *next;

    cpu->flags = 0;
    if (prev != NULL) {
        arch_vcpu_save(prev); /* before the lock lets anyone else run it */
    }
    spin_lock(&sched_lock);
    if (prev != NULL) {
        sched_leave(cpu, prev);
        sched_conclude(prev->vm);
    }
    next = sched_next(cpu);
    cpu->current = next;
    cpu->since = arch_time();
    next->sched->start(cpu, cpu->since);
    timer_settle(cpu);
    spin_unlock(&sched_lock);

    if (cpu->loaded != next) {
        cpu->loaded = next;
        arch_vcpu_load(next);
    }
    arch_vcpu_inject(next, __atomic_exchange_n(&next->pending, 0, __ATOMIC_ACQUIRE));
    return next;
}
