/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CVA6's erratum 3398 for machines without it (fault injection): a CSR instruction of a guest that
 * raises a virtual-instruction exception writes the CSR nevertheless. Test images have this folder
 * as a component and are linked with HYP_WRAP=exit_trap, so that the hypervisor calls this function
 * in place of its own first.
 */
#include "arch.h"
#include "csr.h"

bool guest_fetch(ulong va, uint32_t *insn);
void __real_exit_trap(struct vcpu *v, ulong cause);
void __wrap_exit_trap(struct vcpu *v, ulong cause);

/* csrw csr, a0: the only instruction that the test's guest uses */
#define INSN_CSRW_A0 0x00051073U
#define INSN_NOT_CSR 0x000fffffU
#define TRAPS_OWN (HSTATUS_SPV | HSTATUS_SPVP) /* the trap sets these after the write */

#define WRITER(csr)                      \
    static void write_##csr(ulong value) \
    {                                    \
        csr_write(CSR_##csr, value);     \
    }

WRITER(HEDELEG)
WRITER(HIDELEG)
WRITER(HIE)
WRITER(HCOUNTEREN)
WRITER(HENVCFG)
WRITER(HVIP)
WRITER(HGATP)

static void write_HSTATUS(ulong value)
{
    csr_write(CSR_HSTATUS, (value & ~TRAPS_OWN) | (csr_read(CSR_HSTATUS) & TRAPS_OWN));
}

static const struct {
    ulong csr;
    void (*write)(ulong value);
} written[] = {
    {CSR_HSTATUS, write_HSTATUS}, {CSR_HEDELEG, write_HEDELEG},       {CSR_HIDELEG, write_HIDELEG},
    {CSR_HIE, write_HIE},         {CSR_HCOUNTEREN, write_HCOUNTEREN}, {CSR_HENVCFG, write_HENVCFG},
    {CSR_HVIP, write_HVIP},       {CSR_HGATP, write_HGATP},
};

void __wrap_exit_trap(struct vcpu *v, ulong cause)
{
    uint32_t insn = (uint32_t)csr_read(CSR_STVAL);

    if (cause == CAUSE_VIRTUAL && (insn != 0 || guest_fetch(csr_read(CSR_SEPC), &insn)) &&
        (insn & INSN_NOT_CSR) == INSN_CSRW_A0) {
        for (unsigned i = 0; i < ARRAY_SIZE(written); i++) {
            if (written[i].csr == insn >> 20) {
                written[i].write(v->arch.x[10]);
            }
        }
    }
    __real_exit_trap(v, cause);
}
