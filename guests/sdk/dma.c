/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the VM's memory for DMA in the device tree (dma.h). */
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
    *bytes = (size_t)fdt_cell64(reg, length, 2);
    return (void *)(uintptr_t)fdt_cell64(reg, length, 0);
}
