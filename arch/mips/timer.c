/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A guest's timer. Guest.Count is Root.Count with an offset. Where the guest's timer interrupt is wired, Count and Compare are
 * the guest's alone while it runs; else its accesses to them come here, and core's timer interrupts it.
 */
#include "arch.h"
#include "internal.h"
#include "sched.h"

#define AROUND (UINT64_C(1) << 32)

ulong timer_count(const struct vcpu *v)
{
    return cp0_read(CP0_COUNT) + v->arch.gtoffset;
}

ulong timer_compare(const struct vcpu *v)
{
    (void)v;
    return gcp0_read(CP0_COMPARE);
}

/* The next time after `now` at which the guest's Count is `compare`. */
static ticks_t next_match(const struct arch_vcpu *v, ticks_t now, ulong compare)
{
    ulong distance = compare - ((ulong)now + v->gtoffset);

    return now + (distance != 0 ? distance : AROUND);
}

static void emulate_timer(struct vcpu *v, ulong compare)
{
    v->arch.timer_at = next_match(&v->arch, arch_time(), compare);
    spin_lock(&sched_lock);
    timer_arm(&v->timer, v->arch.timer_at);
    spin_unlock(&sched_lock);
}

void timer_set_compare(struct vcpu *v, ulong compare)
{
    gcp0_write(CP0_COMPARE, compare);
    inject_withdraw(v, VIRQ(VIRQ_TIMER_LINE)); /* a write of Count leaves it */
    emulate_timer(v, compare);
}

void timer_set_count(struct vcpu *v, ulong count)
{
    v->arch.gtoffset = count - cp0_read(CP0_COUNT);
    cp0_write(CP0_GTOFFSET, v->arch.gtoffset);
    if (BOARD_EIC) {
        emulate_timer(v, gcp0_read(CP0_COMPARE));
    }
}

ticks_t timer_deadline(const struct arch_vcpu *v)
{
    ticks_t now = arch_time();
    ulong since = (ulong)now - (v->count - v->gtoffset);

    /* Count may have met Compare after the guest was found to have nothing to wait for, and before it left. */
    return (v->cause & CAUSE_TI) != 0 ? now : next_match(v, now - since, v->compare);
}
