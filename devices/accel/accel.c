/* SPDX-License-Identifier: Apache-2.0 */
/* What makes a device request a region: its guest's first write, a job whose region was lost, and
 * the fabric's list; and the work that earlier sections have left. */
#include "accel.h"

#include "arch.h"
#include "atomic.h"
#include "cpu.h"

/* The client's first device that has a job and is in no list, or NULL. */
static struct accel *forgotten(const struct accel_vm *c)
{
    struct accel *found = NULL;

    for (unsigned i = 0; i < ACCEL_MAX_DEVICES && found == NULL && !c->stopping; i++) {
        struct accel *a = c->accels[i];

        if (a != NULL && a->state == ACCEL_IDLE &&
            accel_has_job(accel_if_read(a, FABRIC_IF_STAT))) {
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
        accel_request_region(a);
    }
    /* none is left, or the search list is full: no use in another try */
    if (a == NULL || a->state == ACCEL_IDLE) {
        accels.recheck &= ~(1U << client);
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
    } else if (accel_must_resume()) {
        accel_resume_some();
    } else if (accels.recheck != 0) {
        recheck_first();
    }
    accels.work_pending = true;
    accel_unlock();
}

/* The device is not connected, and may have been requested before. */
static enum write_fault wait_or_refuse(struct accel *a, struct vcpu *v)
{
    if (a->state != ACCEL_WAITING) {
        return WRITE_REFUSED;
    }
    a->awaited = true;
    if (a->model == ACCEL_IMAGE_MODEL_GUEST) {
        arch_page_allow_writes(&a->page);
        accel_post_event(a, ACCEL_EVENT_WAIT);
    } else {
        accel_wait(a, v);
    }
    return WRITE_AGAIN;
}

/* Registers that concern a job that has ended: a write of one of them alone needs no region. */
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
        accel_request_region(a);
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
