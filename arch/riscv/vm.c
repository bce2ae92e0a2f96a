/* SPDX-License-Identifier: Apache-2.0 */
/* A VM's second-stage translation and interrupt controller: built at boot from its memory map. It
 * serves core through arch.h, and the components that give a VM a device's page. */
#include "arch.h"
#include "arch_device.h"
#include "internal.h"
#include "system.h"

#define HGATP_PPN ((1UL << 44) - 1U)
#define HGATP_SV39X4 (8UL << 60)
#define HGATP_VMID(id) ((ulong)(id) << 44)
#define HGATP_VMID_ALL (0x3fffUL << 44)

/* To the second stage, guest pages are user pages. Accessed and dirty are set, so that no access
 * faults. */
#define GUEST_RAM (PTE_RW | PTE_X | PTE_U)
#define GUEST_MMIO (PTE_RW | PTE_U)
_Static_assert((GUEST_RAM & PTE_X) != 0,
               "CVA6 needs X on guests' page tables for HLVX (erratum 3425)");

/* Whether guest memory overlaps the hypervisor or its image. No builder makes such an image, but it
 * would be fatal. */
static bool overlaps_hypervisor(const struct memmap *map)
{
    extern char __text_start[];
    ulong start = (ulong)__text_start, trace = hyp.image->ram_base + hyp.image->ram_size;
    uint64_t trace_size = (uint64_t)hyp.image->trace_kib * hyp.image->nharts << 10;

    return memmap_covers(map, start, (ulong)hyp.image + hyp.image->total_size - start) ||
           (trace_size != 0 && memmap_covers(map, trace, trace_size));
}

static const char *map_regions(const struct vm *vm, const struct pagetable *pt)
{
    for (unsigned i = 0; i < vm->memmap.count; i++) {
        const struct sysimage_region *r = &vm->memmap.regions[i];

        if (!pagetable_map(pt, r->gpa, memmap_cpu_base(r), r->size,
                           r->kind == SYSIMAGE_REGION_RAM ? GUEST_RAM : GUEST_MMIO)) {
            return "page tables for guests are used up";
        }
    }
    return NULL;
}

/* VMIDs number the VMs from 1. False if this hart lacks the mode of hgatp, or bits of the VMID. */
static bool hgatp_is_supported(ulong hgatp)
{
    bool kept;

    csr_write(CSR_HGATP, hgatp);
    kept = csr_read(CSR_HGATP) == hgatp;
    csr_write(CSR_HGATP, 0);
    return kept;
}

const char *arch_vm_init(struct vm *vm)
{
    struct pagetable pt = {pagetable_root_x4(), 11};
    const struct sysimage_irq *irqs = sysimage_at(hyp.image, vm->config->irqs_offset);
    const char *wrong;

    if (pt.root == NULL) {
        return "page tables for guests are used up";
    }
    wrong = overlaps_hypervisor(&vm->memmap) ? "guest memory overlaps the hypervisor"
                                             : map_regions(vm, &pt);
    if (wrong != NULL) {
        return wrong;
    }
    vm->arch.hgatp = HGATP_SV39X4 | HGATP_VMID(vm->id + 1) | ((ulong)pt.root >> 12);
    if (!hgatp_is_supported(vm->arch.hgatp)) {
        return "this machine lacks Sv39x4 or enough VMIDs (hgatp)";
    }
    if (vm->config->irqchip != 0 && !vplic_init(vm, vm->config->irqchip)) {
        return "too many emulated devices";
    }
    for (unsigned i = 0; i < vm->config->nirqs; i++) {
        plic_route(irqs[i].host, vm, irqs[i].guest);
    }
    return NULL;
}

struct pagetable second_stage(const struct vm *vm)
{
    return (struct pagetable){(uint64_t *)((vm->arch.hgatp & HGATP_PPN) << 12), 11};
}

bool arch_device_give(struct vm *vm, gpa_t gpa, hpa_t hpa)
{
    struct pagetable pt = second_stage(vm);

    return pagetable_map(&pt, gpa, hpa, PAGE_4K, GUEST_MMIO);
}

void arch_vm_reset(struct vm *vm)
{
    vplic_reset(vm);
}
