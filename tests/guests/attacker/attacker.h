/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hostile guest: declarations shared by the attacks on all architectures. Each architecture has
 * a folder with a header (attacker_arch.h: addresses, guarded execution) and a table of attacks
 * (attacks.def).
 */
#ifndef ATTACKER_H
#define ATTACKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "attacker_arch.h"
#include "hypercall_abi.h"
#include "machine.h"

#define VM_ATTACKER 0UL
#define VM_WITNESS 1UL
#define VM_TICKER 2UL

#define MS (PLATFORM_TIMEBASE_HZ / 1000U)

#define ALL (~0UL)
#define TOP_BIT (~(ALL >> 1))
#define LENGTH_OF(array) (sizeof(array) / sizeof((array)[0]))

/* --- attacks --- */

/* How an attack ends. The test checks all other effects. */
enum attack_end {
    RETURNS, /* the guest checks the result and reboots */
    STOPS,   /* the hypervisor stops the VM for a trap that the guest cannot take */
    HANGS,   /* does not end until the VM is restarted */
    OFF,     /* the VM shuts down */
};

/* Result of an attack, with a description of the first failure. */
struct verdict {
    unsigned long tried, wrong;
    char first[120];
};

/* Counts a trial; if not `right`, counts a failure and keeps the description of the first. */
void judge(struct verdict *v, bool right, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

struct attack {
    const char *name;
    enum attack_end ends;
    const char *must; /* expected result, as text */
    void (*run)(struct verdict *v, uint64_t argument);
    uint64_t argument;
};

/* --- guard.c --- */

/* Called first after every start. */
void guard_init(void);

/* Busy-waits for `ticks` ticks of time. */
void spin(uint64_t ticks);

/* Next pseudo-random number; the sequence is the same after every start. */
uint64_t random_next(uint64_t *state);

/* --- calls.c --- */

struct call {
    unsigned long number, a0, a1, a2;
    long error;
};

/* Makes a hypercall, which must return call->error. */
void try_call(struct verdict *v, const struct call *call);
void try_calls(struct verdict *v, const struct call *calls, size_t count);

/* Messages and doorbells to the ticker, as fast as possible; one of each. */
void flood(struct verdict *v);
void flood_once(void);

/* Fills a message with the contents that the ticker expects. */
void fill_message(void *message, size_t size);

/* Sends a message to the ticker and waits for the echo. */
void await_answer(struct verdict *v, const void *message, unsigned long size);

/* Attacks shared by both architectures. */
void ipc_flood(struct verdict *v, uint64_t arg);
void app_deletes_itself(struct verdict *v, uint64_t arg);

/* --- apps.c --- */

extern volatile unsigned long app_jobs; /* jobs started; owner: the running app */

/* Starts app `n` of the system file with job `job`. */
void app_start(struct verdict *v, unsigned int n, void (*job)(void *argument));

/* Starts all apps with job `job`, at ten times the rate, with common release times. */
void apps_start_together(struct verdict *v, void (*job)(void *argument));

/* Apps that `job` ends in the middle of the job. Each time the slot must be free again. */
void app_ends_by(struct verdict *v, void (*job)(void *argument));

/* --- attacks of the table --- */
#define ATTACK(name, ends, must, function, argument) void function(struct verdict *v, uint64_t arg);
#include "attacks.def"
#undef ATTACK

#endif
