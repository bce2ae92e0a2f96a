/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ticket lock: CPUs get it in the order of their requests, so that a wait is bounded by the
 * number of CPUs times the longest critical section. Interrupts are never enabled in the
 * hypervisor, so there is no irq-saving variant, and on a machine with one CPU locks are no-ops.
 *
 * Lock order (outer first): vm.lock, console's lock, sched_lock.
 */
#ifndef SPINLOCK_H
#define SPINLOCK_H

#include "arch_types.h"
#include "atomic.h"
#include "cpu.h"
#include "types.h"

struct spinlock {
    int32_t next;  /* next ticket to be given out */
    int32_t owner; /* ticket of the holder */
};

static inline void spin_lock(struct spinlock *lock)
{
    int32_t ticket;

    if (arch_is_uniprocessor()) {
        return;
    }
    cpu_self()->locks++;
    ticket = arch_fetch_increment(&lock->next);
    while (atomic_load_relaxed(&lock->owner) != ticket) {
        arch_cpu_relax();
    }
    /* makes the last holder's writes before its release of `owner` visible */
    atomic_fence_acquire();
}

/* The release of the outermost lock sends the interrupts of cpu_kick(). */
static inline void spin_unlock(struct spinlock *lock)
{
    struct cpu *self = cpu_self();

    if (arch_is_uniprocessor()) {
        return;
    }
    /* only the holder writes `owner`: a plain increment with release order is enough */
    arch_store_release(&lock->owner, (int32_t)((uint32_t)lock->owner + 1U));
    self->locks--;
    if (self->kicked != 0 && self->locks == 0) {
        cpu_send_kicks(self);
    }
}

#endif
