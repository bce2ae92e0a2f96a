/* SPDX-License-Identifier: Apache-2.0 */
/* RISC-V's part of the core structures, and the inline functions of the contract in
 * arch/include/arch.h. */
#ifndef ARCH_TYPES_H
#define ARCH_TYPES_H

#include "board.h"
#include "csr.h"
#include "errata.h"
#include "hart_stack.h"
#include "lib.h"
#include "timer.h"
#include "types.h"

struct cpu;
struct vcpu;

/* largest page that any RAM region can be mapped with */
#define ARCH_RAM_ALIGN UINT64_C(0x200000)
#define ARCH_GPA_LIMIT (UINT64_C(1) << 41) /* Sv39x4 */
#define ARCH_HPA_LIMIT (UINT64_C(1) << 56) /* limit of page-table entries */
#define ARCH_DMA_ALIAS BOARD_DMA_ALIAS
#define ARCH_MAX_CPUS BOARD_HARTS
/* Timers of the architecture for each VM: rate limits of pass-through interrupts and of the shared
 * devices' (plic.c), and the RTC's alarm (compat/vrtc.c). */
#define ARCH_VM_TIMERS (SYSIMAGE_MAX_IRQS + 2U)
#define ARCH_VM_VDEVS 7U /* PLIC, UART, test finisher, RTC, pvpanic, two of the PCI bus */
#define ARCH_VIRQ_MESSAGE (1UL << IRQ_VSSI)
#define ARCH_TIME_SLOW (BOARD_MTIME != 0)

#define WINDOW_SIZE 0x200000UL
#define WINDOW_NOWHERE (1UL << 62)

/* arch_cpu.fp: the registers' values belong to no VCPU */
#define FP_STALE ((struct vcpu *)1)

/* Used by its hart only. Constant after boot are all but `fp` and `window_at`. */
struct arch_cpu {
    /* all ones if htinst holds an MMIO exit's instruction, else 0; used by assembly */
    ulong htinst_mask;
    ulong hartid; /* number of the hart for SBI and PLIC */
    /* VCPU that the FP registers belong to, NULL: all are 0, or FP_STALE; for switch.S */
    struct vcpu *fp;
    uint64_t *window; /* page-table entry of this hart's window */
    ulong window_at;  /* host-physical address that the window maps, or WINDOW_NOWHERE */
    ulong window_va;  /* virtual address of the window */
};

/* Registers by number in x[]; x[0] holds the hart's stack pointer while the VCPU is loaded. Owned
 * by the hart that runs the VCPU; while none does, guarded by sched_lock. */
struct arch_vcpu {
    /* sp and those that C changes are saved at each exit, the others as all below */
    ulong x[32];

    /* Everything below is saved only when another VCPU takes the hart. */
    ulong sepc, sstatus; /* FS is never dirty */
    ulong vsstatus, vsie, vstvec, vsscratch, vsepc, vscause, vstval, vsatp;
    ulong hvip;
    /* not banked: while the guest runs, its values are in the hart's CSRs */
    ulong scounteren, senvcfg;
    uint64_t vstimecmp; /* the guest's deadline in ticks, for the CSR or the emulated timer */

    ulong hgatp;     /* constant: hgatp of the VM */
    ulong fcsr;      /* saved with f[] */
    struct vcpu *fp; /* the VCPU itself if f[] is valid; NULL while all have been 0 since reset */
    uint64_t f[32];  /* the floating-point registers, saved when another VCPU uses them */
    bool suspended;  /* waits in an HSM suspend, not in WFI */
    bool fence;      /* atomic: another VCPU has requested a fence_local() */
};

/* A VM's emulated PLIC; one word of interrupt bits: sources 1 to 31. Guarded by vm.lock. */
struct vplic {
    uint32_t level;       /* lines that are high */
    uint32_t pending;     /* latched by the gateway */
    uint32_t in_service;  /* claimed, not completed */
    uint8_t priority[32]; /* of each source; 0: never delivered */
    uint32_t host_of[32]; /* host source of a passed-through one, or 0; constant after boot */
    struct {
        uint32_t deliver;   /* sources that are enabled and whose priority is above the threshold */
        uint32_t enable;    /* bit n: source n */
        uint32_t threshold; /* of priorities */
        bool raised;        /* the VCPU's external interrupt is raised */
    } context[8];
};

struct arch_vm {
    ulong hgatp; /* constant after boot */
    /* atomic: of second-stage entries whose old values must not be used any more */
    unsigned changes;
    /* `changes` at this hart's last fence; written by that hart */
    unsigned fenced[SYSIMAGE_MAX_HARTS];
    struct vplic plic;
    ulong raised; /* bit n: wake VCPU n for an external interrupt; guarded by vm.lock */
};

/* Takes the VCPUs to wake after vm.lock is released; each is returned once. */
static inline ulong arch_vm_raised(struct arch_vm *vm)
{
    ulong raised = vm->raised;

    vm->raised = 0;
    return raised;
}

static inline struct cpu *arch_cpu_self(void)
{
    ulong sp;

    __asm__("mv %0, sp" : "=r"(sp)); /* not volatile: one read for a whole function */
    return (struct cpu *)((sp | (HART_STACK_SIZE - 1)) - (HART_CPU_SIZE - 1));
}

/* A guard page and a stack for each CPU. */
extern char hart_stacks[];

static inline struct cpu *arch_cpu_get(unsigned id)
{
    return (struct cpu *)(void *)(hart_stacks + (id + 1UL) * HART_SIZE - HART_CPU_SIZE);
}

static inline uint32_t arch_executed(void)
{
    return (uint32_t)csr_read(CSR_INSTRET);
}

static inline void *arch_memory(hpa_t hpa)
{
    return (void *)hpa;
}

/* For locks. Not the compiler's builtins: gcc 12 implements a store-release by an atomic exchange,
 * and sign-extends the result of amoadd.w again. */
static inline int32_t arch_fetch_increment(int32_t *p)
{
    int32_t before;

    __asm__ volatile("amoadd.w %0, %2, %1" : "=r"(before), "+A"(*p) : "r"(1) : "memory");
    return before;
}

static inline void arch_store_release(int32_t *p, int32_t value)
{
    if (ARCH_MAX_CPUS > 1U) {
        __asm__ volatile("fence rw, w" ::: "memory");
    }
    *(volatile int32_t *)p = value;
}

static inline void arch_cpu_relax(void)
{
    __asm__ volatile(".4byte 0x0100000f" ::: "memory"); /* pause (Zihintpause), elsewhere a no-op */
}

/* Features needed where arch_has() would be too slow; constant after boot. In one structure, so
 * that a path that reads two of them computes one address. */
struct riscv_facts {
    bool sstc, envcfg; /* the hart has Sstc; senvcfg and henvcfg */
    bool uniprocessor; /* the system uses one hart */
    /* bytes that cbo.zero clears, a power of two; 0: the hart does not have it */
    uint16_t zero_block;
    const volatile uint64_t *mtime; /* the board's, if it can be read, else NULL */
};
extern struct riscv_facts riscv_facts; /* owner: probe.c; constant after boot */

/* A read of the CSR takes a trap into the firmware on a hart without it. */
static inline ticks_t arch_time(void)
{
    if (ARCH_TIME_SLOW && riscv_facts.mtime != NULL) {
        return errata_load_time(riscv_facts.mtime);
    }
    return csr_read(CSR_TIME);
}

static inline bool arch_is_uniprocessor(void)
{
    return ARCH_MAX_CPUS == 1U || riscv_facts.uniprocessor;
}

static inline bool arch_guest_irq(const struct arch_vcpu *v)
{
    (void)v;
    /* hip, not vsip: in QEMU 7.2, vsip does not show a VSTIP that was raised through hvip. A guest
     * that did WFI after its emulated timer had expired waited forever. */
    return (csr_read(CSR_HIP) & (csr_read(CSR_VSIE) << 1)) != 0;
}

static inline void arch_vcpu_inject(struct vcpu *v, ulong bits)
{
    (void)v;
    if (bits != 0) {
        csr_set(CSR_HVIP, bits);
    }
}

static inline ticks_t arch_vcpu_deadline(const struct arch_vcpu *v)
{
    bool wanted =
        riscv_facts.sstc ? (v->vsie & (1UL << IRQ_STI)) != 0 : (v->hvip & (1UL << IRQ_VSTI)) == 0;

    return wanted ? v->vstimecmp : TICKS_NEVER;
}

static inline ulong arch_vcpu_timer_bits(const struct vcpu *v)
{
    (void)v;
    return riscv_facts.sstc ? 0 : 1UL << IRQ_VSTI;
}

void timer_set_by_sbi(ticks_t deadline);

#define WINDOW_PTE 0xc7UL /* valid, read, write, accessed, dirty */

static inline void *arch_window_for(struct arch_cpu *cpu, hpa_t hpa, uint64_t size)
{
    ulong offset = hpa - cpu->window_at;

    if (offset >= WINDOW_SIZE) { /* inline: a function call would cost the callers more */
        offset = hpa % WINDOW_SIZE;
        cpu->window_at = hpa - offset;
        *cpu->window = (cpu->window_at >> 2) | WINDOW_PTE;
        __asm__ volatile("sfence.vma %0, zero" ::"r"(cpu->window_va) : "memory");
    }
    if (offset + size > WINDOW_SIZE) {
        return NULL;
    }
    offset += cpu->window_va;
    if (offset == 0) { /* lets the compiler assume that the result is never NULL */
        __builtin_unreachable();
    }
    return (void *)offset;
}

static inline void arch_clear(void *dst, size_t n)
{
    size_t block = riscv_facts.zero_block;

    if (block == 0 || (((ulong)dst | n) & (block - 1U)) != 0) {
        clear_words(dst, n);
        return;
    }
    for (char *end = (char *)dst + n, *at = dst; at != end; at += block) {
        __asm__ volatile(".insn i 0x0f, 2, x0, %0, 4" ::"r"(at) : "memory"); /* cbo.zero */
    }
}

static inline void arch_timer_set(ticks_t deadline)
{
    if (riscv_facts.sstc) {
        csr_write(CSR_STIMECMP, deadline);
    } else {
        timer_set_by_sbi(deadline);
    }
}

static inline void arch_irq_devices(bool on)
{
    if (on) {
        csr_set(CSR_SIE, 1UL << IRQ_SEI);
    } else {
        csr_clear(CSR_SIE, 1UL << IRQ_SEI);
    }
}

static inline bool arch_irq_pending(void)
{
    return (csr_read(CSR_SIP) & csr_read(CSR_SIE)) != 0;
}

/* Registers of a device at their host-physical address, which arch_device_map() has mapped. */
static inline uint64_t arch_device_read64(const volatile void *at)
{
    return *(const volatile uint64_t *)at;
}

static inline void arch_device_write64(volatile void *at, uint64_t value)
{
    *(volatile uint64_t *)at = value;
}

static inline uint8_t arch_device_read8(const volatile void *at)
{
    return *(const volatile uint8_t *)at;
}

static inline void arch_device_write8(volatile void *at, uint8_t value)
{
    *(volatile uint8_t *)at = value;
}

static inline uint32_t arch_device_read32(const volatile void *at)
{
    return *(const volatile uint32_t *)at;
}

static inline void arch_device_write32(volatile void *at, uint32_t value)
{
    *(volatile uint32_t *)at = value;
}

#endif
