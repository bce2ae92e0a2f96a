/* SPDX-License-Identifier: Apache-2.0 */
/* The scheduler: which VCPU a CPU runs next, and until when. Owns sched_lock, which guards the
 * states of all VMs and VCPUs, the run queues and the timers. A scheduling class, if there is one,
 * picks before best effort (sched_be.h). */
#include "sched.h"

#include "arch.h"
#include "atomic.h"
#include "component.h"
#include "sched_be.h"
#include "system.h"
#include "trace.h"

struct spinlock sched_lock; /* owner: this file; see sched.h for what it guards */

const struct sched_watch *sched_watch;

static void (*vcpu_turned_off)(struct vcpu *v); /* owner: sched_init() */

static struct vcpu *wrapped_pick(struct cpu *cpu)
{
    const struct sched_class *wrapped = cpu->wrapped; /* pick() may give up the CPU */
    struct vcpu *v = NULL;

    if (wrapped != NULL) {
        v = wrapped->pick(cpu);
        wrapped->trace(cpu);
    }
    return v != NULL ? v : be_pick();
}

/* Wrapper class, installed while tracing or debugging, that records every pick. A VCPU that the
 * debugger halts is in no queue any more; as there may be many, sched_find_runnable() polls
 * interrupts before each next pick. */
static struct vcpu *recorder_pick(struct cpu *cpu)
{
    struct vcpu *v = wrapped_pick(cpu);

    if (v == NULL || sched_watch == NULL || sched_watch->picked(v)) {
        trace(v != NULL ? TRACE_SWITCH : TRACE_IDLE, v != NULL ? v : hyp.vcpus, 0);
    }
    return v;
}

static const struct sched_class recorder_class = {.pick = recorder_pick};

void sched_set_class(struct cpu *cpu, const struct sched_class *class)
{
    cpu->wrapped = class;
    cpu->class = cpu->trace == NULL && sched_watch == NULL ? class : &recorder_class;
    if (class == NULL) {
        cpu->next_release = TICKS_NEVER;
    }
}

void sched_set_watch(const struct sched_watch *watch)
{
    sched_watch = watch;
    for (unsigned i = 0; i < hyp.ncpus; i++) {
        sched_set_class(cpu_get(i), cpu_get(i)->wrapped);
    }
}

void sched_init(uint32_t quantum, void (*turned_off)(struct vcpu *v))
{
    sched_watch = NULL;
    vcpu_turned_off = turned_off;
    be_init(quantum);
    for (unsigned i = 0; i < hyp.ncpus; i++) {
        sched_set_class(cpu_get(i), NULL);
    }
    FOR_EACH_COMPONENT(c)
    {
        if (c->sched != NULL) {
            c->sched->init();
        }
    }
}

/* Charges `v` for the CPU time up to now, when the next slice begins. */
static inline void sched_account(struct cpu *cpu, struct vcpu *v)
{
    ticks_t now = cpu_now(cpu);

    v->runtime += now - cpu->since;
    cpu->since = now;
}

/* Best effort is not among the registered classes, so that its part of a context switch is inline.
 * While no other class has VCPUs on this CPU (cpu->class is NULL), the VCPU that runs here is best
 * effort's, and its slice was not cut short. */
static inline void sched_enqueue(struct cpu *cpu, struct vcpu *v)
{
    v->state = VCPU_READY;
    if (cpu->class == NULL) {
        be_enqueue(v);
    } else if (v->sched == NULL) {
        be_enqueue_preempted(v);
    } else {
        sched_account(cpu, v);
        v->sched->enqueue(v);
    }
}

/* After sched_lock is released, in a critical section of its own, so that a CPU waiting for the
 * lock gets it first: finds a CPU for the VCPU that has waited longest. Not when a VCPU of another
 * class (`before`) has just left this CPU: a CPU was found for the best-effort VCPUs when that
 * class took it. `before` is NULL if this CPU did something else since. */
static inline void sched_notify(const struct vcpu *before)
{
    if (!arch_is_uniprocessor() && !list_empty(&sched_be.queue) &&
        (before == NULL || before->sched == NULL)) {
        spin_lock(&sched_lock);
        be_notify();
        spin_unlock(&sched_lock);
    }
}

/* `prev`, or NULL, has left the CPU, and is charged for the time that picking takes. */
static inline struct vcpu *sched_pick(struct cpu *cpu, struct vcpu *prev)
{
    struct vcpu *v = NULL;

    if (cpu->class != NULL) {
        v = cpu->class->pick(cpu);
    }
    if (prev != NULL) {
        sched_account(cpu, prev);
    } else {
        cpu->since = cpu_now(cpu);
    }
    return v == NULL ? be_pick() : v;
}

void sched_wake(struct vcpu *v)
{
    if (arch_vcpu_timer_bits(v) == ARCH_VIRQ_NONE) {
        timer_disarm(&v->timer); /* it only ended the wait; a guest's emulated timer stays armed */
    }
    v->state = VCPU_READY;
    if (v->sched == NULL) {
        be_wake(v);
    } else {
        v->sched->wake(v);
    }
}

void sched_remove(struct vcpu *v)
{
    timer_disarm(&v->timer);
    if (v->sched != NULL) {
        v->sched->leave(v);
    } else if (v->state == VCPU_READY) {
        list_remove(&v->node);
    }
    v->state = VCPU_OFF;
    components_vcpu_stop(v);
}

void sched_hold(struct vcpu *v)
{
    v->state = VCPU_HELD;
    if (v->sched != NULL) {
        v->sched->hold(v);
    }
}

/* The slice ends at the next release at the latest. While a VCPU of a class above best effort runs,
 * software timers are deferred to the end of its slice, which is always finite. */
static void sched_start_class(struct cpu *cpu, struct vcpu *v)
{
    if (v->sched == NULL) {
        be_start(cpu, v);
        be_end_at_release(cpu, v);
        timer_program(cpu);
        return;
    }
    v->sched->start(cpu);
    cpu->slice_end = cpu->slice_end < cpu->next_release ? cpu->slice_end : cpu->next_release;
    cpu->armed = cpu->slice_end;
    arch_timer_set(cpu->armed);
}

/* The slice of `v` begins at cpu->since: sets its end, and programs the timer. */
static inline void sched_start(struct cpu *cpu, struct vcpu *v)
{
    if (cpu->class != NULL) {
        sched_start_class(cpu, v);
    } else {
        be_start(cpu, v);
        timer_program(cpu);
    }
}

void sched_slice_changed(struct cpu *cpu)
{
    spin_lock(&sched_lock);
    if (!sched_runs_class(cpu)) {
        timer_program(cpu);
    }
    spin_unlock(&sched_lock);
}

void sched_preempt(struct cpu *cpu)
{
    struct vcpu *v = cpu_slice_owner(cpu);

    if (v != NULL && v->sched == NULL) {
        be_preempt(cpu, v);
    }
    cpu_kick(cpu, IPI_RESCHED);
}

void sched_end_slice(struct vcpu *v)
{
    spin_lock(&sched_lock);
    v->remainder = 0;
    spin_unlock(&sched_lock);
    cpu_self()->flags |= CPU_RESCHED;
}

/* Polling point. The lock is held on return only. */
static void sched_poll(struct cpu *cpu)
{
    arch_irq_poll();
    if (ARCH_TIME_SLOW) {
        cpu->now = arch_time();
    }
    cpu->flags = 0;
    spin_lock(&sched_lock);
}

/* Serves the requests of a VCPU that has left its CPU. A polling point if that turns off: with 60
 * RT apps, its removal and the next pick are too long for one critical section. */
static void sched_request(struct cpu *cpu, struct vcpu *v)
{
    unsigned request = v->request;

    if (v->sched != NULL) {
        v->sched->stop(v);
    }
    v->request = 0;
    if ((request & VCPU_REQ_OFF) != 0) {
        sched_remove(v);
        vcpu_turned_off(v);
        spin_unlock(&sched_lock);
        sched_poll(cpu);
    } else if ((request & VCPU_REQ_SUSPEND) != 0) {
        v->state = VCPU_SUSPENDED;
    } else {
        sched_enqueue(cpu, v);
    }
}

/* Whether a VCPU that has left its CPU has only requested to wait, and no interrupt has been raised
 * since. */
static inline bool sched_waits(const struct vcpu *v)
{
    return v->request == VCPU_REQ_WAIT && atomic_load_acquire(&v->pending) == 0;
}

static inline void sched_block(struct vcpu *v)
{
    v->request = 0;
    v->state = VCPU_BLOCKED;
    timer_arm(&v->timer, arch_vcpu_deadline(&v->arch));
}

/* Returns the VCPU to charge for the time until the next slice: `v`, or NULL if it was turned off
 * and may have been started elsewhere since. */
static inline struct vcpu *sched_left(struct cpu *cpu, struct vcpu *v)
{
    cpu->current = NULL;
    v->remainder = 0;
    if (sched_waits(v)) {
        sched_block(v);
        return v;
    }
    sched_account(cpu, v);
    sched_request(cpu, v);
    return NULL;
}

/* Where reads are slow: reads the time for a switch, unless the timer's interrupt at the end of the
 * slice has. That was in this exit while the timer is not programmed again; a timer programmed for
 * time 0 looks the same, but its slice began later. */
static inline void sched_read_time(struct cpu *cpu)
{
    if (ARCH_TIME_SLOW && (cpu->armed != TIMER_FIRED || cpu->now < cpu->since)) {
        cpu->now = arch_time();
    }
}

/* Sleeps until an interrupt. The lock is held on entry and on return, not during the sleep. */
static void sched_idle(struct cpu *cpu)
{
    cpu->idle = true;
    cpu->slice_end = cpu->class != NULL ? cpu->next_release : TICKS_NEVER;
    timer_program(cpu);
    spin_unlock(&sched_lock);
    arch_vcpu_mask();
    arch_cpu_sleep();
    sched_poll(cpu);
    cpu->idle = false;
}

static inline void sched_take(struct cpu *cpu, struct vcpu *v)
{
    v->state = VCPU_RUNNING;
    v->cpu = cpu;
}

/* Spends v's slice on its work. As any slice it has an end while a VCPU waits. The lock as in
 * sched_idle(). */
static void sched_work(struct cpu *cpu, struct vcpu *v)
{
    /* other work is assigned only after v has left this CPU */
    const struct vcpu_work *work = v->work;
    bool done;

    cpu->since = arch_time();
    cpu->worker = v;
    sched_start(cpu, v); /* the interrupt at the end of its slice ends the step */
    spin_unlock(&sched_lock);
    sched_notify(NULL);
    do { /* it keeps its slice while devices interrupt, as a guest would */
        done = work->step(v->vm);
        arch_irq_poll();
    } while (!done && cpu->flags == 0);
    sched_poll(cpu);
    cpu->worker = NULL;
    v->runtime += arch_time() - cpu->since;
    if ((v->request & VCPU_REQ_OFF) != 0) {
        sched_request(cpu, v);
    } else if (!done || work->done(v)) {
        sched_enqueue(cpu, v);
    }
}

/* Finds a VCPU whose guest can run, where the VCPU picked first (`v`) has requests or is NULL:
 * sleeps, does work, holds back VCPUs of VMs that stop. Many may have waited when their VM was
 * stopped: interrupts are polled between two. */
OWN_SYMBOL static struct vcpu *sched_find_runnable(struct cpu *cpu, struct vcpu *v)
{
    cpu->current = NULL;
    for (;;) {
        if (v == NULL) {
            sched_idle(cpu);
        } else if ((v->request & (VCPU_REQ_OFF | VCPU_REQ_HELD)) != 0) {
            if (v->state != VCPU_HELD) {
                sched_hold(v); /* until the stop of its VM removes it */
            }
            v->request &= ~VCPU_REQ_HELD;
            spin_unlock(&sched_lock);
            sched_poll(cpu);
        } else {
            sched_take(cpu, v);
            if (v->request == 0) {
                break;
            }
            sched_work(cpu, v);
        }
        v = sched_pick(cpu, NULL);
    }
    cpu->since = cpu_now(cpu);
    return v;
}

void sched_run(struct cpu *cpu)
{
    struct vcpu *prev = cpu->current;
    struct vcpu *next;

    cpu->flags = 0;
    sched_read_time(cpu);
    spin_lock(&sched_lock);
    if (prev != NULL) {
        if (prev->request == 0) {
            sched_enqueue(cpu, prev);
        } else {
            prev = sched_left(cpu, prev);
        }
    }
    next = sched_pick(cpu, prev);
    if (next == NULL || next->request != 0) {
        next = sched_find_runnable(cpu, next);
        prev = NULL;
    }
    sched_take(cpu, next);
    cpu->current = next;
    sched_start(cpu, next);
    spin_unlock(&sched_lock);
    sched_notify(prev);
}
