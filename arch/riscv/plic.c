/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine's PLIC. All interrupts go to the boot hart. A passed-through interrupt is completed
 * when the guest has completed it and its token bucket allows another one; until then the PLIC does
 * not forward the source, and its request stays pending in the device.
 */
#include "arch.h"
#include "arch_device.h"
#include "console.h"
#include "internal.h"
#include "platform.h"
#include "sched.h"
#include "system.h"
#include "timer.h"

#define IRQS 64U /* sources that can be passed through or handled, at most */
#define GUEST_IRQS 32U
#define ENABLE 0x2000U
#define CONTEXT 0x200000U

/* The bucket holds up to SYSIMAGE_IRQ_BURST tokens and gets one every `interval`. A completion
 * takes a token, or waits for one. `full_at`, when the bucket is full again, represents its state,
 * as in the generic cell rate algorithm (ITU-T I.371). */
static struct route {
    struct vm *vm;      /* NULL: no VM has the source; constant after boot */
    unsigned guest;     /* source of the VM's interrupt controller; constant after boot */
    ticks_t interval;   /* 0: no limit; constant after boot */
    ticks_t full_at;    /* guarded by vm->lock */
    struct timer timer; /* armed while a completion waits for a token */
} routes[IRQS];

/* of sources that belong to components; owner: this file, constant after boot */
static void (*handlers[IRQS])(void);
/* the boot hart's claim and complete register; owner and life as `handlers` */
static volatile uint32_t *claim;

static volatile uint32_t *reg(ulong offset)
{
    return (volatile uint32_t *)(platform.irqchip.base + offset);
}

/* S-mode context of a hart, in SiFive's layout with an M-mode context before each. */
static ulong context_of(ulong hartid)
{
    return 2U * hartid + 1U;
}

static void plic_complete(unsigned irq)
{
    *claim = irq;
}

static void irq_enable(unsigned irq)
{
    volatile uint32_t *enable =
        reg(ENABLE + context_of(cpu_get(0)->arch.hartid) * 0x80U + irq / 32U * 4U);

    *enable |= 1U << (irq % 32U);
    *reg(irq * 4UL) = 1; /* priority, after it: QEMU's PLIC looks for pending sources at this store,
                            but not at the other */
}

static void route_refilled(struct timer *t)
{
    plic_complete((unsigned)(CONTAINER_OF(t, struct route, timer) - routes));
}

void plic_route(unsigned irq, struct vm *vm, unsigned guest)
{
    uint32_t per_ms = vm->config->irqs_per_ms;

    if (irq > 0 && irq < IRQS && guest < GUEST_IRQS) {
        struct route *r = &routes[irq];

        r->vm = vm;
        r->guest = guest;
        /* rounded up */
        r->interval = per_ms != 0 ? (hyp.image->timebase_hz - 1U) / (1000U * per_ms) + 1U : 0;
        timer_init(&r->timer, route_refilled);
        vm->arch.plic.host_of[guest] = irq;
    }
}

static bool is_free(unsigned irq)
{
    return irq > 0 && irq < IRQS && irq < platform.irq_count && irq != platform.uart_irq &&
           routes[irq].vm == NULL && handlers[irq] == NULL;
}

bool arch_device_route(unsigned irq, struct vm *vm, unsigned guest)
{
    bool free =
        is_free(irq) && guest > 0 && guest < GUEST_IRQS && vm->arch.plic.host_of[guest] == 0;

    if (free) {
        plic_route(irq, vm, guest);
    }
    return free;
}

bool arch_device_interrupt(unsigned irq, void (*handler)(void))
{
    bool free = is_free(irq);

    if (free) {
        handlers[irq] = handler;
    }
    return free;
}

void plic_hart_init(ulong hartid)
{
    for (unsigned irq = 0; irq < platform.irq_count; irq += 32) {
        *reg(ENABLE + context_of(hartid) * 0x80U + irq / 32U * 4U) = 0;
    }
    *reg(CONTEXT + context_of(hartid) * 0x1000U) = 0; /* threshold: accept all priorities */
}

void plic_init(void)
{
    plic_hart_init(cpu_get(0)->arch.hartid);
    claim = reg(CONTEXT + context_of(cpu_get(0)->arch.hartid) * 0x1000U + 4U);
    irq_enable(platform.uart_irq);
    for (unsigned irq = 1; irq < IRQS; irq++) {
        if (routes[irq].vm != NULL || handlers[irq] != NULL) {
            irq_enable(irq);
        }
    }
}

void plic_complete_route(unsigned irq)
{
    struct route *r = &routes[irq];
    ticks_t now = arch_time(), empty = SYSIMAGE_IRQ_BURST * r->interval;

    r->full_at = (r->full_at > now ? r->full_at : now) + r->interval;
    if (r->full_at - now <= empty) {
        plic_complete(irq);
    } else {
        spin_lock(&sched_lock);
        timer_arm(&r->timer, r->full_at - empty);
        spin_unlock(&sched_lock);
    }
}

void plic_handle(void)
{
    unsigned irq = *claim;

    if (irq == platform.uart_irq) {
        console_interrupt();
        plic_complete(irq);
    } else if (irq < IRQS && routes[irq].vm != NULL) {
        struct vm *vm = routes[irq].vm;

        spin_lock(&vm->lock);
        arch_vm_irq(vm, routes[irq].guest, true);
        vm_unlock(vm);
    } else if (irq != 0) {
        if (irq < IRQS && handlers[irq] != NULL) {
            handlers[irq]();
        }
        plic_complete(irq);
    }
}
