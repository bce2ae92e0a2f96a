/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ticket lock: CPUs get it in the order they asked, so a wait is bounded by the number of CPUs times the longest
 * section. Interrupts are never enabled inside the hypervisor, so there is no irq-saving variant, and on a CPU that is
 * alone there is nobody to keep out.
 *
 * Order of locks (outer first): vm.lock, console's lock, sched_lock.
 */
#ifndef SPINLOCK_H
#define SPINLOCK_H

#include "arch_types.h"
#include "atomic.h"
#include "cpu.h"
#include "types.h"

struct spinlock {
    int32_t next;  /* ticket for who comes next */
    int32_t owner; /* ticket being served */
};

static inline void spin_lock(struct spinlock *lock)
{
    int32_t ticket;

    if (arch_alone()) {
        return;
    }
    cpu_self()->locks++;
    KEEP_IN_REGISTER(lock); /* or compilers make the addresses of both halves from scratch */
    ticket = arch_fetch_increment(&lock->next);
    while (UNLIKELY(atomic_load_relaxed(&lock->owner) != ticket)) {
        arch_cpu_relax();
    }
    /* what the last holder wrote before its release of `owner` is seen from here on */
    atomic_fence_acquire();
}

/* The release of the outermost lock sends the interrupts of cpu_kick(). */
static inline void spin_unlock(struct spinlock *lock)
{
    struct cpu *self = cpu_self();

    if (arch_alone()) {
        return;
    }
    /* only the holder writes `owner`, so a plain increment with release order is enough */
    arch_store_release(&lock->owner, (int32_t)((uint32_t)lock->owner + 1U));
    self->locks--;
    if (UNLIKELY(self->kicked != 0) && self->locks == 0) {
        cpu_send_kicks(self);
    }
}

#endif
