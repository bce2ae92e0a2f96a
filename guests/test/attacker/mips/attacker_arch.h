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

/* Guest-physical, as the system file of the test has it. */
#define RAM_BASE 0UL
#define RAM_SIZE 0x20000UL
#define RAM_END (RAM_BASE + RAM_SIZE)
#define UART_PHYSICAL 0x1fd003f8UL

/* Memory of somebody else's. */
#define ELSEWHERE 0x40000UL

#define RING_ERROR (-4L) /* of doorbells: there is no shared memory */
#define END_TICKS 500U   /* that an app may run on when its budget ends: 1000 instructions */
#define ARCH_APP_STACK 1024
#define FAR_RELEASE 0x7fffffffUL /* an app's, as late as can be said: anything beyond is past */

/* Bit n of a register. Where registers have no bit n it is another one that makes no sense. */
#define BIT(n) (1UL << ((n) < 31 ? (n) : 31))

/* Addresses at which no buffer of `size` bytes is the guest's. Those of KSEG0 are not guest-physical. */
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

/* Where no app's code, stack, parameters or statistics can be. */
#define BAD_PLACES                                                            \
    {                                                                         \
        RAM_END + 16, 0x40010UL,    0x1d000010UL, 0x1f801250UL, 0x1fd003f0UL, \
        0x20000010UL, 0x80001000UL, ~0UL - 15,    1UL << 31,                  \
    }

/* An exception with the vectors where no memory is. */
static inline void arch_fail(void)
{
    cp0_write_ebase(0x80000000UL + 0x1000000UL);
    __asm__ volatile("break");
}

static inline bool arch_message_waits(void)
{
    return (cp0_read_cause() & 1U << (CAUSE_LINES_SHIFT + PLATFORM_MESSAGE_IRQ)) != 0;
}

/* --- guard.c: doing what traps --- */

#define NO_EXCEPTION 32U

/* What an instruction came to: code NO_EXCEPTION if it went through. */
struct caught {
    uint32_t code, epc, badvaddr, cause;
    uint32_t value; /* $a0 afterwards */
};

/* Calls code with $a0 and $a1 as given. */
struct caught guarded(uint32_t entry, uint32_t a0, uint32_t a1);

/* Executes one instruction. */
struct caught try_word(uint32_t word, uint32_t a0, uint32_t a1);

/* The same in user mode, in a page that only it can see. */
struct caught try_user_word(uint32_t word, uint32_t a0, uint32_t a1);

/* Places for try_word(), at which the code can be put together; ended by who runs it. */
#define GUARD_WORDS 16U
extern volatile uint32_t guard_code[GUARD_WORDS];

#define WORD_RETURN 0x03e00008U /* jr $31 */
#define WORD_NOP 0U
#define WORD_SYSCALL 0x0000000cU

/* Instructions by fields; registers 4 and 5 are $a0 and $a1. */
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
