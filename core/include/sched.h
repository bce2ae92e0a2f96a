/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scheduler. A class that has VCPUs on a CPU says which of them runs next there; in what it leaves, best effort runs
 * (sched_be.h). On one CPU there is one such class.
 */
#ifndef SCHED_H
#define SCHED_H

#include "cpu.h"
#include "spinlock.h"
#include "types.h"
#include "vcpu.h"

struct cpu;

/* Guards VCPU and VM states, run queues and timers, on all CPUs. Innermost lock; nothing prints while holding it. */
extern struct spinlock sched_lock;

/* A class of VCPUs that comes before best effort. */
struct sched_class {
    /* All mandatory; all but init() called with sched_lock held. */
    void (*init)(void);                    /* at boot, once all VMs and VCPUs are there */
    void (*enqueue)(struct vcpu *v);       /* v, VCPU_READY, has had its turn on this CPU; may block it instead */
    void (*wake)(struct vcpu *v);          /* v became VCPU_READY: enqueue it, see that its CPU notices; may block it */
    void (*leave)(struct vcpu *v);         /* v is turned off, whatever it was */
    struct vcpu *(*pick)(struct cpu *cpu); /* takes out the VCPU to run next on this CPU, or NULL; sets cpu->horizon.
                                            * Called while the class is the CPU's urgent one */
    void (*trace)(const struct cpu *cpu);  /* records what picking on this CPU has brought about; if there is a trace */
    void (*start)(struct cpu *cpu);        /* cpu->current, of this class, began at cpu->since: sets slice_end */
    void (*stop)(struct vcpu *v);          /* v, which ran on this CPU, leaves it, and is not to be enqueued */
    void (*hold)(struct vcpu *v);          /* v, in no queue, is VCPU_HELD, or no more: it gives up its turn until the
                                            * class wakes it, which it does to none that is VCPU_HELD */
};

/* Registers a class: SCHED_CLASS(sched_edf). */
#define SCHED_CLASS(class) static const struct sched_class *const class##_entry REGISTER_IN("sched_classes") = &(class)

/* Gathers the classes at boot; `quantum` (ticks) is best effort's. */
void sched_init(uint32_t quantum);

/* Somebody who looks at every VCPU before it runs: a debugger. While there is none, it costs nothing. */
struct sched_watch {
    /* Under sched_lock: v runs next on this CPU, or, if false, stands still: it has made v VCPU_HELD, with
     * VCPU_REQ_HELD. */
    bool (*picked)(struct vcpu *v);
    /* The current VCPU was told to come here by a breakpoint instruction, and stands before it (arch_cpu_breakpoints());
     * false: it is the guest's own affair. */
    bool (*breakpoint)(struct vcpu *v);
};
extern const struct sched_watch *sched_watch; /* NULL: nobody. Owner: sched_set_watch() */

/* Under sched_lock: `watch` looks from the next pick on, of any CPU; NULL: nobody does. */
void sched_set_watch(const struct sched_watch *watch);

/* Another CPU has given the slice of `cpu`, this CPU, an end: programs the timer. Takes sched_lock. */
void sched_slice_changed(struct cpu *cpu);

/* Does a VCPU run on the CPU that comes before best effort? */
static inline bool sched_urgent(const struct cpu *cpu)
{
    return cpu->urgent != NULL && cpu->current != NULL && cpu->current->sched != NULL;
}

/* Under sched_lock, or at boot: `class` has VCPUs on this CPU that come before best effort; NULL: there are none. */
void sched_set_urgent(struct cpu *cpu, const struct sched_class *class);

/* Under sched_lock: a class that comes before best effort has `cpu` pick anew. Best effort's turn there, if it is one, goes
 * on afterwards. */
void sched_preempt(struct cpu *cpu);

/* The current VCPU, v, gives up its turn, also what a release had left of it. Takes sched_lock. */
void sched_give_way(struct vcpu *v);

/* Under sched_lock: an off or blocked VCPU becomes ready. */
void sched_wake(struct vcpu *v);

/* Under sched_lock: a VCPU that is not running is turned off, wherever it waits. */
void sched_remove(struct vcpu *v);

/*
 * Leaves the current VCPU (if any), whose state the caller has saved, and makes the next one cpu->current. The caller loads
 * the state of that VCPU if this CPU does not hold it (cpu.loaded; vcpu.last_cpu), then calls vcpu_take_pending() if
 * vcpu.pending is set. Sleeps while no VCPU is ready. `cpu` is this CPU. Called from assembly on the CPU's empty stack.
 */
void sched_run(struct cpu *cpu);

#endif
