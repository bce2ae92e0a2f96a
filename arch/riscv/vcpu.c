/* SPDX-License-Identifier: Apache-2.0 */
/* A VCPU's supervisor state: VS-mode CSRs and CSRs that the H extension does not bank. switch.S
 * saves and loads it. */
#include "arch.h"
#include "atomic.h"
#include "console.h"
#include "hart.h"
#include "internal.h"
#include "sched.h"
#include "trace.h"

#define VSTATUS_UXL_64 (2UL << 32)

void arch_vcpu_reset(struct vcpu *v, ulong entry, ulong arg)
{
    v->arch = (struct arch_vcpu){
        .x = {[10] = v->id, [11] = arg},
        .sepc = entry,
        .sstatus = SSTATUS_SPP | SSTATUS_SPIE | SSTATUS_FS_CLEAN | VSTATUS_UXL_64,
        .vsstatus = VSTATUS_UXL_64 | SSTATUS_FS, /* as OpenSBI leaves it; scounteren, too */
        .scounteren = HCOUNTEREN_CY | HCOUNTEREN_TM | HCOUNTEREN_IR,
        .vstimecmp = TICKS_NEVER,
        .hgatp = v->vm->arch.hgatp,
    };
}

void arch_vcpu_argument(struct vcpu *v, ulong first, ulong stack)
{
    v->arch.x[10] = first;
    v->arch.x[2] = stack;
}

/* Loads a VCPU after it ran on another hart, or after another VCPU of its VM (with the same VMID)
 * ran here: TLB and instruction cache of this hart may hold stale entries of the VM. With vsatp = 0
 * no VS-stage TLB entry can match, so RT apps of one VM may alternate without a fence. The guest
 * itself must fence before it enables translation, as on any hart. */
void vcpu_arrive(struct vcpu *v, struct cpu *cpu);
void vcpu_arrive(struct vcpu *v, struct cpu *cpu)
{
    struct vcpu **last = &v->vm->last_vcpu[cpu->id], *before = *last;
    ulong here = (ulong)cpu;
    bool stayed = v->last_cpu == (here | VCPU_TOOK_TURNS);

    if (!stayed || v->arch.vsatp != 0 || before == NULL) {
        fence_second_stage(v->vm);
        fence_local();
    }
    if (!stayed && cpu->arch.fp == v) {
        cpu->arch.fp = FP_STALE;
    }
    if (before != NULL && before != v) {
        /* unless that VCPU has arrived on another hart */
        atomic_replace_relaxed(&before->last_cpu, here, here | VCPU_TOOK_TURNS);
    }
    *last = v;
    v->arch.x[0] = here; /* the stack pointer for its traps */
    v->last_cpu = here;
}

void arch_vcpu_mask(void)
{
    csr_write(CSR_VSIE, 0);
}

void arch_vcpu_sync(struct vcpu *v)
{
    fence_second_stage(v->vm);
    if (atomic_load_acquire(&v->arch.fence)) {
        fence_local();
        atomic_store_release(&v->arch.fence, false);
    }
}

bool arch_vcpu_report(const struct vcpu *v, unsigned line)
{
    static const char names[32][4] = {
        "pc", "ra", "sp", "gp", "tp",  "t0",  "t1", "t2", "s0", "s1", "a0",
        "a1", "a2", "a3", "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5",
        "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
    };
    const struct arch_vcpu *a = &v->arch;
    unsigned i = 4 * line;

    if (i < 32) {
        console_log("  %-3s %016lx  %-3s %016lx  %-3s %016lx  %-3s %016lx", names[i],
                    i == 0 ? a->sepc : a->x[i], names[i + 1], a->x[i + 1], names[i + 2],
                    a->x[i + 2], names[i + 3], a->x[i + 3]);
    } else if (i == 32) {
        console_log("  vsstatus %lx  vstvec %lx  vsepc %lx  vscause %lx  vstval %lx  vsatp %lx",
                    a->vsstatus, a->vstvec, a->vsepc, a->vscause, a->vstval, a->vsatp);
    }
    return i <= 32;
}
