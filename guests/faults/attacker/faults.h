/* SPDX-License-Identifier: Apache-2.0 */
/* The hostile guest: what its attacks share. The table of attacks is attacks.def. */
#ifndef FAULTS_H
#define FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "csr.h"
#include "trap.h"

/* Where things are in tests/e2e/systems/faults.dts. The attacker's RAM is not where the machine's is, so that the
 * addresses at which the hypervisor and other VMs really are mean nothing else to it. */
#define RAM_BASE 0x90000000UL
#define RAM_SIZE 0x400000UL
#define RAM_END (RAM_BASE + RAM_SIZE)
#define RAM_FREE RAM_BASE /* 2 MiB below the image that nothing uses */
#define SHARED_BASE 0xa0000000UL
#define SHARED_SIZE 0x200000UL
#define SHARED_END (SHARED_BASE + SHARED_SIZE)
#define REAL_FIRMWARE 0x80000000UL
#define REAL_HYPERVISOR 0x80200000UL
#define REAL_WITNESS 0x88000000UL
#define REAL_TICKER 0x8a000000UL
#define REAL_OWN 0x8c000000UL
#define UART_SIZE 0x100UL
#define PLIC_SIZE 0x600000UL

#define VM_ATTACKER 0UL
#define VM_WITNESS 1UL
#define VM_TICKER 2UL
#define OWN_HARTS 2UL

#define MS (PLATFORM_TIMEBASE_HZ / 1000U)
#define CAUSE_NONE (~0UL)
#define CAUSE_STORE_MISALIGNED 6UL
#define CAUSE_ECALL_U 8UL
#define CAUSE_FETCH_PAGE 12UL
#define CAUSE_LOAD_PAGE 13UL
#define CAUSE_STORE_PAGE 15UL

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

/* --- guard.c: doing what traps --- */

enum mode {
    SUPERVISOR,
    USER
};

/* What an instruction came to: cause CAUSE_NONE if it went through. */
struct caught {
    uint64_t cause, stval, sepc;
    uint64_t value; /* a0 afterwards */
};

/* Runs code with a0 and a1 as given; code for user mode ends in an ecall, which counts as going through. */
struct caught guarded(enum mode mode, uint64_t entry, uint64_t a0, uint64_t a1);

/* Runs one instruction. */
struct caught try_word(enum mode mode, uint32_t word, uint64_t a0, uint64_t a1);

void guard_init(void);

/* Busy for so many ticks of time. */
void spin(uint64_t ticks);

/* A second hart runs `function` from here on. False: it could not be started. */
bool second_hart(void (*function)(unsigned long hart, void *argument));

/* The next of a row of numbers that look random; the row is the same at every start. */
uint64_t random_next(uint64_t *state);

#define WORD_RET 0x00008067U
#define WORD_ECALL 0x00000073U
#define WORD_WFI 0x10500073U
#define WORD_LD 0x00053503U /* ld a0, 0(a0) */
#define WORD_LW 0x00052503U
#define WORD_SD 0x00b53023U /* sd a1, 0(a0) */
#define WORD_JR 0x00050067U /* jr a0 */

/* --- what the table names --- */
#define ATTACK(name, ends, must, function, argument) void function(struct verdict *v, uint64_t arg);
#include "attacks.def"
#undef ATTACK

/* Called first in every life: an attack that resets itself for ever begins anew, and this does not return. */
void reset_again(void);

/* Arguments of memory_attack: an access, or'ed with a target. */
#define LOADS 0x01UL
#define STORES 0x02UL
#define ATOMICS 0x04UL
#define EXECUTES 0x08UL
#define FLOATS 0x10UL
#define ALL_ACCESSES 0x1fUL
#define ODD 0x40UL     /* at odd addresses */
#define BY_USER 0x80UL /* in user mode */
#define AT(target) ((uint64_t)(target) << 8)
enum target {
    FIRMWARE,
    HYPERVISOR,
    WITNESS,
    TICKER,
    OWN_REAL,
    MMIO,
    EDGE,
    SUPERPAGE,
    BEYOND,
    TARGETS
};

#endif
