/* SPDX-License-Identifier: Apache-2.0 */
#include "sched.h"

#include "arch.h"
#include "atomic.h"
#include "sched_be.h"
#include "system.h"
#include "trace.h"

struct spinlock sched_lock; /* owner: this file; see sched.h for what it guards */

extern const struct sched_class *const __start_sched_classes[], *const __stop_sched_classes[];

const struct sched_watch *sched_watch;

static struct vcpu *__attribute__((cold)) watched_pick(struct cpu *cpu)
{
    struct vcpu *v = NULL;

    if (cpu->traced != NULL) {
        v = cpu->traced->pick(cpu);
        cpu->traced->trace(cpu);
    }
    return v != NULL ? v : be_pick();
}

/* Stands before all others while there is a trace or a watch: what they and best effort pick is an event. A VCPU that is
 * to stand still is in no queue any more; as it may be one of many, sched_look() looks at interrupts before the next. */
static struct vcpu *__attribute__((cold)) traced_pick(struct cpu *cpu)
{
    struct vcpu *v = watched_pick(cpu);

    if (v == NULL || sched_watch == NULL || sched_watch->picked(v)) {
        trace(v != NULL ? TRACE_SWITCH : TRACE_IDLE, v != NULL ? v : hyp.vcpus, 0);
    }
    return v;
}

static const struct sched_class traced_class = {.pick = traced_pick};

void sched_set_urgent(struct cpu *cpu, const struct sched_class *class)
{
    cpu->traced = class;
    cpu->urgent = cpu->trace == NULL && sched_watch == NULL ? class : &traced_class;
    if (class == NULL) {
        cpu->horizon = TICKS_NEVER;
    }
}

void sched_set_watch(const struct sched_watch *watch)
{
    sched_watch = watch;
    for (unsigned i = 0; i < hyp.ncpus; i++) {
        sched_set_urgent(cpu_get(i), cpu_get(i)->traced);
    }
}

void sched_init(uint32_t quantum)
{
    sched_watch = NULL;
    be_init(quantum);
    for (unsigned i = 0; i < hyp.ncpus; i++) {
        sched_set_urgent(cpu_get(i), NULL);
    }
    for (const struct sched_class *const *c = __start_sched_classes; c < __stop_sched_classes; c++) {
        (*c)->init();
    }
}

/* What `v` used of the CPU until now, when whoever comes next begins. */
static inline void sched_account(struct cpu *cpu, struct vcpu *v)
{
    ticks_t now = arch_time();

    v->runtime += now - cpu->since;
    cpu->since = now;
}

/* Best effort is not among the registered classes, so that its part of a context switch is inline. While no other class has
 * VCPUs on this CPU (cpu->urgent is NULL), the VCPU that runs here is best effort's. */
static inline bool sched_is_be(const struct cpu *cpu, const struct vcpu *v)
{
    return LIKELY(cpu->urgent == NULL) || v->sched == NULL;
}

static inline void sched_enqueue(struct cpu *cpu, struct vcpu *v)
{
    v->state = VCPU_READY;
    if (sched_is_be(cpu, v)) {
        be_enqueue(v);
    } else {
        sched_account(cpu, v);
        v->sched->enqueue(v);
    }
}

/* After sched_lock is released, in a critical section of its own, so that a CPU waiting for the lock gets it first: finds a
 * CPU for the VCPU that has waited longest. Not when another class has just left this CPU: a CPU was found for the best-effort
 * VCPUs when that class took it. */
static inline void sched_notify(const struct cpu *cpu)
{
    const struct vcpu *left = cpu->loaded;

    if (!arch_alone() && !list_empty(&sched_be.queue) && (left == NULL || left->sched == NULL)) {
        spin_lock(&sched_lock);
        be_notify();
        spin_unlock(&sched_lock);
    }
}

/* `prev`, or NULL, has left the CPU, and is charged for the time that picking takes. */
static inline struct vcpu *sched_pick(struct cpu *cpu, struct vcpu *prev)
{
    struct vcpu *v = NULL;

    if (UNLIKELY(cpu->urgent != NULL)) {
        v = cpu->urgent->pick(cpu);
    }
    if (LIKELY(prev != NULL)) {
        sched_account(cpu, prev);
    } else {
        cpu->since = arch_time();
    }
    return LIKELY(v == NULL) ? be_pick() : v;
}

void sched_wake(struct vcpu *v)
{
    if (arch_vcpu_timer_bits(v) == ARCH_VIRQ_NONE) {
        timer_disarm(&v->timer); /* it was only there to wake; a guest's emulated timer goes on */
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
    v->inbox.room = 0;
}

/* The slice ends at the horizon at the latest. While an RT VCPU runs, software timers are deferred to the end of its slice,
 * which is always finite. */
static void __attribute__((noinline)) sched_start_asked(struct cpu *cpu, struct vcpu *v)
{
    bool be = v->sched == NULL;

    if (be) {
        be_start(cpu, v);
    } else {
        v->sched->start(cpu);
    }
    if (cpu->horizon < cpu->slice_end) {
        cpu->slice_end = cpu->horizon;
    }
    if (be || cpu->current == NULL) {
        timer_program(cpu);
    } else {
        cpu->armed = cpu->slice_end;
        arch_timer_set(cpu->armed);
    }
}

/* The slice of `v` begins at cpu->since: sets its end, and programs the timer. */
static inline void sched_start(struct cpu *cpu, struct vcpu *v)
{
    if (UNLIKELY(cpu->urgent != NULL)) {
        sched_start_asked(cpu, v);
    } else {
        be_start(cpu, v);
        timer_program(cpu);
    }
}

void sched_slice_changed(struct cpu *cpu)
{
    spin_lock(&sched_lock);
    if (!sched_urgent(cpu)) {
        timer_program(cpu);
    }
    spin_unlock(&sched_lock);
}

void sched_preempt(struct cpu *cpu)
{
    struct vcpu *v = cpu_slice_owner(cpu);

    if (v != NULL && v->sched == NULL) {
        be_interrupt(cpu, v);
    }
    cpu_kick(cpu, IPI_RESCHED);
}

void sched_give_way(struct vcpu *v)
{
    spin_lock(&sched_lock);
    v->left = 0;
    spin_unlock(&sched_lock);
    cpu_self()->flags |= CPU_RESCHED;
}

/* The VCPU that left its CPU has asked for something, or somebody for it. */
static void __attribute__((noinline, cold)) sched_request(struct cpu *cpu, struct vcpu *v)
{
    unsigned request = v->request;

    if (v->sched != NULL) {
        v->sched->stop(v);
    }
    v->request = 0;
    if ((request & VCPU_REQ_OFF) != 0) {
        sched_remove(v);
        vm_vcpu_left(v->vm);
    } else {
        sched_enqueue(cpu, v);
    }
}

/* A VCPU that left its CPU asks to wait, and to nothing else, and nothing has come for it meanwhile. */
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

/* Returns whose time it still is: nobody's if `v` has asked for more than to wait, for then it may be another's by now. */
static inline struct vcpu *sched_left(struct cpu *cpu, struct vcpu *v)
{
    cpu->current = NULL;
    v->left = 0;
    if (sched_waits(v)) {
        sched_block(v);
        return v;
    }
    sched_account(cpu, v);
    sched_request(cpu, v);
    return NULL;
}

/* Looks at interrupts. The lock is held on the way out only. */
static void sched_poll(struct cpu *cpu)
{
    arch_irq_poll();
    cpu->flags = 0;
    spin_lock(&sched_lock);
}

/* Sleeps with nothing to do. The lock is held on the way in and out, not between. */
static void sched_idle(struct cpu *cpu)
{
    cpu->idle = true;
    cpu->slice_end = cpu->urgent != NULL ? cpu->horizon : TICKS_NEVER;
    timer_program(cpu);
    spin_unlock(&sched_lock);
    if (cpu->loaded != NULL) {
        cpu->loaded = NULL;
        arch_vcpu_unload();
    }
    arch_cpu_sleep();
    sched_poll(cpu);
    cpu->idle = false;
}

static inline void sched_take(struct cpu *cpu, struct vcpu *v)
{
    v->state = VCPU_RUNNING;
    v->cpu = cpu;
}

/* Its VM's life has ended, and been told of: v is off until there is another. */
static void sched_ended(struct vcpu *v)
{
    v->request = 0;
    v->state = VCPU_OFF;
    if (vm_go_on(v->vm)) {
        spin_unlock(&sched_lock);
        vm_power_off();
    }
}

/* Spends v's slice on loading or ending its VM. As any slice it has an end once a VCPU waits. Lock as in sched_idle(). */
static void sched_step_vm(struct cpu *cpu, struct vcpu *v)
{
    bool ends = v->vm->state == VM_STOPPING, done;

    cpu->since = arch_time();
    cpu->steps = v;
    sched_start(cpu, v); /* the interrupt at the end of its slice ends the step */
    spin_unlock(&sched_lock);
    sched_notify(cpu);
    do { /* it keeps its turn while devices interrupt, as a guest would */
        done = ends ? vm_end_step(v->vm) : vm_load_step(v->vm);
        arch_irq_poll();
    } while (!done && cpu->flags == 0);
    sched_poll(cpu);
    cpu->steps = NULL;
    v->runtime += arch_time() - cpu->since;
    if ((v->request & VCPU_REQ_OFF) != 0) {
        sched_request(cpu, v);
    } else if (done && ends) {
        sched_ended(v);
    } else {
        if (done) {
            v->vm->state = VM_RUNNING;
            v->request = 0;
            vcpu_open_inbox(v); /* not before: loading forgets what was raised */
        }
        sched_enqueue(cpu, v);
    }
}

/* The long way to the next VCPU: there is none, or something else is to be done in the turn of the next (`v`). One that
 * was told to leave while it waited is one of many, perhaps. */
static struct vcpu *__attribute__((noinline, cold)) sched_look(struct cpu *cpu, struct vcpu *v)
{
    cpu->current = NULL;
    for (;;) {
        if (v == NULL) {
            sched_idle(cpu);
        } else if ((v->request & (VCPU_REQ_OFF | VCPU_REQ_HELD)) != 0) {
            if (v->state != VCPU_HELD) {
                sched_take(cpu, v); /* it is in no queue any more */
                sched_remove(v);
            }
            v->request &= ~VCPU_REQ_HELD;
            spin_unlock(&sched_lock);
            sched_poll(cpu);
        } else {
            sched_take(cpu, v);
            if (v->request == 0) {
                break;
            }
            sched_step_vm(cpu, v);
        }
        v = sched_pick(cpu, NULL);
    }
    cpu->since = arch_time();
    return v;
}

void sched_run(struct cpu *cpu)
{
    struct vcpu *prev = cpu->current;
    struct vcpu *next;

    cpu->flags = 0;
    spin_lock(&sched_lock);
    if (LIKELY(prev != NULL)) {
        if (LIKELY(prev->request == 0)) {
            sched_enqueue(cpu, prev);
        } else {
            prev = sched_left(cpu, prev);
        }
    }
    next = sched_pick(cpu, prev);
    if (UNLIKELY(next == NULL || next->request != 0)) {
        next = sched_look(cpu, next);
    }
    sched_take(cpu, next);
    cpu->current = next;
    sched_start(cpu, next);
    spin_unlock(&sched_lock);
    sched_notify(cpu);
}
