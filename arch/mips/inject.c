/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guest interrupts. Without an external controller, an interrupt line is a bit of GuestCtl2.VIP and
 * stays set while the line is high; a message is the guest's software interrupt 1, which the guest
 * clears. With an external controller, GuestCtl2.GRIPL holds the highest raised line, and hardware
 * clears it when the guest takes the interrupt; an interrupt without a line is raised once.
 */
#include "arch.h"
#include "atomic.h"
#include "internal.h"

#define VIRQ_LEVELS VIRQ(VIRQ_UART_LINE)
#define GUEST_OFFSET 0x200U /* in the guest's interrupt vectors, for all lines */
#define BEV_BASE 0xbfc00200U
#define VECTOR_GENERAL 0x180U

static bool loaded(const struct vcpu *v)
{
    return cpu_self()->loaded == v;
}

static ulong highest(ulong lines)
{
    return lines == 0 ? 0 : 31U - (ulong)__builtin_clzl(lines);
}

/* GuestCtl2 for these raised lines. */
static ulong control_of(ulong lines)
{
    if (BOARD_EIC) {
        return lines == 0 ? 0 : highest(lines) << GUESTCTL2_GRIPL_SHIFT | GUEST_OFFSET;
    }
    return (lines & ~ARCH_VIRQ_MESSAGE) << 8; /* VIP */
}

/* With two or more lines raised, makes the guest exit when it takes one (GuestCtl0.MC), so that the
 * next can be injected. GuestCtl0 then differs from other VCPUs': it becomes lazy state. */
static void watch(struct vcpu *v)
{
    ulong watched = (v->arch.lines & (v->arch.lines - 1U)) != 0 ? GUESTCTL0_MC : 0;

    if ((v->arch.guestctl0 & GUESTCTL0_MC) != watched) {
        v->arch.guestctl0 ^= GUESTCTL0_MC;
        if (loaded(v)) {
            vcpu_enable_lazy(v, LAZY_CONTROLS);
        } else {
            v->arch.lazy |= LAZY_CONTROLS;
        }
    }
}

void inject_lines(struct vcpu *v)
{
    v->arch.guestctl2 = control_of(v->arch.lines);
    if (BOARD_EIC) {
        v->arch.level = highest(v->arch.lines);
        watch(v);
    }
    if (loaded(v)) {
        cp0_write(CP0_GUESTCTL2, v->arch.guestctl2);
    }
}

void inject_sync(struct vcpu *v)
{
    ulong control = loaded(v) ? cp0_read(CP0_GUESTCTL2) : v->arch.guestctl2;

    if (BOARD_EIC && v->arch.level != 0 && control >> GUESTCTL2_GRIPL_SHIFT == 0) {
        v->arch.lines &= ~VIRQ(v->arch.level);
        v->arch.lines |= v->vm->arch.lines & VIRQ_LEVELS & (v->id == 0 ? ~0UL : 0);
        inject_lines(v);
    }
}

void inject_withdraw(struct vcpu *v, ulong bits)
{
    inject_sync(v);
    v->arch.lines &= ~bits;
    atomic_and_relaxed(&v->pending, ~bits);
    inject_lines(v);
}

static void raise_message(struct vcpu *v)
{
    if (loaded(v)) {
        timer_write_cause(gcp0_read(CP0_CAUSE) | STATUS_IP(VIRQ_MESSAGE_LINE));
    } else {
        v->arch.cause |= STATUS_IP(VIRQ_MESSAGE_LINE);
    }
}

void arch_vcpu_inject(struct vcpu *v, ulong bits)
{
    inject_sync(v);
    if ((bits & VIRQ(VIRQ_TIMER_LINE)) != 0) {
        v->arch.timer_at = TICKS_NEVER;
    }
    if (!BOARD_EIC && (bits & ARCH_VIRQ_MESSAGE) != 0) {
        raise_message(v);
        bits &= ~ARCH_VIRQ_MESSAGE;
    }
    if (bits != 0) {
        v->arch.lines |= bits;
        inject_lines(v);
    }
}

void inject_exception(ulong code, bool slot)
{
    ulong status = gcp0_read(CP0_STATUS), cause = gcp0_read(CP0_CAUSE), pc = cp0_read(CP0_EPC);
    ulong base = (status & STATUS_BEV) != 0 ? BEV_BASE : gcp0_read(CP0_EBASE) & ~0xfffUL;

    gcp0_write(CP0_NESTEDEXC, status & (STATUS_EXL | STATUS_ERL));
    gcp0_write(CP0_NESTEDEPC, pc);
    cause &= ~(0x1fUL << CAUSE_CODE_SHIFT);
    if ((status & STATUS_EXL) == 0) {
        gcp0_write(CP0_EPC, pc);
        cause = (cause & ~(ulong)CAUSE_BD) | (slot ? CAUSE_BD : 0);
    }
    timer_write_cause(cause | code << CAUSE_CODE_SHIFT);
    gcp0_write(CP0_STATUS, status | STATUS_EXL);
    cp0_write(CP0_EPC, base + VECTOR_GENERAL);
}

/* --- a VM's interrupt lines, which are connected to VCPU 0 --- */

void arch_vm_irq(struct vm *vm, unsigned source, bool level)
{
    struct vcpu *v = &vm->vcpus[0];

    if (level) {
        vm->arch.lines |= VIRQ(source);
        vcpu_raise(v, VIRQ(source));
    } else {
        vm->arch.lines &= ~VIRQ(source);
        inject_withdraw(v, VIRQ(source));
    }
}

void arch_vcpu_lines(struct vcpu *v)
{
    v->arch.lines = v->id == 0 ? v->vm->arch.lines : 0;
    inject_lines(v);
}
