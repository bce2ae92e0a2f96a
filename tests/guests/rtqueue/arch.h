/* SPDX-License-Identifier: Apache-2.0 */
/* What core/sorter.c needs of the hypervisor's architecture. */
#ifndef ARCH_H
#define ARCH_H

#include <stdint.h>

static inline uint64_t arch_device_read64(const volatile void *at)
{
    return *(const volatile uint64_t *)at;
}

static inline void arch_device_write64(volatile void *at, uint64_t value)
{
    *(volatile uint64_t *)at = value;
}

#endif
