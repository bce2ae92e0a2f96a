/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remote fences between the VCPUs of a VM. A VCPU that is not on a hart is only marked: it forgets when it comes back.
 * One that is on a hart is interrupted and waited for; harts that run other VMs never notice.
 */
#include "arch.h"
#include "atomic.h"
#include "internal.h"
#include "sched.h"

void fence_local(void)
{
    __asm__ volatile(".insn r 0x73, 0, 0x11, x0, x0, x0\n\t" /* hfence.vvma: every translation of hgatp's VMID */
                     "fence.i" ::
                         : "memory");
}

/* Under sched_lock: true when `v` has forgotten, or will before it runs again. Otherwise it is on another hart, which is
 * interrupted; again each time it is asked, for the interrupt may have found the hart with another VCPU on it. */
static bool fence_done(struct vcpu *v)
{
    if (v->state != VCPU_RUNNING) {
        v->last_cpu = VCPU_NO_CPU; /* it forgets when it arrives on a hart */
        v->arch.fence = false;
    } else if (atomic_load_acquire(&v->arch.fence)) {
        cpu_kick(v->cpu, IPI_SYNC);
        return false;
    }
    return true;
}

/* All are asked before any is waited for, and interrupted by one call. */
static void fence_ask(struct vm *vm, ulong vcpus)
{
    spin_lock(&sched_lock);
    for (unsigned i = 0; i < vm->nvcpus; i++) {
        if ((vcpus & (1UL << i)) != 0) {
            vm->vcpus[i].arch.fence = true;
            fence_done(&vm->vcpus[i]);
        }
    }
    spin_unlock(&sched_lock);
}

/* Answers meanwhile what is asked of this hart, which may well be the same by the same VM. True if another interrupt waits
 * for this hart. Not inline, for the benchmark counts from look to look. */
static bool __attribute__((noinline)) fence_look(void)
{
    if ((csr_read(CSR_SIP) & (1UL << IRQ_SSI)) != 0) {
        csr_clear(CSR_SIP, 1UL << IRQ_SSI);
        cpu_ipi_received();
    }
    return (csr_read(CSR_SIP) & csr_read(CSR_SIE) & ~(1UL << IRQ_SSI)) != 0;
}

/* Bounded by how long the other hart can be in the hypervisor. False if an interrupt waits for this hart first. */
static bool fence_wait(struct vcpu *v)
{
    bool done;

    do {
        spin_lock(&sched_lock);
        done = fence_done(v);
        spin_unlock(&sched_lock);
    } while (!done && !fence_look());
    return done;
}

ulong fence_remote(struct vm *vm, ulong mask)
{
    struct vcpu *self = cpu_self()->current;
    ulong own = self->id < vm->nvcpus ? 1UL << self->id : 0; /* an RT app is none of the guest's harts */
    ulong others = mask & ~own & ((1UL << vm->nvcpus) - 1U);

    if ((mask & own) != 0) {
        fence_local();
    }
    fence_ask(vm, others);
    while (others != 0 && fence_wait(&vm->vcpus[bit_lowest(others)])) {
        others &= others - 1U;
    }
    return others;
}
