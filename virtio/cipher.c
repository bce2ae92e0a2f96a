/* SPDX-License-Identifier: Apache-2.0 */
/* AES-CBC by a unit of the fabric: without the component fpga/vdm there is none, and virtio-crypto uses its software. */
#include "cipher_unit.h"

COMPONENT_DEFAULT bool cipher_unit_begin(const struct vm *vm, uint32_t unit, const struct cipher_job *job)
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
