/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of arch/mips know of each other. */
#ifndef INTERNAL_H
#define INTERNAL_H

#include "board.h"
#include "hypercall.h"
#include "types.h"
#include "vcpu.h"

/* --- trap.S: registers of the guest that runs --- */
ulong gpr_get(ulong number);
void gpr_set(ulong number, ulong value);

/* --- cpu.c --- */

/* The CPU's own registers, the timer and the interrupts of devices; the caches are ready, no guest runs. */
void cpu_init(void);

/* Takes from the caches what was written to memory as data, so that it can be executed. */
void cpu_sync_caches(void);

/* What a CACHE instruction of a guest that works by index comes to: that line is not in the cache any more. */
void cpu_forget_line(ulong operation, ulong address);

/* --- lines/irq.c or eic/irq.c, as the board's CPU is --- */

/* The timer and the console's UART interrupt from now on. */
void irq_init(void);

/* Does the console's UART interrupt, and is heard? */
bool irq_uart_pending(void);

/* It is going to be seen to. */
void irq_uart_taken(void);

/* Whether it is heard. */
void irq_uart_hear(bool on);

/* --- bank.c: GPR shadow sets --- */
extern struct vcpu *bank_owner[BANKS_MAX + 1]; /* whose registers a bank holds; owner: bank.c */

/* The banks below the hypervisor's, `highest`, are VCPUs'. */
void bank_init(ulong highest);

/* The VCPU has none any more: what it holds is nobody's. */
void bank_forget(struct vcpu *v);

/* For switch.S: gives the VCPU a bank with its registers. */
void bank_take(struct vcpu *v);

/* Brings gpr[] up to date. */
void bank_look(struct vcpu *v);

/* switch.S, of the bank that is SRSCtl.PSS. */
void bank_save(struct vcpu *v);
void bank_load(const struct vcpu *v);

/* --- tlb.c --- */

/* Empties both TLBs. */
void tlb_init(void);

/* Gives the VCPU's VM its GuestID, if another one has it: nothing of that remains. */
void tlb_claim(struct vcpu *v);

/* Forgets what the guest's TLB has for the VCPU. */
void tlb_forget_guest(const struct vcpu *v);

/* A guest touched `gpa`, for which there is no entry: makes one. False if nothing is there. */
bool tlb_fill(const struct vcpu *v, ulong gpa);

void tlb_save_guest(struct vcpu *v);
void tlb_load_guest(const struct vcpu *v);

/* --- link.S --- */

/* Clears the guest's LLbit. Of the VCPU, the state is loaded, but not what takes the long way. */
void link_clear(const struct vcpu *v);

/* --- inject.c --- */

/* Makes the running guest take the exception `code` at its instruction, which is in a branch's delay slot, or not. */
void inject_exception(ulong code, bool slot);

/* The lines of a VCPU that is loaded, as they are now, to the hardware. */
void inject_lines(struct vcpu *v);

/* What was raised is not any more. */
void inject_take_back(struct vcpu *v, ulong bits);

/* With an external controller: notes what the guest has taken. */
void inject_look(struct vcpu *v);

/* --- timer.c --- */

/* In steps of Count: more than from reading the guest's Cause to having written it. */
#define TIMER_JUST_MET 32UL

/* Guest.Cause, of which hardware may have set TI since it was read. */
static inline void timer_write_cause(ulong cause)
{
    gcp0_write(CP0_CAUSE, cause);
    if (BOARD_GUEST_TIMER && gcp0_read(CP0_COUNT) - gcp0_read(CP0_COMPARE) < TIMER_JUST_MET) {
        gcp0_write(CP0_CAUSE, cause | CAUSE_TI);
    }
}

/* Guest.Count of the VCPU that runs, and what it is compared with. */
ulong timer_count(const struct vcpu *v);
void timer_set_count(struct vcpu *v, ulong count);
ulong timer_compare(const struct vcpu *v);
void timer_set_compare(struct vcpu *v, ulong compare);

/* --- emulate.c --- */

/* The instruction that exited was emulated: the guest goes on behind it. */
void emulate_skip(void);

/* The same, and a register has the result. */
void emulate_result(ulong number, ulong value);

/* The instruction `insn`, which is privileged, or changes what is ours to change. False if there is no such thing. */
bool emulate(struct vcpu *v, ulong insn);

/* --- vcpu.c --- */

/* The controls as all VCPUs have them that do not take the long way. */
void vcpu_init(void);

/* Makes the groups of registers the VCPU's own, or has it take the long way. */
void vcpu_give(struct vcpu *v, ulong groups);

#endif
