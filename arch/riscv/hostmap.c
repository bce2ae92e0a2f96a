/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hypervisor's own translation. It maps only what the hypervisor needs, and nothing both
 * writable and executable. Virtual addresses are physical ones, except the windows, through which a
 * hart accesses 2 MiB of guest memory at a time.
 *
 *   0x0000_0000_0000 ..  the board's UART and interrupt controller       rw-
 *                        the page of mtime, if it is read                r--
 *   0x0000_8020_0000 ..  text r-x, rodata r--, data rw-, stacks rw- with an unmapped page below
 *                        each, system image r--
 *   after the VMs' RAM   the trace, if there is one                      rw-
 *   0x003f_c000_0000 ..  a window of 2 MiB per hart                      rw-
 */
#include "arch.h"
#include "arch_device.h"
#include "internal.h"
#include "platform.h"

#define WINDOWS_VA 0x3fc0000000UL
#define PTE_PBMT_NC (1UL << 61)
#define SATP_SV39 (8UL << 60)

extern char __text_start[], __text_end[], __rodata_end[], __data_end[];

static uint64_t root[512] PACKED_ALIGN(4096);
static const struct pagetable map = {root, 9}; /* owner: this file */

static bool map_range(const char *from, const char *to, ulong flags)
{
    return pagetable_map(&map, (ulong)from, (ulong)from, (ulong)(to - from), flags);
}

/* The stack pages; the pages between them stay unmapped, so that an overflow traps. */
static bool map_stacks(void)
{
    bool ok = true;

    for (unsigned i = 0; i < SYSIMAGE_MAX_HARTS; i++) {
        const char *stack = hart_stacks + (i + 1UL) * HART_SIZE - HART_STACK_SIZE;

        ok = ok && map_range(stack, stack + HART_STACK_SIZE, PTE_RW);
    }
    return ok;
}

static bool map_device(const struct platform_device *dev)
{
    return dev->size == 0 || pagetable_map(&map, dev->base, dev->base, dev->size, PTE_RW);
}

static bool map_trace(const struct sysimage_header *image)
{
    ulong base = image->ram_base + image->ram_size;

    return pagetable_map(&map, base, base, (uint64_t)image->trace_kib * image->nharts << 10,
                         PTE_RW);
}

static bool map_time(void)
{
    bool mapped = true;

    if (ARCH_TIME_SLOW && riscv_facts.mtime != NULL) {
        ulong page = (ulong)riscv_facts.mtime & ~(PAGE_4K - 1);

        mapped = pagetable_map(&map, page, page, PAGE_4K, PTE_RO);
    }
    return mapped;
}

static bool map_devices(void)
{
    return map_time() && map_device(&platform.uart) && map_device(&platform.irqchip) &&
           map_device(&platform.finisher);
}

const char *hostmap_init(const struct sysimage_header *image)
{
    const char *end = (const char *)image + ((image->total_size + PAGE_4K - 1) & ~(PAGE_4K - 1));
    bool ok = map_range(__text_start, __text_end, PTE_RX) &&
              map_range(__text_end, __rodata_end, PTE_RO) &&
              map_range(__rodata_end, __data_end, PTE_RW) && map_stacks() &&
              map_range((const char *)image, end, PTE_RO) && map_trace(image) && map_devices();

    for (unsigned i = 0; i < SYSIMAGE_MAX_HARTS && ok; i++) {
        ok = pagetable_entry_2m(&map, WINDOWS_VA + i * PAGE_2M) != NULL;
    }
    return ok ? NULL : "page tables of the hypervisor are used up";
}

bool arch_device_map(hpa_t base, uint64_t size)
{
    bool mapped = pagetable_map(&map, base, base, size, PTE_RW);

    __asm__ volatile("sfence.vma" ::: "memory");
    return mapped;
}

void hostmap_enable(void)
{
    csr_write(CSR_SATP, SATP_SV39 | ((ulong)root >> 12));
    __asm__ volatile("sfence.vma\n\tfence.i" ::: "memory"); /* boot_patch() may have changed text */
}

void hostmap_window(struct cpu *cpu)
{
    cpu->arch.window_va = WINDOWS_VA + cpu->id * PAGE_2M;
    cpu->arch.window = pagetable_entry_2m(&map, cpu->arch.window_va);
    cpu->arch.window_at = WINDOW_NOWHERE;
}

ulong hostmap_pbmt_page(struct cpu *cpu)
{
    ulong va = cpu->arch.window_va;

    /* QEMU 7.2's henvcfg accepts PBMTE also on machines without Svpbmt; only an access shows the
     * truth. */
    *cpu->arch.window = ((ulong)__text_start & ~(PAGE_2M - 1)) >> 2 | PTE_PBMT_NC | PTE_RO | PTE_V;
    __asm__ volatile("sfence.vma %0, zero" ::"r"(va) : "memory");
    cpu->arch.window_at = WINDOW_NOWHERE;
    return va;
}

_Static_assert(WINDOW_PTE == (PTE_RW | PTE_V), "what a window's page allows");

void *arch_window(hpa_t hpa, uint64_t *size)
{
    struct arch_cpu *cpu = &cpu_self()->arch;

    *size = WINDOW_SIZE - hpa % WINDOW_SIZE;
    return arch_window_for(cpu, hpa, 0);
}
