/* SPDX-License-Identifier: Apache-2.0 */
/* Exits other than interrupts and ordinary hypercalls. */
#include "arch.h"
#include "asm_layout.h"
#include "internal.h"
#include "vdev.h"

/* For trap.S. */
void exit_fault(ulong code);
void exit_guest(ulong reason);
void exit_hypcall(ulong code);
ulong exit_slot_call(void);
void exit_repeat(void);

#define INSN_RT(insn) ((insn) >> 16 & 31U)
#define INSN_OPCODE(insn) ((insn) >> 26)
#define OPCODE_LB 0x20U
#define OPCODE_LHU 0x25U
#define OPCODE_SB 0x28U
#define OPCODE_SW 0x2bU

/* Loads and stores that devices serve, by opcode from LB on. */
struct access {
    bool valid, store, sign;
    uint8_t width_log2;
};

static const struct access accesses[] = {
    [0x20 - OPCODE_LB] = {.valid = true, .sign = true},                   /* LB */
    [0x21 - OPCODE_LB] = {.valid = true, .sign = true, .width_log2 = 1},  /* LH */
    [0x23 - OPCODE_LB] = {.valid = true, .width_log2 = 2},                /* LW */
    [0x24 - OPCODE_LB] = {.valid = true},                                 /* LBU */
    [0x25 - OPCODE_LB] = {.valid = true, .width_log2 = 1},                /* LHU */
    [0x28 - OPCODE_LB] = {.valid = true, .store = true},                  /* SB */
    [0x29 - OPCODE_LB] = {.valid = true, .store = true, .width_log2 = 1}, /* SH */
    [0x2b - OPCODE_LB] = {.valid = true, .store = true, .width_log2 = 2}, /* SW */
};

static const struct access *access_of(ulong insn)
{
    ulong n = INSN_OPCODE(insn) - OPCODE_LB;

    return n < ARRAY_SIZE(accesses) && accesses[n].valid ? &accesses[n] : NULL;
}

/* The value that a load of this width leaves in the register. */
static ulong extend(const struct access *a, ulong value)
{
    unsigned shift = 32U - (8U << a->width_log2);

    return a->sign ? (ulong)((long)(value << shift) >> shift) : value << shift >> shift;
}

/* False if no device answers. Only MIPS32 loads and stores are emulated: no microMIPS word that
 * exits has one of these opcodes. */
static bool mmio(struct vcpu *v, gpa_t gpa)
{
    const struct vdev *dev = vdev_find(&v->vm->devs, gpa);
    ulong insn = cp0_read(CP0_BADINSTR);
    const struct access *a = access_of(insn);

    if (dev == NULL || a == NULL) {
        return false;
    }
    if (a->store) {
        dev->write(v, gpa - dev->base, a->width_log2, gpr_get(INSN_RT(insn)));
        emulate_skip();
    } else {
        emulate_result(INSN_RT(insn), extend(a, dev->read(v, gpa - dev->base, a->width_log2)));
    }
    return true;
}

static bool in_slot(void)
{
    return (cp0_read(CP0_CAUSE) & CAUSE_BD) != 0;
}

/* Injects a bus error, as a machine without memory there would. A guest without memory at its
 * exception handler would fault forever: that is fatal. So is a core that reports virtual addresses:
 * a VM's first fetch, in kseg1, would fault forever. */
static void no_memory(struct vcpu *v, ulong gpa, bool fetch)
{
    if ((cp0_read(CP0_GUESTCTL0) >> GUESTCTL0_GEXC_SHIFT & 31U) == GEXC_GVA) {
        vm_fatal(v, "BadVAddr is a virtual address", GEXC_GVA, gpa);
    } else if (fetch && (gcp0_read(CP0_STATUS) & (STATUS_EXL | STATUS_ERL)) != 0) {
        vm_fatal(v, "no memory at an exception handler", EXC_IBE, gpa);
    } else {
        inject_exception(fetch ? EXC_IBE : EXC_DBE, in_slot());
    }
}

/* Whether the fault is the instruction fetch's. In kseg0 and kseg1 the PC gives the physical
 * address; in mapped segments only the page offset can be compared. */
static bool is_fetch(ulong gpa)
{
    ulong pc = (cp0_read(CP0_EPC) & ~1UL) + (in_slot() ? 4U : 0U);

    return ((pc ^ gpa) & 0xfffU) == 0 && (pc >> 30 != 2 || (pc & 0x1fffffffU) == gpa);
}

static void exit_address(struct vcpu *v, ulong code)
{
    ulong gpa = cp0_read(CP0_BADVADDR);
    bool fetch = code == EXC_TLBL && is_fetch(gpa);

    if (tlb_fill(v, gpa)) {
        return;
    }
    if (fetch || !mmio(v, gpa)) {
        no_memory(v, gpa, fetch);
    }
}

/* A guest's SDBBP, from debug.S: sets GM and enables interrupts again. MIPS guests have no
 * debugger, so the guest gets a reserved instruction exception. */
static void guest_debug(void)
{
    cp0_write(CP0_GUESTCTL0, cp0_read(CP0_GUESTCTL0) | GUESTCTL0_GM);
    cp0_write(CP0_STATUS, cp0_read(CP0_STATUS) | STATUS_IE);
    cp0_write(CP0_EPC, cp0_read(CP0_KSCRATCH1));
    inject_exception(EXC_RI, (cp0_read(CP0_KSCRATCH2) & DEBUG_DBD) != 0);
}

void exit_fault(ulong code)
{
    extern const char debug_return[];
    struct vcpu *v = cpu_self()->current;

    if (code >= EXC_MOD && code <= EXC_TLBS) {
        exit_address(v, code);
        inject_sync(v);
    } else if (code == EXC_IBE || code == EXC_DBE) { /* no answer from a passed-through device */
        inject_exception(code, in_slot());
    } else if (code == EXC_SYS && cp0_read(CP0_EPC) == (ulong)debug_return) {
        guest_debug();
    } else {
        vm_fatal(v, "an unhandled trap", code, cp0_read(CP0_BADVADDR));
    }
}

void exit_guest(ulong reason)
{
    struct vcpu *v = cpu_self()->current;

    if (reason == GEXC_GHFC) {
        inject_sync(v);
    } else if (reason > GEXC_GSFC) {
        vm_fatal(v, "an unhandled exit", reason, cp0_read(CP0_EPC));
    } else if (!emulate(v, cp0_read(CP0_BADINSTR))) {
        inject_exception(EXC_RI, in_slot());
    }
}

/* --- hypercalls not handled in assembly; EPC is already past HYPCALL --- */

static void answer(long error)
{
    gpr_set(2, (ulong)error);
    gpr_set(3, 0);
}

/* As SBI system reset: $a0 is 0 for off, 1 and 2 for reset. */
static void end_of_vm(struct vcpu *v)
{
    ulong type = gpr_get(4);

    if (type > 2) {
        answer(HCALL_ERR_INVALID_PARAM);
    } else {
        vm_stop(v->vm, type == 0 ? VM_REASON_SHUTDOWN : VM_REASON_RESET, type != 0);
    }
}

void exit_hypcall(ulong code)
{
    if (code == HYPCALL_END) {
        end_of_vm(cpu_self()->current);
    } else {
        answer(HCALL_ERR_NOT_SUPPORTED);
    }
}

ulong exit_slot_call(void)
{
    emulate_skip();
    return cp0_read(CP0_BADINSTR) >> 11 & 0x3ffU;
}

/* No exception has come between, so NestedEPC still is the PC of the HYPCALL. */
void exit_repeat(void)
{
    cp0_write(CP0_EPC, cp0_read(CP0_NESTEDEPC));
}

const char *arch_cause_name(ulong cause)
{
    static const char *const names[] = {
        [EXC_MOD] = "TLB modified", [EXC_TLBL] = "TLB load",   [EXC_TLBS] = "TLB store",
        [EXC_IBE] = "bus error",    [EXC_DBE] = "bus error",   [EXC_RI] = "reserved instruction",
        [EXC_CPU] = "coprocessor",  [EXC_GE] = "guest's exit", [EXC_MCHECK] = "machine check",
    };

    return cause < ARRAY_SIZE(names) && names[cause] != NULL ? names[cause] : "unknown";
}
