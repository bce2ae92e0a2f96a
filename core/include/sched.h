/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scheduler. A scheduling class with VCPUs on a CPU picks the VCPU to run there; best effort
 * (sched_be.h) runs in the time that the class leaves. A CPU has at most one such class.
 */
#ifndef SCHED_H
#define SCHED_H

#include "cpu.h"
#include "spinlock.h"
#include "types.h"
#include "vcpu.h"

struct cpu;

/* Guards VCPU and VM states, run queues and timers of all CPUs, RT apps, the senders' ends of
 * inboxes, doorbells. The innermost lock; its holder prints nothing. */
extern struct spinlock sched_lock;

/* A class of VCPUs with priority over best effort. */
struct sched_class {
    /* All mandatory; all but init() called with sched_lock held. */
    void (*init)(void); /* at boot, once all VMs and VCPUs exist */
    /* v, VCPU_READY, has left this CPU; the class may block it instead */
    void (*enqueue)(struct vcpu *v);
    /* v became VCPU_READY: enqueues it and preempts its CPU; may block it */
    void (*wake)(struct vcpu *v);
    void (*leave)(struct vcpu *v); /* v is turned off, in whatever state it was */
    /* dequeues the VCPU to run next on this CPU, or returns NULL; sets cpu->next_release, or gives
     * up the CPU: sched_set_class(cpu, NULL). Called while cpu->class is this class */
    struct vcpu *(*pick)(struct cpu *cpu);
    /* records the events of the last pick on this CPU; with a trace only */
    void (*trace)(const struct cpu *cpu);
    /* the slice of cpu->current, of this class, began at cpu->since: sets slice_end */
    void (*start)(struct cpu *cpu);
    void (*stop)(struct vcpu *v); /* v, which ran on this CPU, leaves it and is not enqueued */
    /* v, in no queue, became VCPU_HELD, or is released from it or from VCPU_SUSPENDED: it loses its
     * slice until the class wakes it; the class wakes no VCPU in these states */
    void (*hold)(struct vcpu *v);
};

/* Gathers the classes at boot; `quantum` (ticks) is best effort's. `turned_off` is called under
 * sched_lock when a VCPU that was to be turned off (VCPU_REQ_OFF) has left its CPU, and is off. */
void sched_init(uint32_t quantum, void (*turned_off)(struct vcpu *v));

/* A debugger's view of every VCPU before it runs. Costs nothing while none is installed. */
struct sched_watch {
    /* Under sched_lock: v runs next on this CPU, or, if false, stays halted: the function has
     * called sched_hold() and set VCPU_REQ_HELD. */
    bool (*picked)(struct vcpu *v);
    /* The current VCPU has trapped at a breakpoint instruction, and its PC is the instruction's
     * (arch_cpu_breakpoints()); false: the breakpoint is the guest's own. */
    bool (*breakpoint)(struct vcpu *v);
};
extern const struct sched_watch *sched_watch; /* or NULL; owner: sched_set_watch() */

/* Under sched_lock: installs `watch` from the next pick of any CPU on; NULL removes it. */
void sched_set_watch(const struct sched_watch *watch);

/* Another CPU has set the end of the slice of `cpu`, this CPU: programs the timer. Takes
 * sched_lock. */
void sched_slice_changed(struct cpu *cpu);

/* Whether the CPU runs a VCPU of a class with priority over best effort. */
static inline bool sched_runs_class(const struct cpu *cpu)
{
    return cpu->class != NULL && cpu->current != NULL && cpu->current->sched != NULL;
}

/* Under sched_lock, or at boot: `class` has VCPUs on this CPU; NULL: no class but best effort
 * has. */
void sched_set_class(struct cpu *cpu, const struct sched_class *class);

/* Under sched_lock: `cpu` picks again, for a class with priority over best effort. A best-effort
 * slice that this cuts short keeps its remainder. */
void sched_preempt(struct cpu *cpu);

/* The current VCPU, v, gives up its slice, and the remainder of one that a release cut short. Takes
 * sched_lock. */
void sched_end_slice(struct vcpu *v);

/* Under sched_lock: an off or blocked VCPU becomes ready. */
void sched_wake(struct vcpu *v);

/* Under sched_lock: a VCPU that is not running is turned off and leaves any queue. */
void sched_remove(struct vcpu *v);

/* Under sched_lock: a VCPU that was just picked becomes VCPU_HELD: it is in no queue, and its class
 * does not wake it, until sched_remove(), or until a debugger resumes it. */
void sched_hold(struct vcpu *v);

/*
 * Leaves the current VCPU (if any), whose state the caller has saved, and makes the next one
 * cpu->current. The caller loads the state of that VCPU if this CPU does not hold it (cpu.loaded;
 * vcpu.last_cpu), then calls vcpu_take_pending() if vcpu.pending is set. Sleeps while no VCPU is
 * ready. `cpu` is this CPU. Called from assembly on the CPU's empty stack.
 */
void sched_run(struct cpu *cpu);

#endif
