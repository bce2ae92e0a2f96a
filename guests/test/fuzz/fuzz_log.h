/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the attacker of a fuzz run has done, in memory that it shares with the witness: it outlives the attacker's
 * restarts, and scripts/tessera/fuzz.py reads it from outside, also when nothing in the machine moves any more.
 * In the middle of the region, out of the way of calls that are made with the region's edges.
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
    uint64_t next;                 /* number of the call that is being made, + 1 */
    uint64_t made[FUZZ_KINDS];     /* calls, by kind */
    uint64_t accepted[FUZZ_KINDS]; /* those of them that raised no exception and returned no error */
    uint64_t kind, instruction;    /* of the one that is being made */
    uint64_t a[8];                 /* its registers a0 to a7 */
};

struct fuzz_log {
    struct fuzz_slot slots[FUZZ_SLOTS];
    uint64_t lives; /* of the attacker */
    uint64_t spins; /* of the witness, which is guests/test/leak */
    uint64_t wrongs;
};

_Static_assert(sizeof(struct fuzz_slot) == 21 * 8, "layout known to scripts/tessera/fuzz.py");
_Static_assert(sizeof(struct fuzz_log) == (21 * FUZZ_SLOTS + 3) * 8, "layout known to scripts/tessera/fuzz.py");

#endif
