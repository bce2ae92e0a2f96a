/* SPDX-License-Identifier: Apache-2.0 */
/* What assembly believes of the structures, asserted. */
#include "asm_layout.h"
#include "cpu.h"
#include "hypercall.h"
#include "vcpu.h"

#define AT(member, offset) _Static_assert(offsetof(struct arch_vcpu, member) == (offset), #offset)

_Static_assert(offsetof(struct vcpu, arch) == 0, "a VCPU's address is its registers' address");
AT(gpr, VCPU_GPR(0));
AT(vm_id, VCPU_VM_ID);
AT(pc, VCPU_PC);
AT(hi, VCPU_HI);
AT(lo, VCPU_LO);
AT(status, VCPU_STATUS);
AT(cause, VCPU_CAUSE);
AT(epc, VCPU_EPC);
AT(error_epc, VCPU_ERROR_EPC);
AT(ebase, VCPU_EBASE);
AT(badvaddr, VCPU_BADVADDR);
AT(badinstr, VCPU_BADINSTR);
AT(badinstrp, VCPU_BADINSTRP);
AT(nested_exc, VCPU_NESTED_EXC);
AT(nested_epc, VCPU_NESTED_EPC);
AT(compare, VCPU_COMPARE);
AT(count, VCPU_COUNT);
AT(guestctl2, VCPU_GUESTCTL2);
AT(gtoffset, VCPU_GTOFFSET);
AT(guestctl0, VCPU_GUESTCTL0);
AT(guestctl0ext, VCPU_GUESTCTL0EXT);
AT(guestctl1, VCPU_GUESTCTL1);
AT(srsctl, VCPU_SRSCTL);
AT(bank, VCPU_BANK);
AT(long_way, VCPU_LONG_WAY);
_Static_assert(offsetof(struct vcpu, last_cpu) == VCPU_LAST_CPU, "VCPU_LAST_CPU");
_Static_assert(offsetof(struct vcpu, pending) == VCPU_PENDING, "VCPU_PENDING");
_Static_assert(offsetof(struct cpu, flags) == CPU_FLAGS, "CPU_FLAGS");
_Static_assert(offsetof(struct cpu, current) == CPU_CURRENT, "CPU_CURRENT");
_Static_assert(offsetof(struct cpu, loaded) == CPU_LOADED, "CPU_LOADED");
_Static_assert(HCALL_MAX == CALLS && HCALL_AGAIN == CALL_AGAIN && HCALL_ERR_NOT_SUPPORTED == CALL_UNKNOWN, "calls");
_Static_assert(VCPU_MESSAGE == ARCH_VIRQ_MESSAGE && CAUSE_MESSAGE == STATUS_IP(VIRQ_MESSAGE_LINE), "messages");
