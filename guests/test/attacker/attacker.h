/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hostile guest: what its attacks share, whatever the processor. Each has a folder with a header of its own
 * (attacker_arch.h: where things are, how to do what traps) and its table of attacks (attacks.def).
 */
#ifndef ATTACKER_H
#define ATTACKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attacker_arch.h"
#include "machine.h"

#define VM_ATTACKER 0UL
#define VM_WITNESS 1UL
#define VM_TICKER 2UL

#define MS (PLATFORM_TIMEBASE_HZ / 1000U)

#define ALL (~0UL)
#define TOP_BIT (~(ALL >> 1))
#define LENGTH_OF(array) (sizeof(array) / sizeof((array)[0]))

#define NOT_NOW (-1L)
#define NOT_SUPPORTED (-2L)
#define INVALID (-3L)
#define DENIED (-4L)
#define BAD_ADDRESS (-5L)
#define AVAILABLE (-6L)
#define BAD_SIZE (-11L)

/* --- attacks --- */

/* How an attack ends. What must happen besides is the test's to see. */
enum attack_end {
    RETURNS, /* the guest judges itself and starts anew */
    STOPS,   /* the hypervisor stops it for a trap that it cannot take */
    HANGS,   /* never, until somebody restarts it */
    OFF,     /* the VM is off */
};

/* What an attack has found out; the first thing wrong in words. */
struct verdict {
    unsigned long tried, wrong;
    char first[120];
};

/* Counts something tried; if not `right`, counts it wrong and keeps the words of the first. */
void judge(struct verdict *v, bool right, const char *format, ...) __attribute__((format(printf, 3, 4)));

struct attack {
    const char *name;
    enum attack_end ends;
    const char *must; /* what it must get */
    void (*run)(struct verdict *v, uint64_t argument);
    uint64_t argument;
};

/* --- guard.c --- */

/* Called first in every life. */
void guard_init(void);

/* Busy for so many ticks of time. */
void spin(uint64_t ticks);

/* The next of a row of numbers that look random; the row is the same at every start. */
uint64_t random_next(uint64_t *state);

/* --- calls.c --- */

struct call {
    unsigned long number, a0, a1, a2;
    long error;
};

/* A hypercall, which must have that error. */
void try_call(struct verdict *v, const struct call *call);
void try_calls(struct verdict *v, const struct call *calls, size_t count);

/* Messages and doorbells to the ticker, as fast as it goes; one of each. */
void flood(struct verdict *v);
void flood_once(void);

/* What messages to the ticker have to look like. */
void fill_message(void *message, size_t size);

/* Sends that to the ticker, and waits for what it answers: the same. */
void await_answer(struct verdict *v, const void *message, unsigned long size);

/* Attacks, for who has no better of that kind. */
void ipc_flood(struct verdict *v, uint64_t arg);
void app_deletes_itself(struct verdict *v, uint64_t arg);

/* --- apps.c --- */

extern volatile unsigned long app_jobs; /* begun; owner: whatever app runs */

/* Starts app `n` of the system file with that job. */
void app_start(struct verdict *v, unsigned int n, void (*job)(void *argument));

/* Starts all apps with that job, ten times as often, all at the same moments. */
void apps_start_together(struct verdict *v, void (*job)(void *argument));

/* Apps that end themselves by that job in the middle of it. The slot is free again each time. */
void app_ends_by(struct verdict *v, void (*job)(void *argument));

/* --- what the table names --- */
#define ATTACK(name, ends, must, function, argument) void function(struct verdict *v, uint64_t arg);
#include "attacks.def"
#undef ATTACK

#endif
