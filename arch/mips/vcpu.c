/* SPDX-License-Identifier: Apache-2.0 */
/* A VCPU's state: general registers and the guest context of coprocessor 0. switch.S saves and
 * loads it. */
#include "vcpu.h"
#include "arch.h"
#include "console.h"
#include "internal.h"
#include "lib.h"

/* What a guest does without exits: exceptions and interrupts, cache operations by address, and its
 * timer if it is wired. */
#define GUESTCTL0_DEFAULT                                              \
    (GUESTCTL0_GM | GUESTCTL0_CP0 | GUESTCTL0_AT_ROOT | GUESTCTL0_CG | \
     (BOARD_GUEST_TIMER ? GUESTCTL0_GT : 0U))
#define CONFIG_RESET 2UL /* K0: uncached, as after reset */

/* For switch.S. */
void vcpu_save_lazy(struct vcpu *v);
void vcpu_load_lazy(struct vcpu *v);
void vcpu_arrive(struct vcpu *v);

void arch_vcpu_reset(struct vcpu *v, ulong entry, ulong arg)
{
    ulong gid = v->vm->arch.gid;

    bank_release(v);
    memset(&v->arch, 0, sizeof(v->arch));
    v->arch.gpr[4] = v->id;
    /* device tree; RT app: any value */
    v->arch.gpr[5] = v->id == 0 && arg != 0 ? arg | KSEG0 : arg;
    v->arch.pc = entry | KSEG0;
    v->arch.status = STATUS_BEV | STATUS_ERL;
    v->arch.ebase = KSEG0;
    v->arch.guestctl0 = GUESTCTL0_DEFAULT;
    v->arch.guestctl1 = gid | gid << GUESTCTL1_RID_SHIFT;
    v->arch.bank = BANK_NONE;
    v->arch.config = CONFIG_RESET;
    v->arch.timer_at = TICKS_NEVER;
    v->arch.count = (ulong)arch_time();
    v->arch.compare = v->arch.count - 1U; /* Count has just passed Compare */
}

void arch_vcpu_argument(struct vcpu *v, ulong first, ulong stack)
{
    v->arch.gpr[4] = first;
    v->arch.gpr[29] = stack | KSEG0;
}

/* The VCPU or its VM was reset, or another VM used its GuestID: what TLBs and caches hold for it is
 * stale. The VM's other VCPUs are not affected: each loads its own guest TLB entries. */
void vcpu_arrive(struct vcpu *v)
{
    tlb_claim(v);
    if (v->last_cpu == VCPU_NO_CPU) {
        tlb_flush_guest(v);
    }
    if (v->last_cpu == VCPU_NO_CPU && v->id == 0) { /* its memory was filled by data writes */
        cpu_sync_caches();
    }
    v->last_cpu = (ulong)&mips_cpu;
}

/* Nothing to do: guest interrupts never wake this CPU, which checks them only while the guest
 * runs. */
void arch_vcpu_mask(void)
{
}

void arch_vcpu_sync(struct vcpu *v)
{
    (void)v;
}

/* --- lazy state, which few guests use --- */

/* Values for VCPUs without lazy state of the registers that control exits. */
void vcpu_init(void)
{
    cp0_write(CP0_GUESTCTL0, GUESTCTL0_DEFAULT);
    cp0_write(CP0_GUESTCTL0EXT, GUESTCTL0EXT_OG);
}

static void load_controls(const struct arch_vcpu *a)
{
    cp0_write(CP0_GUESTCTL0, a->guestctl0);
    cp0_write(CP0_GUESTCTL0EXT, (a->lazy & LAZY_OTHER) != 0 ? 0 : GUESTCTL0EXT_OG);
}

static void set_controls(struct vcpu *v)
{
    ulong groups = v->arch.lazy;

    v->arch.guestctl0 = (v->arch.guestctl0 & ~(ulong)GUESTCTL0_AT_GUEST) |
                        ((groups & LAZY_MMU) != 0 ? GUESTCTL0_AT_GUEST : GUESTCTL0_AT_ROOT);
    load_controls(&v->arch);
}

/* After tlb_load_guest() or tlb_save_guest(), which make EntryLo take all bits; so PageGrain is
 * last. */
static void load_mmu(const struct arch_vcpu *a)
{
    gcp0_write(CP0_INDEX, a->index);
    gcp0_write(CP0_ENTRYLO0, a->entrylo0);
    gcp0_write(CP0_ENTRYLO1, a->entrylo1);
    gcp0_write(CP0_CONTEXT, a->context);
    gcp0_write(CP0_PAGEMASK, a->pagemask);
    gcp0_write(CP0_WIRED, a->wired);
    gcp0_write(CP0_ENTRYHI, a->entryhi);
    gcp0_write(CP0_PAGEGRAIN, a->pagegrain);
}

static void load_other(const struct arch_vcpu *a)
{
    gcp0_write(CP0_USERLOCAL, a->user_local);
    gcp0_write(CP0_HWRENA, a->hwrena);
    gcp0_write(CP0_KSCRATCH1, a->kscratch[0]);
    gcp0_write(CP0_KSCRATCH2, a->kscratch[1]);
}

/* Initializes the MMU registers at their first use: EntryHi and Context as hardware set them at the
 * guest's last exception, whose address BadVAddr still holds. */
static void init_mmu(struct vcpu *v)
{
    ulong at = gcp0_read(CP0_BADVADDR);

    v->arch.entryhi = at & ~0x1fffUL;
    v->arch.context = at >> 9 & 0x007ffff0UL;
    for (unsigned i = 0; i < GUEST_TLB; i++) {
        v->arch.tlb[i].hi = ENTRYHI_EHINV;
    }
    tlb_load_guest(v);
    load_mmu(&v->arch);
}

void vcpu_enable_lazy(struct vcpu *v, ulong groups)
{
    ulong new = groups & ~v->arch.lazy;

    v->arch.lazy |= groups;
    if ((new &LAZY_MMU) != 0) {
        init_mmu(v);
    }
    if ((new &LAZY_OTHER) != 0) {
        load_other(&v->arch);
    }
    set_controls(v);
}

static void save_mmu(struct vcpu *v)
{
    struct arch_vcpu *a = &v->arch;

    a->index = gcp0_read(CP0_INDEX);
    a->entrylo0 = gcp0_read(CP0_ENTRYLO0);
    a->entrylo1 = gcp0_read(CP0_ENTRYLO1);
    a->context = gcp0_read(CP0_CONTEXT);
    a->pagemask = gcp0_read(CP0_PAGEMASK);
    a->pagegrain = gcp0_read(CP0_PAGEGRAIN);
    a->wired = gcp0_read(CP0_WIRED);
    a->entryhi = gcp0_read(CP0_ENTRYHI);
    tlb_save_guest(v);
}

bool vcpu_maps(struct vcpu *v, ulong address, ulong gpa)
{
    if ((v->arch.lazy & LAZY_MMU) == 0) {
        return true;
    }
    save_mmu(v);
    load_mmu(&v->arch);
    return tlb_maps(v, address, gpa);
}

void vcpu_save_lazy(struct vcpu *v)
{
    struct arch_vcpu *a = &v->arch;

    vcpu_init();
    a->intctl = gcp0_read(CP0_INTCTL);
    a->config = gcp0_read(CP0_CONFIG);
    gcp0_write(CP0_INTCTL, 0);
    gcp0_write(CP0_CONFIG, CONFIG_RESET);
    if ((a->lazy & LAZY_OTHER) != 0) {
        a->user_local = gcp0_read(CP0_USERLOCAL);
        a->hwrena = gcp0_read(CP0_HWRENA);
        a->kscratch[0] = gcp0_read(CP0_KSCRATCH1);
        a->kscratch[1] = gcp0_read(CP0_KSCRATCH2);
        gcp0_write(CP0_USERLOCAL, 0); /* no exit: every guest can read it by RDHWR */
        gcp0_write(CP0_HWRENA, 0);
    }
    if ((a->lazy & LAZY_MMU) != 0) {
        save_mmu(v);
        tlb_flush_guest(v); /* no entries of this VCPU for other VCPUs with its GuestID */
        gcp0_write(CP0_PAGEGRAIN, 0);
        gcp0_write(CP0_ENTRYHI, 0);
    }
}

void vcpu_load_lazy(struct vcpu *v)
{
    load_controls(&v->arch);
    timer_hold(v->arch.cause); /* without a match since the VCPU was saved */
    gcp0_write(CP0_INTCTL, v->arch.intctl);
    gcp0_write(CP0_CONFIG, v->arch.config);
    if ((v->arch.lazy & LAZY_OTHER) != 0) {
        load_other(&v->arch);
    }
    if ((v->arch.lazy & LAZY_MMU) != 0) {
        tlb_load_guest(v);
        load_mmu(&v->arch);
    }
}

/* --- reports --- */

bool arch_vcpu_report(const struct vcpu *v, unsigned line)
{
    static const char names[32][3] = {
        "pc", "at", "v0", "v1", "a0", "a1", "a2", "a3", "t0", "t1", "t2",
        "t3", "t4", "t5", "t6", "t7", "s0", "s1", "s2", "s3", "s4", "s5",
        "s6", "s7", "t8", "t9", "k0", "k1", "gp", "sp", "s8", "ra",
    };
    const struct arch_vcpu *a = &v->arch;
    unsigned i = line * 4U;

    if (line == 0) {
        bank_sync(&v->vm->vcpus[v->id]);
    }
    if (i < 32U) {
        console_log("  %-2s %08lx  %-2s %08lx  %-2s %08lx  %-2s %08lx", names[i],
                    i == 0 ? a->pc : a->gpr[i], names[i + 1], a->gpr[i + 1], names[i + 2],
                    a->gpr[i + 2], names[i + 3], a->gpr[i + 3]);
    } else if (i == 32U) {
        console_log("  status %lx  cause %lx  epc %lx  errorepc %lx  ebase %lx  badvaddr %lx",
                    a->status, a->cause, a->epc, a->error_epc, a->ebase, a->badvaddr);
    }
    return i <= 32U;
}
