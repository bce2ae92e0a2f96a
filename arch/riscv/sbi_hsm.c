/* SPDX-License-Identifier: Apache-2.0 */
/* SBI HSM (start, stop and suspend of the guest's harts) and SRST (reset and shutdown of the
 * guest). */
#include "arch.h"
#include "internal.h"
#include "sched.h"

#define HSM_STARTED 0UL
#define HSM_STOPPED 1UL
#define HSM_STOP_PENDING 3UL
#define HSM_SUSPENDED 4UL
#define HSM_SUSPEND_RETENTIVE 0UL
#define HSM_SUSPEND_NON_RETENTIVE 0x80000000UL

static struct hcall_ret hsm_start(struct vm *vm, ulong hart, ulong entry, ulong arg)
{
    hpa_t hpa;

    if (hart >= vm->nvcpus) {
        return SBI_RET(HCALL_ERR_INVALID_PARAM);
    }
    if (!memmap_ram(&vm->memmap, entry, 4, &hpa)) {
        return SBI_RET(HCALL_ERR_INVALID_ADDRESS);
    }
    return SBI_RET(vcpu_start(&vm->vcpus[hart], entry, arg) ? HCALL_OK
                                                            : HCALL_ERR_ALREADY_AVAILABLE);
}

/* Under sched_lock. */
static ulong hsm_state(const struct vcpu *v)
{
    if (v->state == VCPU_OFF) {
        return HSM_STOPPED;
    }
    if ((v->request & VCPU_REQ_OFF) != 0) {
        return HSM_STOP_PENDING;
    }
    return v->state == VCPU_BLOCKED && v->arch.suspended ? HSM_SUSPENDED : HSM_STARTED;
}

static struct hcall_ret hsm_status(const struct vm *vm, ulong hart)
{
    ulong state;

    if (hart >= vm->nvcpus) {
        return SBI_RET(HCALL_ERR_INVALID_PARAM);
    }
    spin_lock(&sched_lock);
    state = hsm_state(&vm->vcpus[hart]);
    spin_unlock(&sched_lock);
    return SBI_VALUE(state);
}

static struct hcall_ret hsm_suspend(struct vcpu *v, ulong type)
{
    if (type != HSM_SUSPEND_RETENTIVE) {
        return SBI_RET(type == HSM_SUSPEND_NON_RETENTIVE ? HCALL_ERR_NOT_SUPPORTED
                                                         : HCALL_ERR_INVALID_PARAM);
    }
    v->arch.suspended = true;
    vcpu_wait(v);
    return SBI_RET(HCALL_OK);
}

static struct hcall_ret sbi_hsm(ulong a0, ulong a1, ulong a2, ulong a3, ulong a4, ulong a5,
                                ulong fid)
{
    struct vcpu *v = cpu_self()->current;

    (void)a3, (void)a4, (void)a5;
    switch (fid) {
    case SBI_HSM_HART_START:
        return hsm_start(v->vm, a0, a1, a2);
    case SBI_HSM_HART_STOP:
        vcpu_stop(v);
        return SBI_RET(HCALL_OK);
    case SBI_HSM_HART_GET_STATUS:
        return hsm_status(v->vm, a0);
    case SBI_HSM_HART_SUSPEND:
        return hsm_suspend(v, a0 & 0xffffffffU);
    default:
        return SBI_RET(HCALL_ERR_NOT_SUPPORTED);
    }
}
SBI_EXTENSION(SBI_EXT_HSM, sbi_hsm, 20);

#define SRST_SHUTDOWN 0UL
#define SRST_WARM_REBOOT 2UL
#define SRST_REASONS 1UL

static struct hcall_ret sbi_srst(ulong a0, ulong a1, ulong a2, ulong a3, ulong a4, ulong a5,
                                 ulong fid)
{
    struct vm *vm = cpu_self()->current->vm;
    bool shutdown = (uint32_t)a0 == SRST_SHUTDOWN;

    (void)a2, (void)a3, (void)a4, (void)a5;
    if (fid != SBI_SRST_SYSTEM_RESET) {
        return SBI_RET(HCALL_ERR_NOT_SUPPORTED);
    }
    if ((uint32_t)a0 > SRST_WARM_REBOOT || (uint32_t)a1 > SRST_REASONS) {
        return SBI_RET(HCALL_ERR_INVALID_PARAM);
    }
    vm_stop(vm, shutdown ? VM_REASON_SHUTDOWN : VM_REASON_RESET, !shutdown);
    return SBI_RET(HCALL_ERR_FAILED); /* never seen: the VCPU does not return */
}
SBI_EXTENSION(SBI_EXT_SRST, sbi_srst, 21);
