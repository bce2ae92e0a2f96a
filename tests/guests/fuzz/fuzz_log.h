/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Log of the attacker of a fuzz run, in memory shared with the witness: it survives restarts of the
 * attacker, and the fuzz script reads it from outside, even if the machine hangs. It is in the
 * middle of the region, because calls use addresses at the region's edges.
 */
#ifndef FUZZ_LOG_H
#define FUZZ_LOG_H

#include <stdint.h>

#define FUZZ_LOG 0xa0100000UL
#define FUZZ_HARTS 2U
#define FUZZ_APPS 4U
#define FUZZ_SLOTS (FUZZ_HARTS + FUZZ_APPS)
#define FUZZ_KINDS 5U

enum fuzz_kind {
    FUZZ_HCALL,
    FUZZ_SBI,
    FUZZ_CSR,
    FUZZ_MMIO,
    FUZZ_OTHER
};

/* One stream of calls. */
struct fuzz_slot {
    uint64_t next;                 /* number of the current call, + 1 */
    uint64_t made[FUZZ_KINDS];     /* calls, by kind */
    uint64_t accepted[FUZZ_KINDS]; /* calls without exception and error, by kind */
    uint64_t kind, instruction;    /* of the current call */
    uint64_t a[8];                 /* registers a0 to a7 of the current call */
};

struct fuzz_log {
    struct fuzz_slot slots[FUZZ_SLOTS];
    uint64_t lives; /* starts of the attacker */
    uint64_t spins; /* spins of the witness (tests/guests/leak) */
    uint64_t wrongs;
};

#endif
