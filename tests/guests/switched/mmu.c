/* SPDX-License-Identifier: Apache-2.0 */
/* The TLB and its registers. */
#include "machine.h"
#include "switched.h"

#define ENTRIES 16U
#define ROUNDS 10000U
#define SLICES 20U
#define INVALID 0x400U
#define INDEX_P 0x80000000U
#define GRAIN 0xc0000000U /* RIE, XIE: bits RI and XI of EntryLo */
#define CONTEXT_BASE 0xff800000U
#define FLAGS 0x1fU /* cached, dirty, valid, global */
#define KNOWN_INDEX 3U
#define SOME_PAGES 3U

CP0(context, 4, 0)

static void set_entry(uint32_t index, uint32_t hi, uint32_t lo)
{
    cp0_write_pagemask(0);
    cp0_write_entryhi(hi);
    cp0_write_entrylo0(lo);
    cp0_write_entrylo1(lo);
    cp0_write_index(index);
    __asm__ volatile("tlbwi\n\tehb" : : : "memory");
}

void mmu_init(void)
{
    for (uint32_t i = 0; i < ENTRIES; i++) {
        set_entry(i, i == KNOWN_INDEX ? KNOWN_PAGE : INVALID, i == KNOWN_INDEX ? FLAGS : 0);
    }
}

void mmu_map(uint32_t address, uintptr_t memory)
{
    uint32_t frame = ((uint32_t)memory & 0x1fffffffU) >> 12;

    cp0_write_pagemask(0);
    cp0_write_entryhi(address);
    cp0_write_entrylo0(frame << 6 | FLAGS);
    cp0_write_entrylo1((frame + 1U) << 6 | FLAGS);
    cp0_write_index(KNOWN_INDEX);
    __asm__ volatile("tlbwi\n\tehb" : : : "memory");
}

void mmu_write(uint32_t value)
{
    cp0_write_pagegrain(value & GRAIN);
    cp0_write_wired(value >> 8 & 7U);
    cp0_write_context(value & CONTEXT_BASE);
}

/* The result of TLBP, read some time after it. */
static uint32_t probe(uint32_t address)
{
    cp0_write_entryhi(address);
    __asm__ volatile("tlbp\n\tehb" : : : "memory");
    machine_burn(100);
    return cp0_read_index();
}

void probe_misses(struct result *r)
{
    mmu_init();
    for (uint32_t n = 0; n < ROUNDS; n++) {
        uint32_t index = probe(UNKNOWN_PAGE);

        expect(r, (index & INDEX_P) != 0, index);
    }
}

void probe_hits(struct result *r)
{
    mmu_init();
    for (uint32_t n = 0; n < ROUNDS; n++) {
        uint32_t index = probe(KNOWN_PAGE);

        expect(r, index == KNOWN_INDEX, index);
    }
}

/* Waits for some ends of slices. */
static void wait(void)
{
    machine_burn(SLICES * 10000U);
}

/* RI and XI of entries stay while PageGrain makes EntryLo show neither. */
void inhibits_are_kept(struct result *r)
{
    mmu_init();
    cp0_write_pagegrain(GRAIN);
    for (uint32_t n = 0; n < 4; n++) {
        uint32_t lo = n << 30 | FLAGS;

        set_entry(KNOWN_INDEX, KNOWN_PAGE, lo);
        cp0_write_pagegrain(0);
        wait();
        expect(r, cp0_read_pagegrain() == 0, cp0_read_pagegrain());
        cp0_write_pagegrain(GRAIN);
        cp0_write_index(KNOWN_INDEX);
        __asm__ volatile("tlbr\n\tehb" : : : "memory");
        expect(r, cp0_read_entrylo0() == lo, cp0_read_entrylo0());
        expect(r, cp0_read_entrylo1() == lo, cp0_read_entrylo1());
    }
    cp0_write_pagegrain(0);
}

void mmu_registers_are_kept(struct result *r)
{
    mmu_init();
    cp0_write_pagegrain(GRAIN);
    for (uint32_t n = 0; n < SOME_PAGES; n++) {
        uint32_t hi = KNOWN_PAGE + (n << 13) + n, lo = GRAIN | n << 6 | FLAGS;

        cp0_write_entryhi(hi);
        cp0_write_entrylo0(lo);
        cp0_write_entrylo1(lo ^ 0x40U);
        cp0_write_pagemask(0x6000U);
        cp0_write_wired(n);
        cp0_write_context(n << 23);
        cp0_write_index(n + 5U);
        wait();
        expect(r, cp0_read_entryhi() == hi, cp0_read_entryhi());
        expect(r, cp0_read_entrylo0() == lo, cp0_read_entrylo0());
        expect(r, cp0_read_entrylo1() == (lo ^ 0x40U), cp0_read_entrylo1());
        expect(r, cp0_read_pagemask() == 0x6000U, cp0_read_pagemask());
        expect(r, cp0_read_wired() == n, cp0_read_wired());
        expect(r, (cp0_read_context() & CONTEXT_BASE) == n << 23, cp0_read_context());
        expect(r, (cp0_read_index() & ~INDEX_P) == n + 5U, cp0_read_index());
        expect(r, cp0_read_pagegrain() == GRAIN, cp0_read_pagegrain());
    }
    cp0_write_wired(0);
    cp0_write_pagegrain(0);
}
