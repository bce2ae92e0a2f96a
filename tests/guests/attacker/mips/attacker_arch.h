/* SPDX-License-Identifier: Apache-2.0 */
/* The hostile guest on MIPS32. */
#ifndef ATTACKER_ARCH_H
#define ATTACKER_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cp0.h"
#include "platform.h"
#include "trap.h"

/* Guest-physical addresses of the test's system file. */
#define RAM_BASE 0UL
#define RAM_SIZE 0x20000UL
#define RAM_END (RAM_BASE + RAM_SIZE)
#define UART_PHYSICAL 0x1fd003f8UL

/* Memory of another VM. */
#define ELSEWHERE 0x40000UL

#define RING_ERROR (-4L) /* of doorbells: the VM shares no memory */
#define END_TICKS 500U   /* overrun allowed at the end of a budget: 1000 instructions */
#define ARCH_APP_STACK 1024
/* latest possible first release; larger values are in the past */
#define FAR_RELEASE 0x7fffffffUL

/* Bit n of a register; bit 31, which is equally invalid here, if registers have no bit n. */
#define BIT(n) (1UL << ((n) < 31 ? (n) : 31))

/* Addresses of invalid buffers of `size` bytes. KSEG0 addresses are not guest-physical. */
#define BAD_ADDRESSES(size)                            \
    {                                                  \
        RAM_END,        RAM_END - (size) + 1,          \
        RAM_END - 1,    (RAM_END - (size) + 8) & ~7UL, \
        0x40000UL,      0x80000UL,                     \
        0x1000000UL,    0x1d000000UL,                  \
        0x1f800000UL,   0x1fc00000UL,                  \
        UART_PHYSICAL,  0x1fd00000UL,                  \
        0x1fffff80UL,   0x20000000UL,                  \
        0x80001000UL,   0xa0001000UL,                  \
        0xc0000000UL,   ~0UL,                          \
        ~0UL - 7,       0 - (size),                    \
        0 - (size) + 1, 1UL << 31,                     \
    }

/* Addresses that are invalid for code, stack, parameters and statistics of apps. */
#define BAD_PLACES                                                            \
    {                                                                         \
        RAM_END + 16, 0x40010UL,    0x1d000010UL, 0x1f801250UL, 0x1fd003f0UL, \
        0x20000010UL, 0x80001000UL, ~0UL - 15,    1UL << 31,                  \
    }

/* Raises an exception while the vectors are at an unmapped address. */
static inline void arch_fail(void)
{
    cp0_write_ebase(0x80000000UL + 0x1000000UL);
    __asm__ volatile("break");
}

static inline bool arch_message_waits(void)
{
    return (cp0_read_cause() & 1U << (CAUSE_LINES_SHIFT + PLATFORM_MESSAGE_IRQ)) != 0;
}

/* --- guard.c: guarded execution of code that traps --- */

#define NO_EXCEPTION 32U

/* Result of an instruction: its exception, or NO_EXCEPTION. */
struct caught {
    uint32_t code, epc, badvaddr, cause;
    uint32_t value; /* final $a0 */
};

/* Calls `entry` with $a0 and $a1. */
struct caught guarded(uint32_t entry, uint32_t a0, uint32_t a1);

/* Executes one instruction. */
struct caught try_word(uint32_t word, uint32_t a0, uint32_t a1);

/* Executes one instruction in user mode, in a page that is mapped for user mode. */
struct caught try_user_word(uint32_t word, uint32_t a0, uint32_t a1);

/* Buffer in which attacks assemble code; the attack adds the final return. */
#define GUARD_WORDS 16U
extern volatile uint32_t guard_code[GUARD_WORDS];

#define WORD_RETURN 0x03e00008U /* jr $31 */
#define WORD_NOP 0U
#define WORD_SYSCALL 0x0000000cU

/* Instruction encodings; registers 4 and 5 are $a0 and $a1. */
#define WORD_ACCESS(opcode) ((uint32_t)(opcode) << 26 | 4U << 21 | 5U << 16) /* op $a1, 0($a0) */
#define WORD_MFC0(reg) (0x40040000U | (uint32_t)(reg) / 8U << 11 | (uint32_t)(reg) % 8U)
#define WORD_MTC0(reg) (0x40840000U | (uint32_t)(reg) / 8U << 11 | (uint32_t)(reg) % 8U)

/* Arguments of memory_attack. */
enum memory_way {
    KSEG0,
    KSEG1,
    MAPPED
};

#endif
