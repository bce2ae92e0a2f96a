/* SPDX-License-Identifier: Apache-2.0 */
/* What assembly assumes of the structures, and asm_offsets.h does not tell it. */
#include "asm_layout.h"
#include "vcpu.h"

_Static_assert(offsetof(struct vcpu, arch) == 0, "a VCPU's address is its registers' address");
_Static_assert(offsetof(struct arch_vcpu, gpr) == VCPU_GPR(0), "gpr[] first");
