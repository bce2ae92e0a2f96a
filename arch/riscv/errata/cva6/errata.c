/* SPDX-License-Identifier: Apache-2.0 */
/* CVA6's erratum 3398: a guest's CSR instruction that raises a virtual-instruction exception (cause
 * 22) writes the CSR nevertheless. The exception is always the hypervisor's: hedeleg has no bit for
 * it. */
#include "errata.h"
#include "arch.h"
#include "hart.h"
#include "internal.h"
#include "sched.h"

#define INSN_FUNCT3 12U
#define INSN_SOURCE (31UL << 15) /* rs1, or the immediate */

/* Pending interrupts of the VCPU as the hypervisor knows them. VSSIP is left: the guest may write
 * it by sip anyway. */
static ulong known_hvip(const struct vcpu *v)
{
    const struct vm *vm = v->vm;
    ulong bits = csr_read(CSR_HVIP) & (1UL << IRQ_VSSI);

    if (v->id < vm->nvcpus && vm->arch.plic.context[v->id].raised) {
        bits |= 1UL << IRQ_VSEI;
    }
    if (!riscv_facts.sstc && v->arch.vstimecmp <= arch_time()) {
        bits |= 1UL << IRQ_VSTI;
    }
    return bits;
}

/* hgatp first: until it is right, a guest access by HLV or HLVX reaches any memory. The fence
 * removes translations made by the wrong tables, or under the VMID of another VM. hstatus.SPVP and
 * sstatus.SPP both hold the guest's mode; the trap has set them after the guest's write. hie is
 * left: its bits are those of the guest's own sie. */
void errata_write_csrs(struct vcpu *v)
{
    csr_write(CSR_HGATP, v->arch.hgatp);
    __asm__ volatile(".insn r 0x73, 0, 0x31, x0, x0, x0" ::: "memory"); /* hfence.gvma */
    hart_guest_csrs();
    if ((csr_read(CSR_SSTATUS) & SSTATUS_SPP) == 0) {
        csr_clear(CSR_HSTATUS, HSTATUS_SPVP);
    }
    /* With a debugger, breakpoints of all VMs reach the hypervisor, until one of another VM
     * does. */
    arch_cpu_breakpoints(sched_watch != NULL);
    csr_write(CSR_HVIP, known_hvip(v));
}

/* A write from VU-mode has changed a register of the guest's kernel, whose value is lost. CSRRW
 * always writes; CSRRS and CSRRC do unless rs1 is x0 or the immediate 0. */
const char *errata_fatal_instruction(ulong insn)
{
    ulong kind = (insn >> INSN_FUNCT3) & 3U;
    bool writes = kind == 1 || (kind != 0 && (insn & INSN_SOURCE) != 0);

    return writes && (csr_read(CSR_SSTATUS) & SSTATUS_SPP) == 0
               ? "a CSR of its kernel was written from user mode (erratum 3398 of CVA6)"
               : NULL;
}
