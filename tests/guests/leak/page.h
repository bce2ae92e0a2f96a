/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page at address 0 of each VCPU: code can load and store every register without a base
 * register. Offsets are below 2048, the range of an immediate.
 */
#ifndef LEAK_PAGE_H
#define LEAK_PAGE_H

#define LEAK_CSRS 13

#define PAGE_X_WANT 0
#define PAGE_X_GOT 256
#define PAGE_F_WANT 512
#define PAGE_F_GOT 768
#define PAGE_CSR_WANT 1024
#define PAGE_CSR_GOT 1152
#define PAGE_CONTEXT 1280 /* registers of the C code */
#define PAGE_COUNT 1536   /* second loop counter of a spin */
#define PAGE_T0 1544      /* scratch of the handler */
#define PAGE_T1 1552
#define PAGE_TRAPS 1560 /* number of traps so far */
#define PAGE_CAUSE 1568 /* of the last one */
#define PAGE_EPC 1576   /* resume address of the last one */
#define PAGE_TVAL 1584
#define PAGE_FIRED 1592 /* interrupts disabled by the handler: bits of sie */

#ifndef __ASSEMBLER__

#include <stddef.h>
#include <stdint.h>

struct leak_page {
    uint64_t x_want[32], x_got[32];
    uint64_t f_want[32], f_got[32];
    uint64_t csr_want[16], csr_got[16];
    uint64_t context[32];
    uint64_t count;
    uint64_t t0, t1;
    uint64_t traps, cause, epc, tval, fired;
};

_Static_assert(offsetof(struct leak_page, x_got) == PAGE_X_GOT, "offsets that assembly uses");
_Static_assert(offsetof(struct leak_page, f_want) == PAGE_F_WANT, "offsets that assembly uses");
_Static_assert(offsetof(struct leak_page, csr_want) == PAGE_CSR_WANT, "offsets that assembly uses");
_Static_assert(offsetof(struct leak_page, csr_got) == PAGE_CSR_GOT, "offsets that assembly uses");
_Static_assert(offsetof(struct leak_page, context) == PAGE_CONTEXT, "offsets that assembly uses");
_Static_assert(offsetof(struct leak_page, count) == PAGE_COUNT, "offsets that assembly uses");
_Static_assert(offsetof(struct leak_page, fired) == PAGE_FIRED, "offsets that assembly uses");
_Static_assert(sizeof(struct leak_page) <= 2048, "an immediate reaches all of it");

/* Start and end of a position-independent trap handler. */
extern const uint32_t leak_handler[], leak_handler_end[];

#endif
#endif
