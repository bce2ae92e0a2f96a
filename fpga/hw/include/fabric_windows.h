/* SPDX-License-Identifier: Apache-2.0 */
/* A VM's windows for DMA (fabric_window), of accelerators or of shared devices: both have the same
 * registers. */
#ifndef FABRIC_WINDOWS_H
#define FABRIC_WINDOWS_H

#include "arch_types.h"
#include "fabric_map.h"
#include "memmap.h"

#define FABRIC_WINDOWS_OF_VM (FABRIC_VM_WINDOWS_STRIDE / FABRIC_WINDOW_STRIDE)

static inline void fabric_window_set(volatile char *windows, unsigned number, ulong offset,
                                     uint64_t value)
{
    arch_device_write64(windows + number * FABRIC_WINDOW_STRIDE + offset, value);
}

/* Opens a window for each region of the VM that its devices may access: all memory, shared memory
 * included, or only that for DMA. The addresses of DMA are guest-physical. The size is written
 * last, because it opens the window. `windows`: the VM's first. */
static inline void fabric_windows_open(volatile char *windows, const struct memmap *map)
{
    unsigned used = 0;

    for (unsigned i = 0; i < map->count; i++) {
        const struct sysimage_region *r = &map->regions[i];

        if (used < FABRIC_WINDOWS_OF_VM && memmap_for_dma(map, r)) {
            /* readable and writable */
            fabric_window_set(windows, used, FABRIC_WINDOW_GUEST, r->gpa | 3U);
            fabric_window_set(windows, used, FABRIC_WINDOW_HOST, r->hpa);
            fabric_window_set(windows, used, FABRIC_WINDOW_SIZE, r->size);
            used++;
        }
    }
}

static inline void fabric_windows_close(volatile char *windows)
{
    for (unsigned i = 0; i < FABRIC_WINDOWS_OF_VM; i++) {
        fabric_window_set(windows, i, FABRIC_WINDOW_SIZE, 0);
    }
}

#endif
