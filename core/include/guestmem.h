/* SPDX-License-Identifier: Apache-2.0 */
/* The hypervisor's only way to a guest's memory: by guest-physical address, checked against the VM's memory map. */
#ifndef GUESTMEM_H
#define GUESTMEM_H

#include "types.h"

struct vm;

/*
 * Copies `size` bytes (1 .. 4096) between the hypervisor and the RAM of `vm`, through this CPU's window. False, with
 * nothing copied, if any byte of [gpa, gpa + size) is not RAM of the VM. The guest may change the bytes meanwhile: what
 * was read is to be checked after it was read, and used from the copy.
 */
bool guestmem_read(const struct vm *vm, gpa_t gpa, void *dst, size_t size);
bool guestmem_write(const struct vm *vm, gpa_t gpa, const void *src, size_t size);

#endif
