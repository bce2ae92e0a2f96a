/* SPDX-License-Identifier: Apache-2.0 */
/* The hypercalls HCALL_ACCEL_*: they check the arguments and take accels.lock for the rest of the
 * manager. Owns no state. */
#include "accel.h"

#include "arch.h"
#include "cpu.h"
#include "guestmem.h"
#include "lib.h"

_Static_assert(ACCEL_MODEL_NATIVE == ACCEL_IMAGE_MODEL_NATIVE &&
                   ACCEL_MODEL_GUEST == ACCEL_IMAGE_MODEL_GUEST,
               "one numbering");

#define PRIORITY_MAX 15U

static struct hcall_ret answer(long error, ulong value)
{
    return (struct hcall_ret){error, value};
}

static struct vm *caller(void)
{
    return cpu_self()->current->vm;
}

/* The caller's device, or NULL. It may leave with an overlay until accels.lock is taken: what a
 * call does to it then has no effect, because only its state decides, and its next reset. */
static struct accel *present(ulong device)
{
    struct accel *a = accel_of(caller(), device);

    return a != NULL && a->present ? a : NULL;
}

/* The longest configuration for the device: of the bitstreams, a word of 32 bits in each cycle,
 * twice if it is verified first. */
static ulong configure_cycles(const struct accel *a)
{
    ulong most = 0;

    for (unsigned i = 0; i < accels.nregions; i++) {
        const struct accel_image_bitstream *b = accels.streams[a->config->device][i];
        ulong cycles = b == NULL ? 0 : (b->size / 4U << (b->verify != 0)) + ACCEL_CONFIGURE_CYCLES;

        most = cycles > most ? cycles : most;
    }
    return most;
}

ulong accel_status_of(const struct accel *a)
{
    static const uint8_t bits[] = {
        [ACCEL_IDLE] = 0,
        [ACCEL_WAITING] = ACCEL_STATUS_WAITING,
        [ACCEL_CONNECTED] = ACCEL_STATUS_CONNECTED,
        [ACCEL_FAILED] = ACCEL_STATUS_FAILED,
        [ACCEL_ABSENT] = 0,
    };

    return bits[a->state] | (ulong)a->region << 8 | (ulong)a->priority << 16 |
           (ulong)a->model << 24 | (ulong)configure_cycles(a) << 32;
}

struct hcall_ret accel_enumerate(ulong index, ulong gpa, ulong size, ulong a3, ulong a4, ulong a5)
{
    const struct accel_vm *c = accel_vm_of(caller());
    struct accel_info info = {.device = 0};
    ulong count = 0;

    (void)a3, (void)a4, (void)a5;
    if (size != sizeof(info)) {
        return answer(HCALL_ERR_INVALID_PARAM, 0);
    }
    for (unsigned i = 0; i < ACCEL_MAX_DEVICES && c != NULL; i++) {
        const struct accel *a = c->accels[i];
        const struct accel_image_device *d = accel_table(accels.image->devices_offset);

        if (a != NULL && a->present && count++ == index) {
            info.device = i;
            info.task = d[i].task;
            info.page = a->config->gpa;
            memcpy(info.name, d[i].name, sizeof(info.name));
        }
    }
    if (index < count && !guestmem_write(caller(), gpa, &info, sizeof(info))) {
        return answer(HCALL_ERR_INVALID_ADDRESS, 0);
    }
    return answer(HCALL_OK, count);
}

struct hcall_ret accel_request(ulong device, ulong a1, ulong a2, ulong a3, ulong a4, ulong a5)
{
    struct accel *a = present(device);
    ulong status;

    (void)a1, (void)a2, (void)a3, (void)a4, (void)a5;
    if (a == NULL) {
        return answer(HCALL_ERR_INVALID_PARAM, 0);
    }
    spin_lock(&accels.lock);
    if (a->state == ACCEL_IDLE && !a->client->stopping) {
        accel_request_region(a);
    }
    a->awaited = a->awaited || a->state == ACCEL_WAITING;
    status = accel_status_of(a);
    accel_unlock();
    return answer(HCALL_OK, status);
}

bool accel_is_promised(const struct accel *a)
{
    bool found = false;

    for (unsigned i = 0; i < accels.nregions; i++) {
        found = found || accels.regions[i].promised == a;
    }
    return found;
}

/* The fabric refuses to cancel a region while it is being configured, one that is being stopped,
 * and a job that runs. */
static bool busy(const struct accel *a)
{
    return ACCEL_FIELD(accel_if_read(a, FABRIC_IF_STAT), FABRIC_IF_STAT_BUSY) != 0 ||
           ((accels.icap.busy & ACCEL_ICAP_CONFIGURING) != 0 && accels.icap.device == a) ||
           accel_is_promised(a);
}

/* The fabric has taken the device's region away, if it had one. */
static void leave_region(const struct accel *a)
{
    for (unsigned i = 0; i < accels.nregions; i++) {
        if (accels.regions[i].owner == a) {
            accel_update_region(i);
        }
    }
}

struct hcall_ret accel_release(ulong device, ulong a1, ulong a2, ulong a3, ulong a4, ulong a5)
{
    struct accel *a = present(device);
    bool refused;

    (void)a1, (void)a2, (void)a3, (void)a4, (void)a5;
    if (a == NULL) {
        return answer(HCALL_ERR_INVALID_PARAM, 0);
    }
    spin_lock(&accels.lock);
    refused = busy(a);
    if (!refused) {
        accel_write(FABRIC_REGS_CANCEL, a->name);
        leave_region(a);
        accel_withdrawn(a);
    }
    accel_unlock();
    return answer(refused ? HCALL_ERR_INVALID_STATE : HCALL_OK, 0);
}

struct hcall_ret accel_status(ulong device, ulong a1, ulong a2, ulong a3, ulong a4, ulong a5)
{
    struct accel *a = present(device);
    ulong status;

    (void)a1, (void)a2, (void)a3, (void)a4, (void)a5;
    if (a == NULL) {
        return answer(HCALL_ERR_INVALID_PARAM, 0);
    }
    spin_lock(&accels.lock);
    status = accel_status_of(a);
    accel_unlock();
    return answer(HCALL_OK, status);
}

struct hcall_ret accel_get_stats(ulong device, ulong gpa, ulong size, ulong a3, ulong a4, ulong a5)
{
    struct accel *a = present(device);
    struct accel_stats stats;

    (void)a3, (void)a4, (void)a5;
    if (a == NULL || size != sizeof(stats)) {
        return answer(HCALL_ERR_INVALID_PARAM, 0);
    }
    spin_lock(&accels.lock);
    stats = a->stats;
    accel_unlock();
    return answer(guestmem_write(caller(), gpa, &stats, sizeof(stats)) ? HCALL_OK
                                                                       : HCALL_ERR_INVALID_ADDRESS,
                  0);
}

struct hcall_ret accel_events(ulong a0, ulong a1, ulong a2, ulong a3, ulong a4, ulong a5)
{
    struct vm *vm = caller();
    struct accel_vm *c = accel_vm_of(vm);
    ulong events;

    (void)a0, (void)a1, (void)a2, (void)a3, (void)a4, (void)a5;
    if (c == NULL) {
        return answer(HCALL_ERR_DENIED, 0);
    }
    spin_lock(&vm->lock);
    spin_lock(&accels.lock);
    events = c->events;
    c->events = 0;
    arch_vm_irq(vm, c->config->event_irq, false);
    spin_unlock(&accels.lock);
    vm_unlock(vm);
    return answer(HCALL_OK, events);
}

struct hcall_ret accel_set_priority(ulong device, ulong priority, ulong a2, ulong a3, ulong a4,
                                    ulong a5)
{
    struct accel *a = present(device);

    (void)a2, (void)a3, (void)a4, (void)a5;
    if (a == NULL || priority > PRIORITY_MAX) {
        return answer(HCALL_ERR_INVALID_PARAM, 0);
    }
    if (a->client->config->may_raise == 0) {
        return answer(HCALL_ERR_DENIED, 0);
    }
    spin_lock(&accels.lock);
    accel_prioritize(a, (uint32_t)priority);
    accel_unlock();
    return answer(HCALL_OK, 0);
}

struct hcall_ret accel_set_model(ulong device, ulong model, ulong a2, ulong a3, ulong a4, ulong a5)
{
    struct accel *a = present(device);

    (void)a2, (void)a3, (void)a4, (void)a5;
    if (a == NULL || (model != ACCEL_MODEL_NATIVE && model != ACCEL_MODEL_GUEST)) {
        return answer(HCALL_ERR_INVALID_PARAM, 0);
    }
    spin_lock(&accels.lock);
    a->model = (uint32_t)model;
    accel_unlock();
    return answer(HCALL_OK, 0);
}
