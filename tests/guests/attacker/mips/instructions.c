/* SPDX-License-Identifier: Apache-2.0 */
/* Coprocessor 0, instructions of the root, and reserved encodings. */
#include <string.h>

#include "attacker.h"
#include "hcall_call.h"

#define REGISTERS 256U
#define REG(number, select) ((number) * 8U + (select))
#define COP0_RS(rs) (0x40000000U | (rs) << 21)

/* Registers whose value affects the execution of this guest. */
static bool is_vital(unsigned int reg)
{
    return reg == REG(12, 0) || reg == REG(13, 0) || reg == REG(15, 1) || reg == REG(11, 0);
}

void every_cp0_read(struct verdict *v, uint64_t arg)
{
    (void)arg;
    for (unsigned int reg = 0; reg < REGISTERS; reg++) {
        struct caught c = try_word(WORD_MFC0(reg), 0, 0);

        judge(v, c.code == NO_EXCEPTION, "register %u, %u: code %u", reg / 8, reg % 8, c.code);
    }
}

/* Writes each register with its current value. */
void every_cp0_write(struct verdict *v, uint64_t arg)
{
    (void)arg;
    for (unsigned int reg = 0; reg < REGISTERS; reg++) {
        struct caught c = try_word(WORD_MFC0(reg), 0, 0);

        c = try_word(WORD_MTC0(reg), c.value, 0);
        judge(v, c.code == NO_EXCEPTION, "register %u, %u: code %u", reg / 8, reg % 8, c.code);
    }
}

/* Writes each register with invalid values, then restores its value. */
void wild_cp0(struct verdict *v, uint64_t arg)
{
    static const uint32_t values[] = {~0U, 0, 0x80000000U, 0x7fffffffU, 0x55555555U, 0xaaaaaaaaU};

    (void)arg;
    for (unsigned int reg = 0; reg < REGISTERS; reg++) {
        uint32_t kept = try_word(WORD_MFC0(reg), 0, 0).value;

        for (size_t i = 0; i < LENGTH_OF(values) && !is_vital(reg); i++) {
            struct caught c = try_word(WORD_MTC0(reg), values[i], 0);

            judge(v, c.code == NO_EXCEPTION, "register %u, %u = 0x%x: code %u", reg / 8, reg % 8,
                  values[i], c.code);
        }
        (void)try_word(WORD_MTC0(reg), kept, 0);
    }
    /* Flips the kernel's bits of Status; BEV and the exception levels stay unchanged. */
    for (unsigned int bit = 0; bit < 32; bit++) {
        const uint32_t mine =
            STATUS_IE | STATUS_EXL | STATUS_ERL | STATUS_BEV | STATUS_UM | 1U << 29;
        uint32_t kept = cp0_read_status();

        if ((mine >> bit & 1U) == 0) {
            cp0_write_status(kept ^ 1U << bit);
            cp0_write_status(kept);
            judge(v, cp0_read_status() == kept, "Status 0x%x after bit %u", cp0_read_status(), bit);
        }
    }
}

/* Registers of the virtualization module are not accessible to a guest. */
void root_registers(struct verdict *v, uint64_t arg)
{
    static const unsigned int registers[] = {REG(10, 4), REG(10, 5), REG(10, 6),
                                             REG(11, 4), REG(12, 6), REG(12, 7)};

    (void)arg;
    for (size_t i = 0; i < LENGTH_OF(registers); i++) {
        struct caught c = try_word(WORD_MTC0(registers[i]), ~0U, 0);

        judge(v, c.code == NO_EXCEPTION || c.code == EXCEPTION_RESERVED, "register %u: code %u",
              registers[i], c.code);
        c = try_word(WORD_MFC0(registers[i]), 0, 0);
        judge(v, c.code == EXCEPTION_RESERVED || c.value == 0, "register %u: 0x%x", registers[i],
              c.value);
    }
}

/*
 * MFGC0, MTGC0, MFHGC0, MTHGC0 of every register; TLBGR, TLBGWI, TLBGINV, TLBGINVF, TLBGWR, TLBGP;
 * DERET.
 */
void root_instructions(struct verdict *v, uint64_t arg)
{
    static const uint32_t words[] = {0x42000009U, 0x4200000aU, 0x4200000bU, 0x4200000cU,
                                     0x4200000eU, 0x42000010U, 0x4200001fU};

    (void)arg;
    for (uint32_t kind = 0; kind < 4; kind++) {
        for (uint32_t reg = 0; reg < REGISTERS; reg++) {
            uint32_t word = COP0_RS(3U) | 4U << 16 | reg / 8U << 11 | kind << 9 | reg % 8U;
            struct caught c = try_word(word, 0, 0);

            judge(v, c.code == EXCEPTION_RESERVED, "word 0x%x: code %u", word, c.code);
        }
    }
    for (size_t i = 0; i < LENGTH_OF(words); i++) {
        struct caught c = try_word(words[i], 0, 0);

        judge(v, c.code == EXCEPTION_RESERVED, "word 0x%x: code %u", words[i], c.code);
    }
}

/*
 * RDPGPR and WRPGPR of every register with every previous set of SRSCtl must not access sets of
 * other VMs.
 */
void shadow_sets(struct verdict *v, uint64_t arg)
{
    uint32_t control = cp0_read_srsctl();

    (void)arg;
    judge(v, (control >> 26 & 0xfU) == 0 || (control & 0xfU) <= (control >> 26 & 0xfU),
          "SRSCtl 0x%x", control);
    for (uint32_t set = 0; set < 16; set++) {
        cp0_write_srsctl(set << 12 | set << 6 | set);
        for (uint32_t reg = 0; reg < 32; reg++) {
            /* rdpgpr $4, reg: a value of this guest or 0; wrpgpr $0, $5: no effect */
            struct caught c = try_word(COP0_RS(10U) | reg << 16 | 4U << 11, 0, 0);

            judge(v, c.code == NO_EXCEPTION, "rdpgpr $%u of set %u: code %u", reg, set, c.code);
            c = try_word(COP0_RS(14U) | 5U << 16, 0, ~0U);
            judge(v, c.code == NO_EXCEPTION, "wrpgpr of set %u: code %u", set, c.code);
        }
    }
    cp0_write_srsctl(control);
}

struct word_of {
    uint32_t word, code;
};

static void must_get(struct verdict *v, const struct word_of *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct caught c = try_word(words[i].word, 0x7fffffffU, 0x7fffffffU);

        judge(v, c.code == words[i].code, "word 0x%x: code %u", words[i].word, c.code);
    }
}

/* SYSCALL, BREAK, TEQ $0, $0, ADD that overflows, an odd load and store, COP2, MFHC0. */
void own_exceptions(struct verdict *v, uint64_t arg)
{
    static const struct word_of words[] = {
        {0x0000000cU, EXCEPTION_SYSCALL},
        {0x0000000dU, EXCEPTION_BREAKPOINT},
        {0x00000034U, 13U},
        {0x00850020U, 12U},
        {0x8c850000U, EXCEPTION_ADDRESS_LOAD},
        {0xac850000U, EXCEPTION_ADDRESS_STORE},
        {0x48040000U, EXCEPTION_COPROCESSOR},
        {0x40441000U, EXCEPTION_RESERVED},
    };

    (void)arg;
    for (unsigned int n = 0; n < 50; n++) {
        must_get(v, words, LENGTH_OF(words));
    }
}

/* Privileged instructions and kernel addresses in user mode. */
void user_mode(struct verdict *v, uint64_t arg)
{
    static const uint32_t words[] = {0x40046000U, 0x40846000U, 0x41606000U, 0x42000018U,
                                     0x42000020U, 0x42000002U, 0x42000001U, 0x42000008U,
                                     0x40646006U, 0x41501000U, 0x42000010U};
    struct caught c;

    (void)arg;
    for (size_t i = 0; i < LENGTH_OF(words); i++) {
        c = try_user_word(words[i], 0, 0);
        judge(v, c.code == EXCEPTION_COPROCESSOR && (c.cause >> 28 & 3U) == 0, "word 0x%x: code %u",
              words[i], c.code);
    }
    c = try_user_word(HYPCALL_WORD, 0, 0);
    judge(v, c.code == EXCEPTION_COPROCESSOR || c.code == EXCEPTION_RESERVED, "HYPCALL: code %u",
          c.code);
    c = try_user_word(0x8c850000U, 0x80001000U, 0);
    judge(v, c.code == EXCEPTION_ADDRESS_LOAD, "its kernel's memory: code %u", c.code);
    c = try_user_word(WORD_NOP, 0, 0);
    judge(v, c.code == NO_EXCEPTION, "nothing: code %u", c.code);
}

/* Encodings of SPECIAL, REGIMM, SPECIAL2 and SPECIAL3 that no MIPS defines; opcodes of MIPS64. */
void reserved_words(struct verdict *v, uint64_t arg)
{
    static const uint32_t words[] = {
        0x00000005U, 0x00000014U, 0x00000015U, 0x00000028U, 0x00000029U, 0x0000002eU,
        0x0000003dU, 0x041d0000U, 0x7000000bU, 0x7c000021U, 0x60000000U, 0x64000000U,
        0x68000000U, 0x6c000000U, 0x9c000000U, 0xd0000000U, 0xdc000000U, 0xf0000000U};

    (void)arg;
    for (size_t i = 0; i < LENGTH_OF(words); i++) {
        struct caught c = try_word(words[i], 0, 0);

        judge(v, c.code == EXCEPTION_RESERVED, "word 0x%x: code %u", words[i], c.code);
    }
}

/*
 * microMIPS code is not emulated: an instruction that exits is a reserved instruction, a device
 * access a bus error, and a hypercall is unknown.
 */
void other_instruction_set(struct verdict *v, uint64_t arg)
{
    static const struct {
        uint16_t first, second; /* in memory order */
        uint32_t code, value;
    } tries[] = {
        {0x3042, 0x0007, NO_EXCEPTION, 7}, /* addiu v0,v0,7 */
        /* mfc0 v0,PRId: emulated */
        {0x004f, 0x00fc, EXCEPTION_RESERVED, 0},
        {0x0048, 0x36fc, EXCEPTION_RESERVED, 0}, /* mtgc0: root only */
        /* cache 8,0(zero): emulated */
        {0x2100, 0x6000, EXCEPTION_RESERVED, 0},
        {0x0000, 0x937c, EXCEPTION_RESERVED, 0},                           /* wait */
        {0x0000, 0xc37c, NO_EXCEPTION, (uint32_t)HCALL_ERR_NOT_SUPPORTED}, /* hypcall 0 */
        /* hypcall 1, which ends the VM in MIPS32 */
        {0x0001, 0xc37c, NO_EXCEPTION, (uint32_t)HCALL_ERR_NOT_SUPPORTED},
        {0x46c1, 0x0c00, EXCEPTION_RESERVED, 0}, /* sdbbp 1 */
        /* lw v0,0(a0): not the guest's memory */
        {0xfc44, 0x0000, EXCEPTION_BUS_DATA, 0},
        /* lbu v0,0(a1): a device register */
        {0x1445, 0x0000, EXCEPTION_BUS_DATA, 0},
    };
    uint32_t at = (uint32_t)(uintptr_t)guard_code;

    (void)arg;
    for (size_t i = 0; i < LENGTH_OF(tries); i++) {
        struct caught c;

        guard_code[0] = 0x0c000c40U; /* move v0,zero; nop */
        guard_code[1] = (uint32_t)tries[i].second << 16 | tries[i].first;
        guard_code[2] = 0x459f0c82U; /* move a0,v0; jr ra */
        guard_code[3] = 0x0c000c00U;
        c = guarded(at | 1U, 0xa1000000U, 0xa0000000U + (uint32_t)UART_PHYSICAL);
        judge(v, c.code == tries[i].code && (c.code != NO_EXCEPTION || c.value == tries[i].value),
              "%u: code %u value %x", (unsigned int)i, c.code, c.value);
    }
}

/* HYPCALL with every code but the one that ends the VM, and $v0 = 63. */
void hypcall_codes(struct verdict *v, uint64_t arg)
{
    (void)arg;
    for (uint32_t code = 0; code < 1024; code++) {
        if (code == 1) {
            continue;
        }
        guard_code[0] = HYPCALL_WORD | code << 11;
        guard_code[1] = 0x00402021U; /* move $4, $2 */
        guard_code[2] = WORD_RETURN;
        guard_code[3] = WORD_NOP;
        judge(v,
              guarded((uint32_t)(uintptr_t)guard_code, 0, 0).value ==
                  (uint32_t)HCALL_ERR_NOT_SUPPORTED,
              "code %u", code);
    }
}

/*
 * HYPCALL in the delay slot of a taken branch, an untaken branch and a register jump: executed
 * once.
 */
void hypcall_in_slot(struct verdict *v, uint64_t arg)
{
    /* li $3, 0 or 1; bnez $3, +2; HYPCALL; move $4, $2, jr; addiu $4, $2, 100, jr */
    for (uint32_t taken = 0; taken < 2; taken++) {
        const uint32_t code[] = {0x24030000U | taken, 0x14600004U, HYPCALL_WORD,
                                 0x00402021U,         WORD_RETURN, WORD_NOP,
                                 0x24440064U,         WORD_RETURN, WORD_NOP};
        uint32_t value;

        for (size_t i = 0; i < LENGTH_OF(code); i++) {
            guard_code[i] = code[i];
        }
        value = guarded((uint32_t)(uintptr_t)guard_code, 0, 0).value;
        judge(v, value == (uint32_t)HCALL_ERR_NOT_SUPPORTED + 100U * taken, "taken %u: %d", taken,
              (int)value);
    }
    guard_code[0] = WORD_RETURN;
    guard_code[1] = HYPCALL_WORD;
    judge(v, guarded((uint32_t)(uintptr_t)guard_code, (uint32_t)arg, 0).code == NO_EXCEPTION,
          "in the slot of a return");
}

static void put_code(const uint32_t *code, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        guard_code[i] = code[i];
    }
}

/* A jump to microMIPS code and back, with `slot` in the delay slot: adds 2 there and 1 here. */
static void jalx_slot(struct verdict *v, uint32_t slot)
{
    /* move $8, $31; jalx to word 6; slot; addiu $4, $4, 1; jr $8; nop; addiu $4, $4, 2; jr16 $31 */
    const uint32_t there = (uint32_t)(uintptr_t)&guard_code[6];
    const uint32_t code[] = {0x03e04025U, 0x74000000U | (there >> 2 & 0x03ffffffU),
                             slot,        0x24840001U,
                             0x01000008U, WORD_NOP,
                             0x00023084U, 0x0c00459fU};
    struct caught c;

    put_code(code, LENGTH_OF(code));
    c = guarded((uint32_t)(uintptr_t)guard_code, 0, 0);
    judge(v, c.code == NO_EXCEPTION && c.value == 3, "JALX with 0x%x: code %u, value %u", slot,
          c.code, c.value);
}

/*
 * Emulated instructions in a delay slot that write the register on which the branch depends:
 * untaken branch, taken branch, register jump.
 */
void results_in_slots(struct verdict *v, uint64_t arg)
{
    /*
     * To $5: MFC0 of PRId, of SRSCtl (0) and of Count; RDPGPR of $0; LBU of the UART's line status.
     */
    static const uint32_t slots[] = {0x40057800U, 0x40056002U, 0x40054800U, 0x41402800U,
                                     0x90850005U};
    const uint32_t at = (uint32_t)(uintptr_t)guard_code;

    (void)arg;
    for (size_t i = 0; i < LENGTH_OF(slots); i++) {
        for (uint32_t way = 0; way < 3; way++) {
            /* bnez $5 or jr $5; slot; li $4, 1; jr $31; nop; li $4, 2; jr $31; nop */
            const uint32_t code[] = {way < 2 ? 0x14a00004U : 0x00a00008U,
                                     slots[i],
                                     0x24040001U,
                                     WORD_RETURN,
                                     WORD_NOP,
                                     0x24040002U,
                                     WORD_RETURN,
                                     WORD_NOP};
            struct caught c;

            put_code(code, LENGTH_OF(code));
            c = guarded(at, 0xa0000000U + (uint32_t)UART_PHYSICAL, way < 2 ? way : at + 20U);
            judge(v, c.code == NO_EXCEPTION && c.value == (way == 0 ? 1U : 2U),
                  "slot 0x%x, way %u: code %u, value %u", slots[i], way, c.code, c.value);
        }
    }
    jalx_slot(v, slots[0]);
    jalx_slot(v, 0x41402800U);
}

#define WORD_RDHWR_USERLOCAL 0x7c04e83bU /* to $4 */
#define KEPT 0x5a5a1234U
#define VS_32 0x20U
#define GRAIN 0x80000000U

/* Rarely used registers that may be emulated, across context switches; Count must only advance. */
void state_is_kept(struct verdict *v, uint64_t arg)
{
    uint32_t last = try_word(WORD_RDHWR_USERLOCAL, 0, 0).value;

    (void)arg;
    judge(v, last == 0, "UserLocal is 0x%x before it was ever written", last);
    cp0_write_userlocal(KEPT);
    cp0_write_kscratch1(~KEPT);
    cp0_write_intctl(VS_32);
    cp0_write_pagegrain(GRAIN);
    cp0_write_wired(3);
    cp0_write_count(cp0_read_count() + 0x01000000U);
    last = cp0_read_count();
    for (uint32_t end = last + (uint32_t)(40UL * MS); end - last < 0x80000000U;) {
        uint32_t now = cp0_read_count();

        judge(v, now - last < 0x00800000U, "Count 0x%x after 0x%x", now, last);
        judge(v, cp0_read_userlocal() == KEPT, "UserLocal 0x%x", cp0_read_userlocal());
        judge(v, cp0_read_kscratch1() == ~KEPT, "KScratch1 0x%x", cp0_read_kscratch1());
        judge(v, (cp0_read_intctl() & 0x3e0U) == VS_32, "IntCtl 0x%x", cp0_read_intctl());
        judge(v, cp0_read_pagegrain() == GRAIN && cp0_read_wired() == 3, "PageGrain 0x%x",
              cp0_read_pagegrain());
        last = now;
    }
    cp0_write_wired(0);
    cp0_write_pagegrain(0);
    cp0_write_intctl(0);
}

/* Every operation on every cache, by index and by address of the guest's memory. */
void cache_operations(struct verdict *v, uint64_t arg)
{
    static volatile uint32_t memory[64] __attribute__((aligned(64)));

    (void)arg;
    for (uint32_t operation = 0; operation < 32; operation++) {
        for (uint32_t offset = 0; offset < 0x1000; offset += 256) {
            struct caught c =
                try_word(0xbc800000U | operation << 16, (uint32_t)(uintptr_t)memory + offset, 0);

            judge(v, c.code == NO_EXCEPTION, "CACHE %u: code %u", operation, c.code);
        }
    }
}

/* HYPCALL 1 with invalid reasons. */
void end_with_bad_reasons(struct verdict *v, uint64_t arg)
{
    static const uint32_t ends[] = {3, 4, 0xffU, 0x10000U, 0x7fffffffU, 0x80000000U, ~0U};

    (void)arg;
    for (size_t i = 0; i < LENGTH_OF(ends); i++) {
        guard_code[0] = HYPCALL_WORD | 1U << 11;
        guard_code[1] = 0x00402021U; /* move $4, $2 */
        guard_code[2] = WORD_RETURN;
        guard_code[3] = WORD_NOP;
        judge(v,
              guarded((uint32_t)(uintptr_t)guard_code, ends[i], 0).value ==
                  (uint32_t)HCALL_ERR_INVALID_PARAM,
              "end 0x%x", ends[i]);
    }
}
