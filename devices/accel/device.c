/* SPDX-License-Identifier: Apache-2.0 */
/* A VM's device as its guest sees it: connected, failed, withdrawn or lost; the VCPUs that wait for
 * it; and what sections under accels.lock leave for its release: events, reports, further work. */
#include "accel.h"

#include "arch.h"
#include "console.h"
#include "cpu.h"
#include "sched.h"
#include "system.h"

/* owner: this file; waiters[n] belongs to hyp.vcpus[n] */
static struct accel_waiter waiters[SYSIMAGE_MAX_VCPUS];
/* struct accel_waiter: need not wait any more; guarded by sched_lock; owner: this file */
static struct list resumed;

/* Resumes the first VCPU of the list, if there is one. One critical section for each, so that other
 * CPUs get the lock in between. */
static void resume_first(struct list *list)
{
    spin_lock(&sched_lock);
    if (!list_empty(list)) {
        struct accel_waiter *w = CONTAINER_OF(list->next, struct accel_waiter, node);

        list_remove(&w->node);
        vcpu_resume(w->vcpu);
    }
    spin_unlock(&sched_lock);
}

bool accel_must_resume(void)
{
    return !list_empty(&resumed);
}

void accel_resume_some(void)
{
    for (unsigned i = 0; i < ACCEL_RESUMED_AT_ONCE; i++) {
        resume_first(&resumed);
    }
}

/* Those that wait for the device are resumed by the next sections. */
static void leave_waiters(struct accel *a)
{
    spin_lock(&sched_lock);
    if (!list_empty(&a->waiters)) {
        list_splice_before(&resumed, &a->waiters);
        accels.work_pending = true;
    }
    spin_unlock(&sched_lock);
}

/* Raises the event interrupts that were noted. */
static void deliver(unsigned clients)
{
    for (unsigned i = 0; clients != 0; i++, clients >>= 1) {
        struct accel_vm *c = &accels.clients[i];

        if ((clients & 1U) != 0) {
            spin_lock(&c->vm->lock);
            arch_vm_irq(c->vm, c->config->event_irq, true);
            vm_unlock(c->vm);
        }
    }
}

/* What is left is done in other sections. */
static void defer(void)
{
    spin_lock(&sched_lock);
    if (!timer_armed(&accels.deferred_timer)) {
        timer_arm(&accels.deferred_timer, arch_time());
    }
    spin_unlock(&sched_lock);
}

void accel_unlock_pending(void)
{
    unsigned notify = accels.notify;
    const char *report = accels.report;
    struct accel_report_args args;

    accels.work_pending = false;
    accels.notify = 0;
    if (report != NULL) {
        args = accels.args;
        accels.report = NULL;
    }
    if (accels.update != 0 || accels.recheck != 0 || accels.overlay_due || accel_must_resume()) {
        defer();
    }
    spin_unlock(&accels.lock);
    if (notify != 0) {
        deliver(notify);
    }
    if (report != NULL) {
        console_post_minor(&(const struct log_line){
            report, {(ulong)args.who[0], (ulong)args.who[1], args.region, args.detail}});
    }
}

void accel_report(const char *format, const struct accel *a, ulong region, ulong detail)
{
    const struct accel_image_device *devices = accel_table(accels.image->devices_offset);

    accels.work_pending = true;
    accels.report = format;
    accels.args = (struct accel_report_args){
        {a->client->vm->config->name, devices[a->config->device].name}, region, detail};
}

void accel_post_event(const struct accel *a, ulong event)
{
    if (a->model == ACCEL_IMAGE_MODEL_GUEST) {
        accel_post_vm_event(a->client, event << a->config->device);
    }
}

/* Resumes the VCPUs that wait for the device: each executes its write again. The first one at once,
 * further ones in other sections. */
static void resume_waiters(struct accel *a)
{
    if (!list_empty(&a->waiters)) {
        resume_first(&a->waiters);
        if (!list_empty(&a->waiters)) {
            leave_waiters(a);
        }
    }
}

/* VCPUs wait for the device, or its guest does. */
static void report_ready(struct accel *a)
{
    a->awaited = false;
    accel_post_event(a, ACCEL_EVENT_READY);
    resume_waiters(a);
}

void accel_connected(struct accel *a, unsigned region)
{
    a->state = ACCEL_CONNECTED;
    a->region = region;
    arch_page_allow_writes(&a->page);
    if (a->awaited) {
        report_ready(a);
    }
}

void accel_failed(struct accel *a)
{
    a->state = ACCEL_FAILED;
    arch_page_forbid_writes(&a->page);
    report_ready(a);
}

void accel_withdrawn(struct accel *a)
{
    if (a->state == ACCEL_WAITING || a->state == ACCEL_CONNECTED) {
        a->state = ACCEL_IDLE;
        arch_page_forbid_writes(&a->page);
        resume_waiters(a);
    }
}

void accel_bar_device(struct accel *a)
{
    arch_page_forbid_writes(&a->page);
    resume_waiters(a);
}

/* Other CPUs, on which the VM may run, check after their fence (accel_sync()). Call before the page
 * is forbidden: a CPU that has handled IPI_SYNC finds the note, or gets another IPI_SYNC. */
static void recheck_elsewhere(const struct accel_vm *c)
{
    for (unsigned i = 0; i < hyp.ncpus && !arch_is_uniprocessor(); i++) {
        accels.recheck_on[i] |= 1U << c->number;
    }
}

/* A START that is written from here on faults; one that was written before is found by
 * recheck(). */
void accel_lost(struct accel *a, bool preempted)
{
    uint32_t stat;

    if (a->state >= ACCEL_FAILED) {
        return;
    }
    a->state = ACCEL_IDLE;
    a->stats.losses++;
    recheck_elsewhere(a->client);
    arch_page_forbid_writes(&a->page);
    accel_post_event(a, ACCEL_EVENT_PREEMPT);
    stat = accel_if_read(a, FABRIC_IF_STAT);
    if (preempted && ACCEL_FIELD(stat, FABRIC_IF_STAT_SAVED) != 0) {
        a->state = ACCEL_WAITING;
    } else {
        /* their region expired before it was connected: their writes request the device again */
        resume_waiters(a);
        if (accel_has_job(stat)) {
            accels.recheck |= 1U << a->client->number;
            accels.work_pending = true;
        }
    }
}

void accel_wait(struct accel *a, struct vcpu *v)
{
    struct accel_waiter *w = &waiters[v - hyp.vcpus];

    w->vcpu = v;
    spin_lock(&sched_lock);
    if (list_empty(&w->node)) {
        list_insert_before(&a->waiters, &w->node); /* at the tail */
    }
    vcpu_suspend(v);
    spin_unlock(&sched_lock);
}

void accel_overlay_wake(void)
{
    if (accels.overlay_runs) {
        accels.overlay_due = true;
        accels.work_pending = true;
    }
}

/* A VCPU that is turned off waits for nothing. */
void accel_vcpu_stop(struct vcpu *v)
{
    list_remove(&waiters[v - hyp.vcpus].node);
}

void accel_waiters_boot(void)
{
    list_init(&resumed);
    for (unsigned i = 0; i < SYSIMAGE_MAX_VCPUS; i++) {
        list_init(&waiters[i].node);
    }
}
