/* SPDX-License-Identifier: Apache-2.0 */
/* A physical CPU of the system. */
#ifndef CPU_H
#define CPU_H

#include "arch_types.h"
#include "timer.h"
#include "types.h"

struct sched_class;
struct trace_ring;
struct vcpu;

/* cpu.flags: what the exit path must do before it returns to the guest. Written by this CPU only. */
#define CPU_RESCHED 1UL
/* Set by a timer, for who runs the timers, once sched_lock is free: unfinished console lines are due. */
#define CPU_CONSOLE 2UL

/* cpu.ipi: why another CPU kicked this one. Written by any CPU. */
#define IPI_RESCHED 1UL /* call the scheduler */
#define IPI_SYNC 2UL    /* the running VCPU has new pending interrupts */
#define IPI_SLICE 4UL   /* slice_end is another one: program the timer */

/* Fields down to `loaded` are read by assembly. */
struct cpu {
    ulong flags;
    struct vcpu *current;     /* the VCPU whose exit is being handled, NULL when idle */
    struct trace_ring *trace; /* where its events go; NULL: nowhere. Constant after boot */
    struct vcpu *loaded; /* the VCPU whose state the CPU's guest registers hold, or NULL; written by the architecture */
    struct arch_cpu arch; /* its start is read by assembly too */
    ulong id;             /* 0 .. system.ncpus-1; 0 booted first */
    /* Guarded by sched_lock: */
    const struct sched_class *urgent; /* has VCPUs here that come before best effort: it picks first; or NULL */
    const struct sched_class *traced; /* the same but while there is a trace, when `urgent` is the one that records */
    ticks_t horizon;                  /* if urgent: when that class wants to pick again at the latest */
    bool idle;                        /* waits for work; guarded by sched_lock */
    struct vcpu *steps;               /* whose slice is spent on loading or ending its VM; `current` is NULL then */
    ulong ipi;                        /* atomic */
    ticks_t since;                    /* when the slice of `current` or `steps` began */
    ticks_t slice_end; /* when it has to give way, TICKS_NEVER if nobody waits; guarded by sched_lock for others */
    ticks_t armed;     /* what the hardware timer is set to, or TIMER_FIRED */
    struct timers timers;
    /* Of this CPU alone: */
    unsigned locks; /* that it holds, on a machine with more than one CPU */
    ulong kicked;   /* bit n: CPU n is to be interrupted with the release of the last of them */
};

/* This CPU. */
static inline struct cpu *cpu_self(void)
{
    return arch_cpu_self();
}

/* CPU number `id`, 0 .. system.ncpus-1. */
static inline struct cpu *cpu_get(unsigned id)
{
    return arch_cpu_get(id);
}

/* The VCPU that has a slice of this CPU: its guest runs (`current`), or its VM is being loaded or ended (`steps`); NULL when
 * the CPU is idle or on its way to the next VCPU. */
static inline struct vcpu *cpu_slice_owner(const struct cpu *cpu)
{
    return cpu->current != NULL ? cpu->current : cpu->steps;
}

/* Programs the hardware timer of this CPU for the first of its deadlines, unless it is programmed for an earlier one: an
 * early interrupt costs one call of timer_expire(), programming a later deadline would cost the same at every change. */
static inline void timer_program(struct cpu *cpu)
{
    ticks_t first = timers_first(&cpu->timers);

    first = first < cpu->slice_end ? first : cpu->slice_end;
    if (first < cpu->armed || cpu->armed == TIMER_FIRED) {
        cpu->armed = first;
        arch_timer_set(first);
    }
}

/*
 * Under a lock, mostly sched_lock: sets `reason` bits for another CPU and interrupts it. This CPU calls its scheduler
 * before it returns to a guest, whatever the reason.
 *
 * The interrupt is an SBI call of some 700 instructions, so it is not sent under the lock: cpu_kick() notes the CPU in
 * this CPU's mask, and the release of the outermost lock sends one interrupt to all CPUs of the mask. A CPU that waits,
 * sleeps or runs a guest holds no lock, so no kick is left unsent. A CPU whose bits were set already is not noted: its
 * interrupt is under way, or in the mask of a CPU that holds a lock.
 */
void cpu_kick(struct cpu *cpu, ulong reason);

/* What follows up to cpu_end_kicks() may take locks, one after the other, and what it kicks is interrupted at its end, at
 * once. Nobody waits for another CPU meanwhile. */
static inline void cpu_gather_kicks(void)
{
    cpu_self()->locks++;
}

void cpu_end_kicks(void);

/* For spin_unlock(): sends what `self`, this CPU, has noted. */
void cpu_send_kicks(struct cpu *self);

/* Called by the architecture when an IPI has come. */
void cpu_ipi_received(void);

#endif
