/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remote fences between the VCPUs of a VM. A VCPU that is not on a hart is only marked: it forgets when it comes back.
 * One that is on a hart is interrupted and waited for; harts that run other VMs never notice.
 */
#include "arch.h"
#include "internal.h"
#include "sched.h"

void fence_local(void)
{
    __asm__ volatile(".insn r 0x73, 0, 0x11, x0, x0, x0\n\t" /* hfence.vvma: every translation of hgatp's VMID */
                     "fence.i" ::: "memory");
}

/* Marks `v`; true if it is on another hart, which then has been told. */
static bool fence_ask(struct vcpu *v)
{
    bool running;

    __atomic_store_n(&v->arch.fence, true, __ATOMIC_SEQ_CST);
    spin_lock(&sched_lock);
    running = v->state == VCPU_RUNNING;
    if (running) {
        cpu_kick(v->cpu, IPI_SYNC);
    }
    spin_unlock(&sched_lock);
    return running;
}

/* Bounded by how long the other hart can be in the hypervisor. Answers meanwhile what is asked of this hart, which
 * may well be the same by the same VM. */
static void fence_wait(struct vcpu *v)
{
    const volatile enum vcpu_state *state = &v->state;

    while (__atomic_load_n(&v->arch.fence, __ATOMIC_ACQUIRE) && *state == VCPU_RUNNING) {
        if ((csr_read(CSR_SIP) & (1UL << IRQ_SSI)) != 0) {
            csr_clear(CSR_SIP, 1UL << IRQ_SSI);
            cpu_ipi_received();
        }
        arch_cpu_relax();
    }
}

void fence_remote(struct vm *vm, ulong mask)
{
    struct vcpu *self = cpu_self()->current;
    ulong wait = 0;

    for (unsigned i = 0; i < vm->nvcpus; i++) {
        if ((mask & (1UL << i)) == 0) {
            continue;
        }
        if (&vm->vcpus[i] == self) {
            fence_local();
        } else if (fence_ask(&vm->vcpus[i])) {
            wait |= 1UL << i;
        }
    }
    for (unsigned i = 0; wait != 0; i++, wait >>= 1) {
        if ((wait & 1U) != 0) {
            fence_wait(&vm->vcpus[i]);
        }
    }
}
