/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract on the developer's machine, for unit tests: CPUs are structs that a test steps one
 * at a time, time is a number that the test sets, and guest interrupts are bits that the test
 * reads.
 */
#ifndef ARCH_TYPES_H
#define ARCH_TYPES_H

#include "atomic.h"
#include "lib.h"
#include "types.h"

/* largest page that any RAM region can be mapped with */
#define ARCH_RAM_ALIGN UINT64_C(0x200000)
#define ARCH_GPA_LIMIT (UINT64_C(1) << 41)
#define ARCH_HPA_LIMIT (UINT64_C(1) << 56)
#define ARCH_DMA_ALIAS UINT64_C(0x40000000)
#define ARCH_MAX_CPUS SYSIMAGE_MAX_HARTS
#ifndef ARCH_TIME_SLOW /* a build for a test replaces it */
#define ARCH_TIME_SLOW false
#endif
#define ARCH_VM_VDEVS 6U
#define ARCH_VM_TIMERS 0U /* timers of the architecture for each VM */
#define ARCH_VIRQ_MESSAGE 2UL

struct cpu;
struct vcpu;

struct arch_cpu {
    ticks_t timer;                 /* deadline set by arch_timer_set() */
    unsigned kicks;                /* interrupts by other CPUs not yet taken */
    bool breakpoints;              /* breakpoints trap to the hypervisor */
    ticks_t taken;                 /* time spent in the hypervisor, see host_costs */
    ticks_t resumed, taken_before; /* last load or accounting of the current VCPU; `taken` then */
};

struct arch_vcpu {
    ulong raised;        /* guest interrupts injected and not yet taken */
    ticks_t deadline;    /* of the guest's own timer */
    ulong entry, arg;    /* registers 0 and 1; a debugger may write 1 */
    unsigned exceptions; /* breakpoint exceptions injected */
    ticks_t ran;         /* time that the guest has run, up to its CPU's `resumed` */
};

struct arch_vm {
    uint32_t lines;      /* interrupt lines that are high */
    unsigned resets;     /* calls of arch_vm_reset() */
    unsigned stop_steps; /* further calls of vm_stop() that its next stop needs */
};

/* No VCPUs to wake when vm.lock is released: arch_vm_irq() has raised the interrupts. */
static inline ulong arch_vm_raised(struct arch_vm *vm)
{
    (void)vm;
    return 0;
}

/* The CPU that the test steps. */
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

/* Called after each store with release order if not NULL. A lock that it releases still counts as
 * held. Owner: the test. */
extern void (*host_on_release)(void);

static inline void arch_store_release(int32_t *p, int32_t value)
{
    atomic_store_release(p, value);
    if (host_on_release != NULL) {
        host_on_release();
    }
}

/* The reading itself may cost time: host_costs. */
ticks_t host_read_time(void);

static inline ticks_t arch_time(void)
{
    return host_read_time();
}

/* No devices interrupt. */
static inline void arch_irq_devices(bool on)
{
    (void)on;
}

static inline uint32_t arch_executed(void)
{
    return (uint32_t)host_time;
}

/* Locks are always taken, to detect a lock that is never released. */
static inline bool arch_is_uniprocessor(void)
{
    return false;
}

/* Trace memory of all CPUs, for any address. */
void *arch_memory(hpa_t hpa);

/* Aborts: with single-stepped CPUs, a lock that is held is never released. */
void arch_cpu_relax(void);

struct cpu *arch_cpu_get(unsigned id);
bool arch_guest_irq(const struct arch_vcpu *v);
void arch_vcpu_inject(struct vcpu *v, ulong bits);
ticks_t arch_vcpu_deadline(const struct arch_vcpu *v);
ulong arch_vcpu_timer_bits(const struct vcpu *v);
void *arch_window_for(struct arch_cpu *cpu, hpa_t hpa, uint64_t size);
bool arch_irq_pending(void);

static inline void arch_clear(void *dst, size_t n)
{
    clear_words(dst, n);
}

void arch_timer_set(ticks_t deadline);

/* Registers of a device: those of host_registers. */
uint64_t arch_device_read64(const volatile void *at);
void arch_device_write64(volatile void *at, uint64_t value);
uint8_t arch_device_read8(const volatile void *at);
void arch_device_write8(volatile void *at, uint8_t value);
uint32_t arch_device_read32(const volatile void *at);
void arch_device_write32(volatile void *at, uint32_t value);

#endif
