/* SPDX-License-Identifier: Apache-2.0 */
/* The fabric's interrupt to the manager: handles one event a call, so that each section is short.
 * Takes accels.lock; owns no state. */
#include "accel.h"

#include "arch.h"
#include "console.h"
#include "sched.h"
#include "system.h"

/* A guest can cause faults without limit: after a report, the interrupts of faults are disabled for
 * this time. */
#define REPORT_MS 100U

#define EVENT(name) (1UL << FABRIC_REGS_IRQ_STATUS_##name##_LSB)
#define FAULTS (EVENT(DMA_VIOLATION) | EVENT(TASK_FAULT))
#define CONCERN_ALL (EVENT(HOLD_EXPIRED) | FAULTS)
/* of a region's client or state */
#define CHANGES (EVENT(PRR_STOPPED) | EVENT(HOLD_EXPIRED) | FAULTS)
#define EVENTS                                                                               \
    (EVENT(NEW_SOLUTION) | EVENT(RECONFIG_OVER) | EVENT(PRR_STOPPED) | EVENT(HOLD_EXPIRED) | \
     EVENT(LIST_OVERFLOW))

static void enable(uint64_t events)
{
    accel_write(FABRIC_REGS_IRQ_ENABLE, events);
}

/* Without locks: a timer's. */
static void report_again(struct timer *t)
{
    (void)t;
    enable(EVENTS | FAULTS);
}

static const char *fault_text(ulong why)
{
    static const char *const texts[] = {
        "error: %s: the job of %s in region %lu is stopped",
        "error: %s: the job of %s in region %lu accessed memory outside of the VM, address 0x%lx",
        "error: %s: the job of %s in region %lu got a bus error",
        "error: %s: the task of %s in region %lu did not stop in time",
        "error: %s: the task of %s in region %lu violated its interface",
        "error: %s: the task of %s in region %lu has a wrong context",
    };

    return why < ARRAY_SIZE(texts) ? texts[why] : texts[0];
}

/* The last fault. Faults of other clients in between are not reported, but each VM reads its own in
 * STAT. */
static void note_fault(void)
{
    uint64_t info = accel_read(FABRIC_REGS_FAULT_INFO);
    struct accel *a = accel_named(ACCEL_FIELD(info, FABRIC_REGS_FAULT_INFO_VM),
                                  ACCEL_FIELD(info, FABRIC_REGS_FAULT_INFO_DEV));

    enable(EVENTS);
    spin_lock(&sched_lock);
    timer_arm(&accels.report_holdoff, arch_time() + (ticks_t)REPORT_MS * 1000U * hyp.us);
    spin_unlock(&sched_lock);
    if (a != NULL) {
        a->stats.faults++;
        accel_report(fault_text(ACCEL_FIELD(info, FABRIC_REGS_FAULT_INFO_WHY)), a,
                     ACCEL_FIELD(info, FABRIC_REGS_FAULT_INFO_PRR),
                     accel_read(FABRIC_REGS_FAULT_ADDR));
    }
}

/* The fabric notifies a fault before the job has left its region, whose client then loses it with
 * PRR_STOPPED. Called before the regions are updated, so that none leaves unseen in between. */
static void watch_leaving(void)
{
    accels.for_all =
        CONCERN_ALL | (accels.draining_regions != 0 || accel_job_leaves() ? EVENT(PRR_STOPPED) : 0);
}

void accel_watch_all(void)
{
    accels.for_all |= EVENT(PRR_STOPPED);
}

/* Updates the regions that can have another client or state, until a client has lost one; notes the
 * others. PRR_STOPPED does not name the region: it concerns those whose job was stopped for another
 * client, or has failed. */
static void update_regions(uint64_t status)
{
    bool all = (status & accels.for_all) != 0, loses = false;

    if (all && (status & (FAULTS | EVENT(PRR_STOPPED))) != 0) {
        watch_leaving();
    }
    if (all) {
        accel_overlay_wake();
    }
    for (unsigned i = 0; i < accels.nregions; i++) {
        if (all || accels.regions[i].promised != NULL) {
            if (loses) {
                accels.update |= 1U << i;
                accels.work_pending = true;
            } else {
                loses = accel_update_region(i);
            }
        }
    }
}

/* The fabric keeps the line high until every event is acknowledged, and all solutions are taken:
 * one kind of event, or one solution, in each call, so that interrupts are polled between two. */
void accel_interrupt(void)
{
    uint64_t status;

    spin_lock(&accels.lock);
    status = accel_read(FABRIC_REGS_IRQ_STATUS);
    if ((status & EVENT(RECONFIG_OVER)) != 0) {
        accel_write(FABRIC_REGS_IRQ_STATUS, EVENT(RECONFIG_OVER));
        accel_configured();
    } else if ((status & CHANGES) != 0) {
        accel_write(FABRIC_REGS_IRQ_STATUS, status & CHANGES);
        if ((status & FAULTS) != 0 && (accel_read(FABRIC_REGS_IRQ_ENABLE) & FAULTS) != 0) {
            note_fault();
        }
        update_regions(status);
    } else if (accels.update != 0) {
        accel_update_first(); /* a solution may be for a client whose loss is noted */
    } else {
        accel_write(FABRIC_REGS_IRQ_STATUS, status);
        accel_take_solution();
    }
    accel_unlock();
}

void accel_manager_init(void)
{
    timer_init(&accels.report_holdoff, report_again);
    accels.report_holdoff.unlocked = true;
    accels.for_all = CONCERN_ALL;
    accel_write(FABRIC_REGS_HOLD_TIME, accels.image->hold_cycles);
    accel_write(FABRIC_REGS_STOP_TIME, accels.image->stop_cycles);
    accel_write(FABRIC_REGS_IRQ_STATUS, EVENTS | FAULTS);
    enable(EVENTS | FAULTS);
}
