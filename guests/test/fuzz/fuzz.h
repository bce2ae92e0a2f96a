/* SPDX-License-Identifier: Apache-2.0 */
/* An attacker that makes random calls for ever, each known by its seed, its stream and its number (docs/fuzzing.md). */
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

/* One call, as it is made; while it is, tp points here. */
struct fuzz_call {
    uint64_t a[8];    /* a0 to a7, before and after */
    uint32_t code[4]; /* the instruction, and the way back */
    uint64_t cause;   /* of the exception that it raised, or FUZZ_NO_TRAP */
    uint64_t t0, t1;  /* the handler's own */
    uint64_t saved[15];
    enum fuzz_kind kind;
};

_Static_assert(offsetof(struct fuzz_call, code) == FUZZ_CALL_CODE, "run.S counts on it");
_Static_assert(offsetof(struct fuzz_call, cause) == FUZZ_CALL_CAUSE, "run.S counts on it");
_Static_assert(offsetof(struct fuzz_call, saved) == FUZZ_CALL_SAVED, "run.S counts on it");

/** Makes the call: loads a0 to a7, executes, stores them. Whatever happens comes back here, or in a new life. */
void fuzz_run(struct fuzz_call *call);

/** Entries of further harts and of apps: a0 says which, and each has a stack of its own. */
void fuzz_hart_entry(void);
void fuzz_app_entry(void);

/** The trap vector. */
void fuzz_trap(void);

/** Fills in call number `number` of a stream. */
void fuzz_make(struct fuzz_call *call, uint64_t seed, unsigned slot, uint64_t number);

/** A value that a call may take for what it expects, of which most are a little off. */
uint64_t fuzz_any(struct random *r);
uint64_t fuzz_address(struct random *r);
uint64_t fuzz_size(struct random *r);

/** What calls read: parameters of an app that could be right, mostly. */
extern uint8_t fuzz_buffer[4096];

#endif
#endif
