/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Emulation of privileged instructions: WAIT, the counter, cache operations by index, fields of
 * Status, Cause, IntCtl and Config whose writes exit, and registers that exist only once.
 */
#include "arch.h"
#include "internal.h"

#define RS(insn) ((insn) >> 21 & 31U)
#define RT(insn) ((insn) >> 16 & 31U)
#define RD(insn) ((insn) >> 11 & 31U)
#define OPCODE(insn) ((insn) >> 26)
#define FUNCTION(insn) ((insn) & 0x3fU)
#define OFFSET(insn) ((ulong)(long)(int16_t)(insn) << 2)

#define OPCODE_SPECIAL 0x00U
#define OPCODE_REGIMM 0x01U
#define OPCODE_J 0x02U
#define OPCODE_JAL 0x03U
#define OPCODE_COP0 0x10U
#define OPCODE_JALX 0x1dU
#define OPCODE_SPECIAL3 0x1fU
#define OPCODE_CACHE 0x2fU
#define FUNCTION_JR 0x08U
#define FUNCTION_JALR 0x09U
#define FUNCTION_RDHWR 0x3bU
#define FUNCTION_WAIT 0x20U
#define COP0_MFC0 0x00U
#define COP0_MTC0 0x04U
#define COP0_RDPGPR 0x0aU
#define COP0_WRPGPR 0x0eU
#define COP0_CO 0x10U
#define HWR_COUNT 2U

/* --- the next instruction --- */

/* Conditional branches: opcodes 4 to 7, and 20 to 23 for the likely ones. */
static bool branch_condition(ulong insn)
{
    long a = (long)gpr_get(RS(insn));

    switch (OPCODE(insn) & 3U) {
    case 0:
        return a == (long)gpr_get(RT(insn));
    case 1:
        return a != (long)gpr_get(RT(insn));
    case 2:
        return a <= 0;
    default:
        return a > 0;
    }
}

/* Target of the branch at `pc`, whose delay slot contains the current instruction. The branch has
 * already written its link register. */
static ulong branch_target(ulong pc, ulong insn)
{
    ulong opcode = OPCODE(insn);
    bool taken;

    if (opcode == OPCODE_SPECIAL) { /* JR, JALR */
        return gpr_get(RS(insn));
    }
    /* the last: to microMIPS */
    if (opcode == OPCODE_J || opcode == OPCODE_JAL || opcode == OPCODE_JALX) {
        return ((pc + 4U) & 0xf0000000U) | (insn & 0x03ffffffU) << 2 |
               (opcode == OPCODE_JALX ? 1U : 0);
    }
    if (opcode == OPCODE_REGIMM) { /* bit 16: >= 0, else < 0 */
        taken = ((long)gpr_get(RS(insn)) >= 0) == ((insn >> 16 & 1U) != 0);
    } else {
        taken = branch_condition(insn);
    }
    return taken ? pc + 4U + OFFSET(insn) : pc + 8U;
}

void emulate_skip(void)
{
    ulong pc = cp0_read(CP0_EPC);

    if ((cp0_read(CP0_CAUSE) & CAUSE_BD) != 0) {
        cp0_write(CP0_EPC, branch_target(pc, cp0_read(CP0_BADINSTRP)));
    } else {
        cp0_write(CP0_EPC, pc + 4U);
    }
}

/* emulate_skip() first: the branch of a delay slot must read its registers before this write. */
void emulate_result(ulong number, ulong value)
{
    emulate_skip();
    gpr_set(number, value);
}

/* --- registers of coprocessor 0 --- */

#define REGISTER(number, select) ((number) * 8U + (select))
#define SELECTED(insn) REGISTER(RD(insn), (insn) & 7U)
#define R(cp0) REGISTER_OF(cp0)
#define REGISTER_OF(...) REGISTER(__VA_ARGS__)

/* and SR, NMI */
#define STATUS_TRAPPED (STATUS_BEV | STATUS_KSU | STATUS_ERL | STATUS_EXL | STATUS_TS | 0x00180000)
/* and IM, IPL */
#define STATUS_WRITABLE (STATUS_TRAPPED | STATUS_CU0 | STATUS_IE | 0x0005ff00)
#define INTCTL_VS 0x3e0UL
#define CONFIG_K0 7UL

/* Without other coprocessors and without fields that this core lacks: FR, RP, MX. */
static void set_status(ulong value)
{
    ulong before = gcp0_read(CP0_STATUS);

    gcp0_write(CP0_STATUS, (before & ~(ulong)STATUS_WRITABLE) | (value & STATUS_WRITABLE));
}

static void set_cause(struct vcpu *v, ulong value)
{
    ulong writable = CAUSE_DC | CAUSE_IV | STATUS_IP(0) | STATUS_IP(1);

    timer_set_cause(v, (gcp0_read(CP0_CAUSE) & ~writable) | (value & writable));
}

static void set_intctl(struct vcpu *v, ulong value)
{
    gcp0_write(CP0_INTCTL, (gcp0_read(CP0_INTCTL) & ~INTCTL_VS) | (value & INTCTL_VS));
    vcpu_enable_lazy(v, LAZY_CONTROLS);
}

static void set_config(struct vcpu *v, ulong value)
{
    gcp0_write(CP0_CONFIG, (gcp0_read(CP0_CONFIG) & ~CONFIG_K0) | (value & CONFIG_K0));
    vcpu_enable_lazy(v, LAZY_CONTROLS);
}

/* The lazy group of the register, or 0. */
static ulong lazy_group_of(ulong reg)
{
    ulong number = reg / 8U;

    if (reg == R(CP0_USERLOCAL) || reg == R(CP0_HWRENA) || reg == REGISTER(17, 0) || number == 31) {
        return number == 31 && reg != R(CP0_KSCRATCH1) && reg != R(CP0_KSCRATCH2) ? 0 : LAZY_OTHER;
    }
    return number <= 6 || number == 10 ? LAZY_MMU : 0;
}

/* Emulates a write. Writes to registers that do not exist for guests are ignored. */
static void write_register(struct vcpu *v, ulong reg, ulong value)
{
    switch (reg) {
    case R(CP0_COUNT):
        timer_set_count(v, value);
        break;
    case R(CP0_COMPARE):
        timer_set_compare(v, value);
        break;
    case R(CP0_STATUS):
        set_status(value);
        break;
    case R(CP0_CAUSE):
        set_cause(v, value);
        break;
    case R(CP0_INTCTL):
        set_intctl(v, value);
        break;
    case R(CP0_CONFIG):
        set_config(v, value);
        break;
    case R(CP0_PAGEGRAIN):
        gcp0_write(CP0_PAGEGRAIN, value);
        break;
    default:
        break;
    }
}

/* Emulates a read. Shadow sets, watchpoints, event counters and cache tags read 0: guests have
 * none. */
static ulong read_register(const struct vcpu *v, ulong reg)
{
    switch (reg) {
    case R(CP0_COUNT):
        return timer_count(v);
    case R(CP0_COMPARE):
        return timer_compare(v);
    case R(CP0_PRID):
        return cp0_read(CP0_PRID);
    default:
        return 0;
    }
}

/* --- instructions --- */

/* Adds lazy state; the guest then executes the instruction again, without an exit. */
static bool enable_lazy(struct vcpu *v, ulong groups)
{
    bool new = groups != 0 && (v->arch.lazy & groups) == 0;

    if (new) {
        vcpu_enable_lazy(v, groups);
    }
    return new;
}

static bool cop0_co(struct vcpu *v, ulong insn)
{
    if (FUNCTION(insn) == FUNCTION_WAIT) {
        inject_sync(v);
        emulate_skip();
        vcpu_wait(v);
        return true;
    }
    return enable_lazy(v, LAZY_MMU); /* only TLB instructions get here */
}

static bool cop0(struct vcpu *v, ulong insn)
{
    ulong reg = SELECTED(insn);

    if ((RS(insn) & COP0_CO) != 0) {
        return cop0_co(v, insn);
    }
    if ((RS(insn) == COP0_MFC0 || RS(insn) == COP0_MTC0) && enable_lazy(v, lazy_group_of(reg))) {
        return true;
    }
    switch (RS(insn)) {
    case COP0_MFC0:
        emulate_result(RT(insn), read_register(v, reg));
        return true;
    case COP0_MTC0:
        write_register(v, reg, gpr_get(RT(insn)));
        emulate_skip();
        return true;
    case COP0_RDPGPR: /* a guest has one set only */
    case COP0_WRPGPR:
        emulate_result(RD(insn), gpr_get(RT(insn)));
        return true;
    default:
        return false;
    }
}

static bool special3(const struct vcpu *v, ulong insn)
{
    if (FUNCTION(insn) != FUNCTION_RDHWR || RD(insn) != HWR_COUNT) {
        return false;
    }
    emulate_result(RT(insn), timer_count(v));
    return true;
}

/* CACHE by index, on caches that all VMs share. Tags are neither read nor written. */
static bool cache(ulong insn)
{
    cpu_flush_line(RT(insn), gpr_get(RS(insn)) + (ulong)(long)(int16_t)insn);
    emulate_skip();
    return true;
}

bool emulate(struct vcpu *v, ulong insn)
{
    switch (OPCODE(insn)) {
    case OPCODE_COP0:
        return cop0(v, insn);
    case OPCODE_SPECIAL3:
        return special3(v, insn);
    case OPCODE_CACHE:
        return cache(insn);
    default:
        return false;
    }
}
