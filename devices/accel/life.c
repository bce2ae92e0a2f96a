/* SPDX-License-Identifier: Apache-2.0 */
/* Start and stop of a VM: DMA windows, registers, regions. It serves the life of VMs in core, in
 * steps of bounded length; accels.lock is held for each. */
#include "accel.h"

#include "fabric_windows.h"

void accel_set_present(struct accel *a, bool present)
{
    a->present = present;
    if (!present) {
        a->state = ACCEL_ABSENT;
    } else {
        a->state = accels.usable[a->config->device] != 0 ? ACCEL_IDLE : ACCEL_FAILED;
    }
}

void accel_reset_device(struct accel *a)
{
    accel_write(FABRIC_REGS_IF_RESET, a->name);
    for (ulong offset = 0; offset < FABRIC_IF_SPAN; offset += 4U) {
        accel_if_write(a, offset, 0);
    }
    accel_set_present(a, a->present);
    a->region = 0;
    a->awaited = false;
    accel_prioritize(a, a->config->priority);
    a->model = a->config->model;
    a->stats = (struct accel_stats){0};
    arch_page_forbid_writes(&a->page);
}

/* The VM's next life begins; its devices were reset at the end of the last one, or at boot. */
static void begin_life(struct accel_vm *c)
{
    spin_lock(&accels.lock);
    fabric_windows_open(accel_windows_of(c), &c->vm->memmap);
    c->events = 0;
    c->stopping = false;
    spin_unlock(&accels.lock);
}

void accel_vm_reset(struct vm *vm)
{
    struct accel_vm *c = accel_vm_of(vm);

    if (c != NULL) {
        begin_life(c);
    }
}

/* Withdraws the requests of the client, and stops its jobs. False while a region still works for
 * it, is promised to it, or is being configured for it, or after a client has lost one: the next
 * step continues. */
static bool withdraw(const struct accel_vm *c)
{
    bool done = true;

    for (unsigned i = 0; i < ACCEL_MAX_DEVICES; i++) {
        if (c->accels[i] != NULL) {
            accel_write(FABRIC_REGS_CANCEL, c->accels[i]->name);
        }
    }
    for (unsigned i = 0; i < accels.nregions; i++) {
        const struct region *r = &accels.regions[i];

        if (accel_update_region(i)) {
            return false;
        }
        if (r->owner != NULL && r->owner->client == c) {
            accel_write(FABRIC_REGS_PRR_STOP + i * FABRIC_REGS_PRR_STOP_STRIDE, 1);
            done = false;
        }
        done = done && (r->promised == NULL || r->promised->client != c);
    }
    return done;
}

/* One step of a client's stop; true if it was the last. A region leaves its client when its bus
 * traffic has ended (docs/fabric.md), so without a region there is no transaction in the client's
 * windows. Then its devices are reset, one in each step. */
static bool stop_step(struct accel_vm *c)
{
    if (!c->stopping) {
        c->stopping = true;
        c->to_reset = ACCEL_MAX_DEVICES;
    }
    if (c->to_reset == ACCEL_MAX_DEVICES && !withdraw(c)) {
        return false;
    }
    fabric_windows_close(accel_windows_of(c));
    while (c->to_reset > 0) {
        struct accel *a = c->accels[--c->to_reset];

        if (a != NULL) {
            accel_reset_device(a);
            return false;
        }
    }
    return true;
}

bool accel_vm_stop(struct vm *vm)
{
    struct accel_vm *c = accel_vm_of(vm);
    bool done = true;

    if (c != NULL) {
        spin_lock(&accels.lock);
        done = stop_step(c);
        accel_unlock();
    }
    return done;
}
