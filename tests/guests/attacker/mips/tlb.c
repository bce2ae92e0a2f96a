/* SPDX-License-Identifier: Apache-2.0 */
/* The guest TLB of the processor: entries with arbitrary contents. */
#include "attacker.h"

#define ENTRIES 16U
#define PAGE_A 0x00800000U
#define PAGE_STEP 0x2000U
#define FLAGS 0x1fU /* cached, dirty, valid, global */
#define FLAG_DIRTY 0x4U
#define FLAG_VALID 0x2U
#define ENTRYHI_INVALID 0x400U
#define WORD_LOAD WORD_ACCESS(0x23)
#define WORD_STORE WORD_ACCESS(0x2b)
#define ENTRYLO_RI 0x80000000U
#define ENTRYLO_XI 0x40000000U
#define GRAIN_IEC 0x08000000U /* separate exception codes for read and execute inhibit */
#define CODE_MACHINE_CHECK 24U
#define CODE_READ_INHIBIT 19U
#define CODE_EXECUTE_INHIBIT 20U

static volatile uint32_t pages[2][1024] __attribute__((aligned(8192)));

static uint32_t frame_of(const volatile void *memory)
{
    return ((uint32_t)(uintptr_t)memory & 0x1fffffffU) >> 12 << 6;
}

static void set_entry(uint32_t index, uint32_t hi, uint32_t lo0, uint32_t lo1)
{
    cp0_write_pagemask(0);
    cp0_write_entryhi(hi);
    cp0_write_entrylo0(lo0);
    cp0_write_entrylo1(lo1);
    cp0_write_index(index);
    __asm__ volatile("tlbwi\n\tehb" : : : "memory");
}

static uint32_t entry_hi(uint32_t index)
{
    cp0_write_index(index);
    __asm__ volatile("tlbr\n\tehb" : : : "memory");
    return cp0_read_entryhi();
}

static void clear_all(void)
{
    for (uint32_t i = 0; i < ENTRIES; i++) {
        set_entry(i, ENTRYHI_INVALID, 0, 0);
    }
}

/*
 * After context switches, entries are those this guest wrote, or invalid; never those of another
 * VM.
 */
void tlb_is_its_own(struct verdict *v, uint64_t arg)
{
    (void)arg;
    clear_all();
    for (unsigned int round = 0; round < 4; round++) {
        for (uint32_t i = 0; i < ENTRIES; i++) {
            set_entry(i, PAGE_A + PAGE_STEP * (i + 16U * round), frame_of(pages) | FLAGS,
                      frame_of(pages[1]) | FLAGS);
        }
        spin(5UL * MS); /* lets other VMs run */
        for (uint32_t i = 0; i < ENTRIES; i++) {
            uint32_t hi = entry_hi(i);

            judge(v, (hi & 0xffffe000U) == PAGE_A + PAGE_STEP * (i + 16U * round),
                  "entry %u: EntryHi 0x%x", i, hi);
        }
    }
    pages[0][5] = 0x1234U;
    judge(v, try_word(0x8c840000U, PAGE_A + PAGE_STEP * 48U + 20U, 0).value == 0x1234U,
          "its page is another");
    clear_all();
}

/* Entries for a page at every 16 MiB of the physical range, and around the guest's memory. */
void tlb_everywhere(struct verdict *v, uint64_t arg)
{
    (void)arg;
    for (uint32_t frame = 0x40U; frame < 0x100000U; frame += 0x1000U) {
        struct caught c;

        set_entry(2, PAGE_A, frame << 6 | FLAGS, frame << 6 | 1U << 6 | FLAGS);
        c = try_word(WORD_LOAD, PAGE_A, 0);
        judge(v, c.code == EXCEPTION_BUS_DATA, "load of page 0x%x: code %u", frame, c.code);
        c = try_word(WORD_STORE, PAGE_A, 0);
        judge(v, c.code == EXCEPTION_BUS_DATA, "store to page 0x%x: code %u", frame, c.code);
        c = guarded(PAGE_A, 0, 0);
        judge(v, c.code == EXCEPTION_BUS_FETCH, "execution of page 0x%x: code %u", frame, c.code);
    }
    clear_all();
}

/* TLBWI; JR $31 */
static struct caught write_entry_guarded(uint32_t index)
{
    cp0_write_index(index);
    return try_word(0x42000002U, 0, 0);
}

/* Two entries for one page. */
void tlb_twice(struct verdict *v, uint64_t arg)
{
    struct caught c;

    (void)arg;
    clear_all();
    set_entry(0, PAGE_A, frame_of(pages) | FLAGS, frame_of(pages[1]) | FLAGS);
    for (uint32_t i = 1; i < ENTRIES; i++) {
        c = write_entry_guarded(i);
        judge(v, c.code == NO_EXCEPTION || c.code == CODE_MACHINE_CHECK, "entry %u: code %u", i,
              c.code);
        c = try_word(WORD_LOAD, PAGE_A, 0);
        judge(v, c.code == NO_EXCEPTION || c.code == CODE_MACHINE_CHECK, "load: code %u", c.code);
    }
    clear_all();
}

/* TLBWR, TLBP, TLBR, TLBINV and TLBINVF with pseudo-random registers. */
void tlb_random(struct verdict *v, uint64_t arg)
{
    static const uint32_t words[] = {0x42000006U, 0x42000008U, 0x42000001U, 0x42000003U,
                                     0x42000004U};
    uint64_t state = 77;

    (void)arg;
    for (unsigned int n = 0; n < 3000; n++) {
        uint32_t word = words[n % LENGTH_OF(words)];
        struct caught c;

        cp0_write_entryhi((uint32_t)random_next(&state));
        cp0_write_entrylo0((uint32_t)random_next(&state));
        cp0_write_entrylo1((uint32_t)random_next(&state));
        cp0_write_pagemask(n % 3 == 0 ? (uint32_t)random_next(&state) : 0);
        cp0_write_wired((uint32_t)random_next(&state) & 15U);
        cp0_write_index((uint32_t)random_next(&state));
        c = try_word(word, 0, 0);
        judge(v, c.code == NO_EXCEPTION || c.code == CODE_MACHINE_CHECK, "word 0x%x: code %u", word,
              c.code);
    }
    cp0_write_wired(0);
    cp0_write_pagemask(0);
    clear_all();
}

/* A protection violation raises an exception in this guest only. */
void tlb_protection(struct verdict *v, uint64_t arg)
{
    struct caught c;

    (void)arg;
    clear_all();
    set_entry(1, PAGE_A, (frame_of(pages) | FLAGS) & ~FLAG_DIRTY,
              (frame_of(pages[1]) | FLAGS) & ~FLAG_VALID);
    c = try_word(WORD_LOAD, PAGE_A, 0);
    judge(v, c.code == NO_EXCEPTION, "load: code %u", c.code);
    c = try_word(WORD_STORE, PAGE_A, 0);
    judge(v, c.code == EXCEPTION_MODIFIED && c.badvaddr == PAGE_A,
          "store to what is clean: code %u", c.code);
    c = try_word(WORD_LOAD, PAGE_A + 0x1000U, 0);
    judge(v, c.code == EXCEPTION_TLB_LOAD && c.badvaddr == PAGE_A + 0x1000U,
          "load of what is invalid: code %u", c.code);
    clear_all();
}

/* Read and execute inhibit, also after context switches, and the inhibit bits without PageGrain. */
void tlb_inhibits(struct verdict *v, uint64_t arg)
{
    (void)arg;
    clear_all();
    for (unsigned int round = 0; round < 4; round++) {
        bool on = round % 2 != 0;
        struct caught c;

        cp0_write_pagegrain(on ? ENTRYLO_RI | ENTRYLO_XI | GRAIN_IEC : 0);
        set_entry(1, PAGE_A, frame_of(pages) | FLAGS | ENTRYLO_RI,
                  frame_of(pages[1]) | FLAGS | ENTRYLO_XI);
        pages[1][0] = WORD_RETURN;
        pages[1][1] = WORD_NOP;
        spin(5UL * MS); /* lets other VMs run */
        c = try_word(WORD_LOAD, PAGE_A, 0);
        judge(v, c.code == (on ? CODE_READ_INHIBIT : NO_EXCEPTION), "load, round %u: code %u",
              round, c.code);
        c = try_word(WORD_LOAD, PAGE_A + 0x1000U, 0);
        judge(v, c.code == NO_EXCEPTION, "load of the other page, round %u: code %u", round,
              c.code);
        c = guarded(PAGE_A + 0x1000U, 0, 0);
        judge(v, c.code == (on ? CODE_EXECUTE_INHIBIT : NO_EXCEPTION),
              "execution, round %u: code %u", round, c.code);
    }
    cp0_write_pagegrain(0);
    clear_all();
}
