/* SPDX-License-Identifier: Apache-2.0 */
/* Debugger access to a VCPU, which is halted: its registers, with the numbers of GDB's remote
 * protocol. It serves services/debug through arch.h, with sched_lock held. */
#include "arch.h"
#include "lib.h"

#define GDB_PC 32U
#define GDB_F 33U
#define GDB_CSR 65U
#define GDB_PRIVILEGE 4161U
#define CSR_VS 0x100U /* distance of a VS-mode CSR's number from its supervisor CSR's */
#define VS(csr) (GDB_CSR + (csr) - CSR_VS)
#define SEEN(csr, member) {VS(csr), (uint16_t)offsetof(struct arch_vcpu, member)}

/* VS-mode CSRs, under the numbers of the guest's CSRs. */
static const struct {
    uint16_t number, offset; /* GDB's number; in struct arch_vcpu, bytes */
} csrs[] = {
    SEEN(CSR_VSSTATUS, vsstatus),
    {GDB_CSR + CSR_FCSR, (uint16_t)offsetof(struct arch_vcpu, fcsr)},
    SEEN(CSR_VSIE, vsie),
    SEEN(CSR_VSTVEC, vstvec),
    SEEN(CSR_VSSCRATCH, vsscratch),
    SEEN(CSR_VSEPC, vsepc),
    SEEN(CSR_VSCAUSE, vscause),
    SEEN(CSR_VSTVAL, vstval),
    SEEN(CSR_VSATP, vsatp),
};

bool arch_vcpu_get(const struct vcpu *v, unsigned number, uint64_t *value)
{
    const struct arch_vcpu *a = &v->arch;

    if (number == 0) { /* x[0] holds the hart's stack pointer */
        *value = 0;
        return true;
    }
    if (number <= GDB_PC) {
        *value = number == GDB_PC ? a->sepc : a->x[number];
        return true;
    }
    if (number < GDB_CSR) {
        *value = a->fp != NULL ? a->f[number - GDB_F] : 0;
        return true;
    }
    if (number == GDB_PRIVILEGE) {
        *value = (a->sstatus & SSTATUS_SPP) != 0;
        return true;
    }
    for (unsigned i = 0; i < ARRAY_SIZE(csrs); i++) {
        if (csrs[i].number == number) {
            *value = *(const ulong *)(const void *)((const char *)a + csrs[i].offset);
            return true;
        }
    }
    return false;
}

bool arch_vcpu_set(struct vcpu *v, unsigned number, uint64_t value)
{
    struct arch_vcpu *a = &v->arch;

    if (number == 0 || number >= GDB_CSR) { /* x[0] is the hypervisor's stack pointer */
        return false;
    }
    if (number < GDB_PC) {
        a->x[number] = value;
    } else if (number == GDB_PC) {
        a->sepc = value & ~UINT64_C(1);
    } else {
        if (a->fp == NULL) { /* f[] is undefined; the registers are all 0 */
            clear_words(a->f, sizeof(a->f));
        }
        a->f[number - GDB_F] = value;
        a->fp = v;
    }
    return true;
}

/* As exit_inject(), on saved state. */
void arch_vcpu_breakpoint(struct vcpu *v)
{
    struct arch_vcpu *a = &v->arch;
    ulong before = a->vsstatus;

    a->vsepc = a->sepc;
    a->vscause = CAUSE_BREAKPOINT;
    a->vstval = a->sepc;
    a->vsstatus = (before & ~(SSTATUS_SPP | SSTATUS_SPIE | SSTATUS_SIE)) |
                  (a->sstatus & SSTATUS_SPP) | ((before & SSTATUS_SIE) != 0 ? SSTATUS_SPIE : 0);
    a->sstatus |= SSTATUS_SPP;
    a->sepc = a->vstvec & ~3UL;
}
