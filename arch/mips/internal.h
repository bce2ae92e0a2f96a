/* SPDX-License-Identifier: Apache-2.0 */
/* Interfaces between the files of arch/mips, grouped by the file that defines them; core and the
 * components use arch/include instead. All functions run on the only CPU, with interrupts
 * disabled. */
#ifndef INTERNAL_H
#define INTERNAL_H

#include "board.h"
#include "hypercall.h"
#include "types.h"
#include "vcpu.h"

/* --- trap.S: general registers of the running guest --- */
ulong gpr_get(ulong number);
void gpr_set(ulong number, ulong value);

/* --- cpu.c --- */

/* Initializes Compare and the interrupts of devices. The caches are ready and no guest runs. */
void cpu_init(void);

/* Writes dirty data-cache lines back and invalidates the instruction cache, so that code written as
 * data can be executed. */
void cpu_sync_caches(void);

/* Emulates a guest's CACHE instruction by index: the line is not in the cache afterwards. */
void cpu_flush_line(ulong operation, ulong address);

/* --- lines/irq.c or eic/irq.c, depending on the board's CPU --- */

/* Enables the interrupts of the timer and of the console's UART. */
void irq_init(void);

/* Whether the console UART's interrupt is pending and enabled. */
bool irq_uart_pending(void);

/* Acknowledges the UART's interrupt; its handler follows. */
void irq_uart_ack(void);

/* Enables or disables the UART's interrupt. */
void irq_uart_enable(bool on);

/* --- bank.c: GPR shadow sets --- */
extern struct vcpu *bank_owner[BANKS_MAX + 1]; /* VCPU by bank; owner: bank.c */

/* VCPUs use the banks below the hypervisor's, which is `highest`. */
void bank_init(ulong highest);

/* Takes the VCPU's bank away without saving its registers. */
void bank_release(struct vcpu *v);

/* For switch.S: gives the VCPU a bank and loads its registers into it. */
void bank_take(struct vcpu *v);

/* Updates v->arch.gpr[] from the VCPU's bank. */
void bank_sync(struct vcpu *v);

/* In switch.S, for the bank in SRSCtl.PSS. */
void bank_save(struct vcpu *v);
void bank_load(const struct vcpu *v);

/* --- tlb.c --- */

/* Number of GuestIDs for VMs, from 1 on: fewer if GuestCtl1.ID is narrower than GUEST_ID_LINK, and
 * 0 if it has one bit. Only at boot: writes GuestCtl1. */
ulong tlb_guest_ids(void);

/* Empties the TLBs of root and guest. */
void tlb_init(void);

/* Gives the VCPU's VM its GuestID. If another VM had the GuestID, all TLB entries with it are
 * invalidated. */
void tlb_claim(struct vcpu *v);

/* Invalidates the VCPU's entries in the guest's TLB. */
void tlb_flush_guest(const struct vcpu *v);

/* Writes a root TLB entry for `gpa`, which a guest accessed and which has none. False if the VM has
 * no memory there. */
bool tlb_fill(const struct vcpu *v, ulong gpa);

/* Save and load the guest's TLB, which is empty before it is loaded; loading also sets Index.P.
 * Both overwrite the registers of the MMU. */
void tlb_save_guest(struct vcpu *v);
void tlb_load_guest(const struct vcpu *v);

/* Whether the VCPU's saved TLB maps the address to `gpa`. */
bool tlb_maps(const struct vcpu *v, ulong address, ulong gpa);

/* --- inject.c --- */

/* Injects the exception `code` at the guest's current instruction; `slot`: it is in a branch's
 * delay slot. */
void inject_exception(ulong code, bool slot);

/* Writes the interrupt lines of a VCPU to its GuestCtl2, and to the hardware if the VCPU is
 * loaded. */
void inject_lines(struct vcpu *v);

/* Clears interrupts that are raised or pending. */
void inject_withdraw(struct vcpu *v, ulong bits);

/* With an external controller: removes the interrupt that the guest has taken from the raised
 * lines. */
void inject_sync(struct vcpu *v);

/* --- timer.c --- */

/* Steps of Count; more than pass from reading the guest's Cause to having written it. */
#define TIMER_JUST_MET 32UL

/* Writes Guest.Cause. Hardware may have set TI since the caller read Cause; the write must not
 * clear it. */
static inline void timer_write_cause(ulong cause)
{
    gcp0_write(CP0_CAUSE, cause);
    if (BOARD_GUEST_TIMER && gcp0_read(CP0_COUNT) - gcp0_read(CP0_COMPARE) < TIMER_JUST_MET) {
        gcp0_write(CP0_CAUSE, cause | CAUSE_TI);
    }
}

/* Guest.Count and Guest.Compare of the running VCPU. */
ulong timer_count(const struct vcpu *v);
void timer_set_count(struct vcpu *v, ulong count);
ulong timer_compare(const struct vcpu *v);
void timer_set_compare(struct vcpu *v, ulong compare);

/* As timer_write_cause(), of the running VCPU; DC may change. */
void timer_set_cause(struct vcpu *v, ulong cause);

/* If Guest.Cause, `cause`, has DC: the Guest.Count of the hardware, which counts, must not meet
 * Compare. Moves it beyond Compare, from where it takes almost 2^32 steps, and writes Cause,
 * without a match in between. Called again before they have passed: at each load of the VCPU and
 * timer interrupt. */
void timer_hold(ulong cause);

/* --- emulate.c --- */

/* Advances the guest's PC past the emulated instruction. */
void emulate_skip(void);

/* As emulate_skip(), and writes the result to general register `number`. */
void emulate_result(ulong number, ulong value);

/* Emulates the privileged instruction `insn`. False if no such instruction exists for guests. */
bool emulate(struct vcpu *v, ulong insn);

/* --- vcpu.c --- */

/* Writes the control registers with the values of all VCPUs that have no lazy state. */
void vcpu_init(void);

/* Whether the running VCPU's TLB maps the address to `gpa`. True if its TLB is not yet its own. */
bool vcpu_maps(struct vcpu *v, ulong address, ulong gpa);

/* Adds the LAZY_* groups to the state that is saved and loaded for the VCPU. */
void vcpu_enable_lazy(struct vcpu *v, ulong groups);

#endif
