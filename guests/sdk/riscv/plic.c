/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses the registers of the PLIC, and waits for an interrupt (plic.h). Owns no state. */
#include "plic.h"

#include "csr.h"
#include "platform.h"

static volatile uint32_t *plic_register(uint32_t offset)
{
    return (volatile uint32_t *)(PLATFORM_PLIC_BASE + offset);
}

volatile uint32_t *plic_priority(uint32_t source)
{
    return plic_register(4U * source);
}

volatile uint32_t *plic_enables(uint32_t context, uint32_t source)
{
    return plic_register(0x2000U + 0x80U * context + 4U * (source / 32U));
}

volatile uint32_t *plic_threshold(uint32_t context)
{
    return plic_register(0x200000U + 0x1000U * context);
}

volatile uint32_t *plic_claim_register(uint32_t context)
{
    return plic_register(0x200004U + 0x1000U * context);
}

void plic_set_priority(uint32_t source, uint32_t priority)
{
    *plic_priority(source) = priority;
}

void plic_set_threshold(uint32_t context, uint32_t priority)
{
    *plic_threshold(context) = priority;
}

void plic_enable(uint32_t context, uint32_t source, bool on)
{
    volatile uint32_t *word = plic_enables(context, source);
    uint32_t bit = UINT32_C(1) << (source % 32U);

    *word = on ? *word | bit : *word & ~bit;
}

void plic_open(uint32_t context, uint32_t source)
{
    plic_enable(context, source, true);
    /* After it: QEMU's PLIC looks for pending sources when these are written, but not when one is
     * enabled. */
    plic_set_priority(source, 1);
    plic_set_threshold(context, 0);
}

uint32_t plic_claim(uint32_t context)
{
    return *plic_claim_register(context);
}

void plic_complete(uint32_t context, uint32_t source)
{
    *plic_claim_register(context) = source;
}

bool plic_pending(uint32_t source)
{
    return (*plic_register(0x1000U + 4U * (source / 32U)) >> source % 32U & 1U) != 0;
}

void plic_wait(uint32_t irq, unsigned long hart, void (*clear)(void *argument), void *argument)
{
    uint32_t context = plic_context(hart), source;

    plic_open(context, irq);
    csr_set_sie(SIE_EXTERNAL);
    csr_wait_for_interrupt();
    /* Claimed first: the gateway of QEMU's PLIC forgets an interrupt that comes between clear() and
     * a claim. */
    source = plic_claim(context);
    clear(argument); /* before the completion: the source is high until then */
    if (source != 0) {
        plic_complete(context, source);
    }
    csr_clear_sie(SIE_EXTERNAL);
}
