/* SPDX-License-Identifier: Apache-2.0 */
/* Sv39 and Sv39x4 page tables, built once at boot (Privileged Architecture 1.12, sections 4.4 and
 * 8.5.1). */
#include "internal.h"

#define TABLES 80U
#define ENTRIES 512U
#define ROOT_X4 2048U

static uint64_t tables[TABLES][ENTRIES] PACKED_ALIGN(4096);
static uint64_t roots_x4[SYSIMAGE_MAX_VMS][ROOT_X4] PACKED_ALIGN(16384);
static unsigned tables_used, roots_used; /* owner: this file, boot hart */

static uint64_t *table_new(void)
{
    return tables_used < TABLES ? tables[tables_used++] : NULL;
}

uint64_t *pagetable_root_x4(void)
{
    return roots_used < SYSIMAGE_MAX_VMS ? roots_x4[roots_used++] : NULL;
}

/* The entry that maps `va` at `level` (0: 4 KiB, 1: 2 MiB, 2: 1 GiB); allocates the tables above
 * it. */
static uint64_t *entry_at(const struct pagetable *pt, uint64_t va, unsigned level)
{
    uint64_t *entry = &pt->root[(va >> 30) & ((1U << pt->root_bits) - 1U)];

    for (unsigned at = 2; at > level; at--) {
        uint64_t *table = (uint64_t *)(ulong)((*entry >> 10) << 12);

        if ((*entry & PTE_V) == 0) {
            table = table_new();
            if (table == NULL) {
                return NULL;
            }
            *entry = ((ulong)table >> 12) << 10 | PTE_V;
        }
        entry = &table[(va >> (12U + 9U * (at - 1U))) & (ENTRIES - 1U)];
    }
    return entry;
}

uint64_t *pagetable_entry_2m(const struct pagetable *pt, uint64_t va)
{
    return entry_at(pt, va, 1);
}

uint64_t *pagetable_entry_4k(const struct pagetable *pt, uint64_t va)
{
    return entry_at(pt, va, 0);
}

bool pagetable_map(const struct pagetable *pt, uint64_t va, hpa_t pa, uint64_t size, ulong flags)
{
    while (size > 0) {
        unsigned level = 2;
        uint64_t page = UINT64_C(1) << 30;
        uint64_t *entry;

        while (level > 0 && (((va | pa) & (page - 1U)) != 0 || size < page)) {
            level--;
            page >>= 9;
        }
        entry = entry_at(pt, va, level);
        if (entry == NULL) {
            return false;
        }
        *entry = (pa >> 12) << 10 | flags | PTE_V;
        va += page;
        pa += page;
        size -= size < page ? size : page;
    }
    return true;
}
