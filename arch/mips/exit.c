/* SPDX-License-Identifier: Apache-2.0 */
/* Exits other than interrupts and ordinary hypercalls, for trap.S: what a guest's exception is, and
 * which part handles it (tlb.c, emulate.c, inject.c, core). Owns no state. */
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
#define OPCODE_REGIMM 0x01U
#define OPCODE_CACHE 0x2fU
#define REGIMM_SYNCI 0x1fU

/* Bits of a load or store that devices serve; the lowest two are the logarithm of its width. LWL
 * and SWL reach from the addressed byte down to the start of its word, LWR and SWR up to its
 * end. */
#define ACCESS_WIDTH 3U
#define ACCESS_LOAD 4U
#define ACCESS_STORE 8U
#define ACCESS_SIGNED 0x10U
#define ACCESS_LEFT 0x20U
#define ACCESS_RIGHT 0x40U
#define ACCESS_CONDITIONAL 0x80U

/* By opcode from LB on; 0: none. */
static const uint8_t accesses[] = {
    [0x20 - OPCODE_LB] = ACCESS_LOAD | ACCESS_SIGNED,           /* LB */
    [0x21 - OPCODE_LB] = ACCESS_LOAD | ACCESS_SIGNED | 1U,      /* LH */
    [0x22 - OPCODE_LB] = ACCESS_LOAD | ACCESS_LEFT | 2U,        /* LWL */
    [0x23 - OPCODE_LB] = ACCESS_LOAD | 2U,                      /* LW */
    [0x24 - OPCODE_LB] = ACCESS_LOAD,                           /* LBU */
    [0x25 - OPCODE_LB] = ACCESS_LOAD | 1U,                      /* LHU */
    [0x26 - OPCODE_LB] = ACCESS_LOAD | ACCESS_RIGHT | 2U,       /* LWR */
    [0x28 - OPCODE_LB] = ACCESS_STORE,                          /* SB */
    [0x29 - OPCODE_LB] = ACCESS_STORE | 1U,                     /* SH */
    [0x2a - OPCODE_LB] = ACCESS_STORE | ACCESS_LEFT,            /* SWL */
    [0x2b - OPCODE_LB] = ACCESS_STORE | 2U,                     /* SW */
    [0x2e - OPCODE_LB] = ACCESS_STORE | ACCESS_RIGHT,           /* SWR */
    [0x30 - OPCODE_LB] = ACCESS_LOAD | 2U,                      /* LL */
    [0x38 - OPCODE_LB] = ACCESS_STORE | ACCESS_CONDITIONAL | 2U /* SC */
};

static ulong access_of(ulong insn)
{
    ulong n = INSN_OPCODE(insn) - OPCODE_LB;

    return n < ARRAY_SIZE(accesses) ? accesses[n] : 0;
}

/* The value that a load leaves in the register, which holds `before`. */
static ulong extend(ulong access, ulong value, ulong before, ulong gpa)
{
    ulong shift = 32U - (8U << (access & ACCESS_WIDTH)), bits = 8U * (gpa & 3U);

    if ((access & ACCESS_LEFT) != 0) {
        return value << (24U - bits) | (before & ((1UL << (24U - bits)) - 1U));
    }
    if ((access & ACCESS_RIGHT) != 0) {
        return value >> bits | (before & ~(~0UL >> bits));
    }
    return (access & ACCESS_SIGNED) != 0 ? (ulong)((long)(value << shift) >> shift)
                                         : value << shift >> shift;
}

/* SWL and SWR store the addressed byte first. */
static void store(struct vcpu *v, const struct vdev *dev, ulong access, gpa_t offset, ulong value)
{
    if ((access & (ACCESS_LEFT | ACCESS_RIGHT)) == 0) {
        dev->write(v, offset, access & ACCESS_WIDTH, value);
        return;
    }
    for (unsigned n = (unsigned)offset & 3U; n < 4U; n += (access & ACCESS_LEFT) != 0 ? ~0U : 1U) {
        dev->write(v, (offset & ~(gpa_t)3U) + n, 0,
                   (access & ACCESS_LEFT) != 0 ? value >> 24 : value);
        value = (access & ACCESS_LEFT) != 0 ? value << 8 : value >> 8;
    }
}

/* False if no device answers, or for ASET and ACLR. Only MIPS32 loads and stores are emulated: no
 * microMIPS word that exits has one of these opcodes. SC succeeds, also after an ERET, since the
 * guest's LLbit cannot be read; nothing else stores to a device of the VM. */
static bool mmio(struct vcpu *v, gpa_t gpa)
{
    const struct vdev *dev = vdev_find(&v->vm->devs, gpa);
    ulong insn = cp0_read(CP0_BADINSTR), rt = INSN_RT(insn), before = gpr_get(rt),
          access = access_of(insn);

    if (dev == NULL || access == 0) {
        return false;
    }
    if ((access & ACCESS_STORE) != 0) {
        store(v, dev, access, gpa - dev->base, before);
        emulate_result((access & ACCESS_CONDITIONAL) != 0 ? rt : 0, 1);
    } else {
        gpa_t offset = (gpa - dev->base) & ~(gpa_t)((1U << (access & ACCESS_WIDTH)) - 1U);

        emulate_result(
            rt, extend(access, dev->read(v, offset, access & ACCESS_WIDTH), before, (ulong)gpa));
    }
    return true;
}

/* CACHE and SYNCI have no effect at an address without memory. */
static bool is_cache_operation(ulong insn)
{
    return INSN_OPCODE(insn) == OPCODE_CACHE ||
           (INSN_OPCODE(insn) == OPCODE_REGIMM && INSN_RT(insn) == REGIMM_SYNCI);
}

static bool in_slot(void)
{
    return (cp0_read(CP0_CAUSE) & CAUSE_BD) != 0;
}

/* Injects a bus error, as a machine without memory there would. A guest without memory at its
 * exception handler would fault forever: that is fatal. So is a core that reports virtual
 * addresses: a VM's first fetch, in kseg1, would fault forever. */
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

/* Whether the fault is the instruction fetch's. The page offset is compared first, since the TLB is
 * searched only in mapped segments and takes long. */
static bool is_fetch(struct vcpu *v, ulong gpa)
{
    ulong pc = (cp0_read(CP0_EPC) & ~1UL) + (in_slot() ? 4U : 0U);

    if (((pc ^ gpa) & 0xfffU) != 0) {
        return false;
    }
    if (pc >> 30 == 2) { /* kseg0, kseg1 */
        return (pc & 0x1fffffffU) == gpa;
    }
    if (pc < KSEG0 && (gcp0_read(CP0_STATUS) & STATUS_ERL) != 0) { /* kuseg, unmapped */
        return pc == gpa;
    }
    return vcpu_maps(v, pc, gpa);
}

static void exit_address(struct vcpu *v, ulong code)
{
    ulong gpa = cp0_read(CP0_BADVADDR);
    bool fetch = code == EXC_TLBL && is_fetch(v, gpa);

    if (tlb_fill(v, gpa)) {
        return;
    }
    if (!fetch && is_cache_operation(cp0_read(CP0_BADINSTR))) {
        emulate_skip();
    } else if (fetch || !mmio(v, gpa)) {
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
