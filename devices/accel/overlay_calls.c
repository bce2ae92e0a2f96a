/* SPDX-License-Identifier: Apache-2.0 */
/* The hypercalls of a VM that applies and removes overlays, and the devices that its device tree
 * shows. */
#include "cpu.h"
#include "guestmem.h"
#include "overlay.h"

_Static_assert(ACCEL_PHASES == sizeof(((struct accel_overlay *)NULL)->ticks) / sizeof(uint64_t),
               "one for each");

#define TREE_NOP 4U /* a token of a flattened device tree: 4 bytes, big-endian */

/* HCALL_OK if the current VM may control the overlay. */
static long refusal(ulong number)
{
    const struct accel_image_overlay *configs;

    if (accels.image == NULL || number >= accels.image->noverlays) {
        return HCALL_ERR_INVALID_PARAM;
    }
    configs = accel_table(accels.image->overlays_offset);
    return (configs[number].controllers >> cpu_self()->current->vm->id & 1U) != 0
               ? HCALL_OK
               : HCALL_ERR_DENIED;
}

static struct hcall_ret start(ulong number, bool apply)
{
    long error = refusal(number);

    if (error == HCALL_OK) {
        spin_lock(&accels.lock);
        error = overlay_start((unsigned)number, apply, cpu_self()->current->vm)
                    ? HCALL_OK
                    : HCALL_ERR_INVALID_STATE;
        accel_unlock();
    }
    return (struct hcall_ret){error, 0};
}

struct hcall_ret accel_apply_overlay(ulong number, ulong a1, ulong a2, ulong a3, ulong a4, ulong a5)
{
    (void)a1, (void)a2, (void)a3, (void)a4, (void)a5;
    return start(number, true);
}

struct hcall_ret accel_remove_overlay(ulong number, ulong a1, ulong a2, ulong a3, ulong a4,
                                      ulong a5)
{
    (void)a1, (void)a2, (void)a3, (void)a4, (void)a5;
    return start(number, false);
}

struct hcall_ret accel_overlay_status(ulong number, ulong gpa, ulong size, ulong a3, ulong a4,
                                      ulong a5)
{
    struct accel_overlay status;
    long error = refusal(number);

    (void)a3, (void)a4, (void)a5;
    if (error == HCALL_OK && size != sizeof(status)) {
        error = HCALL_ERR_INVALID_PARAM;
    }
    if (error == HCALL_OK) {
        spin_lock(&accels.lock);
        overlay_get_status((unsigned)number, &status);
        accel_unlock();
        error = guestmem_write(cpu_self()->current->vm, gpa, &status, sizeof(status))
                    ? HCALL_OK
                    : HCALL_ERR_INVALID_ADDRESS;
    }
    return (struct hcall_ret){error, 0};
}

/* Sets `status` of a device's node to "okay": the builder has written "disabled", which is four
 * bytes longer with its padding. */
static void enable_node(const struct vm *vm, gpa_t status)
{
    static const uint8_t length[4] = {0, 0, 0, 5},
                         value[12] = {'o', 'k', 'a', 'y', 0, 0, 0, 0, 0, 0, 0, TREE_NOP};

    (void)guestmem_write(vm, status, length, sizeof(length));
    (void)guestmem_write(vm, status + 8U, value, sizeof(value));
}

static void enable_nodes(const struct accel_vm *c)
{
    const struct accel_image_provided *p = accel_table(accels.image->provided_offset);

    for (unsigned i = 0; i < accels.image->nprovided; i++) {
        if (p[i].client == c->number && c->accels[p[i].device]->present) {
            enable_node(c->vm, (gpa_t)p[i].status);
        }
    }
}

/* A VCPU that is not off has just loaded its VM's memory, whose device tree does not have the
 * devices of overlays. */
void overlay_vcpu_start(struct vcpu *v)
{
    const struct accel_vm *c = accel_vm_of(v->vm);

    if (c != NULL && v->state != VCPU_OFF) {
        enable_nodes(c);
    }
}
