/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A VM's emulated PLIC (RISC-V Platform-Level Interrupt Controller specification 1.0.0): 31
 * sources, and the contexts of QEMU's virt: 2n is M-mode of hart n, which no guest has, 2n+1 is
 * S-mode of hart n.
 */
#include "arch.h"
#include "atomic.h"
#include "internal.h"
#include "trace.h"

#define SOURCES 32U
#define PENDING 0x1000U
#define ENABLE 0x2000U
#define ENABLE_STRIDE 0x80U
#define CONTEXT 0x200000U
#define CONTEXT_STRIDE 0x1000U
#define VPLIC_SIZE 0x600000U /* as in the guest's device tree */
#define PRIORITIES 7U

#define NO_CONTEXT (~0UL)

/* Number of the only bit set in `bit`, by a de Bruijn sequence: not every core has Zbb. */
static unsigned bit_number(uint32_t bit)
{
    static const uint8_t numbers[32] = {0,  1,  28, 2,  29, 14, 24, 3,  30, 22, 20,
                                        15, 25, 17, 4,  8,  31, 27, 13, 23, 21, 19,
                                        16, 7,  26, 12, 18, 6,  11, 5,  10, 9};

    return numbers[(uint32_t)(bit * 0x077cb531U) >> 27];
}

/* Computes the deliverable sources of context `c` after a register has changed, to keep the
 * interrupt path short. */
static void vplic_update_deliver(struct vplic *p, ulong c)
{
    uint32_t deliver = 0;

    for (unsigned n = 1; n < SOURCES; n++) {
        deliver |= p->priority[n] > p->context[c].threshold ? 1U << n : 0;
    }
    p->context[c].deliver = deliver & p->context[c].enable;
}

/* Among several candidates: the highest priority, the lowest number among equals. */
static unsigned vplic_choose(const struct vplic *p, uint32_t candidates)
{
    unsigned best = 0;

    for (; candidates != 0; candidates &= candidates - 1U) {
        unsigned n = bit_number(candidates & (0U - candidates));

        best = p->priority[n] > p->priority[best] ? n : best;
    }
    return best;
}

/* For the current VCPU. Another hart (the console's) may have raised the interrupt as pending: that
 * is cleared, too. */
static inline void vplic_lower(struct vcpu *v)
{
    v->vm->arch.plic.context[v->id].raised = false;
    if (atomic_load_relaxed(&v->pending) != 0) {
        atomic_and_relaxed(&v->pending, ~(1UL << IRQ_VSEI));
    }
    csr_clear(CSR_HVIP, 1UL << IRQ_VSEI);
}

/* Leaves everything that takes sched_lock to vm_unlock(), to keep the lock order. */
static void vplic_raise(struct vcpu *v)
{
    if (v == cpu_self()->current) {
        vcpu_inject(v, 1UL << IRQ_VSEI);
    } else {
        atomic_or_release(&v->pending, 1UL << IRQ_VSEI);
        v->vm->arch.raised |= 1UL << v->id;
    }
}

/* Raises or lowers the VCPU's external interrupt according to context `c`. It is lowered on the
 * current VCPU only: on another running VCPU it stays high until that VCPU claims, gets 0 and
 * lowers it. */
static inline void vplic_update(struct vm *vm, ulong c)
{
    struct vplic *p = &vm->arch.plic;
    bool raised = (p->pending & p->context[c].deliver) != 0;

    if (raised) {
        if (!p->context[c].raised) {
            p->context[c].raised = true;
            vplic_raise(&vm->vcpus[c]);
        }
    } else if (&vm->vcpus[c] == cpu_self()->current) {
        vplic_lower(&vm->vcpus[c]);
    }
}

/* A source in `mask` has changed. */
static void vplic_update_all(struct vm *vm, uint32_t mask)
{
    for (unsigned c = 0; c < vm->nvcpus; c++) {
        if ((vm->arch.plic.context[c].enable & mask) != 0) {
            vplic_update(vm, c);
        }
    }
}

void arch_vm_irq(struct vm *vm, unsigned source, bool level)
{
    struct vplic *p = &vm->arch.plic;
    uint32_t bit = 1U << source;

    if (level) {
        p->level |= bit;
        p->pending |= bit & ~p->in_service;
    } else {
        p->level &= ~bit;
        p->pending &= ~bit;
    }
    vplic_update_all(vm, bit);
}

/* The source that VCPU `v` claims from context `c`, or 0. */
static ulong vplic_claim(struct vcpu *v, ulong c)
{
    struct vplic *p = &v->vm->arch.plic;
    uint32_t candidates;
    ulong n = 0;

    spin_lock(&v->vm->lock);
    candidates = p->pending & p->context[c].deliver;
    if (candidates != 0) {
        n = (candidates & (candidates - 1U)) == 0 ? bit_number(candidates)
                                                  : vplic_choose(p, candidates);
        p->pending &= ~(1U << n);
        p->in_service |= 1U << n;
        candidates = p->pending & p->context[c].deliver;
    }
    if (candidates == 0 && c == v->id) {
        vplic_lower(v);
    }
    spin_unlock(&v->vm->lock);
    return n;
}

static void vplic_complete(struct vm *vm, ulong c, ulong n)
{
    struct vplic *p = &vm->arch.plic;
    uint32_t bit = n < SOURCES ? 1U << n : 0;

    spin_lock(&vm->lock);
    bit &= p->in_service & p->context[c].enable;
    p->in_service &= ~bit;
    /* the line counts as low until the machine's PLIC has sampled it */
    if (bit != 0 && p->host_of[n] != 0) {
        p->level &= ~bit;
        plic_complete_route(p->host_of[n]);
    }
    bit &= p->level;
    if (bit == 0) {
        spin_unlock(&vm->lock);
        return;
    }
    p->pending |= bit;     /* still asserted: pending again */
    if (vm->nvcpus == 1) { /* its context has it enabled: it could complete it */
        vplic_update(vm, c);
    } else {
        vplic_update_all(vm, bit);
    }
    vm_unlock(vm);
}

/* The VCPU whose S-mode context has number `context`, or NO_CONTEXT. */
static inline ulong vplic_context(const struct vm *vm, gpa_t context)
{
    return (context & 1U) != 0 && context / 2U < vm->nvcpus ? context / 2U : NO_CONTEXT;
}

static ulong vplic_context_load(struct vm *vm, gpa_t offset)
{
    const struct vplic *p = &vm->arch.plic;
    ulong c;

    if (offset >= CONTEXT) { /* vplic_read() handles claims */
        c = vplic_context(vm, (offset - CONTEXT) / CONTEXT_STRIDE);
        return c != NO_CONTEXT && offset % CONTEXT_STRIDE == 0 ? p->context[c].threshold : 0;
    }
    c = vplic_context(vm, (offset - ENABLE) / ENABLE_STRIDE);
    return c != NO_CONTEXT && offset % ENABLE_STRIDE == 0 ? p->context[c].enable : 0;
}

static ulong vplic_load(struct vm *vm, gpa_t offset)
{
    const struct vplic *p = &vm->arch.plic;

    if (offset >= ENABLE) {
        return vplic_context_load(vm, offset);
    }
    if (offset >= PENDING) {
        return offset == PENDING ? p->pending : 0;
    }
    return offset < 4U * SOURCES && offset % 4U == 0 ? p->priority[offset / 4U] : 0;
}

static void vplic_threshold_store(struct vm *vm, gpa_t offset, uint32_t value)
{
    ulong c = vplic_context(vm, (offset - CONTEXT) / CONTEXT_STRIDE);

    if (c != NO_CONTEXT && offset % CONTEXT_STRIDE == 0) {
        vm->arch.plic.context[c].threshold = value & PRIORITIES;
        vplic_update_deliver(&vm->arch.plic, c);
        vplic_update(vm, c);
    }
}

static void vplic_enable_store(struct vm *vm, gpa_t offset, uint32_t value)
{
    ulong c = vplic_context(vm, (offset - ENABLE) / ENABLE_STRIDE);

    if (c != NO_CONTEXT && offset % ENABLE_STRIDE == 0) {
        vm->arch.plic.context[c].enable = value & ~1U; /* source 0 does not exist */
        vplic_update_deliver(&vm->arch.plic, c);
        vplic_update(vm, c);
    }
}

static void vplic_priority_store(struct vm *vm, unsigned n, uint32_t value)
{
    struct vplic *p = &vm->arch.plic;

    p->priority[n] = value & PRIORITIES;
    for (unsigned c = 0; c < vm->nvcpus; c++) {
        uint32_t bit = p->context[c].enable & (1U << n);

        p->context[c].deliver &= ~bit;
        p->context[c].deliver |= p->priority[n] > p->context[c].threshold ? bit : 0;
    }
    vplic_update_all(vm, 1U << n);
}

static void vplic_store(struct vm *vm, gpa_t offset, uint32_t value)
{
    if (offset >= CONTEXT) {
        vplic_threshold_store(vm, offset, value);
    } else if (offset >= ENABLE) {
        vplic_enable_store(vm, offset, value);
    } else if (offset >= 4U && offset < 4U * SOURCES) {
        vplic_priority_store(vm, (unsigned)offset / 4U, value);
    }
}

/* The VCPU whose claim/complete register is at `offset`, or NO_CONTEXT. Interrupt handlers access
 * no other registers. */
static inline ulong vplic_claim_context(const struct vm *vm, gpa_t offset)
{
    if (offset < CONTEXT || offset % CONTEXT_STRIDE != 4) {
        return NO_CONTEXT;
    }
    return vplic_context(vm, (offset - CONTEXT) / CONTEXT_STRIDE);
}

static ulong vplic_load_locked(struct vm *vm, gpa_t offset)
{
    ulong value;

    spin_lock(&vm->lock);
    value = vplic_load(vm, offset);
    spin_unlock(&vm->lock);
    return value;
}

static void vplic_store_locked(struct vm *vm, gpa_t offset, uint32_t value)
{
    spin_lock(&vm->lock);
    vplic_store(vm, offset, value);
    vm_unlock(vm);
}

static ulong vplic_read(struct vcpu *v, gpa_t offset, unsigned width_log2)
{
    ulong c = vplic_claim_context(v->vm, offset);

    (void)width_log2;
    return c != NO_CONTEXT ? vplic_claim(v, c) : vplic_load_locked(v->vm, offset);
}

static void vplic_write(struct vcpu *v, gpa_t offset, unsigned width_log2, ulong value)
{
    ulong c = vplic_claim_context(v->vm, offset);

    (void)width_log2;
    if (c != NO_CONTEXT) {
        vplic_complete(v->vm, c, (uint32_t)value);
    } else {
        vplic_store_locked(v->vm, offset, (uint32_t)value);
    }
}

void arch_vcpu_lines(struct vcpu *v)
{
    struct vplic *p = &v->vm->arch.plic;
    bool raised = (p->pending & p->context[v->id].deliver) != 0;

    p->context[v->id].raised = raised;
    v->arch.hvip |= raised ? 1UL << IRQ_VSEI : 0;
}

bool vplic_init(struct vm *vm, gpa_t base)
{
    const struct vdev dev = {
        .base = base, .size = VPLIC_SIZE, .widths = 4, .read = vplic_read, .write = vplic_write};

    return vdev_add(&vm->devs, &dev);
}

void vplic_reset(struct vm *vm)
{
    struct vplic *p = &vm->arch.plic;

    for (uint32_t owed = p->level | p->pending | p->in_service; owed != 0; owed &= owed - 1U) {
        unsigned n = bit_number(owed & (0U - owed));

        if (p->host_of[n] != 0) {
            plic_complete_route(p->host_of[n]); /* the stopped guest's completion */
        }
    }
    memset(p->priority, 0, sizeof(p->priority));
    p->level = 0;
    p->pending = 0;
    p->in_service = 0;
    for (unsigned c = 0; c < ARRAY_SIZE(p->context); c++) {
        p->context[c].deliver = 0;
        p->context[c].enable = 0;
        p->context[c].threshold = 0;
        p->context[c].raised = false;
    }
}
