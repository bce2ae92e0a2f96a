/* SPDX-License-Identifier: Apache-2.0 */
#include "dma.h"

#include <stdint.h>

#include "fdt.h"

void *dma_memory(const void *fdt, size_t *bytes)
{
    uint32_t length;
    const void *reg = fdt_device(fdt, "shared-dma-pool", "reg", &length);

    if (reg == NULL) {
        return NULL;
    }
    /* Address and size have two cells each. */
    *bytes = (size_t)((uint64_t)fdt_cell(reg, length, 2) << 32 | fdt_cell(reg, length, 3));
    return (void *)(uintptr_t)((uint64_t)fdt_cell(reg, length, 0) << 32 | fdt_cell(reg, length, 1));
}
