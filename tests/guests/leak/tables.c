/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Page tables (Sv39): an identity mapping, and the VCPU's page also at address 0. All VMs use the
 * same addresses, so that a stale TLB entry of another VM would match and be detected.
 */
#include "leak.h"
#include "platform.h"

#define SATP_SV39 (8UL << 60)
#define SATP_ASID_SHIFT 44
#define SATP_ASIDS 0x10000UL
#define PTE_TABLE 0x01UL
#define PTE_MEMORY 0xcfUL /* valid, read, write, execute, accessed, dirty */
#define PTE_DEVICE 0xc7UL
#define MEGA 0x200000UL
#define RAM_GIGA 2U /* 0x8000_0000 */

static uint64_t pte(uint64_t address, uint64_t bits)
{
    return address >> 12 << 10 | bits;
}

static void map_devices(struct leak *l, uint64_t from, uint64_t size)
{
    for (uint64_t at = from; at < from + size; at += MEGA) {
        l->low[at / MEGA] = pte(at, PTE_DEVICE);
    }
}

uint64_t leak_satp(struct leak *l)
{
    uint64_t asid = random_below(&l->random, SATP_ASIDS);
    uint64_t root = (uintptr_t)l->roots[random_below(&l->random, LEAK_ROOTS)];

    return SATP_SV39 | asid << SATP_ASID_SHIFT | root >> 12;
}

void leak_translate(struct leak *l)
{
    bool there;

    l->lowest[0] = pte((uintptr_t)&l->page, PTE_MEMORY);
    l->low[0] = pte((uintptr_t)l->lowest, PTE_TABLE);
    map_devices(l, PLATFORM_PLIC_BASE, 0x600000);
    map_devices(l, PLATFORM_UART_BASE, MEGA);
    map_devices(l, PLATFORM_HOLE & ~(MEGA - 1), MEGA);
    for (unsigned i = 0; i < LEAK_ROOTS; i++) {
        l->roots[i][0] = pte((uintptr_t)l->low, PTE_TABLE);
        l->roots[i][RAM_GIGA] = pte(0x80000000UL, PTE_MEMORY);
    }
    __asm__ volatile("sfence.vma" ::: "memory");
    leak_exchange(l, leak_csrs[LEAK_SATP], leak_satp(l), &there);
}
