/* SPDX-License-Identifier: Apache-2.0 */
/* LL and SC. */
#include "machine.h"
#include "switched.h"

#define ROUNDS 20000U
#define LLADDR_MASK 0x03ffffffU

CP0_READ(lladdr, 17, 0)

static volatile uint32_t word __attribute__((aligned(64)));

static bool count(struct trap_frame *frame, uint32_t code)
{
    if (code != EXCEPTION_SYSCALL) {
        return false;
    }
    word++;
    frame->epc += 4;
    return true;
}

/* LL; the handler of an exception increments the word and returns by ERET; SC after a while. */
static uint32_t add_around_exception(void)
{
    uint32_t value;

    __asm__ volatile(".set push\n\t.set noreorder\n\t"
                     "ll %0, 0(%1)\n\taddiu %0, %0, 100\n\tsyscall\n\tnop\n\tli $8, 40\n"
                     "1: bnez $8, 1b\n\taddiu $8, $8, -1\n\t"
                     "sc %0, 0(%1)\n\tnop\n\t.set pop"
                     : "=&r"(value)
                     : "r"(&word)
                     : "$8", "memory");
    return value;
}

/* ERET clears LLbit: SC never succeeds, and the word has the increments of the handler only. */
void link_is_cleared(struct result *r)
{
    trap_set_exception(count);
    word = 0;
    for (uint32_t n = 0; n < ROUNDS; n++) {
        expect(r, add_around_exception() == 0, n);
    }
    expect(r, word == ROUNDS, word);
    trap_set_exception(NULL);
}

/* LLAddr shows no address of another VM: its own last one, or the hypervisor's, which is always the
 * same. */
void lladdr_is_own(struct result *r)
{
    uint32_t own, other = 0;

    for (uint32_t n = 0; n < ROUNDS; n++) {
        uint32_t value;

        __asm__ volatile("ll %0, 0(%1)" : "=r"(value) : "r"(&word) : "memory");
        own = cp0_read_lladdr();
        machine_burn(100);
        value = cp0_read_lladdr();
        other = value != own && other == 0 ? value : other;
        expect(r, value == own || value == other, value & LLADDR_MASK);
    }
}
