/* SPDX-License-Identifier: Apache-2.0 */
/* Checks at compile time what assembly assumes of the structures beyond asm_offsets.h: the general
 * registers come first in struct vcpu (asm_layout.h). Defines nothing. */
#include "asm_layout.h"
#include "vcpu.h"

_Static_assert(offsetof(struct vcpu, arch) == 0, "a VCPU's address is its registers' address");
_Static_assert(offsetof(struct arch_vcpu, gpr) == VCPU_GPR(0), "gpr[] first");
