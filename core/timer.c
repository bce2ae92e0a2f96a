/* SPDX-License-Identifier: Apache-2.0 */
#include "timer.h"

#include "arch.h"
#include "console.h"
#include "sched.h"

void timer_init(struct timer *t, void (*expired)(struct timer *))
{
    list_init(&t->node);
    t->deadline = TICKS_NEVER;
    t->expired = expired;
}

static struct timer *timer_first(struct cpu *cpu)
{
    return list_empty(&cpu->timers) ? NULL : CONTAINER_OF(cpu->timers.next, struct timer, node);
}

/* Touches the hardware only for what is earlier than what it is set to: an interrupt too early costs one turn through
 * timer_expire(), which a periodic re-arming of later deadlines would cost every time. */
static void timer_program(struct cpu *cpu, ticks_t deadline)
{
    if (deadline < cpu->armed) {
        cpu->armed = deadline;
        cpu->timer_stale = false;
        arch_timer_set(deadline);
    }
}

void timer_arm(struct timer *t, ticks_t deadline)
{
    struct cpu *cpu = cpu_self();
    struct list *at;

    list_remove(&t->node);
    if (deadline == TICKS_NEVER) {
        return;
    }
    t->deadline = deadline;
    at = cpu->timers.prev;
    while (at != &cpu->timers && CONTAINER_OF(at, struct timer, node)->deadline > deadline) {
        at = at->prev;
    }
    list_insert_before(at->next, &t->node);
    timer_program(cpu, deadline);
}

void timer_disarm(struct timer *t)
{
    list_remove(&t->node);
}

void timer_expire(void)
{
    struct cpu *cpu = cpu_self();
    struct timer *t;

    spin_lock(&sched_lock);
    for (t = timer_first(cpu); t != NULL && t->deadline <= arch_time(); t = timer_first(cpu)) {
        list_remove(&t->node);
        t->expired(t);
    }
    /* When the scheduler runs next it arms something anyway, and setting the hardware can be dear: leave it to it. */
    cpu->armed = TICKS_NEVER;
    cpu->timer_stale = true;
    if ((cpu->flags & CPU_RESCHED) == 0) {
        timer_settle(cpu);
    }
    spin_unlock(&sched_lock);
    if ((cpu->flags & CPU_CONSOLE) != 0) {
        cpu->flags &= ~CPU_CONSOLE;
        console_flush();
    }
}

void timer_settle(struct cpu *cpu)
{
    struct timer *t = timer_first(cpu);

    if (cpu->timer_stale) {
        cpu->timer_stale = false;
        cpu->armed = t != NULL ? t->deadline : TICKS_NEVER;
        arch_timer_set(cpu->armed);
    }
}
