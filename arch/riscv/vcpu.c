/* SPDX-License-Identifier: Apache-2.0 */
/* A VCPU's supervisor state: VS-mode CSRs and what the H extension does not bank. */
#include "arch.h"
#include "console.h"
#include "hart.h"
#include "internal.h"
#include "sched.h"
#include "trace.h"

void fp_save(struct vcpu *v);
void fp_load(const struct vcpu *v);
void fp_clear(void);

#define VSTATUS_UXL_64 (2UL << 32)

void __attribute__((cold)) arch_vcpu_reset(struct vcpu *v, ulong entry, ulong arg)
{
    v->arch = (struct arch_vcpu){
        .x = {[10] = v->id, [11] = arg},
        .vm_id = v->vm->id,
        .sepc = entry,
        .sstatus = SSTATUS_SPP | SSTATUS_SPIE | SSTATUS_FS_CLEAN | VSTATUS_UXL_64,
        .vsstatus = VSTATUS_UXL_64 | SSTATUS_FS, /* as OpenSBI leaves it, and so the counters */
        .scounteren = HCOUNTEREN_CY | HCOUNTEREN_TM | HCOUNTEREN_IR,
        .vstimecmp = TICKS_NEVER,
        .fp_cpu = VCPU_NO_CPU,
    };
}

void arch_vcpu_argument(struct vcpu *v, ulong first, ulong stack)
{
    v->arch.x[10] = first;
    v->arch.x[2] = stack;
}

/*
 * Floating point without traps. A VCPU whose FP registers were written saves them when it leaves (the hart keeps track:
 * sstatus.FS is dirty); they stay in the hart, and if nobody else wrote there meanwhile, coming back costs nothing.
 * VCPUs that do not use floating point all find zeros, so that between them nothing is done either.
 *
 * Not by a trap at the first use: firmware does not delegate illegal instructions, so that trap goes through M-mode
 * first, and on QEMU 10.0 (whose mstatus.MPV cannot be cleared) its way from there to us ends in the guest.
 */
static inline void fp_leave(struct vcpu *v)
{
    struct cpu *cpu = cpu_self();

    /* fcsr by itself: QEMU does not count a write to it as making FS dirty. */
    v->arch.fcsr = csr_read(CSR_FCSR);
    if ((v->arch.sstatus & SSTATUS_FS) == SSTATUS_FS_DIRTY) {
        fp_save(v);
        v->arch.fp_live = true;
        v->arch.fp_cpu = cpu->id;
        cpu->arch.fp_owner = v;
    }
}

static void __attribute__((noinline)) fp_change(struct vcpu *v, struct cpu *cpu)
{
    if (v->arch.fp_live) {
        fp_load(v);
        cpu->arch.fp_owner = v;
    } else {
        fp_clear();
        cpu->arch.fp_owner = NULL;
    }
    v->arch.fp_cpu = cpu->id;
}

/* sstatus.FS is on: from hart_init(), or from the VCPU before. */
static inline void fp_arrive(struct vcpu *v, struct cpu *cpu)
{
    if (v->arch.fp_live ? cpu->arch.fp_owner != v || v->arch.fp_cpu != cpu->id : cpu->arch.fp_owner != NULL) {
        fp_change(v, cpu);
    }
    csr_write(CSR_FCSR, v->arch.fcsr);
}

void arch_vcpu_save(struct vcpu *v)
{
    struct arch_vcpu *a = &v->arch;

    a->sepc = csr_read(CSR_SEPC);
    a->sstatus = csr_read(CSR_SSTATUS);
    a->vsstatus = csr_read(CSR_VSSTATUS);
    a->vsie = csr_read(CSR_VSIE);
    a->vstvec = csr_read(CSR_VSTVEC);
    a->vsscratch = csr_read(CSR_VSSCRATCH);
    a->vsepc = csr_read(CSR_VSEPC);
    a->vscause = csr_read(CSR_VSCAUSE);
    a->vstval = csr_read(CSR_VSTVAL);
    a->vsatp = csr_read(CSR_VSATP);
    a->hvip = csr_read(CSR_HVIP);
    a->scounteren = csr_read(CSR_SCOUNTEREN);
    if (LIKELY(riscv_sstc)) { /* which implies the other */
        a->vstimecmp = csr_read(CSR_VSTIMECMP);
        a->senvcfg = csr_read(CSR_SENVCFG);
    } else if (riscv_envcfg) {
        a->senvcfg = csr_read(CSR_SENVCFG);
    }
    fp_leave(v);
}

/* Whatever this hart's TLB and instruction cache hold of the VM may be stale for `v`: it was elsewhere meanwhile, or
 * another VCPU of the VM (which shares the VMID) was here. */
static bool arrives(const struct vcpu *v, const struct cpu *cpu)
{
    return v->last_cpu != cpu->id || v->vm->last_vcpu[cpu->id] != v;
}

/* A VCPU that does not translate finds no translation of another's in its way; RT apps of one VM take turns like that.
 * Before it begins to translate it has to forget whatever there may be, as on any hart. */
static void __attribute__((noinline)) arrive(struct vcpu *v, const struct cpu *cpu)
{
    bool plain = v->arch.vsatp == 0 && v->last_cpu == cpu->id;

    if (!plain) {
        fence_local();
    }
    v->arch.x[0] = (ulong)cpu; /* the stack that its traps find */
    v->last_cpu = cpu->id;
    v->vm->last_vcpu[cpu->id] = v;
}

void arch_vcpu_load(struct vcpu *v, struct cpu *cpu)
{
    struct arch_vcpu *a = &v->arch;

    csr_write(CSR_SEPC, a->sepc);
    fp_arrive(v, cpu);
    csr_write(CSR_SSTATUS, (a->sstatus & ~SSTATUS_FS) | SSTATUS_FS_CLEAN);
    csr_write(CSR_VSSTATUS, a->vsstatus);
    csr_write(CSR_VSIE, a->vsie);
    csr_write(CSR_VSTVEC, a->vstvec);
    csr_write(CSR_VSSCRATCH, a->vsscratch);
    csr_write(CSR_VSEPC, a->vsepc);
    csr_write(CSR_VSCAUSE, a->vscause);
    csr_write(CSR_VSTVAL, a->vstval);
    csr_write(CSR_VSATP, a->vsatp);
    csr_write(CSR_HVIP, a->hvip);
    csr_write(CSR_SCOUNTEREN, a->scounteren);
    if (LIKELY(riscv_sstc)) {
        csr_write(CSR_VSTIMECMP, a->vstimecmp);
        csr_write(CSR_SENVCFG, a->senvcfg);
    } else if (riscv_envcfg) {
        csr_write(CSR_SENVCFG, a->senvcfg);
    }
    csr_write(CSR_HGATP, v->vm->arch.hgatp);
    if (UNLIKELY(arrives(v, cpu))) {
        arrive(v, cpu);
    }
}

void arch_vcpu_unload(void)
{
    csr_write(CSR_HVIP, 0);
    csr_write(CSR_VSIE, 0);
    if (LIKELY(riscv_sstc)) {
        csr_write(CSR_VSTIMECMP, TICKS_NEVER);
    }
}

void arch_vcpu_sync(struct vcpu *v)
{
    if (__atomic_load_n(&v->arch.fence, __ATOMIC_ACQUIRE)) {
        fence_local();
        __atomic_store_n(&v->arch.fence, false, __ATOMIC_RELEASE);
    }
}

void __attribute__((cold)) arch_vcpu_report(const struct vcpu *v)
{
    static const char names[32][4] = {
        "pc", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0",  "a1",  "a2", "a3", "a4", "a5",
        "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
    };
    const struct arch_vcpu *a = &v->arch;

    for (unsigned i = 0; i < 32; i += 4) {
        console_log("  %-3s %016lx  %-3s %016lx  %-3s %016lx  %-3s %016lx", names[i], i == 0 ? a->sepc : a->x[i],
                    names[i + 1], a->x[i + 1], names[i + 2], a->x[i + 2], names[i + 3], a->x[i + 3]);
    }
    console_log("  vsstatus %lx  vstvec %lx  vsepc %lx  vscause %lx  vstval %lx  vsatp %lx", a->vsstatus, a->vstvec,
                a->vsepc, a->vscause, a->vstval, a->vsatp);
}
