/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Atomic accesses to data that several CPUs share without a lock. Each architecture's arch_atomic.h
 * selects a backend: atomic_smp.h, or atomic_up.h for machines with one CPU. Interrupts are never
 * enabled in the hypervisor, so on one CPU a plain access is atomic.
 *
 *   atomic_load_relaxed(p)          atomic_load_acquire(p)         atomic_load_seq(p)
 *   atomic_store_relaxed(p, value)  atomic_store_release(p, value) atomic_store_seq(p, value)
 *   atomic_add_relaxed(p, value)    atomic_and_relaxed(p, bits)    return the value before
 *   atomic_or_relaxed(p, bits)      atomic_or_release(p, bits)     return the value before
 *   atomic_exchange_acquire(p, value)                              returns the value before
 *   atomic_replace_relaxed(p, old, value)  stores `value` if *p is `old`; returns whether it was
 *   atomic_fence_acquire()         atomic_fence_seq()
 *
 * The last word is the memory order, as C11 defines it; seq is sequentially consistent.
 */
#ifndef ATOMIC_H
#define ATOMIC_H

#include "arch_atomic.h"

#endif
