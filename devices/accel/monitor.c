/* SPDX-License-Identifier: Apache-2.0 */
/* The hypercalls of a VM that monitors the fabric: the state of all regions, and of the devices of
 * all VMs. */
#include "accel.h"

#include "cpu.h"
#include "guestmem.h"
#include "lib.h"

#define NAME_LEN 16U
_Static_assert(NAME_LEN == SYSIMAGE_NAME_LEN &&
                   NAME_LEN == sizeof(((struct accel_image_device *)NULL)->name),
               "names");

static struct vm *caller(void)
{
    return cpu_self()->current->vm;
}

static bool may_monitor(const struct vm *vm)
{
    return accels.image != NULL && (accels.image->monitors >> vm->id & 1U) != 0;
}

static void put_names(char vm[NAME_LEN], char device[NAME_LEN], const struct accel *a)
{
    const struct accel_image_device *devices = accel_table(accels.image->devices_offset);

    memcpy(vm, a->client->vm->config->name, NAME_LEN);
    memcpy(device, devices[a->config->device].name, NAME_LEN);
}

static struct accel_region region_of(unsigned number)
{
    uint64_t status = accel_region_status(number);
    const struct accel *a = accel_owner_of(status);
    struct accel_region region = {
        .state = (uint32_t)ACCEL_FIELD(status, FABRIC_REGS_PRR_STATUS_STATE),
        .task = (uint32_t)ACCEL_FIELD(status, FABRIC_REGS_PRR_STATUS_TASK_ID),
        .cycles = ACCEL_FIELD(status, FABRIC_REGS_PRR_STATUS_RECONFIG_TIME),
    };

    if (a != NULL) {
        put_names(region.vm, region.device, a);
    }
    return region;
}

static struct accel_client client_of(ulong index)
{
    const struct accel_image_accel *configs = accel_table(accels.image->accels_offset);
    const struct accel *a = accels.clients[configs[index].client].accels[configs[index].device];
    struct accel_client client;

    put_names(client.vm, client.device, a);
    spin_lock(&accels.lock);
    client.status = accel_status_of(a);
    client.stats = a->stats;
    accel_unlock();
    return client;
}

/* The answer of a call that has `count` elements, and has written the one at `index` if there is
 * one. */
static struct hcall_ret answer(bool written, ulong count)
{
    return (struct hcall_ret){written ? HCALL_OK : HCALL_ERR_INVALID_ADDRESS, written ? count : 0};
}

static struct hcall_ret refusal(ulong size, ulong expected)
{
    long error = size != expected ? HCALL_ERR_INVALID_PARAM : HCALL_OK;

    return (struct hcall_ret){may_monitor(caller()) ? error : HCALL_ERR_DENIED, 0};
}

struct hcall_ret accel_get_region(ulong number, ulong gpa, ulong size, ulong a3, ulong a4, ulong a5)
{
    struct hcall_ret refused = refusal(size, sizeof(struct accel_region));
    bool written = true;

    (void)a3, (void)a4, (void)a5;
    if (refused.error != HCALL_OK) {
        return refused;
    }
    if (number < accels.nregions) {
        struct accel_region region = region_of((unsigned)number);

        written = guestmem_write(caller(), gpa, &region, sizeof(region));
    }
    return answer(written, accels.nregions);
}

struct hcall_ret accel_get_client(ulong index, ulong gpa, ulong size, ulong a3, ulong a4, ulong a5)
{
    struct hcall_ret refused = refusal(size, sizeof(struct accel_client));
    bool written = true;

    (void)a3, (void)a4, (void)a5;
    if (refused.error != HCALL_OK) {
        return refused;
    }
    if (index < accels.image->naccels) {
        struct accel_client client = client_of(index);

        written = guestmem_write(caller(), gpa, &client, sizeof(client));
    }
    return answer(written, accels.image->naccels);
}
