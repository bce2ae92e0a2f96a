/* SPDX-License-Identifier: Apache-2.0 */
/* The hypervisor's only access to guest memory: by guest-physical address, checked against the VM's
 * memory map. */
#ifndef GUESTMEM_H
#define GUESTMEM_H

#include "cpu.h"
#include "types.h"
#include "vm.h"

/*
 * Copies `size` bytes (1 .. 4096) between the hypervisor and the RAM of `vm`, through this CPU's
 * window. False, with nothing copied, if any byte of [gpa, gpa + size) is not RAM of the VM. The
 * guest may change the bytes at any time: check the copy, and use only the copy.
 */
bool guestmem_read(const struct vm *vm, gpa_t gpa, void *dst, size_t size);
bool guestmem_write(const struct vm *vm, gpa_t gpa, const void *src, size_t size);

/*
 * Fast path: the address of [gpa, gpa + size) of the VM's RAM, valid until this CPU accesses other
 * guest memory; size is not 0. NULL if the buffer is not aligned to 8 bytes, not in the first
 * region, or not in one window; it may be RAM nevertheless: then use guestmem_read() and
 * guestmem_write().
 */
static inline void *guestmem_at(const struct vm *vm, gpa_t gpa, size_t size)
{
    const struct sysimage_region *r = vm->memmap.regions; /* RAM, checked by sysimage_check() */

    if (!memmap_has(r, gpa, size) || gpa % 8U != 0) {
        return NULL;
    }
    return arch_window_for(&cpu_self()->arch, memmap_host(r, gpa), size);
}

#endif
