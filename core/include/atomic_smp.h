/* SPDX-License-Identifier: Apache-2.0 */
/* Backend of atomic.h for several CPUs: the compiler's builtins, with the memory orders of C11. The
 * arch_atomic.h of a machine with several CPUs includes it. */
#ifndef ATOMIC_SMP_H
#define ATOMIC_SMP_H

#define atomic_load_relaxed(p) __atomic_load_n((p), __ATOMIC_RELAXED)
#define atomic_load_acquire(p) __atomic_load_n((p), __ATOMIC_ACQUIRE)
#define atomic_load_seq(p) __atomic_load_n((p), __ATOMIC_SEQ_CST)
#define atomic_store_relaxed(p, value) __atomic_store_n((p), (value), __ATOMIC_RELAXED)
#define atomic_store_release(p, value) __atomic_store_n((p), (value), __ATOMIC_RELEASE)
#define atomic_store_seq(p, value) __atomic_store_n((p), (value), __ATOMIC_SEQ_CST)
#define atomic_add_relaxed(p, value) __atomic_fetch_add((p), (value), __ATOMIC_RELAXED)
#define atomic_and_relaxed(p, bits) __atomic_fetch_and((p), (bits), __ATOMIC_RELAXED)
#define atomic_or_relaxed(p, bits) __atomic_fetch_or((p), (bits), __ATOMIC_RELAXED)
#define atomic_or_release(p, bits) __atomic_fetch_or((p), (bits), __ATOMIC_RELEASE)
#define atomic_exchange_acquire(p, value) __atomic_exchange_n((p), (value), __ATOMIC_ACQUIRE)
#define atomic_replace_relaxed(p, old, value)                                                    \
    __atomic_compare_exchange_n((p), &(__typeof__(*(p))){old}, (value), false, __ATOMIC_RELAXED, \
                                __ATOMIC_RELAXED)
#define atomic_fence_seq() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#define atomic_fence_acquire() __atomic_thread_fence(__ATOMIC_ACQUIRE)

#endif
