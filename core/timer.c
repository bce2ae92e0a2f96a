/* SPDX-License-Identifier: Apache-2.0 */
#include "timer.h"

#include "arch.h"
#include "console.h"
#include "sched.h"

#define TIMERS_AT_ONCE 2U /* that expire between two looks at interrupts */

void timer_init(struct timer *t, void (*expired)(struct timer *))
{
    list_init(&t->node);
    t->deadline = TICKS_NEVER;
    t->expired = expired;
    t->unlocked = false;
}

void timer_insert(struct timer *t, ticks_t deadline)
{
    struct cpu *cpu = cpu_self();
    struct list *at;

    t->deadline = deadline;
    at = cpu->timers.prev;
    while (at != &cpu->timers && timer_of(at)->deadline > deadline) {
        at = at->prev;
    }
    list_insert_before(at->next, &t->node);
    if (!sched_urgent(cpu)) {
        timer_settle(cpu);
    }
}

/* For a timer whose expired() takes a lock that comes before sched_lock. */
static void __attribute__((noinline, cold)) timer_run_unlocked(struct timer *t)
{
    spin_unlock(&sched_lock);
    t->expired(t);
    spin_lock(&sched_lock);
}

/* Some of the timers of the list that are due, and the hardware's next deadline if that is not the scheduler's to set: at
 * once, if there are more. With the lock, for other CPUs take timers out. */
static void __attribute__((noinline)) timer_run(struct cpu *cpu, ticks_t now)
{
    unsigned n = TIMERS_AT_ONCE;

    spin_lock(&sched_lock);
    while (n-- > 0 && (cpu->flags & CPU_RESCHED) == 0 && !list_empty(&cpu->timers) &&
           timer_of(cpu->timers.next)->deadline <= now) {
        struct timer *t = timer_of(cpu->timers.next);

        list_remove(&t->node);
        if (UNLIKELY(t->unlocked)) {
            timer_run_unlocked(t);
        } else {
            t->expired(t);
        }
    }
    if ((cpu->flags & CPU_RESCHED) == 0) {
        timer_settle(cpu);
    }
    spin_unlock(&sched_lock);
    if ((cpu->flags & CPU_CONSOLE) != 0) {
        cpu->flags &= ~CPU_CONSOLE;
        console_flush();
    }
}

void timer_expire(struct cpu *cpu)
{
    ticks_t now = arch_time();

    cpu->armed = TIMER_FIRED;
    /* At the end of a slice the scheduler runs next. It sets the hardware anyway, for timers that are due too; and what
     * they would do must not be in the way of a VCPU that comes before best effort. */
    if (now >= cpu->slice_end) {
        cpu->flags |= CPU_RESCHED;
    } else if (list_empty(&cpu->timers)) { /* without the lock: only this CPU puts timers in */
        timer_settle(cpu);
    } else {
        timer_run(cpu, now);
    }
}
