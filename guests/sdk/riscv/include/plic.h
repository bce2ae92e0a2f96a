/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PLIC at PLATFORM_PLIC_BASE. Contexts are those of `virt`: S-mode of hart n is context 2n + 1.
 */
#ifndef GUEST_PLIC_H
#define GUEST_PLIC_H

#include <stdbool.h>
#include <stdint.h>

/** Context number of a hart's S-mode. */
static inline uint32_t plic_context(unsigned long hart)
{
    return (uint32_t)(2 * hart + 1);
}

/** Addresses of registers. */
volatile uint32_t *plic_priority(uint32_t source);
volatile uint32_t *plic_enables(uint32_t context, uint32_t source);
volatile uint32_t *plic_threshold(uint32_t context);
volatile uint32_t *plic_claim_register(uint32_t context);

/** Priority 0 (never) .. 7. */
void plic_set_priority(uint32_t source, uint32_t priority);

/** Interrupts of this priority and below are masked; 0 masks none. */
void plic_set_threshold(uint32_t context, uint32_t priority);

void plic_enable(uint32_t context, uint32_t source, bool on);

/** Lets a source interrupt, at once if it is pending: enables it with priority 1, threshold 0. */
void plic_open(uint32_t context, uint32_t source);

/** Claims the pending source of the highest priority; 0: none. */
uint32_t plic_claim(uint32_t context);

void plic_complete(uint32_t context, uint32_t source);

/** Whether the source's interrupt is pending, enabled or not. */
bool plic_pending(uint32_t source);

/**
 * Sleeps until source `irq` interrupts, claims the interrupt, calls `clear`, which must make the
 * source low, and completes it. An interrupt that comes after `clear` ends the next call at once.
 */
void plic_wait(uint32_t irq, unsigned long hart, void (*clear)(void *argument), void *argument);

#endif
