/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A ticket lock: CPUs get it in the order they asked, so a wait is bounded by the number of CPUs times the longest
 * section. Interrupts are never enabled inside the hypervisor, so there is no irq-saving variant.
 *
 * Order of locks (outer first): vm.lock, console's lock, sched_lock.
 */
#ifndef SPINLOCK_H
#define SPINLOCK_H

#include "arch_types.h"
#include "types.h"

struct spinlock {
    uint32_t next;  /* ticket for who comes next */
    uint32_t owner; /* ticket being served */
};

static inline void spin_lock(struct spinlock *lock)
{
    uint32_t ticket = __atomic_fetch_add(&lock->next, 1U, __ATOMIC_RELAXED);

    /* acquire: what the last holder wrote is seen after its release of `owner` */
    while (__atomic_load_n(&lock->owner, __ATOMIC_ACQUIRE) != ticket) {
        arch_cpu_relax();
    }
}

static inline void spin_unlock(struct spinlock *lock)
{
    /* only the holder writes `owner`, so a plain increment with release order is enough */
    __atomic_store_n(&lock->owner, lock->owner + 1U, __ATOMIC_RELEASE);
}

#endif
