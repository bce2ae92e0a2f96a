/* SPDX-License-Identifier: Apache-2.0 */
/* A VM's device: its first write, VCPUs that wait for it, what its guest is told. */
#include "accel.h"

#include "arch.h"
#include "atomic.h"
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
    if (accels.update != 0 || accels.recheck != 0 || accels.overlay_due || !list_empty(&resumed)) {
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

/* Whether the device has a job: START was written just before its page became read-only, or the job
 * is saved. */
static bool has_job(uint32_t stat)
{
    return ACCEL_FIELD(stat, FABRIC_IF_STAT_PENDING) != 0 ||
           ACCEL_FIELD(stat, FABRIC_IF_STAT_SAVED) != 0;
}

/* The client's first device that has a job and is in no list, or NULL. */
static struct accel *forgotten(const struct accel_vm *c)
{
    struct accel *found = NULL;

    for (unsigned i = 0; i < ACCEL_MAX_DEVICES && found == NULL && !c->stopping; i++) {
        struct accel *a = c->accels[i];

        if (a != NULL && a->state == ACCEL_IDLE && has_job(accel_if_read(a, FABRIC_IF_STAT))) {
            found = a;
        }
    }
    return found;
}

/* One request, or a client that has nothing to request. A request may take a region from another
 * client, which is then rechecked, too; that has an end, because a client that waits is in the
 * fabric's search list. */
static void recheck_first(void)
{
    unsigned client = accel_lowest_bit(accels.recheck);
    struct accel *a = forgotten(&accels.clients[client]);

    if (a != NULL) {
        accel_ask_region(a);
    }
    /* none is left, or the search list is full: no use in another try */
    if (a == NULL || a->state == ACCEL_IDLE) {
        accels.recheck &= ~(1U << client);
    }
}

static void resume_some(void)
{
    for (unsigned i = 0; i < ACCEL_RESUMED_AT_ONCE; i++) {
        resume_first(&resumed);
    }
}

void accel_continue(struct timer *t)
{
    (void)t;
    spin_lock(&accels.lock);
    /* first: a transaction has few steps, and guests can cause the other work without end */
    if (accels.overlay_due) {
        accel_overlay_step();
    } else if (accels.update != 0) {
        accel_update_first();
    } else if (!list_empty(&resumed)) {
        resume_some();
    } else if (accels.recheck != 0) {
        recheck_first();
    }
    accels.work_pending = true;
    accel_unlock();
}

void accel_note(const struct accel *a, ulong event)
{
    if (a->model == ACCEL_IMAGE_MODEL_GUEST) {
        a->client->events |= event << a->config->device;
        accels.notify |= 1U << a->client->number;
        accels.work_pending = true;
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
    accel_note(a, ACCEL_EVENT_READY);
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

/* Other CPUs, on which the VM may run, look after their fence (accel_sync()). Call before the page
 * is forbidden: a CPU that has handled IPI_SYNC finds the note, or gets another IPI_SYNC. */
static void recheck_elsewhere(const struct accel_vm *c)
{
    for (unsigned i = 0; i < hyp.ncpus && !arch_alone(); i++) {
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
    accel_note(a, ACCEL_EVENT_PREEMPT);
    stat = accel_if_read(a, FABRIC_IF_STAT);
    if (preempted && ACCEL_FIELD(stat, FABRIC_IF_STAT_SAVED) != 0) {
        a->state = ACCEL_WAITING;
    } else {
        /* their region expired before it was connected: their writes request the device again */
        resume_waiters(a);
        accels.recheck |= has_job(stat) ? 1U << a->client->number : 0;
        accels.work_pending = accels.work_pending || has_job(stat);
    }
}

static void wait_for(struct accel *a, struct vcpu *v)
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

/* The device is not there, and may have been requested before. */
static enum write_fault wait_or_refuse(struct accel *a, struct vcpu *v)
{
    if (a->state != ACCEL_WAITING) {
        return WRITE_REFUSED;
    }
    a->awaited = true;
    if (a->model == ACCEL_IMAGE_MODEL_GUEST) {
        arch_page_allow_writes(&a->page);
        accel_note(a, ACCEL_EVENT_WAIT);
    } else {
        wait_for(a, v);
    }
    return WRITE_AGAIN;
}

/* Registers that concern a job that has ended: to write them, and nothing beside them, needs no
 * region. */
static bool acknowledges(gpa_t offset, unsigned width)
{
    return width < 8 && (offset == FABRIC_IF_OVER || offset == FABRIC_IF_INT_CTRL);
}

static enum write_fault first_write(struct accel *a, struct vcpu *v, gpa_t offset, unsigned width,
                                    ulong value)
{
    if (a->state == ACCEL_CONNECTED) {
        /* another CPU has done so, and this one holds the old entry */
        arch_page_allow_writes(&a->page);
    } else if (acknowledges(offset, width) && a->state != ACCEL_ABSENT) {
        accel_if_write(a, offset, (uint32_t)value);
        return WRITE_DONE;
    } else if (a->state == ACCEL_IDLE && !a->client->stopping) {
        accel_ask_region(a);
    }
    return a->state == ACCEL_CONNECTED ? WRITE_AGAIN : wait_or_refuse(a, v);
}

enum write_fault accel_write_fault(struct vcpu *v, gpa_t gpa, unsigned width, ulong value)
{
    struct accel *a = accel_of(v->vm, (gpa - ACCEL_PAGES) / ACCEL_PAGE);
    enum write_fault fault;

    if (a == NULL) {
        return WRITE_REFUSED;
    }
    spin_lock(&accels.lock);
    fault = first_write(a, v, gpa % ACCEL_PAGE, width, value);
    accel_unlock();
    return fault;
}

/* No VCPU stores to a page on this CPU any more for which its page tables no longer allow it. The
 * VCPU that wrote START last may have stopped running here before the IPI came, or may sleep. If
 * the note was written after this IPI's fence, the page became read-only while this CPU waited for
 * the lock: hence the second fence. */
void accel_sync(void)
{
    const struct cpu *cpu = cpu_self();
    unsigned *clients = &accels.recheck_on[cpu->id];

    if (atomic_load_relaxed(clients) != 0) {
        spin_lock(&accels.lock);
        if (cpu->current != NULL) {
            arch_vcpu_sync(cpu->current);
        }
        accels.recheck |= *clients;
        *clients = 0;
        accels.work_pending = true;
        accel_unlock();
    }
}

/* A VCPU that is turned off waits for nothing. */
void accel_vcpu_stop(struct vcpu *v)
{
    struct accel_waiter *w = &waiters[v - hyp.vcpus];

    if (w->vcpu != NULL && !list_empty(&w->node)) {
        list_remove(&w->node);
    }
}

void accel_waiters_boot(void)
{
    list_init(&resumed);
    for (unsigned i = 0; i < SYSIMAGE_MAX_VCPUS; i++) {
        list_init(&waiters[i].node);
    }
}
