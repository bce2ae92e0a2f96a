/* SPDX-License-Identifier: Apache-2.0 */
/* Copies between the hypervisor and a VM's RAM, through this CPU's window. Owns no state: the
 * memory map (memmap.c) checks the addresses, the architecture maps the window. */
#include "guestmem.h"

#include "arch.h"
#include "lib.h"
#include "vm.h"

/* By words if both pointers are aligned; callers align buffers where speed matters. */
static void copy(void *dst, const void *src, size_t n)
{
    size_t words = (((uintptr_t)dst | (uintptr_t)src) & 7U) == 0 ? n & ~(size_t)7 : 0;

    copy_words(dst, src, words);
    memcpy((char *)dst + words, (const char *)src + words, n - words);
}

/* Copies in one direction: the NULL one of `dst` and `src` is the guest's buffer. */
static bool transfer(const struct vm *vm, gpa_t gpa, char *dst, const char *src, size_t size)
{
    hpa_t hpa;

    if (!memmap_ram(&vm->memmap, gpa, size, &hpa)) {
        return false;
    }
    for (size_t done = 0; done < size;) {
        uint64_t room;
        char *guest = arch_window(hpa + done, &room);
        size_t n = size - done < room ? size - done : (size_t)room;

        copy(dst != NULL ? dst + done : guest, src != NULL ? src + done : guest, n);
        done += n;
    }
    return true;
}

bool guestmem_read(const struct vm *vm, gpa_t gpa, void *dst, size_t size)
{
    return transfer(vm, gpa, dst, NULL, size);
}

bool guestmem_write(const struct vm *vm, gpa_t gpa, const void *src, size_t size)
{
    return transfer(vm, gpa, NULL, src, size);
}
