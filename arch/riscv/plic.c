/* SPDX-License-Identifier: Apache-2.0 */
/* The machine's PLIC. All interrupts go to the boot hart; a passed-through one is completed when its guest has. */
#include "arch.h"
#include "console.h"
#include "internal.h"
#include "platform.h"
#include "system.h"

#define IRQS 128U
#define ENABLE 0x2000U
#define CONTEXT 0x200000U

static struct {
    struct vm *vm;
    unsigned guest;
} routes[IRQS]; /* owner: plic_route(), at boot */

static volatile uint32_t *reg(ulong offset)
{
    return (volatile uint32_t *)(platform.irqchip.base + offset);
}

/* Context of a hart's S-mode, on SiFive's layout with an M-mode context before it. */
static ulong context_of(ulong hartid)
{
    return 2U * hartid + 1U;
}

static volatile uint32_t *__attribute__((noinline)) claim_reg(void)
{
    return reg(CONTEXT + context_of(cpu_get(0)->arch.hartid) * 0x1000U + 4U);
}

static void irq_enable(unsigned irq)
{
    volatile uint32_t *enable = reg(ENABLE + context_of(cpu_get(0)->arch.hartid) * 0x80U + irq / 32U * 4U);

    *reg(irq * 4UL) = 1; /* priority */
    *enable |= 1U << (irq % 32U);
}

void plic_route(unsigned irq, struct vm *vm, unsigned guest)
{
    if (irq > 0 && irq < IRQS && guest < 32U) {
        routes[irq].vm = vm;
        routes[irq].guest = guest;
        vm->arch.plic.host_of[guest] = irq;
    }
}

void plic_hart_init(ulong hartid)
{
    for (unsigned irq = 0; irq < platform.irq_count; irq += 32) {
        *reg(ENABLE + context_of(hartid) * 0x80U + irq / 32U * 4U) = 0;
    }
    *reg(CONTEXT + context_of(hartid) * 0x1000U) = 0; /* threshold: everything */
}

void plic_init(void)
{
    plic_hart_init(cpu_get(0)->arch.hartid);
    irq_enable(platform.uart_irq);
    for (unsigned irq = 1; irq < IRQS; irq++) {
        if (routes[irq].vm != NULL) {
            irq_enable(irq);
        }
    }
}

void plic_complete(unsigned irq)
{
    *claim_reg() = irq;
}

void plic_handle(void)
{
    unsigned irq = *claim_reg();

    if (irq == platform.uart_irq) {
        console_interrupt();
        plic_complete(irq);
    } else if (irq < IRQS && routes[irq].vm != NULL) {
        struct vm *vm = routes[irq].vm;

        spin_lock(&vm->lock);
        arch_vm_irq(vm, routes[irq].guest, true);
        spin_unlock(&vm->lock);
    } else if (irq != 0) {
        plic_complete(irq);
    }
}
