/* SPDX-License-Identifier: Apache-2.0 */
/* A physical CPU of the system, and interrupts between CPUs (cpu.c). Its structure is that CPU's;
 * what other CPUs access is atomic or guarded by sched_lock. */
#ifndef CPU_H
#define CPU_H

#include "arch_types.h"
#include "timer.h"
#include "types.h"

struct sched_class;
struct trace_ring;
struct vcpu;

/* cpu.flags: what the exit path does before it returns to the guest. Written by this CPU only. */
#define CPU_RESCHED 1UL

/* cpu.ipi: why another CPU kicked this one. Written by any CPU. */
#define IPI_RESCHED 1UL /* call the scheduler */
#define IPI_SYNC 2UL    /* the running VCPU has new pending interrupts */
#define IPI_SLICE 4UL   /* slice_end has changed: program the timer */

/* Fields down to `loaded` are read by assembly. */
struct cpu {
    ulong flags; /* CPU_* */
    /* the VCPU whose exit is being handled, NULL when idle or between two VCPUs */
    struct vcpu *current;
    struct trace_ring *trace; /* where its events are recorded, or NULL. Constant after boot */
    /* the VCPU whose state the CPU's guest registers hold, or NULL; written by the architecture */
    struct vcpu *loaded;
    struct arch_cpu arch; /* its start is read by assembly too */
    ulong id;             /* 0 .. hyp.ncpus-1; 0 booted first */
    /* Guarded by sched_lock: */
    /* has VCPUs on this CPU and picks before best effort; or NULL */
    const struct sched_class *class;
    /* as `class`, except while `class` is the wrapper that records every pick */
    const struct sched_class *wrapped;
    /* when `class` picks again at the latest; TICKS_NEVER without a class */
    ticks_t next_release;
    bool idle; /* waits for work */
    /* whose slice is spent on its work (vcpu.work); `current` is NULL then */
    struct vcpu *worker;
    ulong ipi;     /* IPI_*, requested by other CPUs; atomic */
    ticks_t since; /* when the slice of `current` or `worker` began */
    /* when that slice ends, TICKS_NEVER while no VCPU waits; other CPUs access it with
     * sched_lock */
    ticks_t slice_end;
    ticks_t armed; /* deadline programmed into the hardware timer, or TIMER_FIRED */
    struct timers timers;
    /* Of this CPU alone: */
    unsigned locks; /* number of locks that it holds; not counted on a machine with one CPU */
    ulong kicked;   /* bit n: CPU n is interrupted when the last of these locks is released */
    ticks_t now;    /* with ARCH_TIME_SLOW: the time of the last timer_expire() or sched_run() */
};

/* This CPU. */
static inline struct cpu *cpu_self(void)
{
    return arch_cpu_self();
}

/* CPU number `id`, 0 .. hyp.ncpus-1. */
static inline struct cpu *cpu_get(unsigned id)
{
    return arch_cpu_get(id);
}

/* The VCPU whose slice this CPU runs: its guest (`current`), or its work (`worker`); NULL while the
 * CPU is idle or picks the next VCPU. */
static inline struct vcpu *cpu_slice_owner(const struct cpu *cpu)
{
    return cpu->current != NULL ? cpu->current : cpu->worker;
}

/* The time for accounting and picking in sched_run(); not before the slice that ends there has
 * begun. */
static inline ticks_t cpu_now(const struct cpu *cpu)
{
    return ARCH_TIME_SLOW ? cpu->now : arch_time();
}

/* Programs the hardware timer of this CPU for the first of its deadlines, unless it is programmed
 * for an earlier one: an early interrupt costs one call of timer_expire(), programming a later
 * deadline would cost the same at every change. */
static inline void timer_program(struct cpu *cpu)
{
    ticks_t first = timers_first(&cpu->timers);

    first = first < cpu->slice_end ? first : cpu->slice_end;
    if (cpu->armed == TIMER_FIRED || first < cpu->armed) {
        cpu->armed = first;
        arch_timer_set(first);
    }
}

/*
 * Under a lock, mostly sched_lock: sets `reason` bits for another CPU and interrupts it. If `cpu`
 * is this CPU, its scheduler runs before it returns to a guest, for any reason.
 *
 * The interrupt can take a call of the firmware, some 700 instructions, so it is not sent under the
 * lock: cpu_kick() notes the CPU in this CPU's mask, and the release of the outermost lock sends
 * one interrupt to all CPUs of the mask. A CPU that waits, sleeps or runs a guest holds no lock, so
 * every kick is sent. A CPU whose bits were set already is not noted: its interrupt is pending, or
 * in the mask of a CPU that holds a lock.
 */
void cpu_kick(struct cpu *cpu, ulong reason);

/* Collects the kicks of all critical sections up to cpu_end_kicks(), which sends them as one
 * interrupt. The sections do not wait for another CPU. */
static inline void cpu_gather_kicks(void)
{
    cpu_self()->locks++;
}

void cpu_end_kicks(void);

/* For spin_unlock(): interrupts the CPUs that `self`, this CPU, has noted. */
void cpu_send_kicks(struct cpu *self);

/* Called by the architecture when an IPI has come. */
void cpu_ipi_received(void);

#endif
