/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scheduler. Classes are asked in the order of their registration which VCPU runs next on a CPU; the best-effort
 * class (sched_be.c) is the last one. A class that real time adds registers before it.
 */
#ifndef SCHED_H
#define SCHED_H

#include "spinlock.h"
#include "types.h"
#include "vcpu.h"

struct cpu;

/* Guards VCPU and VM states, run queues and timers, on all CPUs. Innermost lock; nothing prints while holding it. */
extern struct spinlock sched_lock;

struct sched_class {
    unsigned rank; /* who is asked first: real time 10, best effort 90 */
    /* All mandatory, called with sched_lock held. */
    void (*enqueue)(struct vcpu *v);             /* v stays ready after its turn on this CPU */
    void (*wake)(struct vcpu *v);                /* v became ready: enqueue it and see that some CPU notices */
    void (*dequeue)(struct vcpu *v);             /* v is ready and shall not run after all */
    struct vcpu *(*pick)(struct cpu *cpu);       /* takes out the VCPU to run next on cpu, or NULL */
    void (*start)(struct cpu *cpu, ticks_t now); /* cpu->current, of this class, began its slice at `now` */
};

/* Registers a class: SCHED_CLASS(sched_be). */
#define SCHED_CLASS(class) static const struct sched_class *const class##_entry REGISTER_IN("sched_classes") = &(class)

/* The class of VCPUs that say nothing else. */
extern const struct sched_class sched_be;

/* Gathers the classes at boot. */
void sched_init(void);

/* Sets the best-effort quantum (ticks) at boot. */
void sched_be_init(ticks_t quantum);

/* Under sched_lock: an off or blocked VCPU becomes ready. */
void sched_wake(struct vcpu *v);

/* Under sched_lock: a VCPU that is not running is turned off, wherever it waits. */
void sched_remove(struct vcpu *v);

/*
 * Leaves the current VCPU (if any), whose general registers the caller has saved, and returns the one to run, its guest
 * state loaded in this CPU. Sleeps while there is none. Called from assembly on the CPU's empty stack.
 */
struct vcpu *sched_run(void);

#endif
