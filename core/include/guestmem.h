/* SPDX-License-Identifier: Apache-2.0 */
/* The hypervisor's only way to a guest's memory: by guest-physical address, checked against the VM's memory map. */
#ifndef GUESTMEM_H
#define GUESTMEM_H

#include "cpu.h"
#include "types.h"
#include "vm.h"

/*
 * Copies `size` bytes (1 .. 4096) between the hypervisor and the RAM of `vm`, through this CPU's window. False, with
 * nothing copied, if any byte of [gpa, gpa + size) is not RAM of the VM. The guest may change the bytes meanwhile: what
 * was read is to be checked after it was read, and used from the copy.
 */
bool guestmem_read(const struct vm *vm, gpa_t gpa, void *dst, size_t size);
bool guestmem_write(const struct vm *vm, gpa_t gpa, const void *src, size_t size);

/*
 * Where this CPU sees [gpa, gpa + size) of the VM's RAM until it looks at other guest memory; size is not 0. NULL if that
 * is not quickly told (the buffer is not aligned to 8 bytes, or not in the first region), which says nothing about
 * whether the memory is there: guestmem_read() and guestmem_write() know.
 */
static inline void *guestmem_at(const struct vm *vm, gpa_t gpa, size_t size)
{
    const struct sysimage_region *r = vm->memmap.regions; /* RAM, sysimage_check() has seen to it */

    if (UNLIKELY(!memmap_has(r, gpa, size) || gpa % 8U != 0)) {
        return NULL;
    }
    return arch_window_for(&cpu_self()->arch, memmap_host(r, gpa), size);
}

#endif
