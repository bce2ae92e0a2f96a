/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract arch_pages.h: pages of devices in a guest's second stage, whose permissions change
 * while the guest runs. Owns `stale`, the CPUs that may hold old translations; it is atomic. Calls
 * that change pages of one VM do not overlap (arch_pages.h), so each VM's `changes` has one writer.
 */
#include "arch_pages.h"

#include "arch.h"
#include "atomic.h"
#include "internal.h"
#include "sched.h"
#include "system.h"

/* atomic: the CPU may hold old translations of a second stage; owner: this file */
static bool stale[SYSIMAGE_MAX_HARTS];

bool arch_page_map(struct arch_page *page, struct vm *vm, gpa_t gpa, hpa_t hpa)
{
    struct pagetable pt = second_stage(vm);

    if (!pagetable_map(&pt, gpa, hpa, PAGE_4K, PTE_RO | PTE_D | PTE_U)) {
        return false;
    }
    *page = (struct arch_page){vm, gpa, pagetable_entry_4k(&pt, gpa)};
    return true;
}

/* Guest-physical addresses are given in units of 4 bytes (Privileged Architecture 1.12,
 * section 8.3.2.2). */
static void fence_page(const struct arch_page *page)
{
    __asm__ volatile(".insn r 0x73, 0, 0x31, x0, %0, %1" ::"r"(page->gpa >> 2),
                     "r"(page->vm->id + 1UL) /* hfence.gvma */
                     : "memory");
}

void arch_page_allow_writes(const struct arch_page *page)
{
    *page->entry |= PTE_W;
    fence_page(page);
}

/* Under sched_lock, for another CPU. If a VCPU of the VM runs there, or is about to, the CPU is
 * interrupted. Otherwise the one that is loaded there next does the fence, in vcpu_arrive(),
 * without which only the one that ran there last would be loaded. */
static void request_fence(struct vm *vm, struct cpu *cpu)
{
    struct vcpu **last = &vm->last_vcpu[cpu->id];

    if (cpu->current != NULL && cpu->current->vm == vm) {
        atomic_store_relaxed(&stale[cpu->id], true);
        cpu_kick(cpu, IPI_SYNC);
    } else if (*last != NULL) {
        (*last)->last_cpu = VCPU_NO_CPU;
        *last = NULL;
    }
}

/* The VCPU for which the interrupt was sent may have left this CPU in the meantime. */
void arch_pages_sync(void)
{
    bool *here = &stale[cpu_self()->id];

    if (atomic_load_relaxed(here)) {
        atomic_store_relaxed(here, false);
        /* hfence.gvma: all VMs */
        __asm__ volatile(".insn r 0x73, 0, 0x31, x0, x0, x0" ::: "memory");
    }
}

void arch_page_forbid_writes(const struct arch_page *page)
{
    struct vm *vm = page->vm;

    if ((*page->entry & PTE_W) == 0) {
        return;
    }
    *page->entry &= ~PTE_W;
    /* one writer: see arch_pages.h */
    atomic_store_release(&vm->arch.changes, vm->arch.changes + 1U);
    fence_page(page);
    spin_lock(&sched_lock);
    for (unsigned i = 0; i < hyp.ncpus; i++) {
        if (cpu_get(i) != cpu_self()) {
            request_fence(vm, cpu_get(i));
        }
    }
    spin_unlock(&sched_lock);
}
