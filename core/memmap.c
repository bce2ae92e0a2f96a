/* SPDX-License-Identifier: Apache-2.0 */
/* The only place that checks guest-physical addresses: against the regions of a VM, which are
 * constant after boot. It serves the copies of guest memory, the second stage, the queues of
 * virtual devices and the check of the image. */
#include "memmap.h"

#include "arch_types.h"

#define MMIO_ALIGN UINT64_C(0x1000)

bool memmap_ram(const struct memmap *map, gpa_t gpa, uint64_t size, hpa_t *hpa)
{
    for (unsigned i = 0; i < map->count; i++) {
        const struct sysimage_region *r = &map->regions[i];

        if (r->kind != SYSIMAGE_REGION_MMIO && size != 0 && memmap_has(r, gpa, size)) {
            *hpa = memmap_cpu_base(r) + (gpa - (gpa_t)r->gpa);
            return true;
        }
    }
    return false;
}

static bool inside(uint64_t start, uint64_t size, uint64_t outer, uint64_t outer_size)
{
    return start >= outer && start - outer <= outer_size && size <= outer_size - (start - outer);
}

static bool overlap(const struct sysimage_region *a, const struct sysimage_region *b)
{
    return a->gpa < b->gpa + b->size && b->gpa < a->gpa + a->size;
}

static bool detail_wrong(const struct sysimage_region *r)
{
    return (r->kind == SYSIMAGE_REGION_MMIO && (r->detail % 4U != 0 || r->detail >= r->size)) ||
           (r->kind == SYSIMAGE_REGION_SHARED && r->detail >= SYSIMAGE_MAX_SHARED);
}

bool memmap_for_dma(const struct memmap *map, const struct sysimage_region *r)
{
    for (unsigned i = 0; i < map->count; i++) {
        if (map->regions[i].kind == SYSIMAGE_REGION_DMA) {
            return r->kind == SYSIMAGE_REGION_DMA;
        }
    }
    return r->kind != SYSIMAGE_REGION_MMIO;
}

static const char *host_wrong(const struct sysimage_region *r, hpa_t ram_base, uint64_t ram_size)
{
    bool device = r->kind == SYSIMAGE_REGION_MMIO;

    if (!inside(r->hpa, r->size, 0, ARCH_HPA_LIMIT)) {
        return "a memory region beyond the machine's address space";
    }
    if (device) {
        return memmap_overlap(r->hpa, r->size, ram_base, ram_size) ? "a device in the board's RAM"
                                                                   : NULL;
    }
    return inside(r->hpa, r->size, ram_base, ram_size) ? NULL
                                                       : "a memory region outside the board's RAM";
}

static const char *region_check(const struct sysimage_region *r, hpa_t ram_base, uint64_t ram_size)
{
    uint64_t align = r->kind == SYSIMAGE_REGION_MMIO ? MMIO_ALIGN : ARCH_RAM_ALIGN;

    if (r->kind > SYSIMAGE_REGION_DMA) {
        return "a memory region of unknown kind";
    }
    if (r->size == 0 || !inside(r->gpa, r->size, 0, ARCH_GPA_LIMIT)) {
        return "a memory region that is empty or beyond the guest's address space";
    }
    if (((r->gpa | r->hpa | r->size) & (align - 1)) != 0) {
        return "a memory region that is not aligned";
    }
    if (detail_wrong(r)) {
        return "a reset register outside its device, or a shared region's id out of range";
    }
    return host_wrong(r, ram_base, ram_size);
}

const char *memmap_check(const struct memmap *map, hpa_t ram_base, uint64_t ram_size)
{
    for (unsigned i = 0; i < map->count; i++) {
        const char *wrong = region_check(&map->regions[i], ram_base, ram_size);

        for (unsigned j = 0; j < i && wrong == NULL; j++) {
            wrong =
                overlap(&map->regions[i], &map->regions[j]) ? "memory regions that overlap" : NULL;
        }
        if (wrong != NULL) {
            return wrong;
        }
    }
    return NULL;
}

bool memmap_covers(const struct memmap *map, uint64_t base, uint64_t size)
{
    for (unsigned i = 0; i < map->count; i++) {
        if (memmap_overlap(map->regions[i].hpa, map->regions[i].size, base, size)) {
            return true;
        }
    }
    return false;
}
