/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accesses outside the guest's memory: real devices and flash, memory of other VMs, unmapped
 * addresses.
 */
#include "attacker.h"
#include "uart.h"

#define OPCODE_LB 0x20U
#define OPCODE_LH 0x21U
#define OPCODE_LWL 0x22U
#define OPCODE_LW 0x23U
#define OPCODE_LBU 0x24U
#define OPCODE_LHU 0x25U
#define OPCODE_LWR 0x26U
#define OPCODE_SB 0x28U
#define OPCODE_SH 0x29U
#define OPCODE_SWL 0x2aU
#define OPCODE_SW 0x2bU
#define OPCODE_SWR 0x2eU
#define OPCODE_CACHE 0x2fU
#define OPCODE_LL 0x30U
#define OPCODE_PREF 0x33U
#define OPCODE_SC 0x38U

#define MAPPED_PAGE 0x00600000U
#define MAPPED_INDEX 3U
#define ENTRYLO_FLAGS 0x17U /* uncached, dirty, valid, global */
#define KSEG0_BASE 0x80000000U
#define KSEG1_BASE 0xa0000000U
#define MARK 0x5eed5eedU

/*
 * Guest-physical: above the guest's RAM, SRAM of the part, interrupt controller, reset control,
 * flash, boot flash, no device.
 */
static const uint32_t outside[] = {
    RAM_END,     RAM_END + 0x1000, 0x00040000U, 0x0007fffcU, 0x00080000U, 0x01000000U,
    0x0fffffe0U, 0x1cfffffcU,      0x1d000000U, 0x1d1ffffcU, 0x1f800030U, 0x1f801250U,
    0x1f810000U, 0x1f810040U,      0x1f822220U, 0x1f840000U, 0x1fbffffcU, 0x1fc00000U,
    0x1fc00480U, 0x1fcffffcU,      0x1fd01000U, 0x1ffffffcU};

/* Virtual address of a listed address; for MAPPED, an entry of the guest's TLB maps its page. */
static uint32_t place(uint32_t physical, uint64_t way)
{
    if (way == KSEG0) {
        return KSEG0_BASE | physical;
    }
    if (way == KSEG1) {
        return KSEG1_BASE | physical;
    }
    cp0_write_pagemask(0);
    cp0_write_entryhi(MAPPED_PAGE);
    cp0_write_entrylo0((physical >> 12 & ~1U) << 6 | ENTRYLO_FLAGS);
    cp0_write_entrylo1((physical >> 12 | 1U) << 6 | ENTRYLO_FLAGS);
    cp0_write_index(MAPPED_INDEX);
    __asm__ volatile("tlbwi\n\tehb" : : : "memory");
    return MAPPED_PAGE | (physical & 0x1fffU);
}

static void must_fail(struct verdict *v, uint32_t opcode, uint64_t way)
{
    for (size_t i = 0; i < LENGTH_OF(outside); i++) {
        uint32_t at = place(outside[i], way);
        struct caught c = try_word(WORD_ACCESS(opcode), at, MARK);

        judge(v, c.code == EXCEPTION_BUS_DATA, "opcode 0x%x at 0x%x: code %u", opcode, at, c.code);
    }
}

void loads_outside(struct verdict *v, uint64_t arg)
{
    static const uint8_t loads[] = {OPCODE_LB, OPCODE_LBU, OPCODE_LH, OPCODE_LHU, OPCODE_LW};

    for (size_t i = 0; i < LENGTH_OF(loads); i++) {
        must_fail(v, loads[i], arg);
    }
}

void stores_outside(struct verdict *v, uint64_t arg)
{
    static const uint8_t stores[] = {OPCODE_SB, OPCODE_SH, OPCODE_SW};

    for (size_t i = 0; i < LENGTH_OF(stores); i++) {
        must_fail(v, stores[i], arg);
    }
}

void unaligned_outside(struct verdict *v, uint64_t arg)
{
    static const uint8_t opcodes[] = {OPCODE_LWL, OPCODE_LWR, OPCODE_SWL, OPCODE_SWR};

    for (size_t i = 0; i < LENGTH_OF(opcodes); i++) {
        must_fail(v, opcodes[i], arg);
    }
}

/* LL outside; SC outside after an LL of the guest's memory. */
void conditional_outside(struct verdict *v, uint64_t arg)
{
    static volatile uint32_t home;

    must_fail(v, OPCODE_LL, arg);
    for (size_t i = 0; i < LENGTH_OF(outside); i++) {
        uint32_t at = place(outside[i], arg);
        struct caught c;

        (void)__atomic_load_n(&home, __ATOMIC_SEQ_CST);
        __asm__ volatile("ll $2, 0(%0)" : : "r"(&home) : "$2", "memory");
        c = try_word(WORD_ACCESS(OPCODE_SC), at, MARK);
        judge(v, c.code == EXCEPTION_BUS_DATA || c.code == NO_EXCEPTION, "SC at 0x%x: code %u", at,
              c.code);
    }
}

void executes_outside(struct verdict *v, uint64_t arg)
{
    for (size_t i = 0; i < LENGTH_OF(outside); i++) {
        uint32_t at = place(outside[i] & ~3U, arg);
        struct caught c = guarded(at, 0, 0);

        judge(v, c.code == EXCEPTION_BUS_FETCH && c.epc == at, "at 0x%x: code %u, epc 0x%x", at,
              c.code, c.epc);
    }
}

/* Cache operations by address and index, and a prefetch: they must not affect other VMs. */
void caches_outside(struct verdict *v, uint64_t arg)
{
    for (size_t i = 0; i < LENGTH_OF(outside); i++) {
        uint32_t at = place(outside[i], arg);

        for (uint32_t operation = 0; operation < 32; operation++) {
            struct caught c = try_word(OPCODE_CACHE << 26 | 4U << 21 | operation << 16, at, 0);

            judge(v, c.code == NO_EXCEPTION, "CACHE %u at 0x%x: code %u", operation, at, c.code);
        }
        judge(v, try_word(OPCODE_PREF << 26 | 4U << 21, at, 0).code == NO_EXCEPTION, "PREF at 0x%x",
              at);
    }
}

/* Without an entry in the guest's TLB: a TLB exception of the guest with the accessed address. */
void unmapped_segment(struct verdict *v, uint64_t arg)
{
    static const uint32_t places[] = {0,           0x1000U,     0x00400000U, 0x7ffffffcU,
                                      0xc0000000U, 0xe0000000U, 0xfffff000U};

    (void)arg;
    for (size_t i = 0; i < LENGTH_OF(places); i++) {
        struct caught c = try_word(WORD_ACCESS(OPCODE_LW), places[i], 0);

        judge(v, c.code == EXCEPTION_TLB_LOAD && c.badvaddr == places[i], "load at 0x%x: code %u",
              places[i], c.code);
        c = try_word(WORD_ACCESS(OPCODE_SW), places[i], 0);
        judge(v, c.code == EXCEPTION_TLB_STORE && c.badvaddr == places[i], "store at 0x%x: code %u",
              places[i], c.code);
    }
}

/*
 * With Status.ERL the lower half of the address space is unmapped: guest-physical addresses apply.
 */
void error_level(struct verdict *v, uint64_t arg)
{
    static volatile uint32_t home = MARK;
    const uint32_t physical = (uint32_t)(uintptr_t)&home & 0x1fffffffU;
    uint32_t seen;

    (void)arg;
    cp0_write_status(cp0_read_status() | STATUS_ERL);
    seen = *(const volatile uint32_t *)(uintptr_t)physical;
    cp0_write_status(cp0_read_status() & ~(uint32_t)STATUS_ERL);
    judge(v, seen == MARK, "0x%x at its own 0x%x", seen, physical);
    for (uint32_t at = 0x20000000U; at < 0x80000000U; at += 0x08000000U) {
        /* mfc0 $2, Status; ori $2, $2, ERL; mtc0 $2, Status; ehb; lw */
        const uint32_t code[] = {0x40026000U,
                                 0x34420004U,
                                 0x40826000U,
                                 0x000000c0U,
                                 WORD_ACCESS(OPCODE_LW),
                                 WORD_RETURN,
                                 0};
        struct caught c;

        for (size_t i = 0; i < LENGTH_OF(code); i++) {
            guard_code[i] = code[i];
        }
        c = guarded((uint32_t)(uintptr_t)guard_code, at, 0);
        cp0_write_status(cp0_read_status() & ~(uint32_t)STATUS_ERL);
        judge(v, c.code == EXCEPTION_BUS_DATA, "load at 0x%x: code %u", at, c.code);
    }
}

/* The guest's memory is accessible up to its last byte, and not beyond. */
void memory_edges(struct verdict *v, uint64_t arg)
{
    struct caught c;

    (void)arg;
    for (uint32_t at = 0; at < 0x1000U; at += 4) {
        c = try_word(WORD_ACCESS(OPCODE_SW), KSEG1_BASE | at, at);
        judge(v, c.code == NO_EXCEPTION, "store at 0x%x: code %u", at, c.code);
    }
    c = try_word(WORD_ACCESS(OPCODE_LBU), KSEG0_BASE | (RAM_END - 1), 0);
    judge(v, c.code == NO_EXCEPTION, "last byte: code %u", c.code);
    c = try_word(WORD_ACCESS(OPCODE_LBU), KSEG0_BASE | RAM_END, 0);
    judge(v, c.code == EXCEPTION_BUS_DATA, "one more: code %u", c.code);
    c = try_word(WORD_ACCESS(OPCODE_LH), KSEG0_BASE | (RAM_END - 1), 0);
    judge(v, c.code == EXCEPTION_ADDRESS_LOAD, "across the end: code %u", c.code);
    c = try_word(WORD_ACCESS(OPCODE_LWL), KSEG0_BASE | RAM_END, 0);
    judge(v, c.code == EXCEPTION_BUS_DATA, "unaligned across the end: code %u", c.code);
}

/* Accesses of every width to every byte around the UART; then restores the registers. */
void uart_registers(struct verdict *v, uint64_t arg)
{
    static const uint8_t opcodes[] = {OPCODE_LB, OPCODE_LHU, OPCODE_LW, OPCODE_LWL,
                                      OPCODE_LL, OPCODE_SH,  OPCODE_SW};

    (void)arg;
    for (uint32_t at = PLATFORM_UART_BASE - 8; at < PLATFORM_UART_BASE + 16; at += 4) {
        for (size_t i = 0; i < LENGTH_OF(opcodes); i++) {
            struct caught c = try_word(WORD_ACCESS(opcodes[i]), at, 0);

            judge(v, c.code == NO_EXCEPTION || c.code == EXCEPTION_BUS_DATA,
                  "opcode 0x%x at 0x%x: code %u", opcodes[i], at, c.code);
        }
    }
    uart_init();
}
