/* SPDX-License-Identifier: Apache-2.0 */
/* Page tables of the guest's own. */
#include <stdbool.h>
#include <stdint.h>

#include "csr.h"
#include "print.h"
#include "regression.h"
#include "trap.h"

#define GIB (UINT64_C(1) << 30)
#define PTE(address, flags) ((address) >> 2 | (flags))
#define PTE_LEAF 0xfU /* V, R, W, X */
#define PTE_A 0x40U
#define PTE_D 0x80U
#define SATP_SV39 (UINT64_C(8) << 60)
#define ALIAS 3U /* of the RAM, a GiB above it */

static volatile uint64_t root[512] __attribute__((aligned(4096)));
static bool faulted;

static bool skip_fault(struct trap_frame *frame, uint64_t cause, uint64_t stval)
{
    (void)cause;
    (void)stval;
    faulted = true;
    frame->sepc += 4;
    return true;
}

/* Four bytes long, for skip_fault(). */
static void store_in_alias(volatile uint64_t *place)
{
    __asm__ volatile(".option push\n\t"
                     ".option norvc\n\t"
                     "sd zero, 0(%0)\n\t"
                     ".option pop" ::"r"((uintptr_t)place + GIB)
                     : "memory");
}

void svadu(unsigned long hart, const void *fdt)
{
    uint64_t ram = (uintptr_t)root & ~(GIB - 1U);

    (void)hart;
    root[0] = PTE(UINT64_C(0), PTE_LEAF | PTE_A | PTE_D);
    root[ram / GIB] = PTE(ram, PTE_LEAF | PTE_A | PTE_D);
    root[ALIAS] = PTE(ram, PTE_LEAF);
    trap_set_exception(skip_fault);
    __asm__ volatile("sfence.vma\n\tcsrw satp, %0" ::"r"(SATP_SV39 | (uintptr_t)root >> 12)
                     : "memory");
    store_in_alias(&root[0x1ff]);
    __asm__ volatile("csrw satp, zero\n\tsfence.vma" ::: "memory");
    print("regression: Svadu listed %u, set %lu, faulted %u\n",
          fdt_has_text(fdt, "svadu") ? 1U : 0U, root[ALIAS] >> 6 & 3U, faulted ? 1U : 0U);
}
