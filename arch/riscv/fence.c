/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remote fences between the VCPUs of a VM. A VCPU that is not running is only marked and does the
 * fence when it is loaded. A running one is interrupted and waited for. Harts that run other VMs
 * are not disturbed.
 */
#include "arch.h"
#include "atomic.h"
#include "internal.h"
#include "sched.h"

void fence_local(void)
{
    __asm__ volatile(
        ".insn r 0x73, 0, 0x11, x0, x0, x0\n\t" /* hfence.vvma: every translation of hgatp's VMID */
        "fence.i" ::
            : "memory");
}

void fence_second_stage(struct vm *vm)
{
    unsigned changes = atomic_load_acquire(&vm->arch.changes),
             *fenced = &vm->arch.fenced[cpu_self()->id];

    if (*fenced != changes) {
        *fenced = changes;
        /* hfence.gvma */
        __asm__ volatile(".insn r 0x73, 0, 0x31, x0, x0, %0" ::"r"(vm->id + 1UL) : "memory");
    }
}

/* Under sched_lock: true if `v` has done the fence or will do it before it runs again. Otherwise
 * interrupts its hart, in each call: an earlier interrupt may have found another VCPU there. */
static bool fence_done(struct vcpu *v)
{
    if (v->state != VCPU_RUNNING) {
        v->last_cpu = VCPU_NO_CPU; /* makes vcpu_arrive() do the fence */
        v->arch.fence = false;
    } else if (atomic_load_acquire(&v->arch.fence)) {
        cpu_kick(v->cpu, IPI_SYNC);
        return false;
    }
    return true;
}

/* Requests all fences and interrupts the harts by one call, before waiting for any. */
static void fence_request(struct vm *vm, ulong vcpus)
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

/* Serves IPIs to this hart during the wait; they may request a fence of the same VM. True if
 * another interrupt is pending. */
static bool fence_poll(void)
{
    if ((csr_read(CSR_SIP) & (1UL << IRQ_SSI)) != 0) {
        csr_clear(CSR_SIP, 1UL << IRQ_SSI);
        cpu_ipi_received();
    }
    return (csr_read(CSR_SIP) & csr_read(CSR_SIE) & ~(1UL << IRQ_SSI)) != 0;
}

/* Bounded by the time that the other hart can spend in the hypervisor. False if an interrupt is
 * pending on this hart first. */
static bool fence_wait(struct vcpu *v)
{
    bool done;

    do {
        spin_lock(&sched_lock);
        done = fence_done(v);
        spin_unlock(&sched_lock);
    } while (!done && !fence_poll());
    return done;
}

ulong fence_remote(struct vm *vm, ulong mask)
{
    struct vcpu *self = cpu_self()->current;
    /* RT apps are not harts of the guest */
    ulong own = self->id < vm->nvcpus ? 1UL << self->id : 0;
    ulong others = mask & ~own & ((1UL << vm->nvcpus) - 1U);

    if ((mask & own) != 0) {
        fence_local();
    }
    fence_request(vm, others);
    while (others != 0 && fence_wait(&vm->vcpus[bit_lowest(others)])) {
        others &= others - 1U;
    }
    return others;
}
