/* SPDX-License-Identifier: Apache-2.0 */
/* A VM's guest-physical memory map. Every address from a guest is checked here and nowhere else.
 * Its regions are in the system image and constant after boot, so it needs no lock. */
#ifndef MEMMAP_H
#define MEMMAP_H

#include "arch_types.h"
#include "sysimage.h"
#include "types.h"

/* Constant after boot. */
struct memmap {
    const struct sysimage_region *regions; /* `count` of them, in the image */
    unsigned count;
};

/*
 * The one range check for guest addresses: whether [gpa, gpa + size) lies entirely in the region;
 * size is not 0. No sum is computed, because it could wrap. For gpa below the region, the
 * difference is larger than any region: memmap_check() has checked that regions are below
 * ARCH_GPA_LIMIT.
 */
static inline bool memmap_has(const struct sysimage_region *r, gpa_t gpa, uint64_t size)
{
    gpa_t offset = gpa - (gpa_t)r->gpa;

    return offset < (gpa_t)r->size && size <= (gpa_t)r->size - offset;
}

/* Whether [a, a + a_size) and [b, b + b_size) have a common byte; neither wraps around 2^64. By
 * differences, because the end of a range may be 2^64. */
static inline bool memmap_overlap(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size)
{
    return a - b < b_size || b - a < a_size;
}

/* A 64-bit field as an address; if it does not fit in a register, an address that no memory has. */
static inline gpa_t memmap_address(uint64_t field)
{
    return field == (gpa_t)field ? (gpa_t)field : ~(gpa_t)0;
}

/* The host-physical start of the region for CPUs, of VMs and of the hypervisor; devices use
 * `hpa`. */
static inline hpa_t memmap_cpu_base(const struct sysimage_region *r)
{
    return (hpa_t)(r->kind == SYSIMAGE_REGION_DMA ? r->hpa + ARCH_DMA_ALIAS : r->hpa);
}

/* Whether devices of the fabric may access the region for the VM of this map. */
bool memmap_for_dma(const struct memmap *map, const struct sysimage_region *r);

/* The host-physical address of the guest-physical address, which is in the region, not one for
 * DMA. */
static inline hpa_t memmap_host(const struct sysimage_region *r, gpa_t gpa)
{
    return (hpa_t)r->hpa + (gpa - (gpa_t)r->gpa);
}

/*
 * Host address of the guest RAM range [gpa, gpa + size), shared memory included. Returns true and
 * sets *hpa if the whole range lies in one RAM region; false if any byte does not, if size is 0, or
 * if the range wraps around 2^64. Device regions do not count: the hypervisor never accesses
 * devices for a guest.
 */
bool memmap_ram(const struct memmap *map, gpa_t gpa, uint64_t size, hpa_t *hpa);

/*
 * Checks all regions: none empty, unaligned for its kind, beyond the guest's or the host's address
 * space, or overlapping another in guest-physical space; RAM inside [ram_base, ram_base + ram_size)
 * of the host, devices outside of it. Returns NULL if all is well, else what is wrong.
 */
const char *memmap_check(const struct memmap *map, hpa_t ram_base, uint64_t ram_size);

/* Whether any region, including devices, overlaps host memory [base, base + size), which is not
 * empty and does not wrap around 2^64. The map has passed memmap_check(). */
bool memmap_covers(const struct memmap *map, uint64_t base, uint64_t size);

#endif
