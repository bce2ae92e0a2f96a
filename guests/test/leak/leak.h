/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A guest that looks for what does not belong to it: what other VMs, or its own former lives, have left in registers,
 * CSRs, devices and memory (tests/e2e/test_leak.py).
 */
#ifndef LEAK_H
#define LEAK_H

#include <stdbool.h>
#include <stdint.h>

#include "emit.h"
#include "page.h"
#include "random.h"

#define LEAK_ROOTS 4U
#define LEAK_CODE 512U      /* instructions of a spin at most */
#define LEAK_HANDLERS 4096U /* words among which the handler has its place */
#define LEAK_PAGES 8U       /* of memory whose content is checked */
#define LEAK_WORDS 512U     /* in a page */
#define LEAK_MESSAGE 16U    /* words */
#define LEAK_NOBODY (~0UL)

/* Every CSR that a guest can write, in the order in which a spin writes them. */
enum leak_csr {
    LEAK_STVEC,
    LEAK_SCOUNTEREN,
    LEAK_SENVCFG,
    LEAK_SSCRATCH,
    LEAK_SEPC,
    LEAK_SCAUSE,
    LEAK_STVAL,
    LEAK_STIMECMP,
    LEAK_SIP,
    LEAK_SATP,
    LEAK_SIE,
    LEAK_FCSR,
    LEAK_SSTATUS,
};

_Static_assert(LEAK_SSTATUS + 1 == LEAK_CSRS, "page.h counts on it");

/* The first thing that was found wrong. */
struct leak_wrong {
    const char *what; /* x, f, csr, ...; NULL: nothing yet */
    uint64_t number;
    uint64_t want, got;
    uint64_t spin;
};

/* One VCPU of this VM; page-aligned tables first. */
struct leak {
    union {
        struct leak_page page;
        uint8_t whole[4096];
    };
    uint64_t roots[LEAK_ROOTS][512]; /* all the same, so that satp can be one or the other */
    uint64_t low[512], lowest[512];  /* the first GiB; its first 2 MiB */
    uint64_t memory[LEAK_PAGES][LEAK_WORDS];
    uint64_t keys[LEAK_PAGES]; /* what the pages are filled from */
    uint64_t message[LEAK_MESSAGE], inbox[LEAK_MESSAGE];
    uint32_t handlers[LEAK_HANDLERS];
    uint32_t code[LEAK_CODE];
    uint64_t masks[LEAK_CSRS]; /* bits that a CSR takes; 0: it is not there */
    struct random random;
    uint64_t tag;  /* the highest byte of every value of this VCPU */
    uint64_t hart; /* in this VM */
    uint64_t vm;
    bool fp;          /* uses floating point */
    bool fp_loaded;   /* f_want is what the registers hold */
    bool quiet;       /* nobody sends it interrupts */
    bool real;        /* time is real: see leak.c */
    bool devices;     /* the VM's UART is this VCPU's */
    uint8_t scratch;  /* what the UART's scratch register holds */
    bool line;        /* the UART's interrupt is high */
    uint64_t send_to; /* a VM that it may send to, or LEAK_NOBODY */
    uint64_t from;    /* the only VM that may send to it, or LEAK_NOBODY */
    uint64_t spins, away, traps, wrongs;
    struct leak_wrong first;
} __attribute__((aligned(4096)));

/* What a VCPU does between two loops, and what that changes. Registers are a0 and a1 where there are two. */
struct leak_event {
    uint32_t instruction;
    bool fixed; /* a0, a1, a6 and a7 have to be as said here */
    uint64_t a0, a1, a6, a7;
    bool changes[2], known[2]; /* it writes a0, a1; and is known to write what follows */
    uint64_t after[2];
    bool waits;           /* the timer has to end it */
    bool soft;            /* it may raise a software interrupt */
    bool takes;           /* a message, perhaps */
    uint64_t cause, tval; /* of the exception it raises; 0: none */
};

/** Notes what is wrong, if it is. */
void leak_expect(struct leak *l, const char *what, uint64_t number, uint64_t want, uint64_t got);

/** A random value that tells whose it is. */
static inline uint64_t leak_value(struct leak *l)
{
    return random_next(&l->random) >> 8 | l->tag << 56;
}

/* --- tables.c --- */

/** Translation on for this hart: everything where it is, and the page at address 0. */
void leak_translate(struct leak *l);

/** A value for satp that means the same. */
uint64_t leak_satp(struct leak *l);

/* --- csr.c --- */

/** The CSRs by number, as enum leak_csr has them. */
extern const uint16_t leak_csrs[LEAK_CSRS];

/** Writes a CSR, returns what it held, and in *there whether it is there at all. */
uint64_t leak_exchange(struct leak *l, uint32_t csr, uint64_t value, bool *there);

/** Finds out which bits of which CSRs this hart has. */
void leak_learn(struct leak *l);

/** Looks for CSRs that can be written and that leak_csrs does not know; prints each. Returns how many there are. */
unsigned leak_scan(struct leak *l);

/* --- event.c --- */

/** One of the things that may happen. */
struct leak_event leak_event(struct leak *l);

/* --- spin.c --- */

/** Every register of this hart filled, time passes, something happens, time passes, every register is looked at. */
void leak_spin(struct leak *l);

/* --- restart.c --- */

/** What a former life left; then ends this one, too, in the next of several ways. */
void leak_restart(struct leak *l, const void *fdt);

#endif
