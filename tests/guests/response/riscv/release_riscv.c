/* SPDX-License-Identifier: Apache-2.0 */
/* Sets the timer interrupt that releases the task, on RISC-V in QEMU's virtual time (release.h). */
#include "release.h"

#include <stdbool.h>

#include "csr.h"
#include "platform.h"

#define INSTRUCTIONS_PER_TICK 100U /* a nanosecond each, in virtual time */
#define LAST_PHASE 90U             /* of a tick: the block of release_arm() ends in the same tick */
#define BLOCK 3U                   /* instructions from its first to its last */

uint64_t release_next_tick(void)
{
    return csr_read_stimecmp();
}

/*
 * QEMU raises the interrupt a whole number of ticks after the write to stimecmp, up to a tick late.
 * So the instruction at which it does is counted from the write; the write is repeated if it was
 * not where the block expects it, because the VM lost the hart in between.
 */
uint64_t release_arm(uint64_t due)
{
    for (;;) {
        uint64_t begin, time, end;

        __asm__ volatile("csrr %0, instret\n\t"
                         "csrr %1, time\n\t"
                         "csrw " CSR_STRING(CSR_STIMECMP) ", %3\n\t"
                                                          "csrr %2, instret"
                         : "=&r"(begin), "=&r"(time), "=&r"(end)
                         : "r"(due)
                         : "memory");
        if (end - begin == BLOCK && begin % INSTRUCTIONS_PER_TICK < LAST_PHASE) {
            return begin + BLOCK - 1 + (due - time) * INSTRUCTIONS_PER_TICK;
        }
    }
}
