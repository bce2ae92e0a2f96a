/* SPDX-License-Identifier: Apache-2.0 */
/* A VM's device behind a PCI function of the VM (devices/virtio/accelerator.c): its interrupt.
 * Without locks: it reads the device's page and writes one register. */
#include "accel.h"

#define INT_OVER (1U << FABRIC_IF_INT_CTRL_OVER_LSB)
#define INT_FAULT (1U << FABRIC_IF_INT_CTRL_FAULT_LSB)

_Static_assert(FABRIC_REGS_IF_MASK_VM_LSB == FABRIC_REGS_CANCEL_VM_LSB &&
                   FABRIC_REGS_IF_MASK_DEV_LSB == FABRIC_REGS_CANCEL_DEV_LSB,
               "a->name is that of IF_MASK, too");

bool accelerator_exists(const struct vm *vm, unsigned device)
{
    return accel_of(vm, device) != NULL;
}

bool accelerator_pending(const struct vm *vm, unsigned device)
{
    const struct accel *a = accel_of(vm, device);
    uint32_t stat = accel_if_read(a, FABRIC_IF_STAT);
    uint32_t wanted = ACCEL_FIELD(stat, FABRIC_IF_STAT_FAULT) == 0 ? INT_OVER : INT_FAULT;

    return ACCEL_FIELD(stat, FABRIC_IF_STAT_OVER) != 0 &&
           (accel_if_read(a, FABRIC_IF_INT_CTRL) & wanted) != 0;
}

void accelerator_mask(const struct vm *vm, unsigned device, bool masked)
{
    accel_write(FABRIC_REGS_IF_MASK,
                accel_of(vm, device)->name | ACCEL_PUT(FABRIC_REGS_IF_MASK_MASKED, masked));
}
