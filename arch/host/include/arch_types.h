/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract on the developer's own machine: CPUs are structs that a test steps one at a time, time is a number the
 * test sets, guest interrupts are bits that the test looks at.
 */
#ifndef ARCH_TYPES_H
#define ARCH_TYPES_H

#include "atomic.h"
#include "types.h"

#define ARCH_RAM_ALIGN UINT64_C(0x200000) /* largest page that any RAM region can be mapped with */
#define ARCH_GPA_LIMIT (UINT64_C(1) << 41)
#define ARCH_HPA_LIMIT (UINT64_C(1) << 56)
#define ARCH_SEEDS true
#define ARCH_VM_TIMERS 0U /* that the architecture arms for a VM */
#define ARCH_VIRQ_MESSAGE 2UL

struct cpu;
struct vcpu;

struct arch_cpu {
    ticks_t timer;                 /* what arch_timer_set() set */
    unsigned kicks;                /* interrupts by other CPUs not yet taken */
    bool breakpoints;              /* come to the hypervisor */
    ticks_t taken;                 /* time that the hypervisor took here, see host_costs */
    ticks_t resumed, taken_before; /* when the current VCPU came here, or was last accounted; `taken` then */
};

struct arch_vcpu {
    ulong raised;        /* guest interrupts injected and not taken */
    ticks_t deadline;    /* the guest's own timer */
    ulong entry, arg;    /* registers 0 and 1, of which a debugger may write the latter */
    unsigned exceptions; /* breakpoints taken as its own */
    ticks_t ran;         /* time that the guest itself has had, up to `resumed` of the CPU that it is on */
};

struct arch_vm {
    uint32_t lines; /* interrupt lines that are high */
    unsigned resets;
};

/* VCPUs to wake when vm.lock is given back: none, arch_vm_irq() has done it. */
static inline ulong arch_vm_raised(struct arch_vm *vm)
{
    (void)vm;
    return 0;
}

/* The CPU that the test is stepping. */
extern struct cpu *host_cpu;
extern ticks_t host_time;

static inline struct cpu *arch_cpu_self(void)
{
    return host_cpu;
}

static inline int32_t arch_fetch_increment(int32_t *p)
{
    return atomic_add_relaxed(p, 1);
}

static inline void arch_store_release(int32_t *p, int32_t value)
{
    atomic_store_release(p, value);
}

/* Which may take time itself: host_costs. */
ticks_t host_look_at_time(void);

static inline ticks_t arch_time(void)
{
    return host_look_at_time();
}

/* There are none. */
static inline void arch_irq_devices(bool on)
{
    (void)on;
}

static inline uint32_t arch_executed(void)
{
    return (uint32_t)host_time;
}

/* Locks are always taken, so that one left held shows. */
static inline bool arch_alone(void)
{
    return false;
}

/* Where all CPUs' traces go, whatever the address. */
void *arch_memory(hpa_t hpa);

/* A single-stepped CPU that spins would spin for ever: a lock that was left held shows here. */
void arch_cpu_relax(void);

struct cpu *arch_cpu_get(unsigned id);
bool arch_guest_irq(const struct arch_vcpu *v);
void arch_vcpu_inject(struct vcpu *v, ulong bits);
ticks_t arch_vcpu_deadline(const struct arch_vcpu *v);
ulong arch_vcpu_timer_bits(const struct vcpu *v);
void *arch_window_for(struct arch_cpu *cpu, hpa_t hpa, uint64_t size);
bool arch_irq_pending(void);
void arch_timer_set(ticks_t deadline);

#endif
