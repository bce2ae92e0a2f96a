/* SPDX-License-Identifier: Apache-2.0 */
/* What the component calls of others, for builds without them: there is no unit, no accelerator and
 * no shared device. */
#include "cipher_unit.h"
#include "pci_accelerator.h"
#include "pci_hardware_io.h"

COMPONENT_DEFAULT bool cipher_unit_begin(const struct vm *vm, uint32_t unit,
                                         const struct cipher_job *job)
{
    (void)vm;
    (void)unit;
    (void)job;
    return false;
}

COMPONENT_DEFAULT enum cipher_outcome cipher_unit_result(uint32_t unit)
{
    (void)unit;
    return CIPHER_FAILED;
}

COMPONENT_DEFAULT bool cipher_unit_stop(const struct vm *vm, uint32_t unit)
{
    (void)vm;
    (void)unit;
    return true;
}

COMPONENT_DEFAULT bool accelerator_exists(const struct vm *vm, unsigned device)
{
    (void)vm;
    (void)device;
    return false;
}

COMPONENT_DEFAULT bool accelerator_pending(const struct vm *vm, unsigned device)
{
    (void)vm;
    (void)device;
    return false;
}

COMPONENT_DEFAULT void accelerator_mask(const struct vm *vm, unsigned device, bool masked)
{
    (void)vm;
    (void)device;
    (void)masked;
}

COMPONENT_DEFAULT bool hardware_io_pages(const struct vm *vm, uint64_t *pages)
{
    (void)vm;
    (void)pages;
    return false;
}

COMPONENT_DEFAULT bool hardware_io_pending(const struct vm *vm)
{
    (void)vm;
    return false;
}

COMPONENT_DEFAULT void hardware_io_mask(const struct vm *vm, bool masked)
{
    (void)vm;
    (void)masked;
}
