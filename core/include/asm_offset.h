/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For arch/<isa>/asm_offsets.c: each macro leaves a line in the compiler's assembly output, which
 * the build turns into a #define in asm_offsets.h for assembly sources.
 */
#ifndef ASM_OFFSET_H
#define ASM_OFFSET_H

#include "types.h"

#define ASM_VALUE(name, value) __asm__ volatile("\n.ascii \"->" name " %0\"" : : "i"(value))
#define ASM_CONSTANT(name) ASM_VALUE(#name, (long)(name))
#define ASM_OFFSET(name, type, member) ASM_VALUE(#name, (long)offsetof(type, member))
#define ASM_SIZE(name, type) ASM_VALUE(#name, (long)sizeof(type))

#endif
