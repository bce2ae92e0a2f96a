/* SPDX-License-Identifier: Apache-2.0 */
/* MIPS VZ's part of the core structures, and the inline functions of the contract in
 * arch/include/arch.h. */
#ifndef ARCH_TYPES_H
#define ARCH_TYPES_H

#include "board.h"
#include "cp0.h"
#include "irq_timer.h"
#include "lib.h"
#include "types.h"

struct cpu;
struct vcpu;

#define ARCH_RAM_ALIGN UINT64_C(0x4000)    /* pages come in pairs, of 4 KiB, 16 KiB and so on */
#define ARCH_GPA_LIMIT (UINT64_C(1) << 29) /* size of kseg0 */
#define ARCH_HPA_LIMIT ARCH_GPA_LIMIT
#define ARCH_DMA_ALIAS 0U
#define ARCH_MAX_CPUS 1U
#define ARCH_TIME_SLOW false
#define ARCH_VM_VDEVS 4U
#define ARCH_VM_TIMERS 0U /* timers of the architecture for each VM */

/* A VCPU's interrupts: bit n is interrupt line n, as in Cause.IP. */
#define VIRQ(line) (1UL << (line))
#define VIRQ_MESSAGE_LINE 1 /* software interrupt 1; a guest may also raise and clear it */
#define VIRQ_UART_LINE 4
#define VIRQ_TIMER_LINE 7
#define ARCH_VIRQ_MESSAGE VIRQ(VIRQ_MESSAGE_LINE)

#define BANKS_MAX 16U
#define GUEST_IDS 8U
#define GUEST_TLB 16U
#define BANK_NONE ((ulong)BANKS_MAX)

struct arch_cpu {
    char nothing; /* unused: the only CPU's state is in variables */
};

/* An entry of a TLB, as in EntryHi, EntryLo0, EntryLo1 and PageMask. */
struct guest_tlb_entry {
    uint32_t hi, lo0, lo1, mask;
};

/* Lazy state: groups of guest registers that are saved and loaded only after a VCPU's first use of
 * them, which exits. */
#define LAZY_MMU 1UL      /* the TLB and its registers */
#define LAZY_OTHER 2UL    /* UserLocal, HWREna, KScratch */
#define LAZY_CONTROLS 4UL /* IntCtl, Config or GuestCtl0 */

/* The registers have the names of the guest's CP0. There is one CPU, and interrupts are off in the
 * hypervisor, so no lock guards them. */
struct arch_vcpu {
    ulong gpr[32]; /* by number; stale while the VCPU has a bank */

    /* Saved only when another VCPU takes the CPU. */
    ulong pc, hi, lo; /* pc: EPC of root */
    ulong status, cause, epc, error_epc, ebase;
    ulong badvaddr, badinstr, badinstrp;
    ulong nested_exc, nested_epc;
    ulong compare; /* Guest.Compare */
    ulong count;   /* Guest.Count when the VCPU was saved */
    ulong guestctl2;

    /* Loaded with the VCPU; written by C only. */
    ulong gtoffset; /* while Cause.DC is set: the value of Count */
    ulong guestctl0;
    ulong guestctl1; /* ID and RID: the VM's GuestID */
    ulong srsctl;    /* of root; PSS is the VCPU's bank */
    ulong bank;      /* number of its bank, or BANK_NONE */
    ulong lazy;      /* LAZY_*: which of the state below is saved and loaded */

    ulong lines; /* raised VIRQ bits; with an external controller, not yet taken */
    ulong level; /* with an external controller: the line in GRIPL, 0: none */
    /* with an external controller: expiry of the guest's timer, or TICKS_NEVER */
    uint64_t timer_at;
    ulong intctl, config;                  /* with any group */
    ulong user_local, hwrena, kscratch[2]; /* LAZY_OTHER */
    /* LAZY_MMU, with the TLB */
    ulong index, entrylo0, entrylo1, context, pagemask, pagegrain, wired, entryhi;
    struct guest_tlb_entry tlb[GUEST_TLB];
};

struct arch_vm {
    /* GuestID, constant after boot; VMs share one if there are more VMs than GuestIDs */
    ulong gid;
    ulong lines;                    /* interrupt lines to VCPU 0 that are high, VIRQ bits */
    struct guest_tlb_entry touched; /* root TLB entry that was made last for the VM; all 0: none */
};

/* No VCPUs to wake when vm.lock is released: arch_vm_irq() has raised the interrupts. */
static inline ulong arch_vm_raised(struct arch_vm *vm)
{
    (void)vm;
    return 0;
}

extern struct cpu mips_cpu; /* the only CPU; owner: main.c */

static inline struct cpu *arch_cpu_self(void)
{
    return &mips_cpu;
}

static inline struct cpu *arch_cpu_get(unsigned id)
{
    (void)id;
    return &mips_cpu;
}

/* Count wraps after 2^32 steps. arch_timer_set() makes sure that it is read more often than
 * that. */
struct mips_clock {
    uint32_t low;  /* Count at the last reading */
    uint32_t high; /* number of wraps until then */
};
extern struct mips_clock mips_clock; /* owner: arch_time() */

static inline ticks_t arch_time(void)
{
    struct mips_clock *clock = &mips_clock;
    uint32_t low = cp0_read(CP0_COUNT);

    if (low < clock->low) {
        clock->high++;
    }
    clock->low = low;
    return (uint64_t)clock->high << 32 | low;
}

static inline uint32_t arch_executed(void)
{
    return cp0_read(CP0_COUNT);
}

static inline void *arch_memory(hpa_t hpa)
{
    return (void *)((ulong)hpa | KSEG0);
}

static inline int32_t arch_fetch_increment(int32_t *p)
{
    return (*p)++;
}

static inline void arch_store_release(int32_t *p, int32_t value)
{
    __asm__ volatile("" ::: "memory");
    *(volatile int32_t *)p = value;
}

static inline void arch_cpu_relax(void)
{
}

static inline bool arch_is_uniprocessor(void)
{
    return true;
}

#define TIMER_FARTHEST 0x7fffffffU
#define TIMER_SOON 32U /* steps of Count; more than from reading it to having written Compare */

/* Sets the timer for a deadline that is too far for Compare, too near or past. */
void timer_set_slow(ticks_t deadline);

/* An early interrupt is harmless: timer_expire() sets the timer again. If Count has wrapped since
 * the last arch_time(), a future deadline differs in its high half and a past one still has a
 * negative distance: both take timer_set_slow(). */
static inline void arch_timer_set(ticks_t deadline)
{
    uint32_t distance = (uint32_t)deadline - cp0_read(CP0_COUNT);

    if ((uint32_t)(deadline >> 32) != mips_clock.high || (int32_t)(distance - TIMER_SOON) < 0) {
        timer_set_slow(deadline);
        return;
    }
    cp0_write(CP0_COMPARE, (uint32_t)deadline);
    irq_timer_set();
    if ((int32_t)(cp0_read(CP0_COUNT) - (uint32_t)deadline) >= 0) {
        timer_set_slow(deadline); /* Count has passed Compare: next match after 2^32 steps */
    }
}

static inline bool arch_guest_irq(const struct arch_vcpu *v)
{
    return BOARD_EIC ? v->lines != 0
                     : ((gcp0_read(CP0_CAUSE) & gcp0_read(CP0_STATUS)) >> 8 & 0xffU) != 0;
}

/* As arch_vcpu_deadline(), for a wired guest timer whose interrupt is enabled. */
ticks_t timer_deadline(const struct arch_vcpu *v);

/* For a VCPU whose state has just been saved. */
static inline ticks_t arch_vcpu_deadline(const struct arch_vcpu *v)
{
    if (BOARD_EIC) {
        return v->timer_at;
    }
    return (v->status & STATUS_IP(VIRQ_TIMER_LINE)) == 0 ? TICKS_NEVER : timer_deadline(v);
}

static inline ulong arch_vcpu_timer_bits(const struct vcpu *v)
{
    (void)v;
    return BOARD_EIC ? VIRQ(VIRQ_TIMER_LINE) : 0;
}

void arch_vcpu_inject(struct vcpu *v, ulong bits);
void arch_irq_devices(bool on);
bool arch_irq_pending(void);

/* All guest memory is in kseg0. */
static inline void *arch_window_for(struct arch_cpu *cpu, hpa_t hpa, uint64_t size)
{
    (void)cpu, (void)size;
    return (void *)((ulong)hpa | KSEG0);
}

static inline void arch_clear(void *dst, size_t n)
{
    clear_words(dst, n);
}

#endif
