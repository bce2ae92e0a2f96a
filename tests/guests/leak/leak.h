/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A guest that detects information leaks: state of other VMs, or of itself before a restart, in
 * registers, CSRs, devices and memory (tests/e2e/test_leak.py).
 */
#ifndef LEAK_H
#define LEAK_H

#include <stdbool.h>
#include <stdint.h>

#include "emit.h"
#include "page.h"
#include "random.h"

#define LEAK_ROOTS 4U
#define LEAK_CODE 512U      /* maximum instructions of a spin */
#define LEAK_HANDLERS 4096U /* words available for the copy of the handler */
#define LEAK_PAGES 8U       /* memory pages that are checked */
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

/* The first mismatch. */
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
    uint64_t roots[LEAK_ROOTS][512]; /* identical, so that satp may select any of them */
    uint64_t low[512], lowest[512];  /* tables of the first GiB and of its first 2 MiB */
    uint64_t memory[LEAK_PAGES][LEAK_WORDS];
    uint64_t keys[LEAK_PAGES]; /* seeds of the contents of the pages */
    uint64_t message[LEAK_MESSAGE], inbox[LEAK_MESSAGE];
    uint32_t handlers[LEAK_HANDLERS];
    uint32_t code[LEAK_CODE];
    uint64_t masks[LEAK_CSRS]; /* writable bits of each CSR; 0: the CSR does not exist */
    struct random random;
    uint64_t tag;  /* the highest byte of every value of this VCPU */
    uint64_t hart; /* number in this VM */
    uint64_t vm;
    bool fp;          /* uses floating point */
    bool fp_loaded;   /* the FP registers hold f_want */
    bool quiet;       /* receives no IPIs */
    bool real;        /* time is real: see leak.c */
    bool devices;     /* this VCPU uses the VM's UART */
    uint8_t scratch;  /* contents of the UART's scratch register */
    bool line;        /* the UART's interrupt is high */
    uint64_t send_to; /* VM that this VM may send to, or LEAK_NOBODY */
    uint64_t from;    /* only VM that may send to this VM, or LEAK_NOBODY */
    uint64_t spins, away, traps, wrongs;
    struct leak_wrong first;
} __attribute__((aligned(4096)));

/* An event between the two loops of a spin, and its effects. Arrays of two are for a0 and a1. */
struct leak_event {
    uint32_t instruction;
    bool fixed; /* a0, a1, a6 and a7 must have the values given here */
    uint64_t a0, a1, a6, a7;
    bool changes[2], known[2]; /* it changes a0, a1; the new value is known */
    uint64_t after[2];
    bool waits;           /* ended by the timer */
    bool soft;            /* may raise a software interrupt */
    bool takes;           /* may receive a message */
    uint64_t cause, tval; /* of the exception; 0: none */
};

/** Records a mismatch of `want` and `got`. */
void leak_expect(struct leak *l, const char *what, uint64_t number, uint64_t want, uint64_t got);

/** A random value with the tag of this VCPU in its highest byte. */
static inline uint64_t leak_value(struct leak *l)
{
    return random_next(&l->random) >> 8 | l->tag << 56;
}

/* --- tables.c --- */

/** Turns translation on for this hart: identity mapping, and the page at address 0. */
void leak_translate(struct leak *l);

/** A random value of satp with the same mapping. */
uint64_t leak_satp(struct leak *l);

/* --- csr.c --- */

/** The CSR numbers, indexed by enum leak_csr. */
extern const uint16_t leak_csrs[LEAK_CSRS];

/** Writes a CSR and returns its previous value; *there: whether the CSR exists. */
uint64_t leak_exchange(struct leak *l, uint32_t csr, uint64_t value, bool *there);

/** Determines the writable bits of all CSRs of this hart. */
void leak_learn(struct leak *l);

/** Searches for writable CSRs that are not in leak_csrs and prints them. Returns their number. */
unsigned leak_scan(struct leak *l);

/* --- event.c --- */

/** Returns a random event. */
struct leak_event leak_event(struct leak *l);

/* --- spin.c --- */

/**
 * Fills every register of this hart, loops, executes an event, loops, and checks every register.
 */
void leak_spin(struct leak *l);

/* --- restart.c --- */

/** Checks for state from before the restart, then ends the VM in the next of several ways. */
void leak_restart(struct leak *l, const void *fdt);

#endif
