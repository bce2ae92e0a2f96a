/* SPDX-License-Identifier: Apache-2.0 */
/* Backend of atomic.h for one CPU: volatile accesses, in the order of the program. Interrupts
 * are disabled in the hypervisor, so no other access comes between the load and the store of an
 * update. */
#ifndef ATOMIC_UP_H
#define ATOMIC_UP_H

#define UP_ACCESS(p) (*(volatile __typeof__(*(p)) *)(p))
#define UP_UPDATE(p, value)                       \
    __extension__({                               \
        __typeof__(*(p)) was_ = UP_ACCESS(p);     \
        UP_ACCESS(p) = (__typeof__(*(p)))(value); \
        was_;                                     \
    })

#define atomic_load_relaxed(p) UP_ACCESS(p)
#define atomic_load_acquire(p) UP_ACCESS(p)
#define atomic_load_seq(p) UP_ACCESS(p)
#define atomic_store_relaxed(p, value) ((void)(UP_ACCESS(p) = (value)))
#define atomic_store_release(p, value) ((void)(UP_ACCESS(p) = (value)))
#define atomic_store_seq(p, value) ((void)(UP_ACCESS(p) = (value)))
#define atomic_add_relaxed(p, value) UP_UPDATE(p, was_ + (value))
#define atomic_and_relaxed(p, bits) UP_UPDATE(p, was_ &(bits))
#define atomic_or_relaxed(p, bits) UP_UPDATE(p, was_ | (bits))
#define atomic_or_release(p, bits) UP_UPDATE(p, was_ | (bits))
#define atomic_exchange_acquire(p, value) UP_UPDATE(p, value)
#define atomic_replace_relaxed(p, old, value)         \
    __extension__({                                   \
        bool same_ = UP_ACCESS(p) == (old);           \
        if (same_) {                                  \
            UP_ACCESS(p) = (__typeof__(*(p)))(value); \
        }                                             \
        same_;                                        \
    })
#define atomic_fence_seq() __asm__ volatile("" ::: "memory")
#define atomic_fence_acquire() __asm__ volatile("" ::: "memory")

#endif
