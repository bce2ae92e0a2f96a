/* SPDX-License-Identifier: Apache-2.0 */
/* Interrupts to a VCPU, and its life: waiting, suspended, off, started. It serves the
 * architecture's exits and the devices; the state is guarded by sched_lock. */
#include "vcpu.h"

#include "arch.h"
#include "atomic.h"
#include "component.h"
#include "sched.h"
#include "trace.h"
#include "vm.h"

void vcpu_raise_locked(struct vcpu *v, ulong bits)
{
    if (v == cpu_self()->current) {
        vcpu_inject(v, bits);
        return;
    }
    /* release: the VCPU's CPU must see the data that the interrupt announces */
    atomic_or_release(&v->pending, bits);
    if (v->state == VCPU_BLOCKED) {
        sched_wake(v);
    } else if (v->state == VCPU_RUNNING && v->cpu != cpu_self() && v->sched == NULL) {
        cpu_kick(v->cpu, IPI_SYNC);
    }
}

void vcpu_raise(struct vcpu *v, ulong bits)
{
    if (v == cpu_self()->current) {
        vcpu_inject(v, bits);
        return;
    }
    spin_lock(&sched_lock);
    vcpu_raise_locked(v, bits);
    spin_unlock(&sched_lock);
}

void vcpu_take_pending(struct vcpu *v)
{
    vcpu_inject(v, atomic_exchange_acquire(&v->pending, 0));
}

void vcpu_wait(struct vcpu *v)
{
    /* A VCPU with a budget continues to consume it (WFI may return at any time): if it kept the
     * budget and resumed just before its deadline, it would take time that admission gave to
     * others. */
    if (v->sched == NULL && !arch_guest_irq(&v->arch) && atomic_load_relaxed(&v->pending) == 0) {
        atomic_or_relaxed(&v->request, VCPU_REQ_WAIT);
        cpu_self()->flags |= CPU_RESCHED;
    }
}

void vcpu_suspend(struct vcpu *v)
{
    atomic_or_relaxed(&v->request, VCPU_REQ_SUSPEND);
    cpu_self()->flags |= CPU_RESCHED;
}

void vcpu_resume(struct vcpu *v)
{
    atomic_and_relaxed(&v->request, ~VCPU_REQ_SUSPEND);
    if (v->state == VCPU_SUSPENDED) {
        if (v->sched != NULL) {
            v->sched->hold(v); /* it must not use a slice from the middle on: see vcpu_wait() */
        }
        sched_wake(v);
    }
}

void vcpu_stop(struct vcpu *v)
{
    atomic_or_relaxed(&v->request, VCPU_REQ_OFF);
    cpu_self()->flags |= CPU_RESCHED;
}

bool vcpu_start(struct vcpu *v, ulong entry, ulong arg)
{
    bool off;

    /* the lines of its interrupt controller do not change until arch_vcpu_lines() */
    spin_lock(&v->vm->lock);
    spin_lock(&sched_lock);
    off = v->state == VCPU_OFF && v->vm->state == VM_RUNNING;
    if (off) {
        v->vm->on++;
        v->request = 0;
        v->pending = 0; /* interrupts raised while it was off are lost, as on a hart that is off */
        components_vcpu_start(v);
        v->last_cpu = VCPU_NO_CPU;
        arch_vcpu_reset(v, entry, arg);
        arch_vcpu_lines(v);
        sched_wake(v);
    }
    spin_unlock(&sched_lock);
    spin_unlock(&v->vm->lock);
    return off;
}

void vcpu_timer_expired(struct timer *t)
{
    struct vcpu *v = CONTAINER_OF(t, struct vcpu, timer);

    vcpu_raise_locked(v, arch_vcpu_timer_bits(v));
}
