/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SBI v0.1 calls of guests, with OpenSBI's behaviour; the console's are in sbi_console.c. They
 * return in a0 only and preserve a1. A hart mask is passed by pointer in the guest's virtual
 * memory; NULL means all harts. If the load of the mask faults, the guest takes that exception at
 * its ecall.
 */
#include "arch.h"
#include "internal.h"

#define INSN_ECALL_SIZE 4U
#define LEGACY_OK(a1) ((struct hcall_ret){HCALL_OK, (a1)})

/* The mask's load faulted: injects the exception at the ecall, with all registers preserved. */
static struct hcall_ret legacy_fault(ulong a0, ulong a1, ulong cause)
{
    struct hcall_ret ret = sbi_again(a0, a1);

    exit_inject(cpu_self()->current, cause == CAUSE_LOAD_GUEST_PAGE ? CAUSE_LOAD_ACCESS : cause,
                a0);
    return ret;
}

/* Calls `act` with the VCPUs in the mask at `pointer`. If it returns some of them, because an
 * interrupt is pending on this hart, the guest repeats the call for the whole mask, which is in its
 * memory. */
static struct hcall_ret legacy_harts(ulong pointer, ulong a1,
                                     ulong (*act)(struct vm *vm, ulong vcpus))
{
    struct vm *vm = cpu_self()->current->vm;
    ulong mask = 0, cause = pointer != 0 ? guest_load(pointer, &mask) : 0;

    if (cause != 0) {
        return legacy_fault(pointer, a1, cause);
    }
    if (!sbi_mask(vm, mask, pointer != 0 ? 0 : ~0UL, &mask)) {
        return (struct hcall_ret){HCALL_ERR_INVALID_PARAM, a1};
    }
    return act(vm, mask) != 0 ? sbi_again(pointer, a1) : LEGACY_OK(a1);
}

static ulong legacy_raise(struct vm *vm, ulong vcpus)
{
    vm_raise(vm, vcpus, 1UL << IRQ_VSSI);
    return 0;
}

static struct hcall_ret sbi_legacy_set_timer(ulong a0, ulong a1, ulong a2, ulong a3, ulong a4,
                                             ulong a5, ulong fid)
{
    (void)a2, (void)a3, (void)a4, (void)a5, (void)fid;
    sbi_set_timer(cpu_self()->current, a0);
    return LEGACY_OK(a1);
}
SBI_EXTENSION(0, sbi_legacy_set_timer, 50);

static struct hcall_ret sbi_legacy_clear_ipi(ulong a0, ulong a1, ulong a2, ulong a3, ulong a4,
                                             ulong a5, ulong fid)
{
    (void)a0, (void)a2, (void)a3, (void)a4, (void)a5, (void)fid;
    csr_clear(CSR_HVIP, 1UL << IRQ_VSSI);
    return LEGACY_OK(a1);
}
SBI_EXTENSION(3, sbi_legacy_clear_ipi, 51);

static struct hcall_ret sbi_legacy_send_ipi(ulong a0, ulong a1, ulong a2, ulong a3, ulong a4,
                                            ulong a5, ulong fid)
{
    (void)a2, (void)a3, (void)a4, (void)a5, (void)fid;
    return legacy_harts(a0, a1, legacy_raise);
}
SBI_EXTENSION(4, sbi_legacy_send_ipi, 52);

/* Remote fence.i, sfence.vma, and sfence.vma with an ASID; all do a full fence, as in
 * sbi_rfence(). */
static struct hcall_ret sbi_legacy_fence(ulong a0, ulong a1, ulong a2, ulong a3, ulong a4, ulong a5,
                                         ulong fid)
{
    (void)a2, (void)a3, (void)a4, (void)a5, (void)fid;
    return legacy_harts(a0, a1, fence_remote);
}
SBI_EXTENSION(5, sbi_legacy_fence, 53);
SBI_EXTENSION(6, sbi_legacy_fence, 54);
SBI_EXTENSION(7, sbi_legacy_fence, 55);

static struct hcall_ret sbi_legacy_shutdown(ulong a0, ulong a1, ulong a2, ulong a3, ulong a4,
                                            ulong a5, ulong fid)
{
    (void)a2, (void)a3, (void)a4, (void)a5, (void)fid;
    vm_stop(cpu_self()->current->vm, VM_REASON_SHUTDOWN, false);
    return (struct hcall_ret){(long)a0, a1}; /* never seen: the VCPU does not return */
}
SBI_EXTENSION(8, sbi_legacy_shutdown, 56);
