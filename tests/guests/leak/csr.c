/* SPDX-License-Identifier: Apache-2.0 */
/* Access to CSRs by a number known only at run time: each access is a generated instruction. */
#include "csr.h"

#include "leak.h"
#include "print.h"
#include "trap.h"

#define CSR_FFLAGS 0x001U
#define CSR_FRM 0x002U
#define CSR_TOP 0x1000U
#define CSR_LEVEL(n) ((n) >> 8 & 3U) /* lowest privilege with access: 0 user, 1 supervisor */
#define CSR_READ_ONLY(n) ((n) >> 10 == 3U)

const uint16_t leak_csrs[LEAK_CSRS] = {
    [LEAK_STVEC] = 0x105,   [LEAK_SCOUNTEREN] = 0x106,
    [LEAK_SENVCFG] = 0x10a, [LEAK_SSCRATCH] = 0x140,
    [LEAK_SEPC] = 0x141,    [LEAK_SCAUSE] = 0x142,
    [LEAK_STVAL] = 0x143,   [LEAK_STIMECMP] = CSR_STIMECMP,
    [LEAK_SIP] = 0x144,     [LEAK_SATP] = 0x180,
    [LEAK_SIE] = 0x104,     [LEAK_FCSR] = 0x003,
    [LEAK_SSTATUS] = 0x100,
};

static volatile bool trapped; /* not shared: used by the boot code of one hart at a time */

static bool skip(struct trap_frame *frame, uint64_t cause, uint64_t stval)
{
    (void)stval;
    trapped = true;
    frame->sepc += 4;
    return cause == CAUSE_ILLEGAL_INSTRUCTION;
}

/* Calls the instruction, followed by a return, as a function of one argument. */
static uint64_t execute(struct leak *l, uint32_t instruction, uint64_t argument, bool *there)
{
    struct emitter e = {l->code};
    uint64_t (*run)(uint64_t) = (uint64_t (*)(uint64_t))(uintptr_t)l->code;
    uint64_t value;

    emit(&e, instruction);
    emit(&e, INSN_RET);
    emit_done();
    trap_set_exception(skip);
    trapped = false;
    value = run(argument);
    trap_set_exception(NULL);
    *there = !trapped;
    return value;
}

#define A0 10U

uint64_t leak_exchange(struct leak *l, uint32_t csr, uint64_t value, bool *there)
{
    return execute(l, insn_csr(FUNCT3_CSRRW, A0, csr, A0), value, there);
}

static uint64_t read(struct leak *l, uint32_t csr, bool *there)
{
    return execute(l, insn_csr(FUNCT3_CSRRS, A0, csr, 0), 0, there);
}

/* Writable bits of a CSR, found by setting all bits; restores the CSR. */
static uint64_t takes(struct leak *l, uint32_t csr)
{
    bool there;
    uint64_t before = read(l, csr, &there), ones, zeros;

    if (!there) {
        return 0;
    }
    leak_exchange(l, csr, ~0UL, &there);
    ones = leak_exchange(l, csr, 0, &there);
    zeros = leak_exchange(l, csr, before, &there);
    return there ? ones & ~zeros : 0;
}

void leak_learn(struct leak *l)
{
    static const enum leak_csr plain[] = {LEAK_SCOUNTEREN, LEAK_SENVCFG, LEAK_SSCRATCH, LEAK_SEPC,
                                          LEAK_SCAUSE,     LEAK_STVAL,   LEAK_STIMECMP, LEAK_FCSR};

    /*
     * The bits of the other CSRs are known, and trying them would break the execution of this code.
     */
    for (unsigned i = 0; i < LEAK_CSRS; i++) {
        l->masks[i] = ~0UL;
    }
    csr_set_sstatus(SSTATUS_FS_INITIAL);
    for (unsigned i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
        l->masks[plain[i]] = takes(l, leak_csrs[plain[i]]);
    }
}

static bool is_known(uint32_t csr)
{
    for (unsigned i = 0; i < LEAK_CSRS; i++) {
        if (leak_csrs[i] == csr) {
            return true;
        }
    }
    return csr == CSR_FFLAGS || csr == CSR_FRM;
}

unsigned leak_scan(struct leak *l)
{
    unsigned found = 0;

    csr_set_sstatus(SSTATUS_FS_INITIAL);
    for (uint32_t csr = 0; csr < CSR_TOP; csr++) {
        if (CSR_LEVEL(csr) <= 1 && !CSR_READ_ONLY(csr) && !is_known(csr) && takes(l, csr) != 0) {
            print("leak: CSR 0x%x can be written and is not known\n", csr);
            found++;
        }
    }
    return found;
}
