/* SPDX-License-Identifier: Apache-2.0 */
/* Checks at compile time what assembly assumes of the structures beyond asm_offsets.h: the
 * general registers come first in struct vcpu, and struct cpu fits above a hart's stack. Defines
 * nothing. */
#include "asm_layout.h"
#include "cpu.h"
#include "vcpu.h"

_Static_assert(offsetof(struct vcpu, arch) == 0, "a VCPU's address is its registers' address");
_Static_assert(offsetof(struct arch_vcpu, x) == VCPU_X(0), "x[] first");
_Static_assert(sizeof(struct cpu) <= HART_CPU_SIZE, "struct cpu fits above the stack");
_Static_assert(HART_CPU_SIZE % 16 == 0, "the stack below it is aligned");
