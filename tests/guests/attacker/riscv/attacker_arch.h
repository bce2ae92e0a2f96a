/* SPDX-License-Identifier: Apache-2.0 */
/* The hostile guest on RISC-V. */
#ifndef ATTACKER_ARCH_H
#define ATTACKER_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "csr.h"
#include "platform.h"
#include "trap.h"

/*
 * Addresses of tests/e2e/systems/attacker.dts. The attacker's RAM is outside the range of the
 * machine's RAM, so that the real addresses of the hypervisor and of other VMs are unmapped in the
 * guest.
 */
#define RAM_BASE 0x90000000UL
#define RAM_SIZE 0x400000UL
#define RAM_END (RAM_BASE + RAM_SIZE)
#define RAM_FREE RAM_BASE /* 2 MiB below the image, unused */
#define SHARED_BASE 0xa0000000UL
#define SHARED_SIZE 0x200000UL
#define SHARED_END (SHARED_BASE + SHARED_SIZE)
#define REAL_FIRMWARE 0x80000000UL
#define REAL_HYPERVISOR 0x80200000UL
#define REAL_WITNESS 0x88000000UL
#define REAL_TICKER 0x8a000000UL
#define REAL_OWN 0x8c000000UL
#define UART_SIZE 8UL
#define FINISHER_BASE 0x100000UL
#define FINISHER_SIZE 0x1000UL
#define RTC_BASE 0x101000UL
#define RTC_SIZE 0x24UL
#define PLIC_SIZE 0x600000UL

#define OWN_HARTS 2UL

#define CAUSE_NONE (~0UL)
#define CAUSE_STORE_MISALIGNED 6UL
#define CAUSE_ECALL_U 8UL
#define CAUSE_FETCH_PAGE 12UL
#define CAUSE_LOAD_PAGE 13UL
#define CAUSE_STORE_PAGE 15UL

/* Memory of another VM. */
#define ELSEWHERE REAL_WITNESS

#define RING_ERROR 0L /* of doorbells of the shared region */
#define END_TICKS 10U /* overrun allowed at the end of a budget: 1000 instructions */
#define ARCH_APP_STACK 4096
#define FAR_RELEASE (~0UL) /* latest possible first release */

/* Bit n of a register. The MIPS32 version substitutes bits that 32-bit registers do not have. */
#define BIT(n) (1UL << (n))

/*
 * Addresses of invalid buffers of `size` bytes: unmapped, in memory of other VMs, in devices,
 * partly outside the guest's memory, around the end of the address space.
 */
#define BAD_ADDRESSES(size)                                                                   \
    {                                                                                         \
        0,                                                                                    \
        1,                                                                                    \
        REAL_FIRMWARE,                                                                        \
        REAL_HYPERVISOR,                                                                      \
        REAL_HYPERVISOR + 0x40000,                                                            \
        REAL_WITNESS,                                                                         \
        REAL_TICKER + 0x210000,                                                               \
        REAL_OWN,                                                                             \
        PLATFORM_UART_BASE,                                                                   \
        PLATFORM_PLIC_BASE,                                                                   \
        RAM_BASE - 1,                                                                         \
        RAM_BASE - 8,                                                                         \
        RAM_BASE - (size),                                                                    \
        RAM_END,                                                                              \
        RAM_END - (size) + 1,                                                                 \
        RAM_END - 1,                                                                          \
        (RAM_END - (size) + 8) & ~7UL, /* aligned: the hypervisor has a fast path for this */ \
        SHARED_BASE - 1,                                                                      \
        SHARED_END - (size) + 1,                                                              \
        SHARED_END,                                                                           \
        RAM_BASE + (1UL << 32),                                                               \
        RAM_BASE + (1UL << 41),                                                               \
        RAM_BASE + (1UL << 63),                                                               \
        ~0UL,                                                                                 \
        ~0UL - 7,                                                                             \
        0 - (size),                                                                           \
        0 - (size) + 1,                                                                       \
        1UL << 63,                                                                            \
    }

/* Addresses that are invalid for code, stack, parameters and statistics of apps. */
#define BAD_PLACES              \
    {                           \
        0,                      \
        REAL_FIRMWARE,          \
        REAL_HYPERVISOR,        \
        REAL_WITNESS,           \
        PLATFORM_UART_BASE,     \
        RAM_BASE - 16,          \
        RAM_END + 16,           \
        SHARED_END + 16,        \
        RAM_BASE + (1UL << 41), \
        ~0UL - 15,              \
        1UL << 63,              \
    }

/* Raises a trap while the trap vector is unmapped. */
static inline void arch_fail(void)
{
    csr_write_stvec(PLATFORM_HOLE);
    (void)*(volatile uint32_t *)REAL_HYPERVISOR;
}

/* Polls for messages without taking interrupts: whether one is pending, and its acknowledgement. */
static inline bool arch_message_waits(void)
{
    return (csr_read_sip() & SIE_SOFT) != 0;
}

/* --- guard.c: guarded execution of code that traps --- */

enum mode {
    SUPERVISOR,
    USER
};

/* Result of an instruction: its trap, or cause CAUSE_NONE. */
struct caught {
    uint64_t cause, stval, sepc;
    uint64_t sstatus; /* on entry to the handler */
    uint64_t value;   /* final a0 */
};

/* Runs code with a0 and a1. Code for user mode ends with an ecall, which counts as no trap. */
struct caught guarded(enum mode mode, uint64_t entry, uint64_t a0, uint64_t a1);

/* Runs one instruction. */
struct caught try_word(enum mode mode, uint32_t word, uint64_t a0, uint64_t a1);

/* Starts a second hart in `function`. False: it could not be started. */
bool second_hart(void (*function)(unsigned long hart, void *argument));

/* Waits until that function has returned, and the hart is stopped. */
void second_hart_ended(void);

#define WORD_RET 0x00008067U
#define WORD_ECALL 0x00000073U
#define WORD_EBREAK 0x00100073U
#define WORD_WFI 0x10500073U
#define WORD_LD 0x00053503U /* ld a0, 0(a0) */
#define WORD_LW 0x00052503U
#define WORD_SD 0x00b53023U /* sd a1, 0(a0) */
#define WORD_JR 0x00050067U /* jr a0 */

/*
 * Called first after every start: continues the attack `reset_forever`, and then does not return.
 */
void reset_again(void);

/* Arguments of memory_attack: accesses, combined with a target. */
#define LOADS 0x01UL
#define STORES 0x02UL
#define ATOMICS 0x04UL
#define EXECUTES 0x08UL
#define FLOATS 0x10UL
#define ALL_ACCESSES 0x1fUL
#define ODD 0x40UL     /* at odd addresses */
#define BY_USER 0x80UL /* in user mode */
#define AT(target) ((uint64_t)(target) << 8)
enum target {
    FIRMWARE,
    HYPERVISOR,
    WITNESS,
    TICKER,
    OWN_REAL,
    MMIO,
    EDGE,
    SUPERPAGE,
    BEYOND,
    TARGETS
};

#endif
