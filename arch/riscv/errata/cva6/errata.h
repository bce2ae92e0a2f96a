/* SPDX-License-Identifier: Apache-2.0 */
/* Errata of CVA6 with the H extension; docs/errata-cva6.md lists them. The functions are described
 * in ../none/errata.h. */
#ifndef ERRATA_H
#define ERRATA_H

#include "csr.h"
#include "types.h"

struct vcpu;

/* For errata_virtual_instruction(): writes every CSR of the H extension again that a guest can have
 * changed. */
void errata_write_csrs(struct vcpu *v);

/* not 0 in CSR instructions, 0 in all others of the SYSTEM opcode */
#define INSN_FUNCT3_CSR 0x3000UL

/* Erratum 3398: a CSR instruction that raises this exception writes the CSR nevertheless. WFI,
 * which comes often, is no CSR instruction and pays for nothing but this condition. */
static inline void errata_virtual_instruction(struct vcpu *v)
{
    ulong stval = csr_read(CSR_STVAL); /* the instruction, or 0 on cores that do not tell */

    if (stval == 0 || (stval & INSN_FUNCT3_CSR) != 0) {
        errata_write_csrs(v);
    }
}

/* Erratum 3234: PMP checks an access by the type of the one that follows in the next cycle, so a
 * store there would make this load trap. The second instruction waits for the value, and everything
 * behind waits for the second instruction. */
static inline uint64_t errata_load_time(const volatile uint64_t *mtime)
{
    uint64_t now;

    __asm__ volatile("ld %0, %1\n\tmv %0, %0" : "=r"(now) : "m"(*mtime));
    return now;
}

const char *errata_fatal_instruction(ulong insn);

#endif
