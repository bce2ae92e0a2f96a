/* SPDX-License-Identifier: Apache-2.0 */
/* A VM's memory and GuestID. tlb.c makes TLB entries of its memory map on demand. It serves core
 * through arch.h. */
#include "vm.h"
#include "arch.h"
#include "internal.h"
#include "system.h"

#define PHYSICAL(address) ((ulong)(address) & 0x1fffffffU)

/* Whether guest memory or a passed-through device overlaps the hypervisor's data, its text or the
 * system image. */
static bool overlaps_hypervisor(const struct memmap *map)
{
    extern char __ram_end[], __text_start[];
    ulong text = PHYSICAL(__text_start);
    ulong end = PHYSICAL(hyp.image) + (ulong)hyp.image->total_size;

    return memmap_covers(map, 0, PHYSICAL(__ram_end)) || memmap_covers(map, text, end - text);
}

const char *arch_vm_init(struct vm *vm)
{
    if (overlaps_hypervisor(&vm->memmap)) {
        return "guest memory overlaps the hypervisor";
    }
    if (vm->config->irqchip != 0 || vm->config->nirqs != 0) {
        return "this machine passes no interrupts through";
    }
    vm->arch.gid = 1U + vm->id % tlb_guest_ids();
    return NULL;
}

void arch_vm_reset(struct vm *vm)
{
    vm->arch.lines = 0;
}

void *arch_window(hpa_t hpa, uint64_t *size)
{
    *size = ARCH_GPA_LIMIT - hpa;
    return arch_memory(hpa);
}

/* Optional features exist on RISC-V only. */
bool arch_has(unsigned feature)
{
    (void)feature;
    return true;
}
