/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errata of the core that the hypervisor must work around. Each folder of arch/riscv/errata has
 * this header; HYP_ERRATA, which the board's board.mk sets, selects the folder. This one is for
 * cores without such errata: nothing here produces an instruction.
 */
#ifndef ERRATA_H
#define ERRATA_H

#include "types.h"

struct vcpu;

/* First step after the current VCPU `v` has raised a virtual-instruction exception. */
static inline void errata_virtual_instruction(struct vcpu *v)
{
    (void)v;
}

/* Loads the CLINT's mtime, whose page the firmware may let the hypervisor only read. */
static inline uint64_t errata_load_time(const volatile uint64_t *mtime)
{
    return *mtime;
}

/* What to report before the VM of the current VCPU is ended, or NULL if its guest can continue
 * after this instruction, which has raised a virtual-instruction exception. */
static inline const char *errata_fatal_instruction(ulong insn)
{
    (void)insn;
    return NULL;
}

#endif
