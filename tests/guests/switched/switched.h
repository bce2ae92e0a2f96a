/* SPDX-License-Identifier: Apache-2.0 */
/* State of an M5150 across switches between VCPUs. */
#ifndef SWITCHED_H
#define SWITCHED_H

#include <stdbool.h>
#include <stdint.h>

#include "cp0.h"

extern bool switched_native; /* without a hypervisor; owner: main() */

/* A test's result. */
struct result {
    uint32_t tried, wrong;
    uint32_t first; /* the first wrong value */
};

/* Counts a trial. */
static inline void expect(struct result *r, bool right, uint32_t value)
{
    r->first = !right && r->wrong == 0 ? value : r->first;
    r->tried++;
    r->wrong += right ? 0 : 1;
}

/* --- link.c --- */
void link_is_cleared(struct result *r);
void lladdr_is_own(struct result *r);

/* --- mmu.c --- */
void probe_misses(struct result *r);
void probe_hits(struct result *r);
void inhibits_are_kept(struct result *r);
void mmu_registers_are_kept(struct result *r);

/* Maps two pages of memory at an address. */
void mmu_map(uint32_t address, uintptr_t memory);

/* Invalidates all entries of the TLB, and adds one for KNOWN_PAGE. */
#define KNOWN_PAGE 0x00800000U
#define UNKNOWN_PAGE 0x00c00000U
void mmu_init(void);

/* Writes `value` to PageGrain, Wired and Context. */
void mmu_write(uint32_t value);

/* --- registers.c --- */
void registers_are_kept(struct result *r);
void exception_registers_are_kept(struct result *r);
void absent_registers_hold_nothing(struct result *r);
void multiplier_is_kept(struct result *r);

void features_are_true(struct result *r);
void count_stops(struct result *r);
void written_count_is_kept(struct result *r);

/* Writes `value` to every register that a switch must save. */
void registers_write(uint32_t value);

/* An address error at `at`, by other instructions than those of the tests: BadVAddr, BadInstr,
 * BadInstrP. */
void registers_fault(uint32_t at);

/* --- devices.c --- */
void console_partial_loads(struct result *r);
void console_partial_stores(struct result *r);
void console_load_at_own_offset(struct result *r);
void caches_nowhere(struct result *r);

#endif
