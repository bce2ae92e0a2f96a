/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An attacker that makes random calls, each determined by seed, stream and number
 * (docs/fuzzing.md).
 */
#ifndef FUZZ_H
#define FUZZ_H

#define FUZZ_CALL_A 0 /* offsets for run.S */
#define FUZZ_CALL_CODE 64
#define FUZZ_CALL_CAUSE 80
#define FUZZ_CALL_T0 88
#define FUZZ_CALL_T1 96
#define FUZZ_CALL_SAVED 104
#define FUZZ_STACK 4096

#ifndef __ASSEMBLER__

#include <stddef.h>
#include <stdint.h>

#include "fuzz_log.h"
#include "random.h"

#define FUZZ_NO_TRAP (~0UL)

/* One call; tp points to it during the call. */
struct fuzz_call {
    uint64_t a[8];    /* a0 to a7, before and after */
    uint32_t code[4]; /* the instruction, and the return */
    uint64_t cause;   /* of its exception, or FUZZ_NO_TRAP */
    uint64_t t0, t1;  /* scratch of the handler */
    uint64_t saved[15];
    enum fuzz_kind kind;
};

_Static_assert(offsetof(struct fuzz_call, code) == FUZZ_CALL_CODE, "run.S counts on it");
_Static_assert(offsetof(struct fuzz_call, cause) == FUZZ_CALL_CAUSE, "run.S counts on it");
_Static_assert(offsetof(struct fuzz_call, saved) == FUZZ_CALL_SAVED, "run.S counts on it");

/**
 * Makes the call: loads a0 to a7, executes, stores a0 to a7. Returns unless the call ends the VM.
 */
void fuzz_run(struct fuzz_call *call);

/** Entries of further harts and of apps, with their number in a0; each has its own stack. */
void fuzz_hart_entry(void);
void fuzz_app_entry(void);

/** The trap vector. */
void fuzz_trap(void);

/** Generates call number `number` of a stream. */
void fuzz_make(struct fuzz_call *call, uint64_t seed, unsigned slot, uint64_t number);

/** A value that is plausible for a call, but mostly slightly wrong. */
uint64_t fuzz_any(struct random *r);
uint64_t fuzz_address(struct random *r);
uint64_t fuzz_size(struct random *r);

/** Buffer read by calls: mostly plausible parameters of an app. */
extern uint8_t fuzz_buffer[4096];

#endif
#endif
