/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State of a VM after a restart: it must find only its image, zeros, and shared memory. After each
 * start the guest checks all state, fills all state, and ends the VM in the next of several ways.
 * The number of starts is kept in shared memory, which a restart does not clear.
 */
#include <string.h>

#include "csr.h"
#include "fdt.h"
#include "leak.h"
#include "platform.h"
#include "plic.h"
#include "print.h"
#include "sbi.h"
#include "timer.h"
#include "trap.h"
#include "uart.h"

#define RAM_BASE 0x80000000UL
#define RAM_SIZE 0x1000000UL /* as in tests/e2e/systems/leak-restart.dts */
#define TREE_SIZE 0x10000UL  /* size of the area for the device tree at the end of RAM */
#define SHARED_BASE 0xa0000000UL
#define SHARED_WORDS 0x40000UL
#define PATTERN 0x5a5a0000deadbeefUL
#define PLIC_SOURCES 32U
#define FDT_MAGIC 0xedfe0dd0U /* as read by a little-endian machine */
#define SSTATUS_BOOT ((2UL << 32) | (1UL << 63) | SSTATUS_FS)

extern uint64_t leak_entry[40];
extern uint8_t __bss_start[], __stack_top[], _start[];

enum {
    ENTRY_SSCRATCH = 32,
    ENTRY_SSTATUS,
    ENTRY_SIE,
    ENTRY_STVEC,
    ENTRY_SEPC,
    ENTRY_SCAUSE,
    ENTRY_SATP,
    ENTRY_SIP
};

/* Kept in shared memory across restarts. */
struct lives {
    uint64_t count;
    uint64_t kept[SHARED_WORDS]; /* must be unchanged after a restart */
};

static struct lives *const lives = (struct lives *)SHARED_BASE;

/* Number of registers that are not 0, except a0 (the hart), a1 (the device tree) and sstatus. */
static unsigned check_registers(const void *fdt)
{
    unsigned wrong = 0;

    for (unsigned i = 1; i < 40; i++) {
        uint64_t want = i == ENTRY_SSTATUS ? SSTATUS_BOOT : 0;

        if (i == 11) {
            want = (uintptr_t)fdt;
        }
        if (leak_entry[i] != want) {
            print("leak: register %u is 0x%lx\n", i, leak_entry[i]);
            wrong++;
        }
    }
    return wrong;
}

/* Number of FP registers that are not 0. The C code is compiled without floating point. */
static unsigned check_fp(struct leak *l)
{
    struct emitter e = {l->code};
    unsigned wrong = 0;

    for (uint32_t i = 0; i < 32; i++) {
        emit(&e, insn_s(OPCODE_STORE_FP, FUNCT3_DOUBLE, 10, i, 8 * i));
    }
    emit(&e, INSN_RET);
    emit_done();
    memset(l->page.f_got, 0xa5, sizeof(l->page.f_got));
    ((void (*)(uint64_t *))(uintptr_t)l->code)(l->page.f_got);
    for (unsigned i = 0; i < 32; i++) {
        wrong += l->page.f_got[i] != 0;
    }
    return wrong;
}

static unsigned check_devices(void)
{
    unsigned wrong = 0;

    wrong += uart_read(UART_SCR) != 0;
    wrong += uart_read(UART_IER) != 0;
    wrong += uart_read(UART_LCR) != 0;
    for (uint32_t source = 1; source < PLIC_SOURCES; source++) {
        wrong += *plic_priority(source) != 0;
    }
    wrong += *plic_enables(plic_context(0), 0) != 0;
    wrong += *plic_threshold(plic_context(0)) != 0;
    return wrong;
}

/* Number of words in [from, to) that are not 0. */
static uint64_t check_memory(uint64_t from, uint64_t to)
{
    uint64_t wrong = 0;

    for (const volatile uint64_t *at = (const volatile uint64_t *)from;
         at < (const volatile uint64_t *)to; at++) {
        wrong += *at != 0;
    }
    return wrong;
}

/*
 * Checksum of what must be equal after every start: the image, and the device tree except its seed.
 */
static uint64_t sum(uint64_t from, uint64_t to)
{
    uint64_t s = 0;

    for (const volatile uint64_t *at = (const volatile uint64_t *)from;
         at < (const volatile uint64_t *)to; at++) {
        s = random_stir(s ^ *at);
    }
    return s;
}

/* Clears the seed, which changes with every start. */
static void blank_seed(const void *fdt)
{
    uint32_t length = 0;
    volatile uint8_t *seed =
        (volatile uint8_t *)(uintptr_t)fdt_property(fdt, "chosen", "rng-seed", &length);

    for (uint32_t i = 0; seed != NULL && i < length; i++) {
        seed[i] = 0;
    }
}

static uint64_t check_shared(void)
{
    uint64_t wrong = 0;

    for (uint64_t i = 0; i < SHARED_WORDS / 8; i++) {
        wrong += lives->kept[i] != (lives->count == 0 ? 0 : PATTERN + i);
    }
    return wrong;
}

static void fill(uint64_t from, uint64_t to, uint64_t pattern)
{
    for (volatile uint64_t *at = (volatile uint64_t *)from; at < (volatile uint64_t *)to; at++) {
        *at = pattern;
    }
}

/* Overwrites all state except the running code and its stack. */
static void spoil(struct leak *l)
{
    for (uint64_t i = 0; i < SHARED_WORDS / 8; i++) {
        lives->kept[i] = PATTERN + i;
    }
    lives->count++;
    for (uint32_t source = 1; source < PLIC_SOURCES; source++) {
        plic_set_priority(source, 7);
        plic_enable(plic_context(0), source, true);
    }
    plic_set_threshold(plic_context(0), 5);
    timer_set(csr_read_time() + 1000);
    csr_write_sie(SIE_TIMER | SIE_EXTERNAL | SIE_SOFT);
    csr_set_sip(SIE_SOFT);
    fill(RAM_BASE, (uintptr_t)_start, PATTERN);
    fill((uintptr_t)__stack_top, RAM_BASE + RAM_SIZE, PATTERN);
    fill((uintptr_t)leak_entry, (uintptr_t)leak_entry + sizeof(leak_entry), PATTERN);
    fill((uintptr_t)l->memory, (uintptr_t)l->memory + sizeof(l->memory), PATTERN);
    for (unsigned i = 0; i < LEAK_CSRS; i++) {
        bool there;

        if (i != LEAK_STVEC && i != LEAK_SIP && i != LEAK_SATP && i != LEAK_SIE &&
            i != LEAK_SSTATUS) {
            leak_exchange(l, leak_csrs[i], PATTERN, &there);
        }
    }
}

/* Fills every register with a pattern, then executes `instruction`, which ends the VM. */
static _Noreturn void end_filled(struct leak *l, uint32_t instruction, uint64_t a0, uint64_t a7)
{
    struct emitter e = {l->code};

    for (uint32_t i = 0; i < 32; i++) {
        l->page.x_want[i] = PATTERN;
    }
    l->page.x_want[10] = a0;
    l->page.x_want[11] = 0;
    l->page.x_want[16] = 0;
    l->page.x_want[17] = a7;
    for (uint32_t i = 0; i < 32; i++) {
        emit(&e, insn_i(OPCODE_LOAD_FP, FUNCT3_DOUBLE, i, 10, 8 * i));
    }
    for (uint32_t i = 1; i < 32; i++) {
        emit(&e, insn_ld(i == 10 ? 0 : i, 10, 8 * i));
    }
    emit(&e, insn_ld(10, 10, 80));
    emit(&e, instruction);
    emit(&e, 0x0000006fU); /* j . */
    emit_done();
    ((void (*)(uint64_t *))(uintptr_t)l->code)(l->page.x_want);
    for (;;) {
    }
}

static void end(struct leak *l)
{
    static const char *const ways[] = {"cold reset", "warm reset", "watchdog", "fatal trap",
                                       "console"};
    unsigned way = (unsigned)((lives->count - 1) % 5);

    print("leak: life %lu ends by %s\n", lives->count, ways[way]);
    uart_write(UART_SCR, 0xa5);
    uart_write(UART_IER, UART_IER_RX);
    switch (way) {
    case 0:
    case 1:
        end_filled(l, INSN_ECALL, way == 0 ? SBI_RESET_COLD : SBI_RESET_WARM, 0x53525354UL);
    case 3:
        csr_write_stvec(PLATFORM_HOLE);
        end_filled(l, insn_ld(0, 10, 0), PLATFORM_HOLE, PATTERN);
    default:
        end_filled(l, INSN_NOP, PATTERN,
                   PATTERN); /* hangs until the watchdog or the console restarts the VM */
    }
}

void leak_restart(struct leak *l, const void *fdt)
{
    uint64_t tree = (uintptr_t)fdt, image = (uintptr_t)leak_entry;
    unsigned devices = check_devices(), fp = check_fp(l);
    uint64_t pending = leak_entry[ENTRY_SIP], memory, same;

    uart_init();
    memory = check_memory(RAM_BASE, (uintptr_t)_start & ~0xfffUL) +
             check_memory((uintptr_t)__stack_top, tree);
    memory += check_memory(RAM_BASE + RAM_SIZE - 8, RAM_BASE + RAM_SIZE);
    blank_seed(fdt);
    same = sum((uintptr_t)_start & ~0xfffUL, image) ^ sum(tree, RAM_BASE + RAM_SIZE);
    print("leak: life %lu finds %u registers, %u FP registers, %u device registers, %lu words, "
          "pending 0x%lx\n",
          lives->count + 1, check_registers(fdt), fp, devices, memory, pending);
    print("leak: image 0x%lx, shared memory: %lu words are not as they were\n", same,
          check_shared());
    timer_init();
    spoil(l);
    end(l);
}
