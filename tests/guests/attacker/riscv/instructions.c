/* SPDX-License-Identifier: Apache-2.0 */
/* Every CSR, every instruction of the SYSTEM opcode. */
#include "attacker.h"
#include "platform.h"

#define CSRS 4096U
#define CSRRS_READ 0x00002573U  /* csrrs a0, csr, zero */
#define CSRRS_WRITE 0x0005a573U /* csrrs a0, csr, a1: a write, of no bits if a1 is 0 */
#define CSRRW 0x00059573U       /* csrrw a0, csr, a1 */
#define SYSTEM 0x73U
#define SYSTEM_MEMORY 0x4073U /* funct3 4: hypervisor loads and stores (HLV, HSV) */

static bool machine_has_stimecmp; /* owner: every_csr() */

/* CSRs accessible in VS-mode. All others raise an illegal instruction exception. */
static bool csr_is_ours(unsigned int csr)
{
    static const uint16_t ours[] = {0x001, 0x002, 0x003, 0x100, 0x104, 0x105, 0x106, 0x10a, 0x140,
                                    0x141, 0x142, 0x143, 0x144, 0x180, 0xc00, 0xc01, 0xc02};

    for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
        if (ours[i] == csr) {
            return true;
        }
    }
    return csr == CSR_STIMECMP && machine_has_stimecmp;
}

/* CSRs accessible in VU-mode: floating point and counters. */
static bool csr_is_users(unsigned int csr)
{
    return csr <= 3 || csr >= 0xc00;
}

static bool csr_allowed(unsigned int csr, enum mode mode, bool write)
{
    return csr_is_ours(csr) && (mode == SUPERVISOR || csr_is_users(csr)) && (!write || csr < 0xc00);
}

/* Refused writes set every bit; allowed writes set no bit, so that the state is unchanged. */
static void try_csr(struct verdict *v, unsigned int csr, enum mode mode, bool write)
{
    bool allowed = csr_allowed(csr, mode, write);
    struct caught c =
        try_word(mode, (write ? CSRRS_WRITE : CSRRS_READ) | csr << 20, 0, allowed ? 0 : ~0UL);

    judge(v, c.cause == (allowed ? CAUSE_NONE : CAUSE_ILLEGAL_INSTRUCTION),
          "CSR 0x%x: cause %ld, value 0x%lx", csr, (long)c.cause, c.value);
}

/* arg: 0 reads, 1 writes; optionally BY_USER. */
void every_csr(struct verdict *v, uint64_t arg)
{
    machine_has_stimecmp = trap_probe_stimecmp();
    for (unsigned int csr = 0; csr < CSRS; csr++) {
        try_csr(v, csr, (arg & BY_USER) != 0 ? USER : SUPERVISOR, (arg & 1U) != 0);
    }
}

/*
 * Sets and clears all bits of each accessible CSR, then restores it. The bits that stick do not
 * matter.
 */
void wild_csrs(struct verdict *v, uint64_t arg)
{
    static const uint16_t csrs[] = {0x003, 0x100, 0x104, 0x106, 0x10a, 0x140,
                                    0x141, 0x142, 0x143, 0x144, 0x180};

    (void)arg;
    for (size_t i = 0; i < sizeof(csrs) / sizeof(csrs[0]); i++) {
        for (uint64_t value = 0; value <= 1; value++) {
            uint32_t word = CSRRW | (uint32_t)csrs[i] << 20;
            /* sstatus without SIE; a write of satp with an unsupported mode has no effect */
            struct caught c =
                try_word(SUPERVISOR, word, 0, (0 - value) & (csrs[i] == 0x100 ? ~2UL : ~0UL));

            judge(v, c.cause == CAUSE_NONE, "CSR 0x%x: cause %ld", csrs[i], (long)c.cause);
            (void)try_word(SUPERVISOR, word, 0, c.value);
        }
    }
}

/*
 * Instructions of funct3 0 allowed in VS-mode: ecall, ebreak (breakpoint), sret, sfence.vma,
 * Svinval.
 */
static uint64_t system_cause(uint32_t immediate, enum mode mode)
{
    if (immediate == 0) {
        return mode == USER ? CAUSE_ECALL_U : CAUSE_NONE;
    }
    if (immediate == 1) {
        return CAUSE_BREAKPOINT;
    }
    if (mode == SUPERVISOR && (immediate == 0x102 || (immediate >> 5) == 0x09)) {
        return CAUSE_NONE;
    }
    return CAUSE_ILLEGAL_INSTRUCTION;
}

/* Svinval, and Zawrs in both modes, depend on the machine: both results are accepted. */
static bool is_optional(uint32_t immediate, enum mode mode)
{
    bool zawrs = immediate == 0x00d || immediate == 0x01d;

    return zawrs || (mode == SUPERVISOR &&
                     ((immediate >> 5) == 0x0b || immediate == 0x180 || immediate == 0x181));
}

void every_system(struct verdict *v, uint64_t arg)
{
    enum mode mode = (arg & BY_USER) != 0 ? USER : SUPERVISOR;

    for (uint32_t immediate = 0; immediate < 4096; immediate++) {
        struct caught c;

        if (immediate == WORD_WFI >> 20 && mode == SUPERVISOR) {
            continue; /* wfi would not wake up */
        }
        c = try_word(mode, SYSTEM | immediate << 20, 0, 0);
        judge(v,
              c.cause == system_cause(immediate, mode) ||
                  (is_optional(immediate, mode) && c.cause == CAUSE_NONE),
              "SYSTEM 0x%x: cause %ld", immediate, (long)c.cause);
    }
}

/* HLV, HLVX, HSV and reserved encodings, with a valid address: only the privilege is missing. */
void every_guest_access(struct verdict *v, uint64_t arg)
{
    enum mode mode = (arg & BY_USER) != 0 ? USER : SUPERVISOR;

    for (uint32_t immediate = 0; immediate < 4096; immediate++) {
        struct caught c = try_word(mode, SYSTEM_MEMORY | 10U << 15 | immediate << 20, RAM_FREE, 0);

        judge(v, c.cause == CAUSE_ILLEGAL_INSTRUCTION, "SYSTEM 0x%x.4: cause %ld", immediate,
              (long)c.cause);
    }
}

/* Fences of every kind, with every register, repeatedly. */
void fences(struct verdict *v, uint64_t arg)
{
    static const uint32_t words[] = {
        0x12000073U, /* sfence.vma */
        0x12050073U, /* sfence.vma a0 */
        0x12b50073U, /* sfence.vma a0, a1 */
        0x0000100fU, /* fence.i */
        0x0ff0000fU, /* fence */
        0x8330000fU, /* fence.tso */
        0x0100000fU, /* pause */
    };

    (void)arg;
    for (unsigned int n = 0; n < 3000; n++) {
        struct caught c =
            try_word(SUPERVISOR, words[n % (sizeof(words) / sizeof(words[0]))], RAM_END + n, n);

        judge(v, c.cause == CAUSE_NONE, "fence %u: cause %ld", n, (long)c.cause);
    }
}

/* Reserved encodings. */
void illegal_words(struct verdict *v, uint64_t arg)
{
    static const uint32_t words[] = {0x00000000U,
                                     0xffffffffU,
                                     0x0000000bU,
                                     0x0000002bU,
                                     0x0000005bU,
                                     0x0000007bU,
                                     0x02000057U /* vadd.vv */,
                                     0x0000006bU};

    (void)arg;
    for (unsigned int n = 0; n < 400; n++) {
        uint32_t word = words[n % (sizeof(words) / sizeof(words[0]))];
        struct caught c = try_word(n % 3 == 0 ? USER : SUPERVISOR, word, 0, 0);

        judge(v, c.cause == CAUSE_ILLEGAL_INSTRUCTION, "0x%x: cause %ld", word, (long)c.cause);
    }
}

/* WFI in user mode is illegal and does not put the VM to sleep. */
void user_wfi(struct verdict *v, uint64_t arg)
{
    struct caught c = try_word(USER, WORD_WFI, 0, 0);

    (void)arg;
    judge(v, c.cause == CAUSE_ILLEGAL_INSTRUCTION, "cause %ld", (long)c.cause);
}

/* State of sstatus that the handler finds after a fault. */
static uint64_t state_after(enum mode mode, uint32_t word, uint64_t cause, struct verdict *v)
{
    struct caught c = try_word(mode, word, REAL_HYPERVISOR, 0);

    judge(v, c.cause == cause, "%x: cause %ld", word, (long)c.cause);
    return c.sstatus & (SSTATUS_SPP | SSTATUS_SPIE | SSTATUS_SIE);
}

/*
 * A fault injected by the hypervisor leaves the same state as a breakpoint, which the hart delivers
 * to the guest directly: with interrupts on and off, from both modes, with vectored and direct
 * stvec.
 */
void fault_state(struct verdict *v, uint64_t arg)
{
    static const struct {
        uint32_t word;
        uint64_t cause;
    } ours[] = {{WORD_LD, CAUSE_LOAD_ACCESS},
                {WORD_SD, CAUSE_STORE_ACCESS},
                {WORD_JR, CAUSE_INSTRUCTION_ACCESS},
                {0x60002573U /* csrr a0, hstatus */, CAUSE_ILLEGAL_INSTRUCTION}};

    (void)arg;
    csr_write_sie(0);
    for (unsigned int n = 0; n < 8 * LENGTH_OF(ours); n++) {
        enum mode mode = (n & 1U) != 0 ? USER : SUPERVISOR;
        unsigned int which = n / 8;
        /* sret to user mode uses SPIE */
        uint64_t on = (n & 2U) != 0 ? SSTATUS_SIE | SSTATUS_SPIE : 0;
        uint64_t right, got;

        csr_write_stvec((uintptr_t)trap_entry | ((n & 4U) != 0 ? 1U : 0));
        csr_clear_sstatus(SSTATUS_SIE | SSTATUS_SPIE);
        csr_set_sstatus(on);
        right = state_after(mode, WORD_EBREAK, CAUSE_BREAKPOINT, v);
        csr_clear_sstatus(SSTATUS_SIE | SSTATUS_SPIE);
        csr_set_sstatus(on);
        got = state_after(mode, ours[which].word, ours[which].cause, v);
        judge(v, got == right, "%x in case %u: 0x%lx, not 0x%lx", ours[which].word, n % 8, got,
              right);
    }
    csr_clear_sstatus(SSTATUS_SIE);
    csr_write_stvec((uintptr_t)trap_entry);
}

static void leave_floats(struct verdict *v)
{
    for (uint32_t f = 0; f < 32; f++) { /* fmv.d.x fN, a1 */
        struct caught c = try_word(SUPERVISOR, 0xf2058053U | f << 7, 0, ~0UL);

        judge(v, c.cause == CAUSE_NONE, "f%u: cause %ld", f, (long)c.cause);
    }
}

/*
 * Repeatedly writes state that a context switch must replace. Over many slices of the other VCPUs,
 * a leak would at some point change registers that the witness has just filled.
 */
void state_left(struct verdict *v, uint64_t arg)
{
    static const struct {
        uint16_t csr;
        uint64_t value;
    } left[] = {{0x003, 0x7f},      {0x106, 0},    {0x140, ~0UL}, {0x141, ~1UL},
                {0x142, ~0UL >> 1}, {0x143, ~0UL}, {0x10a, ~0UL}, {CSR_STIMECMP, 0}};
    uint64_t end = csr_read_time() + 30UL * MS;

    (void)arg;
    csr_set_sstatus(SSTATUS_FS);
    while (csr_read_time() < end) {
        leave_floats(v);
        for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++) {
            (void)try_word(SUPERVISOR, CSRRW | (uint32_t)left[i].csr << 20, 0, left[i].value);
        }
    }
}
