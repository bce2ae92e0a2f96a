/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remote fences (RISC-V SBI 2.0, chapter 8). One request at a time; each fence covers all addresses
 * and address spaces. A hart that waits for the lock executes the fences that others wait for, so
 * that harts which fence each other do not wait for ever.
 */
#include "firmware.h"

enum {
    FENCE_I,
    SFENCE_VMA,
    SFENCE_VMA_ASID,
    HFENCE_GVMA_VMID,
    HFENCE_GVMA,
    HFENCE_VVMA_ASID,
    HFENCE_VVMA,
    FENCES
};

/* owner: this file */
static ulong lock;    /* atomic */
static ulong pending; /* harts that have not executed the fence yet, as bits; atomic */
static ulong kind;    /* this and the next: guarded by the lock, read by the pending harts */
static ulong vmid;    /* hgatp of the requesting hart: HFENCE.VVMA is for the VM in hgatp */

static void fence(void)
{
    ulong own;

    switch (kind) {
    case FENCE_I:
        __asm__ volatile("fence.i" ::: "memory");
        break;
    case SFENCE_VMA:
    case SFENCE_VMA_ASID:
        __asm__ volatile("sfence.vma" ::: "memory");
        break;
    case HFENCE_GVMA:
    case HFENCE_GVMA_VMID:
        __asm__ volatile(".insn r 0x73, 0, 0x31, x0, x0, x0" ::: "memory"); /* hfence.gvma */
        break;
    default:
        own = csr_read(CSR_HGATP);
        csr_write(CSR_HGATP, vmid);
        __asm__ volatile(".insn r 0x73, 0, 0x11, x0, x0, x0" ::: "memory"); /* hfence.vvma */
        csr_write(CSR_HGATP, own);
        break;
    }
}

void rfence_serve(ulong id)
{
    if ((__atomic_load_n(&pending, __ATOMIC_ACQUIRE) >> id & 1U) != 0) {
        fence();
        __atomic_fetch_and(&pending, ~(1UL << id), __ATOMIC_RELEASE);
    }
}

struct sbi_ret sbi_rfence(ulong fid, ulong mask, ulong base)
{
    ulong id = csr_read(CSR_MHARTID), harts;

    if (fid >= FENCES) {
        return (struct sbi_ret){SBI_ERR_NOT_SUPPORTED, 0};
    }
    if (!harts_from_mask(mask, base, &harts)) {
        return (struct sbi_ret){SBI_ERR_INVALID_PARAM, 0};
    }
    while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE) != 0) {
        rfence_serve(id);
    }
    kind = fid;
    vmid = csr_read(CSR_HGATP);
    __atomic_store_n(&pending, harts & ~(1UL << id), __ATOMIC_RELEASE);
    harts_request(harts & ~(1UL << id), REQUEST_FENCE);
    if ((harts >> id & 1U) != 0) {
        fence();
    }
    while (__atomic_load_n(&pending, __ATOMIC_ACQUIRE) != 0) {
    }
    __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
    return (struct sbi_ret){SBI_OK, 0};
}
