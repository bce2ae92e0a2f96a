/* SPDX-License-Identifier: Apache-2.0 */
/* Integer vocabulary of the hypervisor. */
#ifndef TYPES_H
#define TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef unsigned long ulong; /* a register */
typedef ulong gpa_t;         /* guest-physical address: no machine has more than a register holds */
typedef ulong hpa_t;         /* host-physical address */
typedef uint64_t ticks_t;    /* the board's time counter; its frequency is in the system image */

#define TICKS_NEVER UINT64_MAX

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define CONTAINER_OF(ptr, type, member) ((type *)(void *)((char *)(ptr) - offsetof(type, member)))

/* Only hints of the compiler's are wrapped; both gcc and clang have them. */
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define PACKED_ALIGN(n) __attribute__((aligned(n)))

/* The compiler forgets how it came by `pointer` and keeps it where it is. */
#define KEEP_IN_REGISTER(pointer) __asm__("" : "+r"(pointer))

/* One-line registration: puts a constant into a linker section that the linker script gathers as a table, in the
 * order of `order` (two digits). A section name that is a C identifier has __start_ and __stop_ symbols on the host too. A
 * compiler that aligns one of three words as one of four would leave a hole in it: hence the alignment. */
#define REGISTER_IN(section_name) __attribute__((used, section(section_name), aligned(sizeof(void *))))

#endif
