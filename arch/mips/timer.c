/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A guest's timer. Guest.Count is Root.Count with an offset. Where the guest's timer interrupt is
 * wired, Count and Compare are the guest's alone while it runs; else its accesses to them come
 * here, and core's timer interrupts it. Hardware stops no Guest.Count: while Cause.DC is set,
 * accesses come here on every board, and the offset alone is the value.
 */
#include "arch.h"
#include "internal.h"
#include "sched.h"

#define AROUND (UINT64_C(1) << 32)

/* Root.Count as the guest's Count sees it. */
static ulong root_count(void)
{
    return (gcp0_read(CP0_CAUSE) & CAUSE_DC) != 0 ? 0 : cp0_read(CP0_COUNT);
}

ulong timer_count(const struct vcpu *v)
{
    return root_count() + v->arch.gtoffset;
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

void timer_hold(ulong cause)
{
    if ((cause & CAUSE_DC) != 0) {
        cp0_write(CP0_GTOFFSET, gcp0_read(CP0_COMPARE) - cp0_read(CP0_COUNT) + 2U * TIMER_JUST_MET);
        gcp0_write(CP0_CAUSE, cause);
    }
}

/* After a change of Count, Compare or Cause.DC. `cause`: the guest's. */
static void update(struct vcpu *v, ulong cause)
{
    cp0_write(CP0_GTOFFSET, v->arch.gtoffset);
    timer_hold(cause);
    if (BOARD_EIC) {
        v->arch.timer_at = (cause & CAUSE_DC) != 0
                               ? TICKS_NEVER
                               : next_match(&v->arch, arch_time(), gcp0_read(CP0_COMPARE));
        spin_lock(&sched_lock);
        timer_arm(&v->timer, v->arch.timer_at);
        spin_unlock(&sched_lock);
    }
}

void timer_set_compare(struct vcpu *v, ulong compare)
{
    gcp0_write(CP0_COMPARE, compare);
    inject_withdraw(v, VIRQ(VIRQ_TIMER_LINE)); /* a write of Count leaves it */
    update(v, gcp0_read(CP0_CAUSE) & ~(ulong)CAUSE_TI);
}

void timer_set_count(struct vcpu *v, ulong count)
{
    v->arch.gtoffset = count - root_count();
    update(v, gcp0_read(CP0_CAUSE));
}

void timer_set_cause(struct vcpu *v, ulong cause)
{
    ulong count = timer_count(v), changed = cause ^ gcp0_read(CP0_CAUSE);

    timer_write_cause(cause);
    if ((changed & CAUSE_DC) != 0) {
        v->arch.guestctl0 ^= BOARD_GUEST_TIMER ? GUESTCTL0_GT : 0;
        vcpu_enable_lazy(v, LAZY_CONTROLS);
        timer_set_count(v, count);
    }
}

ticks_t timer_deadline(const struct arch_vcpu *v)
{
    ticks_t now = arch_time();
    ulong since = (ulong)now - (v->count - v->gtoffset);

    /* Count may have met Compare after the guest was found to have nothing to wait for, and before
     * it left. */
    if ((v->cause & CAUSE_TI) != 0) {
        return now;
    }
    return (v->cause & CAUSE_DC) != 0 ? TICKS_NEVER : next_match(v, now - since, v->compare);
}
