/* SPDX-License-Identifier: Apache-2.0 */
/* A virtual CPU. */
#ifndef VCPU_H
#define VCPU_H

#include "arch_types.h"
#include "list.h"
#include "timer.h"
#include "types.h"

struct vm;
struct cpu;
struct sched_class;

#define INBOX_MESSAGES 8U
#define INBOX_WORDS 16U /* of 8 bytes, of a message */

/* Messages that wait for a VCPU (ipc/messages.c): from number `first` on, each in place number % INBOX_MESSAGES. */
struct inbox {
    unsigned first; /* atomic: written by the CPU that runs the VCPU */
    unsigned next;  /* atomic: number of the next to come; guarded by sched_lock */
    unsigned room;  /* INBOX_MESSAGES, 0 while the VCPU is off; guarded by sched_lock */
    bool by_line; /* constant: they raise a line of the VM's interrupt controller, not the VCPU's software interrupt */
    ulong sender; /* constant: the VCPU as the head of its own messages has it */
    ulong head[INBOX_MESSAGES]; /* size and sender, as the receiver will be told */
    uint64_t message[INBOX_MESSAGES][INBOX_WORDS];
};

enum vcpu_state {
    VCPU_OFF = 0, /* not started, stopped by itself, or its VM is stopped */
    VCPU_READY,   /* in a run queue */
    VCPU_RUNNING, /* on a CPU */
    VCPU_BLOCKED, /* waits for an interrupt */
    VCPU_HELD,    /* picked, but sched_watch had it stand still; in no queue */
};

/* vcpu.last_cpu: no CPU may hold translations of its; added: another VCPU of the VM has run on that CPU since. */
#define VCPU_NO_CPU 0UL
#define VCPU_TOOK_TURNS 1UL

/* vcpu.request: what the scheduler has to see to when it leaves or takes a CPU. */
#define VCPU_REQ_WAIT 1U  /* block until an interrupt */
#define VCPU_REQ_OFF 2U   /* turn off: it asked for it, or its VM stops */
#define VCPU_REQ_STEPS 4U /* its turn is spent ending its VM's life, or loading its memory for the next */
#define VCPU_REQ_HELD 8U  /* only from sched_watch to sched_look(): it is VCPU_HELD, and nobody comes by it */

struct vcpu {
    struct arch_vcpu arch; /* first: assembly addresses it by the VCPU's address */
    struct vm *vm;
    unsigned id;                     /* within the VM, 0 .. total-1 */
    uint32_t trace_id;               /* of its events: VM << 8 | VCPU << 16; read by assembly */
    const struct sched_class *sched; /* NULL: best effort */
    void *sched_data;                /* the class's own */

    /* Guarded by sched_lock. */
    enum vcpu_state state;
    struct cpu *cpu;    /* where it runs; meaningful while VCPU_RUNNING */
    struct list node;   /* in a run queue */
    struct timer timer; /* wakes it; where the guest's timer is emulated, is the guest's timer */
    ticks_t runtime;    /* accounted CPU time */

    ulong last_cpu;   /* address of the CPU it ran on last, | VCPU_TOOK_TURNS, or VCPU_NO_CPU; read by assembly */
    unsigned request; /* VCPU_REQ_*; bits are added atomically, taken away with sched_lock held */
    ulong
        pending; /* atomic: guest interrupts (arch bits) that others raised and its CPU has yet to see; read by assembly too */

    uint32_t left;      /* best effort, guarded by sched_lock: of a turn that another class interrupts, or 0 */
    struct inbox inbox; /* empty whenever the VCPU begins anew */
};

/* Under sched_lock: an off VCPU begins anew, and may be sent messages. */
static inline void vcpu_open_inbox(struct vcpu *v)
{
    v->inbox.next = v->inbox.first;
    v->inbox.room = INBOX_MESSAGES;
}

/* Raises the guest interrupts `bits` (defined by the architecture): at once when `v` is the caller's own, otherwise
 * wakes or interrupts it; one of a class above best effort, whose time is its own, sees them at its next turn. Takes
 * sched_lock. */
void vcpu_raise(struct vcpu *v, ulong bits);

/* The same with sched_lock held, for timers. bits = 0 only wakes. */
void vcpu_raise_locked(struct vcpu *v, ulong bits);

/* Raises what others raised of `v`, whose state is loaded in this CPU, before it did. */
void vcpu_take_pending(struct vcpu *v);

/* The current VCPU waits for an interrupt from its next scheduling on. One of a class above best effort does not: an RT
 * app waits by ending its job. */
void vcpu_wait(struct vcpu *v);

/* The current VCPU turns itself off; its VM stops when it was the last one on. */
void vcpu_stop(struct vcpu *v);

/* For vcpu.timer: the time a waiting VCPU, or an emulated guest timer, has waited for. */
void vcpu_timer_expired(struct timer *t);

/* Starts an off VCPU at `entry` with its number and `arg` as arguments. Returns false if it was on. */
bool vcpu_start(struct vcpu *v, ulong entry, ulong arg);

#endif
