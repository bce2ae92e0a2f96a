/* SPDX-License-Identifier: Apache-2.0 */
/* Integer types and macros of the hypervisor, for all its layers: registers, guest-physical and
 * host-physical addresses, and ticks of the time counter have types of their own. */
#ifndef TYPES_H
#define TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef unsigned long ulong; /* a register */
typedef ulong gpa_t;         /* guest-physical address: fits a register on every machine */
typedef ulong hpa_t;         /* host-physical address */
typedef uint64_t ticks_t;    /* the board's time counter; its frequency is in the system image */

#define TICKS_NEVER UINT64_MAX

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define CONTAINER_OF(ptr, type, member) ((type *)(void *)((char *)(ptr) - offsetof(type, member)))

/* Not inlined: a function that measurements find by its name in the ELF (a polling point, or what
 * ends a measured interval), or one whose copies would exceed a limit of size. */
#define OWN_SYMBOL __attribute__((noinline))
#define PACKED_ALIGN(n) __attribute__((aligned(n)))

/* Registration: puts a constant into a linker section, which the linker script gathers as a
 * table, sorted by the section's name. A section name that is a C identifier gets __start_ and
 * __stop_ symbols on the host, too. The alignment prevents gaps: compilers may align three words
 * like four. */
#define REGISTER_IN(section_name) \
    __attribute__((used, section(section_name), aligned(sizeof(void *))))

#endif
