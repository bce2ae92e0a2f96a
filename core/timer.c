/* SPDX-License-Identifier: Apache-2.0 */
/* Software timers and the hardware timer that they share with the slices: arms them, and handles
 * its interrupt; timer_program() of cpu.h programs it. The CPUs own their timers, guarded by
 * sched_lock; timers_heap.c or timers_sorter.c orders them. */
#include "timer.h"

#include "arch.h"
#include "sched.h"

void timer_init(struct timer *t, void (*expired)(struct timer *))
{
    t->node = (struct heap_node){.key = TICKS_NEVER};
    t->expired = expired;
    t->unlocked = false;
    timers_register();
}

void timer_insert(struct timer *t, ticks_t deadline)
{
    struct cpu *cpu = cpu_self();

    t->node.key = deadline;
    t->cpu = (uint8_t)cpu->id;
    timers_insert(&cpu->timers, &t->node);
    if (!sched_runs_class(cpu)) {
        timer_program(cpu);
    }
}

void timer_remove(struct timer *t)
{
    timers_remove(&cpu_get(t->cpu)->timers, &t->node);
}

/* expired() takes a lock that comes before sched_lock in the lock order. */
static void timer_run_unlocked(struct timer *t)
{
    spin_unlock(&sched_lock);
    t->expired(t);
    spin_lock(&sched_lock);
}

/* Runs the first timer if it is due, and programs the next deadline unless the scheduler is about
 * to do so. Further timers that are due interrupt again at once, so that other CPUs wait for the
 * lock, and interrupts stay pending, for one timer only. sched_lock is held because other CPUs
 * remove timers. Out of line: an interrupt that only ends a slice needs none of the registers
 * that this function saves. */
OWN_SYMBOL static void timer_run(struct cpu *cpu, ticks_t now)
{
    spin_lock(&sched_lock);
    if (timers_first(&cpu->timers) <= now) {
        struct timer *t = CONTAINER_OF(timers_head(&cpu->timers), struct timer, node);

        timer_remove(t);
        if (t->unlocked) {
            timer_run_unlocked(t);
        } else {
            t->expired(t);
        }
    }
    if ((cpu->flags & CPU_RESCHED) == 0) {
        timer_program(cpu);
    }
    spin_unlock(&sched_lock);
}

void timer_expire(struct cpu *cpu)
{
    ticks_t now = arch_time();

    cpu->armed = TIMER_FIRED;
    if (ARCH_TIME_SLOW) {
        cpu->now = now;
    }
    /* At the end of a slice the scheduler runs next and programs the hardware, also for timers that
     * are due. Running them first would delay a VCPU of a class above best effort. */
    if (now >= cpu->slice_end) {
        cpu->flags |= CPU_RESCHED;
    } else if (timers_count(&cpu->timers) == 0) {
        /* without the lock: only this CPU puts timers in */
        timer_program(cpu);
    } else {
        timer_run(cpu, now);
    }
}
