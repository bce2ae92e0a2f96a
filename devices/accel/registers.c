/* SPDX-License-Identifier: Apache-2.0 */
/* What the fabric's registers of a region say: its state, and the device that is its client. Owns
 * no state, and needs no lock. */
#include "accel.h"

uint64_t accel_region_status(unsigned region)
{
    return accel_read(FABRIC_REGS_PRR_STATUS + region * FABRIC_REGS_PRR_STATUS_STRIDE);
}

_Static_assert(1U << FABRIC_REGS_PRR_STATUS_DEV_WIDTH == ACCEL_MAX_DEVICES &&
                   1U << FABRIC_REGS_SOLUTION_DEV_WIDTH == ACCEL_MAX_DEVICES &&
                   1U << FABRIC_REGS_FAULT_INFO_DEV_WIDTH == ACCEL_MAX_DEVICES,
               "each number that a register can hold has a place");

struct accel *accel_named(ulong vm, ulong device)
{
    return vm < accels.image->nclients ? accels.clients[vm].accels[device] : NULL;
}

struct accel *accel_owner_of(uint64_t status)
{
    return ACCEL_FIELD(status, FABRIC_REGS_PRR_STATUS_CLIENT) == 0
               ? NULL
               : accel_named(ACCEL_FIELD(status, FABRIC_REGS_PRR_STATUS_VM),
                             ACCEL_FIELD(status, FABRIC_REGS_PRR_STATUS_DEV));
}

bool accel_in_reconfig(unsigned region, const struct accel *a)
{
    uint64_t status = accel_region_status(region);

    return accel_owner_of(status) == a &&
           ACCEL_FIELD(status, FABRIC_REGS_PRR_STATUS_STATE) == ACCEL_REGION_RECONFIG;
}
