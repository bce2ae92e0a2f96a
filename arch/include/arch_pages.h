/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a component needs of an architecture to give a guest pages of a device, and to take them
 * away. Provided by architectures with the component accel.
 */
#ifndef ARCH_PAGES_H
#define ARCH_PAGES_H

#include "types.h"
#include "vm.h"

/* A 4 KiB page of a device in a VM's second stage. */
struct arch_page {
    struct vm *vm;
    gpa_t gpa;
    uint64_t *entry; /* of the translation tables */
};

/* Maps the page at `gpa` to `hpa`, read-only. At boot. False if no tables are left. */
bool arch_page_map(struct arch_page *page, struct vm *vm, gpa_t gpa, hpa_t hpa);

/* Makes the page writable: at once on this CPU; a store on another CPU may still fault once. */
void arch_page_allow_writes(const struct arch_page *page);

/* Makes the page read-only: at once on this CPU. VCPUs of the VM that run on other CPUs may store
 * to it until IPI_SYNC has reached them, and arch_pages_sync() was called there; others fault.
 * Calls for pages of one VM do not overlap. Caller holds no lock after which sched_lock may not be
 * taken. */
void arch_page_forbid_writes(const struct arch_page *page);

/* On IPI_SYNC (struct component): this CPU forgets pages that were writable. Without locks. */
void arch_pages_sync(void);

#endif
