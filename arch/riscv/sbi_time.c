/* SPDX-License-Identifier: Apache-2.0 */
/* SBI TIME, IPI and RFENCE of guests. Owns no state: deadlines are the VCPU's, and interrupts to
 * other VCPUs go through core/vcpu.c. */
#include "arch.h"
#include "atomic.h"
#include "internal.h"
#include "sched.h"

void sbi_set_timer(struct vcpu *v, ticks_t deadline)
{
    if (riscv_facts.sstc) {
        csr_write(CSR_VSTIMECMP, deadline);
        return;
    }
    v->arch.vstimecmp = deadline;
    spin_lock(&sched_lock);
    timer_arm(&v->timer, deadline);
    atomic_and_relaxed(&v->pending, ~(1UL << IRQ_VSTI)); /* another hart may have raised it */
    spin_unlock(&sched_lock);
    csr_clear(CSR_HVIP, 1UL << IRQ_VSTI);
}

static struct hcall_ret sbi_time(ulong a0, ulong a1, ulong a2, ulong a3, ulong a4, ulong a5,
                                 ulong fid)
{
    (void)a1, (void)a2, (void)a3, (void)a4, (void)a5;
    if (fid != SBI_TIME_SET_TIMER) {
        return SBI_RET(HCALL_ERR_NOT_SUPPORTED);
    }
    sbi_set_timer(cpu_self()->current, a0);
    return SBI_RET(HCALL_OK);
}
SBI_EXTENSION(SBI_EXT_TIME, sbi_time, 12);

#define RAISED_AT_ONCE 3U

/* Raises a software interrupt in some VCPUs of the mask, with one IPI call for their harts. Returns
 * the others, for which the guest repeats the call. */
static ulong raise_some(struct vm *vm, ulong vcpus)
{
    cpu_gather_kicks();
    for (unsigned raised = 0; vcpus != 0 && raised < RAISED_AT_ONCE; raised++) {
        vcpu_raise(&vm->vcpus[bit_lowest(vcpus)], 1UL << IRQ_VSSI);
        vcpus &= vcpus - 1U;
    }
    cpu_end_kicks();
    return vcpus;
}

static struct hcall_ret sbi_ipi(ulong a0, ulong a1, ulong a2, ulong a3, ulong a4, ulong a5,
                                ulong fid)
{
    struct vm *vm = cpu_self()->current->vm;
    ulong vcpus;

    (void)a2, (void)a3, (void)a4, (void)a5;
    if (fid != SBI_IPI_SEND_IPI || !sbi_mask(vm, a0, a1, &vcpus)) {
        return SBI_RET(fid != SBI_IPI_SEND_IPI ? HCALL_ERR_NOT_SUPPORTED : HCALL_ERR_INVALID_PARAM);
    }
    vcpus = raise_some(vm, vcpus);
    return vcpus != 0 ? sbi_again(vcpus, 0) : SBI_RET(HCALL_OK);
}
SBI_EXTENSION(SBI_EXT_IPI, sbi_ipi, 13);

#define RFENCE_LAST SBI_RFENCE_REMOTE_SFENCE_VMA_ASID /* guests have no hfence */

/* Ignores ranges and ASIDs: a full fence is always correct, and is a single instruction. */
static struct hcall_ret sbi_rfence(ulong a0, ulong a1, ulong a2, ulong a3, ulong a4, ulong a5,
                                   ulong fid)
{
    struct vm *vm = cpu_self()->current->vm;
    ulong vcpus;

    (void)a2, (void)a3, (void)a4, (void)a5;
    if (fid > RFENCE_LAST || !sbi_mask(vm, a0, a1, &vcpus)) {
        return SBI_RET(fid > RFENCE_LAST ? HCALL_ERR_NOT_SUPPORTED : HCALL_ERR_INVALID_PARAM);
    }
    vcpus = fence_remote(vm, vcpus);
    return vcpus != 0 ? sbi_again(vcpus, 0) : SBI_RET(HCALL_OK);
}
SBI_EXTENSION(SBI_EXT_RFENCE, sbi_rfence, 14);
