/* SPDX-License-Identifier: Apache-2.0 */
/* A virtual CPU: its states, and what it does when it is not running its guest. Transitions are
 * sched.c's and vcpu.c's; sched_lock guards them. */
#ifndef VCPU_H
#define VCPU_H

#include "arch_types.h"
#include "list.h"
#include "timer.h"
#include "types.h"

struct vm;
struct cpu;
struct sched_class;

enum vcpu_state {
    VCPU_OFF = 0,   /* not started, stopped by itself, or its VM is stopped */
    VCPU_READY,     /* in a run queue, or, of a class, about to be picked */
    VCPU_RUNNING,   /* on a CPU */
    VCPU_BLOCKED,   /* waits for an interrupt, an RT app for its release */
    VCPU_HELD,      /* picked, and halted by sched_watch or with VCPU_REQ_OFF; in no queue */
    VCPU_SUSPENDED, /* waits for vcpu_resume(); interrupts do not wake it */
};

/* vcpu.last_cpu: no CPU may hold its translations; or added to a CPU: another VCPU of the VM has
 * run there since. */
#define VCPU_NO_CPU 0UL
#define VCPU_TOOK_TURNS 1UL

/* vcpu.request: what the scheduler does when the VCPU leaves a CPU, or is picked. */
#define VCPU_REQ_WAIT 1U     /* block until an interrupt */
#define VCPU_REQ_OFF 2U      /* turn off: by its own request, or because its VM stops */
#define VCPU_REQ_WORK 4U     /* its slices are spent on vcpu.work instead of the guest */
#define VCPU_REQ_SUSPEND 16U /* wait for vcpu_resume(), not for an interrupt */
/* from sched_watch to sched_find_runnable() only: it is VCPU_HELD, and picked no more */
#define VCPU_REQ_HELD 8U

/* What the slices of a VCPU are spent on while its guest does not run. */
struct vcpu_work {
    /* Without locks: works until all is done (true), or an interrupt is pending. */
    bool (*step)(struct vm *vm);
    /* Under sched_lock, once all is done: true if the VCPU is ready to run its guest, or to
     * continue the work if its request still has VCPU_REQ_WORK; false if it is off, or was given
     * other work. */
    bool (*done)(struct vcpu *v);
};

struct vcpu {
    struct arch_vcpu arch; /* first: assembly addresses it by the VCPU's address */

    /* Constant after boot. */
    struct vm *vm;
    unsigned id;                     /* within the VM, 0 .. total-1 */
    uint32_t trace_id;               /* of its events: VM << 8 | VCPU << 16; read by assembly */
    const struct sched_class *sched; /* NULL: best effort */
    /* data[COMPONENT_name] is that component's own */
    void *data[COMPONENTS];

    /* Guarded by sched_lock. */
    enum vcpu_state state;
    struct cpu *cpu;    /* where it runs; meaningful while VCPU_RUNNING */
    struct list node;   /* in a run queue */
    struct timer timer; /* ends its wait; also the guest's timer where that is emulated */
    ticks_t runtime;    /* accounted CPU time, up to the last slice's end */

    /* address of the CPU it ran on last, | VCPU_TOOK_TURNS, or VCPU_NO_CPU; read by assembly;
     * written by the CPU that runs the VCPU, or while none does */
    ulong last_cpu;
    const struct vcpu_work *work; /* with VCPU_REQ_WORK; guarded by sched_lock */
    /* VCPU_REQ_*; bits are set atomically, cleared with sched_lock held */
    unsigned request;
    /* atomic: guest interrupts (arch bits) raised by other CPUs and not yet injected; read by
     * assembly too */
    ulong pending;

    /* best effort, guarded by sched_lock: what another class cut off a slice, ticks, or 0 */
    uint32_t remainder;
};

/* Raises the guest interrupts `bits` (defined by the architecture): at once when `v` is the current
 * VCPU, otherwise wakes `v` or interrupts its CPU. A VCPU of a class above best effort is not
 * interrupted, since its budget would pay for it: it gets them with its next slice. Takes
 * sched_lock. */
void vcpu_raise(struct vcpu *v, ulong bits);

/* As vcpu_raise(), with sched_lock held, for timers. bits = 0 only wakes. */
void vcpu_raise_locked(struct vcpu *v, ulong bits);

/* Injects v.pending into `v`, whose state is loaded in this CPU. */
void vcpu_take_pending(struct vcpu *v);

/* The current VCPU blocks until an interrupt is pending for it. A VCPU of a class above best effort
 * does not: an RT app waits by ending its job. */
void vcpu_wait(struct vcpu *v);

/* Suspends the current VCPU until vcpu_resume(), for a component whose device it needs: its guest
 * executes no instruction until then, not even a handler of an interrupt. An RT app continues with
 * the first release after it is resumed, since the rest of its budget would take time that
 * admission gave to others; its job misses its deadline. */
void vcpu_suspend(struct vcpu *v);

/* Under sched_lock: resumes the VCPU, which was suspended or is about to be. No effect on one that
 * was turned off since. */
void vcpu_resume(struct vcpu *v);

/* The current VCPU turns itself off; its VM stops if no other VCPU of it is on. */
void vcpu_stop(struct vcpu *v);

/* Expiry function of vcpu.timer: the deadline of a blocked VCPU, or of an emulated guest timer. */
void vcpu_timer_expired(struct timer *t);

/* Starts an off VCPU at `entry` with its number and `arg` as arguments. Returns false if it was
 * on. */
bool vcpu_start(struct vcpu *v, ulong entry, ulong arg);

#endif
