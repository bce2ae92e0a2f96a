/* SPDX-License-Identifier: Apache-2.0 */
/* A hypervisor without the component `seed`. */
#include "seed.h"

COMPONENT_DEFAULT bool seed_take(uint8_t *tree, uint32_t size)
{
    (void)tree, (void)size;
    return false;
}

COMPONENT_DEFAULT void seed_step(const struct vm *vm, unsigned step)
{
    (void)vm, (void)step;
}

COMPONENT_DEFAULT bool seed_key(uint32_t *key, uint32_t number)
{
    (void)key, (void)number;
    return false;
}
