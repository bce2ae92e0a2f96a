/* SPDX-License-Identifier: Apache-2.0 */
/* Registers outside of the TLB: written ones, those that exceptions set, and those that guests do
 * not have. */
#include "machine.h"
#include "switched.h"
#include "timer.h"

#define ROUNDS 20U
#define SLICES_BURN 100000U
#define STATUS_KEPT (STATUS_IM | STATUS_CU0)
#define CAUSE_KEPT (CAUSE_IV | 3U << CAUSE_LINES_SHIFT)
#define HWRENA_KEPT 0x2000000fU
#define EBASE_KEPT 0x3ffff000U
#define INTCTL_KEPT 0x3e0U

CP0(hwrena, 7, 0)
CP0_READ(badinstrp, 8, 2)
CP0(nestedexc, 13, 5)
CP0(nestedepc, 14, 2)
CP0(errorepc, 30, 0)
CP0(kscratch2, 31, 3)
CP0(watchlo, 18, 0)
CP0(watchlo3, 18, 3)
CP0(watchhi, 19, 0)
CP0(perfctl, 25, 0)
CP0(perfcnt, 25, 1)
CP0(errctl, 26, 0)
CP0(cacheerr, 27, 0)
CP0(taglo, 28, 0)
CP0(datalo, 28, 1)
CP0(debug, 23, 0)
CP0(depc, 24, 0)
CP0(desave, 31, 0)
CP0(cdmmbase, 15, 2)
CP0(srsmap, 12, 3)
CP0(srsmap2, 12, 5)
CP0(guestctl1, 10, 4)
CP0(guestctl2, 10, 5)
CP0(gtoffset, 12, 7)

struct reg {
    uint32_t (*read)(void);
    void (*write)(uint32_t value);
    uint32_t bits; /* that keep what is written */
};

static const struct reg kept[] = {
    {cp0_read_userlocal, cp0_write_userlocal, ~0U},
    {cp0_read_hwrena, cp0_write_hwrena, HWRENA_KEPT},
    {cp0_read_kscratch1, cp0_write_kscratch1, ~0U},
    {cp0_read_kscratch2, cp0_write_kscratch2, ~0U},
    {cp0_read_nestedexc, cp0_write_nestedexc, STATUS_EXL | STATUS_ERL},
    {cp0_read_nestedepc, cp0_write_nestedepc, ~0U},
    {cp0_read_epc, cp0_write_epc, ~0U},
    {cp0_read_errorepc, cp0_write_errorepc, ~0U},
    {cp0_read_intctl, cp0_write_intctl, INTCTL_KEPT},
    {cp0_read_config, cp0_write_config, 7},
    {cp0_read_compare, cp0_write_compare, ~0U},
};

/* Registers of the processor that VMs do not have: a guest's write is ignored. */
static const struct reg absent[] = {
    {cp0_read_watchlo, cp0_write_watchlo, ~0U},     {cp0_read_watchlo3, cp0_write_watchlo3, ~0U},
    {cp0_read_watchhi, cp0_write_watchhi, ~0U},     {cp0_read_perfctl, cp0_write_perfctl, ~0U},
    {cp0_read_perfcnt, cp0_write_perfcnt, ~0U},     {cp0_read_errctl, cp0_write_errctl, ~0U},
    {cp0_read_cacheerr, cp0_write_cacheerr, ~0U},   {cp0_read_taglo, cp0_write_taglo, ~0U},
    {cp0_read_datalo, cp0_write_datalo, ~0U},       {cp0_read_debug, cp0_write_debug, ~0U},
    {cp0_read_depc, cp0_write_depc, ~0U},           {cp0_read_desave, cp0_write_desave, ~0U},
    {cp0_read_cdmmbase, cp0_write_cdmmbase, ~0U},   {cp0_read_srsctl, cp0_write_srsctl, ~0U},
    {cp0_read_srsmap, cp0_write_srsmap, ~0U},       {cp0_read_srsmap2, cp0_write_srsmap2, ~0U},
    {cp0_read_guestctl1, cp0_write_guestctl1, ~0U}, {cp0_read_guestctl2, cp0_write_guestctl2, ~0U},
    {cp0_read_gtoffset, cp0_write_gtoffset, ~0U},
};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

void registers_write(uint32_t value)
{
    for (unsigned int i = 0; i < COUNT_OF(kept); i++) {
        kept[i].write((value ^ i) & kept[i].bits);
    }
    cp0_write_cause(value & CAUSE_KEPT);
    cp0_write_status(value & STATUS_KEPT);
    cp0_write_ebase(0x80000000U | (value & EBASE_KEPT));
    __asm__ volatile("mthi %0\n\tmtlo %1" : : "r"(value), "r"(~value));
}

void registers_are_kept(struct result *r)
{
    uint32_t ebase = cp0_read_ebase(), status = cp0_read_status(), cause = cp0_read_cause();

    for (uint32_t n = 0; n < ROUNDS; n++) {
        uint32_t value = 0x9e3779b9U * (n + 1U);

        registers_write(value);
        machine_burn(SLICES_BURN);
        for (unsigned int i = 0; i < COUNT_OF(kept); i++) {
            expect(r, ((kept[i].read() ^ value ^ i) & kept[i].bits) == 0,
                   i << 24 | kept[i].read() >> 8);
        }
        expect(r, ((cp0_read_cause() ^ value) & CAUSE_KEPT) == 0, cp0_read_cause());
        expect(r, ((cp0_read_status() ^ value) & STATUS_KEPT) == 0, cp0_read_status());
        expect(r, ((cp0_read_ebase() ^ value) & EBASE_KEPT) == 0, cp0_read_ebase());
    }
    cp0_write_ebase(ebase);
    cp0_write_cause(cause);
    cp0_write_status(status);
    cp0_write_intctl(0);
}

static uint32_t seen[4];

static void note(uint32_t *to)
{
    to[0] = cp0_read_badvaddr();
    to[1] = cp0_read_badinstr();
    to[2] = cp0_read_badinstrp();
    to[3] = cp0_read_nestedepc();
}

static bool skip(struct trap_frame *frame, uint32_t code)
{
    if (code != EXCEPTION_ADDRESS_LOAD) {
        return false;
    }
    note(seen);
    frame->epc += 8; /* the branch and its slot */
    return true;
}

void registers_fault(uint32_t at)
{
    trap_set_exception(skip);
    __asm__ volatile(".set push\n\t.set noreorder\n\tb 1f\n\tlh $9, 1(%0)\n\tnop\n1:\n\t.set pop"
                     :
                     : "r"(at & ~3U)
                     : "$9");
}

/* BadVAddr, BadInstr, BadInstrP and NestedEPC after an exception, across switches. */
void exception_registers_are_kept(struct result *r)
{
    trap_set_exception(skip);
    for (uint32_t n = 0; n < ROUNDS; n++) {
        uint32_t now[4];

        __asm__ volatile(".set push\n\t.set noreorder\n\tb 1f\n\tlw $8, 1(%0)\n1:\n\t.set pop"
                         :
                         : "r"(n << 4)
                         : "$8");
        machine_burn(SLICES_BURN);
        note(now);
        for (unsigned int i = 0; i < 4; i++) {
            expect(r, now[i] == seen[i], now[i]);
        }
        expect(r, now[0] == (n << 4) + 1U, now[0]);
    }
    trap_set_exception(NULL);
}

void absent_registers_hold_nothing(struct result *r)
{
    if (switched_native) { /* where they exist */
        return;
    }
    for (unsigned int i = 0; i < COUNT_OF(absent); i++) {
        absent[i].write(0x12345678U);
        expect(r, absent[i].read() == 0, absent[i].read());
    }
}

#define CONFIG1_WR 0x8U
#define CONFIG1_PC 0x10U

/* Config1 names watch registers and performance counters only if they are there. */
void features_are_true(struct result *r)
{
    uint32_t config = cp0_read_config1();

    if ((config & CONFIG1_WR) != 0) {
        cp0_write_watchlo(0x1000U);
        expect(r, cp0_read_watchlo() == 0x1000U, config);
        cp0_write_watchlo(0);
    }
    if ((config & CONFIG1_PC) != 0) {
        cp0_write_perfcnt(0x1000U);
        expect(r, cp0_read_perfcnt() == 0x1000U, config);
    }
    expect(r, true, config);
}

static uint32_t matches;

static void note_match(void)
{
    matches++;
    cp0_write_compare(cp0_read_count() - 1U);
}

/* Count stays at `at`, and Compare is not met. */
static void stands_still(struct result *r, uint32_t at, uint32_t compare)
{
    uint32_t count;

    cp0_write_compare(compare);
    machine_burn(SLICES_BURN);
    expect(r, cp0_read_count() == at, cp0_read_count());
    __asm__ volatile("rdhwr %0, $2" : "=r"(count));
    expect(r, count == at, count);
    expect(r, (cp0_read_cause() & (CAUSE_DC | CAUSE_TI)) == CAUSE_DC, cp0_read_cause());
    expect(r, matches == 0, matches);
}

static void stop(void)
{
    cp0_write_cause(CAUSE_IV | CAUSE_DC);
    matches = 0;
}

/* Cause.DC stops Count, which can be written meanwhile, and goes on afterwards. Nothing has written
 * Count before, so it is the hypervisor's. */
void count_stops(struct result *r)
{
    uint32_t start = cp0_read_count();

    machine_on_timer(note_match);
    cp0_write_compare(start - 1U);
    machine_wake_by_timer(true);
    machine_interrupts(true);
    stop();
    cp0_write_count(0U - start);
    /* The hypervisor's Count with this offset meets each of these Compares. */
    stands_still(r, 0U - start, 1000U);
    for (uint32_t n = 1; n < ROUNDS; n++) {
        stands_still(r, 0U - start, n * SLICES_BURN + SLICES_BURN / 2);
    }
    cp0_write_compare(0U - start + 1000U);
    cp0_write_cause(CAUSE_IV);
    expect(r, (cp0_read_cause() & CAUSE_DC) == 0, cp0_read_cause());
    machine_burn(SLICES_BURN);
    expect(r, matches == 1, matches);
    expect(r, cp0_read_count() + start - SLICES_BURN / 2 < SLICES_BURN * 2, cp0_read_count());
    stop();
    stands_still(r, cp0_read_count(), cp0_read_count() + 1000U);
    cp0_write_cause(CAUSE_IV);
    machine_interrupts(false);
    machine_wake_by_timer(false);
    machine_on_timer(timer_again);
}

/* A written Count goes on, and does not meet Compare, which is far from it but not from other VMs'
 * Count. */
void written_count_is_kept(struct result *r)
{
    uint32_t start = cp0_read_count() - 0x10000000U;

    cp0_write_count(start);
    cp0_write_compare(start + 0x0f000000U);
    for (uint32_t n = 0; n < ROUNDS; n++) {
        machine_burn(SLICES_BURN);
        expect(r, (cp0_read_cause() & CAUSE_TI) == 0, cp0_read_cause());
        expect(r, cp0_read_count() - start < 0x01000000U, cp0_read_count());
    }
}

/* HI and LO. */
void multiplier_is_kept(struct result *r)
{
    for (uint32_t n = 1; n <= ROUNDS; n++) {
        uint32_t hi, lo;

        __asm__ volatile("mthi %2\n\tmtlo %3\n\t.set push\n\t.set noreorder\n\tli $8, 50000\n"
                         "1: bnez $8, 1b\n\taddiu $8, $8, -1\n\t.set pop\n\tmfhi %0\n\tmflo %1"
                         : "=&r"(hi), "=&r"(lo)
                         : "r"(n * 0x01000193U), "r"(~n)
                         : "$8", "hi", "lo");
        expect(r, hi == n * 0x01000193U, hi);
        expect(r, lo == ~n, lo);
    }
}
