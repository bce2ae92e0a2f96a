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

/* Where things are in tests/e2e/systems/attacker.dts. The attacker's RAM is not where the machine's is, so that the
 * addresses at which the hypervisor and other VMs really are mean nothing else to it. */
#define RAM_BASE 0x90000000UL
#define RAM_SIZE 0x400000UL
#define RAM_END (RAM_BASE + RAM_SIZE)
#define RAM_FREE RAM_BASE /* 2 MiB below the image that nothing uses */
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

/* Memory of somebody else's. */
#define ELSEWHERE REAL_WITNESS

#define RING_ERROR 0L /* of doorbells of the memory that is shared */
#define END_TICKS 10U /* that an app may run on when its budget ends: 1000 instructions */
#define ARCH_APP_STACK 4096
#define FAR_RELEASE (~0UL) /* an app's, as late as can be said */

/* Bit n of a register. Where registers have no bit n it is another one that makes no sense. */
#define BIT(n) (1UL << (n))

/* Addresses at which no buffer of `size` bytes is the guest's: nothing, others' memory, devices, the last bytes outside,
 * and around the end of the address space. */
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
        (RAM_END - (size) + 8) & ~7UL, /* aligned: the hypervisor has a short way for that */ \
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

/* Where no app's code, stack, parameters or statistics can be. */
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

/* A trap in an app without a trap vector. */
static inline void arch_fail(void)
{
    csr_write_stvec(PLATFORM_HOLE);
    (void)*(volatile uint32_t *)REAL_HYPERVISOR;
}

/* What is waited for without an interrupt's being taken: whether a message has come, and that it has been seen. */
static inline bool arch_message_waits(void)
{
    return (csr_read_sip() & SIE_SOFT) != 0;
}

/* --- guard.c: doing what traps --- */

enum mode {
    SUPERVISOR,
    USER
};

/* What an instruction came to: cause CAUSE_NONE if it went through. */
struct caught {
    uint64_t cause, stval, sepc;
    uint64_t sstatus; /* as the handler found it */
    uint64_t value;   /* a0 afterwards */
};

/* Runs code with a0 and a1 as given; code for user mode ends in an ecall, which counts as going through. */
struct caught guarded(enum mode mode, uint64_t entry, uint64_t a0, uint64_t a1);

/* Runs one instruction. */
struct caught try_word(enum mode mode, uint32_t word, uint64_t a0, uint64_t a1);

/* A second hart runs `function` from here on. False: it could not be started. */
bool second_hart(void (*function)(unsigned long hart, void *argument));

#define WORD_RET 0x00008067U
#define WORD_ECALL 0x00000073U
#define WORD_EBREAK 0x00100073U
#define WORD_WFI 0x10500073U
#define WORD_LD 0x00053503U /* ld a0, 0(a0) */
#define WORD_LW 0x00052503U
#define WORD_SD 0x00b53023U /* sd a1, 0(a0) */
#define WORD_JR 0x00050067U /* jr a0 */

/* Called first in every life: an attack that resets itself for ever begins anew, and this does not return. */
void reset_again(void);

/* Arguments of memory_attack: an access, or'ed with a target. */
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
