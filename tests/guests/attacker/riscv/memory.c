/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses outside the guest's memory and devices. */
#include <string.h>

#include "attacker.h"
#include "platform.h"

#define LIST_END 1UL /* not an address of any list */
#define PATTERN 0x5ca1ab1e0ddba11UL

struct access {
    uint64_t kind;
    uint32_t word; /* a0: address, a1: value */
    uint64_t cause;
};

static const struct access accesses[] = {
    {LOADS, 0x00050503U, CAUSE_LOAD_ACCESS},    /* lb */
    {LOADS, 0x00055503U, CAUSE_LOAD_ACCESS},    /* lhu */
    {LOADS, 0x00052503U, CAUSE_LOAD_ACCESS},    /* lw */
    {LOADS, 0x00053503U, CAUSE_LOAD_ACCESS},    /* ld */
    {LOADS, 0x00016108U, CAUSE_LOAD_ACCESS},    /* c.ld a0, 0(a0), then c.nop's half */
    {STORES, 0x00b50023U, CAUSE_STORE_ACCESS},  /* sb */
    {STORES, 0x00b51023U, CAUSE_STORE_ACCESS},  /* sh */
    {STORES, 0x00b52023U, CAUSE_STORE_ACCESS},  /* sw */
    {STORES, 0x00b53023U, CAUSE_STORE_ACCESS},  /* sd */
    {STORES, 0x0001e10cU, CAUSE_STORE_ACCESS},  /* c.sd a1, 0(a0) */
    {ATOMICS, 0x1005252fU, CAUSE_LOAD_ACCESS},  /* lr.w */
    {ATOMICS, 0x1005352fU, CAUSE_LOAD_ACCESS},  /* lr.d */
    {ATOMICS, 0x00b5252fU, CAUSE_STORE_ACCESS}, /* amoadd.w */
    {ATOMICS, 0x00b5352fU, CAUSE_STORE_ACCESS}, /* amoadd.d */
    {ATOMICS, 0x08b5352fU, CAUSE_STORE_ACCESS}, /* amoswap.d */
    {ATOMICS, 0xa0b5352fU, CAUSE_STORE_ACCESS}, /* amomax.d */
    {FLOATS, 0x00052507U, CAUSE_LOAD_ACCESS},   /* flw */
    {FLOATS, 0x00053507U, CAUSE_LOAD_ACCESS},   /* fld */
    {FLOATS, 0x00b53027U, CAUSE_STORE_ACCESS},  /* fsd */
    {EXECUTES, WORD_JR, CAUSE_INSTRUCTION_ACCESS},
};

static const uint64_t targets[TARGETS][18] = {
    [FIRMWARE] = {REAL_FIRMWARE, REAL_FIRMWARE + 0x1000, REAL_FIRMWARE + 0x40000,
                  REAL_HYPERVISOR - 8, LIST_END},
    /* text, data, page tables, stacks, the system image */
    [HYPERVISOR] = {REAL_HYPERVISOR, REAL_HYPERVISOR + 0x8000, REAL_HYPERVISOR + 0x10000,
                    REAL_HYPERVISOR + 0x40000, REAL_HYPERVISOR + 0x80000, REAL_HYPERVISOR + 0xc0000,
                    REAL_HYPERVISOR + 0x1ffff8, LIST_END},
    [WITNESS] = {REAL_WITNESS, REAL_WITNESS + 0x200000, REAL_WITNESS + 0x210000,
                 REAL_WITNESS + 0x3ffff8, LIST_END},
    [TICKER] = {REAL_TICKER, REAL_TICKER + 0x200000, REAL_TICKER + 0x210000, REAL_TICKER + 0x3ffff8,
                LIST_END},
    /* real address of the guest's memory, which is not its guest-physical address */
    [OWN_REAL] = {REAL_OWN, REAL_OWN + 0x200000, LIST_END},
    /* ROM, CLINT, virtio slots, fw_cfg, flash, PCIe; below and above the guest's devices */
    [MMIO] = {0x1000, FINISHER_BASE - 8, RTC_BASE + RTC_SIZE + 4, 0x102000, 0x2000000, 0x200bff8,
              PLATFORM_PLIC_BASE - 8, PLATFORM_PLIC_BASE + PLIC_SIZE, PLATFORM_UART_BASE - 8,
              PLATFORM_UART_BASE + UART_SIZE, 0x10001000, 0x10008000, 0x10100000, PLATFORM_HOLE,
              0x20000000, 0x30000000, LIST_END},
    [EDGE] = {0, RAM_BASE - 8, RAM_END, RAM_END + 0x1000, SHARED_BASE - 8, SHARED_END, LIST_END},
    [SUPERPAGE] = {RAM_BASE - 0x200000, RAM_END + 0x200000 - 8, 0xbffffff8, 0xc0000000, 0x7ffffff8,
                   0x100000000, LIST_END},
    /*
     * low bits as the guest's memory, beyond the range of the second stage; ends of the address
     * space
     */
    [BEYOND] = {RAM_BASE + (1UL << 38), RAM_BASE + (1UL << 40), RAM_BASE + (1UL << 41),
                RAM_BASE + (1UL << 56), RAM_BASE + (1UL << 63), ~0UL - 7, 1UL << 63, LIST_END},
};

static void try_access(struct verdict *v, const struct access *a, uint64_t address, enum mode mode)
{
    struct caught c = try_word(mode, a->word, address, PATTERN);

    /* On one hart QEMU performs an atomic as a load and a store, and the load faults. */
    bool right = c.cause == a->cause || (a->kind == ATOMICS && c.cause == CAUSE_LOAD_ACCESS);

    judge(v, right && (a->kind == EXECUTES ? c.sepc : c.stval) == address,
          "%x at 0x%lx: cause %ld, stval 0x%lx, value 0x%lx", a->word, address, (long)c.cause,
          c.stval, c.value);
}

void memory_attack(struct verdict *v, uint64_t arg)
{
    const uint64_t *target = targets[arg >> 8];
    enum mode mode = (arg & BY_USER) != 0 ? USER : SUPERVISOR;

    for (size_t i = 0; i < sizeof(accesses) / sizeof(accesses[0]); i++) {
        for (size_t n = 0; (accesses[i].kind & arg) != 0 && target[n] != LIST_END; n++) {
            try_access(v, &accesses[i], target[n] + ((arg & ODD) != 0 ? 1 : 0), mode);
        }
    }
}

/* Accesses whose last bytes only are outside. A store must not be performed partially. */
void straddling_attack(struct verdict *v, uint64_t arg)
{
    static const uint64_t ends[] = {RAM_END, SHARED_END};

    (void)arg;
    for (size_t e = 0; e < sizeof(ends) / sizeof(ends[0]); e++) {
        volatile uint64_t *last = (volatile uint64_t *)(ends[e] - 8);

        *last = PATTERN;
        for (uint64_t back = 1; back < 8; back++) {
            struct caught load = try_word(SUPERVISOR, WORD_LD, ends[e] - back, 0);
            struct caught store = try_word(SUPERVISOR, WORD_SD, ends[e] - back, 0);

            judge(v, load.cause == CAUSE_LOAD_ACCESS, "ld %lu before 0x%lx: cause %ld", back,
                  ends[e], (long)load.cause);
            judge(v, store.cause == CAUSE_STORE_ACCESS && *last == PATTERN,
                  "sd %lu before 0x%lx: cause %ld", back, ends[e], (long)store.cause);
        }
    }
}

/*
 * A cache-block instruction on all targets. If it works on the guest's memory, it must fault
 * elsewhere.
 */
static void try_block(struct verdict *v, uint32_t word, enum mode mode)
{
    static volatile uint8_t own[256] __attribute__((aligned(256)));
    uint64_t here = try_word(mode, word, (uintptr_t)own, 0).cause;
    uint64_t there = here == CAUSE_NONE ? CAUSE_STORE_ACCESS : CAUSE_ILLEGAL_INSTRUCTION;

    judge(v, here == CAUSE_NONE || here == CAUSE_ILLEGAL_INSTRUCTION, "%x of its own: cause %ld",
          word, (long)here);
    for (size_t i = 0; i < TARGETS; i++) {
        for (size_t n = 0; targets[i][n] != LIST_END; n++) {
            struct caught c = try_word(mode, word, targets[i][n], 0);

            judge(v, c.cause == there, "%x at 0x%lx: cause %ld", word, targets[i][n],
                  (long)c.cause);
        }
    }
}

/* Zicbom and Zicboz, which are optional: INVAL, CLEAN, FLUSH, ZERO. */
void cache_blocks(struct verdict *v, uint64_t arg)
{
    (void)arg;
    for (uint32_t n = 0; n < 4; n++) {
        try_block(v, 0x0005200fU | (n == 3 ? 4U : n) << 20, SUPERVISOR);
    }
}

/* An instruction whose second half is outside the memory. */
void half_instruction(struct verdict *v, uint64_t arg)
{
    volatile uint16_t *last = (volatile uint16_t *)(RAM_END - 2);
    struct caught c;

    (void)arg;
    *last = 0x0013; /* the lower half of a nop */
    __asm__ volatile("fence.i" ::: "memory");
    c = guarded(SUPERVISOR, RAM_END - 2, 0, 0);
    judge(v, c.cause == CAUSE_INSTRUCTION_ACCESS && c.sepc == RAM_END - 2, "cause %ld at 0x%lx",
          (long)c.cause, c.sepc);
}

/* Shared memory must not be executable. */
void execute_shared(struct verdict *v, uint64_t arg)
{
    (void)arg;
    for (uint64_t at = SHARED_BASE; at < SHARED_END; at += SHARED_SIZE / 4) {
        struct caught c;

        *(volatile uint32_t *)at = WORD_RET;
        __asm__ volatile("fence.i" ::: "memory");
        c = guarded(SUPERVISOR, at, 0, 0);
        judge(v, c.cause == CAUSE_INSTRUCTION_ACCESS, "executed 0x%lx: cause %ld", at,
              (long)c.cause);
    }
}

/* After a restart the memory is clear: nothing is left of the contents written by memory_fill. */
void memory_clean(struct verdict *v, uint64_t arg)
{
    volatile uint64_t *words = (volatile uint64_t *)RAM_FREE;
    unsigned long left = 0;

    (void)arg;
    for (size_t i = 0; i < 0x200000 / sizeof(*words); i++) {
        left += words[i] != 0;
    }
    judge(v, left == 0, "%lu words that are not 0", left);
}

/* Fills the memory for memory_clean, which must be the next attack. */
void memory_fill(struct verdict *v, uint64_t arg)
{
    (void)arg;
    memset((void *)RAM_FREE, 0xa5, 0x200000);
    judge(v, *(volatile uint8_t *)(RAM_FREE + 0x1fffff) == 0xa5, "memory does not hold");
}

/* Self-modifying code, with and without fence.i: only old or new code may run. */
void self_modifying(struct verdict *v, uint64_t arg)
{
    volatile uint32_t *code = (volatile uint32_t *)(RAM_FREE + 0x1ff8); /* at the end of a page */

    (void)arg;
    for (uint32_t n = 0; n < 2000; n++) {
        struct caught c;

        code[0] = 0x00000513U | (n & 0x7ffU) << 20; /* li a0, n */
        code[1] = WORD_RET;
        if (n % 2 == 0) {
            __asm__ volatile("fence.i" ::: "memory");
        }
        c = guarded(SUPERVISOR, (uintptr_t)code, 0, 0);
        judge(v, c.cause == CAUSE_NONE && (n % 2 != 0 || c.value == (n & 0x7ffU)),
              "%u: cause %ld, value %lu", n, (long)c.cause, c.value);
    }
}
